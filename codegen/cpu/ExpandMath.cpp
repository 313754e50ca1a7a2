#include "codegen/cpu/MathBuilder.h"
#include "codegen/cpu/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace lintel {
#define GEN_PASS_DEF_EXPANDMATH
#include "codegen/cpu/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

/// Ops that every target here has instructions for.
bool isInstruction(Operation *op) {
  return isa<math::FmaOp, math::SqrtOp, math::AbsFOp, math::CopySignOp, math::FloorOp, math::CeilOp, math::TruncOp,
             math::RoundEvenOp, math::AbsIOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp>(op);
}

bool isHalf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

struct ExpandMath : lintel::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_present<math::MathDialect>(op->getDialect())) ops.push_back(op);
    });
    bool failed = false;
    for (Operation *op : ops) failed |= mlir::failed(expand(op));
    if (failed) signalPassFailure();
  }

  LogicalResult expand(Operation *op) {
    if (op->getNumResults() != 1) return op->emitOpError("has no expansion for CPUs; write it with ops of one result");
    Type type = op->getResult(0).getType();
    if (!isa<FloatType>(getElementTypeOrSelf(type)))
      return isInstruction(op) ? success() : op->emitOpError("has no expansion for CPUs");
    if (auto vector = dyn_cast<VectorType>(type); vector && vector.isScalable())
      return op->emitOpError("expected a vector of fixed length, found ") << type;
    if (!isa<FloatType, VectorType>(type)) return op->emitOpError("expected a scalar or a vector, found ") << type;
    if (isHalf(type)) op = widen(op);
    if (isInstruction(op)) return success();
    type = op->getResult(0).getType();
    Type element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF64())
      return op->emitOpError("expected elements of f64, f32, f16 or bf16, found ") << element;

    OpBuilder builder(op);
    SmallVector<Value> operands(op->getOperands());
    auto vector = dyn_cast<VectorType>(type);
    Type flat = type;
    if (vector && vector.getRank() != 1) {
      flat = VectorType::get({vector.getNumElements()}, element);
      for (Value &operand : operands) operand = vector::ShapeCastOp::create(builder, op->getLoc(), flat, operand);
    }
    MathBuilder m(builder, op->getLoc(), flat);
    Value result = build(m, op, operands);
    if (!result) return op->emitOpError("has no expansion for CPUs");
    if (flat != type) result = vector::ShapeCastOp::create(builder, op->getLoc(), type, result);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return success();
  }

  Value build(MathBuilder &m, Operation *op, ArrayRef<Value> v) {
    auto reduction = [&] { return getHalfPiReduction(getOperation()); };
    return TypeSwitch<Operation *, Value>(op)
        .Case([&](math::ExpOp) { return expandExp(m, v[0]); })
        .Case([&](math::Exp2Op) { return expandExp2(m, v[0]); })
        .Case([&](math::ExpM1Op) { return expandExpM1(m, v[0]); })
        .Case([&](math::LogOp) { return expandLog(m, v[0]); })
        .Case([&](math::Log2Op) { return expandLog2(m, v[0]); })
        .Case([&](math::Log10Op) { return expandLog10(m, v[0]); })
        .Case([&](math::Log1pOp) { return expandLog1p(m, v[0]); })
        .Case([&](math::TanhOp) { return expandTanh(m, v[0]); })
        .Case([&](math::ErfOp) { return expandErf(m, v[0]); })
        .Case([&](math::SinOp) { return expandSin(m, v[0], reduction()); })
        .Case([&](math::CosOp) { return expandCos(m, v[0], reduction()); })
        .Case([&](math::PowFOp) { return expandPow(m, v[0], v[1]); })
        .Case([&](math::RsqrtOp) {
          Value root = math::SqrtOp::create(m.builder, m.loc, v[0]);
          return m.div(m.constant(1.0), root);
        })
        .Default([](Operation *) { return Value(); });
  }

  /// The same op on f32, between conversions.
  Operation *widen(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto withF32 = [&](Type type) -> Type {
      if (auto vector = dyn_cast<VectorType>(type)) return vector.cloneWith(std::nullopt, builder.getF32Type());
      return builder.getF32Type();
    };
    OperationState state(loc, op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(isHalf(operand.getType())
                            ? arith::ExtFOp::create(builder, loc, withF32(operand.getType()), operand).getResult()
                            : operand);
    Type type = op->getResult(0).getType();
    state.addTypes(withF32(type));
    state.addAttributes(op->getAttrs());
    Operation *wide = builder.create(state);
    Value narrow = arith::TruncFOp::create(builder, loc, type, wide->getResult(0));
    op->getResult(0).replaceAllUsesWith(narrow);
    op->erase();
    return wide;
  }
};

} // namespace

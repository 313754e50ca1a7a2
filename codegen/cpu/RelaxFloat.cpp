#include "codegen/cpu/Passes.h"
#include "mlir/IR/Builders.h"

namespace lintel {
#define GEN_PASS_DEF_RELAXFLOAT
#include "codegen/cpu/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

bool isSum(Operation *op) { return isa<arith::AddFOp, arith::SubFOp>(op); }

/// A product that all its uses are terms of sums. What else needs it needs it rounded, and then so do they: a maximum
/// less the product that it came from is 0.
arith::MulFOp fusibleProduct(Value v) {
  auto product = v.getDefiningOp<arith::MulFOp>();
  Type number = getElementTypeOrSelf(v.getType());
  if (!product || !(number.isF32() || number.isF64())) return {};
  bool fits = llvm::all_of(v.getUsers(), [&](Operation *user) {
    return isSum(user) && !(user->getOperand(0) == v && user->getOperand(1) == v);
  });
  return fits ? product : arith::MulFOp();
}

struct RelaxFloat : lintel::impl::RelaxFloatBase<RelaxFloat> {
  void runOnOperation() override {
    SmallVector<Operation *> sums;
    getOperation()->walk([&](arith::ArithFastMathInterface op) {
      arith::FastMathFlags flags = arith::FastMathFlags::none;
      if (isa<vector::VectorDialect>(op->getDialect()))
        flags = arith::FastMathFlags::contract | (op.getFastMathFlagsAttr().getValue() & arith::FastMathFlags::reassoc);
      op->setAttr(op.getFastMathAttrName(), arith::FastMathFlagsAttr::get(op->getContext(), flags));
      if (isSum(op)) sums.push_back(op);
    });
    // All are decided on the products as they are.
    SmallVector<std::pair<Operation *, unsigned>> fused;
    for (Operation *sum : sums)
      for (unsigned side : {0u, 1u})
        if (fusibleProduct(sum->getOperand(side))) {
          fused.emplace_back(sum, side);
          break;
        }
    for (auto [sum, side] : fused) fuse(sum, side);
  }

  static void fuse(Operation *sum, unsigned side) {
    OpBuilder b(sum);
    Location loc = sum->getLoc();
    auto product = sum->getOperand(side).getDefiningOp<arith::MulFOp>();
    Value factor = product.getLhs(), term = sum->getOperand(1 - side);
    if (isa<arith::SubFOp>(sum)) (side == 0 ? term : factor) = arith::NegFOp::create(b, loc, side == 0 ? term : factor);
    Value result = math::FmaOp::create(b, loc, factor, product.getRhs(), term);
    sum->getResult(0).replaceAllUsesWith(result);
    sum->erase();
    if (product->use_empty()) product->erase();
  }
};

} // namespace

#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace lintel {
#define GEN_PASS_DEF_EXPANDARITH
#include "codegen/cpu/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

Type like(Type shape, Type element) {
  if (auto vector = dyn_cast<VectorType>(shape)) return vector.cloneWith(std::nullopt, element);
  return element;
}

Value integer(OpBuilder &b, Location loc, Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type)) attr = DenseElementsAttr::get(vector, ArrayRef<Attribute>(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

/// bf16 -> f32 or f64: the bits are the upper half of an f32.
struct ExtendBF16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &b) const override {
    Type from = op.getIn().getType();
    if (!getElementTypeOrSelf(from).isBF16()) return failure();
    Location loc = op.getLoc();
    Type i32 = like(from, b.getI32Type()), f32 = like(from, b.getF32Type());
    Value bits = arith::BitcastOp::create(b, loc, like(from, b.getI16Type()), op.getIn());
    bits = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, i32, bits), integer(b, loc, i32, 16));
    Value wide = arith::BitcastOp::create(b, loc, f32, bits);
    if (op.getType() != f32) wide = arith::ExtFOp::create(b, loc, op.getType(), wide);
    b.replaceOp(op, wide);
    return success();
  }
};

/// f32 -> bf16, to nearest even; a NaN keeps its sign and upper payload and becomes quiet.
struct TruncateToBF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &b) const override {
    Type from = op.getIn().getType();
    if (!getElementTypeOrSelf(op.getType()).isBF16() || !getElementTypeOrSelf(from).isF32()) return failure();
    Location loc = op.getLoc();
    Type i32 = like(from, b.getI32Type()), i16 = like(from, b.getI16Type());
    Value sixteen = integer(b, loc, i32, 16);
    Value bits = arith::BitcastOp::create(b, loc, i32, op.getIn());
    Value upper = arith::ShRUIOp::create(b, loc, bits, sixteen);
    Value odd = arith::AndIOp::create(b, loc, upper, integer(b, loc, i32, 1));
    Value bias = arith::AddIOp::create(b, loc, odd, integer(b, loc, i32, 0x7FFF));
    Value rounded = arith::ShRUIOp::create(b, loc, arith::AddIOp::create(b, loc, bits, bias), sixteen);
    Value quiet = arith::OrIOp::create(b, loc, upper, integer(b, loc, i32, 0x40));
    Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, op.getIn(), op.getIn());
    Value chosen = arith::SelectOp::create(b, loc, isNaN, quiet, rounded);
    Value narrow = arith::TruncIOp::create(b, loc, i16, chosen);
    b.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), narrow);
    return success();
  }
};

/// f64 -> f16 or bf16 by way of f32 rounded to odd, so that the second rounding is the only one that counts.
struct TruncateDoubleToHalf : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &b) const override {
    Type from = op.getIn().getType(), to = getElementTypeOrSelf(op.getType());
    if (!(to.isBF16() || to.isF16()) || !getElementTypeOrSelf(from).isF64()) return failure();
    Location loc = op.getLoc();
    Type i32 = like(from, b.getI32Type()), f32 = like(from, b.getF32Type());
    Value one = integer(b, loc, i32, 1), zero = integer(b, loc, i32, 0);
    Value nearest = arith::TruncFOp::create(b, loc, f32, op.getIn());
    Value back = arith::ExtFOp::create(b, loc, from, nearest);
    Value inexact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, op.getIn());
    Value tooLarge = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, loc, back),
                                           math::AbsFOp::create(b, loc, op.getIn()));
    Value bits = arith::BitcastOp::create(b, loc, i32, nearest);
    Value even =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, arith::AndIOp::create(b, loc, bits, one), zero);
    Value step = arith::SelectOp::create(b, loc, tooLarge, integer(b, loc, i32, -1), one);
    Value adjust = arith::AndIOp::create(b, loc, inexact, even);
    Value odd = arith::AddIOp::create(b, loc, bits, arith::SelectOp::create(b, loc, adjust, step, zero));
    b.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), arith::BitcastOp::create(b, loc, f32, odd).getResult());
    return success();
  }
};

struct ExpandArith : lintel::impl::ExpandArithBase<ExpandArith> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(
        converter, {BFloat16Type::get(context), Float16Type::get(context)}, Float32Type::get(context));
    RewritePatternSet emulate(context);
    arith::populateEmulateUnsupportedFloatsPatterns(emulate, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    if (failed(applyPartialConversion(getOperation(), target, std::move(emulate)))) return signalPassFailure();

    RewritePatternSet expand(context);
    arith::populateCeilFloorDivExpandOpsPatterns(expand);
    expand.add<ExtendBF16, TruncateToBF16, TruncateDoubleToHalf>(context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(expand)))) signalPassFailure();
  }
};

} // namespace

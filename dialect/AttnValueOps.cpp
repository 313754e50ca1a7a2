#include "dialect/AttnDialect.h"
#include "dialect/Scalar.h"
#include "dialect/ShapeInference.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace lintel;

#define GET_OP_CLASSES
#include "dialect/AttnOps.cpp.inc"

namespace {

RealType tensorOf(Value v) { return cast<RealType>(v.getType()); }

LogicalResult give(FailureOr<RealType> type, SmallVectorImpl<Type> &types) {
  if (failed(type)) return failure();
  types.push_back(*type);
  return success();
}

std::optional<double> constantOf(Attribute attr) {
  if (auto f = dyn_cast_if_present<FloatAttr>(attr)) return f.getValueAsDouble();
  return std::nullopt;
}

Attribute number(MLIRContext *context, double x) { return FloatAttr::get(Float64Type::get(context), x); }

} // namespace

Operation *AttnDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto f = dyn_cast<FloatAttr>(value);
  auto t = dyn_cast<RealType>(type);
  if (!f || !t || t.getRank() != 0) return nullptr;
  return ConstantOp::create(builder, loc, type, f);
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult DimOp::verify() {
  std::string why;
  auto dim = DimExpr::parse(getDim(), &why);
  if (!dim || !dim->isValid()) return emitOpError("expected a polynomial over dimension names, found \"") << getDim() << "\"";
  return success();
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  auto dim = DimExpr::parse(getDim());
  if (!dim || !dim->getConstant()) return {};
  return number(getContext(), static_cast<double>(*dim->getConstant()));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

#define INFER(OP, EXPR)                                                                                                \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location> loc, ValueRange v, DictionaryAttr attrs,     \
                                     OpaqueProperties properties, RegionRange, SmallVectorImpl<Type> &types) {               \
    for (Value x : v)                                                                                                  \
      if (!isa<RealType>(x.getType())) return emitOptionalError(loc, "expected tensors, found ", x.getType());       \
    return give(EXPR, types);                                                                                          \
  }

INFER(UnaryOp, FailureOr<RealType>(tensorOf(v[0])))
INFER(BinaryOp, inferBroadcast(loc, tensorOf(v[0]), tensorOf(v[1])))
INFER(FinalOp, FailureOr<RealType>(tensorOf(v[0])))
INFER(MatmulOp, inferMatmul(loc, tensorOf(v[0]), tensorOf(v[1])))
INFER(OuterOp, inferOuter(loc, tensorOf(v[0]), tensorOf(v[1])))
INFER(ReduceOp, inferReduce(loc, tensorOf(v[0])))
INFER(FlattenOp, inferFlatten(loc, tensorOf(v[0])))
INFER(ConcatOp, inferConcat(loc, llvm::map_to_vector(v, tensorOf)))
INFER(ExtractOp, inferExtract(loc, tensorOf(v[0]), ExtractOp::Adaptor(v, attrs, properties).getIndex()))
INFER(CumsumOp, failed(inferReduce(loc, tensorOf(v[0]))) ? FailureOr<RealType>(failure()) : FailureOr<RealType>(tensorOf(v[0])))
#undef INFER

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, ValueRange v, DictionaryAttr,
                                         OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  auto ab = inferBroadcast(loc, tensorOf(v[1]), tensorOf(v[2]));
  if (failed(ab)) return failure();
  return give(inferBroadcast(loc, tensorOf(v[0]), *ab), types);
}

OpFoldResult UnaryOp::fold(FoldAdaptor adaptor) {
  if (auto x = constantOf(adaptor.getX())) return number(getContext(), evaluate(getKind(), *x));
  return {};
}

OpFoldResult BinaryOp::fold(FoldAdaptor adaptor) {
  auto a = constantOf(adaptor.getA()), b = constantOf(adaptor.getB());
  if (a && b) return number(getContext(), evaluate(getKind(), *a, *b));
  Type t = getType();
  // Exact for all reals, infinities and NaN; x * 0 and x - x are not, and stay.
  if (b && t == getA().getType()) {
    if ((getKind() == BinaryKind::Mul || getKind() == BinaryKind::Div || getKind() == BinaryKind::Pow) && *b == 1) return getA();
    if (getKind() == BinaryKind::Sub && *b == 0) return getA();
    if (getKind() == BinaryKind::Add && *b == 0) return getA();
  }
  if (a && t == getB().getType()) {
    if (getKind() == BinaryKind::Mul && *a == 1) return getB();
    if (getKind() == BinaryKind::Add && *a == 0) return getB();
  }
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) { return getType() == getX().getType() ? OpFoldResult(getX()) : OpFoldResult(); }

LogicalResult BroadcastOp::verify() {
  RealType from = getX().getType(), to = getType();
  auto joined = inferBroadcast(std::nullopt, from, to);
  if (failed(joined) || *joined != to)
    return emitOpError("expected a shape that broadcasts to ") << to << ", found " << from;
  return success();
}

namespace {

// exp(a) as a factor is written in several ways; the canonical one has the negation inside and constants on the right.
struct ConstantsRight : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::Add && op.getKind() != BinaryKind::Mul) return failure();
    if (!op.getA().getDefiningOp<ConstantOp>() || op.getB().getDefiningOp<ConstantOp>()) return failure();
    rewriter.replaceOpWithNewOp<BinaryOp>(op, op.getKind(), op.getB(), op.getA());
    return success();
  }
};

// x ^ 2 is x * x, x ^ -0.5 an rsqrt: cheaper and exact in every precision.
struct SimplePower : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::Pow) return failure();
    auto c = op.getB().getDefiningOp<ConstantOp>();
    if (!c) return failure();
    double y = c.getValueAttr().getValueAsDouble();
    Value x = op.getA();
    auto times = [&](Value a, Value b) { return BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Mul, a, b).getResult(); };
    if (y == 2) return rewriter.replaceOp(op, times(x, x)), success();
    if (y == 3) return rewriter.replaceOp(op, times(times(x, x), x)), success();
    if (y == 4) {
      Value s = times(x, x);
      return rewriter.replaceOp(op, times(s, s)), success();
    }
    return failure();
  }
};

// elu(x) + 1 is x + 1 or exp(x): one exponential, with no cancellation where x is far below zero.
struct ShiftedElu : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    auto elu = op.getA().getDefiningOp<UnaryOp>();
    auto one = op.getB().getDefiningOp<ConstantOp>();
    if (op.getKind() != BinaryKind::Add || !elu || elu.getKind() != UnaryKind::Elu || !one || one.getValueAttr().getValueAsDouble() != 1) return failure();
    Value x = elu.getX();
    Value zero = ConstantOp::create(rewriter, op.getLoc(), rewriter.getF64FloatAttr(0));
    Value positive = BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Gt, x, zero);
    Value plus = BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Add, x, one);
    // The minimum changes nothing that is chosen; it says that this exponential is bounded.
    Value exp = UnaryOp::create(rewriter, op.getLoc(), UnaryKind::Exp, BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Min, x, zero));
    rewriter.replaceOpWithNewOp<SelectOp>(op, positive, plus, exp);
    return success();
  }
};

struct DoubleNegation : OpRewritePattern<UnaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnaryOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<UnaryOp>();
    if (op.getKind() != UnaryKind::Neg || !inner || inner.getKind() != UnaryKind::Neg) return failure();
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

} // namespace

void UnaryOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DoubleNegation>(context);
}

void BinaryOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConstantsRight, ShiftedElu, SimplePower>(context);
}

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
  if (!dim || !dim->isValid())
    return emitOpError("expected a polynomial over dimension names, found \"") << getDim() << "\"";
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
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location> loc, ValueRange v, DictionaryAttr attrs,   \
                                     OpaqueProperties properties, RegionRange, SmallVectorImpl<Type> &types) {         \
    for (Value x : v)                                                                                                  \
      if (!isa<RealType>(x.getType())) return emitOptionalError(loc, "expected tensors, found ", x.getType());         \
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
INFER(CumsumOp,
      failed(inferReduce(loc, tensorOf(v[0]))) ? FailureOr<RealType>(failure()) : FailureOr<RealType>(tensorOf(v[0])))
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
    if ((getKind() == BinaryKind::Mul || getKind() == BinaryKind::Div || getKind() == BinaryKind::Pow) && *b == 1)
      return getA();
    if (getKind() == BinaryKind::Sub && *b == 0) return getA();
    if (getKind() == BinaryKind::Add && *b == 0) return getA();
  }
  if (a && t == getB().getType()) {
    if (getKind() == BinaryKind::Mul && *a == 1) return getB();
    if (getKind() == BinaryKind::Add && *a == 0) return getB();
  }
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getType() == getX().getType() ? OpFoldResult(getX()) : OpFoldResult();
}

LogicalResult BroadcastOp::verify() {
  RealType from = getX().getType(), to = getType();
  auto joined = inferBroadcast(std::nullopt, from, to);
  if (failed(joined) || *joined != to)
    return emitOpError("expected a shape that broadcasts to ") << to << ", found " << from;
  return success();
}

namespace {

// Users write one step in many ways; the patterns below make one of them, so that equal steps get equal kernels.
// Numbers of a spec are reals: products may be regrouped, sums keep their grouping, since there cancellation would
// show.

/// An order of values by what they are: by rank, then inputs before results, results by op and operands to a depth;
/// constants last. 0 where they look alike.
int compareValues(Value a, Value b, unsigned depth = 5) {
  auto by = [](auto x, auto y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (a == b) return 0;
  bool ca = a.getDefiningOp<ConstantOp>(), cb = b.getDefiningOp<ConstantOp>();
  if (int r = by(ca, cb)) return r;
  if (int r = by(tensorOf(a).getRank(), tensorOf(b).getRank())) return r;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (int r = by(x != nullptr, y != nullptr)) return r;
  if (!x) return by(cast<BlockArgument>(a).getArgNumber(), cast<BlockArgument>(b).getArgNumber());
  if (ca) {
    double p = cast<ConstantOp>(x).getValueAttr().getValueAsDouble();
    double q = cast<ConstantOp>(y).getValueAttr().getValueAsDouble();
    // NaN, which compares with nothing, has its place behind all numbers: else no order would be final.
    if (int r = by(std::isnan(p), std::isnan(q))) return r;
    return by(p, q);
  }
  if (int r = x->getName().getStringRef().compare(y->getName().getStringRef())) return r;
  if (auto u = dyn_cast<UnaryOp>(x))
    if (int r = by(u.getKind(), cast<UnaryOp>(y).getKind())) return r;
  if (auto bin = dyn_cast<BinaryOp>(x))
    if (int r = by(bin.getKind(), cast<BinaryOp>(y).getKind())) return r;
  if (auto reduce = dyn_cast<ReduceOp>(x))
    if (int r = by(reduce.getKind(), cast<ReduceOp>(y).getKind())) return r;
  if (auto extract = dyn_cast<ExtractOp>(x))
    if (int r = extract.getIndex().compare(cast<ExtractOp>(y).getIndex())) return r;
  if (int r = by(x->getNumOperands(), y->getNumOperands())) return r;
  for (auto [p, q] : llvm::zip(x->getOperands(), y->getOperands()))
    if (int r =
            depth ? (isa<RealType>(p.getType()) && isa<RealType>(q.getType()) ? compareValues(p, q, depth - 1) : 0) : 0)
      return r;
  return 0;
}

/// A stage keeps the grouping that the lowering chose; there only constants move to the right.
bool isInStage(BinaryOp op) { return op->getParentOfType<StageOp>() != nullptr; }
bool isConstantLeft(BinaryOp op) {
  return op.getA().getDefiningOp<ConstantOp>() && !op.getB().getDefiningOp<ConstantOp>();
}

/// Sums in one order.
struct OrderSum : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::Add) return failure();
    if (isInStage(op) ? !isConstantLeft(op) : compareValues(op.getB(), op.getA()) >= 0) return failure();
    rewriter.replaceOpWithNewOp<BinaryOp>(op, op.getKind(), op.getB(), op.getA());
    return success();
  }
};

/// Products as ((a * b) * c) * d in one order, small ranks first: scalars are multiplied before they meet a vector,
/// vectors before a matrix.
struct OrderProduct : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;

  static void collect(Value v, Value root, SmallVectorImpl<Value> &factors) {
    auto b = v.getDefiningOp<BinaryOp>();
    if (b && b.getKind() == BinaryKind::Mul && (v == root || v.hasOneUse())) {
      collect(b.getA(), root, factors);
      collect(b.getB(), root, factors);
    } else {
      factors.push_back(v);
    }
  }

  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::Mul) return failure();
    if (isInStage(op)) {
      if (!isConstantLeft(op)) return failure();
      rewriter.replaceOpWithNewOp<BinaryOp>(op, BinaryKind::Mul, op.getB(), op.getA());
      return success();
    }
    // The outermost product of a chain does the work.
    for (Operation *user : op->getUsers())
      if (auto b = dyn_cast<BinaryOp>(user); b && b.getKind() == BinaryKind::Mul && op->hasOneUse()) return failure();
    SmallVector<Value> factors;
    collect(op.getResult(), op.getResult(), factors);
    if (factors.size() > 32) return failure(); // far beyond what is written by hand
    SmallVector<Value> sorted(factors);
    // Insertion: few elements, and stable.
    for (auto it = sorted.begin(); it != sorted.end(); ++it)
      std::rotate(llvm::upper_bound(llvm::make_range(sorted.begin(), it), *it,
                                    [](Value a, Value b) { return compareValues(a, b) < 0; }),
                  it, it + 1);
    // A left-deep chain of n factors is n - 1 products deep along its first operands.
    auto isProduct = [](Value v) {
      auto b = v.getDefiningOp<BinaryOp>();
      return b && b.getKind() == BinaryKind::Mul && v.hasOneUse();
    };
    size_t depth = 1;
    for (Value v = op.getA(); isProduct(v); v = v.getDefiningOp<BinaryOp>().getA()) ++depth;
    bool leftDeep = depth + 1 == factors.size();
    // Constants come last, folded into one.
    unsigned constants = 0;
    double product = 1;
    for (Value v : sorted)
      if (auto c = v.getDefiningOp<ConstantOp>()) ++constants, product *= c.getValueAttr().getValueAsDouble();
    bool folds = constants > 1 && std::isfinite(product) && product != 0;
    if (leftDeep && sorted == factors && !folds) return failure();
    if (folds) {
      sorted.truncate(sorted.size() - constants);
      sorted.push_back(ConstantOp::create(rewriter, op.getLoc(), rewriter.getF64FloatAttr(product)));
    }
    Value result = sorted[0];
    for (Value v : ArrayRef<Value>(sorted).drop_front())
      result = BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Mul, result, v);
    assert(result.getType() == op.getType() && "a product has the shape of its largest factor");
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// x + -y, x - -y, -x * y, -(x - y), 0 - x: the sign stands outside or is part of a difference.
struct Signs : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  static Value negated(Value v) {
    auto u = v.getDefiningOp<UnaryOp>();
    return u && u.getKind() == UnaryKind::Neg ? u.getX() : Value();
  }
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    Value a = negated(op.getA()), b = negated(op.getB());
    auto replace = [&](BinaryKind kind, Value x, Value y) {
      return rewriter.replaceOpWithNewOp<BinaryOp>(op, kind, x, y), success();
    };
    switch (op.getKind()) {
    case BinaryKind::Add:
      if (b) return replace(BinaryKind::Sub, op.getA(), b);
      if (a) return replace(BinaryKind::Sub, op.getB(), a);
      return failure();
    case BinaryKind::Sub:
      if (b) return replace(BinaryKind::Add, op.getA(), b);
      return failure();
    case BinaryKind::Mul:
    case BinaryKind::Div: {
      if (!a && !b) return failure();
      Value x = BinaryOp::create(rewriter, op.getLoc(), op.getKind(), a ? a : op.getA(), b ? b : op.getB());
      if (!a || !b) x = UnaryOp::create(rewriter, op.getLoc(), UnaryKind::Neg, x);
      return rewriter.replaceOp(op, x), success();
    }
    default:
      return failure();
    }
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
    auto times = [&](Value a, Value b) {
      return BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Mul, a, b).getResult();
    };
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
    if (op.getKind() != BinaryKind::Add || !elu || elu.getKind() != UnaryKind::Elu || !one ||
        one.getValueAttr().getValueAsDouble() != 1)
      return failure();
    Value x = elu.getX();
    Value zero = ConstantOp::create(rewriter, op.getLoc(), rewriter.getF64FloatAttr(0));
    Value positive = BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Gt, x, zero);
    Value plus = BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Add, x, one);
    // The minimum changes nothing that is chosen; it says that this exponential is bounded.
    Value exp = UnaryOp::create(rewriter, op.getLoc(), UnaryKind::Exp,
                                BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Min, x, zero));
    rewriter.replaceOpWithNewOp<SelectOp>(op, positive, plus, exp);
    return success();
  }
};

/// -(-x), -(x - y) and -(x * 2).
struct Negation : OpRewritePattern<UnaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != UnaryKind::Neg) return failure();
    if (auto inner = op.getX().getDefiningOp<UnaryOp>(); inner && inner.getKind() == UnaryKind::Neg)
      return rewriter.replaceOp(op, inner.getX()), success();
    if (auto b = op.getX().getDefiningOp<BinaryOp>(); b && b.getKind() == BinaryKind::Sub)
      return rewriter.replaceOpWithNewOp<BinaryOp>(op, BinaryKind::Sub, b.getB(), b.getA()), success();
    if (auto b = op.getX().getDefiningOp<BinaryOp>(); b && b.getKind() == BinaryKind::Mul)
      if (auto c = b.getB().getDefiningOp<ConstantOp>()) {
        Value minus =
            ConstantOp::create(rewriter, op.getLoc(), rewriter.getF64FloatAttr(-c.getValueAttr().getValueAsDouble()));
        return rewriter.replaceOpWithNewOp<BinaryOp>(op, BinaryKind::Mul, b.getA(), minus), success();
      }
    return failure();
  }
};

} // namespace

void UnaryOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<Negation>(context);
}

void BinaryOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<OrderProduct, OrderSum, ShiftedElu, Signs, SimplePower>(context);
}

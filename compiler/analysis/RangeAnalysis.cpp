#include "compiler/analysis/RangeAnalysis.h"
#include "dialect/Scalar.h"

using namespace mlir;
using namespace lintel;

namespace {

Range join(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

/// Of the products of the ends; 0 times infinity is 0, since the infinity stands for a large number.
Range product(Range a, Range b) {
  auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
  double p[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)};
  return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}

/// The value behind a repetition.
Value bare(Value v) {
  while (auto b = v.getDefiningOp<BroadcastOp>()) v = b.getX();
  return v;
}

Range ofUnary(UnaryKind kind, Range x) {
  auto rising = [&] { return Range{evaluate(kind, x.low), evaluate(kind, x.high)}; };
  switch (kind) {
  case UnaryKind::Neg:
    return {-x.high, -x.low};
  case UnaryKind::Abs:
    return {x.low > 0 ? x.low : x.high < 0 ? -x.high : 0, std::max(-x.low, x.high)};
  case UnaryKind::Exp:
  case UnaryKind::Expm1:
  case UnaryKind::Exp2:
  case UnaryKind::Tanh:
  case UnaryKind::Sigmoid:
  case UnaryKind::Softplus:
  case UnaryKind::Relu:
  case UnaryKind::Elu:
  case UnaryKind::Ceil:
    return rising();
  case UnaryKind::Sqrt:
    return {x.low > 0 ? std::sqrt(x.low) : 0, std::sqrt(std::max(x.high, 0.0))};
  case UnaryKind::Rsqrt:
    return {0, x.low > 0 ? 1 / std::sqrt(x.low) : INFINITY};
  case UnaryKind::Sin:
  case UnaryKind::Cos:
    return {-1, 1};
  case UnaryKind::Silu:
    return {-0.28, std::max(x.high, 0.0)}; // least at x = -1.278
  case UnaryKind::Gelu:
    return {-0.17, std::max(x.high, 0.0)}; // least at x = -0.752
  case UnaryKind::Not:
    return {0, 1};
  case UnaryKind::Log:
  case UnaryKind::Log1p:
    return x.low > 0 ? rising() : Range();
  }
  return {};
}

} // namespace

Range RangeAnalysis::of(Value v) {
  if (!v.getDefiningOp()) return {};
  if (auto it = known.find(v); it != known.end()) return it->second;
  Range r = compute(v.getDefiningOp());
  if (std::isnan(r.low)) r.low = -INFINITY;
  if (std::isnan(r.high)) r.high = INFINITY;
  return known[v] = r;
}

Range RangeAnalysis::compute(Operation *op) {
  if (auto c = dyn_cast<ConstantOp>(op))
    return {c.getValueAttr().getValueAsDouble(), c.getValueAttr().getValueAsDouble()};
  if (isa<PositionOp>(op)) return {0, INFINITY};
  if (auto u = dyn_cast<UnaryOp>(op)) return ofUnary(u.getKind(), of(u.getX()));
  if (auto b = dyn_cast<BinaryOp>(op)) {
    Range x = of(b.getA()), y = of(b.getB());
    switch (b.getKind()) {
    case BinaryKind::Add:
      return {x.low + y.low, x.high + y.high};
    case BinaryKind::Sub: {
      Range r{x.low - y.high, x.high - y.low};
      auto top = bare(b.getB()).getDefiningOp<ReduceOp>();
      if (top && top.getKind() == ReduceKind::Max && top.getX() == b.getA()) r.high = std::min(r.high, 0.0);
      return r;
    }
    case BinaryKind::Mul: {
      Range r = product(x, y);
      if (b.getA() == b.getB()) r.low = std::max(r.low, 0.0);
      return r;
    }
    case BinaryKind::Div:
      if (y.low > 0) return product(x, {1 / y.high, 1 / y.low});
      if (y.low >= 0 && x.low >= 0) return {0, INFINITY};
      return {};
    case BinaryKind::Min:
      return {std::min(x.low, y.low), std::min(x.high, y.high)};
    case BinaryKind::Max:
      return {std::max(x.low, y.low), std::max(x.high, y.high)};
    case BinaryKind::Pow:
      return x.low >= 0 ? Range{0, INFINITY} : Range();
    default:
      return {0, 1}; // comparisons and logic
    }
  }
  if (auto s = dyn_cast<SelectOp>(op)) return join(of(s.getA()), of(s.getB()));
  auto isNonNegative = [&](Value a, Value b) { return of(a).low >= 0 && of(b).low >= 0; };
  if (auto m = dyn_cast<MatmulOp>(op))
    return m.getA() == m.getB() || isNonNegative(m.getA(), m.getB()) ? Range{0, INFINITY} : Range();
  if (auto o = dyn_cast<OuterOp>(op)) return product(of(o.getA()), of(o.getB()));
  if (isa<BroadcastOp, ExtractOp, FlattenOp>(op)) return of(op->getOperand(0));
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getKind() == ReduceKind::Max) return of(reduce.getX());
  if (isa<ReduceOp, CumsumOp>(op))
    return {of(op->getOperand(0)).low >= 0 ? 0 : -INFINITY, of(op->getOperand(0)).high <= 0 ? 0 : INFINITY};
  if (isa<ConcatOp>(op)) {
    Range r = of(op->getOperand(0));
    for (Value v : op->getOperands()) r = join(r, of(v));
    return r;
  }
  return {};
}

#include "compiler/analysis/DivisionAnalysis.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lintel;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

OpenRange hull(OpenRange a, OpenRange b) {
  OpenRange r;
  r.lo = std::min(a.lo, b.lo), r.hi = std::max(a.hi, b.hi);
  r.loOpen = (a.lo > r.lo || a.loOpen) && (b.lo > r.lo || b.loOpen);
  r.hiOpen = (a.hi < r.hi || a.hiOpen) && (b.hi < r.hi || b.hiOpen);
  return r;
}

OpenRange negate(OpenRange a) { return {-a.hi, -a.lo, a.hiOpen, a.loOpen}; }

OpenRange plus(OpenRange a, OpenRange b) {
  return {a.lo + b.lo, a.hi + b.hi, a.loOpen || b.loOpen, a.hiOpen || b.hiOpen};
}

OpenRange times(OpenRange a, OpenRange b) {
  struct End {
    double value;
    bool open;
  };
  auto product = [](double x, bool xOpen, double y, bool yOpen) {
    // 0 * inf: the infinite end is never reached. A closed zero makes a zero that is reached.
    if (x == 0 || y == 0) return End{0, !((x == 0 && !xOpen) || (y == 0 && !yOpen))};
    return End{x * y, xOpen || yOpen};
  };
  End ends[] = {product(a.lo, a.loOpen, b.lo, b.loOpen), product(a.lo, a.loOpen, b.hi, b.hiOpen),
                product(a.hi, a.hiOpen, b.lo, b.loOpen), product(a.hi, a.hiOpen, b.hi, b.hiOpen)};
  OpenRange r{ends[0].value, ends[0].value, ends[0].open, ends[0].open};
  for (End e : ends) r = hull(r, {e.value, e.value, e.open, e.open});
  return r;
}

OpenRange inverse(OpenRange a) {
  if (a.isPositive())
    return {a.hi == inf ? 0 : 1 / a.hi, a.lo == 0 ? inf : 1 / a.lo, a.hi == inf || a.hiOpen, a.loOpen};
  if (a.isNegative()) return negate(inverse(negate(a)));
  return {};
}

/// The image under a function that does not decrease.
OpenRange monotone(OpenRange a, double (*f)(double), bool open = true) {
  return {f(a.lo), f(a.hi), a.loOpen || (open && a.lo == -inf), a.hiOpen || (open && a.hi == inf)};
}

OpenRange within(double lo, bool loOpen, double hi, bool hiOpen) { return {lo, hi, loOpen, hiOpen}; }

/// A sum of one or more terms of this range.
OpenRange sumOf(OpenRange a) {
  OpenRange r;
  if (a.lo >= 0) r.lo = a.lo, r.loOpen = a.loOpen;
  if (a.hi <= 0) r.hi = a.hi, r.hiOpen = a.hiOpen;
  return r;
}

OpenRange square(OpenRange a) {
  double low = a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, high = std::max(-a.lo, a.hi);
  return {low * low, high * high, a.excludesZero() && (a.lo >= 0 ? a.loOpen : a.hiOpen), false};
}

OpenRange unary(UnaryKind kind, OpenRange a) {
  switch (kind) {
  case UnaryKind::Neg:
    return negate(a);
  case UnaryKind::Exp:
    return monotone(a, [](double x) { return std::exp(x); });
  case UnaryKind::Exp2:
    return monotone(a, [](double x) { return std::exp2(x); });
  case UnaryKind::Expm1:
    return monotone(a, [](double x) { return std::expm1(x); });
  case UnaryKind::Elu:
    return monotone(a, [](double x) { return x > 0 ? x : std::expm1(x); });
  case UnaryKind::Relu:
    return monotone(
        a, [](double x) { return std::max(x, 0.0); }, false);
  case UnaryKind::Softplus:
    return monotone(a, [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); });
  case UnaryKind::Sigmoid:
    return monotone(a, [](double x) { return 1 / (1 + std::exp(-x)); });
  case UnaryKind::Tanh:
    return monotone(a, [](double x) { return std::tanh(x); });
  case UnaryKind::Sqrt:
    a.lo = std::max(a.lo, 0.0), a.hi = std::max(a.hi, 0.0);
    return monotone(
        a, [](double x) { return std::sqrt(x); }, false);
  case UnaryKind::Rsqrt:
    return within(0, true, inf, false);
  case UnaryKind::Abs: {
    OpenRange s = square(a);
    return {std::sqrt(s.lo), std::sqrt(s.hi), s.loOpen, s.hiOpen};
  }
  case UnaryKind::Sin:
  case UnaryKind::Cos:
    return within(-1, false, 1, false);
  case UnaryKind::Silu:
    return a.lo >= 0 ? within(0, a.loOpen, inf, false) : within(-0.2785, false, inf, false);
  case UnaryKind::Gelu:
    return a.lo >= 0 ? within(0, a.loOpen, inf, false) : within(-0.1701, false, inf, false);
  case UnaryKind::Not:
    return within(0, false, 1, false);
  default:
    return {};
  }
}

} // namespace

DivisionAnalysis::DivisionAnalysis(SpecOp spec) : spec(spec), body(spec.getBody().front()) {
  unsigned inputs = spec.getInputs().size(), count = body.getNumArguments() - inputs;
  states.assign(count, within(0, false, inf, false));
  auto after = body.getTerminator()->getOperands().take_back(count);
  // Each round gives up at least one sign, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    known.clear();
    for (unsigned s = 0; s < count; ++s) {
      if (states[s].lo < 0 || of(after[s]).lo >= 0) continue;
      states[s] = OpenRange();
      changed = true;
    }
  }
  known.clear();
}

OpenRange DivisionAnalysis::evaluate(Value v, const Assumptions &assumed) {
  if (auto it = assumed.find(v); it != assumed.end()) return it->second;
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    unsigned inputs = spec.getInputs().size();
    if (arg.getOwner() != &body || arg.getArgNumber() < inputs) return {};
    return states[arg.getArgNumber() - inputs];
  }
  if (!assumed.empty()) {
    if (!patience) return {};
    --patience;
    return evaluateOp(v.getDefiningOp(), assumed);
  }
  if (auto it = known.find(v); it != known.end()) return it->second;
  OpenRange r = evaluateOp(v.getDefiningOp(), assumed);
  if (std::isnan(r.lo)) r.lo = -inf;
  if (std::isnan(r.hi)) r.hi = inf;
  return known[v] = r;
}

OpenRange DivisionAnalysis::evaluateOp(Operation *op, const Assumptions &assumed) {
  auto in = [&](Value v) { return evaluate(v, assumed); };
  return llvm::TypeSwitch<Operation *, OpenRange>(op)
      .Case<ConstantOp>([](ConstantOp c) {
        double x = c.getValue().convertToDouble();
        return OpenRange{x, x, false, false};
      })
      .Case<DimOp>([](auto) { return within(1, false, inf, false); })
      .Case<PositionOp>([](auto) { return within(0, false, inf, false); })
      .Case<UnaryOp>([&](UnaryOp u) { return unary(u.getKind(), in(u.getX())); })
      .Case<BroadcastOp, FlattenOp, ExtractOp, FinalOp>([&](auto x) { return in(x.getX()); })
      .Case<BinaryOp>([&](BinaryOp b) {
        OpenRange x = in(b.getA()), y = in(b.getB());
        switch (b.getKind()) {
        case BinaryKind::Add:
          return plus(x, y);
        case BinaryKind::Sub:
          return b.getA() == b.getB() ? within(0, false, 0, false) : plus(x, negate(y));
        case BinaryKind::Mul:
          return b.getA() == b.getB() ? square(x) : times(x, y);
        case BinaryKind::Div:
          return times(x, inverse(y));
        case BinaryKind::Min:
          return OpenRange{std::min(x.lo, y.lo), std::min(x.hi, y.hi), x.lo <= y.lo ? x.loOpen : y.loOpen,
                           x.hi <= y.hi ? x.hiOpen : y.hiOpen};
        case BinaryKind::Max:
          return OpenRange{std::max(x.lo, y.lo), std::max(x.hi, y.hi), x.lo >= y.lo ? x.loOpen : y.loOpen,
                           x.hi >= y.hi ? x.hiOpen : y.hiOpen};
        case BinaryKind::Pow:
          if (y.lo == y.hi && std::fmod(y.lo, 2) == 0)
            return y.lo == 2 ? square(x) : within(0, x.excludesZero(), inf, false);
          return x.lo >= 0 ? within(0, x.isPositive(), inf, false) : OpenRange();
        default:
          return within(0, false, 1, false);
        }
      })
      .Case<SelectOp>([&](SelectOp s) {
        // where(x > c, a, b): `a` counts for such x only.
        Assumptions yes = assumed, no = assumed;
        if (auto c = s.getCondition().getDefiningOp<BinaryOp>(); c && assumed.size() < 3) {
          auto assume = [&](Value x, Value bound, bool less, bool orEqual) {
            OpenRange r = in(x), limit = in(bound), below = r, above = r;
            if (limit.hi < below.hi) below.hi = limit.hi, below.hiOpen = less ? !orEqual : orEqual;
            if (limit.lo > above.lo) above.lo = limit.lo, above.loOpen = less ? orEqual : !orEqual;
            yes[x] = less ? below : above;
            no[x] = less ? above : below;
          };
          bool less = c.getKind() == BinaryKind::Lt || c.getKind() == BinaryKind::Le,
               more = c.getKind() == BinaryKind::Gt || c.getKind() == BinaryKind::Ge;
          bool orEqual = c.getKind() == BinaryKind::Le || c.getKind() == BinaryKind::Ge;
          if (less || more) assume(c.getA(), c.getB(), less, orEqual);
        }
        return hull(evaluate(s.getA(), yes), evaluate(s.getB(), no));
      })
      .Case<MatmulOp>([&](MatmulOp m) {
        return sumOf(m.getA() == m.getB() ? square(in(m.getA())) : times(in(m.getA()), in(m.getB())));
      })
      .Case<OuterOp>([&](OuterOp o) { return times(in(o.getA()), in(o.getB())); })
      .Case<ReduceOp>([&](ReduceOp r) { return r.getKind() == ReduceKind::Max ? in(r.getX()) : sumOf(in(r.getX())); })
      .Case<CumsumOp>([&](CumsumOp c) { return sumOf(in(c.getX())); })
      .Case<ConcatOp>([&](ConcatOp c) {
        OpenRange r = in(c.getParts().front());
        for (Value part : c.getParts().drop_front()) r = hull(r, in(part));
        return r;
      })
      .Default([](auto) { return OpenRange(); });
}

SmallVector<Operation *> DivisionAnalysis::doubtfulDivisions() {
  SmallVector<Operation *> result;
  for (Operation &op : body) {
    if (auto b = dyn_cast<BinaryOp>(op); b && b.getKind() == BinaryKind::Div && !of(b.getB()).excludesZero())
      result.push_back(&op);
    if (auto a = dyn_cast<AttendOp>(op);
        a && !a.getNormalizer().empty() && of(a.getWeights().front().getTerminator()->getOperand(0)).lo < 0)
      result.push_back(&op);
  }
  return result;
}

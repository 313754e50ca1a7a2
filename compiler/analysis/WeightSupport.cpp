#include "compiler/analysis/WeightSupport.h"
#include <cmath>

using namespace mlir;
using namespace lintel;

namespace {

/// Distances from `near` to `far`, key positions up to `last`.
struct Box {
  double near = -INFINITY, far = INFINITY, last = INFINITY;
};
using Boxes = SmallVector<Box>;

/// More boxes than a condition anyone writes has: nothing is said.
constexpr size_t mostBoxes = 16;

Boxes unite(Boxes a, const Boxes &b) {
  a.append(b);
  return a.size() > mostBoxes ? Boxes{Box()} : a;
}

Boxes intersect(const Boxes &a, const Boxes &b) {
  Boxes result;
  for (const Box &x : a)
    for (const Box &y : b) {
      Box both{std::max(x.near, y.near), std::min(x.far, y.far), std::min(x.last, y.last)};
      if (both.near <= both.far && both.last >= 0) result.push_back(both);
    }
  return result.size() > mostBoxes ? Boxes{Box()} : result;
}

/// distance * d + position * p + n
struct Affine {
  double d = 0, p = 0, n = 0;
};

class Conditions {
public:
  explicit Conditions(Value distance) : distance(distance) {}

  /// Where `v` can be other than `none`.
  Boxes support(Value v, double none) {
    if (auto c = v.getDefiningOp<ConstantOp>())
      return c.getValueAttr().getValueAsDouble() == none ? Boxes{} : Boxes{Box()};
    if (auto s = v.getDefiningOp<SelectOp>())
      return unite(intersect(where(s.getCondition(), true), support(s.getA(), none)),
                   intersect(where(s.getCondition(), false), support(s.getB(), none)));
    if (auto u = v.getDefiningOp<UnaryOp>(); u && u.getKind() == UnaryKind::Exp && none == 0)
      return support(u.getX(), -INFINITY);
    return {Box()};
  }

  /// Where `v` can be `none` by a choice, as chosenWeight in LowerStreamed.cpp has it.
  Boxes absence(Value v, double none) {
    if (auto c = v.getDefiningOp<ConstantOp>())
      return c.getValueAttr().getValueAsDouble() == none ? Boxes{Box()} : Boxes{};
    if (auto s = v.getDefiningOp<SelectOp>())
      return unite(intersect(where(s.getCondition(), true), absence(s.getA(), none)),
                   intersect(where(s.getCondition(), false), absence(s.getB(), none)));
    if (auto u = v.getDefiningOp<UnaryOp>(); u && u.getKind() == UnaryKind::Exp && none == 0)
      return absence(u.getX(), -INFINITY);
    auto b = v.getDefiningOp<BinaryOp>();
    if (!b) return {};
    switch (b.getKind()) {
    case BinaryKind::Mul:
      return none == 0 ? unite(absence(b.getA(), none), absence(b.getB(), none)) : Boxes{};
    case BinaryKind::Div:
      return none == 0 ? absence(b.getA(), none) : Boxes{};
    case BinaryKind::Add:
      return none != 0 ? unite(absence(b.getA(), none), absence(b.getB(), none)) : Boxes{};
    case BinaryKind::Sub:
      return none != 0 ? unite(absence(b.getA(), none), absence(b.getB(), -none)) : Boxes{};
    default:
      return {};
    }
  }

private:
  /// Where `c` can be true, or false.
  Boxes where(Value c, bool truth) {
    if (auto number = c.getDefiningOp<ConstantOp>())
      return (number.getValueAttr().getValueAsDouble() != 0) == truth ? Boxes{Box()} : Boxes{};
    if (auto u = c.getDefiningOp<UnaryOp>(); u && u.getKind() == UnaryKind::Not) return where(u.getX(), !truth);
    auto b = c.getDefiningOp<BinaryOp>();
    if (!b) return {Box()};
    switch (b.getKind()) {
    case BinaryKind::And:
    case BinaryKind::Or: {
      Boxes x = where(b.getA(), truth), y = where(b.getB(), truth);
      return (b.getKind() == BinaryKind::And) == truth ? intersect(x, y) : unite(x, y);
    }
    case BinaryKind::Lt:
    case BinaryKind::Ge: {
      bool less = (b.getKind() == BinaryKind::Lt) == truth;
      return less ? below(b.getA(), b.getB(), true) : below(b.getB(), b.getA(), false);
    }
    case BinaryKind::Le:
    case BinaryKind::Gt: {
      bool less = (b.getKind() == BinaryKind::Le) == truth;
      return less ? below(b.getA(), b.getB(), false) : below(b.getB(), b.getA(), true);
    }
    case BinaryKind::Eq:
    case BinaryKind::Ne:
      if ((b.getKind() == BinaryKind::Eq) == truth)
        return intersect(below(b.getA(), b.getB(), false), below(b.getB(), b.getA(), false));
      return unite(below(b.getA(), b.getB(), true), below(b.getB(), b.getA(), true));
    default:
      return {Box()};
    }
  }

  /// Where a < b (`strict`) or a <= b. |x| <= y is x <= y and -x <= y; y <= |x| is y <= x or y <= -x.
  Boxes below(Value a, Value b, bool strict) {
    if (auto u = a.getDefiningOp<UnaryOp>(); u && u.getKind() == UnaryKind::Abs) {
      auto x = affine(u.getX()), y = affine(b);
      return x && y ? intersect(below(*x, *y, strict), below(negative(*x), *y, strict)) : Boxes{Box()};
    }
    if (auto u = b.getDefiningOp<UnaryOp>(); u && u.getKind() == UnaryKind::Abs) {
      auto x = affine(u.getX()), y = affine(a);
      return x && y ? unite(below(*y, *x, strict), below(*y, negative(*x), strict)) : Boxes{Box()};
    }
    auto x = affine(a), y = affine(b);
    return x && y ? below(*x, *y, strict) : Boxes{Box()};
  }

  static Boxes below(const Affine &a, const Affine &b, bool strict) {
    Affine x{a.d - b.d, a.p - b.p, a.n - b.n}; // x < 0
    bool ofKey = x.p != 0 && x.p == -x.d;      // p (position - distance) + n
    double factor = ofKey ? x.p : x.d;
    Box box;
    if (std::isnan(x.n)) return {box};
    if (x.d == 0 && x.p == 0) return (strict ? x.n < 0 : x.n <= 0) ? Boxes{box} : Boxes{};
    if (x.p != 0 && !ofKey) return {box};
    // Whole numbers up to `most`, or from it where the factor is negative. What is scaled is rounded where kernels
    // compute it, so that it may hold a step further.
    double bound = -x.n / factor, slack = std::abs(factor) == 1 ? 0 : 1;
    if (factor > 0) {
      double most = (strict ? std::ceil(bound) - 1 : std::floor(bound)) + slack;
      (ofKey ? box.last : box.far) = most;
    } else if (!ofKey) {
      box.near = (strict ? std::floor(bound) + 1 : std::ceil(bound)) - slack;
    }
    return {box};
  }

  static Affine negative(const Affine &x) { return {-x.d, -x.p, -x.n}; }

  std::optional<Affine> affine(Value v) {
    if (v == distance) return Affine{1, 0, 0};
    if (v.getDefiningOp<PositionOp>()) return Affine{0, 1, 0};
    if (auto c = v.getDefiningOp<ConstantOp>()) return Affine{0, 0, c.getValueAttr().getValueAsDouble()};
    if (auto u = v.getDefiningOp<UnaryOp>(); u && u.getKind() == UnaryKind::Neg)
      if (auto x = affine(u.getX())) return negative(*x);
    auto b = v.getDefiningOp<BinaryOp>();
    if (!b) return std::nullopt;
    auto x = affine(b.getA()), y = affine(b.getB());
    if (!x || !y) return std::nullopt;
    auto isNumber = [](const Affine &a) { return a.d == 0 && a.p == 0; };
    auto times = [](const Affine &a, double f) { return Affine{a.d * f, a.p * f, a.n * f}; };
    switch (b.getKind()) {
    case BinaryKind::Add:
      return Affine{x->d + y->d, x->p + y->p, x->n + y->n};
    case BinaryKind::Sub:
      return Affine{x->d - y->d, x->p - y->p, x->n - y->n};
    case BinaryKind::Mul:
      if (isNumber(*y)) return times(*x, y->n);
      if (isNumber(*x)) return times(*y, x->n);
      return std::nullopt;
    case BinaryKind::Div:
      if (isNumber(*y) && y->n != 0) return times(*x, 1 / y->n);
      return std::nullopt;
    default:
      return std::nullopt;
    }
  }

  Value distance;
};

/// Larger windows are as good as none, and stay clear of what floats hold exactly.
constexpr double widest = 1 << 24;

} // namespace

WeightSupport lintel::supportOf(AttendOp attend) {
  Block &weights = attend.getWeights().front();
  Conditions conditions(weights.getArgument(2));
  Value weight = weights.getTerminator()->getOperand(0);
  Boxes boxes = conditions.support(weight, 0);
  double far = 0, near = 0, first = 0;
  for (const Box &box : boxes) {
    bool isFirst = box.far >= widest && box.last < widest; // of keys at the start, at any distance
    if (isFirst) first = std::max(first, box.last + 1);
    else far = std::max(far, box.far);
    near = std::min(near, isFirst ? std::max(box.near, -box.last) : box.near);
  }
  WeightSupport support;
  if (far < widest) {
    support.window = static_cast<int64_t>(far) + 1;
    support.first = static_cast<int64_t>(first);
  }
  if (!attend.getCausal() && near > -widest) support.ahead = static_cast<int64_t>(-near);
  auto atMost = [](int64_t &steps, double n) {
    if (n < widest && (steps < 0 || n < static_cast<double>(steps))) steps = static_cast<int64_t>(n);
  };
  for (const Box &box : conditions.absence(weight, 0)) {
    if (box.near > 0) atMost(support.before, box.near - 1);
    else if (box.far < 0) attend.getCausal() ? void() : atMost(support.after, -box.far - 1);
    else support.scattered = true;
  }
  return support;
}

double lintel::seenKeys(AttendOp attend, int64_t steps) {
  WeightSupport support = supportOf(attend);
  double T = static_cast<double>(std::max<int64_t>(steps, 1));
  // Of a range of n distances beside the query's own step, those inside of the sequence.
  auto beside = [&](double n) { return n < T ? n - n * (n + 1) / (2 * T) : (T - 1) / 2; };
  double all = attend.getCausal() ? (T + 1) / 2 : T;
  double seen = 1 + beside(support.window ? static_cast<double>(support.window - 1) : T);
  if (!attend.getCausal()) seen += beside(support.ahead >= 0 ? static_cast<double>(support.ahead) : T);
  return std::min(all, seen + std::min<double>(static_cast<double>(support.first), T));
}

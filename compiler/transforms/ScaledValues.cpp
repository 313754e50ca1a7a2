#include "compiler/transforms/ScaledValues.h"
#include "dialect/OperatorUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace lintel;

Exponent lintel::plus(const Exponent &a, const Exponent &b, int times) {
  Exponent r = a;
  for (auto [s, n] : b)
    if ((r[s] += n * times) == 0) r.erase(s);
  return r;
}

namespace {

/// A whole number of small size, which may be taken out of a power.
std::optional<int> wholeNumber(Value v) {
  auto c = v.getDefiningOp<ConstantOp>();
  if (!c) return std::nullopt;
  double x = c.getValueAttr().getValueAsDouble();
  if (x != std::floor(x) || std::fabs(x) > 16) return std::nullopt;
  return static_cast<int>(x);
}

} // namespace

unsigned ScaledValues::symbol(Value v) {
  auto [it, inserted] = symbolOf.try_emplace(v, symbols.size());
  if (inserted) symbols.push_back(v);
  return it->second;
}

Value ScaledValues::number(double x) { return ConstantOp::create(builder, loc, builder.getF64FloatAttr(x)); }

Value ScaledValues::value(const Exponent &e) {
  if (auto it = sums.find(e); it != sums.end()) return it->second;
  Value sum;
  for (bool positive : {true, false}) // so that the sum starts with a term that needs no negation
    for (auto [s, n] : e) {
      if ((n > 0) != positive) continue;
      Value x = symbols[s];
      if (std::abs(n) != 1) x = binary(BinaryKind::Mul, x, number(std::abs(n)));
      if (sum) sum = binary(n > 0 ? BinaryKind::Add : BinaryKind::Sub, sum, x);
      else sum = n > 0 ? x : UnaryOp::create(builder, loc, UnaryKind::Neg, x).getResult();
    }
  return sums[e] = sum ? sum : number(0);
}

bool ScaledValues::isForEach(const Exponent &e) const {
  return llvm::any_of(e, [&](auto &term) { return cast<RealType>(symbols[term.first].getType()).getRank() > 0; });
}

void ScaledValues::leaves(const Exponent &e, llvm::SetVector<Operation *> &exponentials,
                          llvm::SetVector<Value> &values) const {
  for (auto [s, n] : e) {
    if (!isForEach(Exponent{{s, n}}) || !values.insert(symbols[s])) continue;
    if (auto it = exponentialsOf.find(s); it != exponentialsOf.end()) exponentials.insert_range(it->second);
    if (auto it = clearedFrom.find(s); it != clearedFrom.end()) leaves(it->second, exponentials, values);
    auto it = maximumOf.find(s);
    if (it == maximumOf.end()) continue;
    leaves(it->second.first, exponentials, values);
    leaves(it->second.second, exponentials, values);
  }
}

Value ScaledValues::timesPower(Value x, const Exponent &e) {
  if (e.empty()) return x;
  auto it = powers.find(e);
  if (it == powers.end())
    it = powers.try_emplace(e, UnaryOp::create(builder, loc, UnaryKind::Exp2, value(e)).getResult()).first;
  return binary(BinaryKind::Mul, x, it->second);
}

Exponent ScaledValues::maximum(const Exponent &a, const Exponent &b) {
  if (isNonPositive(plus(a, b, -1))) return b;
  if (isNonPositive(plus(b, a, -1))) return a;
  auto key = a < b ? std::make_pair(a, b) : std::make_pair(b, a);
  auto it = maxima.find(key);
  if (it == maxima.end()) {
    unsigned s = symbol(binary(BinaryKind::Max, value(key.first), value(key.second)));
    it = maxima.try_emplace(key, s).first;
    maximumOf[s] = key;
  }
  return {{it->second, 1}};
}

bool ScaledValues::isNonPositive(const Exponent &e, unsigned depth, unsigned &patience) const {
  if (e.empty()) return true;
  if (depth == 0 || patience == 0) return false;
  --patience;
  for (auto [s, n] : e) {
    auto it = maximumOf.find(s);
    if (it == maximumOf.end()) continue;
    Exponent without = plus(e, {{s, n}}, -1);
    bool a = isNonPositive(plus(without, it->second.first, n), depth - 1, patience),
         b = isNonPositive(plus(without, it->second.second, n), depth - 1, patience);
    // A maximum is at least each of its arguments, and equals one of them.
    if (n < 0 ? a || b : a && b) return true;
  }
  Exponent rest = e;
  for (auto [s, n] : e)
    if (n > 0 && ofFractions.contains(s)) rest.erase(s);
  return rest.size() < e.size() && isNonPositive(rest, depth, patience);
}

Exponent ScaledValues::align(ArrayRef<Scaled> parts, SmallVectorImpl<Value> &xs) {
  const Scaled *first = nullptr;
  for (const Scaled &p : parts)
    if (!first && !p.zero) first = &p;
  Exponent top = first ? first->e : Exponent();
  for (const Scaled &p : parts) {
    if (p.zero) continue;
    // What both have in common stays outside of the maximum, where it can still cancel.
    Exponent common, difference = plus(top, p.e, -1);
    for (auto [s, n] : top)
      if (!difference.count(s)) common[s] = n;
    top = plus(common, maximum(plus(top, common, -1), plus(p.e, common, -1)));
  }
  for (const Scaled &p : parts) xs.push_back(p.zero ? p.x : timesPower(p.x, plus(p.e, top, -1)));
  return top;
}

Value ScaledValues::plain(Value v) {
  const Scaled &s = of(v);
  if (s.e.empty()) return s.x;
  if (auto it = plains.find(v); it != plains.end()) return it->second;
  return plains[v] = timesPower(s.x, s.e);
}

Scaled ScaledValues::cloneWith(Operation *op, ArrayRef<Value> operands) {
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(op->getOperands(), operands)) mapping.map(from, to);
  return {builder.clone(*op, mapping)->getResult(0), {}, isConstantZero(op->getResult(0))};
}

Value ScaledValues::largest(Value x, bool each) {
  unsigned rank = cast<RealType>(x.getType()).getRank();
  if (rank == 0 || each) return x;
  if (rank == 2) x = FlattenOp::create(builder, loc, x);
  return ReduceOp::create(builder, loc, ReduceKind::Max, x);
}

Value ScaledValues::exponentOf(Value a, bool each) {
  constexpr double log2e = 1.4426950408889634, most = -noExponent;
  Value e = UnaryOp::create(builder, loc, UnaryKind::Ceil, binary(BinaryKind::Mul, largest(a, each), number(log2e)));
  return binary(BinaryKind::Max, binary(BinaryKind::Min, e, number(most)), number(-most));
}

Value ScaledValues::exponentialOver(Value a, Value e) {
  // ln 2 in two parts; the first has so few bits that its product with an exponent is exact.
  constexpr double high = 0.693359375, low = -2.1219444005469058e-4;
  Value rest = binary(BinaryKind::Sub, binary(BinaryKind::Sub, a, binary(BinaryKind::Mul, e, number(high))),
                      binary(BinaryKind::Mul, e, number(low)));
  return UnaryOp::create(builder, loc, UnaryKind::Exp, rest);
}

bool ScaledValues::hasEach(UnaryOp exp) { return cast<RealType>(exp.getType()).getRank() == 1 && keepsEach(exp); }

Scaled ScaledValues::exponential(UnaryOp op) {
  Value a = plain(op.getX()), y = op.getX();
  int n = 1;
  while (true) {
    auto product = y.getDefiningOp<BinaryOp>();
    auto minus = y.getDefiningOp<UnaryOp>();
    auto whole = product && product.getKind() == BinaryKind::Mul ? wholeNumber(product.getB()) : std::nullopt;
    if (whole && *whole && std::abs(n * *whole) <= 16 && product.getA().getType() == y.getType())
      n *= *whole, y = product.getA();
    else if (minus && minus.getKind() == UnaryKind::Neg) n = -n, y = minus.getX();
    else break;
  }
  bool each = hasEach(op);
  auto [it, isNew] = basic.try_emplace(std::make_tuple(y.getAsOpaquePointer(), n < 0, each), 0);
  if (isNew) {
    Value one = n == 1 ? a : plain(y);
    if (n < 0) one = n == -1 ? a : UnaryOp::create(builder, loc, UnaryKind::Neg, one).getResult();
    it->second = symbol(exponentOf(one, each));
  }
  if (each && !llvm::is_contained(exponentialsOf[it->second], op.getOperation()))
    exponentialsOf[it->second].push_back(op);
  Exponent e{{it->second, std::abs(n)}};
  return {exponentialOver(a, value(e)), e};
}

Scaled ScaledValues::factor(Value v, const Exponent &of) {
  const Scaled &plainly = this->of(v);
  Range range = ranges.of(v);
  double least = 0.5; // which is less than what is lost to whole exponents anyway
  unsigned rank = cast<RealType>(v.getType()).getRank();
  if (!plainly.e.empty() || rank > 1 || range.low > least || range.high < -least) return plainly;
  bool each = rank == 1 && isForEach(of);
  auto key = std::make_pair(v.getAsOpaquePointer(), each);
  if (auto it = factors.find(key); it != factors.end()) return it->second;
  Value x = plainly.x;
  auto u = v.getDefiningOp<UnaryOp>();
  if (u && u.getKind() == UnaryKind::Sigmoid) {
    // As exp(-softplus(-a)), which is a number where the sigmoid has become zero.
    auto negative = [&](Value a) { return UnaryOp::create(builder, loc, UnaryKind::Neg, a).getResult(); };
    Value a = negative(UnaryOp::create(builder, loc, UnaryKind::Softplus, negative(plain(u.getX()))));
    Value e = exponentOf(a, each);
    ofFractions.insert(symbol(e));
    return factors[key] = {exponentialOver(a, e), {{symbol(e), 1}}};
  }
  constexpr double log2e = 1.4426950408889634, most = 120; // 2^120 is a number in f32
  Value top = largest(UnaryOp::create(builder, loc, UnaryKind::Abs, x), each);
  Value log = UnaryOp::create(builder, loc, UnaryKind::Log, top);
  Value e = UnaryOp::create(builder, loc, UnaryKind::Ceil, binary(BinaryKind::Mul, log, number(log2e)));
  e = binary(BinaryKind::Max, binary(BinaryKind::Min, e, number(most)), number(-most));
  Value power = UnaryOp::create(builder, loc, UnaryKind::Exp2, UnaryOp::create(builder, loc, UnaryKind::Neg, e));
  // NaN has no exponent either, and stays. The choice keeps the product together, whose parts may be no numbers.
  Value some = binary(BinaryKind::Gt, top, number(0));
  Value none = number(noExponent);
  x = SelectOp::create(builder, loc, some, binary(BinaryKind::Mul, x, power), x);
  e = SelectOp::create(builder, loc, some, e, none);
  if (range.low >= -1 && range.high <= 1) ofFractions.insert(symbol(e));
  return factors[key] = {x, {{symbol(e), 1}}};
}

std::optional<Scaled> ScaledValues::chosenExponential(SelectOp op) {
  bool first = false;
  UnaryOp exp;
  for (Value branch : {op.getA(), op.getB()}) {
    auto u = branch.getDefiningOp<UnaryOp>();
    if (u && u.getKind() == UnaryKind::Exp && isScaled(u)) exp = u, first = branch == op.getA();
  }
  Value other = first ? op.getB() : op.getA();
  if (!exp || !of(op.getCondition()).e.empty() || !of(other).e.empty() || exp.getType() != op.getType())
    return std::nullopt;
  Value condition = of(op.getCondition()).x, a = plain(exp.getX());
  auto select = [&](Value x, Value y) -> Value {
    return SelectOp::create(builder, loc, condition, first ? x : y, first ? y : x);
  };
  bool each = hasEach(exp);
  Value e = exponentOf(select(a, number(0)), each);
  Exponent exponent{{symbol(e), 1}};
  if (each) exponentialsOf[symbol(e)].push_back(exp);
  return Scaled{select(exponentialOver(a, e), timesPower(of(other).x, plus({}, exponent, -1))), exponent};
}

/// A state that is cleared has no exponent, and what is added next sets it anew.
std::optional<Scaled> ScaledValues::cleared(SelectOp op) {
  bool first = of(op.getA()).zero;
  const Scaled &other = of(first ? op.getB() : op.getA()), &none = of(first ? op.getA() : op.getB());
  if (!none.zero || other.zero || other.e.empty() || !of(op.getCondition()).e.empty() || readsStates(op.getCondition()))
    return std::nullopt;
  Value condition = of(op.getCondition()).x, e = value(other.e);
  auto broadcast = condition.getDefiningOp<BroadcastOp>();
  Value chooses = broadcast && condition.getType() != e.getType() ? broadcast.getX() : condition;
  if (chooses.getType() != e.getType()) return std::nullopt; // for some of those that share the exponent
  auto [it, isNew] = clearedOf.try_emplace(std::make_tuple(chooses.getAsOpaquePointer(), first, other.e), 0);
  auto select = [&](Value c, Value zero, Value x) -> Value {
    return SelectOp::create(builder, loc, c, first ? zero : x, first ? x : zero);
  };
  if (isNew) {
    Value gone = number(noExponent);
    if (e.getType() != gone.getType()) gone = BroadcastOp::create(builder, loc, e.getType(), gone);
    it->second = symbol(select(chooses, gone, e));
    clearedFrom[it->second] = other.e;
  }
  return Scaled{select(condition, none.x, other.x), {{it->second, 1}}};
}

void ScaledValues::visit(Operation *op) { known[op->getResult(0)] = rewrite(op); }

Scaled ScaledValues::rewrite(Operation *op) {
  SmallVector<Scaled> in;
  for (Value v : op->getOperands()) in.push_back(of(v));
  auto withX = [&] {
    SmallVector<Value> xs;
    for (const Scaled &s : in) xs.push_back(s.x);
    return xs;
  };
  auto unscaled = [&] {
    SmallVector<Value> xs;
    for (Value v : op->getOperands()) xs.push_back(plain(v));
    return cloneWith(op, xs);
  };
  // Squared over and over, a multiple leaves the range of int, and long before that the value leaves that of any float.
  auto isLarge = [](const Exponent &e) {
    return llvm::any_of(e, [](auto &term) { return std::abs(term.second) > 1024; });
  };
  auto withExponent = [&](Exponent e) {
    if (isLarge(e)) return unscaled();
    Scaled s = cloneWith(op, withX());
    s.e = std::move(e);
    return s;
  };
  auto aligned = [&](unsigned from) {
    SmallVector<Value> xs = withX();
    xs.truncate(from);
    Exponent e = align(ArrayRef<Scaled>(in).drop_front(from), xs);
    Scaled s = cloneWith(op, xs);
    s.e = std::move(e);
    return s;
  };
  auto u = dyn_cast<UnaryOp>(op);
  if (u && u.getKind() == UnaryKind::Exp && isScaled(u)) return exponential(u);
  if (llvm::all_of(in, [](const Scaled &s) { return s.e.empty(); })) return cloneWith(op, withX());
  if (u) {
    switch (u.getKind()) {
    case UnaryKind::Neg:
    case UnaryKind::Abs:
    case UnaryKind::Relu:
      return withExponent(in[0].e);
    case UnaryKind::Not:
      return withExponent({});
    case UnaryKind::Log: {
      Value x = withExponent({}).x;
      return {binary(BinaryKind::Add, x, binary(BinaryKind::Mul, value(in[0].e), number(M_LN2))), {}};
    }
    default:
      return unscaled();
    }
  }
  if (auto b = dyn_cast<BinaryOp>(op)) {
    switch (b.getKind()) {
    case BinaryKind::Mul:
      for (unsigned i : {0, 1})
        if (readsStates(op->getOperand(i)) && !in[i].e.empty() && !readsStates(op->getOperand(1 - i)) && isFollowed(b))
          in[1 - i] = factor(op->getOperand(1 - i), in[i].e);
      return withExponent(plus(in[0].e, in[1].e));
    case BinaryKind::Div: {
      Scaled s = withExponent(plus(in[0].e, in[1].e, -1));
      // A divisor that is never zero, such as max(|n|, 1), may vanish beside its exponent; 0 over it is still 0.
      if (!in[1].e.empty() && ranges.of(b.getB()).low > 0)
        s.x = SelectOp::create(builder, loc, binary(BinaryKind::Eq, in[0].x, number(0)), number(0), s.x);
      return s;
    }
    case BinaryKind::Pow:
      if (auto n = wholeNumber(b.getB())) {
        Exponent e;
        for (int i = 0; i < std::abs(*n); ++i) e = plus(e, in[0].e, *n > 0 ? 1 : -1);
        return withExponent(e);
      }
      return unscaled();
    case BinaryKind::And:
    case BinaryKind::Or:
      return withExponent({});
    case BinaryKind::Add:
    case BinaryKind::Sub:
    case BinaryKind::Min:
    case BinaryKind::Max:
      return aligned(0);
    default: { // comparisons
      Scaled s = aligned(0);
      s.e.clear();
      return s;
    }
    }
  }
  if (auto select = dyn_cast<SelectOp>(op)) {
    if (auto chosen = chosenExponential(select)) return *chosen;
    if (auto gone = cleared(select)) return *gone;
    return aligned(1);
  }
  // An axis that is summed over, or whose elements part, has no exponents of its own.
  auto parts = [&](unsigned i) {
    if (!isForEach(in[i].e)) return false;
    summed.push_back(in[i].e);
    return true;
  };
  bool apart = isa<ConcatOp, ReduceOp, CumsumOp, ExtractOp, FlattenOp, FinalOp>(op);
  for (unsigned i = 0; i < in.size(); ++i) {
    auto type = cast<RealType>(op->getOperand(i).getType());
    bool sums = apart || (isa<MatmulOp>(op) && (i == 1 || type.getRank() == 1)) || (isa<OuterOp>(op) && i == 1);
    if (sums && parts(i)) return unscaled();
  }
  if (isa<ConcatOp>(op)) return aligned(0);
  if (isa<MatmulOp, OuterOp>(op)) return withExponent(plus(in[0].e, in[1].e));
  if (isa<BroadcastOp, ReduceOp, CumsumOp, ExtractOp, FlattenOp>(op)) return withExponent(in[0].e);
  if (isa<FinalOp>(op)) {
    // The exponent after the last step, too.
    auto it = finals.find(in[0].e);
    if (it == finals.end())
      it = finals.try_emplace(in[0].e, symbol(FinalOp::create(builder, loc, value(in[0].e)))).first;
    return withExponent({{it->second, 1}});
  }
  return unscaled();
}

#include "compiler/analysis/TransitionAnalysis.h"
#include "dialect/OperatorUtils.h"

using namespace mlir;
using namespace lintel;

StringRef lintel::toString(TransitionClass c) {
  switch (c) {
  case TransitionClass::Identity:
    return "identity";
  case TransitionClass::Scalar:
    return "scalar";
  case TransitionClass::Diagonal:
    return "diagonal";
  case TransitionClass::LowRank:
    return "identity plus low rank";
  case TransitionClass::DecayLowRank:
    return "decay times low rank";
  case TransitionClass::Affine:
    return "affine";
  }
  return "";
}

namespace {
RealType typeOf(Value v) { return cast<RealType>(v.getType()); }
unsigned rankOf(Value v) { return v ? typeOf(v).getRank() : 0; }

/// What clears a sum is what clears all of its terms.
void keepShared(SmallVector<Value, 1> &cleared, ArrayRef<Value> other) {
  llvm::erase_if(cleared, [&](Value c) { return !llvm::is_contained(other, c); });
}
} // namespace

TransitionAnalysis::TransitionAnalysis(Block &block, unsigned inputs, ArrayRef<unsigned> prefix)
    : block(block), inputs(inputs), prefix(prefix), builder(block.getTerminator()) {
  states.resize(block.getNumArguments() - inputs);
  for (unsigned s = 0; s < states.size(); ++s)
    if (!isPrefix(s)) classify(s);
}

bool TransitionAnalysis::dependsOnState(Value v) {
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    if (arg.getOwner() != &block || arg.getArgNumber() < inputs) return false;
    return !isPrefix(arg.getArgNumber() - inputs);
  }
  if (auto it = dependence.find(v); it != dependence.end()) return it->second;
  bool depends = llvm::any_of(v.getDefiningOp()->getOperands(), [&](Value x) { return dependsOnState(x); });
  return dependence[v] = depends;
}

Value TransitionAnalysis::binary(BinaryKind kind, Value a, Value b) {
  return BinaryOp::create(builder, block.getTerminator()->getLoc(), kind, a, b);
}

Value TransitionAnalysis::times(Value a, Value b) {
  if (!a) return b;
  if (!b) return a;
  return binary(BinaryKind::Mul, a, b);
}

Value TransitionAnalysis::negate(Value a, Location loc) {
  if (!a) return ConstantOp::create(builder, loc, builder.getF64FloatAttr(-1));
  return UnaryOp::create(builder, loc, UnaryKind::Neg, a);
}

AffineValue TransitionAnalysis::opaque(ArrayRef<AffineValue> parts) {
  AffineValue r;
  std::set<std::pair<unsigned, bool>> seen;
  for (const AffineValue &part : parts)
    for (LinearTerm term : part.terms) {
      term.kind = LinearTerm::Opaque;
      if (seen.insert({term.state, term.after}).second) r.terms.push_back(term);
    }
  return r;
}

AffineValue TransitionAnalysis::add(AffineValue x, AffineValue y, bool subtract, RealType type) {
  Location loc = block.getTerminator()->getLoc();
  if (subtract) {
    for (LinearTerm &t : y.terms) {
      if (t.kind == LinearTerm::Elementwise) t.factor = negate(t.factor, loc);
      if (t.kind == LinearTerm::Read) t.left = negate(t.left, loc);
      if (t.kind == LinearTerm::Outer) t.up = negate(t.up, loc);
    }
    for (OuterPair &p : y.pairs) p.k = negate(p.k, loc);
    if (y.rest) y.rest = negate(y.rest, loc);
  }
  x.terms.append(y.terms);
  x.pairs.append(y.pairs);
  if (x.rest && y.rest) x.rest = binary(BinaryKind::Add, x.rest, y.rest);
  else if (y.rest) x.rest = y.rest;
  if (x.rest && x.rest.getType() != type) x.rest = BroadcastOp::create(builder, loc, type, x.rest);
  return x;
}

/// Reads of one state with several vectors are a read with their sum. Without this each update of several in a step
/// would double the terms of the one behind it, which reads the state through it.
void TransitionAnalysis::joinReads(AffineValue &x) {
  SmallVector<LinearTerm> terms;
  for (LinearTerm &t : x.terms) {
    auto *same = llvm::find_if(terms, [&](const LinearTerm &other) {
      return t.kind == LinearTerm::Read && other.kind == LinearTerm::Read && t.state == other.state &&
             t.after == other.after && t.left && other.left && rankOf(t.left) == rankOf(other.left);
    });
    if (same == terms.end()) {
      terms.push_back(t);
      continue;
    }
    same->left = binary(BinaryKind::Add, same->left, t.left);
    keepShared(same->cleared, t.cleared);
  }
  x.terms = std::move(terms);
}

/// outer(k, v) with the scalars and signs of v moved to k, wherever the user put them.
OuterPair TransitionAnalysis::pair(Value k, Value v) {
  while (Operation *op = v.getDefiningOp()) {
    auto b = dyn_cast<BinaryOp>(op);
    auto u = dyn_cast<UnaryOp>(op);
    if (b && b.getKind() == BinaryKind::Mul && rankOf(b.getA()) == 0) k = times(b.getA(), k), v = b.getB();
    else if (b && b.getKind() == BinaryKind::Mul && rankOf(b.getB()) == 0) k = times(b.getB(), k), v = b.getA();
    else if (b && b.getKind() == BinaryKind::Div && rankOf(b.getB()) == 0)
      k = binary(BinaryKind::Div, k, b.getB()), v = b.getA();
    else if (u && u.getKind() == UnaryKind::Neg) k = negate(k, op->getLoc()), v = u.getX();
    else break;
  }
  return {k, v};
}

/// x * factor / divisor, both free of states; `rank` is x's own.
AffineValue TransitionAnalysis::scale(AffineValue x, Value factor, Value divisor, unsigned rank) {
  unsigned by = std::max(rankOf(factor), rankOf(divisor));
  auto apply = [&](Value v) {
    if (factor) v = times(factor, v);
    if (!divisor) return v;
    if (!v) v = ConstantOp::create(builder, block.getTerminator()->getLoc(), builder.getF64FloatAttr(1));
    return binary(BinaryKind::Div, v, divisor);
  };
  AffineValue r;
  for (LinearTerm t : x.terms) {
    unsigned state = rankOf(stateBefore(t.state));
    if (by == 0) {
      Value &target = t.kind == LinearTerm::Elementwise ? t.factor : t.kind == LinearTerm::Read ? t.left : t.up;
      if (t.kind != LinearTerm::Opaque) target = apply(target);
    } else if (rank == 0 && by == 1 && t.kind == LinearTerm::Read) {
      t = {LinearTerm::Outer, t.state, t.after, Value(), t.left, apply(Value()), t.cleared};
      if (state != 1) t.kind = LinearTerm::Opaque;
    } else if (rank >= by && t.kind == LinearTerm::Elementwise && state == rank) {
      t.factor = apply(t.factor);
    } else if (by == 1 && rank == state && t.kind == LinearTerm::Outer) {
      t.up = apply(t.up);
    } else {
      t.kind = LinearTerm::Opaque;
    }
    r.terms.push_back(t);
  }
  if (by <= 1 && rank == 2)
    for (OuterPair p : x.pairs) r.pairs.push_back({apply(p.k), p.v});
  else
    for (OuterPair p : x.pairs) {
      Value dense = apply(OuterOp::create(builder, block.getTerminator()->getLoc(), p.k, p.v));
      r.rest = r.rest ? binary(BinaryKind::Add, r.rest, dense) : dense;
    }
  if (x.rest) {
    Value rest = apply(x.rest);
    r.rest = r.rest ? binary(BinaryKind::Add, r.rest, rest) : rest;
  }
  return r;
}

/// q @ x for a vector q free of states.
AffineValue TransitionAnalysis::contract(Value q, AffineValue x) {
  Location loc = block.getTerminator()->getLoc();
  auto dot = [&](Value a, Value b) { return MatmulOp::create(builder, loc, a, b).getResult(); };
  AffineValue r;
  for (LinearTerm t : x.terms) {
    bool each = llvm::any_of(t.cleared, [](Value c) { return rankOf(c) > 0; });
    if (t.kind == LinearTerm::Elementwise && rankOf(t.factor) <= 1 && !each)
      r.terms.push_back({LinearTerm::Read, t.state, t.after, Value(), times(t.factor, q), Value(), t.cleared});
    else if (t.kind == LinearTerm::Outer)
      r.terms.push_back({LinearTerm::Read, t.state, t.after, Value(), times(dot(q, t.up), t.left), Value(), t.cleared});
    else {
      t.kind = LinearTerm::Opaque;
      r.terms.push_back(t);
    }
  }
  auto addRest = [&](Value v) { r.rest = r.rest ? binary(BinaryKind::Add, r.rest, v) : v; };
  for (OuterPair p : x.pairs) addRest(times(dot(q, p.k), p.v));
  if (x.rest) addRest(dot(q, x.rest));
  return r;
}

AffineValue TransitionAnalysis::decompose(Value v, bool cutAfter) {
  auto key = std::make_pair(v.getAsOpaquePointer(), cutAfter);
  if (auto it = known.find(key); it != known.end()) return it->second;
  AffineValue r;
  bool done = false;
  if (!dependsOnState(v)) {
    // An outer product keeps its structure; it is what chunks are made of.
    r.rest = v;
    if (rankOf(v) == 2 && v.getDefiningOp()) r = decomposeOp(v.getDefiningOp(), cutAfter);
    done = true;
  }
  for (unsigned s = 0; !done && s < numStates(); ++s) {
    if (isPrefix(s)) continue;
    bool after = cutAfter && v == stateAfter(s), before = v == stateBefore(s);
    if (!after && !before) continue;
    r.terms.push_back({LinearTerm::Elementwise, s, after && !before, Value(), Value(), Value()});
    done = true;
  }
  if (!done) r = decomposeOp(v.getDefiningOp(), cutAfter);
  // A sum that was doubled over and over: beyond this, its parts cost more than they tell.
  if (r.terms.size() + r.pairs.size() > 64) {
    r = dependsOnState(v) ? opaque({r}) : AffineValue();
    if (r.terms.empty()) r.rest = v;
  }
  return known[key] = r;
}

AffineValue TransitionAnalysis::decomposeOp(Operation *op, bool cutAfter) {
  auto of = [&](Value v) { return decompose(v, cutAfter); };
  Value result = op->getResult(0);
  AffineValue self;
  if (!dependsOnState(result)) self.rest = result;
  if (auto b = dyn_cast<BinaryOp>(op)) {
    bool sa = dependsOnState(b.getA()), sb = dependsOnState(b.getB());
    unsigned ra = rankOf(b.getA()), rb = rankOf(b.getB());
    switch (b.getKind()) {
    case BinaryKind::Add:
    case BinaryKind::Sub: {
      AffineValue x = of(b.getA()), y = of(b.getB());
      auto lift = [&](AffineValue &side, unsigned rank) { // a smaller operand is repeated
        if (rank == rankOf(result)) return;
        if (!side.terms.empty()) side = opaque(side);
      };
      lift(x, ra);
      lift(y, rb);
      return add(x, y, b.getKind() == BinaryKind::Sub, typeOf(result));
    }
    case BinaryKind::Mul:
      // A product of known values: scale the one that is a matrix, so that its outer products stay visible.
      if (!sa && (sb || rb >= ra)) return rb < ra && !sb ? self : scale(of(b.getB()), b.getA(), Value(), rb);
      if (!sb) return scale(of(b.getA()), b.getB(), Value(), ra);
      break;
    case BinaryKind::Div:
      if (!sb) return scale(of(b.getA()), Value(), b.getB(), ra);
      break;
    default:
      break;
    }
    if (!sa && !sb) return self;
    return opaque({of(b.getA()), of(b.getB())});
  }
  if (auto u = dyn_cast<UnaryOp>(op); u && u.getKind() == UnaryKind::Neg)
    return add(AffineValue(), of(u.getX()), true, typeOf(result));
  if (auto outer = dyn_cast<OuterOp>(op)) {
    bool sa = dependsOnState(outer.getA()), sb = dependsOnState(outer.getB());
    if (sa) return opaque({of(outer.getA()), of(outer.getB())});
    AffineValue r;
    if (!sb) {
      r.pairs.push_back(pair(outer.getA(), outer.getB()));
      return r;
    }
    AffineValue x = of(outer.getB());
    joinReads(x);
    for (LinearTerm t : x.terms) {
      if (t.kind == LinearTerm::Read)
        t = {LinearTerm::Outer, t.state, t.after, Value(), t.left, outer.getA(), t.cleared};
      else t.kind = LinearTerm::Opaque;
      r.terms.push_back(t);
    }
    if (x.rest) r.pairs.push_back({outer.getA(), x.rest});
    return r;
  }
  if (!dependsOnState(result)) return self;
  if (auto m = dyn_cast<MatmulOp>(op)) {
    bool sa = dependsOnState(m.getA()), sb = dependsOnState(m.getB());
    if (!sa && rankOf(m.getA()) == 1) return contract(m.getA(), of(m.getB()));
    if (!sb && rankOf(m.getB()) == 1 && rankOf(m.getA()) == 1) return contract(m.getB(), of(m.getA()));
    return opaque({of(m.getA()), of(m.getB())});
  }
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getKind() == ReduceKind::Sum) {
    Value one = ConstantOp::create(builder, op->getLoc(), builder.getF64FloatAttr(1));
    return contract(BroadcastOp::create(builder, op->getLoc(), reduce.getX().getType(), one), of(reduce.getX()));
  }
  if (auto final = dyn_cast<FinalOp>(op)) {
    AffineValue r;
    for (unsigned s = 0; s < numStates(); ++s)
      if (final.getX() == stateAfter(s) && !isPrefix(s)) {
        r.terms.push_back({LinearTerm::Elementwise, s, true, Value(), Value(), Value()});
        return r;
      }
  }
  if (auto select = dyn_cast<SelectOp>(op);
      select && !dependsOnState(select.getCondition()) && rankOf(select.getCondition()) <= 1) {
    bool each = rankOf(select.getCondition()) == 1; // channel
    Value zero = ConstantOp::create(builder, op->getLoc(), builder.getF64FloatAttr(0));
    Value one = ConstantOp::create(builder, op->getLoc(), builder.getF64FloatAttr(1));
    Value first = SelectOp::create(builder, op->getLoc(), select.getCondition(), one, zero);
    Value second = SelectOp::create(builder, op->getLoc(), select.getCondition(), zero, one);
    AffineValue x = of(select.getA()), y = of(select.getB());
    if (rankOf(select.getA()) != rankOf(result)) x = x.terms.empty() ? x : opaque(x);
    if (rankOf(select.getB()) != rankOf(result)) y = y.terms.empty() ? y : opaque(y);
    // What adds to the states is chosen: zero times infinity would not be nothing.
    auto choose = [&](Value v, bool isFirst) -> Value {
      return SelectOp::create(builder, op->getLoc(), select.getCondition(), isFirst ? v : zero, isFirst ? zero : v);
    };
    auto chosen = [&](const AffineValue &value, bool isFirst, unsigned rank) {
      AffineValue terms;
      terms.terms = value.terms;
      AffineValue r = scale(terms, isFirst ? first : second, Value(), rank);
      for (LinearTerm &t : r.terms) {
        t.cleared.push_back(isFirst ? second : first);
        if (each && t.kind != LinearTerm::Elementwise) t.kind = LinearTerm::Opaque;
      }
      Value rest = value.rest && !isConstantZero(value.rest) ? value.rest : Value();
      for (OuterPair p : value.pairs) {
        if (!each) {
          r.pairs.push_back({choose(p.k, isFirst), choose(p.v, isFirst)});
          continue;
        }
        // Some channels of a product are no product.
        Value dense = OuterOp::create(builder, op->getLoc(), p.k, p.v);
        rest = rest ? binary(BinaryKind::Add, rest, dense) : dense;
      }
      if (rest) r.rest = choose(rest, isFirst);
      return r;
    };
    return add(chosen(x, true, rankOf(select.getA())), chosen(y, false, rankOf(select.getB())), false, typeOf(result));
  }
  SmallVector<AffineValue> parts;
  for (Value v : op->getOperands()) parts.push_back(of(v));
  return opaque(parts);
}

void TransitionAnalysis::classify(unsigned s) {
  StateTransition &r = states[s];
  AffineValue x = decompose(stateAfter(s), /*cutAfter=*/false);
  bool foreign = false, dense = false;
  SmallVector<Value> factors;
  std::optional<SmallVector<Value, 1>> cleared; // by every term
  for (LinearTerm &t : x.terms) {
    if (t.state == s) {
      if (!cleared) cleared = t.cleared;
      else keepShared(*cleared, t.cleared);
    }
    if (t.state != s) foreign = true;
    else if (t.kind == LinearTerm::Elementwise) factors.push_back(t.factor);
    else if (t.kind == LinearTerm::Outer) r.lowRank.push_back(t);
    else dense = true;
  }
  auto number = [&](double x) {
    return ConstantOp::create(builder, block.getTerminator()->getLoc(), builder.getF64FloatAttr(x)).getResult();
  };
  if (factors.size() == 1) r.decay = factors[0];
  else r.decay = number(0); // the state is overwritten, or several terms add up
  if (factors.size() > 1)
    for (Value f : factors) r.decay = binary(BinaryKind::Add, r.decay, f ? f : number(1));
  if (cleared && !cleared->empty()) {
    Value any = cleared->front();
    for (Value c : llvm::drop_begin(*cleared)) any = binary(BinaryKind::Or, any, c);
    auto clear = SelectOp::create(builder, block.getTerminator()->getLoc(), any, number(0), r.decay);
    clear->setAttr(clearsName, builder.getUnitAttr());
    r.decay = clear;
  }
  unsigned rank = rankOf(stateBefore(s));
  if (rank == 2) {
    r.pairs = x.pairs;
    r.structured = !x.rest;
  } else {
    if (x.rest) r.pairs.push_back({x.rest, Value()});
    r.structured = true;
  }
  if (foreign) r.reason = "its update uses another state";
  else if (dense)
    r.reason = "its update mixes the state along an axis in a way that is neither diagonal nor of low rank";
  else if (rankOf(r.decay) == 2) r.reason = "its decay differs along both axes";
  if (!r.reason.empty()) {
    r.kind = TransitionClass::Affine;
    return;
  }
  bool decays = static_cast<bool>(r.decay);
  if (!r.lowRank.empty()) r.kind = decays ? TransitionClass::DecayLowRank : TransitionClass::LowRank;
  else
    r.kind = !decays                ? TransitionClass::Identity
             : rankOf(r.decay) == 0 ? TransitionClass::Scalar
                                    : TransitionClass::Diagonal;
}

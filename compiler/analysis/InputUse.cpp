#include "compiler/analysis/InputUse.h"
#include "compiler/analysis/RangeAnalysis.h"
#include "compiler/analysis/TransitionAnalysis.h"

using namespace mlir;
using namespace lintel;

StringRef lintel::toString(InputUse use) {
  switch (use) {
  case InputUse::Plain:
    return "plain";
  case InputUse::LogDecay:
    return "log-decay";
  case InputUse::DecayFactor:
    return "decay factor";
  case InputUse::DecayRate:
    return "decay rate";
  case InputUse::Gate:
    return "gate";
  }
  return "";
}

namespace {

/// Follows a decay to the inputs it is made of.
struct DecayWalk {
  Block &block;
  MutableArrayRef<InputUse> uses;
  std::set<std::pair<void *, InputUse>> seen; // what is used twice is followed once

  void mark(Value v, InputUse use) {
    auto arg = dyn_cast<BlockArgument>(v);
    if (arg && arg.getOwner() == &block && arg.getArgNumber() < uses.size()) uses[arg.getArgNumber()] = use;
  }
  static bool isConstant(Value v) { return v.getDefiningOp<ConstantOp>() || v.getDefiningOp<DimOp>(); }

  void factor(Value v) {
    if (!seen.insert({v.getAsOpaquePointer(), InputUse::DecayFactor}).second) return;
    mark(v, InputUse::DecayFactor);
    if (auto b = v.getDefiningOp<BinaryOp>()) {
      if (b.getKind() == BinaryKind::Mul) factor(b.getA()), factor(b.getB());
      if (b.getKind() == BinaryKind::Sub && isConstant(b.getA())) factor(b.getB());
    }
    if (auto x = v.getDefiningOp<BroadcastOp>()) factor(x.getX());
    if (auto u = v.getDefiningOp<UnaryOp>(); u && (u.getKind() == UnaryKind::Exp || u.getKind() == UnaryKind::Exp2))
      exponent(u.getX(), InputUse::LogDecay);
  }
  /// `use` says which sign the exponent's value has here.
  void exponent(Value v, InputUse use) {
    if (!seen.insert({v.getAsOpaquePointer(), use}).second) return;
    mark(v, use);
    InputUse other = use == InputUse::LogDecay ? InputUse::DecayRate : InputUse::LogDecay;
    if (auto u = v.getDefiningOp<UnaryOp>(); u && u.getKind() == UnaryKind::Neg) exponent(u.getX(), other);
    if (auto x = v.getDefiningOp<BroadcastOp>()) exponent(x.getX(), use);
    auto b = v.getDefiningOp<BinaryOp>();
    if (!b) return;
    if (b.getKind() == BinaryKind::Add) exponent(b.getA(), use), exponent(b.getB(), use);
    if (b.getKind() == BinaryKind::Sub) exponent(b.getA(), use), exponent(b.getB(), other);
    if (b.getKind() == BinaryKind::Div && isConstant(b.getB())) exponent(b.getA(), use);
    if (b.getKind() != BinaryKind::Mul) return;
    // Of a product one factor carries the sign and the others are sizes.
    bool first = isConstant(b.getA()) || b.getA().getDefiningOp();
    exponent(first ? b.getB() : b.getA(), use);
    exponent(first ? b.getA() : b.getB(), InputUse::DecayRate);
  }
};

} // namespace

SmallVector<InputUse> lintel::inputUses(SpecOp spec) {
  unsigned inputs = spec.getInputs().size();
  SmallVector<InputUse> uses(inputs, InputUse::Plain);
  auto copy = cast<SpecOp>(spec->clone());
  Block &body = copy.getBody().front();
  for (unsigned i = 0; i < inputs; ++i) {
    BlockArgument arg = body.getArgument(i);
    if (cast<ParamAttr>(spec.getInputs()[i]).getKind() != InputKind::Token || cast<RealType>(arg.getType()).getRank())
      continue;
    bool factor = llvm::any_of(arg.getUsers(), [](Operation *op) {
      auto b = dyn_cast<BinaryOp>(op);
      return b && b.getKind() == BinaryKind::Mul;
    });
    if (factor) uses[i] = InputUse::Gate;
  }
  {
    TransitionAnalysis analysis(body, inputs, {});
    for (unsigned s = 0; s < analysis.numStates(); ++s)
      if (Value decay = analysis.transition(s).decay) DecayWalk{body, uses, {}}.factor(decay);
  }
  copy->erase();
  return uses;
}

SmallVector<InputTraits> lintel::inputTraits(SpecOp spec) {
  SmallVector<InputTraits> result;
  SmallVector<InputUse> uses = inputUses(spec);
  RangeAnalysis ranges;
  for (unsigned i = 0; i < uses.size(); ++i) {
    InputTraits traits;
    SmallVector<Value> work{spec.getBody().getArgument(i)};
    DenseSet<Value> seen;
    while (!work.empty()) {
      Value v = work.pop_back_val();
      if (!seen.insert(v).second) continue;
      for (Operation *user : v.getUsers()) {
        if (auto b = dyn_cast<BinaryOp>(user)) {
          Value other = b.getA() == v ? b.getB() : b.getA();
          bool isNumber = other.getDefiningOp<ConstantOp>() || other.getDefiningOp<DimOp>();
          if (b.getKind() == BinaryKind::Add || b.getKind() == BinaryKind::Sub ||
              (b.getKind() == BinaryKind::Mul && isNumber) ||
              (b.getKind() == BinaryKind::Div && isNumber && b.getA() == v))
            work.push_back(b);
        }
        if (isa<BroadcastOp>(user)) work.push_back(user->getResult(0));
        auto u = dyn_cast<UnaryOp>(user);
        if (!u) continue;
        switch (u.getKind()) {
        case UnaryKind::Neg:
          work.push_back(u);
          break;
        case UnaryKind::Exp:
          traits.exponent |= ranges.of(u.getX()).high == INFINITY;
          break;
        case UnaryKind::Sigmoid:
        case UnaryKind::Tanh:
        case UnaryKind::Softplus:
          traits.squashed = true;
          break;
        default:
          break;
        }
      }
    }
    bool isDecay = uses[i] != InputUse::Plain && uses[i] != InputUse::Gate;
    if (isDecay) traits.exponent = false;
    // What is squashed in one place and an exponent in another would overflow there.
    if (traits.exponent) traits.squashed = false;
    result.push_back(traits);
  }
  return result;
}

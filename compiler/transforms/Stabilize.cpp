// Block floating point at compile time: see ScaledValues.h for the arithmetic. The running maximum of exponents is that
// of Milakov and Gimelshein 2018 ("Online normalizer calculation for softmax") and of the xLSTM's stabiliser (Beck et
// al. 2024), found here from the operator's text.
#include "compiler/analysis/StateDependence.h"
#include "compiler/transforms/Lowering.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/ScaledValues.h"
#include "dialect/OperatorUtils.h"
#include "llvm/ADT/StringExtras.h"

namespace lintel {
#define GEN_PASS_DEF_STABILIZE
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

/// Exponentials whose argument may pass this are unbounded: their products still fit an f32 below it.
constexpr double bound = 40;

class Stabilizer {
public:
  explicit Stabilizer(RecurrentOp op)
      : op(op), body(op.getBody().front()), inputs(op.getInputs().size()), numStates(op.getStates().size()),
        states(body, inputs) {}

  /// The stabilised operator behind the old one, or null where nothing is to be done or it cannot be.
  RecurrentOp run() {
    if (!op.getScales().empty()) return {};
    findDivided();
    // What only outputs see must not stand in the way of what states need.
    for (bool readsToo : {true, false}) {
      scalesReads = readsToo;
      if (!isNeeded()) continue;
      // An exponent for each channel where that can be; it may be that only common ones cancel.
      for (bool each : {true, false}) {
        mayKeepEach = each;
        bool wanted = false;
        // Likewise what follows a factor that no exponential is.
        for (bool follows : {true, false}) {
          followsFactors = follows;
          if (RecurrentOp result = search()) {
            say(result);
            return result;
          }
          wanted |= llvm::is_contained(wantsEach, true);
        }
        if (!wanted) break;
      }
    }
    return {};
  }

private:
  RecurrentOp search() {
    // States that need an exponent share one as long as all of their updates agree; those that differ are told apart,
    // round by round.
    SmallVector<int> group(numStates, -1);
    common.clear();
    isCommon.assign(numStates, false);
    wantsEach.assign(numStates, false);
    unsigned rounds = 2 * numStates * (numStates + 2) + 2;
    body.walk([&](UnaryOp) { ++rounds; });
    for (unsigned round = 0; round < rounds; ++round) {
      Candidate c = build(group);
      bool grown = false;
      for (unsigned s = 0; s < numStates; ++s)
        if (group[s] < 0 && !c.next[s].empty()) grown = true, group[s] = 0;
      if (grown) {
        for (int &g : group) g = g < 0 ? -1 : 0;
      }
      if (grown || c.stale) {
        c.op.erase();
        continue;
      }
      std::map<std::tuple<int, int64_t, Exponent>, int> classes;
      SmallVector<int> refined(numStates, -1);
      for (unsigned s = 0; s < numStates; ++s)
        if (group[s] >= 0)
          refined[s] = classes.try_emplace({group[s], channels(s), c.next[s]}, classes.size()).first->second;
      if (refined == group) {
        if (c.cancels && (scalesReads || !classes.empty()) && isSound(c)) {
          if (shrinks(group)) c.op->setAttr("settles", UnitAttr::get(op->getContext()));
          return c.op;
        }
        c.op.erase();
        return {};
      }
      group = refined;
      c.op.erase();
    }
    return {};
  }

  /// Line and column, for people.
  static std::string placeOf(UnaryOp exp) {
    std::string text = "?";
    exp.getLoc()->walk([&](Location part) {
      auto file = dyn_cast<FileLineColLoc>(part);
      if (!file) return WalkResult::advance();
      text = std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
      return WalkResult::interrupt();
    });
    return text;
  }

  /// What was done and why, as the attribute `stabilized`.
  void say(RecurrentOp result) {
    SmallVector<std::string> held, heldEach, wide, vanishing;
    auto insert = [](SmallVector<std::string> &list, std::string text) {
      if (!llvm::is_contained(list, text)) list.push_back(std::move(text));
    };
    for (auto [s, scale] : llvm::enumerate(result.getScales()))
      if (scale >= 0) {
        auto type = cast<RealType>(result.getBody().getArgument(inputs + scale).getType());
        insert(type.getRank() ? heldEach : held, cast<StringAttr>(result.getStates()[s]).getValue().str());
      }
    body.walk([&](UnaryOp u) {
      if (u.getKind() != UnaryKind::Exp || !isScaled(u)) return;
      if (ranges.of(u.getX()).high > bound) insert(wide, placeOf(u));
      else if (vanishesInQuotient(u)) insert(vanishing, placeOf(u));
    });
    SmallVector<std::string> lines;
    auto hold = [&](ArrayRef<std::string> names, StringRef p) {
      if (!names.empty())
        lines.push_back(llvm::join(names, ", ") + " held as x * 2^p with a running maximum " + p.str() +
                        ": no bound on exp at " + llvm::join(wide, ", "));
    };
    hold(held, "p");
    hold(heldEach, "p for each channel");
    if (!vanishing.empty())
      lines.push_back("exp relative to its largest element, as both parts of a quotient could vanish with it: at " +
                      llvm::join(vanishing, ", "));
    SmallVector<StringRef> texts(lines.begin(), lines.end());
    if (!texts.empty()) result->setAttr("stabilized", Builder(op->getContext()).getStrArrayAttr(texts));
  }

  struct Candidate {
    RecurrentOp op;
    SmallVector<Exponent> next; // of each state after the step
    bool cancels;
    unsigned exponents;
    bool stale = false; // what it was built by has changed since
  };

  /// How many exponents state `s` is held with, one for each of its rows; 0: one for all.
  int64_t channels(unsigned s) {
    return wantsEach[s] ? cast<RealType>(body.getArgument(inputs + s).getType()).getSizes()[0] : 0;
  }

  /// What feeds `e` has one exponent for all channels from now on. Whether that is new.
  bool makeCommon(const ScaledValues &values, const Exponent &e, ArrayRef<int> group) {
    llvm::SetVector<Operation *> exponentials;
    llvm::SetVector<Value> from;
    values.leaves(e, exponentials, from);
    bool changed = false;
    for (Operation *exp : exponentials) changed |= common.insert(exp).second;
    for (Value v : from) {
      auto arg = dyn_cast<BlockArgument>(v);
      if (!arg) continue;
      int g = static_cast<int>(arg.getArgNumber()) - static_cast<int>(inputs + numStates);
      for (unsigned s = 0; s < numStates; ++s)
        if (group[s] == g && !isCommon[s]) isCommon[s] = true, wantsEach[s] = false, changed = true;
    }
    return changed;
  }

  /// Which exponents can be vectors, by what came out.
  void settleEach(Candidate &c, const ScaledValues &values, ArrayRef<int> group) {
    for (const Exponent &e : values.conflicts()) c.stale |= makeCommon(values, e, group);
    if (c.stale) return; // states that share an exponent so far need not share this
    for (unsigned s = 0; s < numStates; ++s) {
      if (!values.isForEach(c.next[s]) || wantsEach[s]) continue;
      if (isCommon[s] || !cast<RealType>(body.getArgument(inputs + s).getType()).getRank())
        c.stale |= makeCommon(values, c.next[s], group);
      else wantsEach[s] = c.stale = true;
    }
  }

  /// Whether a state with an exponent can become smaller: it is not the state before and something added to it.
  bool shrinks(ArrayRef<int> group) {
    auto yields = body.getTerminator()->getOperands().take_back(numStates);
    for (unsigned s = 0; s < numStates; ++s) {
      Value v = yields[s];
      while (auto sum = v.getDefiningOp<BinaryOp>()) {
        if (sum.getKind() != BinaryKind::Add) break;
        v = states.of(sum.getA()) ? sum.getA() : sum.getB();
      }
      if (group[s] >= 0 && v != body.getArgument(inputs + s)) return true;
    }
    return false;
  }

  /// Whether `v` only multiplies what depends on states: a decay, whose size is the operator's own affair.
  bool isCoefficient(Value v) {
    if (auto it = coefficients.find(v); it != coefficients.end()) return it->second;
    bool all = llvm::all_of(v.getUsers(), [&](Operation *user) {
      auto b = dyn_cast<BinaryOp>(user);
      if (b && b.getKind() == BinaryKind::Mul)
        return states.of(b.getA() == v ? b.getB() : b.getA()) || isCoefficient(b);
      return isa<BroadcastOp>(user) && isCoefficient(user->getResult(0));
    });
    return coefficients[v] = all;
  }

  void collect(ValueRange from, DenseSet<Value> &into) {
    SmallVector<Value> work(from);
    while (!work.empty()) {
      Value v = work.pop_back_val();
      if (Operation *op = v.getDefiningOp(); into.insert(v).second && op) llvm::append_range(work, op->getOperands());
    }
  }

  void findDivided() {
    for (BinaryOp b : body.getOps<BinaryOp>())
      if (b.getKind() == BinaryKind::Div) collect(b.getB(), divisors);
    collect(body.getTerminator()->getOperands().take_back(numStates), updates);
  }

  /// An exponential that meets states in a quotient alone, and may vanish in both of its parts: features of the query.
  bool vanishesInQuotient(UnaryOp exp) {
    if (!scalesReads || !divisors.contains(exp) || updates.contains(exp)) return false;
    // The largest element of exp(x - max(x)) is 1 as it stands.
    auto difference = exp.getX().getDefiningOp<BinaryOp>();
    if (difference && difference.getKind() == BinaryKind::Sub)
      if (auto top = difference.getB().getDefiningOp<ReduceOp>();
          top && top.getKind() == ReduceKind::Max && top.getX() == difference.getA())
        return false;
    return ranges.of(exp.getX()).low < -bound;
  }

  bool isNeeded() {
    return body
        .walk([&](UnaryOp u) {
          bool wide = u.getKind() == UnaryKind::Exp &&
                      ((ranges.of(u.getX()).high > bound && !isCoefficient(u)) || vanishesInQuotient(u));
          return wide ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// A decay joins in where it can be small: then the exponent follows the state down, and what is added later does not
  /// vanish beside it.
  bool isScaled(UnaryOp exp) {
    Range r = ranges.of(exp.getX());
    return r.high > bound || (r.low < -M_LN2 && isCoefficient(exp)) || vanishesInQuotient(exp);
  }

  Candidate build(ArrayRef<int> group) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Location loc = op.getLoc();
    int exponents = 0;
    for (int g : group) exponents = std::max(exponents, g + 1);
    SmallVector<Attribute> names(op.getStates().begin(), op.getStates().end());
    SmallVector<int64_t> scales;
    if (exponents)
      for (int g : group) scales.push_back(g < 0 ? -1 : static_cast<int64_t>(numStates) + g);
    for (int g = 0; g < exponents; ++g) {
      names.push_back(builder.getStringAttr(exponentName(op.getInputs(), stateNames(builder.getArrayAttr(names)))));
      scales.push_back(-1);
    }
    Candidate c{RecurrentOp::create(builder, loc, op.getSymNameAttr(), op.getInputs(), builder.getArrayAttr(names),
                                    builder.getDenseI64ArrayAttr(scales)),
                {},
                false,
                static_cast<unsigned>(exponents)};
    inheritAttributes(c.op, op);
    Block &block = c.op.getBody().emplaceBlock();
    builder.setInsertionPointToEnd(&block);
    auto isScaledExp = [&](UnaryOp exp) { return isScaled(exp); };
    auto keepsEach = [&](UnaryOp exp) { return mayKeepEach && !common.contains(exp); };
    auto readsStates = [&](Value v) { return states.of(v); };
    auto isFollowed = [&](BinaryOp b) { return followsFactors && updates.contains(b); };
    ScaledValues values(builder, loc, ranges, isScaledExp, keepsEach, readsStates, isFollowed);
    for (BlockArgument arg : body.getArguments())
      values.bind(arg, {block.addArgument(arg.getType(), arg.getLoc()), {}});
    for (int g = 0; g < exponents; ++g) {
      // Of the same for all: until they are told apart they share a scalar.
      SmallVector<int64_t> sizes;
      for (unsigned s = 0; s < numStates; ++s)
        if (group[s] == g) sizes.push_back(channels(s));
      bool each = sizes[0] && llvm::all_equal(sizes);
      sizes.truncate(each ? 1 : 0);
      unsigned p = values.symbol(block.addArgument(RealType::get(op->getContext(), sizes), loc));
      for (unsigned s = 0; s < numStates; ++s)
        if (group[s] == g) values.bind(body.getArgument(inputs + s), {block.getArgument(inputs + s), {{p, 1}}});
    }
    for (Operation &o : body.without_terminator()) values.visit(&o);
    auto yields = body.getTerminator()->getOperands();
    SmallVector<Value> results;
    c.cancels = true;
    for (Value v : yields.drop_back(numStates)) {
      Scaled out = values.of(v);
      c.cancels &= values.isNonPositive(out.e);
      results.push_back(values.timesPower(out.x, out.e));
    }
    for (Value v : yields.take_back(numStates)) {
      results.push_back(values.of(v).x);
      c.next.push_back(values.of(v).e);
    }
    settleEach(c, values, group);
    for (int g = 0; g < exponents; ++g) {
      Value next = values.value(c.next[llvm::find(group, g) - group.begin()]);
      Type type = block.getArgument(inputs + numStates + g).getType();
      if (next.getType() != type && cast<RealType>(next.getType()).getRank() == 0)
        next = BroadcastOp::create(builder, loc, type, next);
      results.push_back(next);
    }
    YieldOp::create(builder, loc, results);
    return c;
  }

  /// Exponents are a recurrence of their own, each over itself and the inputs alone, and no output reads one from after
  /// the last step: what the forms ask for.
  bool isSound(Candidate &c) {
    Block &block = c.op.getBody().front();
    auto yields = block.getTerminator()->getOperands(), exponents = yields.take_back(c.exponents);
    DenseSet<Value> seen;
    std::function<bool(Value, unsigned)> only = [&](Value v, unsigned own) {
      if (!seen.insert(v).second) return true;
      if (auto arg = dyn_cast<BlockArgument>(v)) return arg.getArgNumber() < inputs || arg.getArgNumber() == own;
      return llvm::all_of(v.getDefiningOp()->getOperands(), [&](Value x) { return only(x, own); });
    };
    for (unsigned g = 0; g < c.exponents; ++g) {
      seen.clear();
      if (!only(exponents[g], inputs + numStates + g)) return false;
    }
    seen.clear();
    std::function<bool(Value)> noLast = [&](Value v) {
      if (!v.getDefiningOp() || !seen.insert(v).second) return true;
      if (auto final = v.getDefiningOp<FinalOp>())
        if (llvm::is_contained(exponents, final.getX())) return false;
      return llvm::all_of(v.getDefiningOp()->getOperands(), noLast);
    };
    return llvm::all_of(yields.drop_back(numStates + c.exponents), noLast);
  }

  RecurrentOp op;
  Block &body;
  unsigned inputs, numStates;
  StateDependence states;
  RangeAnalysis ranges;
  DenseMap<Value, bool> coefficients;
  bool mayKeepEach = false, followsFactors = false;
  DenseSet<Operation *> common;          // exponentials with one exponent for all of their elements
  SmallVector<bool> isCommon, wantsEach; // states with one exponent, states with one for each channel
  DenseSet<Value> divisors, updates;     // what goes into a divisor, and into a state
  bool scalesReads = true;
};

struct Pass : lintel::impl::StabilizeBase<Pass> {
  using StabilizeBase::StabilizeBase;
  void runOnOperation() override {
    for (RecurrentOp op : llvm::make_early_inc_range(getOperation().getOps<RecurrentOp>()))
      if (Stabilizer(op).run()) op.erase();
  }
};

} // namespace

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
      if (isNeeded())
        if (RecurrentOp result = search()) {
          say(result);
          return result;
        }
    }
    return {};
  }

private:
  RecurrentOp search() {
    // States that need an exponent share one as long as all of their updates agree; those that differ are told apart,
    // round by round.
    SmallVector<int> group(numStates, -1);
    for (unsigned round = 0; round < 2 * numStates * numStates + 2; ++round) {
      Candidate c = build(group);
      bool grown = false;
      for (unsigned s = 0; s < numStates; ++s)
        if (group[s] < 0 && !c.next[s].empty()) grown = true, group[s] = 0;
      if (grown) {
        for (int &g : group) g = g < 0 ? -1 : 0;
        c.op.erase();
        continue;
      }
      std::map<std::pair<int, Exponent>, int> classes;
      SmallVector<int> refined(numStates, -1);
      for (unsigned s = 0; s < numStates; ++s)
        if (group[s] >= 0) refined[s] = classes.try_emplace({group[s], c.next[s]}, classes.size()).first->second;
      if (refined == group) {
        if (c.cancels && (scalesReads || !classes.empty()) && isSound(c)) return c.op;
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
    SmallVector<std::string> held, wide, vanishing;
    auto insert = [](SmallVector<std::string> &list, std::string text) {
      if (!llvm::is_contained(list, text)) list.push_back(std::move(text));
    };
    for (auto [s, scale] : llvm::enumerate(result.getScales()))
      if (scale >= 0) insert(held, cast<StringAttr>(result.getStates()[s]).getValue().str());
    body.walk([&](UnaryOp u) {
      if (u.getKind() != UnaryKind::Exp || !isScaled(u)) return;
      if (ranges.of(u.getX()).high > bound) insert(wide, placeOf(u));
      else if (vanishesInQuotient(u)) insert(vanishing, placeOf(u));
    });
    SmallVector<std::string> lines;
    if (!held.empty())
      lines.push_back(llvm::join(held, ", ") + " held as x * 2^p with a running maximum p: no bound on exp at " +
                      llvm::join(wide, ", "));
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
  };

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
    return r.high > bound || (r.low < -bound && isCoefficient(exp)) || vanishesInQuotient(exp);
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
    ScaledValues values(builder, loc, ranges, isScaledExp);
    for (BlockArgument arg : body.getArguments())
      values.bind(arg, {block.addArgument(arg.getType(), arg.getLoc()), {}});
    for (int g = 0; g < exponents; ++g) {
      unsigned p = values.symbol(block.addArgument(RealType::get(op->getContext(), ArrayRef<int64_t>{}), loc));
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
    for (int g = 0; g < exponents; ++g) results.push_back(values.value(c.next[llvm::find(group, g) - group.begin()]));
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
  DenseSet<Value> divisors, updates; // what goes into a divisor, and into a state
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

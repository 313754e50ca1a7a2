// A step adds to a state once: `(S + a) + b` becomes `S + (a + b)`. The state is rounded once, and however an update
// was written it is the same ops, so that equal parts of it (a feature map that another state uses too) are seen to be
// equal.
#include "compiler/analysis/StateDependence.h"
#include "compiler/transforms/Passes.h"
#include "mlir/IR/Builders.h"

namespace lintel {
#define GEN_PASS_DEF_REGROUPSUMS
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

bool isSum(Operation *op) {
  auto b = dyn_cast_if_present<BinaryOp>(op);
  return b && (b.getKind() == BinaryKind::Add || b.getKind() == BinaryKind::Sub);
}

struct Term {
  Value v;
  bool negative;
};

class Regrouping {
public:
  Regrouping(Block &body, unsigned inputs) : body(body), states(body, inputs) {}

  void run() {
    SmallVector<BinaryOp> roots; // sums that are not parts of larger ones
    for (BinaryOp op : body.getOps<BinaryOp>())
      if (isSum(op) && !(op->hasOneUse() && isSum(*op->user_begin()))) roots.push_back(op);
    for (BinaryOp root : roots) regroup(root);
  }

private:
  void collect(Value v, bool negative, bool isRoot, SmallVectorImpl<Term> &terms) {
    Operation *op = v.getDefiningOp();
    if (!isSum(op) || (!isRoot && !v.hasOneUse())) return terms.push_back({v, negative});
    auto b = cast<BinaryOp>(op);
    collect(b.getA(), negative, false, terms);
    collect(b.getB(), negative != (b.getKind() == BinaryKind::Sub), false, terms);
  }

  void regroup(BinaryOp root) {
    SmallVector<Term> terms, state, rest;
    collect(root, false, true, terms);
    for (const Term &t : terms) (states.of(t.v) ? state : rest).push_back(t);
    if (state.empty() || rest.size() < 2) return;
    OpBuilder b(root);
    // Terms in the order in which they were written, the first positive one in front.
    auto sum = [&](SmallVectorImpl<Term> &list) {
      auto first = llvm::find_if(list, [](const Term &t) { return !t.negative; });
      bool negative = first == list.end();
      if (negative) first = list.begin();
      Value x = first->v;
      for (auto t = list.begin(); t != list.end(); ++t)
        if (t != first)
          x = BinaryOp::create(b, root.getLoc(), t->negative == negative ? BinaryKind::Add : BinaryKind::Sub, x, t->v);
      return Term{x, negative};
    };
    Term s = sum(state), r = sum(rest);
    Value all;
    if (!s.negative) all = BinaryOp::create(b, root.getLoc(), r.negative ? BinaryKind::Sub : BinaryKind::Add, s.v, r.v);
    else if (!r.negative) all = BinaryOp::create(b, root.getLoc(), BinaryKind::Sub, r.v, s.v);
    else
      all = UnaryOp::create(b, root.getLoc(), UnaryKind::Neg,
                            BinaryOp::create(b, root.getLoc(), BinaryKind::Add, s.v, r.v));
    // What is dead now is left to the canonicaliser: `states` knows values by their address.
    if (all.getType() == root.getType()) root.replaceAllUsesWith(all);
  }

  Block &body;
  StateDependence states;
};

struct Pass : lintel::impl::RegroupSumsBase<Pass> {
  using RegroupSumsBase::RegroupSumsBase;
  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody())
      if (isa<SpecOp, RecurrentOp>(op))
        Regrouping(op.getRegion(0).front(), op.getAttrOfType<ArrayAttr>("inputs").size()).run();
  }
};

} // namespace

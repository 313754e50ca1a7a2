#include "compiler/transforms/Passes.h"

namespace lintel {
#define GEN_PASS_DEF_ORDERVALUES
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {
struct Pass : lintel::impl::OrderValuesBase<Pass> {
  using OrderValuesBase::OrderValuesBase;

  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody()) {
      if (!isa<SpecOp, RecurrentOp, StepOp, ChunkwiseOp, ParallelOp, StreamedOp>(op)) continue;
      for (Region &region : op.getRegions())
        if (!region.empty()) order(region.front());
    }
  }

  /// Every op of a step is pure, so any order that has operands first will do.
  static void order(Block &block) {
    DenseSet<Operation *> placed;
    std::function<void(Operation *)> place = [&](Operation *op) {
      if (!op || op->getBlock() != &block || !placed.insert(op).second) return;
      op->walk([&](Operation *inner) { // what regions use from outside comes first, too
        for (Value v : inner->getOperands()) place(v.getDefiningOp());
      });
      op->moveBefore(block.getTerminator());
    };
    for (Value v : block.getTerminator()->getOperands()) place(v.getDefiningOp());
    SmallVector<Operation *> unused;
    for (Operation &op : block.without_terminator())
      if (!placed.count(&op)) unused.push_back(&op);
    for (Operation *op : unused) place(op);
  }
};
} // namespace

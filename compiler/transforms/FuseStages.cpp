#include "compiler/transforms/Passes.h"
#include "dialect/OperatorUtils.h"
#include "mlir/IR/Builders.h"

namespace lintel {
#define GEN_PASS_DEF_FUSESTAGES
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

/// Values of the enclosing blocks that a stage reads.
SmallVector<Value> captures(StageOp stage) {
  SmallVector<Value> values;
  values.append(stage->operand_begin(), stage->operand_end());
  stage.getBody().walk([&](Operation *op) {
    for (Value v : op->getOperands())
      if (!stage.getBody().isAncestor(v.getParentRegion())) values.push_back(v);
  });
  return values;
}

struct Pass : lintel::impl::FuseStagesBase<Pass> {
  using FuseStagesBase::FuseStagesBase;

  void runOnOperation() override {
    getOperation().walk([&](Operation *loop) {
      if (isa<ScanOp, PairsOp>(loop)) hoist(loop);
    });
    getOperation().walk([&](Operation *op) {
      if (isa<ScanOp, PairsOp, KernelOp>(op)) group(op->getRegion(0).front(), op);
    });
  }

  /// A stage whose inputs are the same in all iterations is computed once, before the loop.
  static void hoist(Operation *loop) {
    Region &region = loop->getRegion(0);
    SmallVector<StageOp> stages(region.front().getOps<StageOp>());
    for (StageOp stage : stages)
      if (llvm::all_of(captures(stage), [&](Value v) { return !region.isAncestor(v.getParentRegion()); }))
        stage->moveBefore(loop);
  }

  /// Loops split a body into runs of stages; each run is a group, and in the last one what becomes the next carried
  /// values comes apart and last.
  void group(Block &block, Operation *loop) {
    int64_t next = 0;
    DenseMap<Operation *, int64_t> groupOf;
    for (Operation &op : block) {
      if (isa<ScanOp, PairsOp>(op)) ++next;
      if (isa<StageOp>(op)) groupOf[&op] = next;
    }
    if (!isa<KernelOp>(loop)) {
      // A stage goes last when nothing but carried values needs it.
      for (Operation &op : llvm::reverse(block)) {
        auto stage = dyn_cast<StageOp>(op);
        if (!stage || groupOf[&op] != next) continue;
        bool last = true;
        for (Operation *user : stage->getUsers()) {
          Operation *top = block.findAncestorOpInBlock(*user);
          last &= isa<YieldOp>(top) || (groupOf.count(top) && groupOf[top] == next + 1);
        }
        if (last) groupOf[&op] = next + 1;
      }
    }
    if (!isa<KernelOp>(loop)) order(block, next + 1, groupOf);
    bool split = !isa<KernelOp>(loop) && next == 0 && splitAtGuards(block, groupOf);
    if (split) next = -1; // all move
    for (auto [op, g] : groupOf) cast<StageOp>(op).setGroup(g);
    // Groups are runs in the block: the last groups' stages move behind all others.
    SmallVector<StageOp> stages(block.getOps<StageOp>());
    llvm::stable_sort(stages, [&](StageOp a, StageOp b) { return groupOf[a] < groupOf[b]; });
    for (StageOp stage : stages)
      if (groupOf[stage] > next) stage->moveBefore(block.getTerminator());
    if (split)
      for (EmitOp emit : llvm::to_vector(block.getOps<EmitOp>())) emit->moveBefore(block.getTerminator());
  }

  /// A stage that costs much and has guards comes in a group behind what they guard against: where that is finite, the
  /// loops compute the group without them. Whether any does.
  static bool splitAtGuards(Block &block, DenseMap<Operation *, int64_t> &groupOf) {
    DenseMap<Operation *, int64_t> levels;
    std::map<std::pair<int64_t, int64_t>, int64_t> numbers;
    int64_t most = 0;
    for (StageOp stage : block.getOps<StageOp>()) {
      SmallVector<Value> against = guardedFactors(stage);
      int64_t level = 0;
      for (Value v : captures(stage)) {
        auto made = v.getDefiningOp<StageOp>();
        if (!made || made->getBlock() != &block || groupOf[made] != groupOf[stage]) continue;
        level = std::max(level, levels[made] + llvm::is_contained(against, v));
      }
      levels[stage] = level;
      most = std::max(most, level);
      numbers[{groupOf[stage], level}];
    }
    if (!most) return false;
    for (auto [n, entry] : llvm::enumerate(numbers)) entry.second = static_cast<int64_t>(n);
    for (auto &[stage, g] : groupOf) g = numbers[{g, levels[stage]}];
    return true;
  }

  /// A matrix of the last group that others of it read (states that feed each other) goes into a group behind theirs,
  /// so that it is overwritten in place, too. Where two read each other nothing helps: one of them needs a copy.
  static void order(Block &block, int64_t last, DenseMap<Operation *, int64_t> &groupOf) {
    SmallVector<StageOp> stages;
    for (StageOp stage : block.getOps<StageOp>())
      if (groupOf[stage] == last) stages.push_back(stage);
    SmallVector<std::pair<StageOp, StageOp>> after, notBefore; // the second and the first
    for (StageOp reader : stages)
      for (Value v : captures(reader)) {
        if (auto made = v.getDefiningOp<StageOp>(); made && llvm::is_contained(stages, made))
          notBefore.emplace_back(made, reader);
        auto arg = dyn_cast<BlockArgument>(v);
        if (!arg || arg.getOwner() != &block || arg.getArgNumber() == 0) continue;
        auto next = block.getTerminator()->getOperand(arg.getArgNumber() - 1).getDefiningOp<StageOp>();
        if (next && next != reader && next.getType().getRank() > 1 && llvm::is_contained(stages, next))
          after.emplace_back(reader, next);
      }
    auto groups = groupOf;
    for (bool changed = !after.empty(); changed;) {
      changed = false;
      auto raise = [&](StageOp stage, int64_t to) {
        if (groups[stage] < to) groups[stage] = to, changed = true;
      };
      for (auto [first, second] : after) raise(second, groups[first] + 1);
      for (auto [first, second] : notBefore) raise(second, groups[first]);
      for (StageOp stage : stages)
        if (groups[stage] > last + static_cast<int64_t>(stages.size())) return; // in a circle
    }
    groupOf = std::move(groups);
  }
};

} // namespace

#include "codegen/halide/MemoryPlan.h"

using namespace mlir;
using namespace lintel;

StageGroups lintel::groupsOf(Block &block) {
  StageGroups groups;
  for (StageOp stage : block.getOps<StageOp>()) groups[stage.getGroup()].push_back(stage);
  return groups;
}

bool lintel::isUsedOutside(StageOp stage) {
  return llvm::any_of(stage->getUsers(), [&](Operation *user) {
    auto in = dyn_cast<StageOp>(user);
    if (!in) in = user->getParentOfType<StageOp>();
    return !in || in->getBlock() != stage->getBlock() || in.getGroup() != stage.getGroup();
  });
}

bool lintel::canOverwrite(StageOp stage, BlockArgument arg) {
  if (stage.getType() != arg.getType() || stage.getInit()) return false;
  for (OpOperand &use : arg.getUses()) {
    Operation *user = use.getOwner();
    Operation *top = stage->getBlock()->findAncestorOpInBlock(*user);
    if (!top) return false;
    if (top == stage) {
      auto at = dyn_cast<AtOp>(user);
      if (!at || at->getParentOp() != stage || !llvm::equal(at.getIndices(), stage.getBody().getArguments()))
        return false;
      continue;
    }
    auto other = dyn_cast<StageOp>(top);
    if (other ? other.getGroup() >= stage.getGroup() : !top->isBeforeInBlock(stage)) return false;
  }
  return true;
}

std::optional<int64_t> ScratchPlan::allocate(int64_t bytes) {
  int64_t at = end, next;
  if (__builtin_add_overflow(end, bytes, &next) || next > INT64_MAX - 64) return std::nullopt;
  end = (next + 63) / 64 * 64;
  return at;
}

#include "codegen/schedule/StageUse.h"

using namespace mlir;
using namespace lintel;

bool lintel::isUsedOutside(StageOp stage) {
  return llvm::any_of(stage->getUsers(), [&](Operation *user) {
    auto in = dyn_cast<StageOp>(user);
    if (!in) in = user->getParentOfType<StageOp>();
    return !in || in->getBlock() != stage->getBlock() || in.getGroup() != stage.getGroup();
  });
}

bool lintel::canOverwrite(StageOp stage, Value old) {
  if (stage.getType() != old.getType() || stage.isSerial()) return false;
  for (OpOperand &use : old.getUses()) {
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
    // In one walk each row is read before it is written.
    if (other && isWalked(other) && isWalked(stage) && other.getGroup() == stage.getGroup()) continue;
    if (other ? other.getGroup() >= stage.getGroup() : !top->isBeforeInBlock(stage)) return false;
  }
  return true;
}

static bool reads(StageOp stage, Value v) {
  return llvm::any_of(v.getUsers(), [&](Operation *user) { return user->getParentOp() == stage; });
}

Value lintel::overwrittenBy(StageOp stage) {
  Block *block = stage->getBlock();
  if (!isa<ScanOp, PairsOp>(block->getParentOp())) {
    for (Operation &op : *block) {
      if (&op == stage) break;
      if (!isa<ScanOp, PairsOp>(op)) continue;
      for (Value old : op.getResults())
        if (reads(stage, old) && canOverwrite(stage, old)) return old;
    }
    return {};
  }
  for (auto [k, v] : llvm::enumerate(block->getTerminator()->getOperands())) {
    BlockArgument arg = block->getArgument(k + 1); // behind the loop's index
    if (v == stage.getResult() && canOverwrite(stage, arg)) return arg;
  }
  return {};
}

bool lintel::isInPlace(StageOp stage) {
  Value old = overwrittenBy(stage);
  return old && reads(stage, old);
}

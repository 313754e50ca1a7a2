#include "codegen/halide/MemoryPlan.h"

using namespace mlir;
using namespace lintel;

StageGroups lintel::groupsOf(Block &block) {
  StageGroups groups;
  for (StageOp stage : block.getOps<StageOp>()) groups[stage.getGroup()].push_back(stage);
  return groups;
}

std::optional<int64_t> ScratchPlan::allocate(int64_t bytes) {
  int64_t at = end, next;
  if (__builtin_add_overflow(end, bytes, &next) || next > INT64_MAX - 64) return std::nullopt;
  end = (next + 63) / 64 * 64;
  return at;
}

//===- MemoryPlan.h - where the values of a kernel lie --------------------===//
// Private to codegen/halide. A bump allocator over the caller's scratch, and which stages may overwrite what they read.
#ifndef LINTEL_CODEGEN_HALIDE_MEMORYPLAN_H
#define LINTEL_CODEGEN_HALIDE_MEMORYPLAN_H

#include "codegen/halide/StageBuilder.h"

namespace lintel {

/// The groups of stages of one block, by number.
using StageGroups = std::map<int64_t, llvm::SmallVector<StageOp>>;
StageGroups groupsOf(mlir::Block &block);

/// Whether anything outside its group uses the stage's result, so that it needs memory.
bool isUsedOutside(StageOp stage);

/// Whether `stage`, whose result is the next value of the carried block argument `arg`, may write over it: every other
/// reader runs in an earlier group, and the stage itself reads each element before it writes it, outside of any
/// reduction.
bool canOverwrite(StageOp stage, mlir::BlockArgument arg);

/// Offsets into scratch, each aligned to 64 bytes.
class ScratchPlan {
public:
  /// Nothing where the total would not fit in 63 bits.
  std::optional<int64_t> allocate(int64_t bytes);
  int64_t total() const { return end; }

private:
  int64_t end = 0;
};

} // namespace lintel
#endif

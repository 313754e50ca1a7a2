//===- MemoryPlan.h - where the values of a kernel lie --------------------===//
// Private to codegen/halide. A bump allocator over the caller's scratch, and which stages may overwrite what they read.
#ifndef LINTEL_CODEGEN_HALIDE_MEMORYPLAN_H
#define LINTEL_CODEGEN_HALIDE_MEMORYPLAN_H

#include "codegen/halide/StageBuilder.h"
#include "codegen/schedule/StageUse.h"

namespace lintel {

/// The groups of stages of one block, by number.
using StageGroups = std::map<int64_t, llvm::SmallVector<StageOp>>;
StageGroups groupsOf(mlir::Block &block);

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

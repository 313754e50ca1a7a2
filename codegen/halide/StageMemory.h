//===- StageMemory.h - large buffers of stages in the caller's scratch ----===//
//
// Halide allocates what one stage hands to another of its group; imported, that is stack. Kernels run on threads of the
// caller's, whose stack may be small, so what is large moves to the scratch argument. Small buffers stay: they are
// tiles that become registers. Groups run one after another and share one region.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_HALIDE_STAGEMEMORY_H
#define LINTEL_CODEGEN_HALIDE_STAGEMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace lintel {

/// Moves the largest allocations of `fn` (all of fixed size, in its entry block) out until at most `keep` bytes of
/// stack are left. They become views of a new last argument, a `memref<?xi8>` aligned to 64 bytes, those that are never
/// in use at the same time in the same place. Returns the bytes that the argument must have; 0: no argument was added.
int64_t moveToScratch(mlir::func::FuncOp fn, int64_t keep);

} // namespace lintel
#endif

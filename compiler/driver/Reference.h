// The float64 interpreter on bound arrays: what a run must come to.
#ifndef LINTEL_COMPILER_DRIVER_REFERENCE_H
#define LINTEL_COMPILER_DRIVER_REFERENCE_H

#include "compiler/driver/Arrays.h"

namespace lintel {

/// Runs `op` (a spec, symbolic or bound, a form or a kernel of the operator `info`) on the arrays as they are, that is
/// after their rounding to the run's dtype. The result is float64. With lengths, sequence by sequence.
llvm::Expected<RunResult> interpretArrays(mlir::Operation *op, const OperatorInfo &info, const BoundArrays &arrays);

} // namespace lintel

#endif

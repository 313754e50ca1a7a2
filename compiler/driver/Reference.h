// The float64 interpreter on bound arrays: what a run must come to.
#ifndef LINTEL_COMPILER_DRIVER_REFERENCE_H
#define LINTEL_COMPILER_DRIVER_REFERENCE_H

#include "compiler/driver/Arrays.h"
#include "compiler/driver/Progress.h"

namespace lintel {

/// Runs `op` (a spec, symbolic or bound, a form or a kernel of the operator `info`) on the arrays as they are, that is
/// after their rounding to the run's dtype. The result is float64. With lengths, sequence by sequence. `takeExponents`:
/// final states as they are held, see ExecuteOptions.
llvm::Expected<RunResult> interpretArrays(mlir::Operation *op, const OperatorInfo &info, const BoundArrays &arrays,
                                          Progress *progress = nullptr, bool takeExponents = false);

/// Which of an operator's forms (deriveForms) to interpret: the spec, or the recurrent form where that carries
/// exponents, so that what the spec sums may lie beyond the range of a double (exponentials of arguments above 709).
mlir::Operation *interpretedForm(mlir::ModuleOp forms);

} // namespace lintel

#endif

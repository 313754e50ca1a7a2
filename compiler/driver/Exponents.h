// States as numbers times a power of two: which are held so, and where plain numbers do instead.
#ifndef LINTEL_COMPILER_DRIVER_EXPONENTS_H
#define LINTEL_COMPILER_DRIVER_EXPONENTS_H

#include "compiler/driver/Arrays.h"
#include "mlir/IR/Operation.h"

namespace lintel {

/// For each of the operator's states which exponent it is held with, counted from 0; -1: none.
std::vector<int> exponentsOf(const lintel_kernel &kernel);
/// The same of a form or a spec (see interpretedForm).
std::vector<int> exponentsOf(mlir::Operation *form);

/// Makes initial states with exponents fit an operator whose states are held `with` these: states that share one get
/// the larger of theirs, zeros say that they hold nothing yet, and a state that has none is multiplied out. The error:
/// that passes the range of its type.
llvm::Error settleExponents(const OperatorInfo &op, BoundArrays &arrays, llvm::ArrayRef<int> with);

/// A final state for a file, in `dtype`: plain numbers where these are exactly what is held, else beside its exponents
/// (null: it has none).
llvm::Expected<NpyState> stateForFile(const NpyArray &values, const NpyArray *exponents, lintel_dtype dtype);
/// The least and the largest exponent of heads that are not all zeros.
std::pair<double, double> exponentRange(const NpyState &state);

} // namespace lintel

#endif

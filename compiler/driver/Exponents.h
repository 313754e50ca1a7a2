// States as numbers times a power of two: which are held so, and where plain numbers do instead.
#ifndef LINTEL_COMPILER_DRIVER_EXPONENTS_H
#define LINTEL_COMPILER_DRIVER_EXPONENTS_H

#include "compiler/driver/Arrays.h"
#include "mlir/IR/Operation.h"

namespace lintel {

/// What a state is held with.
struct StateExponent {
  int index = -1;       // which exponent, counted from 0; -1: none
  int64_t channels = 0; // one for each row of the state, so many; 0: one for the head

  explicit operator bool() const { return index >= 0; }
  /// Of the exponents of all heads: [sequences, H] or [sequences, H, n].
  llvm::SmallVector<int64_t, 5> shape(const BoundArrays &arrays) const;
};

/// For each of the operator's states.
std::vector<StateExponent> exponentsOf(const lintel_kernel &kernel);
/// The same of a form or a spec (see interpretedForm).
std::vector<StateExponent> exponentsOf(mlir::Operation *form);

/// Makes initial states with exponents, one for a head or for each row, fit an operator whose states are held `with`
/// these: what shares one gets the largest of its own, zeros say that they hold nothing yet, and a state that has none
/// is multiplied out. The error: that passes the range of its type.
llvm::Error settleExponents(const OperatorInfo &op, BoundArrays &arrays, llvm::ArrayRef<StateExponent> with);

/// A final state for a file, in `dtype`: plain numbers where these are exactly what is held, else beside its exponents
/// (null: it has none).
llvm::Expected<NpyState> stateForFile(const NpyArray &values, const NpyArray *exponents, lintel_dtype dtype);
/// The least and the largest exponent of what is not all zeros.
std::pair<double, double> exponentRange(const NpyState &state);

} // namespace lintel

#endif

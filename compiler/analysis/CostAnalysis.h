//===- CostAnalysis.h - work, traffic and state of a form -----------------===//
//
// Counts, not measurements: flops as multiply and add apart, a transcendental as 16. Units: per step (token) and head.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_ANALYSIS_COSTANALYSIS_H
#define LINTEL_COMPILER_ANALYSIS_COSTANALYSIS_H

#include "dialect/AttnDialect.h"

namespace lintel {

struct Cost {
  double flops = 0;   ///< a step, at T steps where it grows with T
  double traffic = 0; ///< elements of state read and written a step
  double bytes = 0;   ///< of inputs and output a step, at 4 bytes an element
  /// Comparable between forms: flops, and traffic weighted by what a load and a store cost against a flop in vector
  /// code.
  double total() const { return flops + 4 * traffic; }
};

/// The cost of a form op, or of a spec with bound dimensions, for a sequence of `steps`.
Cost costOf(mlir::Operation *form, int64_t steps);
/// Elements of the user's states of one head.
int64_t stateElements(mlir::Operation *form);
/// Elements of a key-value cache of one head after `steps`: (dk + dv) * T for the shapes of the token inputs `k` and
/// `v`, or of all vector token inputs but the first.
int64_t cacheElements(mlir::Operation *spec, int64_t steps);

} // namespace lintel
#endif

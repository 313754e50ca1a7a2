//===- CostAnalysis.h - work, traffic and state of a form -----------------===//
//
// Counts, not measurements: flops as multiply and add apart, a transcendental as 16. Units: per step (token) and head.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_ANALYSIS_COSTANALYSIS_H
#define LINTEL_COMPILER_ANALYSIS_COSTANALYSIS_H

#include "dialect/AttnDialect.h"
#include <optional>

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

/// What an operator must do and keep whatever form it takes, from the mathematics of its step.
struct StepWork {
  /// A step and head. Where there are states: a read and an update of each matrix that a product reads, 4 flops a
  /// number, however often the step does either (the field's 4 dk dv). Where weights do not factor: the products of
  /// queries, keys and values at `steps`. Nothing where the step has neither: its arithmetic is then of the order of
  /// its arrays.
  std::optional<double> flops;
  /// Token inputs whose values reach a state's update or the key side of weights, in the operator's order: what a cache
  /// in place of states has to hold.
  llvm::SmallVector<unsigned> kept;
  int64_t keptElements = 0; ///< a step and head
  int64_t keptSteps = 0;    ///< of a sequence of `steps`: no more than a causal window reaches back
  /// Elements of the keys and values that softmax would have in place of the matrices' rank-one terms; 0 where there is
  /// no such term.
  int64_t written = 0;
};
StepWork workOf(SpecOp spec, int64_t steps);

} // namespace lintel
#endif

//===- RangeAnalysis.h - what is known of a value's size ------------------===//
//
// Interval arithmetic over the ops of a step: inputs and states are any real, functions and constants narrow that. Good
// for questions such as "can this exponential overflow": `exp(-softplus(x))` cannot, `exp(x - max(x))` cannot, `exp(x)`
// can.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_ANALYSIS_RANGEANALYSIS_H
#define LINTEL_COMPILER_ANALYSIS_RANGEANALYSIS_H

#include "dialect/AttnDialect.h"
#include <cmath>

namespace lintel {

/// Every element of the value lies in [low, high], unless it is NaN.
struct Range {
  double low = -INFINITY, high = INFINITY;
};

class RangeAnalysis {
public:
  Range of(mlir::Value v);

private:
  Range compute(mlir::Operation *op);
  llvm::DenseMap<mlir::Value, Range> known;
};

} // namespace lintel
#endif

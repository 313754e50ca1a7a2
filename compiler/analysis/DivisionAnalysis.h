//===- DivisionAnalysis.h - which denominators can be zero ----------------===//
//
// The idea. Each value gets an interval with open or closed ends, whatever the inputs are; states start at zero and are
// assumed not negative until an update shows otherwise. Finer than RangeAnalysis, which knows neither states nor open
// ends and is asked about single values.
//
// Example: `elu(x) + 1` lies in (0, inf), so a sum of products of such features is positive; `dot(q, z)` of unbounded
// features is not.
//
// Pitfalls. Overflow and rounding are not counted, and neither are infinite inputs. Both branches of a select count,
// each under its condition.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_ANALYSIS_DIVISIONANALYSIS_H
#define LINTEL_COMPILER_ANALYSIS_DIVISIONANALYSIS_H

#include "dialect/AttnDialect.h"

namespace lintel {

struct OpenRange {
  double lo = -std::numeric_limits<double>::infinity(), hi = std::numeric_limits<double>::infinity();
  bool loOpen = false, hiOpen = false; ///< the end itself is never reached
  bool isPositive() const { return lo > 0 || (lo == 0 && loOpen); }
  bool isNegative() const { return hi < 0 || (hi == 0 && hiOpen); }
  bool excludesZero() const { return isPositive() || isNegative(); }
};

class DivisionAnalysis {
public:
  /// The body maps inputs and states to the output and the states after the step: an attn.spec, dimensions bound or
  /// not.
  explicit DivisionAnalysis(SpecOp spec);

  OpenRange of(mlir::Value v) { return evaluate(v, Assumptions()); }
  /// Divisors of the body that may be zero, and weights whose sum may be.
  llvm::SmallVector<mlir::Operation *> doubtfulDivisions();

private:
  using Assumptions = llvm::SmallDenseMap<mlir::Value, OpenRange, 2>;
  OpenRange evaluate(mlir::Value v, const Assumptions &assumed);
  OpenRange evaluateOp(mlir::Operation *op, const Assumptions &assumed);

  SpecOp spec;
  mlir::Block &body;
  llvm::SmallVector<OpenRange> states;
  llvm::DenseMap<mlir::Value, OpenRange> known; ///< without assumptions
  /// How often a value may still be looked at under assumptions, which are not remembered; then nothing is known of it.
  unsigned patience = 100000;
};

} // namespace lintel
#endif

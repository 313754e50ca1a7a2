//===- StateDependence.h - which values of a step come from a state -------===//
#ifndef LINTEL_COMPILER_ANALYSIS_STATEDEPENDENCE_H
#define LINTEL_COMPILER_ANALYSIS_STATEDEPENDENCE_H

#include "dialect/AttnDialect.h"

namespace lintel {

/// Of the values of a step's body, whose arguments are the inputs and then the states. Answers are remembered by the
/// value's address: ops may be added to the body, not erased from it.
class StateDependence {
public:
  StateDependence(mlir::Block &body, unsigned inputs) : body(body), inputs(inputs) {}
  bool of(mlir::Value v);

private:
  mlir::Block &body;
  unsigned inputs;
  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace lintel
#endif

//===- ColumnSplit.h - operators that can be computed in parts ------------===//
#ifndef LINTEL_COMPILER_ANALYSIS_COLUMNSPLIT_H
#define LINTEL_COMPILER_ANALYSIS_COLUMNSPLIT_H

#include "dialect/AttnDialect.h"

namespace lintel {

/// How an operator is computed in parts of one dimension, each part for itself, with what has no axis of that dimension
/// computed by every part again: the same operator with the dimension divided.
///
/// It can be where each element along the dimension depends on elements at the same place along it alone: values get
/// the axis from inputs, states, broadcasts and outer products, keep it in element-by-element operations and in
/// contractions of other axes, and never lose it. Every output has the axis, so that no two parts write the same.
struct ColumnSplit {
  std::string dimension; ///< its name, such as "dv"
  std::string whyNot;    ///< empty: it can
  /// Of each input, state and output: which of its axes the dimension is; -1 where none is.
  llvm::SmallVector<int> inputs, states, outputs;
};

/// Of a spec whose dimensions are still names.
ColumnSplit columnSplitOf(SpecOp spec);

} // namespace lintel
#endif

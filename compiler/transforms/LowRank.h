//===- LowRank.h - low-rank transitions within a chunk -------------------===//
//
// Terms u[i] (w[i] @ S[i-1]) of a state's update read what earlier steps of the chunk have added. The reads y[i] are
// the solution of a unit lower triangular system, y = r + L y with L[i, j] = w[i] . (decays) u[j] for j < i: the WY (or
// UT) transform of Bischof and Van Loan 1987, for delta rules Yang et al. 2024 ("Parallelizing linear transformers with
// the delta rule"). Terms of one step do not see each other; several make a system of steps x terms rows.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_TRANSFORMS_LOWRANK_H
#define LINTEL_COMPILER_TRANSFORMS_LOWRANK_H

#include "compiler/transforms/FactoredEmitter.h"

namespace lintel {

/// r[i, e] = sum_c qs[i, c] S[c, e] + sum_p sum_j A_p[i, j] v_p[j, e]; the second part, of the chunk's own steps, where
/// `within`, the first where there is a state. `own`: values of the steps that are added to it.
mlir::Value readChunk(Tile &tile, const FactoredForm &form, const FactoredForm::Read &read, mlir::Value state,
                      bool within, mlir::Value own = {});

/// The system of a state's low-rank terms over a tile's steps. Several terms of a step are rows side by side of one
/// matrix of vectors u and one of w, so that there is one product, one right side and one solution.
class LowRankSystem {
public:
  LowRankSystem(Tile &tile, const FactoredForm &form, unsigned state);
  /// See withLowRankPairs.
  FactoredForm::State withPairs(mlir::Value before);
  /// See BackwardStep: `onto`.
  FactoredForm::State passed();

private:
  /// Terms that are solved together.
  struct Part {
    mlir::Value u;
    FactoredForm::Read read; ///< of the state before the step
    mlir::Value value;       ///< what the terms' own pairs add beside what is read
  };
  mlir::Value gather(llvm::StringRef name, llvm::StringRef axis, llvm::ArrayRef<mlir::Value> values);
  mlir::Value solve(mlir::Value right);

  Tile &tile;
  FactoredForm form; ///< without the pairs that are a term's own
  unsigned s;
  int64_t terms;
  llvm::SmallVector<Part> parts;
  mlir::Value matrix;
};

/// The state with what its low-rank terms add to `before` (to zero, where that is null) as pairs like any other.
FactoredForm::State withLowRankPairs(Tile &tile, const FactoredForm &form, unsigned state, mlir::Value before);

/// The read's queries times all decays since the tile's start that it sees, [i, c].
mlir::Value wholeQuery(Tile &tile, const FactoredForm::Read &read, const FactoredForm::State &state);

/// A tile's steps for queries that are moved back through them: a query x after the steps reads `state`, which starts
/// from zero, and goes on to the steps before as x times the decays, plus what it reads of `onto`. That is a square
/// state of the same keys: its pairs' values are the rows of the low-rank terms, with the system solved.
struct BackwardStep {
  FactoredForm::State state, onto;
  static BackwardStep of(Tile &tile, const FactoredForm &form, unsigned state);
};

} // namespace lintel
#endif

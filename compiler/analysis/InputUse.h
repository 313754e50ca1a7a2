//===- InputUse.h - what a step does with its inputs ----------------------===//
//
// From the mathematics of the step, never from names: which input is a decay, and in which of the ways that users
// confuse (a factor, or its logarithm).
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_ANALYSIS_INPUTUSE_H
#define LINTEL_COMPILER_ANALYSIS_INPUTUSE_H

#include "dialect/AttnDialect.h"

namespace lintel {

/// How a step uses an input, as far as that limits sensible values.
enum class InputUse {
  Plain,
  LogDecay,    ///< exp(x) multiplies a state: at most 0
  DecayFactor, ///< x multiplies a state: in [0, 1]
  DecayRate,   ///< exp(-x) multiplies a state: at least 0
  Gate,        ///< a token's scalar factor of something else
};
llvm::StringRef toString(InputUse use);

/// One for each input.
llvm::SmallVector<InputUse> inputUses(SpecOp spec);

/// Where a step is at its limits: what hard inputs are made for. Followed through sums, signs and products with what is
/// no input.
struct InputTraits {
  bool exponent = false; ///< of an exponential that nothing bounds, and that is no decay
  bool squashed = false; ///< by sigmoid, tanh or the like, which are 0 or 1 from some size on
};
/// One for each input.
llvm::SmallVector<InputTraits> inputTraits(SpecOp spec);

} // namespace lintel
#endif

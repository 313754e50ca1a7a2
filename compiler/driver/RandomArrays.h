// Random arrays for an operator, for `check` and `bench`: their distribution follows from how the step uses each input.
#ifndef LINTEL_COMPILER_DRIVER_RANDOMARRAYS_H
#define LINTEL_COMPILER_DRIVER_RANDOMARRAYS_H

#include "compiler/analysis/InputUse.h"
#include "compiler/driver/Arrays.h"

namespace lintel {

/// Small numbers that are the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  double uniform(); // in (0, 1)
  double normal();

private:
  uint64_t next();
  uint64_t state;
};

enum class Hardness {
  Usual,
  StrongDecay, // log-decays from -6 to -100, factors near 0
  WeakDecay,   // log-decays near 0 and exactly 0, factors near 1 and exactly 1
  MixedDecay,  // log-decays from -1e-8 to -1e4, -inf and 0 side by side, and the factors they stand for
  Resets,      // some log-decays are -inf, some factors 0
  Gates,       // gates of exactly 0 and 1: so drawn, or by arguments of +-1e4
  Exponents,   // arguments of exponentials that have no bound around +-1e4 (vectors: +-300), those of a few steps
               // close together
  Zeros,       // some vectors are zero
  AllZero,     // all plain values are zero
  Large,       // plain values four times the usual
  Huge,        // one plain value of one input is 1e6 (f16: 1e4)
};
/// "usual", "strong-decay".
llvm::StringRef toString(Hardness hardness);
std::optional<Hardness> parseHardness(llvm::StringRef name);

struct RandomRequest {
  int64_t batch = 1, steps = 0, heads = 1;
  int64_t groups = 0;       // heads of every token input but the first; 0: as many as heads
  bool mixedGroups = false; // but one head for every other of these
  Dimensions dimensions;
  ElementTypes types;
  Hardness hardness = Hardness::Usual;
  bool initial = false;                        // random initial states
  std::optional<std::vector<int64_t>> lengths; // of packed sequences
  uint64_t seed = 1;
  std::vector<InputTraits> traits; // of every input, for Gates and Exponents; empty: none
};

/// Vectors are normal and scaled by 1/sqrt of their size, matrices normal; log-decays -softplus(normal); decay factors
/// of heads 1 - 2^(-5-h), of tokens uniform; gates uniform in (0, 1).
llvm::Expected<BoundArrays> randomArrays(const OperatorInfo &op, llvm::ArrayRef<InputUse> uses,
                                         const RandomRequest &request);

/// Steps [begin, end), at their position, with these initial states (moved in; empty: the arrays' own). Not packed.
llvm::Expected<BoundArrays> cutArrays(const OperatorInfo &op, const BoundArrays &arrays, int64_t begin, int64_t end,
                                      std::vector<NpyArray> states);

} // namespace lintel

#endif

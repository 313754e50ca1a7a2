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
  Resets,      // some log-decays are -inf, some factors 0
  Zeros,       // some vectors are zero
  Large,       // plain values four times the usual
};
llvm::StringRef toString(Hardness hardness);

struct RandomRequest {
  int64_t batch = 1, steps = 0, heads = 1;
  int64_t groups = 0; // heads of every token input but the first; 0: as many as heads
  Dimensions dimensions;
  ElementTypes types;
  Hardness hardness = Hardness::Usual;
  bool initial = false;                        // random initial states
  std::optional<std::vector<int64_t>> lengths; // of packed sequences
  uint64_t seed = 1;
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

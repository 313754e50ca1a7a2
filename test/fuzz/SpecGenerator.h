// Random well-typed specs, as text: what a researcher might write, and much that nobody would.
//
// Numbers stay bounded by construction (decays in [0, 1], keys of delta updates normalised, divisors kept off zero), so
// that a kernel that disagrees with the interpreter is a fault of the compiler and not of the spec's conditioning.
// Conditions compare inputs and positions alone: a comparison of computed values may turn out either way by rounding.
#ifndef LINTEL_TEST_FUZZ_SPECGENERATOR_H
#define LINTEL_TEST_FUZZ_SPECGENERATOR_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lintel::fuzz {

/// Numbers that are the same on every machine (splitmix64).
class Dice {
public:
  explicit Dice(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// From 0 to n - 1.
  unsigned below(unsigned n) { return static_cast<unsigned>(next() % n); }
  bool chance(double p) { return static_cast<double>(next() >> 11) < p * 0x1p53; }
  template <typename T> const T &pick(const std::vector<T> &from) { return from[below(from.size())]; }

private:
  uint64_t state;
};

struct GeneratedSpec {
  std::string text; // one operator, a statement a line
  std::vector<std::pair<std::string, int64_t>> dimensions;
};

GeneratedSpec generateSpec(uint64_t seed);

} // namespace lintel::fuzz

#endif

// Values of a spec that read no state: the terms that SpecGenerator puts together.
#ifndef LINTEL_TEST_FUZZ_SPECVALUES_H
#define LINTEL_TEST_FUZZ_SPECVALUES_H

#include "SpecGenerator.h"

namespace lintel::fuzz {

using Text = std::string;
/// Two dimensions are the same if their texts are: a name, or a number.
using Dim = std::string;

struct Named {
  Text name;
  std::vector<Dim> shape;
};

class ValueGenerator {
protected:
  explicit ValueGenerator(uint64_t seed) : dice(seed) {}

  // What is written.
  void declare(const Text &kind, const Text &name, const std::vector<Dim> &shape);
  void line(const Text &text) { body += "  " + text + "\n"; }
  Text fresh(const Text &stem) { return stem + std::to_string(++names); }
  /// Gives a value a name at times.
  Text named(const Text &value, const std::vector<Dim> &shape);

  // Dimensions.
  Dim newDim();
  Dim anyDim() { return dims.empty() || dice.chance(0.25) ? newDim() : dice.pick(dims); }

  // Inputs of a shape, reused at times.
  Text input(const Text &kind, const std::vector<Dim> &shape, double reuse = 0.5);
  Text token(const std::vector<Dim> &shape) { return input("token", shape); }
  Text number() { return dice.pick<Text>({"0.5", "2", "0.1", "1.5", "3", "0.25", "1"}); }
  Text condition();

  Text scalar(int depth);
  Text vector(const Dim &n, int depth);
  Text matrix(const Dim &m, const Dim &n, int depth);
  Text elementwise(const Text &x);
  Text positive(const Text &x); // element by element, above about 1e-3
  Text positiveScalar(int depth) { return positive(scalar(depth)); }
  Text rate(const Text &x);                  // of any number one in [0, 1]
  Text rate() { return rate(token({})); }    // a token's scalar
  Text unit(const Dim &n, int depth);        // a vector of norm at most 1
  Text decay(const std::vector<Dim> &shape); // elements in [0, 1]
  /// A map of the vector x of n elements; `out` is the size of what it gives, in the text's terms.
  Text feature(const Text &x, const Dim &n, Dim &out, bool positiveOnly);

  Dice dice;
  Text inputs, body;
  std::vector<Dim> dims;
  std::vector<std::pair<Text, int64_t>> sizes;
  std::vector<std::pair<Text, Named>> known; // inputs by kind
  std::vector<Named> lets;
  Text parameter; // of a feature map: a vector that stands for inputs there
  Dim parameterDim;
  unsigned names = 0;
  bool letsAllowed = true;
};

} // namespace lintel::fuzz

#endif

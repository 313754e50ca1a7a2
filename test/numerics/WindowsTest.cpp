// Weights that are zero outside of some distances: only blocks of keys that hold others are visited.
#include "Kernels.h"

using namespace lintel;
using namespace lintel::test;

namespace {

struct Window {
  const char *name, *condition;
  bool bidirectional;
  /// Steps before and after a query, and at the start, whose keys have weights.
  int64_t before, after, first;
  int64_t steps = 0;                                                  ///< of a dilated one
  const char *weight = "where(CONDITION, exp(a . b * rsqrt(dk)), 0)"; ///< where CONDITION is the condition
};

const Window windows[] = {
    {"both", "abs(distance) < 5", true, 4, 4, 0},
    {"odd", "distance < 7", false, 6, 0, 0},
    {"wide", "distance < 100", false, 99, 0, 0},
    {"one", "distance < 1", false, 0, 0, 0},
    {"ahead", "distance <= 2 and distance > -12", true, 2, 11, 0},
    {"dilated", "distance < 13 and (distance == 0 or distance == 6 or distance == 12)", false, 12, 0, 0, 6},
    {"first", "distance < 6 or position - distance < 3", false, 5, 0, 3},
    {"in_exponent", "distance < 40", false, 39, 0, 0, 0, "exp(where(CONDITION, a . b * rsqrt(dk), -inf))"},
    {"added", "abs(distance) < 19", true, 18, 18, 0, 0, "exp(a . b * rsqrt(dk) + where(CONDITION, 0, -inf))"},
    {"sums", "distance < 33", false, 32, 0, 0, 0, "where(CONDITION, a . b, 0)"},
    {"factor", "abs(distance) < 9", true, 8, 8, 0, 0, "where(CONDITION, 1, 0) * exp(a . b)"},
    {"all", "1 < 2", true, 999, 999, 0},
    {"first_both", "abs(distance) <= 3 or position - distance < 10", true, 3, 3, 10},
};

const Kernel &kernelOf(const Window &w) {
  std::string weight = w.weight;
  weight.replace(weight.find("CONDITION"), 9, w.condition);
  std::string text = std::string("attention ") + w.name + " {\n  token q[dk], k[dk], v[dv]\n  " +
                     (w.bidirectional ? "bidirectional" : "causal") + "\n  weights(a, b) = " + weight +
                     (w.name == std::string("sums") ? "" : "\n  normalize") + "\n}\n";
  return compiledText(w.name, text, {{"dk", 5}, {"dv", 3}}, {}, {form("parallel", 4), form("parallel", 16)});
}

TEST(Windows, AsTheInterpreter) {
  for (const Window &w : windows)
    for (int64_t steps : {0, 1, 3, 4, 5, 16, 17, 31, 67}) {
      RandomRequest request;
      request.steps = steps, request.seed = static_cast<uint64_t>(steps) + 1;
      const Kernel &kernel = kernelOf(w);
      SCOPED_TRACE(std::string(w.name) + " T=" + std::to_string(steps));
      expectReference(kernel, kernel.random(request));
    }
}

// A value that is not a number reaches the rows that see its key and no others: neither the rest of its block, which is
// visited for them, nor what the sequence's end repeats.
TEST(Windows, AValueOutsideIsNotThere) {
  constexpr int64_t steps = 67, head = 3;
  for (const Window &w : windows) {
    const Kernel &kernel = kernelOf(w);
    auto seen = [&](int64_t t, int64_t j) {
      if (w.steps && (t - j) % w.steps) return false;
      return ((t - j <= w.before && j - t <= w.after) || j < w.first) && (w.bidirectional || j <= t);
    };
    for (float value : {NAN, INFINITY})
      for (int64_t bad : {int64_t(0), int64_t(15), int64_t(32), steps - 1}) {
        RandomRequest request;
        request.steps = steps, request.heads = 1, request.batch = 1;
        BoundArrays arrays = kernel.random(request);
        for (int64_t e = 0; e < head; ++e) arrays.inputs[2].dataAs<float>()[bad * head + e] = value;
        std::vector<double> exact = toDoubles(kernel.interpret(arrays).out);
        for (int64_t t = 0; t < steps; ++t)
          EXPECT_EQ(!std::isfinite(exact[t * head]), seen(t, bad)) << w.name << " t=" << t;
        for (const FormRequest &variant : kernel.variants()) {
          std::vector<double> out = toDoubles(kernel.run(arrays, variant).out);
          for (int64_t t = 0; t < steps; ++t)
            EXPECT_EQ(!std::isfinite(out[t * head]), seen(t, bad))
                << w.name << " " << text(variant) << " t=" << t << " value " << value << " at " << bad;
        }
      }
  }
}

} // namespace

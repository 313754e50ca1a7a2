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
};

const Window windows[] = {
    {"both", "abs(distance) < 5", true, 4, 4, 0},
    {"odd", "distance < 7", false, 6, 0, 0},
    {"wide", "distance < 100", false, 99, 0, 0},
    {"one", "distance < 1", false, 0, 0, 0},
    {"ahead", "distance <= 2 and distance > -12", true, 2, 11, 0},
    {"dilated", "distance < 13 and (distance == 0 or distance == 6 or distance == 12)", false, 12, 0, 0},
    {"first", "distance < 6 or position - distance < 3", false, 5, 0, 3},
    {"first_both", "abs(distance) <= 3 or position - distance < 10", true, 3, 3, 10},
};

const Kernel &kernelOf(const Window &w) {
  std::string text = std::string("attention ") + w.name + " {\n  token q[dk], k[dk], v[dv]\n  " +
                     (w.bidirectional ? "bidirectional" : "causal") + "\n  weights(a, b) = where(" + w.condition +
                     ", exp(a . b * rsqrt(dk)), 0)\n  normalize\n}\n";
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

// A value that is not a number spoils what reads its block, whatever its weight: queries whose window ends in another
// block do not.
TEST(Windows, OtherBlocksAreNotVisited) {
  constexpr int64_t steps = 67, head = 3;
  for (const Window &w : windows) {
    const Kernel &kernel = kernelOf(w);
    for (const FormRequest &variant : kernel.variants())
      for (int64_t bad : {int64_t(0), int64_t(15), int64_t(32), steps - 1}) {
        RandomRequest request;
        request.steps = steps, request.heads = 1, request.batch = 1;
        BoundArrays arrays = kernel.random(request);
        for (int64_t e = 0; e < head; ++e) arrays.inputs[2].dataAs<float>()[bad * head + e] = NAN;
        std::vector<double> out = toDoubles(kernel.run(arrays, variant).out);
        int64_t chunk = variant.chunk, block = bad / chunk;
        for (int64_t t = 0; t < steps; ++t) {
          int64_t start = t / chunk * chunk, end = start + chunk - 1; // of the query's block
          int64_t ahead = w.bidirectional ? std::max(w.after, w.first - 1) : 0;
          bool visited = block >= std::max<int64_t>(0, start - w.before) / chunk &&
                         block <= (w.bidirectional ? (end + ahead) / chunk : start / chunk);
          visited |= block * chunk < w.first;
          bool seen = (t - bad <= w.before && bad - t <= w.after) || bad < w.first;
          if (!w.bidirectional) seen &= bad <= t;
          if (std::string(w.name) != "dilated" && seen)
            EXPECT_TRUE(std::isnan(out[t * head])) << w.name << " chunk " << chunk << " t=" << t << " bad=" << bad;
          if (!visited)
            EXPECT_FALSE(std::isnan(out[t * head])) << w.name << " chunk " << chunk << " t=" << t << " bad=" << bad;
        }
      }
  }
}

} // namespace

// Several low-rank updates in one step: they are solved together, as rows side by side.
#include "test/numerics/Kernels.h"

using namespace lintel;
using namespace lintel::test;

namespace {

/// `count` updates by the delta rule, one behind the other, after `before`.
std::string updates(int count, const std::string &before, const std::string &inputs) {
  std::string tokens, steps;
  for (int i = 1; i <= count; ++i) {
    std::string n = std::to_string(i);
    tokens += ", k" + n + "[dk], v" + n + "[dv], b" + n;
    steps += " let u" + n + " = k" + n + " * rsqrt(dot(k" + n + ", k" + n + ") + 0.001)\n";
    steps += " S = S + sigmoid(b" + n + ") * outer(u" + n + ", v" + n + " - u" + n + " @ S)\n";
  }
  return "attention updates {\n token q[dk]" + tokens + inputs + "\n state S[dk, dv]\n" + before + steps +
         " out = q @ S\n}";
}

void expectAll(const std::string &text, Dimensions dimensions, std::vector<FormRequest> variants) {
  const Kernel &kernel = compiledText("updates", text, std::move(dimensions), LINTEL_F32, std::move(variants));
  for (int64_t steps : {1, 3, 4, 15, 37}) {
    RandomRequest request;
    request.steps = steps, request.heads = 2;
    request.initial = steps > 3;
    expectReference(kernel, kernel.random(request));
  }
}

TEST(LowRank, ThreeUpdates) {
  expectAll(updates(3, "", ""), {{"dk", 7}, {"dv", 5}}, {form("recurrent"), form("chunkwise"), form("parallel")});
}

TEST(LowRank, FourUpdatesOfADecayedState) {
  expectAll(updates(4, " S = exp(-abs(g)) * S\n", ", g"), {{"dk", 33}, {"dv", 9}},
            {form("recurrent"), form("chunkwise"), form("parallel", 4)});
}

TEST(LowRank, ThreeUpdatesWithAGateForEachChannel) {
  // Within 8 steps by decayed keys, beyond by sub-blocks.
  expectAll(updates(3, " S = exp(-abs(g)) * S\n", ", g[dk]"), {{"dk", 9}, {"dv", 3}},
            {form("recurrent"), form("chunkwise", 4), form("chunkwise", 11)});
}

// While the state and the keys are zero, a decay that grows by e^30 a step has nothing to grow, though its product
// leaves the type: within a chunk, and on a query's way back through the blocks before it.
TEST(LowRank, AStateOfZeroDoesNotGrow) {
  constexpr int64_t dk = 3, dv = 2;
  for (const char *gate : {"g", "g[dk]"}) {
    const Kernel &kernel = compiledText(
        std::string("grown") + gate[1],
        std::string("attention grown {\n token q[dk], k[dk], v[dv], ") + gate +
            "\n state S[dk, dv]\n S = exp(g) * S\n S = S + 0.25 * outer(k, v - k @ S)\n out = q @ S\n}",
        {{"dk", dk}, {"dv", dv}}, LINTEL_F32,
        {form("recurrent"), form("chunkwise", 4), form("chunkwise", 19), form("parallel", 4), form("parallel", 11)});
    for (int64_t steps : {1, 5, 18, 22})
      for (int64_t first : {int64_t(0), int64_t(3), int64_t(10), int64_t(17), steps})
        for (bool given : {false, true}) {
          RandomRequest request;
          request.steps = steps, request.heads = 1, request.batch = 1, request.initial = given;
          BoundArrays arrays = kernel.random(request);
          int64_t gates = gate[1] ? dk : 1;
          for (int64_t t = 0; t < steps; ++t) {
            for (int64_t c = 0; c < dk && t < first; ++c) arrays.inputs[1].dataAs<float>()[t * dk + c] = 0;
            for (int64_t c = 0; c < gates; ++c)
              arrays.inputs[3].dataAs<float>()[t * gates + c] = t < first ? 30 : -0.1F;
          }
          if (given)
            for (int64_t i = 0; i < dk * dv; ++i) arrays.initial[0]->dataAs<float>()[i] = 0;
          SCOPED_TRACE(std::string(gate) + " T=" + std::to_string(steps) + " key at " + std::to_string(first));
          expectReference(kernel, arrays);
        }
  }
}

TEST(LowRank, LongSystemsAreSolvedInF64) {
  // 2 x 64 rows of reflections, which keep the state's size, so that roundings add up.
  std::string text = "attention updates {\n token q[dk], k[dk], v[dv]\n state S[dk, dv]\n"
                     " let a = k * rsqrt(dot(k, k))\n let b = q * rsqrt(dot(q, q))\n"
                     " S = S + 2 * outer(a, v - a @ S)\n S = S + 2 * outer(b, v - b @ S)\n out = q @ S\n}";
  const Kernel &kernel =
      compiledText("updates", text, {{"dk", 4}, {"dv", 3}}, LINTEL_F32, {form("recurrent"), form("chunkwise", 64)});
  RandomRequest request;
  request.steps = 913;
  BoundArrays arrays = kernel.random(request);
  std::vector<double> want = toDoubles(kernel.interpret(arrays).out);
  auto worst = [&](const FormRequest &variant) {
    std::vector<double> got = toDoubles(kernel.run(arrays, variant).out);
    double error = 0;
    for (size_t i = 0; i < got.size(); ++i) error = std::max(error, std::fabs(got[i] - want[i]));
    return error;
  };
  // In f32 it is twice that of the steps one by one.
  EXPECT_LE(worst(form("chunkwise", 64)), 1.4 * worst(form("recurrent")));
}

} // namespace

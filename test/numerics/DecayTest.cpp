// Decays: exact where they should be, and finite however strong. With q = k = v = 1 and one feature the output is the
// sum over earlier steps of the product of the decays behind them.
#include "Kernels.h"

using namespace lintel;
using namespace lintel::test;

namespace {

const double e6 = std::exp(-6.0);

/// scalar_gate on ones, dk = dv = 1, one head.
BoundArrays ones(const Kernel &kernel, std::vector<double> gates) {
  auto steps = static_cast<int64_t>(gates.size());
  lintel_dtype t = kernel.dtype();
  return kernel.arrays(list(filled("q", {1, steps, 1, 1}, {1}, t), filled("k", {1, steps, 1, 1}, {1}, t),
                            filled("v", {1, steps, 1, 1}, {1}, t), filled("g", {1, steps, 1}, std::move(gates), t)));
}

/// gla on ones, dk = 2, dv = 1, where the first channel has `gates` and the second never decays. Times sqrt(2).
std::vector<double> runChannels(const Kernel &kernel, const FormRequest &variant, const std::vector<double> &gates,
                                double other = 0) {
  auto steps = static_cast<int64_t>(gates.size());
  std::vector<double> both;
  for (double g : gates) both.insert(both.end(), {g, other});
  BoundArrays arrays = kernel.arrays(list(filled("q", {1, steps, 1, 2}, {1}), filled("k", {1, steps, 1, 2}, {1}),
                                          filled("v", {1, steps, 1, 1}, {1}), filled("g", {1, steps, 1, 2}, both)));
  std::vector<double> out = toDoubles(kernel.run(arrays, variant).out);
  for (double &x : out) x *= std::sqrt(2.0);
  return out;
}

/// The recurrence s = exp(g) s + 1.
std::vector<double> sums(const std::vector<double> &gates) {
  std::vector<double> result;
  double s = 0;
  for (double g : gates) result.push_back(s = std::exp(g) * s + 1);
  return result;
}

TEST(Decay, GrowthOverflowsInItsHeadAlone) {
  for (const char *name : {"scalar_gate", "gla"}) {
    const Kernel &f32 = compiled(name, {{"dk", 4}, {"dv", 4}});
    const Kernel &f64 = compiled(name, {{"dk", 4}, {"dv", 4}}, LINTEL_F64);
    for (const Kernel *kernel : {&f32, &f64}) {
      RandomRequest request;
      request.steps = 4, request.heads = 4, request.seed = 3;
      BoundArrays calm = kernel->random(request), grown = kernel->random(request);
      // Positive values, so that the growth has a sign; head 2 grows by e^176 a step.
      auto each = [&](NpyArray &array, auto change) {
        int64_t row = array.elements() / 16;
        for (int64_t i = 0; i < array.elements(); ++i)
          if (kernel->dtype() == LINTEL_F64) change(array.dataAs<double>()[i], i / row % 4);
          else change(array.dataAs<float>()[i], i / row % 4);
      };
      for (BoundArrays *arrays : {&calm, &grown})
        for (int i : {0, 1, 2}) each(arrays->inputs[i], [](auto &x, int64_t) { x = std::fabs(x) + 1; });
      each(grown.inputs[3], [](auto &x, int64_t head) { x = head == 2 ? 176 : x; });
      Reference reference = kernel->reference(grown);
      for (const FormRequest &variant : kernel->variants()) {
        RunResult before = kernel->run(calm, variant), after = kernel->run(grown, variant);
        std::vector<double> x = toDoubles(before.out), y = toDoubles(after.out), want = toDoubles(reference.exact.out);
        for (int64_t t = 0; t < 4; ++t)
          for (int64_t h = 0; h < 4; ++h)
            for (int64_t e = 0; e < 4; ++e) {
              int64_t i = (t * 4 + h) * 4 + e;
              if (h != 2) EXPECT_EQ(x[i], y[i]) << name << " " << text(variant);
              else if (kernel->dtype() == LINTEL_F64)
                EXPECT_NEAR(y[i] / want[i], 1, 1e-12) << name << " " << text(variant) << " t=" << t;
              else if (t > 0) EXPECT_FALSE(std::isfinite(y[i])) << name << " " << text(variant) << " t=" << t;
              // The state is still zero: it stays so, however large the factor.
              else EXPECT_NEAR(y[i] / want[i], 1, 1e-5) << name << " " << text(variant);
            }
      }
    }
  }
}

// One channel grows by e^30 a step, so that its product over four steps is no number in f32. While the channel's state
// is zero, it stays out of the other channels' sums; from its first key on the result is what the mathematics is.
TEST(Decay, AChannelOfZeroDoesNotGrow) {
  constexpr int64_t dk = 3, dv = 2;
  std::vector<FormRequest> variants = {form("recurrent"),    form("chunkwise", 3),  form("chunkwise", 7),
                                       form("chunkwise", 8), form("chunkwise", 19), form("parallel", 4),
                                       form("parallel", 11)};
  const Kernel &kernel = compiled("gla", {{"dk", dk}, {"dv", dv}}, LINTEL_F32, variants);
  for (int64_t steps : {1, 4, 7, 18, 22})
    for (int64_t first : {int64_t(0), int64_t(3), int64_t(10), steps})
      for (int start : {0, 1, 2}) { // no state, a state of zeros, one of zeros in the channel
        std::vector<double> q, k, v, g, state;
        for (int64_t t = 0; t < steps; ++t) {
          for (int64_t c = 0; c < dk; ++c) {
            q.push_back(1 + 0.25 * static_cast<double>((t + c) % 3));
            k.push_back(c == 0 && t != first ? 0 : 0.5 + 0.25 * static_cast<double>((2 * t + c) % 5));
            g.push_back(c == 0 ? 30 : -0.25 * static_cast<double>(c));
          }
          for (int64_t e = 0; e < dv; ++e) v.push_back(1 + 0.5 * static_cast<double>((t + e) % 4));
        }
        for (int64_t i = 0; i < dk * dv; ++i)
          state.push_back(start == 2 && i >= dv ? 1 + 0.5 * static_cast<double>(i) : 0);
        std::vector<NamedArray> initial;
        if (start) initial.push_back(filled("S", {1, 1, dk, dv}, state));
        BoundArrays arrays = kernel.arrays(list(filled("q", {1, steps, 1, dk}, q), filled("k", {1, steps, 1, dk}, k),
                                                filled("v", {1, steps, 1, dv}, v), filled("g", {1, steps, 1, dk}, g)),
                                           std::move(initial));
        RunResult want = kernel.interpret(arrays);
        auto same = [](const NpyArray &got, const NpyArray &exact) {
          std::vector<double> x = toDoubles(exact);
          for (double &y : x) y = static_cast<float>(y); // what f32 has no number for is infinite
          return near(got, x, 1e-5);
        };
        for (const FormRequest &variant : variants) {
          RunResult got = kernel.run(arrays, variant);
          std::string name = text(variant) + " T=" + std::to_string(steps) + " key at " + std::to_string(first) +
                             " start " + std::to_string(start);
          EXPECT_TRUE(same(got.out, want.out)) << name;
          EXPECT_TRUE(same(got.states[0], want.states[0])) << name;
        }
      }
}

TEST(Decay, StrongDecayBesideABonusIsFinite) {
  const Kernel &kernel = compiled("rwkv6", {{"dk", 16}, {"dv", 16}});
  llvm::SmallVector<int64_t> shape = {1, 64, 1, 16};
  expectReference(kernel,
                  kernel.arrays(list(normal("q", shape, 0.25, 1), normal("k", shape, 0.25, 2), normal("v", shape, 1, 3),
                                     filled("w", shape, {-20}), filled("u", {1, 16}, {1}))));
}

TEST(Decay, StrongGatesReachTheirLimit) {
  const Kernel &kernel = compiled("scalar_gate", {{"dk", 1}, {"dv", 1}});
  for (double g : {-6.0, -20.0, -100.0, -1e4}) {
    std::vector<double> want;
    for (int t = 0; t < 19; ++t) want.push_back(std::expm1(g * (t + 1)) / std::expm1(g));
    for (const FormRequest &variant : kernel.variants())
      EXPECT_TRUE(near(kernel.run(ones(kernel, std::vector<double>(19, g)), variant).out, want, 3e-7))
          << text(variant) << " g=" << g;
  }
  EXPECT_NEAR(1 / (1 - e6), 1.0024849, 1e-7);
}

TEST(Decay, WeakAndStrongChannelsSideBySide) {
  const Kernel &kernel = compiled("gla", {{"dk", 2}, {"dv", 1}});
  std::vector<double> weak(40, -1e-8), strong(40, -1e4), want = sums(weak);
  for (double &x : want) x += 1;
  for (const FormRequest &variant : kernel.variants())
    EXPECT_TRUE(near(runChannels(kernel, variant, weak, -1e4), want, 1e-6)) << text(variant);
}

TEST(Decay, MinusInfinityClearsTheState) {
  const Kernel &kernel = compiled("scalar_gate", {{"dk", 1}, {"dv", 1}});
  const Kernel &channels = compiled("gla", {{"dk", 2}, {"dv", 1}});
  // On first and last steps of chunks, inside, twice in one, side by side, at the very start and end.
  std::vector<std::vector<int>> places = {{2},      {0},      {3},      {4},          {15},          {16},
                                          {17, 30}, {5, 6},   {31, 32}, {0, 1, 2, 3}, {39},          {16, 17, 18, 19},
                                          {4, 7},   {16, 31}, {32},     {35, 36, 37}, {3, 4, 19, 20}};
  for (const std::vector<int> &resets : places) {
    std::vector<double> gates(40, 0.0);
    for (int t : resets) gates[t] = -infinity;
    std::vector<double> want = sums(gates), both = want;
    for (size_t t = 0; t < both.size(); ++t) both[t] += static_cast<double>(t + 1);
    for (const FormRequest &variant : kernel.variants()) {
      RunResult result = kernel.run(ones(kernel, gates), variant);
      EXPECT_TRUE(near(result.out, want, 0)) << text(variant) << " reset at " << resets[0];
      EXPECT_TRUE(near(result.states[0], {want.back()}, 0)) << text(variant);
    }
    for (const FormRequest &variant : channels.variants())
      EXPECT_TRUE(near(runChannels(channels, variant, gates), both, 1e-6))
          << text(variant) << " reset at " << resets[0];
  }
  for (const FormRequest &variant : kernel.variants())
    EXPECT_TRUE(near(kernel.run(ones(kernel, {0, 0, -infinity, 0}), variant).out, {1, 2, 1, 2}, 0)) << text(variant);
}

// A reset is a choice, not a product: NaN and infinities of what lies before it reach nothing behind it.
TEST(Decay, AResetClearsWhatIsNoNumber) {
  const Dimensions sizes = {{"dk", 4}, {"dv", 3}};
  struct Case {
    const char *name, *inputs, *step;
    std::vector<FormRequest> variants = {};
  };
  // Vectors of decays at 20, too, where chunks go by sub-blocks.
  std::vector<FormRequest> channels = {form("recurrent"), form("chunkwise", 5), form("chunkwise", 20),
                                       form("parallel", 4), form("parallel", 11)};
  for (const Case &one : {
           Case{"first", "", "S = where(ends > 0, 0, S) + outer(k, v)\n out = q @ S"},
           Case{"last", "token g", "S = where(ends > 0, 0, exp(-abs(g)) * S + outer(k, v))\n out = q @ S"},
           Case{"before", "token g", "out = q @ S\n S = where(ends > 0, outer(k, v), sigmoid(g) * S + outer(k, v))"},
           Case{"channels", "token g[dk]", "S = where(ends > 0, 0, exp(-abs(g)) * S) + outer(k, v)\n out = q @ S",
                channels},
           Case{"growth", "token g[dk]", "S = where(ends > 0, 0, exp(0.1 * g) * S) + outer(k, v)\n out = q @ S",
                channels},
           Case{"mixed", "token g[dk]\n state z[dk]\n state n",
                "S = where(ends > 0, 0, exp(-abs(g)) * S) + outer(k, v)\n z = where(ends > 0, 0, z) + k\n n = "
                "where(ends > "
                "0, 0, n + 1)\n out = q @ S + (q . z) + n",
                channels},
           Case{"delta", "", "S = where(ends > 0, 0, S)\n S = S + 0.5 * outer(k, v - k @ S)\n out = q @ S"},
           Case{"gated", "token g",
                "S = where(ends > 0, 0, exp(-abs(g)) * S)\n let r = k @ S\n S = S + 0.25 * outer(k, v - r)\n out = q @ "
                "S "
                "+ r"},
           Case{"gates", "token g[dk]",
                "S = where(ends > 0, 0, exp(-abs(g)) * S)\n S = S + 0.25 * outer(k, v - k @ S)\n out = q @ S",
                channels},
           Case{"twice",
                "token g",
                "S = where(ends > 0, 0, exp(0.1 * g) * S)\n S = S + 0.25 * outer(k, v - k @ S)\n S = S - 0.25 * "
                "outer(q, q @ S)\n out = q @ S",
                {form("recurrent"), form("chunkwise", 5), form("chunkwise", 20), form("parallel", 4)}},
           Case{"chosen", "", "S = S + outer(k, v)\n out = where(ends > 0, v, q @ S)"},
       }) {
    const Kernel &kernel =
        compiledText(one.name,
                     std::string("attention ") + one.name + " {\n token q[dk], k[dk], v[dv], ends\n " + one.inputs +
                         "\n state S[dk, dv]\n " + one.step + "\n}",
                     sizes, {}, one.variants);
    const bool resets = one.name != std::string("chosen");
    for (int64_t at : {0, 1, 4, 7, 8, 15, 16, 22}) {
      constexpr int64_t steps = 23, bad = 3;
      RandomRequest request;
      request.steps = steps, request.initial = true;
      auto arrays = [&] {
        BoundArrays result = kernel.random(request);
        float *ends = result.inputs[3].dataAs<float>();
        for (int64_t t = 0; t < steps; ++t) ends[t] = t == at ? 1 : -1;
        return result;
      };
      BoundArrays clean = arrays();
      for (float value : {NAN, INFINITY})
        for (int input : {-1, 0, 1, 2}) { // the state; q, k and v of a step
          if (input >= 0 && at <= bad) continue;
          if (!resets && input != -1) continue;
          BoundArrays broken = arrays();
          NpyArray &array = input < 0 ? *broken.initial[0] : broken.inputs[input];
          array.dataAs<float>()[input < 0 ? 2 : bad * array.shape.back() + 1] = value;
          for (const FormRequest &variant : kernel.variants()) {
            RunResult want = kernel.run(clean, variant), got = kernel.run(broken, variant);
            std::vector<double> x = toDoubles(want.out), y = toDoubles(got.out);
            // What the end's own step shows: `last` and `before` read a state that is cleared then, or is not yet.
            int64_t from = one.name == std::string("before") ? at + 1 : at, until = resets ? steps : at + 1;
            for (int64_t t = from; t < until; ++t)
              for (int64_t e = 0; e < 3; ++e)
                ASSERT_EQ(x[t * 3 + e], y[t * 3 + e]) << one.name << ", " << text(variant) << ", end at " << at
                                                      << ", input " << input << " " << value << ", t=" << t;
            if (resets)
              for (size_t s = 0; s < want.states.size(); ++s)
                EXPECT_TRUE(sameBits(want.states[s], got.states[s])) << one.name << ", " << text(variant) << " " << at;
            // And it was there.
            bool seen = at == 0 && from == at;
            for (int64_t i = 0; i < at * 3; ++i) seen |= !std::isfinite(y[i]);
            if (from > at)
              for (int64_t i = at * 3; i < from * 3; ++i) seen |= !std::isfinite(y[i]);
            EXPECT_TRUE(seen) << one.name << ", " << text(variant) << ", end at " << at << ", input " << input;
          }
        }
    }
  }
}

// The same channel by channel: a channel is a number again once it is cleared, and a step whose value was none is gone
// when all channels have been.
TEST(Decay, AResetOfAChannelClearsIt) {
  constexpr int64_t steps = 23, dk = 3, bad = 3;
  for (const char *decay : {"S", "exp(-abs(g)) * S", "sigmoid(q) * S"}) {
    const Kernel &kernel = compiledText(
        std::string("channel ") + decay,
        std::string(
            "attention channel {\n token q[dk], k[dk], v[dv], ends[dk], g\n state S[dk, dv]\n state z[dk]\n S = "
            "where(ends > 0, 0, ") +
            decay + ") + outer(k, v)\n z = where(ends > 0, 0, z) + k\n out = q @ S + (q . z)\n}",
        {{"dk", dk}, {"dv", 2}}, {},
        {form("recurrent"), form("chunkwise", 4), form("chunkwise", 8), form("chunkwise", 20)});
    for (int64_t first : {4, 7, 8, 13})
      for (int input : {-1, 0, 1, 2}) { // the state; q, k and v of a step
        RandomRequest request;
        request.steps = steps, request.initial = true, request.batch = 1, request.heads = 1;
        BoundArrays arrays = kernel.random(request);
        float *ends = arrays.inputs[3].dataAs<float>();
        for (int64_t t = 0; t < steps; ++t)
          for (int64_t c = 0; c < dk; ++c) ends[t * dk + c] = t == first + 3 * c ? 1 : -1;
        NpyArray &array = input < 0 ? *arrays.initial[0] : arrays.inputs[input];
        array.dataAs<float>()[input < 0 ? 0 : bad * array.shape.back() + 1] = NAN;
        SCOPED_TRACE(std::string(decay) + " first " + std::to_string(first) + " input " + std::to_string(input));
        expectReference(kernel, arrays);
        std::vector<double> exact = toDoubles(kernel.interpret(arrays).out);
        EXPECT_TRUE(std::isnan(exact[input < 0 ? 0 : bad * 2 + 1]));
        EXPECT_FALSE(std::isnan(exact[(first + 3 * dk) * 2 + 1]));
      }
  }
}

TEST(Decay, ResetsAmongRandomGates) {
  for (const char *name : {"rwkv6", "gated_delta", "mamba2", "kda"}) {
    Dimensions dimensions =
        name == std::string("mamba2") ? Dimensions{{"n", 5}, {"p", 3}} : Dimensions{{"dk", 5}, {"dv", 3}};
    const Kernel &kernel = compiled(name, dimensions);
    RandomRequest request;
    request.steps = 37, request.heads = 2, request.hardness = Hardness::Resets;
    request.initial = true;
    expectReference(kernel, kernel.random(request));
  }
}

TEST(Decay, AFactorOfOneIsNoDecay) {
  Dimensions dimensions = {{"dk", 32}, {"dv", 32}};
  struct Pair {
    const char *gated, *plain, *gate;
  };
  for (Pair pair : {Pair{"gated_delta", "delta", "g"}, Pair{"scalar_gate", "identity", "g"}}) {
    bool delta = pair.plain == std::string("delta");
    std::vector<FormRequest> variants = {form("recurrent"), form("chunkwise", 16)};
    const Kernel &gated = compiled(pair.gated, dimensions, LINTEL_F32, variants);
    const Kernel &plain = compiled(pair.plain, dimensions, LINTEL_F32, variants);
    for (int64_t steps : {7, 50, 100, 500}) {
      auto arrays = [&](const Kernel &kernel, bool gates) {
        std::vector<NamedArray> inputs;
        inputs.push_back(normal("q", {1, steps, 1, 32}, 0.177, 1));
        inputs.push_back(normal("k", {1, steps, 1, 32}, 0.177, 2));
        inputs.push_back(normal("v", {1, steps, 1, 32}, 1, 3));
        if (gates) inputs.push_back(filled(pair.gate, {1, steps, 1}, {0}));
        if (delta) inputs.push_back(filled("beta", {1, steps, 1}, {0.5, 0.9, 0.1}));
        return kernel.arrays(std::move(inputs));
      };
      for (const FormRequest &variant : variants) {
        RunResult x = gated.run(arrays(gated, true), variant), y = plain.run(arrays(plain, false), variant);
        // Both may contract and order sums in their own way: some roundings of f32.
        EXPECT_TRUE(near(x.out, toDoubles(y.out), 3e-6)) << pair.gated << " T=" << steps << " " << text(variant);
        EXPECT_TRUE(near(x.states[0], toDoubles(y.states[0]), 3e-6)) << pair.gated << " T=" << steps;
      }
    }
  }
}

TEST(Decay, HalfInputsKeepAStateInF32) {
  for (lintel_dtype dtype : {LINTEL_F16, LINTEL_BF16}) {
    const Kernel &kernel = compiled("identity", {{"dk", 1}, {"dv", 1}}, dtype);
    std::vector<NamedArray> inputs;
    for (const char *name : {"q", "k", "v"}) inputs.push_back(filled(name, {1, 4000, 1, 1}, {1}, dtype));
    BoundArrays arrays = kernel.arrays(std::move(inputs));
    for (const FormRequest &variant : kernel.variants()) {
      RunResult result = kernel.run(arrays, variant);
      EXPECT_TRUE(near(result.states[0], {4000}, 0)) << text(variant);
      std::vector<double> out = toDoubles(result.out);
      auto rounded = [&](double x) {
        return dtype == LINTEL_F16 ? widenF16(roundToF16(x)) : widenBf16(roundToBf16(x));
      };
      for (int t : {0, 1, 2046, 2047, 2048, 2049, 3001, 3999}) EXPECT_EQ(out[t], rounded(t + 1)) << text(variant);
    }
  }
}

/// Multiplies element `at` rows of `size` of an array in f32.
void scaleRow(NpyArray &array, int64_t row, double factor) {
  int64_t size = array.shape.back();
  for (int64_t i = 0; i < size; ++i) array.dataAs<float>()[row * size + i] *= static_cast<float>(factor);
}

struct CausalCase {
  const char *name;
  Dimensions dimensions;
  int key;
};

std::vector<CausalCase> causalCases() {
  Dimensions sizes = {{"dk", 4}, {"dv", 3}};
  return {{"softmax", sizes, 1}, {"elu", sizes, 1},         {"scalar_gate", sizes, 1},
          {"gla", sizes, 1},     {"gated_delta", sizes, 1}, {"favor", {{"dk", 4}, {"dv", 3}, {"m", 8}}, 1},
          {"window", sizes, 1},  {"mlstm", sizes, 1},       {"rwkv4", {}, 0}};
}

TEST(Decay, LaterInfinitiesChangeNoBit) {
  for (const CausalCase &c : causalCases()) {
    const Kernel &kernel = compiled(c.name, c.dimensions);
    RandomRequest request;
    request.steps = 21, request.heads = 2;
    BoundArrays before = kernel.random(request);
    for (const FormRequest &variant : kernel.variants()) {
      std::vector<double> a = toDoubles(kernel.run(before, variant).out);
      int64_t n = static_cast<int64_t>(a.size()) / 42;
      for (size_t input = 0; input < kernel.op().inputs.size(); ++input) {
        if (kernel.op().inputs[input].kind != InputKind::Token) continue;
        for (float value : {INFINITY, -INFINITY, NAN}) {
          BoundArrays after = kernel.random(request);
          int64_t row = after.inputs[input].elements() / 42;
          // Step 5 of head 0.
          for (int64_t i = 0; i < row; ++i) after.inputs[input].dataAs<float>()[5 * 2 * row + i] = value;
          std::vector<double> b = toDoubles(kernel.run(after, variant).out);
          for (int64_t i = 0; i < 21 * 2 * n; ++i)
            if (i / n / 2 < 5 || i / n % 2 == 1)
              ASSERT_EQ(a[i], b[i]) << c.name << " " << text(variant) << " t=" << i / n / 2 << " h=" << i / n % 2 << " "
                                    << value << " in " << kernel.op().inputs[input].name;
        }
      }
    }
  }
}

TEST(Decay, LaterKeysAndOtherHeadsChangeNoBit) {
  for (const CausalCase &c : causalCases()) {
    const Kernel &kernel = compiled(c.name, c.dimensions);
    RandomRequest request;
    request.steps = 21, request.heads = 2;
    BoundArrays before = kernel.random(request), after = kernel.random(request);
    int64_t row = kernel.op().inputs[c.key].dims.empty() ? 0 : after.inputs[c.key].shape.back();
    // Step 5 of head 0.
    if (row) scaleRow(after.inputs[c.key], 5 * 2, 100);
    else after.inputs[c.key].dataAs<float>()[5 * 2] = 100;
    for (const FormRequest &variant : kernel.variants()) {
      RunResult x = kernel.run(before, variant), y = kernel.run(after, variant);
      std::vector<double> a = toDoubles(x.out), b = toDoubles(y.out);
      int64_t n = x.out.shape.size() > 3 ? x.out.shape[3] : 1;
      bool moved = false;
      for (int64_t t = 0; t < 21; ++t)
        for (int64_t h = 0; h < 2; ++h)
          for (int64_t e = 0; e < n; ++e) {
            int64_t i = (t * 2 + h) * n + e;
            if (t < 5 || h == 1) EXPECT_EQ(a[i], b[i]) << c.name << " " << text(variant) << " t=" << t << " h=" << h;
            else moved |= a[i] != b[i];
          }
      EXPECT_TRUE(moved) << c.name;
    }
  }
}

} // namespace

// What the literature says about the operators, as numbers.
#include "Kernels.h"
#include "compiler/driver/Explanation.h"

using namespace lintel;
using namespace lintel::test;

namespace {

TEST(Seeds, IdentityIsALinearLayerWithARunningState) {
  constexpr int64_t steps = 37, dk = 4, dv = 3;
  const Kernel &kernel = compiled("identity", {{"dk", dk}, {"dv", dv}}, LINTEL_F64);
  RandomRequest request;
  request.steps = steps;
  BoundArrays arrays = kernel.random(request);
  const auto *q = arrays.inputs[0].dataAs<double>(), *k = arrays.inputs[1].dataAs<double>(),
             *v = arrays.inputs[2].dataAs<double>();
  std::vector<double> weights(dk * dv), want; // a layer dk -> dv whose weights grow by one outer product a step
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t e = 0; e < dv; ++e) {
      double sum = 0;
      for (int64_t c = 0; c < dk; ++c) {
        weights[c * dv + e] += k[t * dk + c] * v[t * dv + e];
        sum += q[t * dk + c] * weights[c * dv + e];
      }
      want.push_back(sum);
    }
  for (const FormRequest &variant : kernel.variants()) {
    RunResult result = kernel.run(arrays, variant);
    EXPECT_TRUE(near(result.out, want, 1e-14)) << text(variant);
    EXPECT_TRUE(near(result.states[0], weights, 1e-14)) << text(variant);
  }
}

TEST(Seeds, RetentionWithoutDecayIsIdentity) {
  Dimensions sizes = {{"dk", 4}, {"dv", 3}};
  const Kernel &retnet = compiled("retnet", sizes, LINTEL_F64), &identity = compiled("identity", sizes, LINTEL_F64);
  RandomRequest request;
  request.steps = 37, request.heads = 2;
  BoundArrays plain = identity.random(request), decayed = retnet.random(request);
  for (int64_t i = 0; i < plain.inputs[0].elements(); ++i) plain.inputs[0].dataAs<double>()[i] *= 0.5; // rsqrt(4)
  for (int64_t h = 0; h < 2; ++h) decayed.inputs[3].dataAs<double>()[h] = 1;
  ASSERT_EQ(retnet.variants().size(), identity.variants().size());
  for (const FormRequest &variant : retnet.variants()) {
    RunResult x = retnet.run(decayed, variant), y = identity.run(plain, variant);
    EXPECT_TRUE(near(x.out, toDoubles(y.out), 1e-14)) << text(variant);
    EXPECT_TRUE(near(x.states[0], toDoubles(y.states[0]), 1e-14)) << text(variant);
  }
}

TEST(Seeds, FormsAgree) {
  for (const char *name : {"identity", "retnet", "scalar_gate", "gla", "elu"}) {
    const Kernel &kernel = compiled(name, {{"dk", 4}, {"dv", 3}}, LINTEL_F64);
    RandomRequest request;
    request.steps = 37, request.heads = 2;
    BoundArrays arrays = kernel.random(request);
    bool chunkwise = false, parallel = false;
    RunResult recurrent = kernel.run(arrays, kernel.variants()[0]);
    ASSERT_EQ(kernel.variants()[0].form, "recurrent");
    for (const FormRequest &variant : kernel.variants()) {
      chunkwise |= variant.form == "chunkwise", parallel |= variant.form == "parallel";
      EXPECT_TRUE(near(kernel.run(arrays, variant).out, toDoubles(recurrent.out), 1e-13)) << name << text(variant);
    }
    EXPECT_TRUE(chunkwise && parallel) << name;
  }
}

/// Root of the mean squared difference between an approximation of softmax with m random features and softmax itself,
/// over some draws of the features.
double errorOfFeatures(const char *name, const char *exact, int64_t m) {
  constexpr int64_t steps = 24, dk = 4, dv = 4;
  const Kernel &features = compiled(name, {{"dk", dk}, {"dv", dv}, {"m", m}}, LINTEL_F32, {form("auto")});
  const Kernel &softmax = compiled(exact, {{"dk", dk}, {"dv", dv}}, LINTEL_F32, {form("auto")});
  llvm::SmallVector<int64_t> shape = {1, steps, 1, dk};
  double sum = 0;
  int count = 0;
  for (uint64_t draw = 0; draw < 40; ++draw) {
    auto inputs = [&](double scale) {
      return list(normal("q", shape, scale, 3 * draw + 1), normal("k", shape, scale, 3 * draw + 2),
                  normal("v", shape, 1, 3 * draw + 3));
    };
    // softmax has rsqrt(dk) = 1/2 inside, which favor folds in and rff_softmax leaves to its caller.
    bool folds = name == std::string("favor");
    auto approximate = inputs(folds ? 0.4 : 0.4 / std::sqrt(2.0));
    approximate.push_back(normal("omega", {m, dk}, 1, 1000 + draw));
    std::vector<double> x =
        toDoubles(features.run(features.arrays(std::move(approximate)), features.variants()[0]).out);
    std::vector<double> y = toDoubles(softmax.run(softmax.arrays(inputs(0.4)), softmax.variants()[0]).out);
    for (size_t i = 0; i < x.size(); ++i, ++count) sum += (x[i] - y[i]) * (x[i] - y[i]);
  }
  return std::sqrt(sum / count);
}

TEST(Seeds, RandomFeaturesConvergeToSoftmax) {
  using Pair = std::pair<const char *, const char *>;
  for (auto [name, exact] : {Pair{"favor", "softmax"}, Pair{"rff_softmax", "softmax_bidirectional"}}) {
    double few = errorOfFeatures(name, exact, 16), some = errorOfFeatures(name, exact, 64),
           many = errorOfFeatures(name, exact, 256);
    // Four times the features, half the error; 40 draws leave some play.
    EXPECT_NEAR(few / some, 2, 0.4) << name;
    EXPECT_NEAR(some / many, 2, 0.4) << name;
    EXPECT_LT(many, 0.1) << name;
  }
}

TEST(Seeds, RandomFeaturesAreUnbiased) {
  // One step without a normaliser and v = 1: out = phi(q) . phi(k), whose mean over draws is the kernel's value.
  const char *const favor = R"(attention favor_kernel {
  token  q[dk], k[dk], v
  shared omega[m, dk]
  state S
  let phi_q = exp(omega @ q - dot(q, q) / 2) * rsqrt(m)
  let phi_k = exp(omega @ k - dot(k, k) / 2) * rsqrt(m)
  S = S + dot(phi_q, phi_k) * v
  out = S
})";
  const char *const fourier = R"(attention rff_kernel {
  token  q[dk], k[dk], v
  shared omega[m, dk]
  state S
  let a = omega @ q
  let b = omega @ k
  S = S + (dot(sin(a), sin(b)) + dot(cos(a), cos(b))) / m * exp((dot(q, q) + dot(k, k)) / 2) * v
  out = S
})";
  std::vector<double> q = {0.4, -0.3, 0.6, 0.2}, k = {0.5, 0.1, -0.2, 0.7};
  double exact = 0;
  for (int i = 0; i < 4; ++i) exact += q[i] * k[i];
  exact = std::exp(exact);
  for (const char *source : {favor, fourier}) {
    const Kernel &kernel = compiledText("kernel", source, {{"dk", 4}, {"m", 8}}, LINTEL_F64, {form("recurrent")});
    constexpr int draws = 4000;
    double sum = 0, squares = 0;
    for (int draw = 0; draw < draws; ++draw) {
      BoundArrays arrays = kernel.arrays(
          list(filled("q", {1, 1, 1, 4}, q, LINTEL_F64), filled("k", {1, 1, 1, 4}, k, LINTEL_F64),
               filled("v", {1, 1, 1}, {1}, LINTEL_F64), normal("omega", {8, 4}, 1, 5000 + draw, LINTEL_F64)));
      double x = toDoubles(kernel.run(arrays, form("recurrent")).out)[0];
      sum += x, squares += x * x;
    }
    double mean = sum / draws, deviation = std::sqrt((squares / draws - mean * mean) / draws);
    EXPECT_NEAR(mean, exact, 4 * deviation);
    EXPECT_LT(deviation, 0.02 * exact); // so that the line above says something
  }
}

TEST(Seeds, ReluFeaturesWithAZeroDenominator) {
  // No key has a positive element up to step 2: 0 / (0 + 1e-6) with the shipped constant, 0 / 0 without.
  const char *const bare = R"(attention bare_relu {
  token q[dk], k[dk], v[dv]
  feature(x) = relu(x)
  normalize
})";
  Dimensions sizes = {{"dk", 2}, {"dv", 1}};
  double nan = std::nan("");
  const Kernel &kept = compiled("relu", sizes), &plain = compiledText("bare_relu", bare, sizes);
  auto arrays = [&](const Kernel &kernel) {
    return kernel.arrays(list(filled("q", {1, 4, 1, 2}, {1, 2}),
                              filled("k", {1, 4, 1, 2}, {-1, 0, -2, -1, 1, 0, -1, -1}),
                              filled("v", {1, 4, 1, 1}, {1, 2, 3, 4})));
  };
  for (const FormRequest &variant : kept.variants())
    EXPECT_TRUE(near(kept.run(arrays(kept), variant).out, {0, 0, 3 / (1 + 1e-6), 3 / (1 + 1e-6)}, 3e-7))
        << text(variant);
  for (const FormRequest &variant : plain.variants())
    EXPECT_TRUE(near(plain.run(arrays(plain), variant).out, {nan, nan, 3, 3}, 3e-7)) << text(variant);
}

TEST(Seeds, StateAgainstAKeyValueCache) {
  auto file = llvm::cantFail(SpecFile::parse("attention a { token q[dk], k[dk], v[dv] }", "a.attn"));
  Explanation explanation =
      llvm::cantFail(explainOperator(*file, file->operators().front(), {{"dk", 128}, {"dv", 128}}, 4096));
  EXPECT_EQ(explanation.stateNumbers, 16384);
  EXPECT_EQ(explanation.cacheNumbers, 1048576);
}

} // namespace

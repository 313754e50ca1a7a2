// Exponentials far outside the range of floats whose quotients are not: a running maximum must carry them.
#include "Kernels.h"

using namespace lintel;
using namespace lintel::test;

namespace {

/// rwkv4 with the sums in logarithms: exact for any exponents.
std::vector<double> rwkv4(const std::vector<double> &k, const std::vector<double> &v, double w, double u) {
  std::vector<double> result;
  for (size_t t = 0; t < k.size(); ++t) {
    double most = u + k[t];
    for (size_t j = 0; j < t; ++j) most = std::max(most, k[j] - w * static_cast<double>(t - 1 - j));
    double top = 0, bottom = 0;
    for (size_t j = 0; j <= t; ++j) {
      double exponent = j == t ? u + k[t] : k[j] - w * static_cast<double>(t - 1 - j);
      double weight = std::exp(exponent - most);
      top += weight * v[j], bottom += weight;
    }
    result.push_back(top / bottom);
  }
  return result;
}

TEST(Stability, Rwkv4WithHugeKeys) {
  std::vector<double> v;
  for (int t = 0; t < 21; ++t) v.push_back(std::cos(t) + 0.1 * t);
  auto repeat = [](std::vector<double> pattern) {
    std::vector<double> k;
    for (size_t t = 0; t < 21; ++t) k.push_back(pattern[t % pattern.size()]);
    return k;
  };
  for (lintel_dtype dtype : {LINTEL_F32, LINTEL_F64}) {
    const Kernel &kernel = compiled("rwkv4", {}, dtype);
    for (const std::vector<double> &pattern :
         std::vector<std::vector<double>>{{80}, {300}, {-1000}, {1000}, {0, 300, -1000, 80}, {-1000, -999, 700}}) {
      std::vector<double> k = repeat(pattern);
      for (auto [w, u] : {std::pair{0.5, 0.25}, {0.0, 0.0}, {2.0, -3.0}}) {
        BoundArrays arrays = kernel.arrays(list(filled("k", {1, 21, 1}, k, dtype), filled("v", {1, 21, 1}, v, dtype),
                                                filled("w", {1}, {w}, dtype), filled("u", {1}, {u}, dtype)));
        for (const FormRequest &variant : kernel.variants())
          EXPECT_TRUE(near(kernel.run(arrays, variant).out, rwkv4(k, v, w, u), dtype == LINTEL_F32 ? 2e-5 : 1e-12))
              << text(variant) << " k=" << pattern[0] << " w=" << w << " u=" << u;
      }
    }
  }
}

// The channels as one vector: each keeps an exponent of its own, however far apart they are.
TEST(Stability, Rwkv4AsOneVector) {
  constexpr int64_t steps = 21, d = 5;
  const double close[d] = {0, 90, -200, 0.5, 3}, far[d] = {1e4, -1e4, 300, 0, -5000};
  for (lintel_dtype dtype : {LINTEL_F32, LINTEL_F64}) {
    const Kernel &kernel = compiled("rwkv4_channels", {{"d", d}}, dtype);
    ASSERT_EQ(kernel.kernel()->num_exponents, 1u);
    EXPECT_EQ(kernel.kernel()->exponents[0].dim[0], d);
    for (const double *offsets : {close, far})
      for (auto [w, u] : {std::pair{0.5, 0.25}, {0.0, 0.0}, {2.0, -3.0}}) {
        std::vector<double> k, v, want(steps * d);
        for (int64_t t = 0; t < steps; ++t)
          for (int64_t c = 0; c < d; ++c) {
            k.push_back(offsets[c] * (t % 7 < 4 ? 1 : -1) + 0.25 * static_cast<double>((3 * t + c) % 11));
            v.push_back(static_cast<float>(std::cos(t + 2.0 * c) + 0.1 * t));
          }
        for (int64_t c = 0; c < d; ++c) {
          std::vector<double> ownK, ownV;
          for (int64_t t = 0; t < steps; ++t) ownK.push_back(k[t * d + c]), ownV.push_back(v[t * d + c]);
          std::vector<double> own = rwkv4(ownK, ownV, w, u);
          for (int64_t t = 0; t < steps; ++t) want[t * d + c] = own[t];
        }
        BoundArrays arrays =
            kernel.arrays(list(filled("k", {1, steps, 1, d}, k, dtype), filled("v", {1, steps, 1, d}, v, dtype),
                               filled("w", {1, d}, {w}, dtype), filled("u", {1, d}, {u}, dtype)));
        for (const FormRequest &variant : kernel.variants())
          EXPECT_TRUE(near(kernel.run(arrays, variant).out, want, dtype == LINTEL_F32 ? 2e-5 : 1e-12))
              << text(variant) << " k=" << offsets[0] << " w=" << w << " u=" << u;
      }
  }
}

TEST(Stability, Rwkv4StatesAreTheMathematicalOnes) {
  const Kernel &kernel = compiled("rwkv4", {});
  auto run = [&](double k, const FormRequest &variant) {
    return kernel.run(kernel.arrays(list(filled("k", {1, 3, 1}, {k}), filled("v", {1, 3, 1}, {2}),
                                         filled("w", {1}, {0}), filled("u", {1}, {0}))),
                      variant);
  };
  for (const FormRequest &variant : kernel.variants()) {
    RunResult small = run(3, variant), large = run(300, variant), tiny = run(-1000, variant);
    EXPECT_TRUE(near(small.states[0], {6 * std::exp(3.0)}, 1e-6)) << text(variant);
    EXPECT_TRUE(near(small.states[1], {3 * std::exp(3.0)}, 1e-6)) << text(variant);
    EXPECT_TRUE(near(large.states[1], {infinity}, 0)) << text(variant); // e^300 is above f32's range
    EXPECT_TRUE(near(tiny.states[1], {0}, 0)) << text(variant);
  }
}

/// Normalised positive features, summed in logarithms.
std::vector<double> favor(const BoundArrays &arrays, int64_t dk, int64_t dv, int64_t m) {
  std::vector<double> q = toDoubles(arrays.inputs[0]), k = toDoubles(arrays.inputs[1]), v = toDoubles(arrays.inputs[2]),
                      omega = toDoubles(arrays.inputs[3]), result;
  auto exponent = [&](const std::vector<double> &x, int64_t t, int64_t r) {
    double s = 0, n = 0, root = std::pow(static_cast<double>(dk), -0.25);
    for (int64_t c = 0; c < dk; ++c) {
      s += omega[r * dk + c] * x[t * dk + c] * root;
      n += x[t * dk + c] * x[t * dk + c];
    }
    return s - n / std::sqrt(static_cast<double>(dk)) / 2;
  };
  for (int64_t t = 0; t < arrays.steps; ++t) {
    std::vector<double> weights;
    for (int64_t j = 0; j <= t; ++j)
      for (int64_t r = 0; r < m; ++r) weights.push_back(exponent(q, t, r) + exponent(k, j, r));
    double most = *std::max_element(weights.begin(), weights.end()), bottom = 0;
    for (double &w : weights) bottom += w = std::exp(w - most);
    for (int64_t e = 0; e < dv; ++e) {
      double top = 0;
      for (int64_t j = 0; j <= t; ++j)
        for (int64_t r = 0; r < m; ++r) top += weights[j * m + r] * v[j * dv + e];
      result.push_back(top / bottom);
    }
  }
  return result;
}

TEST(Stability, FavorWithLargeKeys) {
  constexpr int64_t steps = 21, dk = 4, dv = 3, m = 8;
  const Kernel &kernel = compiled("favor", {{"dk", dk}, {"dv", dv}, {"m", m}});
  for (double scale : {1.0, 8.0, 30.0}) { // at 30 exponents reach -1500
    BoundArrays arrays =
        kernel.arrays(list(normal("q", {1, steps, 1, dk}, scale, 1), normal("k", {1, steps, 1, dk}, scale, 2),
                           normal("v", {1, steps, 1, dv}, 1, 3), normal("omega", {m, dk}, 1, 4)));
    std::vector<double> want = favor(arrays, dk, dv, m);
    // An exponent of size x is rounded by eps x / 2, and so is the logarithm of its weight.
    double tolerance = 4 * 0x1p-24 * (16 + 4 * scale * scale);
    for (const FormRequest &variant : kernel.variants())
      EXPECT_TRUE(near(kernel.run(arrays, variant).out, want, tolerance)) << text(variant) << " scale " << scale;
  }
}

TEST(Stability, SoftmaxWithLargeScores) {
  Dimensions sizes = {{"dk", 1}, {"dv", 1}};
  for (const char *name : {"softmax", "window"}) {
    const Kernel &kernel = compiled(name, sizes);
    for (double k : {1000.0, -1000.0}) {
      // Scores k, k + 1, k, ...: the weights are 1 : e whatever k is.
      std::vector<double> keys, values, want;
      double top = 0, bottom = 0;
      for (int t = 0; t < 21; ++t) {
        keys.push_back(k + t % 2), values.push_back(t % 3);
        double weight = t % 2 ? std::exp(1.0) : 1;
        top += weight * values.back(), bottom += weight;
        want.push_back(top / bottom);
      }
      BoundArrays arrays = kernel.arrays(
          list(filled("q", {1, 21, 1, 1}, {1}), filled("k", {1, 21, 1, 1}, keys), filled("v", {1, 21, 1, 1}, values)));
      for (const FormRequest &variant : kernel.variants())
        EXPECT_TRUE(near(kernel.run(arrays, variant).out, want, 1e-6)) << name << " " << text(variant);
    }
  }
}

TEST(Stability, ExponentialInputGates) {
  // mlstm: numerator and denominator grow with exp(i) together.
  const Kernel &kernel = compiled("mlstm", {{"dk", 2}, {"dv", 1}});
  for (double gate : {100.0, 300.0}) {
    BoundArrays arrays = kernel.arrays(list(filled("q", {1, 21, 1, 2}, {1}), filled("k", {1, 21, 1, 2}, {1}),
                                            filled("v", {1, 21, 1, 1}, {1, 2, 3}), filled("i", {1, 21, 1}, {gate}),
                                            filled("f", {1, 21, 1}, {0})));
    std::vector<double> want;
    double top = 0, bottom = 0;
    for (int t = 0; t < 21; ++t) {
      top = top / 2 + t % 3 + 1, bottom = bottom / 2 + 1;
      want.push_back(top / bottom);
    }
    for (const FormRequest &variant : kernel.variants())
      EXPECT_TRUE(near(kernel.run(arrays, variant).out, want, 2e-5)) << text(variant) << " i=" << gate;
  }
}

// An angle of ten million steps' length has no digits behind the point in f32, and an exponent's error is a factor.
TEST(Stability, FarPositions) {
  const Kernel &kernel = compiledText("far", R"(
attention far {
  token q[n], k[n], v[m]
  state S[n, m]
  let angle = position * 0.7
  S = S + outer(k * cos(angle), v)
  out = (q * cos(angle + 0.5)) @ S + exp(-0.001 * (position - 10000000)) * v
})",
                                      {{"n", 4}, {"m", 3}});
  RandomRequest request;
  request.steps = 37, request.heads = 2, request.initial = true;
  BoundArrays arrays = kernel.random(request);
  arrays.position = 10000000;
  expectReference(kernel, arrays);
}

} // namespace

// Normalisers: what they sum over, that they travel with the state, and what a zero denominator gives.
#include "Kernels.h"
#include "compiler/driver/Explanation.h"

using namespace lintel;
using namespace lintel::test;

namespace {

const char *const plainText = "attention plain {\n  token q[dk], k[dk], v[dv]\n  normalize\n}";
const char *const scaledText = "attention scaled {\n  token q[dk], k[dk], v[dv]\n  scale 0.3\n  normalize\n}";
const Dimensions one = {{"dk", 1}, {"dv", 1}};

BoundArrays bind(const Kernel &kernel, llvm::ArrayRef<int64_t> shape, std::vector<double> q, std::vector<double> k,
                 std::vector<double> v) {
  lintel_dtype t = kernel.dtype();
  return kernel.arrays(list(filled("q", shape, std::move(q), t), filled("k", shape, std::move(k), t),
                            filled("v", shape, std::move(v), t)));
}

TEST(Normaliser, SumsOverTimeAndNotOverHeads) {
  for (const char *name : {"elu", "softmax"}) {
    const Kernel &kernel = compiled(name, one);
    for (const FormRequest &variant : kernel.variants())
      EXPECT_TRUE(near(kernel.run(bind(kernel, {1, 3, 2, 1}, {0.5}, {1, 100}, {1}), variant).out,
                       std::vector<double>(6, 1.0), 2e-7))
          << name << " " << text(variant);
  }
}

/// Features of e^-100 are no numbers of f32; the ratio of their sums is.
TEST(Normaliser, FeaturesOfTheQueryMayVanish) {
  const Kernel &kernel = compiled("elu", {{"dk", 5}, {"dv", 3}});
  for (double far : {-80.0, -100.0, -600.0}) {
    NamedArray q = normal("q", {1, 9, 2, 5}, 1, 1);
    for (float &x : llvm::MutableArrayRef(q.array.dataAs<float>(), 90)) x += static_cast<float>(far);
    for (int c = 0; c < 5; ++c) q.array.dataAs<float>()[c] = 0.5f; // one row of the usual size
    BoundArrays arrays =
        kernel.arrays(list(std::move(q), normal("k", {1, 9, 2, 5}, 1, 2), normal("v", {1, 9, 2, 3}, 1, 3)));
    expectReference(kernel, arrays);
  }
}

TEST(Normaliser, TravelsWithTheState) {
  const Kernel &kernel = compiled("elu", one); // elu(0) + 1 = 1
  BoundArrays whole = bind(kernel, {1, 4, 1, 1}, {0}, {0}, {1, 2, 3, 4});
  for (const FormRequest &variant : kernel.variants()) {
    EXPECT_TRUE(near(kernel.run(whole, variant).out, {1, 1.5, 2, 2.5}, 2e-7)) << text(variant);
    RunResult first = kernel.run(llvm::cantFail(cutArrays(kernel.op(), whole, 0, 2, {})), variant);
    BoundArrays rest = llvm::cantFail(cutArrays(kernel.op(), whole, 2, 4, std::move(first.states)));
    EXPECT_TRUE(near(first.out, {1, 1.5}, 2e-7)) << text(variant);
    EXPECT_TRUE(near(kernel.run(rest, variant).out, {2, 2.5}, 2e-7)) << text(variant);
  }
}

TEST(Normaliser, CancelsTheScale) {
  Dimensions sizes = {{"dk", 4}, {"dv", 3}};
  const Kernel &plain = compiledText("plain", plainText, sizes);
  const Kernel &scaled = compiledText("scaled", scaledText, sizes);
  ASSERT_EQ(plain.variants().size(), scaled.variants().size());
  RandomRequest request;
  request.steps = 21;
  BoundArrays arrays = plain.random(request);
  for (int input : {0, 1})
    for (int64_t i = 0; i < arrays.inputs[input].elements(); ++i) {
      float &x = arrays.inputs[input].dataAs<float>()[i];
      x = std::fabs(x) + 0.1f;
    }
  for (const FormRequest &variant : plain.variants())
    EXPECT_TRUE(near(scaled.run(arrays, variant).out, toDoubles(plain.run(arrays, variant).out), 1e-6))
        << text(variant);
}

TEST(Normaliser, IsTheSpecsInEveryForm) {
  std::vector<double> counts;
  for (int t = 1; t <= 21; ++t) counts.push_back(t);
  const Kernel &without = compiled("identity", one), &with = compiledText("plain", plainText, one);
  for (const FormRequest &variant : without.variants())
    EXPECT_TRUE(near(without.run(bind(without, {1, 21, 1, 1}, {1}, {1}, {1}), variant).out, counts, 0))
        << text(variant);
  for (const FormRequest &variant : with.variants())
    EXPECT_TRUE(near(with.run(bind(with, {1, 21, 1, 1}, {1}, {1}, {1}), variant).out, std::vector<double>(21, 1.0), 0))
        << text(variant);
}

TEST(Normaliser, AZeroDenominatorGivesWhatTheMathematicsGives) {
  double nan = std::nan("");
  for (lintel_dtype dtype : {LINTEL_F32, LINTEL_F16}) {
    const Kernel &kernel = compiledText("plain", plainText, one, dtype);
    for (const FormRequest &variant : kernel.variants()) {
      auto run = [&](std::vector<double> k, std::vector<double> v, double q = 1) {
        return kernel.run(bind(kernel, {1, 2, 1, 1}, {q}, std::move(k), std::move(v)), variant).out;
      };
      EXPECT_TRUE(near(run({1, -1}, {1, 0}), {1, infinity}, 0)) << text(variant);
      EXPECT_TRUE(near(run({1, -1}, {-1, 0}), {-1, -infinity}, 0)) << text(variant);
      EXPECT_TRUE(near(run({1, -1}, {1, 1}), {1, nan}, 0)) << text(variant);
      EXPECT_TRUE(near(run({0, 0}, {1, 1}), {nan, nan}, 0)) << text(variant);
      EXPECT_TRUE(near(run({1, -3}, {1, 0}), {1, -0.5}, 0)) << text(variant); // a negative one is no special case
      EXPECT_TRUE(near(run({1, 1}, {1, 3}, 0), {nan, nan}, 0)) << text(variant);
    }
  }
}

TEST(Normaliser, ExplainWarnsWhereTheDenominatorMayVanish) {
  auto warnings = [](const Kernel &kernel) {
    return llvm::cantFail(explainOperator(kernel.file(), kernel.op(), kernel.dimensions(), 100)).warnings.size();
  };
  EXPECT_EQ(warnings(compiledText("plain", plainText, one)), 1u);
  EXPECT_EQ(warnings(compiled("elu", one)), 0u);
}

TEST(Normaliser, LongSumsOfHalfKeysDoNotOverflow) {
  const Kernel &kernel = compiledText("plain", plainText, one, LINTEL_F16);
  BoundArrays arrays = bind(kernel, {1, 7000, 1, 1}, {1}, {10}, {1});
  for (const FormRequest &variant : kernel.variants()) {
    RunResult result = kernel.run(arrays, variant);
    EXPECT_TRUE(near(result.out, std::vector<double>(7000, 1.0), 0)) << text(variant);
    for (const NpyArray &state : result.states) EXPECT_TRUE(near(state, {70000}, 0)) << text(variant);
  }
}

} // namespace

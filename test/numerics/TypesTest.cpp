// Element types: every operator class in each, against the interpreter in float64 on the same rounded inputs. The bound
// is Compare.h's: sums in f32 (f64 for f64), one rounding on store.
#include "Kernels.h"

using namespace lintel;
using namespace lintel::test;

namespace {

struct TypeCase {
  const char *name;
  Dimensions dimensions;
};

class Types : public testing::TestWithParam<TypeCase> {};

TEST_P(Types, AgreeWithTheInterpreter) {
  const TypeCase &c = GetParam();
  for (lintel_dtype dtype : {LINTEL_F64, LINTEL_F32, LINTEL_F16, LINTEL_BF16}) {
    // Rows are loaded and stored by the same code in every form; one type has them all.
    std::vector<FormRequest> forms = allForms(c.name, c.dimensions, {8});
    if (dtype != LINTEL_F32 && forms.size() > 2)
      llvm::erase_if(forms, [](const FormRequest &f) { return f.form == "parallel"; });
    const Kernel &kernel = compiled(c.name, c.dimensions, dtype, forms);
    RandomRequest request;
    request.steps = 21, request.heads = 2, request.initial = kernel.op().splits();
    BoundArrays arrays = kernel.random(request);
    for (const FormRequest &variant : kernel.variants()) {
      RunResult result = kernel.run(arrays, variant);
      EXPECT_EQ(result.out.dtype, dtype);
      for (const NpyArray &state : result.states) EXPECT_EQ(state.dtype, dtype == LINTEL_F64 ? LINTEL_F64 : LINTEL_F32);
    }
    expectReference(kernel, arrays);
  }
}

/// Neighbours of different types; `last` for the output.
ElementTypes cycled(const OperatorInfo &op, std::vector<lintel_dtype> cycle, lintel_dtype last) {
  TypeRequest request{last, {}};
  for (auto [i, input] : llvm::enumerate(op.inputs)) request.named.emplace_back(input.name, cycle[i % cycle.size()]);
  return bindTypes(op, request);
}

/// The same numbers, all arrays of one type.
BoundArrays widened(const Kernel &kernel, const BoundArrays &arrays, lintel_dtype type) {
  BoundArrays result = llvm::cantFail(cutArrays(kernel.op(), arrays, 0, arrays.steps, {}));
  result.types = type;
  for (NpyArray &array : result.inputs) array = llvm::cantFail(array.convertedTo(type));
  for (auto &state : result.initial)
    if (state) state = llvm::cantFail(state->convertedTo(result.types.state(kernel.op())));
  return result;
}

TEST_P(Types, AMixIsTheSameNumbersStoredOtherwise) {
  const TypeCase &c = GetParam();
  std::vector<FormRequest> forms = allForms(c.name, c.dimensions, {8});
  const Kernel &plain = compiled(c.name, c.dimensions, LINTEL_F32, forms);
  auto random = [](const Kernel &kernel) {
    RandomRequest request;
    request.steps = 21, request.heads = 2, request.initial = kernel.op().splits();
    return kernel.random(request);
  };
  // Computed in f32: not a bit differs from arrays that are all f32, but for the output's own rounding.
  for (lintel_dtype out : {LINTEL_F32, LINTEL_BF16}) {
    ElementTypes types = cycled(plain.op(), {LINTEL_BF16, LINTEL_F32, LINTEL_F16}, out);
    const Kernel &mixed = compiled(c.name, c.dimensions, types, forms);
    BoundArrays arrays = random(mixed), wide = widened(plain, arrays, LINTEL_F32);
    for (const FormRequest &variant : forms) {
      RunResult got = mixed.run(arrays, variant), want = plain.run(wide, variant);
      EXPECT_EQ(got.out.dtype, out);
      want.out = llvm::cantFail(want.out.convertedTo(out));
      EXPECT_TRUE(sameBits(got, want)) << text(variant) << ", " << types.text();
    }
    expectReference(mixed, arrays);
  }
  // One f64 array, be it the output, and all is computed in f64, states too.
  std::vector<FormRequest> two(forms.begin(), forms.begin() + std::min<size_t>(forms.size(), 2));
  const Kernel &exact = compiled(c.name, c.dimensions, LINTEL_F64, two);
  for (auto [cycle, out] : {std::pair{std::vector{LINTEL_F32, LINTEL_BF16}, LINTEL_F64},
                            {std::vector{LINTEL_BF16, LINTEL_F64, LINTEL_F32}, LINTEL_F16}}) {
    ElementTypes types = cycled(plain.op(), cycle, out);
    const Kernel &mixed = compiled(c.name, c.dimensions, types, two);
    BoundArrays arrays = random(mixed), wide = widened(exact, arrays, LINTEL_F64);
    for (const FormRequest &variant : two) {
      RunResult got = mixed.run(arrays, variant), want = exact.run(wide, variant);
      for (const NpyArray &state : got.states) EXPECT_EQ(state.dtype, LINTEL_F64);
      want.out = llvm::cantFail(want.out.convertedTo(out));
      EXPECT_TRUE(sameBits(got, want)) << text(variant) << ", " << types.text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, Types,
                         testing::Values(TypeCase{"elu", {{"dk", 8}, {"dv", 5}}},
                                         TypeCase{"gla", {{"dk", 8}, {"dv", 5}}},
                                         TypeCase{"gated_delta", {{"dk", 8}, {"dv", 5}}},
                                         TypeCase{"softmax", {{"dk", 8}, {"dv", 5}}}, TypeCase{"rwkv4", {}},
                                         TypeCase{"favor", {{"dk", 4}, {"dv", 5}, {"m", 8}}}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Halves, GoThroughF32OnTheirWayToEachOther) {
  const Kernel &kernel = compiledText("copy", "attention copy {\n token x[n]\n state S[n]\n S = x\n out = x\n}",
                                      {{"n", 3}}, ElementTypes(LINTEL_F16, {{"out", LINTEL_BF16}}));
  BoundArrays arrays = kernel.arrays(list(filled("x", {1, 2, 1, 3}, {1 + 0x1p-10, 65504, -0x1p-24}, LINTEL_F16)));
  for (const FormRequest &variant : kernel.variants())
    EXPECT_TRUE(near(kernel.run(arrays, variant).out, {1, 65536, -0x1p-24, 1, 65536, -0x1p-24}, 0)) << text(variant);
}

TEST(Halves, AreRoundedOnceOnStore) {
  // 1 + 2^-12 is exact in f32 and ties away from nothing in halves: sums first, rounding after.
  for (lintel_dtype dtype : {LINTEL_F16, LINTEL_BF16}) {
    const Kernel &kernel =
        compiled("identity", {{"dk", 2}, {"dv", 1}}, dtype, allForms("identity", {{"dk", 2}, {"dv", 1}}, {8}));
    double tiny = dtype == LINTEL_F16 ? 0x1p-11 : 0x1p-8, ulp = 2 * tiny; // of numbers in [1, 2)
    for (auto [x, y, want] : {std::tuple{1.0, tiny, 1.0},
                              {1.0 + ulp, tiny, 1.0 + 2 * ulp},
                              {1.0, ulp, 1.0 + ulp},
                              {-1.0 - ulp, -tiny, -1.0 - 2 * ulp}}) {
      BoundArrays arrays =
          kernel.arrays(list(filled("q", {1, 1, 1, 2}, {1}, dtype), filled("k", {1, 1, 1, 2}, {x, y}, dtype),
                             filled("v", {1, 1, 1, 1}, {1}, dtype)));
      for (const FormRequest &variant : kernel.variants())
        EXPECT_TRUE(near(kernel.run(arrays, variant).out, {want}, 0)) << text(variant) << " " << x << " + " << y;
    }
    // Beyond the largest number of the type.
    if (dtype == LINTEL_F16) {
      BoundArrays arrays =
          kernel.arrays(list(filled("q", {1, 1, 1, 2}, {1}, dtype), filled("k", {1, 1, 1, 2}, {300}, dtype),
                             filled("v", {1, 1, 1, 1}, {300}, dtype)));
      for (const FormRequest &variant : kernel.variants()) {
        RunResult result = kernel.run(arrays, variant);
        EXPECT_TRUE(near(result.out, {infinity}, 0)) << text(variant);
        EXPECT_TRUE(near(result.states[0], {90000, 90000}, 0)) << text(variant);
      }
    }
  }
}

} // namespace

// Products of bf16 pairs (--products bf16): as near as their rounding allows, never beyond a row's end, and nothing
// else on targets without the instruction. The target is one that rounds as AVX-512 BF16 does (Kernels.cpp).
#include "Kernels.h"
#include "codegen/cpu/CpuTarget.h"

using namespace lintel;
using namespace lintel::test;

namespace {

ElementTypes paired(lintel_dtype common) {
  ElementTypes types(common);
  types.products = LINTEL_BF16;
  return types;
}

bool canRun() { return canRunHere(llvm::cantFail(resolveTarget("x86-64-v3-pairs"))); }

struct PairCase {
  const char *name;
  Dimensions dimensions;
};

class Pairs : public testing::TestWithParam<PairCase> {};

const Kernel &inF32(const PairCase &c) {
  return compiled(c.name, c.dimensions, paired(LINTEL_F32),
                  {form("chunkwise", 16), form("recurrent"), form("chunkwise", 5), form("parallel", 4)});
}

TEST_P(Pairs, AreWithinTheBoundOfTheirRounding) {
  if (!canRun()) GTEST_SKIP() << "no AVX2 here";
  const PairCase &c = GetParam();
  for (lintel_dtype dtype : {LINTEL_F32, LINTEL_BF16}) {
    const Kernel &kernel =
        dtype == LINTEL_F32 ? inF32(c) : compiled(c.name, c.dimensions, paired(dtype), {form("chunkwise", 16)});
    for (int64_t steps : {0, 1, 16, 37}) {
      RandomRequest request;
      request.steps = steps, request.heads = 2, request.initial = kernel.op().splits();
      expectReference(kernel, kernel.random(request));
    }
  }
}

TEST_P(Pairs, AreRoundedIndeed) {
  if (!canRun()) GTEST_SKIP() << "no AVX2 here";
  const PairCase &c = GetParam();
  const Kernel &kernel = inF32(c);
  const Kernel &full = compiled(c.name, c.dimensions, LINTEL_F32, {form("chunkwise", 16)});
  RandomRequest request;
  request.steps = 37;
  BoundArrays arrays = kernel.random(request);
  Reference reference = full.reference(full.random(request)); // the bound of f32
  EXPECT_FALSE(compareResults(kernel.op(), reference, kernel.run(arrays, form("chunkwise", 16))).ok);
}

TEST_P(Pairs, LaterStepsChangeNoBit) {
  if (!canRun()) GTEST_SKIP() << "no AVX2 here";
  const PairCase &c = GetParam();
  const Kernel &kernel = inF32(c);
  RandomRequest request;
  request.steps = 40;
  BoundArrays arrays = kernel.random(request);
  NpyArray before = kernel.run(arrays, form("chunkwise", 16)).out;
  int64_t row = before.elements() / request.steps;
  for (int64_t changed : {17, 18, 23, 31}) { // both halves of a pair, and the chunk's last step
    BoundArrays later = kernel.random(request);
    for (auto [info, array] : llvm::zip(kernel.op().inputs, later.inputs)) {
      if (info.kind != InputKind::Token) continue;
      int64_t each = array.elements() / request.steps;
      for (int64_t n = changed * each; n < array.elements(); ++n) array.dataAs<float>()[n] = std::nanf("");
    }
    NpyArray after = kernel.run(later, form("chunkwise", 16)).out;
    EXPECT_EQ(std::memcmp(before.data(), after.data(), size_t(changed * row) * sizeof(float)), 0) << changed;
    EXPECT_TRUE(std::isnan(after.dataAs<float>()[changed * row])) << changed;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, Pairs,
                         testing::Values(PairCase{"retnet", {{"dk", 16}, {"dv", 32}}},
                                         PairCase{"gla", {{"dk", 7}, {"dv", 5}}},
                                         PairCase{"gated_delta", {{"dk", 9}, {"dv", 19}}},
                                         PairCase{"elu", {{"dk", 33}, {"dv", 16}}}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Pairs, AreLeftAloneWhereTheTargetHasNone) {
  auto file = llvm::cantFail(SpecFile::open(LINTEL_SOURCE_DIR "/examples/specs/retnet.attn"));
  CompileOptions options;
  options.dimensions = {{"dk", 16}, {"dv", 16}};
  options.targets = {"x86-64-v4"};
  auto text = [&] { return llvm::cantFail(emitLevel(*file, file->operators()[0], options, Level::Loops)); };
  auto without = text();
  options.types.products = LINTEL_BF16;
  std::string with = text();
  for (size_t at; (at = with.find("_bf16products")) != std::string::npos;) with.erase(at, 13);
  EXPECT_EQ(without, with);
}

} // namespace

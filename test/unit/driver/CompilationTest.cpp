// Operators compiled in this process against the interpreter.
#include "compiler/driver/Compilation.h"
#include "Support.h"
#include "compiler/driver/Compare.h"
#include "compiler/driver/Execution.h"
#include "lintel/state.h"

using namespace lintel;
using namespace lintel::test;

namespace {

const char *const decayText = "attention decayed {\n token q[dk], k[dk], v[dv], g\n decay exp(g)\n}";

struct Compiled {
  std::unique_ptr<SpecFile> file;
  Dimensions dimensions;
  ElementTypes types;
  CompiledOperator code;
  std::unique_ptr<JitKernel> jit;
  const OperatorInfo &op() const { return file->operators().front(); }
};

Compiled compile(const char *text, Dimensions dimensions, ElementTypes types, FormRequest form = {}) {
  Compiled result;
  result.file = spec(text);
  result.dimensions = dimensions;
  CompileOptions options;
  options.dimensions = dimensions, options.types = types, options.form = form;
  result.types = types;
  options.decode = form.form == "auto";
  result.code = llvm::cantFail(compileOperator(*result.file, result.op(), options));
  result.jit = llvm::cantFail(loadOperator(result.code));
  return result;
}

void expectRight(const Compiled &c, RandomRequest shape, std::optional<std::vector<int64_t>> lengths = std::nullopt) {
  shape.dimensions = c.dimensions, shape.types = c.types;
  shape.lengths = lengths;
  BoundArrays arrays = llvm::cantFail(randomArrays(c.op(), inputUses(c.op().spec), shape));
  Reference reference = llvm::cantFail(makeReference(c.op().spec, c.op(), arrays));
  for (int threads : {1, 2}) {
    ExecuteOptions execute;
    execute.threads = threads, execute.poison = true;
    RunResult result = llvm::cantFail(executeKernel(c.jit->kernel(), c.op(), arrays, execute));
    Difference difference = compareResults(c.op(), reference, result);
    EXPECT_TRUE(difference.ok) << difference.failure;
  }
}

RandomRequest shape(int64_t batch, int64_t steps, int64_t heads, int64_t groups = 0, bool initial = false) {
  RandomRequest r;
  r.batch = batch, r.steps = steps, r.heads = heads, r.groups = groups, r.initial = initial;
  return r;
}

TEST(Compilation, EveryDtypeGroupedHeadsAndLengths) {
  for (lintel_dtype dtype : {LINTEL_F32, LINTEL_F64, LINTEL_F16, LINTEL_BF16}) {
    Compiled c = compile(decayText, {{"dk", 6}, {"dv", 5}}, dtype);
    expectRight(c, shape(2, 37, 4, 2, true));
    expectRight(c, shape(1, 0, 2));
    expectRight(c, shape(0, 3, 2));
    // randomArrays makes one initial state a batch entry, a pack wants one a sequence: it starts at zero here.
    expectRight(c, shape(1, 21, 2, 0, true), std::vector<int64_t>{0, 3, 0, 17, 1});
  }
}

TEST(Compilation, ArtifactsHoldTheChosenFormAndOneForDecoding) {
  Compiled c = compile(decayText, {{"dk", 32}, {"dv", 32}}, LINTEL_F32);
  const KernelDescription &d = c.code.description;
  ASSERT_EQ(d.variants.size(), 2u);
  EXPECT_EQ(d.variants[0].form, "chunkwise");
  EXPECT_EQ(d.variants[1].form, "recurrent");
  EXPECT_EQ(d.symbol, "lintel_decayed_dk32_dv32_f32");
  EXPECT_EQ(d.specHash.size(), 64u);
  EXPECT_EQ(d.inputs[3].dims.size(), 0u);
  EXPECT_EQ(d.states[0].dimNames, (std::vector<std::string>{"dk", "dv"}));
  // What was asked for alone is alone.
  Compiled one = compile(decayText, {{"dk", 4}, {"dv", 4}}, LINTEL_F32, {"recurrent", 0});
  EXPECT_EQ(one.code.description.variants.size(), 1u);
}

TEST(Compilation, EveryArrayHasItsType) {
  ElementTypes types(LINTEL_BF16, {{"g", LINTEL_F32}, {"out", LINTEL_F16}});
  Compiled c = compile(decayText, {{"dk", 6}, {"dv", 5}}, types);
  const lintel_kernel *kernel = c.jit->kernel();
  EXPECT_EQ(c.code.description.symbol, "lintel_decayed_dk6_dv5_bf16_g_f32_out_f16");
  EXPECT_EQ(kernel->dtype, LINTEL_BF16);
  EXPECT_EQ(kernel->inputs[2].dtype, LINTEL_BF16);
  EXPECT_EQ(kernel->inputs[3].dtype, LINTEL_F32);
  EXPECT_EQ(kernel->states[0].dtype, LINTEL_F32);
  EXPECT_EQ(kernel->out->dtype, LINTEL_F16);
  expectRight(c, shape(2, 37, 4, 2, true));
  // The check names the array, both types.
  RandomRequest wrong = shape(1, 3, 2);
  wrong.dimensions = c.dimensions, wrong.types = LINTEL_BF16;
  BoundArrays arrays = llvm::cantFail(randomArrays(c.op(), inputUses(c.op().spec), wrong));
  EXPECT_EQ(messageOf(executeKernel(kernel, c.op(), arrays, {})), "input 'g': expected f32 elements, found bf16");
  wrong.types = types, wrong.types.named.pop_back();
  arrays = llvm::cantFail(randomArrays(c.op(), inputUses(c.op().spec), wrong));
  EXPECT_EQ(messageOf(executeKernel(kernel, c.op(), arrays, {})), "output 'out': expected f16 elements, found bf16");
}

TEST(Compilation, HashesTellSpecsDimensionsAndTypesApart) {
  auto file = spec(decayText), same = spec("// again\n" + std::string(decayText)), other = spec(identityText);
  Dimensions small{{"dk", 4}, {"dv", 4}}, large{{"dk", 4}, {"dv", 8}};
  auto hash = [](const std::unique_ptr<SpecFile> &f, const Dimensions &d, const ElementTypes &t) {
    return specHash(f->operators().front(), d, t);
  };
  EXPECT_EQ(hash(file, small, LINTEL_F32), hash(same, small, LINTEL_F32));
  EXPECT_NE(hash(file, small, LINTEL_F32), hash(other, small, LINTEL_F32));
  EXPECT_NE(hash(file, small, LINTEL_F32), hash(file, large, LINTEL_F32));
  EXPECT_NE(hash(file, small, LINTEL_F32), hash(file, small, LINTEL_F64));
  // A combination is the same however it is written.
  ElementTypes mixed(LINTEL_BF16, {{"g", LINTEL_F32}}), another(LINTEL_BF16, {{"q", LINTEL_F32}});
  ElementTypes again(LINTEL_F32, {{"q", LINTEL_BF16}, {"k", LINTEL_BF16}, {"v", LINTEL_BF16}, {"out", LINTEL_BF16}});
  EXPECT_EQ(hash(file, small, mixed), hash(file, small, again));
  EXPECT_NE(hash(file, small, mixed), hash(file, small, another));
  EXPECT_NE(hash(file, small, mixed), hash(file, small, LINTEL_BF16));
}

TEST(Compilation, RefusalsSayWhy) {
  auto file =
      spec("attention d {\n token q[n], k[n], v[n]\n state S[n, n]\n S = S + outer(k, v)\n out = q @ tanh(S)\n}");
  CompileOptions options;
  options.dimensions = {{"n", 4}};
  options.form = {"parallel", 0};
  std::string why = messageOf(compileOperator(*file, file->operators().front(), options));
  EXPECT_PRED2(contains, why,
               "test.attn:1:11: error: operator 'd' has no parallel form: the output uses a whole state");
  options.form = {};
  options.targets = {"native", "aarch64"};
  EXPECT_PRED2(contains, messageOf(compileOperator(*file, file->operators().front(), options)), "one architecture");
}

TEST(Compilation, WeightsThatDoNotFactorHaveNoState) {
  Compiled c = compile("attention plain {\n token q[dk], k[dk], v[dv]\n weights(q, k) = exp(q . k)\n causal\n}",
                       {{"dk", 4}, {"dv", 4}}, LINTEL_F32);
  EXPECT_TRUE(c.code.description.causal);
  lintel_error error;
  EXPECT_EQ(lintel_state_create(c.jit->kernel(), 1, 1, nullptr, &error), nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_NO_STATE);
  EXPECT_PRED2(contains, error.message, "'plain' has no state of constant size");
}

TEST(Compilation, TheRuntimeRefusesWhatDoesNotFit) {
  Compiled c = compile(decayText, {{"dk", 4}, {"dv", 4}}, LINTEL_F32);
  RandomRequest wrong = shape(1, 3, 2);
  wrong.dimensions = {{"dk", 5}, {"dv", 4}};
  BoundArrays arrays = llvm::cantFail(randomArrays(c.op(), inputUses(c.op().spec), wrong));
  EXPECT_PRED2(contains, messageOf(executeKernel(c.jit->kernel(), c.op(), arrays, {})), "'q'");
  wrong.dimensions = {{"dk", 4}, {"dv", 4}};
  arrays = llvm::cantFail(randomArrays(c.op(), inputUses(c.op().spec), wrong));
  ExecuteOptions execute;
  execute.form = "parallel";
  EXPECT_PRED2(contains, messageOf(executeKernel(c.jit->kernel(), c.op(), arrays, execute)), "parallel");
}

TEST(Compare, FindsOneWrongElement) {
  auto file = spec(identityText);
  const OperatorInfo &op = file->operators().front();
  RandomRequest r = shape(1, 9, 2);
  r.dimensions = {{"dk", 4}, {"dv", 3}};
  BoundArrays arrays = llvm::cantFail(randomArrays(op, inputUses(op.spec), r));
  Reference reference = llvm::cantFail(makeReference(op.spec, op, arrays));
  auto rounded = [&] {
    RunResult result;
    result.out = llvm::cantFail(reference.exact.out.convertedTo(LINTEL_F32));
    result.states.push_back(llvm::cantFail(reference.exact.states[0].convertedTo(LINTEL_F32)));
    return result;
  };
  EXPECT_TRUE(compareResults(op, reference, rounded()).ok);
  RunResult wrong = rounded();
  wrong.out.dataAs<float>()[13] += 1e-3f;
  Difference difference = compareResults(op, reference, wrong);
  EXPECT_FALSE(difference.ok);
  EXPECT_PRED2(contains, difference.failure, "out[b=0, t=2, h=0, e=1] is ");
  wrong = rounded();
  wrong.states[0].dataAs<float>()[0] = NAN;
  EXPECT_PRED2(contains, compareResults(op, reference, wrong).failure, "state S[b=0, h=0, d=0, e=0] is nan, expected ");
}

TEST(Compare, NamesTheFirstElementOfOtherBits) {
  auto file = spec("attention a {\n token q[n], k[n], v[n]\n state S[n, n], z[n], c\n S = S + outer(k, v)\n"
                   " z = z + k\n c = c + 1\n out = q @ S\n}");
  ASSERT_TRUE(file);
  const OperatorInfo &op = file->operators().front();
  auto make = [] {
    RunResult r;
    r.out = array({1, 2, 2, 3}, {1, 2, 3});
    r.states.push_back(array({1, 2, 3, 3}, {4}));
    r.states.push_back(array({1, 2, 3}, {5, NAN}));
    r.states.push_back(array({1, 2}, {0.0}));
    return r;
  };
  RunResult want = make(), got = make();
  EXPECT_EQ(firstOtherBits(op, want, got), std::nullopt);
  got.states[2].dataAs<float>()[1] = -0.0f;
  EXPECT_PRED2(contains, *firstOtherBits(op, want, got), "state c[b=0, h=1] is ");
  got.states[1].dataAs<float>()[4] = 6;
  EXPECT_PRED2(contains, *firstOtherBits(op, want, got), "state z[b=0, h=1, d=1] is 6.0");
  got.states[0].dataAs<float>()[14] = 5;
  EXPECT_PRED2(contains, *firstOtherBits(op, want, got), "state S[b=0, h=1, d=1, e=2] is 5.0");
  got.out.dataAs<float>()[10] = 2.0000002f;
  EXPECT_PRED2(contains, *firstOtherBits(op, want, got),
               "out[b=0, t=1, h=1, e=1] is 2.000000238e+00, expected the same bits as 2.000000000e+00");
}

} // namespace

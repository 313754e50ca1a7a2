// Every example operator through the whole compiler, in every form that it has, against the interpreter.
// uses: examples/specs/*.attn
#include "codegen/cpu/CpuTarget.h"
#include "compiler/analysis/ColumnSplit.h"
#include "compiler/analysis/InputUse.h"
#include "compiler/driver/Compare.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Execution.h"
#include "compiler/driver/RandomArrays.h"
#include "compiler/driver/Reference.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <chrono>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace lintel;

namespace {

std::vector<std::string> specs() {
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(LINTEL_SOURCE_DIR "/examples/specs", error), end; it != end && !error;
       it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".attn") paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

class EverySpec : public testing::TestWithParam<std::string> {};

TEST_P(EverySpec, CompiledEqualsInterpreted) {
  auto file = SpecFile::open(GetParam());
  ASSERT_TRUE(static_cast<bool>(file)) << llvm::toString(file.takeError());
  for (const OperatorInfo &op : (*file)->operators()) {
    Dimensions dimensions;
    // Odd, all different, and none a multiple of a vector.
    const int64_t sizes[] = {7, 5, 9, 6, 11};
    for (auto [i, name] : llvm::enumerate(op.dimensions)) dimensions.push_back({name, sizes[i % 5]});
    unsigned forms = 0;
    for (const char *form : {"recurrent", "chunkwise", "parallel"}) {
      CompileOptions options;
      options.dimensions = dimensions, options.form = {form, form == std::string("parallel") ? 16 : 4, {}, {}},
      options.decode = false, options.cache = llvm::sys::Process::GetEnv("LINTEL_CACHE").value_or("");
      auto compiled = compileOperator(**file, op, options);
      if (!compiled) {
        // A form that does not exist says so; anything else is a failure.
        std::string why = llvm::toString(compiled.takeError());
        EXPECT_NE(why.find("has no " + std::string(form) + " form"), std::string::npos) << op.name << ": " << why;
        continue;
      }
      ++forms;
      auto kernel = loadOperator(*compiled);
      ASSERT_TRUE(static_cast<bool>(kernel)) << llvm::toString(kernel.takeError());
      RandomRequest request;
      request.steps = 19, request.heads = 2, request.dimensions = dimensions, request.initial = op.splits();
      auto arrays = randomArrays(op, inputUses(op.spec), request);
      ASSERT_TRUE(static_cast<bool>(arrays)) << llvm::toString(arrays.takeError());
      auto reference = makeReference(op.spec, op, *arrays);
      ASSERT_TRUE(static_cast<bool>(reference)) << llvm::toString(reference.takeError());
      ExecuteOptions execute;
      execute.poison = true;
      auto result = executeKernel((*kernel)->kernel(), op, *arrays, execute);
      ASSERT_TRUE(static_cast<bool>(result)) << llvm::toString(result.takeError());
      Difference difference = compareResults(op, *reference, *result);
      EXPECT_TRUE(difference.ok) << op.name << " " << form << ": " << difference.failure;
    }
    EXPECT_GT(forms, 0u) << op.name;
  }
}

// With all that may change what an optimiser does: how many vectors there are, and whether there is a loop over them.
TEST_P(EverySpec, PartsGiveTheBitsOfTheWhole) {
  auto file = llvm::cantFail(SpecFile::open(GetParam()));
  for (const OperatorInfo &op : file->operators()) {
    ColumnSplit split = columnSplitOf(op.spec);
    if (!split.whyNot.empty()) continue;
    for (int64_t parts : {2, 4}) {
      CompileOptions options;
      options.parts = {0, parts}; // as many as there are whole vectors for
      const int64_t sizes[] = {7, 5, 9, 6, 11};
      for (auto [i, name] : llvm::enumerate(op.dimensions))
        options.dimensions.push_back({name, name == split.dimension ? 32 : sizes[i % 5]});
      options.cache = llvm::sys::Process::GetEnv("LINTEL_CACHE").value_or("");
      options.decode = false;
      if (parts == 4 && op.splits()) options.form = {"recurrent", 0};
      auto compiled = compileOperator(*file, op, options);
      ASSERT_TRUE(static_cast<bool>(compiled)) << llvm::toString(compiled.takeError());
      const VariantDescription &variant = compiled->description.variants[0];
      if (!compiled->description.notInParts.empty()) {
        EXPECT_NE(compiled->description.notInParts.find("exponent"), std::string::npos);
        continue;
      }
      ASSERT_GT(variant.parts.parts, 1) << op.name;
      EXPECT_LT(variant.parts.cost, 1000) << op.name;
      auto kernel = llvm::cantFail(loadOperator(*compiled));
      for (bool initial : {false, true}) {
        RandomRequest request;
        request.batch = 2, request.steps = 37, request.heads = 2, request.groups = 1;
        request.dimensions = options.dimensions, request.initial = initial && op.splits();
        BoundArrays arrays = llvm::cantFail(randomArrays(op, inputUses(op.spec), request));
        ExecuteOptions execute;
        execute.poison = true, execute.threads = 2, execute.takeExponents = true;
        execute.parts = LINTEL_PARTS_NEVER;
        RunResult whole = llvm::cantFail(executeKernel(kernel->kernel(), op, arrays, execute));
        execute.parts = LINTEL_PARTS_ALWAYS;
        RunResult divided = llvm::cantFail(executeKernel(kernel->kernel(), op, arrays, execute));
        auto other = firstOtherBits(op, whole, divided);
        EXPECT_FALSE(other) << op.name << " " << variant.form << " in " << parts << ": " << *other;
      }
    }
  }
}

// What AVX-512 machines run (16 lanes, 32 registers' tiles), in pairs of AVX2 registers; and what every x86-64 runs.
class OtherTargets : public testing::TestWithParam<std::tuple<const char *, const char *>> {};

TEST_P(OtherTargets, CompiledEqualsInterpreted) {
  auto [name, targetName] = GetParam();
  auto target = llvm::cantFail(resolveTarget(targetName));
  if (!canRunHere(target)) GTEST_SKIP() << "not this machine's processor";
  auto file = llvm::cantFail(SpecFile::open(LINTEL_SOURCE_DIR "/examples/specs/" + std::string(name) + ".attn"));
  const OperatorInfo &op = file->operators().front();
  CompileOptions options;
  options.targets = {targetName};
  const int64_t whole[] = {32, 80, 48}, odd[] = {7, 21, 6}; // whole vectors, and panels of them with a rest; neither
  for (auto [i, dimension] : llvm::enumerate(op.dimensions))
    options.dimensions.push_back({dimension, (target.vectorBits > 128 ? whole : odd)[i % 3]});
  options.cache = llvm::sys::Process::GetEnv("LINTEL_CACHE").value_or("");
  auto kernel = llvm::cantFail(loadOperator(llvm::cantFail(compileOperator(*file, op, options))));
  RandomRequest request;
  request.steps = 37, request.heads = 2, request.dimensions = options.dimensions, request.initial = op.splits();
  BoundArrays arrays = llvm::cantFail(randomArrays(op, inputUses(op.spec), request));
  Reference reference = llvm::cantFail(makeReference(op.spec, op, arrays));
  const lintel_kernel *k = kernel->kernel();
  for (uint32_t v = 0; v < k->num_variants; ++v) {
    ExecuteOptions execute;
    execute.poison = true;
    execute.form = k->variants[v].form, execute.chunk = k->variants[v].chunk;
    RunResult result = llvm::cantFail(executeKernel(k, op, arrays, execute));
    Difference difference = compareResults(op, reference, result);
    EXPECT_TRUE(difference.ok) << k->variants[v].form << ": " << difference.failure;
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, OtherTargets,
                         testing::Combine(testing::Values("retnet", "elu", "gla", "delta", "rwkv7", "delta_product",
                                                          "slots", "favor", "second_order", "softmax"),
                                          testing::Values("x86-64-v3-wide", "x86-64")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == std::string("x86-64") ? "Plainest" : "Wide");
                         });

int64_t elements(const ParameterDescription &p) {
  return std::accumulate(p.dims.begin(), p.dims.end(), int64_t(1), std::multiplies<>());
}

// The bound of docs/abi.md: one state and four chunks' worth for each thread.
TEST_P(EverySpec, ScratchIsAStateAndFourChunks) {
  auto file = llvm::cantFail(SpecFile::open(GetParam()));
  for (const OperatorInfo &op : file->operators()) {
    CompileOptions options;
    for (const std::string &name : op.dimensions) options.dimensions.push_back({name, 64});
    options.cache = llvm::sys::Process::GetEnv("LINTEL_CACHE").value_or("");
    auto compiled = compileOperator(*file, op, options);
    ASSERT_TRUE(static_cast<bool>(compiled)) << llvm::toString(compiled.takeError());
    const KernelDescription &k = compiled->description;
    int64_t states = 0, shared = 0, row = elements(k.out);
    for (const ParameterDescription &p : k.inputs) {
      if (p.kind == LINTEL_TOKEN) row += elements(p);
      else if (p.dims.size() == 2) shared += elements(p);
    }
    for (const ParameterDescription &p : k.states) {
      states += elements(p);
      row += 2 * (p.dims.empty() ? 1 : p.dims.front());
    }
    auto forms = llvm::cantFail(deriveForms(*file, op, options.dimensions));
    bool wide = false;
    for (SpecOp spec : forms->getOps<SpecOp>())
      if (auto precision = spec->getAttrOfType<mlir::StringAttr>("precision")) wide |= precision.getValue() == "f64";
    const int64_t number = wide ? 8 : 4;
    for (const VariantDescription &v : k.variants) {
      int64_t chunk = v.chunk * row + v.chunk * v.chunk, bytes = static_cast<int64_t>(v.scratchBytes);
      int64_t bound = number * (states + 2 * shared + 4 * chunk) + 1024;
      EXPECT_LE(bytes, bound) << op.name << " " << v.form << " at " << v.chunk << ": a state is " << states
                              << " numbers of " << number << " bytes, matrices " << shared << ", a chunk " << chunk;
    }
  }
}

// A library that took seconds before its first result was of no use in a service.
TEST(Artifacts, LoadAndFirstCallTakeUnder50Ms) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("lintel-artifact", folder));
  for (const char *name : {"retnet", "delta_product"}) { // the latter has the largest code
    auto file = llvm::cantFail(SpecFile::open(LINTEL_SOURCE_DIR "/examples/specs/" + std::string(name) + ".attn"));
    const OperatorInfo &op = file->operators().front();
    CompileOptions options;
    options.dimensions = {{"dk", 64}, {"dv", 64}};
    options.cache = llvm::sys::Process::GetEnv("LINTEL_CACHE").value_or("");
    CompiledOperator compiled = llvm::cantFail(compileOperator(*file, op, options));
    llvm::cantFail(writeArtifacts(compiled, folder));
    const std::string &symbol = compiled.description.symbol;
    RandomRequest request;
    request.steps = 20, request.heads = 2, request.dimensions = options.dimensions;
    BoundArrays arrays = llvm::cantFail(randomArrays(op, inputUses(op.spec), request));
    Reference reference = llvm::cantFail(makeReference(op.spec, op, arrays));
    double best = INFINITY; // of five: others use this machine, too
    for (int i = 0; i < 5 && best >= 0.05; ++i) {
      auto start = std::chrono::steady_clock::now();
      void *library = dlopen((folder + "/lib" + symbol + ".so").str().c_str(), RTLD_NOW | RTLD_LOCAL);
      ASSERT_NE(library, nullptr) << dlerror();
      auto *kernel = static_cast<const lintel_kernel *>(dlsym(library, symbol.c_str()));
      ASSERT_NE(kernel, nullptr) << dlerror();
      RunResult result = llvm::cantFail(executeKernel(kernel, op, arrays, {}));
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      Difference difference = compareResults(op, reference, result);
      EXPECT_TRUE(difference.ok) << name << ": " << difference.failure;
      EXPECT_EQ(dlclose(library), 0);
    }
    EXPECT_LT(best, 0.05) << name;
  }
  llvm::sys::fs::remove_directories(folder);
}

INSTANTIATE_TEST_SUITE_P(Examples, EverySpec, testing::ValuesIn(specs()),
                         [](const auto &info) { return llvm::sys::path::stem(info.param).str(); });

} // namespace

// Every example operator through the whole compiler, in every form that it has, against the interpreter.
// uses: examples/specs/*.attn
#include "compiler/analysis/InputUse.h"
#include "compiler/driver/Compare.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Execution.h"
#include "compiler/driver/RandomArrays.h"
#include "compiler/driver/Reference.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <gtest/gtest.h>

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

INSTANTIATE_TEST_SUITE_P(Examples, EverySpec, testing::ValuesIn(specs()),
                         [](const auto &info) { return llvm::sys::path::stem(info.param).str(); });

} // namespace

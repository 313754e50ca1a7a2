#include "compiler/driver/KernelCache.h"
#include "Support.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace lintel;

namespace {

class KernelCacheTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("lintel-cache", folder));
    file = llvm::cantFail(SpecFile::parse("attention a {\n  token q[dk], k[dk], v[dv]\n}\n", "a.attn"));
    op = llvm::cantFail(file->find(""));
    options.dimensions = {{"dk", 3}, {"dv", 2}};
    options.variants = {{"recurrent", 0, {}, {}}};
    options.cache = folder.str().str();
    targets.push_back(llvm::cantFail(resolveTarget("native")));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string key() const {
    auto result = KernelCache(options.cache).key(*op, options, targets);
    EXPECT_TRUE(result.has_value()) << "a library of this process has no build identifier";
    return result.value_or("");
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> result;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
      if (llvm::sys::path::filename(it->path()).starts_with("llvmcache-")) result.push_back(it->path());
    return result;
  }

  llvm::SmallString<128> folder;
  std::unique_ptr<SpecFile> file;
  const OperatorInfo *op = nullptr;
  CompileOptions options;
  std::vector<CpuTarget> targets;
};

TEST_F(KernelCacheTest, KeepsAllOfAnOperator) {
  CompiledOperator compiled = llvm::cantFail(compileOperator(*file, *op, options));
  auto found = KernelCache(options.cache).find(key());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->code, compiled.code);
  EXPECT_EQ(found->triple, compiled.triple);
  EXPECT_EQ(found->reason, compiled.reason);
  const KernelDescription &a = found->description, &b = compiled.description;
  EXPECT_EQ(a.symbol, b.symbol);
  EXPECT_EQ(a.dimensions, b.dimensions);
  ASSERT_EQ(a.inputs.size(), 3u);
  EXPECT_EQ(a.inputs[2].dimNames, b.inputs[2].dimNames);
  ASSERT_EQ(a.variants.size(), 1u);
  EXPECT_EQ(a.variants[0].features, b.variants[0].features);
  EXPECT_EQ(a.variants[0].scratchBytes, b.variants[0].scratchBytes);
  EXPECT_EQ(a.variants[0].schedule, b.variants[0].schedule);
  // What is found is what is used: the code of the entry comes back from the second compilation.
  CompiledOperator other = compiled;
  other.code = "not what a compiler would make";
  KernelCache(options.cache).insert(key(), other);
  EXPECT_EQ(llvm::cantFail(compileOperator(*file, *op, options)).code, other.code);
}

TEST_F(KernelCacheTest, KeyHoldsEveryOption) {
  std::vector<std::string> keys{key()};
  auto with = [&](auto change) {
    CompileOptions before = options;
    change(options);
    keys.push_back(key());
    options = before;
  };
  with([](CompileOptions &o) { o.dimensions[0].second = 4; });
  with([](CompileOptions &o) { o.types = LINTEL_F64; });
  with([](CompileOptions &o) { o.types.named = {{"k", LINTEL_F16}}; });
  with([](CompileOptions &o) { o.types.named = {{"out", LINTEL_F16}}; });
  // The same combination otherwise written has another symbol.
  with([](CompileOptions &o) { o.types = {LINTEL_F16, {{"q", LINTEL_F32}, {"v", LINTEL_F32}, {"out", LINTEL_F32}}}; });
  with([](CompileOptions &o) { o.variants[0].form = "chunkwise"; });
  with([](CompileOptions &o) { o.variants[0].chunk = 8; });
  with([](CompileOptions &o) { o.variants[0].schedule = "a: "; });
  with([](CompileOptions &o) { o.form = o.variants[0], o.variants.clear(); });
  with([](CompileOptions &o) { o.steps = 7; });
  with([](CompileOptions &o) { o.decode = false; });
  targets[0] = llvm::cantFail(resolveTarget("x86-64-v3"));
  keys.push_back(key());
  llvm::sort(keys);
  EXPECT_TRUE(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

TEST_F(KernelCacheTest, DamagedEntryIsWrittenAnew) {
  CompiledOperator compiled = llvm::cantFail(compileOperator(*file, *op, options));
  ASSERT_EQ(entries().size(), 1u);
  std::string whole = (*llvm::MemoryBuffer::getFile(entries()[0]))->getBuffer().str();
  std::string flipped = whole;
  flipped[whole.size() - 20] ^= 1;
  for (const std::string &bad : {whole.substr(0, whole.size() / 2), flipped, std::string(), std::string("x")}) {
    std::ofstream(entries()[0], std::ios::binary) << bad;
    EXPECT_FALSE(KernelCache(options.cache).find(key()).has_value());
    EXPECT_EQ(llvm::cantFail(compileOperator(*file, *op, options)).code, compiled.code);
    EXPECT_EQ((*llvm::MemoryBuffer::getFile(entries()[0]))->getBuffer().str(), whole);
  }
}

TEST_F(KernelCacheTest, FolderThatCannotBeWritten) {
  options.cache = "/dev/null/cache";
  EXPECT_FALSE(llvm::cantFail(compileOperator(*file, *op, options)).code.empty());
  options.cache.clear();
  EXPECT_FALSE(llvm::cantFail(compileOperator(*file, *op, options)).code.empty());
  EXPECT_TRUE(entries().empty());
}

} // namespace

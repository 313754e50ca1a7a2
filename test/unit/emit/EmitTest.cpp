// Artifacts: written, linked into C and C++ programs, and never left half done.
#include "codegen/cpu/Jit.h"
#include "codegen/emit/Artifacts.h"
#include "codegen/emit/KernelObject.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace lintel;

namespace {

/// out_t = factor * x_t, for rows of n.
std::string scaleKernel(const std::string &symbol, int64_t n, double factor) {
  return llvm::formatv(R"mlir(
func.func private @body(%x: memref<?xf32, strided<[1], offset: ?>>, %xs: index, %xr: index, %out: memref<?xf32>,
    %os: index, %steps: index, %position: index, %scratch: memref<64xi8>)
    attributes {{lintel.entry = "{0}", lintel.inputs = 1 : i64, lintel.states = 0 : i64} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant dense<{2:f3}> : vector<{1}xf32>
  scf.for %t = %c0 to %steps step %c1 {{
    %i = arith.muli %t, %xs : index
    %v = vector.load %x[%i] : memref<?xf32, strided<[1], offset: ?>>, vector<{1}xf32>
    %r = arith.mulf %v, %f : vector<{1}xf32>
    %o = arith.muli %t, %os : index
    vector.store %r, %out[%o] : memref<?xf32>, vector<{1}xf32>
  }
  return
})mlir",
                       symbol, n, factor);
}

/// A kernel with one variant for each target; variant i multiplies by i + 2.
struct Built {
  ArtifactRequest request;
  std::string error;
};

Built build(const std::string &name, int64_t n, llvm::ArrayRef<const char *> targets) {
  Built result;
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  KernelDescription &k = result.request.kernel;
  k.name = name, k.specHash = "00ff", k.dimensions = {{"n", n}};
  k.symbol = kernelSymbol(name, k.dimensions, k.dtype);
  k.inputs = {{"x", LINTEL_TOKEN, LINTEL_F32, {n}, {"n"}}};
  k.out = {"out", LINTEL_OUT, LINTEL_F32, {n}, {"n"}};
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<VariantCode> code;
  for (const char *name : targets) {
    auto target = resolveTarget(name);
    EXPECT_TRUE(bool(target));
    std::string symbol = variantSymbol(k.symbol, "recurrent", 1, name);
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(scaleKernel(symbol, n, 2 + code.size()), &context));
    EXPECT_TRUE(bool(modules.back()));
    code.push_back({*modules.back(), *target});
    k.variants.push_back({"recurrent", name, target->cpu, target->abiFeatures, 1, 64, symbol, "tile 4"});
    result.request.triple = target->triple;
  }
  auto object = buildKernelObject(code, k);
  if (!object) {
    result.error = llvm::toString(object.takeError());
    return result;
  }
  result.request.object = *object;
  result.request.name = name + std::to_string(n);
  return result;
}

class Emit : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("lintel-emit-test", folder)); }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(const std::string &name) {
    llvm::SmallString<256> result(folder);
    llvm::sys::path::append(result, name);
    return result.str().str();
  }
  std::vector<std::string> files() {
    std::vector<std::string> result;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(folder, code), end; it != end && !code; it.increment(code))
      result.push_back(llvm::sys::path::filename(it->path()).str());
    llvm::sort(result);
    return result;
  }
  void write(const std::string &name, llvm::StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream(path(name), code) << text;
    ASSERT_FALSE(code);
  }
  std::string read(const std::string &name) {
    auto text = llvm::MemoryBuffer::getFile(path(name));
    return text ? (*text)->getBuffer().str() : "";
  }
  /// Runs a program; its exit status, and its output in `output`.
  int run(std::vector<std::string> command) {
    std::string log = path("log.txt");
    std::vector<llvm::StringRef> arguments(command.begin(), command.end());
    std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(log), llvm::StringRef(log)};
    int status = llvm::sys::ExecuteAndWait(command[0], arguments, std::nullopt, redirects);
    if (auto text = llvm::MemoryBuffer::getFile(log)) output = (*text)->getBuffer().str();
    llvm::sys::fs::remove(log);
    return status;
  }

  llvm::SmallString<256> folder;
  std::string output;
};

const char *include = "-I" LINTEL_SOURCE_DIR "/runtime/include";

TEST(KernelSymbols, TellTypesApart) {
  auto symbol = [](const char *name, lintel_dtype dtype, std::vector<std::pair<std::string, lintel_dtype>> others) {
    return kernelSymbol(name, {{"dk", 4}}, dtype, others);
  };
  EXPECT_EQ(symbol("gla", LINTEL_BF16, {}), "lintel_gla_dk4_bf16");
  EXPECT_EQ(symbol("gla", LINTEL_BF16, {{"g", LINTEL_F32}, {"out", LINTEL_F16}}), "lintel_gla_dk4_bf16_g_f32_out_f16");
  // A name that could be read in two ways brings a hash.
  std::string one = symbol("gla", LINTEL_F32, {{"a_f16_b", LINTEL_BF16}}),
              two = symbol("gla", LINTEL_F32, {{"a", LINTEL_F16}, {"b", LINTEL_BF16}});
  EXPECT_EQ(two, "lintel_gla_dk4_f32_a_f16_b_bf16");
  EXPECT_EQ(one.find(two + "_h"), 0u) << one;
}

TEST_F(Emit, LinksIntoCAndCxxPrograms) {
  // Two operators, and one of them at two sizes, in one program.
  for (auto [name, n] : {std::pair("scale", 4), {"scale", 8}, {"other_scale", 4}}) {
    Built built = build(name, n, {"native"});
    ASSERT_EQ(built.error, "");
    built.request.directory = path("out");
    llvm::Error error = emitArtifacts(built.request);
    ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
  }
  std::string program = R"c(
#include "scale4.h"
#include "scale8.h"
#include "other_scale4.h"
static int check(const lintel_kernel *k, int n) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8];
  const void *inputs[1];
  void *outputs[1];
  int64_t step = 0, row = 0, out_step = 0;
  int i;
  lintel_item item = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  inputs[0] = x, outputs[0] = out;
  item.input = inputs, item.input_step = &step, item.input_row = &row, item.out = outputs, item.out_step = &out_step;
  if (k->abi_version != LINTEL_ABI_VERSION || k->inputs[0].dim[0] != n) return 1;
  k->variants[0].run(&item);
  for (i = 0; i < n; ++i) if (out[i] != 2 * x[i]) return 2;
  return 0;
}
int main(void) {
  int64_t dims = lintel_scale_n4_f32_dim_n + lintel_scale_n8_f32_dim_n;
  if (dims != 12 || lintel_scale_n4_f32_input_x != 0) return 3;
  return check(&lintel_scale_n4_f32, 4) + check(&lintel_scale_n8_f32, 8) + check(&lintel_other_scale_n4_f32, 4);
}
)c";
  write("main.c", program);
  write("main.cpp", program);
  std::string out = path("out");
  struct Case {
    const char *compiler, *source;
    std::vector<const char *> options;
  };
  for (const Case &c :
       {Case{LINTEL_TEST_CC, "main.c", {"-std=c99", "-Wpedantic"}}, Case{LINTEL_TEST_CXX, "main.cpp", {"-std=c++11"}},
        Case{LINTEL_TEST_CXX, "main.cpp", {"-std=c++20"}}})
    for (bool shared : {false, true}) {
      std::vector<std::string> command = {c.compiler, "-Wall",        "-Wextra", "-Werror",       include,
                                          "-I" + out, path(c.source), "-o",      path("program"), "-L" + out};
      command.insert(command.end(), c.options.begin(), c.options.end());
      for (const char *name : {"scale4", "scale8", "other_scale4"})
        command.push_back(shared ? std::string("-l") + name : out + "/lib" + name + ".a");
      if (shared) command.push_back("-Wl,-rpath," + out);
      ASSERT_EQ(run(command), 0) << output;
      EXPECT_EQ(run({path("program")}), 0) << c.source << (shared ? " shared" : " static");
    }
}

TEST_F(Emit, SeveralVariantsInOneObject) {
  Built built = build("scale", 16, {"x86-64-v4", "x86-64-v3"});
  if (built.request.triple.find("x86_64") == std::string::npos) GTEST_SKIP();
  ASSERT_EQ(built.error, "");
  auto jit = JitKernel::load({llvm::StringRef(built.request.object)}, built.request.kernel.symbol);
  ASSERT_TRUE(bool(jit)) << llvm::toString(jit.takeError());
  const lintel_kernel *k = (*jit)->kernel();
  ASSERT_EQ(k->num_variants, 2u);
  EXPECT_STREQ(k->variants[0].target, "x86-64-v4");
  for (unsigned i = 0; i < 2; ++i) {
    if (!canRunHere(*resolveTarget(k->variants[i].target))) continue;
    float x[16] = {1, 2, 3}, out[16];
    const void *inputs[] = {x};
    int64_t zero = 0;
    void *outputs[] = {out};
    lintel_item item = {1, 0, inputs, &zero, &zero, nullptr, nullptr, outputs, &zero, nullptr, nullptr, nullptr};
    k->variants[i].run(&item);
    EXPECT_EQ(out[2], 3.0f * (2 + i));
  }
}

TEST_F(Emit, ManifestIsJson) {
  Built built = build("scale", 4, {"native"});
  ASSERT_EQ(built.error, "");
  auto value = llvm::json::parse(manifestText(built.request));
  ASSERT_TRUE(bool(value)) << llvm::toString(value.takeError());
  const llvm::json::Object &root = *value->getAsObject();
  EXPECT_EQ(root.getString("operator"), "scale");
  EXPECT_EQ(root.getString("spec_hash"), "00ff");
  EXPECT_EQ(root.getInteger("abi_version"), LINTEL_ABI_VERSION);
  EXPECT_EQ(root.getObject("dimensions")->getInteger("n"), 4);
  const llvm::json::Object &variant = *(*root.getArray("variants"))[0].getAsObject();
  EXPECT_EQ(variant.getString("schedule"), "tile 4");
  EXPECT_EQ(variant.getInteger("scratch_bytes"), 64);
}

TEST_F(Emit, LeavesNothingBehindOnFailure) {
  Built built = build("scale", 4, {"native"});
  ASSERT_EQ(built.error, "");
  built.request.directory = folder.str().str();
  built.request.object = "not an object"; // the archive's symbol table or the linker refuses it
  llvm::Error error = emitArtifacts(built.request);
  EXPECT_TRUE(bool(error));
  llvm::consumeError(std::move(error));
  EXPECT_TRUE(files().empty()) << llvm::join(files(), " ");
}

TEST_F(Emit, SeveralAreWrittenTogetherOrNotAtAll) {
  Built small = build("scale", 4, {"native"}), large = build("scale", 8, {"native"});
  ASSERT_EQ(small.error + large.error, "");
  small.request.directory = large.request.directory = path("made/here");
  std::string broken = large.request.object;
  large.request.object = "not an object";
  llvm::Error error = emitArtifacts({small.request, large.request});
  EXPECT_TRUE(bool(error));
  llvm::consumeError(std::move(error));
  EXPECT_TRUE(files().empty()) << llvm::join(files(), " "); // not even the folders
  large.request.object = broken;
  EXPECT_FALSE(bool(emitArtifacts({small.request, large.request})));
}

TEST_F(Emit, KeepsEarlierFilesOnFailure) {
  Built small = build("scale", 4, {"native"}), large = build("scale", 8, {"native"});
  ASSERT_EQ(small.error + large.error, "");
  small.request.directory = large.request.directory = folder.str().str();
  write("scale4.h", "of an earlier run");
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("scale8.json")));
  std::string message = llvm::toString(emitArtifacts({small.request, large.request}));
  EXPECT_NE(message.find("scale8.json': Is a directory"), std::string::npos) << message;
  EXPECT_EQ(files(), (std::vector<std::string>{"scale4.h", "scale8.json"}));
  EXPECT_EQ(read("scale4.h"), "of an earlier run");
  // Once nothing is in the way, the old content gives way and leaves no copy.
  ASSERT_FALSE(llvm::sys::fs::remove(path("scale8.json")));
  EXPECT_FALSE(bool(emitArtifacts({small.request, large.request})));
  EXPECT_NE(read("scale4.h"), "of an earlier run");
  EXPECT_EQ(files().size(), 10u) << llvm::join(files(), " ");
}

TEST_F(Emit, SaysWhatLinkerIsMissing) {
  Built built = build("scale", 4, {"native"});
  ASSERT_EQ(built.error, "");
  built.request.directory = folder.str().str();
  std::string before = getenv("PATH");
  setenv("PATH", folder.c_str(), 1);
  std::string message = llvm::toString(emitArtifacts(built.request));
  setenv("PATH", before.c_str(), 1);
  EXPECT_NE(message.find("expected ld.lld, ld or cc on PATH"), std::string::npos) << message;
  EXPECT_TRUE(files().empty());
}

TEST_F(Emit, RefusesFoldersItCannotMake) {
  Built built = build("scale", 4, {"native"});
  ASSERT_EQ(built.error, "");
  write("file", "x");
  built.request.directory = path("file/inside");
  EXPECT_NE(llvm::toString(emitArtifacts(built.request)).find("cannot make the folder"), std::string::npos);
  built.request.directory = folder.str().str();
  built.request.name = "../escape";
  EXPECT_NE(llvm::toString(emitArtifacts(built.request)).find("expected a plain name"), std::string::npos);
}

TEST_F(Emit, CrossCompiles) {
  Built built = build("scale", 4, {"aarch64"});
  ASSERT_EQ(built.error, "");
  built.request.directory = folder.str().str();
  built.request.sharedLibrary = false;
  llvm::Error error = emitArtifacts(built.request);
  EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
  EXPECT_EQ(files(), (std::vector<std::string>{"libscale4.a", "scale4.h", "scale4.json", "scale4.o"}));
}

TEST_F(Emit, RefusesDescriptionsWithoutCode) {
  Built built = build("scale", 4, {"native"});
  ASSERT_EQ(built.error, "");
  KernelDescription k = built.request.kernel;
  k.variants[0].symbol = "nowhere";
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(scaleKernel("somewhere", 4, 2), &context);
  auto object = buildKernelObject({{*module, *resolveTarget("native")}}, k);
  ASSERT_FALSE(bool(object));
  EXPECT_EQ(llvm::toString(object.takeError()), "no module defines the entry 'nowhere'");
}

} // namespace

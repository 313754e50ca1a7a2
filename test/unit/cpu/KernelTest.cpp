// Entries, descriptors and the JIT, on kernels written by hand.
#include "Compile.h"
#include "codegen/emit/KernelDescriptor.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>
#include <vector>

using namespace lintel;
using namespace lintel::test;

// out_t = S + x_t, S += x_t over rows of 8, with what the state's flags ask for; position is added to the output.
static const char *accumulate = R"mlir(
func.func private @add(%x: vector<8xf32>, %s: vector<8xf32>) -> vector<8xf32> {
  %tile = memref.alloca() : memref<8xf32>
  %c0 = arith.constant 0 : index
  %sum = arith.addf %x, %s : vector<8xf32>
  vector.store %sum, %tile[%c0] : memref<8xf32>, vector<8xf32>
  %again = vector.load %tile[%c0] : memref<8xf32>, vector<8xf32>
  return %again : vector<8xf32>
}
func.func private @body(%x: memref<?xf32, strided<[1], offset: ?>>, %xStep: index, %xRow: index,
    %in: memref<?xf32>, %stateOut: memref<?xf32>, %hasIn: i1, %hasOut: i1,
    %out: memref<?xf32>, %outStep: index, %steps: index, %position: index, %scratch: memref<64xi8>)
    attributes {lintel.entry = "accumulate_run", lintel.inputs = 1 : i64, lintel.states = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %start = scf.if %hasIn -> vector<8xf32> {
    %v = vector.load %in[%c0] : memref<?xf32>, vector<8xf32>
    scf.yield %v : vector<8xf32>
  } else {
    scf.yield %zero : vector<8xf32>
  }
  %pi = arith.index_cast %position : index to i64
  %pf = arith.sitofp %pi : i64 to f32
  %p = vector.broadcast %pf : f32 to vector<8xf32>
  %end = scf.for %t = %c0 to %steps step %c1 iter_args(%s = %start) -> vector<8xf32> {
    %xi = arith.muli %t, %xStep : index
    %xv = vector.load %x[%xi] : memref<?xf32, strided<[1], offset: ?>>, vector<8xf32>
    %next = func.call @add(%xv, %s) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    %shown = arith.addf %next, %p : vector<8xf32>
    %oi = arith.muli %t, %outStep : index
    vector.store %shown, %out[%oi] : memref<?xf32>, vector<8xf32>
    scf.yield %next : vector<8xf32>
  }
  scf.if %hasOut {
    vector.store %end, %stateOut[%c0] : memref<?xf32>, vector<8xf32>
  }
  return
}
)mlir";

static KernelDescription describe(const std::string &entry) {
  KernelDescription k;
  k.name = "accumulate";
  k.specHash = "0123abcd";
  k.dimensions = {{"n", 8}};
  k.symbol = kernelSymbol(k.name, k.dimensions, k.dtype);
  k.inputs = {{"x", LINTEL_TOKEN, LINTEL_F32, {8}, {"n"}}};
  k.states = {{"S", LINTEL_STATE, LINTEL_F32, {8}, {"n"}}};
  k.out = {"out", LINTEL_OUT, LINTEL_F32, {8}, {"n"}};
  k.variants = {{"recurrent", "native", "somecpu", LINTEL_CPU_NATIVE, 1, 64, entry, ""}};
  return k;
}

static std::string descriptorObject(const KernelDescription &k) {
  auto target = resolveTarget("native");
  EXPECT_TRUE(bool(target));
  llvm::LLVMContext context;
  llvm::Module module("descriptor", context);
  module.setTargetTriple(llvm::Triple(target->triple));
  EXPECT_FALSE(addKernelDescriptor(module, k));
  std::vector<std::string> entries;
  for (const auto &v : k.variants) entries.push_back(v.symbol);
  llvm::SmallVector<char> bytes;
  EXPECT_FALSE(emitCode(module, *target, CpuOutput::Object, bytes, entries));
  return {bytes.begin(), bytes.end()};
}

TEST(Kernel, RunsThroughItsDescriptor) {
  Compiled code = compile(accumulate);
  ASSERT_EQ(code.error, "");
  KernelDescription description = describe("accumulate_run");
  std::string data = descriptorObject(description);
  auto jit = JitKernel::load({code.object, data}, description.symbol);
  ASSERT_TRUE(bool(jit)) << llvm::toString(jit.takeError());
  const lintel_kernel *k = (*jit)->kernel();
  EXPECT_STREQ(k->name, "accumulate");
  EXPECT_STREQ(k->spec_hash, "0123abcd");
  EXPECT_EQ(k->abi_version, LINTEL_ABI_VERSION);
  EXPECT_EQ(k->causal, 1);
  ASSERT_EQ(k->num_inputs, 1u);
  EXPECT_STREQ(k->inputs[0].name, "x");
  EXPECT_EQ(k->inputs[0].rank, 1);
  EXPECT_EQ(k->inputs[0].dim[0], 8);
  ASSERT_EQ(k->num_states, 1u);
  EXPECT_EQ(k->states[0].kind, LINTEL_STATE);
  EXPECT_STREQ(k->out->name, "out");
  ASSERT_EQ(k->num_variants, 1u);
  EXPECT_STREQ(k->variants[0].form, "recurrent");
  EXPECT_STREQ(k->variants[0].cpu, "somecpu");
  EXPECT_EQ(k->variants[0].scratch_bytes, 64u);

  constexpr int64_t steps = 5, stride = 11, outStride = 9;
  std::vector<float> x(steps * stride), out(steps * outStride, -1), in(8, 100), next(8, -1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i;
  alignas(64) char scratch[64];
  const void *inputs[] = {x.data()};
  int64_t inputStep[] = {stride}, inputRow[] = {0};
  const void *stateIn[] = {in.data()};
  void *stateOut[] = {next.data()};
  void *outputs[] = {out.data()};
  lintel_item item{steps,    1000,    inputs,     inputStep, inputRow, stateIn,
                   stateOut, outputs, &outStride, scratch,   nullptr,  nullptr};
  for (bool withState : {true, false}) {
    stateIn[0] = withState ? in.data() : nullptr;
    stateOut[0] = withState ? next.data() : nullptr;
    k->variants[0].run(&item);
    for (int c = 0; c < 8; ++c) {
      float s = withState ? 100 : 0;
      for (int t = 0; t < steps; ++t) {
        s += x[t * stride + c];
        EXPECT_EQ(out[t * outStride + c], s + 1000);
      }
      EXPECT_EQ(out[8], -1) << "written between rows";
      if (withState) {
        EXPECT_EQ(next[c], s);
      }
    }
  }
  // In place, and no step at all: the state passes through.
  stateIn[0] = stateOut[0] = next.data();
  std::vector<float> before = next;
  item.steps = 0;
  k->variants[0].run(&item);
  EXPECT_EQ(next, before);
}

TEST(Kernel, SeveralLiveSideBySide) {
  Compiled code = compile(accumulate);
  ASSERT_EQ(code.error, "");
  std::string data = descriptorObject(describe("accumulate_run"));
  std::vector<std::unique_ptr<JitKernel>> kernels;
  for (int i = 0; i < 3; ++i) {
    auto jit = JitKernel::load({code.object, data}, describe("").symbol);
    ASSERT_TRUE(bool(jit)) << llvm::toString(jit.takeError());
    kernels.push_back(std::move(*jit));
  }
  EXPECT_NE(kernels[0]->kernel(), kernels[1]->kernel());
  EXPECT_STREQ(kernels[2]->kernel()->name, "accumulate");
}

TEST(Kernel, LoadErrors) {
  auto missing = JitKernel::load({llvm::StringRef(descriptorObject(describe("nowhere")))}, describe("").symbol);
  ASSERT_FALSE(bool(missing));
  std::string message = llvm::toString(missing.takeError());
  EXPECT_NE(message.find("nowhere"), std::string::npos) << message;
  auto garbage = JitKernel::load({llvm::StringRef("not an object file")}, "x");
  ASSERT_FALSE(bool(garbage));
  llvm::consumeError(garbage.takeError());
}

TEST(Kernel, EqualInputGivesEqualCode) { EXPECT_EQ(compile(accumulate).object, compile(accumulate).object); }

TEST(Kernel, EveryTargetCompiles) {
  for (const char *target : {"native", "x86-64", "x86-64-v3", "x86-64-v4", "aarch64"}) {
    Compiled code = compile(accumulate, CpuOutput::Object, target);
    EXPECT_EQ(code.error, "") << target;
    EXPECT_GT(code.object.size(), 100u) << target;
  }
  EXPECT_NE(compile(accumulate, CpuOutput::Assembly, "x86-64-v4").object.find("accumulate_run:"), std::string::npos);
  EXPECT_NE(compile(accumulate, CpuOutput::LLVMText).object.find("define void @accumulate_run"), std::string::npos);
  std::string error = compile(accumulate, CpuOutput::Object, "pentium").error;
  EXPECT_EQ(error,
            "expected a target of native, x86-64, x86-64-v3, x86-64-v4, x86-64-v4-bf16 or aarch64, found 'pentium'");
}

TEST(Kernel, NoTargetNeedsALibrary) {
  // Every function on odd vector lengths and half types, for every target: emitCode refuses any call.
  std::string text;
  unsigned id = 0;
  for (const char *type : {"f32", "bf16", "vector<3xf32>", "vector<5xf64>", "vector<2x4xf16>"}) {
    for (const char *op : {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tanh", "erf",
                           "rsqrt", "sqrt", "floor", "ceil", "trunc", "roundeven", "absf"})
      text += llvm::formatv("func.func @f{0}(%x: memref<{1}>, %y: memref<{1}>) attributes {{lintel.export} {{ %v = "
                            "memref.load %x[] : memref<{1}> "
                            "%r = math.{2} %v : {1} memref.store %r, %y[] : memref<{1}> return }\n",
                            id++, type, op);
    text += llvm::formatv(
        "func.func @f{0}(%x: memref<{1}>, %y: memref<{1}>) attributes {{lintel.export} {{ %v = "
        "memref.load %x[] : memref<{1}> "
        "%r = math.powf %v, %v : {1} %s = arith.addf %r, %v : {1} %t = arith.maximumf %s, %v : {1} "
        "%n = arith.minnumf %t, %v : {1} %m = math.fma %n, %v, %t : {1} memref.store %m, %y[] : memref<{1}> return }\n",
        id++, type);
  }
  for (const char *target : {"x86-64", "x86-64-v3", "x86-64-v4", "aarch64"})
    EXPECT_EQ(compile(text, CpuOutput::Object, target).error, "") << target;
}

static std::string entryWith(const char *from, const char *to) {
  std::string text = accumulate;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, strlen(from), to);
}

TEST(Kernel, BadEntriesAreNamed) {
  auto expectError = [](const std::string &text, const char *message) {
    EXPECT_NE(compile(text).error.find(message), std::string::npos) << compile(text).error;
  };
  expectError(entryWith("lintel.inputs = 1", "lintel.inputs = 2"),
              "expected 15 arguments for 2 inputs, 1 states and 1 outputs, found 12");
  expectError(entryWith("lintel.inputs = 1 : i64, ", ""), "needs `lintel.inputs`");
  expectError(entryWith("memref<64xi8>", "memref<64xi16>"), "expected argument 11 to hold i8, found 'i16'");
  expectError(entryWith("%out: memref<?xf32>, %outStep: index", "%outStep: index, %out: memref<?xf32>"),
              "expected argument 7 to be a memref of rank 1 with unit stride, found 'index'");
  expectError(R"mlir(func.func @f() -> memref<8xf32> attributes {lintel.export} {
                       %v = memref.alloc() : memref<8xf32>
                       return %v : memref<8xf32>
                     })mlir",
              "allocate nothing");
  expectError(R"mlir(func.func @f(%n: index, %f: f32) attributes {lintel.export} {
                       %c0 = arith.constant 0 : index
                       %c1 = arith.constant 1 : index
                       scf.for %i = %c0 to %n step %c1 {
                         %v = memref.alloca(%i) : memref<?xf32>
                         memref.store %f, %v[%c0] : memref<?xf32>
                         %g = vector.load %v[%c0] : memref<?xf32>, vector<4xf32>
                         vector.store %g, %v[%c0] : memref<?xf32>, vector<4xf32>
                       }
                       return
                     })mlir",
              "expected a fixed size inside a loop");
  expectError("func.func @f(%x: f32) -> f32 { %r = math.acosh %x : f32 return %r : f32 }", "no expansion");
}

TEST(Symbols, AreUniqueAndValid) {
  EXPECT_EQ(kernelSymbol("retnet", {{"dk", 64}, {"dv", 32}}, LINTEL_F32), "lintel_retnet_dk64_dv32_f32");
  EXPECT_EQ(kernelSymbol("gated_delta", {{"dk", 64}}, LINTEL_BF16), "lintel_gated_delta_dk64_bf16");
  EXPECT_NE(kernelSymbol("op_dk64", {}, LINTEL_F32), kernelSymbol("op", {{"dk", 64}}, LINTEL_F32));
  EXPECT_NE(kernelSymbol("op", {{"d1", 2}}, LINTEL_F32), kernelSymbol("op", {{"d", 12}}, LINTEL_F32));
  EXPECT_EQ(variantSymbol("lintel_a_f32", "chunkwise", 16, "x86-64-v3"), "lintel_a_f32_chunkwise16_x86_64_v3");
}

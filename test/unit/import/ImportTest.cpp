// Each test pipeline compiled twice, by Halide and by way of the import, on the same inputs.
#include "Cases.h"

#include "Run.h"
#include "codegen/halide/HalideSupport.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>
#include <sys/mman.h>

using namespace lintel;
using namespace lintel::testing;
using Halide::Buffer;

namespace {

template <class T, class Make> void fill(Buffer<> &buffer, Make make) {
  T *data = static_cast<T *>(buffer.data());
  for (size_t i = 0; i < buffer.number_of_elements(); ++i) data[i] = make();
}

void randomize(Buffer<> &buffer, unsigned seed) {
  std::mt19937 generator(seed);
  // Multiples of 1/16 within [-2, 2]: exact in every float type, so that no sum depends on order or width.
  auto number = [&] { return double(int(generator() % 65) - 32) / 16; };
  auto integer = [&] { return int32_t(generator() % 2001) - 1000; };
  Halide::Type t = buffer.type();
  if (t == Halide::Float(32)) fill<float>(buffer, number);
  else if (t == Halide::Float(64)) fill<double>(buffer, number);
  else if (t == Halide::Float(16)) fill<uint16_t>(buffer, [&] { return Halide::float16_t(number()).to_bits(); });
  else if (t == Halide::BFloat(16)) fill<uint16_t>(buffer, [&] { return Halide::bfloat16_t(number()).to_bits(); });
  else if (t.bits() == 8) fill<uint8_t>(buffer, [&] { return uint8_t(generator()); });
  else if (t.bits() == 16) fill<int16_t>(buffer, integer);
  else if (t == Halide::UInt(32)) fill<uint32_t>(buffer, [&] { return uint32_t(generator()); });
  else if (t == Halide::Int(32)) fill<int32_t>(buffer, integer);
  else FAIL() << "no random values for this type";
}

std::vector<int> extentsOf(const Halide::ImageParam &p) {
  std::vector<int> extents;
  for (int d = 0; d < p.dimensions(); ++d)
    extents.push_back(int(Halide::Internal::as_const_int(p.parameter().extent_constraint(d)).value()));
  return extents;
}

double element(const Buffer<> &buffer, size_t i) {
  const void *data = buffer.data();
  if (buffer.type() == Halide::Float(32)) return static_cast<const float *>(data)[i];
  return static_cast<const double *>(data)[i];
}

void expectSame(const Buffer<> &expected, const Buffer<> &found, double tolerance) {
  ASSERT_EQ(expected.size_in_bytes(), found.size_in_bytes());
  size_t width = expected.type().bytes();
  for (size_t i = 0; i < expected.number_of_elements(); ++i) {
    auto *e = static_cast<const char *>(expected.data()) + i * width;
    auto *f = static_cast<const char *>(found.data()) + i * width;
    if (std::memcmp(e, f, width) == 0) continue;
    bool isFloat = expected.type() == Halide::Float(32) || expected.type() == Halide::Float(64);
    ASSERT_TRUE(isFloat) << "element " << i << " differs: expected " << int64_t(int8_t(*e)) << ", found "
                         << int64_t(int8_t(*f)) << " (first byte)";
    double want = element(expected, i), have = element(found, i);
    // A NaN's sign and payload are nobody's promise.
    if (std::isnan(want) && std::isnan(have)) continue;
    ASSERT_LE(std::abs(want - have), tolerance * std::max(1.0, std::abs(want)))
        << "element " << i << ": expected " << want << ", found " << have;
  }
}

class Imported : public ::testing::TestWithParam<ProgramCase> {};

void runBoth(const ProgramCase &test, bool transpose) {
  Program p = test.build();
  std::vector<Buffer<>> inputs, expected, found;
  for (const Halide::ImageParam &in : p.inputs) {
    inputs.emplace_back(in.type(), extentsOf(in));
    randomize(inputs.back(), unsigned(inputs.size()));
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    Halide::Type t = p.outputs[i].types()[0];
    expected.emplace_back(t, p.sizes[i]);
    found.emplace_back(t, p.sizes[i]);
    std::memset(found.back().data(), 0xff, found.back().size_in_bytes());
  }

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  ImportOptions options;
  // Halide does not fuse under StrictFloat, so neither may the import for the bits to agree.
  options.fastMath = mlir::arith::FastMathFlags::none;
  options.transposeLoads = options.transposeStores = transpose;
  Halide::Target host = Halide::get_host_target();
  mlir::FailureOr<ImportedStage> stage = mlir::failure();
  std::optional<std::string> fault = guardHalide([&] {
    Halide::Module lowered = lower(p, host);
    stage = importStmt(*module, lowered.functions()[0], "stage", options, loc);
  });
  ASSERT_FALSE(fault) << *fault;
  ASSERT_TRUE(succeeded(stage));
  ASSERT_TRUE(succeeded(mlir::verify(*module)));
  ASSERT_TRUE(stage->strides.empty());
  CompiledStage compiled(*module, stage->fn);
  ASSERT_EQ(compiled.error, "");

  std::vector<CompiledStage::Argument> arguments;
  for (Buffer<> &in : inputs) arguments.push_back({in.data(), 0});
  for (int32_t n : p.countValues) arguments.push_back({nullptr, n});
  for (Buffer<> &out : found) arguments.push_back({out.data(), 0});
  compiled(arguments);

  fault = guardHalide([&] {
    for (size_t i = 0; i < inputs.size(); ++i) p.inputs[i].set(inputs[i]);
    for (size_t i = 0; i < p.counts.size(); ++i) p.counts[i].set(p.countValues[i]);
    Halide::Target jit = p.strict ? host.with_feature(Halide::Target::StrictFloat) : host;
    Halide::Pipeline(p.outputs).realize(Halide::Realization(expected), jit.with_feature(Halide::Target::JIT));
  });
  if (fault && fault->find("emulated") == std::string::npos) FAIL() << *fault;
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    expectSame(expected[i], found[i], p.tolerance);
  }
}

TEST_P(Imported, AgreesWithHalide) { runBoth(GetParam(), /*transpose=*/true); }

INSTANTIATE_TEST_SUITE_P(Programs, Imported, ::testing::ValuesIn(programs()),
                         [](const ::testing::TestParamInfo<ProgramCase> &info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Import, AgreesWithHalideWithoutTransposes) {
  for (const ProgramCase &test : programs()) {
    if (std::string(test.name).find("transposed") == std::string::npos) continue;
    SCOPED_TRACE(test.name);
    runBoth(test, /*transpose=*/false);
  }
}

const StatementCase &statement(const char *name) {
  for (const StatementCase &c : statements())
    if (std::string(c.name) == name) return c;
  ADD_FAILURE() << "no statement " << name;
  return statements().front();
}

namespace {
/// One of the hand-built statements as a function of a module of its own.
struct ImportedStatement {
  explicit ImportedStatement(const char *name, const ImportOptions &options = {})
      : context(mlir::MLIRContext::Threading::DISABLED),
        module(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context))),
        stage(importStmt(*module, statement(name).build(), "stage", options, module->getLoc())) {}

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::FailureOr<ImportedStage> stage;
};
} // namespace

// Offsets are computed in `index`, by rules of its own: Euclidean for every sign, and zero where the divisor is.
TEST(Import, OffsetsDivideAsHalideDoes) {
  ImportedStatement imported("euclid");
  ASSERT_TRUE(succeeded(imported.stage));
  CompiledStage compiled(*imported.module, imported.stage->fn);
  ASSERT_EQ(compiled.error, "");
  auto mod = [](int64_t x, int64_t y) { return y == 0 ? 0 : ((x % y) + std::abs(y)) % std::abs(y); };
  auto div = [&](int64_t x, int64_t y) { return y == 0 ? 0 : (x - mod(x, y)) / y; };
  const int64_t middle = 1000;
  for (int64_t n = -40; n <= 40; ++n) {
    std::vector<float> memory(2 * middle);
    for (int64_t i = 0; i < 2 * middle; ++i) memory[i] = float(i - middle);
    compiled({{memory.data() + middle, 0}, {nullptr, n}});
    int64_t at = div(n, 6) * 32 + mod(n, 6) + (n >> 2) + (n & 7) + div(5, n) + mod(n, n - 2) + div(9, -n);
    EXPECT_EQ(memory[middle + 900], float(at)) << "n = " << n;
  }
}

static float toBfloat(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000; // nearest even; no NaN comes here
  std::memcpy(&x, &bits, 4);
  return x;
}

TEST(Import, PairsOfBfloats) {
  ImportOptions options;
  options.pairs = PairInstructions::Arithmetic;
  ImportedStatement imported("bf16-pairs", options);
  ASSERT_TRUE(succeeded(imported.stage));
  CompiledStage compiled(*imported.module, imported.stage->fn);
  ASSERT_EQ(compiled.error, "");
  std::vector<float> a(97);
  uint32_t seed = 1;
  for (int i = 0; i < 80; ++i) {
    seed = seed * 1664525 + 1013904223;
    a[i] = float(int32_t(seed)) * (i % 5 == 0 ? 1e-12f : 1e-9f);
  }
  a[2] = 1 + 0x1p-8f, a[3] = 1 + 3 * 0x1p-8f; // ties
  std::vector<float> before = a;
  compiled({{a.data(), 0}, {nullptr, 0}});
  int rounded = 0;
  for (int i = 0; i < 16; ++i) {
    float want = std::fma(toBfloat(before[i + 16]), toBfloat(before[i + 48]), before[i + 64]);
    want = std::fma(toBfloat(before[i]), toBfloat(before[i + 32]), want);
    EXPECT_EQ(a[80 + i], want) << i;
    rounded += want != std::fma(before[i], before[i + 32], std::fma(before[i + 16], before[i + 48], before[i + 64]));
  }
  EXPECT_EQ(a[96], a[80]);
  EXPECT_GT(rounded, 8); // it makes a difference
}

// The instructions themselves, where the target has them.
TEST(Import, PairsOfBfloatsAsInstructions) {
  ImportOptions options;
  options.pairs = PairInstructions::Avx512;
  ImportedStatement imported("bf16-pairs", options);
  ASSERT_TRUE(succeeded(imported.stage));
  std::string text;
  llvm::raw_string_ostream os(text);
  imported.module->print(os);
  // Two packs and a dot; the single number goes without.
  auto count = [&](const std::string &name) {
    size_t n = 0;
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("llvm.x86.avx512bf16.cvtne2ps2bf16.512"), 2u) << text;
  EXPECT_EQ(count("llvm.x86.avx512bf16.dpbf16ps.512"), 1u) << text;
  EXPECT_EQ(count("math.fma"), 2u) << text;
}

TEST(Import, ExternFunctionsOfOurs) {
  ImportedStatement imported("extern-lintel");
  ASSERT_TRUE(succeeded(imported.stage));
  CompiledStage compiled(*imported.module, imported.stage->fn);
  ASSERT_EQ(compiled.error, "");
  std::vector<float> memory(16);
  for (int i = 0; i < 16; ++i) memory[i] = 0.1f * float(i);
  std::vector<float> before = memory;
  compiled({{memory.data(), 0}, {nullptr, 0}});
  for (int i = 0; i < 8; ++i)
    EXPECT_NEAR(memory[i], std::log1p(before[i]) + std::expm1(before[i]) + std::erf(before[i]), 1e-6) << i;
  EXPECT_EQ(memory[9], std::fma(memory[0], memory[1], memory[2]));
}

// Strides that are arguments, one of them larger than 32 bits: rows of both arrays lie 2^31 + 64 elements apart in a
// mapping that is mostly never touched.
TEST(Import, OpenStridesAreIndices) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  auto stage = importStmt(*module, statement("open-strides").build(), "stage", {}, loc);
  ASSERT_TRUE(succeeded(stage));
  ASSERT_EQ(stage->strides.size(), 2u);
  EXPECT_EQ(stage->strides[0].buffer, 0u);
  EXPECT_EQ(stage->strides[0].dim, 1u);
  EXPECT_EQ(stage->strides[1].buffer, 1u);
  EXPECT_EQ(stage->strides[1].dim, 1u);
  CompiledStage compiled(*module, stage->fn);
  ASSERT_EQ(compiled.error, "");

  const int64_t far = (int64_t(1) << 31) + 64, rows = 16, columns = 32;
  auto at = [&](float *base, int64_t x, int64_t y, int64_t stride) -> float & { return base[y * stride + x]; };
  size_t bytes = size_t((rows - 1) * far + columns) * sizeof(float);
  void *mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) GTEST_SKIP() << "no address space for a sparse mapping";
  auto *in = static_cast<float *>(mapped);
  std::vector<float> out(rows * columns, -1.0f);
  for (int64_t y = 0; y < rows; ++y)
    for (int64_t x = 0; x < columns; ++x) at(in, x, y, far) = float(100 * y + x);
  compiled({{in, 0}, {out.data(), 0}, {nullptr, far}, {nullptr, columns}});
  for (int64_t y = 0; y < rows; ++y)
    for (int64_t x = 0; x < columns; ++x)
      ASSERT_EQ(at(out.data(), x, y, columns), float(100 * y + x) + float(100 * (x % 4) + y)) << x << ", " << y;
  ::munmap(mapped, bytes);
}

TEST(Import, NameIsTakenOnce) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) { message = d.str(); });
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  Halide::Module lowered = lower(programs()[0].build(), fixedTarget());
  EXPECT_TRUE(succeeded(importStmt(*module, lowered.functions()[0], "stage", {}, loc)));
  EXPECT_TRUE(failed(importStmt(*module, lowered.functions()[0], "stage", {}, loc)));
  EXPECT_EQ(message, "symbol 'stage' exists already; give the stage another name");
}

} // namespace

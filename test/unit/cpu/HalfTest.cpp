// Conversions to and from the half types against LLVM's arbitrary-precision floats, bit by bit.
#include "Compile.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace lintel;
using namespace lintel::test;

namespace {

/// Compiles `out[i] = op x[i]` over vectors of 8, and runs it.
template <typename From, typename To>
std::vector<To> convert(const char *op, const char *from, const char *to, std::vector<From> x,
                        const std::string &target) {
  std::string text = llvm::formatv(
      R"mlir(func.func @run(%x: memref<?x{1}>, %out: memref<?x{2}>, %n: index) attributes {{lintel.export} {{
        %c0 = arith.constant 0 : index
        %step = arith.constant 8 : index
        scf.for %i = %c0 to %n step %step {{
          %v = vector.load %x[%i] : memref<?x{1}>, vector<8x{1}>
          %r = arith.{0} %v : vector<8x{1}> to vector<8x{2}>
          vector.store %r, %out[%i] : memref<?x{2}>, vector<8x{2}>
        }
        return
      })mlir",
      op, from, to);
  Compiled code = compile(text, CpuOutput::Object, target);
  EXPECT_EQ(code.error, "");
  auto jit = JitKernel::loadCode({llvm::StringRef(code.object)});
  EXPECT_TRUE(bool(jit));
  auto address = (*jit)->address("run");
  EXPECT_TRUE(bool(address));
  x.resize((x.size() + 7) / 8 * 8);
  std::vector<To> out(x.size());
  int64_t n = x.size();
  auto run = reinterpret_cast<void (*)(From *, From *, int64_t, int64_t, int64_t, To *, To *, int64_t, int64_t, int64_t,
                                       int64_t)>(*address);
  run(x.data(), x.data(), 0, n, 1, out.data(), out.data(), 0, n, 1, n);
  return out;
}

template <typename T> T fromBits(uint64_t bits) {
  T x;
  memcpy(&x, &bits, sizeof(T));
  return x;
}

uint16_t reference(llvm::APFloat x, const llvm::fltSemantics &semantics) {
  bool lost;
  x.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return static_cast<uint16_t>(x.bitcastToAPInt().getZExtValue());
}

bool isNaN(uint16_t bits, bool bf16) { return (bits & 0x7FFF) > (bf16 ? 0x7F80 : 0x7C00); }

/// All half values, the midpoints between neighbours, and a little to both sides of these.
template <typename T> std::vector<T> hardCases(const llvm::fltSemantics &half) {
  std::vector<T> xs;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    llvm::APFloat value(half, llvm::APInt(16, bits));
    llvm::APFloat next(half, llvm::APInt(16, (bits + 1) & 0xFFFF));
    if (value.isNaN() || next.isNaN()) continue;
    double a = value.convertToDouble(), b = next.convertToDouble();
    T middle = static_cast<T>(
        std::isinf(b)
            ? a + (a - static_cast<double>(llvm::APFloat(half, llvm::APInt(16, bits - 1)).convertToDouble())) / 2
            : a / 2 + b / 2);
    xs.insert(xs.end(), {static_cast<T>(a), middle, std::nextafter(middle, std::numeric_limits<T>::infinity()),
                         std::nextafter(middle, -std::numeric_limits<T>::infinity())});
  }
  std::mt19937_64 random(4);
  for (int i = 0; i < 100000; ++i) xs.push_back(fromBits<T>(random()));
  xs.insert(xs.end(), {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::signaling_NaN(),
                       std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min(), T(0), -T(0)});
  return xs;
}

template <typename T>
void checkNarrowing(const char *from, const char *to, const llvm::fltSemantics &half, bool bf16,
                    const std::string &target) {
  std::vector<T> xs = hardCases<T>(half);
  std::vector<uint16_t> out = convert<T, uint16_t>("truncf", from, to, xs, target);
  int shown = 0;
  for (size_t i = 0; i < xs.size() && shown < 5; ++i) {
    uint16_t expected = reference(llvm::APFloat(xs[i]), half);
    if (std::isnan(xs[i]) ? isNaN(out[i], bf16) : out[i] == expected) continue;
    ADD_FAILURE() << from << " to " << to << " of " << xs[i] << ": got " << out[i] << ", expected " << expected;
    ++shown;
  }
}

class Half : public testing::TestWithParam<std::string> {
  void SetUp() override {
    if (!canRunHere(llvm::cantFail(resolveTarget(GetParam())))) GTEST_SKIP() << "not this machine's processor";
  }
};

TEST_P(Half, Narrowing) {
  checkNarrowing<float>("f32", "bf16", llvm::APFloat::BFloat(), true, GetParam());
  checkNarrowing<float>("f32", "f16", llvm::APFloat::IEEEhalf(), false, GetParam());
  checkNarrowing<double>("f64", "bf16", llvm::APFloat::BFloat(), true, GetParam());
  checkNarrowing<double>("f64", "f16", llvm::APFloat::IEEEhalf(), false, GetParam());
}

TEST_P(Half, Widening) {
  std::vector<uint16_t> xs(65536);
  for (uint32_t i = 0; i < xs.size(); ++i) xs[i] = i;
  for (bool bf16 : {true, false}) {
    const llvm::fltSemantics &half = bf16 ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf();
    auto singles = convert<uint16_t, float>("extf", bf16 ? "bf16" : "f16", "f32", xs, GetParam());
    auto doubles = convert<uint16_t, double>("extf", bf16 ? "bf16" : "f16", "f64", xs, GetParam());
    for (size_t i = 0; i < xs.size(); ++i) {
      llvm::APFloat value(half, llvm::APInt(16, xs[i]));
      if (value.isNaN()) {
        EXPECT_TRUE(std::isnan(singles[i]) && std::isnan(doubles[i]));
        continue;
      }
      double expected = value.convertToDouble();
      ASSERT_EQ(singles[i], expected);
      ASSERT_EQ(doubles[i], expected);
      ASSERT_EQ(std::signbit(singles[i]), value.isNegative());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Half, testing::Values("native", "x86-64"),
                         [](const auto &info) { return info.index ? "Plainest" : "Native"; });

} // namespace

// Every expanded function against libm of the next higher precision, over the whole range of its type: a dense sample
// by default, every n-th of the 2^32 arguments of f32 with LINTEL_EXHAUSTIVE=n in the environment (with 1
// minutes a function).
#include "Compile.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace lintel;
using namespace lintel::test;

namespace {

struct Function {
  const char *name;
  double (*reference)(double);
  long double (*longReference)(long double);
  double singleUlps, doubleUlps; // what docs/numerics.md states
  double low, high;              // where the function is neither constant nor overflown, sampled evenly
};

double rsqrtOf(double x) { return 1 / std::sqrt(x); }
long double rsqrtOf(long double x) { return 1 / std::sqrt(x); }

const Function functions[] = {
    {"exp", std::exp, std::exp, 2, 2, -110, 90},        {"exp2", std::exp2, std::exp2, 2, 2, -151, 129},
    {"expm1", std::expm1, std::expm1, 2, 2, -20, 90},   {"log", std::log, std::log, 2, 2, 0, 4},
    {"log2", std::log2, std::log2, 2, 2, 0, 4},         {"log10", std::log10, std::log10, 2, 2, 0, 4},
    {"log1p", std::log1p, std::log1p, 2, 2, -1, 3},     {"sin", std::sin, std::sin, 2, 2, -100000, 100000},
    {"cos", std::cos, std::cos, 2, 2, -100000, 100000}, {"tanh", std::tanh, std::tanh, 2, 2, -10, 10},
    {"erf", std::erf, std::erf, 2, 2, -6, 6},           {"rsqrt", rsqrtOf, rsqrtOf, 2, 2, 0, 4},
};

/// Arguments at which something changes: specials, bounds of ranges and their neighbours.
template <typename T> std::vector<T> specials() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> seeds = {0,
                          Limits::denorm_min(),
                          Limits::min(),
                          Limits::max(),
                          Limits::infinity(),
                          Limits::quiet_NaN(),
                          1,
                          2,
                          3,
                          T(0.5),
                          T(0.70710678118654752),
                          T(1.41421356237309504),
                          T(0.34657359027997264),
                          T(0.69314718055994531),
                          T(88.7228391),
                          T(87.3365447),
                          T(103.972084),
                          T(103.278929),
                          89,
                          104,
                          T(709.782712893384),
                          T(745.13321910194122),
                          T(708.396418532264),
                          710,
                          746,
                          127,
                          128,
                          126,
                          149,
                          150,
                          151,
                          1022,
                          1023,
                          1024,
                          1074,
                          1075,
                          1076,
                          9,
                          10,
                          20,
                          22,
                          40,
                          6,
                          T(0.927734375),
                          65536,
                          131072,
                          T(8388608),
                          T(16777216),
                          T(1e10),
                          T(1e20),
                          T(0x1p-12),
                          T(0x1p-13),
                          T(0x1p-24),
                          T(0x1p-25),
                          T(0x1p-27),
                          T(0x1p-54),
                          T(6381956970095103.0 * 0x1p797),
                          T(16367173.0 * 0x1p72)};
  for (int i = 1; i <= 4096; ++i) seeds.push_back(T(i * 1.57079632679489661923L));
  for (int e = -30; e < (sizeof(T) == 4 ? 127 : 1023); e += 3)
    seeds.push_back(std::ldexp(T(1.57079632679489661923L), e));
  std::vector<T> result;
  for (T seed : seeds)
    for (T x : {std::nextafter(seed, T(0)), seed, std::nextafter(seed, Limits::infinity())})
      result.insert(result.end(), {x, -x});
  return result;
}

template <typename T> class Checker {
public:
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;

  /// Distance of `got` from the exact `expected`, in units of the last place of the correctly rounded result.
  static double ulps(T got, Wide expected) {
    using Limits = std::numeric_limits<T>;
    if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got) ? 0 : INFINITY;
    if (std::isinf(expected)) return got == static_cast<T>(expected) ? 0 : INFINITY;
    if (expected == 0) return got == 0 && std::signbit(got) == std::signbit(expected) ? 0 : INFINITY;
    if (std::signbit(got) != std::signbit(expected)) return INFINITY;
    // inf counts as the power of two where it begins.
    Wide value = std::isinf(got) ? std::copysign(std::ldexp(Wide(1), Limits::max_exponent), Wide(got)) : Wide(got);
    int exponent = std::max(std::min(std::ilogb(expected), Limits::max_exponent - 1), Limits::min_exponent - 1);
    Wide unit = std::ldexp(Wide(1), exponent - (Limits::digits - 1));
    return static_cast<double>(std::abs(value - expected) / unit);
  }

  void check(T x, T y, T got, Wide expected) {
    ++count;
    if (got == static_cast<T>(expected) && got != 0) return; // the usual case, and correctly rounded
    double distance = ulps(got, expected);
    if (distance <= worst) return;
    worst = distance, worstX = x, worstY = y, worstGot = got, worstExpected = expected;
  }

  std::string summary() const {
    return llvm::formatv("max {0:f3} ulp over {1} arguments, at x = {2} y = {3}: got {4}, expected {5}", worst, count,
                         format(worstX), format(worstY), format(worstGot), format(worstExpected));
  }
  double worst = 0;
  uint64_t count = 0;

private:
  static std::string format(Wide x) {
    char text[64];
    snprintf(text, sizeof(text), "%La (%.9Lg)", static_cast<long double>(x), static_cast<long double>(x));
    return text;
  }
  T worstX = 0, worstY = 0, worstGot = 0;
  Wide worstExpected = 0;
};

const char *defaultTarget() {
  const char *name = std::getenv("LINTEL_TEST_TARGET");
  return name ? name : "native";
}

/// A compiled loop over arrays whose length is a multiple of 16.
template <typename T> class ArrayFunction {
public:
  ArrayFunction(const char *op, unsigned operands, unsigned lanes = 16, const char *target = defaultTarget()) {
    const char *type = sizeof(T) == 4 ? "f32" : "f64";
    std::string text = llvm::formatv(
        R"mlir(func.func @run(%x: memref<?x{0}>, %y: memref<?x{0}>, %out: memref<?x{0}>, %n: index) attributes {{lintel.export} {{
          %c0 = arith.constant 0 : index
          %step = arith.constant {1} : index
          scf.for %i = %c0 to %n step %step {{
            %xv = vector.load %x[%i] : memref<?x{0}>, vector<{1}x{0}>
            %yv = vector.load %y[%i] : memref<?x{0}>, vector<{1}x{0}>
            %r = math.{2} %xv{3} : vector<{1}x{0}>
            vector.store %r, %out[%i] : memref<?x{0}>, vector<{1}x{0}>
          }
          return
        })mlir",
        type, lanes, op, operands == 2 ? ", %yv" : "");
    Compiled code = compile(text, CpuOutput::Object, target);
    EXPECT_EQ(code.error, "");
    auto loaded = JitKernel::loadCode({llvm::StringRef(code.object)});
    if (!loaded) {
      ADD_FAILURE() << llvm::toString(loaded.takeError());
      return;
    }
    jit = std::move(*loaded);
    auto address = jit->address("run");
    if (!address) {
      ADD_FAILURE() << llvm::toString(address.takeError());
      return;
    }
    function = reinterpret_cast<Entry>(*address);
  }

  bool run(std::vector<T> &x, std::vector<T> &y, std::vector<T> &out) const {
    if (!function) return false;
    size_t size = x.size(), padded = (size + 15) / 16 * 16;
    x.resize(padded, T(1)), y.resize(padded, T(1)), out.resize(padded);
    int64_t n = padded;
    function(x.data(), x.data(), 0, n, 1, y.data(), y.data(), 0, n, 1, out.data(), out.data(), 0, n, 1, n);
    return true;
  }

private:
  using Entry = void (*)(T *, T *, int64_t, int64_t, int64_t, T *, T *, int64_t, int64_t, int64_t, T *, T *, int64_t,
                         int64_t, int64_t, int64_t);
  std::unique_ptr<JitKernel> jit;
  Entry function = nullptr;
};

template <typename T> std::vector<T> sample(const Function &f, std::mt19937_64 &random, size_t count) {
  using Bits = typename Checker<T>::Bits;
  std::vector<T> xs;
  xs.reserve(count);
  for (size_t i = 0; i < count / 2; ++i) { // all exponents alike
    Bits bits = static_cast<Bits>(random());
    T x;
    memcpy(&x, &bits, sizeof(T));
    xs.push_back(x);
  }
  double low = f.low, high = f.high;
  if (sizeof(T) == 8 && high > 80 && high < 130) low *= 7.2, high *= 7.95; // overflow lies further out
  std::uniform_real_distribution<double> even(low, high);
  std::uniform_real_distribution<double> exponent(-60, std::log2(std::max(std::abs(low), high)));
  for (size_t i = 0; i < count / 4; ++i) xs.push_back(static_cast<T>(even(random)));
  for (size_t i = 0; i < count / 4; ++i)
    xs.push_back(static_cast<T>(std::copysign(std::exp2(exponent(random)), static_cast<double>(random() & 1) - 0.5)));
  return xs;
}

class MathAccuracy : public testing::TestWithParam<Function> {};

TEST_P(MathAccuracy, Single) {
  const Function &f = GetParam();
  ArrayFunction<float> function(f.name, 1);
  Checker<float> checker;
  std::vector<float> y, out;
  auto check = [&](std::vector<float> &x) {
    ASSERT_TRUE(function.run(x, y, out));
    for (size_t i = 0; i < x.size(); ++i) checker.check(x[i], 0, out[i], f.reference(x[i]));
  };
  std::vector<float> x = specials<float>();
  check(x);
  std::mt19937_64 random(1);
  x = sample<float>(f, random, 1 << 21);
  check(x);
  if (const char *text = std::getenv("LINTEL_EXHAUSTIVE")) {
    uint64_t stride = std::max(1, atoi(text)), block = 1 << 16;
    for (uint64_t start = 0; start < (uint64_t(1) << 32); start += block * stride) {
      x.resize(block);
      for (uint64_t i = 0; i < block; ++i) {
        uint32_t bits = start + i * stride;
        memcpy(&x[i], &bits, 4);
      }
      check(x);
    }
  }
  RecordProperty("ulps", std::to_string(checker.worst));
  EXPECT_LE(checker.worst, f.singleUlps) << checker.summary();
  if (std::getenv("LINTEL_VERBOSE")) printf("%s f32: %s\n", f.name, checker.summary().c_str());
}

TEST_P(MathAccuracy, Double) {
  const Function &f = GetParam();
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double is no better than double here";
  ArrayFunction<double> function(f.name, 1);
  Checker<double> checker;
  std::vector<double> y, out;
  auto check = [&](std::vector<double> x) {
    ASSERT_TRUE(function.run(x, y, out));
    for (size_t i = 0; i < x.size(); ++i) checker.check(x[i], 0, out[i], f.longReference(x[i]));
  };
  check(specials<double>());
  std::mt19937_64 random(2);
  check(sample<double>(f, random, 1 << 20));
  RecordProperty("ulps", std::to_string(checker.worst));
  EXPECT_LE(checker.worst, f.doubleUlps) << checker.summary();
  if (std::getenv("LINTEL_VERBOSE")) printf("%s f64: %s\n", f.name, checker.summary().c_str());
}

template <typename T> void expectSameBits(const Function &f) {
  std::mt19937_64 random(5);
  std::vector<T> x = sample<T>(f, random, 1 << 14), y, reference, out;
  ASSERT_TRUE(ArrayFunction<T>(f.name, 1).run(x, y, reference));
  for (unsigned lanes : {1, 4, 16})
    for (const char *target : {"native", "x86-64", "x86-64-v3", "x86-64-v4"}) {
      if (!canRunHere(*resolveTarget(target))) continue;
      ASSERT_TRUE(ArrayFunction<T>(f.name, 1, lanes, target).run(x, y, out));
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_TRUE((std::isnan(out[i]) && std::isnan(reference[i])) || memcmp(&out[i], &reference[i], sizeof(T)) == 0)
            << x[i] << " with " << lanes << " lanes for " << target;
    }
}

TEST_P(MathAccuracy, SameBitsForAllLanesAndTargets) {
  expectSameBits<float>(GetParam());
  expectSameBits<double>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Functions, MathAccuracy, testing::ValuesIn(functions),
                         [](const auto &info) { return std::string(info.param.name); });

template <typename T> void checkPow(double bound) {
  using Limits = std::numeric_limits<T>;
  ArrayFunction<T> function("powf", 2);
  Checker<T> checker;
  std::vector<T> x, y, out;
  const T corner[] = {0,
                      Limits::denorm_min(),
                      Limits::min(),
                      T(0.5),
                      T(0.999999),
                      1,
                      T(1.000001),
                      T(1.5),
                      2,
                      3,
                      4,
                      5,
                      10,
                      T(16777215),
                      T(16777216),
                      T(9007199254740991.0),
                      T(9007199254740992.0),
                      Limits::max(),
                      Limits::infinity(),
                      Limits::quiet_NaN(),
                      T(1) / 3,
                      127,
                      128,
                      149,
                      150,
                      1023,
                      1024,
                      1075};
  for (T a : corner)
    for (T b : corner)
      for (int signs = 0; signs < 4; ++signs) x.push_back(signs & 1 ? -a : a), y.push_back(signs & 2 ? -b : b);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> logs(-Limits::max_exponent - 40, Limits::max_exponent + 20), near(0.5, 2);
  for (int i = 0; i < 1 << 19; ++i) {
    typename Checker<T>::Bits bits[2] = {static_cast<typename Checker<T>::Bits>(random()),
                                         static_cast<typename Checker<T>::Bits>(random())};
    T a, b;
    memcpy(&a, &bits[0], sizeof(T)), memcpy(&b, &bits[1], sizeof(T));
    x.push_back(a), y.push_back(b);
    // A result of any size from a base of any size, or near one.
    T base = i & 1 ? std::abs(a) : T(near(random));
    x.push_back(base), y.push_back(static_cast<T>(logs(random) / std::log2(static_cast<double>(base))));
    x.push_back(i & 2 ? -base : base), y.push_back(static_cast<T>(std::floor(logs(random) / 8)));
  }
  ASSERT_TRUE(function.run(x, y, out));
  for (size_t i = 0; i < x.size(); ++i)
    checker.check(x[i], y[i], out[i], std::pow(typename Checker<T>::Wide(x[i]), typename Checker<T>::Wide(y[i])));
  EXPECT_LE(checker.worst, bound) << checker.summary();
  if (std::getenv("LINTEL_VERBOSE")) printf("pow: %s\n", checker.summary().c_str());
}

TEST(Pow, Single) { checkPow<float>(2); }
TEST(Pow, Double) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double is no better than double here";
  checkPow<double>(4);
}

} // namespace

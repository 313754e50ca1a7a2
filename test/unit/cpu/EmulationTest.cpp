// What the target x86-64 has no instructions for, against the C library.
#include "Compile.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace lintel;
using namespace lintel::test;

namespace {

template <typename T> class Emulation : public testing::Test {
protected:
  static constexpr const char *type = sizeof(T) == 4 ? "f32" : "f64";

  void SetUp() override {
    if (!canRunHere(llvm::cantFail(resolveTarget("x86-64")))) GTEST_SKIP() << "not this machine's processor";
  }

  /// out[i] = op(x[i], y[i], z[i]) over vectors of 4.
  std::vector<T> run(const char *op, const char *operands, std::vector<T> x, std::vector<T> y, std::vector<T> z) {
    std::string text = llvm::formatv(
        R"mlir(func.func @run(%a: memref<?x{0}>, %b: memref<?x{0}>, %c: memref<?x{0}>, %n: index)
                   attributes {{lintel.export} {{
          %c0 = arith.constant 0 : index
          %step = arith.constant 4 : index
          scf.for %i = %c0 to %n step %step {{
            %x = vector.load %a[%i] : memref<?x{0}>, vector<4x{0}>
            %y = vector.load %b[%i] : memref<?x{0}>, vector<4x{0}>
            %z = vector.load %c[%i] : memref<?x{0}>, vector<4x{0}>
            %r = math.{1} {2} : vector<4x{0}>
            vector.store %r, %c[%i] : memref<?x{0}>, vector<4x{0}>
          }
          return
        })mlir",
        type, op, operands);
    Compiled code = compile(text, CpuOutput::Object, "x86-64");
    EXPECT_EQ(code.error, "");
    auto jit = llvm::cantFail(JitKernel::loadCode({llvm::StringRef(code.object)}));
    int64_t n = static_cast<int64_t>((x.size() + 3) / 4 * 4);
    for (auto *array : {&x, &y, &z}) array->resize(n);
    auto function =
        reinterpret_cast<void (*)(T *, T *, int64_t, int64_t, int64_t, T *, T *, int64_t, int64_t, int64_t, T *, T *,
                                  int64_t, int64_t, int64_t, int64_t)>(llvm::cantFail(jit->address("run")));
    function(x.data(), x.data(), 0, n, 1, y.data(), y.data(), 0, n, 1, z.data(), z.data(), 0, n, 1, n);
    return z;
  }

  static bool same(T a, T b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof(T)) == 0; }

  static std::vector<T> specials() {
    using Limits = std::numeric_limits<T>;
    std::vector<T> all;
    for (T x :
         {T(0), T(0.25), T(0.5), T(0.75), T(1), T(1.5), T(2.5), T(3), T(1) + Limits::epsilon(), Limits::max(),
          Limits::min(), Limits::denorm_min(), Limits::infinity(), Limits::quiet_NaN(), 1 / Limits::epsilon() - T(0.5),
          1 / Limits::epsilon(), 1 / Limits::epsilon() + 1, 2 / Limits::epsilon() + 2})
      all.insert(all.end(), {x, -x});
    return all;
  }

  std::mt19937_64 random{7};
  /// Of exponents that let sums cancel, and of few digits, which let them be exact or halfway.
  T number(int exponents) {
    T digits = static_cast<T>(1 + std::ldexp(static_cast<double>(random() >> 12), -52));
    if (random() & 1) digits = static_cast<T>(1 + std::ldexp(static_cast<double>(random() & 15), -(random() % 26)));
    int exponent = static_cast<int>(random() % (2 * exponents + 1)) - exponents;
    return std::ldexp(random() & 1 ? digits : -digits, exponent);
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Emulation, Types);

TYPED_TEST(Emulation, FusedMultiplyAddIsRoundedOnce) {
  using T = TypeParam;
  std::vector<T> x, y, z, list = this->specials();
  for (T a : list)
    for (T b : list)
      for (T c : list) {
        // Halves of f64 overflow at the end of its range (see the pass).
        bool end = sizeof(T) == 8 && (std::abs(a) > 1e299 || std::abs(b) > 1e299);
        if (end && std::isfinite(a) && std::isfinite(b) && std::isfinite(c)) continue;
        x.push_back(a), y.push_back(b), z.push_back(c);
      }
  for (int i = 0; i < 1 << 19; ++i) {
    T a = this->number(30), b = this->number(30), c = this->number(60);
    // The error of a product, and sums that lie halfway but for a far digit.
    if (i % 4 == 1) c = -a * b;
    if (i % 4 == 2) c = std::ldexp(a * b, static_cast<int>(this->random() % 120) - 60);
    // To the ends of the small numbers.
    int down = sizeof(T) == 4 ? 60 : 500 + static_cast<int>(this->random() % 40);
    if (i % 4 == 3) a = std::ldexp(a, -down), b = std::ldexp(b, -down), c = std::ldexp(c, -down - down);
    if (i % 16 == 3) c = std::ldexp(c, static_cast<int>(this->random() % 120) - 60);
    if (i % 64 == 7) c = 0;
    x.push_back(a), y.push_back(b), z.push_back(c);
  }
  std::vector<T> out = this->run("fma", "%x, %y, %z", x, y, z);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(this->same(out[i], std::fma(x[i], y[i], z[i])))
        << x[i] << " * " << y[i] << " + " << z[i] << ": got " << out[i] << ", expected " << std::fma(x[i], y[i], z[i]);
}

TYPED_TEST(Emulation, RoundsToIntegers) {
  using T = TypeParam;
  std::vector<T> x = this->specials();
  for (int i = 0; i < 1 << 16; ++i) x.push_back(this->number(70));
  for (int i = -4000; i <= 4000; ++i) x.push_back(T(i) / 8);
  struct Function {
    const char *name;
    T (*is)(T);
  };
  for (Function f : {Function{"floor", std::floor}, Function{"ceil", std::ceil}, Function{"trunc", std::trunc},
                     Function{"roundeven", std::nearbyint}}) {
    std::vector<T> out = this->run(f.name, "%x", x, x, x);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(this->same(out[i], f.is(x[i]))) << f.name << " " << x[i] << ": got " << out[i];
  }
}

} // namespace

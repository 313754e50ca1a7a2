#include "codegen/halide/HalideHeader.h"

#include "codegen/halide/HalideSupport.h"
#include "gtest/gtest.h"
#include <stdexcept>

using namespace Halide;

namespace {

TEST(HalideGuard, NothingWrong) {
  EXPECT_EQ(lintel::guardHalide([] {
              Var x("x");
              Func f("f");
              f(x) = x + 1;
              f.vectorize(x, 4);
            }),
            std::nullopt);
}

TEST(HalideGuard, UserErrorBecomesItsMessage) {
  auto fault = lintel::guardHalide([] {
    Func f("f");
    Var x("x");
    f(x) = f(x - 1);
  });
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->find("f"), std::string::npos) << *fault;
  EXPECT_NE(fault->back(), '\n');
}

TEST(HalideGuard, ErrorWhileLowering) {
  auto fault = lintel::guardHalide([] {
    Func f("f"), g("g");
    Var x("x"), y("y");
    f(x) = x;
    g(x) = f(x);
    f.compute_at(g, y);
    Pipeline(g).compile_to_module({}, "g", Target("x86-64-linux-no_runtime-no_asserts-no_bounds_query"));
  });
  ASSERT_TRUE(fault);
}

// Without run-time checks a violated bound() is nothing but this warning, and wrong results.
TEST(HalideGuard, WarningsAreErrors) {
  auto fault = lintel::guardHalide([] { Internal::issue_warning("something is doubtful\n"); });
  ASSERT_TRUE(fault);
  EXPECT_EQ(*fault, "something is doubtful");
}

TEST(HalideGuard, GuardsNest) {
  std::optional<std::string> inner;
  auto outer = lintel::guardHalide([&] {
    inner = lintel::guardHalide([] { Internal::issue_warning("inside"); });
    Internal::issue_warning("outside");
  });
  ASSERT_TRUE(inner && outer);
  EXPECT_EQ(*inner, "inside");
  EXPECT_EQ(*outer, "outside");
}

TEST(HalideGuard, OtherExceptions) {
  auto fault = lintel::guardHalide([] { throw std::runtime_error("not Halide's"); });
  ASSERT_TRUE(fault);
  EXPECT_EQ(*fault, "not Halide's");
  EXPECT_TRUE(lintel::guardHalide([] { throw 1; }));
}

} // namespace

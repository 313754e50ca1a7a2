#include "compiler/driver/Benchmark.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace lintel;
using testing::HasSubstr;
using testing::Not;

namespace {

BenchmarkResult measured(double tokensHeads) {
  BenchmarkResult r;
  r.name = "a", r.difference.ok = true, r.tokensHeads = tokensHeads, r.flops = 1000, r.limit = 10;
  return r;
}

std::string text(const BenchmarkResult &r) {
  std::string text;
  llvm::raw_string_ostream os(text);
  r.print(os);
  return text;
}

TEST(Benchmark, AShareOfTheLimit) {
  BenchmarkResult r = measured(4e6);
  EXPECT_DOUBLE_EQ(r.fraction().value_or(0), 0.4);
  EXPECT_THAT(text(r), HasSubstr("4.00 gflops at 1000 flops a token and head, 40.0 % of the measured 10.0"));
}

// The parallel form of few steps does less than the recurrence on its states.
TEST(Benchmark, MoreThanTheLimitIsNoShareOfIt) {
  BenchmarkResult r = measured(139e6);
  EXPECT_FALSE(r.fraction());
  EXPECT_THAT(text(r), HasSubstr("139.00 gflops at 1000 flops a token and head, beyond the measured 10.0"));
  EXPECT_THAT(text(r), Not(HasSubstr("%")));
  EXPECT_EQ(r.json().getAsObject()->get("fraction_of_limit")->kind(), llvm::json::Value::Null);
}

TEST(Benchmark, NoCountIsNoShare) {
  BenchmarkResult r = measured(4e6);
  r.flops = std::nullopt;
  EXPECT_FALSE(r.gflops() || r.fraction());
  EXPECT_THAT(text(r), Not(HasSubstr("%")));
}

} // namespace

#include "dialect/DimExpr.h"
#include <gtest/gtest.h>

using lintel::DimExpr;

static DimExpr dim(const char *text) {
  std::optional<DimExpr> result = DimExpr::parse(text);
  return result ? *result : DimExpr();
}

TEST(DimExpr, CanonicalForm) {
  DimExpr m = DimExpr::symbol("m"), dk = DimExpr::symbol("dk");
  EXPECT_EQ((m + m).str(), "2*m");
  EXPECT_EQ((DimExpr::constant(1) + dk * dk + m * DimExpr::constant(2)).str(), "2*m + dk*dk + 1");
  EXPECT_EQ(m * dk, dk * m);
  EXPECT_EQ((m + dk) * (m + dk), m * m + dk * m + m * dk + dk * dk);
  EXPECT_NE(m, dk);
  EXPECT_NE(m, DimExpr::constant(1));
  EXPECT_EQ(hash_value(m * dk), hash_value(dk * m));
}

TEST(DimExpr, PrintParses) {
  for (const char *text : {"1", "m", "2*m", "2*m + dk*dk + 1", "a_1*b*b + 3*c*c*c + 7"})
    EXPECT_EQ(dim(text).str(), text);
  EXPECT_EQ(dim(" 1+ m *2 ").str(), "2*m + 1");
  EXPECT_EQ(dim("3*4").str(), "12");
}

TEST(DimExpr, ParseErrors) {
  std::string why;
  for (const char *text :
       {"", "+", "m +", "m m", "0", "0*m", "-1", "m - 1", "2**m", "99999999999999999999", "m*", "M[2]"})
    EXPECT_FALSE(DimExpr::parse(text, &why)) << text;
  EXPECT_FALSE(DimExpr::parse("m - 1", &why));
  EXPECT_EQ(why, "in dimension 'm - 1': expected '+', '*' or the end, found '-'");
}

TEST(DimExpr, Evaluate) {
  llvm::StringMap<int64_t> binding{{"m", 3}, {"dk", 5}};
  EXPECT_EQ(dim("2*m + dk*dk + 1").evaluate(binding), 32);
  EXPECT_EQ(dim("x").evaluate(binding), std::nullopt);
  binding["m"] = 0;
  EXPECT_EQ(dim("m").evaluate(binding), std::nullopt);
  binding["m"] = int64_t(1) << 40;
  EXPECT_EQ(dim("m*m").evaluate(binding), std::nullopt);
  EXPECT_EQ(DimExpr().evaluate(binding), std::nullopt);
}

TEST(DimExpr, Substitute) {
  auto binding = [](llvm::StringRef name) -> std::optional<DimExpr> {
    if (name == "m") return DimExpr::constant(4);
    if (name == "n") return DimExpr::symbol("m");
    return std::nullopt;
  };
  EXPECT_EQ(dim("2*m + m*n + k + 1").substitute(binding), dim("4*m + k + 9"));
  EXPECT_EQ(dim("m*m + 1").substitute(binding).getConstant(), 17);
}

TEST(DimExpr, LimitsMakeInvalid) {
  EXPECT_FALSE(DimExpr::constant(0).isValid());
  EXPECT_FALSE(DimExpr::constant(-3).isValid());
  DimExpr x = DimExpr::symbol("x"), power = x;
  for (unsigned i = 1; i < DimExpr::maxDegree; ++i) power = power * x;
  EXPECT_TRUE(power.isValid());
  EXPECT_FALSE((power * x).isValid());
  EXPECT_FALSE((power * x + x).isValid());
  DimExpr big = DimExpr::constant(INT64_MAX);
  EXPECT_FALSE((big + big).isValid());
  EXPECT_FALSE((big * DimExpr::constant(2)).isValid());
  DimExpr sum = DimExpr::constant(1);
  for (unsigned i = 0; i < DimExpr::maxTerms; ++i) sum = sum + DimExpr::symbol("x" + std::to_string(i));
  EXPECT_FALSE(sum.isValid());
  EXPECT_EQ(DimExpr().str(), "?");
}

TEST(DimExpr, Cancel) {
  DimExpr a = dim("2*m + 3"), b = dim("m + 3");
  DimExpr::cancel(a, b);
  EXPECT_EQ(a.str(), "m");
  EXPECT_FALSE(b.isValid());
}

TEST(DimExpr, Kinds) {
  EXPECT_TRUE(dim("m").isSymbol());
  EXPECT_FALSE(dim("2*m").isSymbol());
  EXPECT_TRUE(dim("7").isConstant());
  EXPECT_TRUE(dim("1").isOne());
  llvm::SmallVector<std::string> names;
  dim("2*m + dk*m + 1").collectSymbols(names);
  EXPECT_EQ(names, (llvm::SmallVector<std::string>{"m", "dk"}));
}

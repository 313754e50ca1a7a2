// What inputs are used for, and which denominators are in doubt.
#include "compiler/analysis/InputUse.h"
#include "Support.h"
#include "compiler/analysis/DivisionAnalysis.h"

using namespace lintel;
using namespace lintel::test;

namespace {

std::vector<InputUse> usesOf(llvm::StringRef text) {
  auto file = spec(text);
  if (!file) return {};
  auto uses = inputUses(file->operators().front().spec);
  return {uses.begin(), uses.end()};
}

unsigned doubtsOf(llvm::StringRef text) {
  auto file = spec(text);
  return file ? DivisionAnalysis(file->operators().front().spec).doubtfulDivisions().size() : ~0u;
}

TEST(InputUse, DecaysInEitherForm) {
  constexpr auto Plain = InputUse::Plain;
  EXPECT_EQ(usesOf("attention a { token q[n], k[n], v[n], g; decay exp(g) }"),
            (std::vector{Plain, Plain, Plain, InputUse::LogDecay}));
  EXPECT_EQ(usesOf("attention a { token q[n], k[n], v[n]; head gamma; decay gamma }"),
            (std::vector{Plain, Plain, Plain, InputUse::DecayFactor}));
  EXPECT_EQ(usesOf("attention a { token q[n], k[n], v[n], w[n]; decay exp(-w) }"),
            (std::vector{Plain, Plain, Plain, InputUse::DecayRate}));
  EXPECT_EQ(usesOf("attention a { token q[n], k[n], v[n], g; decay sigmoid(g) }"),
            (std::vector{Plain, Plain, Plain, Plain}));
}

TEST(InputUse, Gates) {
  auto uses =
      usesOf("attention a {\n token q[n], k[n], v[m], beta\n state S[n, m]\n S = S + beta * outer(k, v - k @ S)\n"
             " out = q @ S\n}");
  EXPECT_EQ(uses.back(), InputUse::Gate);
}

TEST(DivisionAnalysis, PositiveFeaturesAreSafe) {
  const char *text = "attention a { token q[n], k[n], v[n]; feature(x) = %s; normalize %s }";
  auto with = [&](const char *feature, const char *normalize) {
    char buffer[256];
    snprintf(buffer, sizeof buffer, text, feature, normalize);
    return doubtsOf(buffer);
  };
  EXPECT_EQ(with("elu(x) + 1", ""), 0u);
  EXPECT_EQ(with("exp(x)", ""), 0u);
  EXPECT_EQ(with("softplus(x)", ""), 0u);
  EXPECT_EQ(with("sigmoid(x)", ""), 0u);
  EXPECT_EQ(with("where(x > 0, x + 1, exp(x))", ""), 0u);
  EXPECT_EQ(with("x ^ 2 + 0.1", ""), 0u);
  EXPECT_EQ(with("relu(x)", "den + 0.000001"), 0u);
  EXPECT_EQ(with("x", "max(abs(den), 1)"), 0u);
  EXPECT_EQ(with("relu(x)", ""), 1u);
  EXPECT_EQ(with("x", ""), 1u);
  EXPECT_EQ(with("cos(x)", ""), 1u);
  EXPECT_EQ(with("x", "den + 1"), 1u);
}

} // namespace

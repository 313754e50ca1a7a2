#include "compiler/frontend/Parser.h"
#include "Support.h"
#include <gtest/gtest.h>

using namespace lintel::frontend;

namespace {

/// The tree with all parentheses.
std::string full(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Error:
    return "?";
  case ExprKind::Number:
    return printNumber(expr.number);
  case ExprKind::Name:
    return expr.name.str();
  case ExprKind::Unary:
    return "(" + spelling(expr.operation).str() + " " + full(*expr.args[0]) + ")";
  case ExprKind::Binary:
    return "(" + full(*expr.args[0]) + " " + spelling(expr.operation).str() + " " + full(*expr.args[1]) + ")";
  case ExprKind::Index:
    return full(*expr.args[0]) + "[" + full(*expr.args[1]) + "]";
  case ExprKind::Call: {
    std::string text = expr.name.str() + "(";
    for (const Expr *arg : expr.args) text += (arg == expr.args[0] ? "" : ", ") + full(*arg);
    return text + ")";
  }
  }
  return "";
}

std::string tree(const std::string &expr) {
  std::unique_ptr<File> file = parse("attention t {\n  scale " + expr + "\n}\n", "t.attn");
  if (file->diagnostics.hasErrors()) return file->diagnostics.sorted()[0].message;
  return full(*file->operators[0]->statements[0]->value);
}

} // namespace

TEST(Parser, Precedence) {
  EXPECT_EQ(tree("a + b * c"), "(a + (b * c))");
  EXPECT_EQ(tree("a - b - c"), "((a - b) - c)");
  EXPECT_EQ(tree("a / b * c @ d"), "(((a / b) * c) @ d)");
  EXPECT_EQ(tree("-x^2"), "(- (x ^ 2))");
  EXPECT_EQ(tree("dk^-0.25 * x"), "((dk ^ (- 0.25)) * x)");
  EXPECT_EQ(tree("a^b^c"), "(a ^ (b ^ c))");
  EXPECT_EQ(tree("2^-x^2"), "(2 ^ (- (x ^ 2)))");
  EXPECT_EQ(tree("-a * b"), "((- a) * b)");
  EXPECT_EQ(tree("a * -b"), "(a * (- b))");
  EXPECT_EQ(tree("--a"), "(- (- a))");
  EXPECT_EQ(tree("x[0]^2"), "(x[0] ^ 2)");
  EXPECT_EQ(tree("M[1][n - 1]"), "M[1][(n - 1)]");
  EXPECT_EQ(tree("a . b / 2"), "(dot(a, b) / 2)");
  EXPECT_EQ(tree("v - k @ S"), "(v - (k @ S))");
  EXPECT_EQ(tree("a < b and not c == d or e > f"), "(((a < b) and (not (c == d))) or (e > f))");
  EXPECT_EQ(tree("not not a < b"), "(not (not (a < b)))");
  EXPECT_EQ(tree("a + 1 < b * 2"), "((a + 1) < (b * 2))");
  EXPECT_EQ(tree("a < b and c < d"), "((a < b) and (c < d))");
  EXPECT_EQ(tree("(a < b) == (c < d)"), "((a < b) == (c < d))");
  EXPECT_EQ(tree("f(a, (b + c), g())"), "f(a, (b + c), g())");
}

TEST(Parser, Lines) {
  EXPECT_EQ(tree("(a\n + b)"), "(a + b)");
  EXPECT_EQ(tree("a +\n\n b"), "(a + b)");
  EXPECT_EQ(tree("f(\n a,\n b\n)"), "f(a, b)");
  EXPECT_EQ(tree("x[\n0\n]"), "x[0]");
  EXPECT_EQ(tree("a; scale b"), "a");
}

TEST(Parser, StatementsOnOneLine) {
  std::unique_ptr<File> file = parse("attention a { token q[dk], k[dk]; token v[dv]; causal; normalize }", "t.attn");
  EXPECT_FALSE(file->diagnostics.hasErrors()) << file->diagnostics.str();
  EXPECT_EQ(file->operators[0]->statements.size(), 4u);
  EXPECT_TRUE(check(*file));
}

TEST(Parser, KeywordsAreNamesElsewhere) {
  std::unique_ptr<File> file = parse("attention weights {\n  token decay[dk], scale, v[dv]\n  state causal[dk, dv]\n"
                                     "  causal = scale * causal + outer(decay, v)\n  out = decay @ causal\n}\n",
                                     "t.attn");
  EXPECT_TRUE(check(*file)) << file->diagnostics.str();
  std::unique_ptr<File> again = parse(print(*file), "t.attn");
  EXPECT_TRUE(check(*again)) << again->diagnostics.str();
}

TEST(Parser, SpansCoverTheExpression) {
  std::unique_ptr<File> file = parse("attention a {\n  scale (a + b) * exp(c)\n}\n", "t.attn");
  const Expr &expr = *file->operators[0]->statements[0]->value;
  EXPECT_EQ(file->source.text(expr.span), "(a + b) * exp(c)");
  EXPECT_EQ(file->source.text(expr.args[0]->span), "(a + b)");
  EXPECT_EQ(file->source.text(expr.at), "*");
  EXPECT_EQ(file->source.text(file->operators[0]->statements[0]->span), "scale (a + b) * exp(c)");
}

TEST(Parser, RecoversAtStatements) {
  std::unique_ptr<File> file = parse("attention a {\n  token q[dk, k[dk], v[dv]\n  scale (\n  decay 3 3\n  causal\n}\n"
                                     "attention b {\n  token q[dk], k[dk], v[dv]\n}\n",
                                     "t.attn");
  EXPECT_EQ(file->diagnostics.numErrors(), 3u) << file->diagnostics.str();
  ASSERT_EQ(file->operators.size(), 2u);
  EXPECT_TRUE(file->operators[0]->hasSyntaxError);
  EXPECT_FALSE(file->operators[1]->hasSyntaxError);
}

TEST(Parser, DeepInputIsAnErrorNotACrash) {
  for (const char *piece : {"(", "-", "not ", "f(", "x[", "2^", "(-", "a + ("}) {
    std::string text = "attention a {\n  scale ";
    for (int i = 0; i < 100000; ++i) text += piece;
    std::unique_ptr<File> file = parse(text, "t.attn");
    check(*file);
    EXPECT_TRUE(file->diagnostics.hasErrors()) << piece;
    EXPECT_LT(file->diagnostics.numErrors(), 10u) << piece;
  }
  for (const char *piece : {" + a", " * a", " @ a", "[0]", " and a", " . a"}) {
    std::string text = "attention a {\n  token q[dk], k[dk], v[dv]\n  scale a";
    for (int i = 0; i < 100000; ++i) text += piece;
    std::unique_ptr<File> file = parse(text + "\n}\n", "t.attn");
    check(*file);
    EXPECT_TRUE(file->diagnostics.hasErrors()) << piece;
  }
}

TEST(Parser, LongChainsOfLets) {
  std::string text = "attention a {\n  token q[dk], k[dk], v[dv]\n  let x0 = q\n  state S[dk, dv]\n";
  for (int i = 1; i < 3900; ++i)
    text += "  let x" + std::to_string(i) + " = (x" + std::to_string(i - 1) + " + k) * 2\n";
  text += "  S = S + outer(x3899, v)\n  out = q @ S\n}\n";
  std::unique_ptr<File> file = parse(text, "t.attn");
  EXPECT_TRUE(check(*file)) << file->diagnostics.str();
}

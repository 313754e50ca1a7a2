#include "compiler/frontend/Printer.h"
#include "Support.h"
#include <gtest/gtest.h>

using namespace lintel::frontend;

namespace {

std::string canonical(const std::string &expr) {
  std::unique_ptr<File> file = parse("attention t {\n  scale " + expr + "\n}\n", "t.attn");
  EXPECT_FALSE(file->diagnostics.hasErrors()) << file->diagnostics.str();
  std::string text;
  llvm::raw_string_ostream os(text);
  printExpr(*file->operators[0]->statements[0]->value, os);
  return text;
}

bool same(const Expr *a, const Expr *b) {
  if (!a || !b) return a == b;
  if (a->kind != b->kind || a->operation != b->operation || a->name != b->name || a->number != b->number ||
      a->args.size() != b->args.size())
    return false;
  for (unsigned i = 0; i < a->args.size(); ++i)
    if (!same(a->args[i], b->args[i])) return false;
  return true;
}

bool same(const Operator &a, const Operator &b) {
  if (a.name != b.name || a.statements.size() != b.statements.size()) return false;
  for (unsigned i = 0; i < a.statements.size(); ++i) {
    const Statement &x = *a.statements[i], &y = *b.statements[i];
    if (x.kind != y.kind || x.name != y.name || x.declarators.size() != y.declarators.size() ||
        x.parameters.size() != y.parameters.size() || !same(x.value, y.value))
      return false;
    for (unsigned j = 0; j < x.declarators.size(); ++j) {
      const Declarator &d = x.declarators[j], &e = y.declarators[j];
      if (d.name != e.name || d.dims.size() != e.dims.size()) return false;
      for (unsigned n = 0; n < d.dims.size(); ++n)
        if (d.dims[n].value != e.dims[n].value) return false;
    }
    for (unsigned j = 0; j < x.parameters.size(); ++j)
      if (x.parameters[j].name != y.parameters[j].name) return false;
  }
  return true;
}

} // namespace

TEST(Printer, FewestParentheses) {
  for (const char *text : {"a + b * c",
                           "(a + b) * c",
                           "a - (b - c)",
                           "a - b - c",
                           "a / (b * c)",
                           "-x^2",
                           "(-x)^2",
                           "a^b^c",
                           "(a^b)^c",
                           "2^-x",
                           "-(a + b)",
                           "a * -b",
                           "--a",
                           "(a + b)[0]",
                           "x[0][1]",
                           "f(a + b, c)",
                           "a < b and c < d",
                           "(a < b) == (c < d)",
                           "not (a < b or c < d)",
                           "not a < b",
                           "(not a) == b",
                           "(a or b) and c",
                           "a or b and c",
                           "a @ (b @ c)",
                           "(-a)[0]",
                           "dk^-0.25",
                           "-2^2",
                           "2^(-x)^2"})
    EXPECT_EQ(canonical(text), text);
  EXPECT_EQ(canonical("((a)) + (b * (c))"), "a + b * c");
  EXPECT_EQ(canonical("a . b"), "dot(a, b)");
  EXPECT_EQ(canonical("a . b . c"), "dot(dot(a, b), c)");
  EXPECT_EQ(canonical("a^(b^c)"), "a^b^c");
  EXPECT_EQ(canonical("2^(-x)"), "2^-x");
}

TEST(Printer, Numbers) {
  for (auto [number, text] : {std::pair(1.0, "1"),
                              {0.0, "0"},
                              {1e-6, "1e-6"},
                              {0.1, "0.1"},
                              {100.0, "100"},
                              {1e300, "1e300"},
                              {0.25, "0.25"},
                              {1.0 / 3, "0.3333333333333333"},
                              {123456789.0, "123456789"},
                              {5e-324, "5e-324"},
                              {1e15, "1e15"},
                              {1.5e20, "1.5e20"}})
    EXPECT_EQ(printNumber(number), text);
}

TEST(Printer, ExamplesParseBackToTheSame) {
  std::vector<std::string> paths = attnFiles("examples/specs");
  ASSERT_GE(paths.size(), 25u);
  for (const std::string &path : paths) {
    std::unique_ptr<File> file = parse(readText(path), path);
    ASSERT_TRUE(check(*file)) << file->diagnostics.str();
    EXPECT_EQ(file->diagnostics.str(), "") << path;
    std::string text = print(*file);
    std::unique_ptr<File> again = parse(text, path);
    ASSERT_TRUE(check(*again)) << again->diagnostics.str();
    ASSERT_EQ(file->operators.size(), again->operators.size());
    for (unsigned i = 0; i < file->operators.size(); ++i)
      EXPECT_TRUE(same(*file->operators[i], *again->operators[i])) << text;
    EXPECT_EQ(print(*again), text);
  }
}

TEST(Printer, Statements) {
  const char *text = "attention a {\n"
                     "  token q[dk], k[dk], v[64]\n"
                     "  head u, w[dk]\n"
                     "  shared M[m, dk]\n"
                     "  let y = u * 2\n"
                     "  feature_q(x) = M @ x * y\n"
                     "  feature_k(x) = M @ (x * w)\n"
                     "  scale rsqrt(dk)\n"
                     "  causal\n"
                     "  decay 0.5\n"
                     "  normalize max(abs(den), 1)\n"
                     "}\n"
                     "\n"
                     "attention b {\n"
                     "  token x[n]\n"
                     "  state s[n], total\n"
                     "  s = s + x\n"
                     "  total = total + 1\n"
                     "  out = s / total\n"
                     "}\n"
                     "\n"
                     "attention c {\n"
                     "  token q[dk], k[dk], v[dv]\n"
                     "  bidirectional\n"
                     "  weights(a, b) = exp(dot(a, b))\n"
                     "  normalize\n"
                     "}\n";
  std::unique_ptr<File> file = parse(text, "t.attn");
  ASSERT_TRUE(check(*file)) << file->diagnostics.str();
  EXPECT_EQ(print(*file), text);
}

#include "Support.h"
#include <gtest/gtest.h>

using namespace lintel::frontend;

namespace {

/// The type of an expression over the inputs and states that withExpr declares, or its first error.
std::string typeOf(const std::string &expr) {
  std::unique_ptr<File> file = parse(withExpr(expr), "t.attn");
  check(*file);
  if (file->diagnostics.hasErrors()) {
    for (const Diagnostic &diagnostic : file->diagnostics.sorted())
      if (diagnostic.severity() == Severity::Error) return diagnostic.message;
  }
  for (const auto &statement : file->operators[0]->statements)
    if (statement->kind == StatementKind::Let) return statement->value->type.str();
  return "";
}

Degree degreeOf(const std::string &expr) {
  std::unique_ptr<File> file = parse(withExpr(expr), "t.attn");
  EXPECT_TRUE(check(*file)) << file->diagnostics.str();
  for (const auto &statement : file->operators[0]->statements)
    if (statement->kind == StatementKind::Let) return statement->value->degree;
  return Degree::Free;
}

const Operator &checked(std::unique_ptr<File> &file, const char *text) {
  file = parse(text, "t.attn");
  EXPECT_TRUE(check(*file)) << file->diagnostics.str();
  return *file->operators[0];
}

} // namespace

TEST(Sema, Shapes) {
  EXPECT_EQ(typeOf("1 + g"), "scalar");
  EXPECT_EQ(typeOf("q * 2"), "vector [dk]");
  EXPECT_EQ(typeOf("q * M"), "matrix [dk, dv]"); // along the first axis
  EXPECT_EQ(typeOf("M * q"), "matrix [dk, dv]");
  EXPECT_EQ(typeOf("M @ v"), "vector [dk]");
  EXPECT_EQ(typeOf("q @ M"), "vector [dv]");
  EXPECT_EQ(typeOf("M @ N"), "matrix [dk, dv]");
  EXPECT_EQ(typeOf("q . k"), "scalar");
  EXPECT_EQ(typeOf("outer(q, v)"), "matrix [dk, dv]");
  EXPECT_EQ(typeOf("flatten(outer(q, q))"), "vector [dk*dk]");
  EXPECT_EQ(typeOf("concat(q, 1, q, v, g)"), "vector [2*dk + dv + 2]");
  EXPECT_EQ(typeOf("concat(1, q, flatten(outer(q, q)))"), "vector [dk + dk*dk + 1]");
  EXPECT_EQ(typeOf("softmax(q) + cumsum(q)"), "vector [dk]");
  EXPECT_EQ(typeOf("sum(q) + mean(q) + norm(q) + max(q) + min(q)"), "scalar");
  EXPECT_EQ(typeOf("max(q, 0)"), "vector [dk]");
  EXPECT_EQ(typeOf("min(q, M, 1)"), "matrix [dk, dv]");
  EXPECT_EQ(typeOf("where(q > 0, M, 0)"), "matrix [dk, dv]");
  EXPECT_EQ(typeOf("where(g > 0 and not q < 1, 1, 0)"), "vector [dk]");
  EXPECT_EQ(typeOf("q[0]"), "scalar");
  EXPECT_EQ(typeOf("q[dk - 1] + v[dv - 1]"), "scalar");
  EXPECT_EQ(typeOf("M[2]"), "vector [dv]");
  EXPECT_EQ(typeOf("M[dk - 1][3]"), "scalar");
  EXPECT_EQ(typeOf("concat(q, v)[dk + dv - 1]"), "scalar");
  EXPECT_EQ(typeOf("concat(q, v)[2 * dk - dk]"), "scalar");
  EXPECT_EQ(typeOf("dk^-0.25 * dv + pi * position"), "scalar");
  EXPECT_EQ(typeOf("-inf"), "scalar");
}

TEST(Sema, EveryFunction) {
  for (const char *name : {"exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "softplus",
                           "silu", "gelu", "relu", "elu", "abs"}) {
    EXPECT_EQ(typeOf(std::string(name) + "(g)"), "scalar");
    EXPECT_EQ(typeOf(std::string(name) + "(q)"), "vector [dk]");
    EXPECT_EQ(typeOf(std::string(name) + "(M)"), "matrix [dk, dv]");
  }
}

TEST(Sema, Affinity) {
  EXPECT_EQ(degreeOf("q * 2"), Degree::Free);
  for (const char *expr : {"S",
                           "S + 1",
                           "-S",
                           "g * S",
                           "S / g",
                           "exp(g) * S * 2",
                           "k @ S",
                           "M @ N + S",
                           "outer(k, k @ S)",
                           "z . k",
                           "dot(k, z)",
                           "sum(z)",
                           "mean(z)",
                           "cumsum(z)",
                           "concat(z, n, 1)",
                           "flatten(S)",
                           "z[0]",
                           "S[0]",
                           "where(g > 0, z, k)",
                           "where(q > 0, 0, S)",
                           "n * k + z"})
    EXPECT_EQ(degreeOf(expr), Degree::Affine) << expr;
  for (const char *expr :
       {"S * S", "exp(S)", "1 / n", "z / n", "z . z", "n * n", "n^2", "2^n", "max(z)", "max(n, 1)", "abs(n)", "norm(z)",
        "softmax(z)", "where(n > 0, 1, 2)", "outer(z, k @ S)", "z @ S", "tanh(n) * q"})
    EXPECT_EQ(degreeOf(expr), Degree::Nonlinear) << expr;
}

TEST(Sema, ShortForm) {
  std::unique_ptr<File> file;
  const Operator &op =
      checked(file, "attention a {\n  shared W[m, dk]\n  token q[dk], k[dk], v[dv]\n  feature(x) = concat(W @ x, 1)\n"
                    "  decay 0.5\n  normalize den + 1\n}");
  EXPECT_EQ(op.form, Form::Linear);
  EXPECT_EQ(op.shortForm.phi.str(), "vector [m + 1]");
  EXPECT_EQ(op.dimensions, (std::vector<std::string>{"m", "dk", "dv"}));
  EXPECT_EQ(op.inputs.size(), 4u);
  EXPECT_EQ(op.out.str(), "vector [dv]");
}

TEST(Sema, Weights) {
  std::unique_ptr<File> file;
  // Query and key may differ in length where the similarity takes them so.
  const Operator &op = checked(
      file, "attention a {\n  shared W[dk, m]\n  token q[dk], k[m], v[dv]\n  weights(a, b) = exp(a . (W @ b))\n}");
  EXPECT_EQ(op.form, Form::Weights);
  EXPECT_FALSE(op.shortForm.bidirectional);
}

TEST(Sema, Recurrence) {
  std::unique_ptr<File> file;
  const Operator &op = checked(file, "attention a {\n  causal\n  token x\n  state s\n  out = s\n  s = s + x\n}");
  EXPECT_EQ(op.form, Form::Recurrence);
  EXPECT_EQ(op.out.str(), "scalar");
  EXPECT_EQ(op.states.size(), 1u);
}

TEST(Sema, AssignmentsAccept) {
  std::unique_ptr<File> file;
  checked(file,
          "attention a {\n  token q[dk], k[dk], v[dv], g\n  state S[dk, dv], z[dk]\n"
          "  S = where(g > 1, 0, S)\n" // a scalar fills
          "  S = S + outer(k, v)\n  z = 0\n  z = z + k\n  let y = tanh(q @ S)\n  out = y / max(abs(q . z), 1)\n}");
}

TEST(Sema, ParametersHideInputs) {
  std::unique_ptr<File> file;
  checked(
      file,
      "attention a {\n  token q[dk], k[dk], v[dv], x[m]\n  shared W[m, dk]\n  feature(x) = W @ x\n  decay sigmoid(x)\n"
      "  normalize den + 1\n}");
}

TEST(Sema, BodiesSeeInputsAndLets) {
  std::unique_ptr<File> file;
  checked(file, "attention a {\n  token q[dk], k[dk], v[dv], t\n  head u[dk]\n  feature_k(x) = exp(x * u + t) * w\n  "
                "let w = t * position\n}");
}

TEST(Sema, LetsMayStandAfterTheirUseInTheShortForm) {
  std::unique_ptr<File> file;
  checked(file, "attention a {\n  token q[dk], k[dk], v[dv], g\n  decay a\n  let a = sigmoid(g)\n}");
}

TEST(Sema, WarningsAreNotErrors) {
  std::unique_ptr<File> file = parse("attention a {\n  token q[dk], k[dk], v[dv], unused\n}\n", "t.attn");
  EXPECT_TRUE(check(*file));
  EXPECT_EQ(file->diagnostics.str(), "t.attn:2:30: warning: token input 'unused' is never used\n"
                                     "    token q[dk], k[dk], v[dv], unused\n"
                                     "                               ^~~~~~\n");
}

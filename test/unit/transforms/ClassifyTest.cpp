// The class of a transition does not depend on how the step is written, nor does the chunkwise form.
#include "test/unit/transforms/Harness.h"

using namespace mlir;
using namespace lintel;

namespace {

std::string classesOf(StringRef text) {
  auto specs = specsOf(text);
  if (!specs) return "error";
  auto forms = formsOf(*specs, smallDims(*specs), 4);
  std::string classes;
  for (RecurrentOp op : forms->getOps<RecurrentOp>())
    for (Attribute c : op->getAttrOfType<ArrayAttr>("transition"))
      classes += (classes.empty() ? "" : ", ") + cast<StringAttr>(c).getValue().str();
  return classes;
}

std::string body(StringRef update, StringRef inputs = "q[dk], k[dk], v[dv], g, w[dk], beta") {
  return ("attention t {\n token " + inputs + "\n state S[dk, dv]\n " + update + "\n out = q @ S\n}\n").str();
}

struct Row {
  const char *update, *classes;
};

TEST(Classify, EveryRowOfTheTable) {
  const Row rows[] = {
      {"S = S + outer(k, v)", "identity"},
      {"S = S - outer(k, v) * 2 + outer(w, v)", "identity"},
      {"S = exp(g) * S + outer(k, v)", "scalar"},
      {"S = S / (1 + beta * beta) + outer(k, v)", "scalar"},
      {"S = where(g > 0, 0, S) + outer(k, v)", "scalar"},
      {"S = where(g > 0, S, 0.5 * S + outer(k, v))", "scalar"},
      {"S = exp(w) * S + outer(k, v)", "diagonal"},
      {"S = exp(w) * S; S = beta * S + outer(k, v)", "diagonal"},
      {"S = S + beta * outer(k, v - k @ S)", "identity plus low rank"},
      {"S = S - outer(k, beta * (k @ S)) + outer(beta * k, v)", "identity plus low rank"},
      {"S = S - outer(k, k @ S); S = S - outer(w, w @ S) + outer(w, v)", "identity plus low rank"},
      {"S = exp(g) * S; S = S + beta * outer(k, v - k @ S)", "decay times low rank"},
      {"S = exp(w) * S - outer(beta * k, w @ S) + outer(k, v)", "decay times low rank"},
      {"S = outer(w, k @ S) + outer(k, v)", "decay times low rank"},
      {"S = where(g > 0, outer(k, v), S)", "scalar"},
  };
  for (const Row &row : rows) EXPECT_EQ(classesOf(body(row.update)), row.classes) << row.update;
}

TEST(Classify, AffineOnly) {
  EXPECT_EQ(classesOf("attention t { token q[n], k[n], v[n]; shared M[n, n]; state S[n, n]; S = M @ S + outer(k, v); "
                      "out = q @ S }"),
            "affine");
  EXPECT_EQ(classesOf("attention t { token q[n], k[n], v[n]; state S[n, n], M[n, n]; M = 0.5 * M + outer(k, v); S = S "
                      "+ M; out = q @ S }"),
            "affine, scalar");
}

TEST(Classify, WeightsHaveNoRecurrentForm) {
  auto specs = specsOf("attention t { token q[n], k[n], v[n]; weights(a, b) = exp(a . b); normalize }");
  auto forms = formsOf(*specs, smallDims(*specs), 4);
  EXPECT_FALSE(find(*forms, "t_recurrent"));
  EXPECT_TRUE(find(*forms, "t_parallel"));
}

/// All ways give the same chunkwise form, byte for byte.
void expectSame(ArrayRef<std::string> texts, StringRef form = "t_chunkwise") {
  std::string first, firstClasses;
  for (auto [i, text] : llvm::enumerate(texts)) {
    auto specs = specsOf(text);
    ASSERT_TRUE(specs);
    auto forms = formsOf(*specs, smallDims(*specs), 4);
    Operation *op = find(*forms, form);
    ASSERT_TRUE(op) << text << textOf(*forms);
    if (i == 0) {
      first = textOf(op);
      firstClasses = classesOf(text);
      continue;
    }
    EXPECT_EQ(textOf(op), first) << text;
    EXPECT_EQ(classesOf(text), firstClasses);
  }
}

TEST(Classify, IdentityInFiveWays) {
  expectSame(
      {"attention t { token q[dk], k[dk], v[dv] }",
       "attention t { token q[dk], k[dk], v[dv]; state S[dk, dv]; S = S + outer(k, v); out = q @ S }",
       "attention t { token q[dk], k[dk], v[dv]; state S[dk, dv]; S = outer(k, v) + S; out = q @ S }",
       "attention t { token q[dk], k[dk], v[dv]; state S[dk, dv]; let u = outer(k, v); S = S - (-u); out = q @ S }",
       "attention t { token q[dk], k[dk], v[dv]; state S[dk, dv]; out = q @ (S + outer(k, v)); S = S + outer(k, v) }"});
}

TEST(Classify, DecayInManyWays) {
  expectSame({"attention t { token q[dk], k[dk], v[dv], g; decay exp(g); scale rsqrt(dk) }",
              "attention t { token q[dk], k[dk], v[dv], g; state S[dk, dv]; S = exp(g) * S + outer(k, v); out = "
              "(rsqrt(dk) * q) @ S }",
              "attention t { token q[dk], k[dk], v[dv], g; state S[dk, dv]; S = S * exp(g); S = S + outer(k, v); out = "
              "(q * rsqrt(dk)) @ S }",
              "attention t { token q[dk], k[dk], v[dv], g; state S[dk, dv]; S = outer(k, v) + exp(g) * S; let s = "
              "rsqrt(dk); let p = s * q; out = p @ S }"});
}

TEST(Classify, NormalisedInThreeWays) {
  expectSame(
      {"attention t { token q[dk], k[dk], v[dv], g[dk]; decay exp(g); feature(x) = elu(x) + 1; normalize }",
       "attention t { token q[dk], k[dk], v[dv], g[dk]; state S[dk, dv], z[dk]; let p = 1 + elu(q); let f = elu(k) + "
       "1; "
       "S = exp(g) * S + outer(f, v); z = z * exp(g) + f; out = p @ S / (p . z) }",
       "attention t { token q[dk], k[dk], v[dv], g[dk]; state S[dk, dv], z[dk]; let f = 1 + elu(k); "
       "z = f + exp(g) * z; S = exp(g) * S; S = outer(f, v) + S; out = ((elu(q) + 1) @ S) / (z . (elu(q) + 1)) }"});
}

TEST(Classify, GatesOnKeysInThreeWays) {
  expectSame({"attention t { token q[dk], k[dk], v[dv], i; state S[dk, dv]; S = S + i * outer(k, v); out = q @ S }",
              "attention t { token q[dk], k[dk], v[dv], i; state S[dk, dv]; S = S + outer(i * k, v); out = q @ S }",
              "attention t { token q[dk], k[dk], v[dv], i; state S[dk, dv]; S = S + outer(k, v) * i; out = q @ S }",
              "attention t { token q[dk], k[dk], v[dv], i; state S[dk, dv]; S = S + outer(k * i, v); out = q @ S }",
              "attention t { token q[dk], k[dk], v[dv], i; state S[dk, dv]; S = S + outer(k, v * i); out = q @ S }",
              "attention t { token q[dk], k[dk], v[dv], i; state S[dk, dv]; S = S - outer(-k * i, v); out = q @ S }"});
}

TEST(Classify, ProductsInManyOrders) {
  std::vector<std::string> texts;
  for (const char *update :
       {"a * b * (w * S) + 2 * outer(k, v)", "w * (S * b) * a + outer(k, v) * 2", "(w * a) * (b * S) + outer(2 * k, v)",
        "a * w * b * S + outer(k, 2 * v)", "b * (a * (w * S)) - outer(k, v) * (-1) * 2"})
    texts.push_back(("attention t { token q[n], k[n], v[n], w[n], a, b; state S[n, n]; S = " + StringRef(update) +
                     "; out = q @ S }")
                        .str());
  expectSame(texts);
}

TEST(Classify, GatedNormaliserInThreeWays) {
  expectSame({"attention t { token q[dk], key[dk], v[dv], i, f; let k = exp(i) * key; scale rsqrt(dk); decay "
              "sigmoid(f); normalize max(abs(den), 1) }",
              "attention t { token q[dk], key[dk], v[dv], i, f; state S[dk, dv], z[dk]; S = sigmoid(f) * S + exp(i) * "
              "outer(key, v); "
              "z = sigmoid(f) * z + exp(i) * key; let p = q * rsqrt(dk); out = p @ S / max(abs(p . z), 1) }",
              "attention t { token q[dk], key[dk], v[dv], i, f; state S[dk, dv], z[dk]; let k = key * exp(i); z = z * "
              "sigmoid(f); z = z + k; "
              "S = S * sigmoid(f); S = S + outer(k, v); let p = rsqrt(dk) * q; out = (p @ S) / max(abs(z . p), 1) }"});
}

} // namespace

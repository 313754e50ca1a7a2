// Which operators can be computed in parts of their output's dimension, and why others cannot.
#include "compiler/analysis/ColumnSplit.h"
#include "test/unit/transforms/Harness.h"

using namespace mlir;
using namespace lintel;

namespace {

ColumnSplit splitOf(StringRef text) {
  auto specs = specsOf(text);
  if (!specs) return {};
  for (SpecOp spec : specs->getOps<SpecOp>()) return columnSplitOf(spec);
  return {};
}

/// A recurrence of these statements.
ColumnSplit recurrence(StringRef body, StringRef inputs = "q[n], k[n], v[m], g, beta") {
  return splitOf(("attention t {\n token " + inputs + "\n state S[n, m]\n " + body + "\n}\n").str());
}

using Axes = SmallVector<int>;

TEST(ColumnSplit, WhatIsDivided) {
  ColumnSplit split = splitOf("attention a { token q[n], k[n], v[m]; feature(x) = elu(x) + 1; normalize }");
  EXPECT_EQ(split.whyNot, "");
  EXPECT_EQ(split.dimension, "m");
  EXPECT_EQ(split.inputs, (Axes{-1, -1, 0}));
  EXPECT_EQ(split.states, (Axes{1, -1})); // the normaliser's is every part's
  EXPECT_EQ(split.outputs, Axes{0});

  split = recurrence("S = exp(g) * S + outer(k, beta * (v - k @ S)); out = q @ S");
  EXPECT_EQ(split.whyNot, "");
  EXPECT_EQ(split.states, Axes{1});

  // Columns may be rows, and an axis of a matrix that is given.
  split = splitOf("attention a { token q[n], k[n], v[m]; head A[m, n]; state S[m, n]; S = S + A * outer(v, k); "
                  "out = S @ q }");
  EXPECT_EQ(split.whyNot, "");
  EXPECT_EQ(split.inputs, (Axes{-1, -1, 0, 0}));
  EXPECT_EQ(split.states, Axes{0});

  // Element by element, all is.
  split = splitOf("attention a { token k[n], v[n]; state num[n], den[n]; num = num + exp(k) * v; den = den + exp(k); "
                  "out = num / den }");
  EXPECT_EQ(split.whyNot, "");
  EXPECT_EQ(split.inputs, (Axes{0, 0}));
  EXPECT_EQ(split.states, (Axes{0, 0}));

  split = splitOf("attention a { token q[n], k[n], v[m]; weights(a, b) = exp(a . b); normalize }");
  EXPECT_EQ(split.whyNot, "");
  EXPECT_EQ(split.inputs, (Axes{-1, -1, 0}));
}

struct Row {
  const char *body, *whyNot;
};

TEST(ColumnSplit, WhyNot) {
  const Row rows[] = {
      {"S = S + outer(k, v); out = (q @ S) / sum(v)", "a sum goes over it"},
      {"S = S + outer(k, v); out = (q @ S) / max(v)", "a maximum is taken over it"},
      {"S = S + outer(k, v); out = cumsum(q @ S)", "a running sum goes over it"},
      {"S = S + outer(k, v); out = softmax(q @ S)", "a maximum is taken over it"},
      {"S = S + outer(k, v * (v . v)); out = q @ S", "a product sums over it"},
      {"S = S + outer(S @ v, v); out = q @ S", "a product sums over it"},
      {"S = S + outer(k, v); out = (q @ S) * rsqrt(m)", "its size is used as a number"},
      {"S = S + outer(k, v); out = (q @ S) * v[0]", "one element of it is taken"},
      {"S = S + outer(k, v); out = concat(q @ S, v)", "the output's size 2*m is no name of a dimension"},
      {"S = S + outer(k, v); out = q . (S @ v)", "the output is one number a step"},
      {"S = S + outer(k, v); out = (q @ S) * sum(flatten(S))",
       "a value has an axis of m*n, in which its elements lie mixed"},
      {"S = S + outer(k, v); out = (q @ S) * sum(concat(v, g))",
       "a value has an axis of m + 1, in which its elements lie mixed"},
  };
  for (const Row &row : rows) EXPECT_EQ(recurrence(row.body).whyNot, row.whyNot) << row.body;
  EXPECT_EQ(recurrence("S = S + outer(k, v); out = q @ S", "q[n], k[n], v[m], A[m, m]").whyNot,
            "a value has two axes of it");
  // One name for keys and values: its parts would be parts of the keys, too.
  EXPECT_EQ(splitOf("attention a { token q[n], k[n], v[n] }").whyNot, "a value has two axes of it");
  EXPECT_EQ(splitOf("attention a { token q[n], k[n], v[n]; weights(a, b) = exp(a[0] * b[0]); normalize }").whyNot,
            "one element of it is taken");
  EXPECT_EQ(splitOf("attention a { token q[n], k[n], v[n]; weights(a, b) = exp(distance); normalize }").whyNot,
            "weights depend on all of it");
  EXPECT_EQ(splitOf("attention a { token q[4], k[4], v[4] }").whyNot, "the output's size 4 is no name of a dimension");
  EXPECT_EQ(splitOf("attention a { token q[n], k[n], v[m]; state S[n, m], z[n]; output den; S = S + outer(k, v); "
                    "z = z + k; den = q . z; out = q @ S }")
                .whyNot,
            "the output 'den' has no axis of it, and every part would write it");
}

} // namespace

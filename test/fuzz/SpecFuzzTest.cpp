// The fuzzer's own parts, without a compiler at fault.
#include "SpecGenerator.h"
#include "SpecShrinker.h"
#include "compiler/frontend/Frontend.h"
#include "gtest/gtest.h"

using namespace lintel;
using namespace lintel::fuzz;

namespace {

TEST(SpecFuzz, GeneratesWhatTheFrontendTakes) {
  unsigned recurrences = 0, weights = 0, bidirectional = 0, lowRank = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    GeneratedSpec spec = generateSpec(seed);
    auto file = frontend::parse(spec.text, "random.attn");
    ASSERT_TRUE(frontend::check(*file)) << file->diagnostics.str() << spec.text;
    EXPECT_EQ(spec.text, generateSpec(seed).text);
    auto has = [&](const char *what) { return spec.text.find(what) != std::string::npos; };
    recurrences += has("state "), weights += has("weights("), bidirectional += has("bidirectional"),
        lowRank += has("@ S") && has(" - (");
  }
  EXPECT_GT(recurrences, 250u);
  EXPECT_GT(weights, 20u);
  EXPECT_GT(bidirectional, 20u);
  EXPECT_GT(lowRank, 50u);
}

TEST(SpecFuzz, PlansReadBack) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RunPlan plan = choosePlan(seed, {{"dk", 3}, {"dv", 5}}, 2);
    auto again = RunPlan::parse(plan.text());
    ASSERT_TRUE(again) << plan.text();
    EXPECT_EQ(plan.text(), again->text());
  }
  EXPECT_FALSE(RunPlan::parse("dk=3 level=code chunks=0"));
  EXPECT_FALSE(RunPlan::parse("dk=three"));
  EXPECT_FALSE(RunPlan::parse("level=nothing"));
}

TEST(SpecFuzz, ShrinksToWhatFails) {
  // A fault that needs a softmax in an update and more than six steps.
  Candidate from{"attention random {\n  token q[dk]\n  token k[dk]\n  token v[dv]\n  token g\n  head u[dk]\n"
                 "  state S[dk, dv]\n  state z[dk]\n  let key = softmax(k * 2 + u)\n"
                 "  S = exp(g) * S + outer(key, tanh(v))\n  z = sigmoid(g) * z + key\n"
                 "  out = q @ S / max(abs(dot(q, z)), 1) + v\n}\n",
                 *RunPlan::parse("dk=6 dv=5 B=2 T=37 H=4 G=2 chunks=4,7 blocks=16 hard=resets initial=1")};
  Candidate small = shrink(from, [](const Candidate &candidate) {
    EXPECT_TRUE(frontend::check(*frontend::parse(candidate.text, "candidate.attn"))) << candidate.text;
    return candidate.text.find("softmax(") != std::string::npos && candidate.plan.steps > 6;
  });
  EXPECT_EQ(small.text, "attention random {\n  token q[dv]\n  state z[dv]\n  z = softmax(q)\n  out = q\n}\n")
      << small.plan.text();
  EXPECT_EQ(small.plan.text(), "dk=1 dv=1 level=code dtype=f32 form=all chunks=1 blocks=1 B=1 T=7 H=1 G=0 hard=usual "
                               "initial=0 seed=1");
}

TEST(SpecFuzz, ReportsFromAProcessOfItsOwn) {
  // No text at all takes the runner to a plan that cannot be run, and no further.
  Outcome outcome = runSpecApart("attention random {\n  token x[n]\n  out = x\n}\n", *RunPlan::parse("T=3"), 10);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, "plan");
  outcome =
      runSpecApart("attention random {\n  token x[n]\n  out = x\n}\n", *RunPlan::parse("n=3 T=3 level=kernel"), 60);
  EXPECT_FALSE(outcome.failure) << outcome.failure->message;
  EXPECT_GT(outcome.kernels, 0u);
}

} // namespace

// Which arrays an operator is checked on, and how a failure is made small. (That checks find faults: CompareTest,
// test/lit/tools/check.test.)
#include "Support.h"
#include "compiler/driver/CheckCases.h"
#include "compiler/driver/Execution.h"

using namespace lintel;
using namespace lintel::test;

namespace {

CheckSubject subjectOf(const SpecFile &file) {
  const OperatorInfo &op = file.operators().front();
  return {op, inputUses(op.spec), inputTraits(op.spec), true};
}

TEST(CheckCase, ReadsBack) {
  for (const char *text :
       {"usual B=2 T=67 H=2 seed=1000", "mixed-decay B=1 T=0 H=3 initial seed=1",
        "huge B=1 T=21 H=4/2 initial lengths=0,3,0,17,1 seed=7", "gates B=1 T=34 H=4/2/1 splits seed=9",
        "all-zero B=0 T=5 H=2 seed=1", "exponents B=1 T=0 H=1 lengths= seed=1"}) {
    auto one = CheckCase::parse(text);
    ASSERT_TRUE(static_cast<bool>(one)) << llvm::toString(one.takeError());
    EXPECT_EQ(one->text(), text);
  }
}

TEST(CheckCase, RefusesWhatIsNone) {
  auto errorOf = [](const char *text) {
    auto one = CheckCase::parse(text);
    return one ? std::string() : llvm::toString(one.takeError());
  };
  for (const char *word :
       {"unusual", "T=-1", "T=", "T=3=4", "B=two", "H=4/3", "H=4/2/2", "H=4/2/1/1", "lengths", "seed=x"})
    EXPECT_NE(errorOf(word).find(std::string("found '") + word + "' in it"), std::string::npos) << errorOf(word);
  EXPECT_NE(errorOf("T=5 lengths=2,2").find("add up to T=5"), std::string::npos);
  EXPECT_NE(errorOf("B=2 T=5 lengths=2,3").find("B=1"), std::string::npos);
  EXPECT_NE(errorOf("B=2 T=5 splits").find("one sequence"), std::string::npos);
}

TEST(CheckCases, FollowFromWhatTheStepDoes) {
  auto hardnessOf = [](llvm::StringRef text) {
    auto file = spec(text);
    std::set<std::string> result;
    for (const CheckCase &one : checkCases(subjectOf(*file), {}, CheckDepth::Full))
      result.insert(toString(one.arrays.hardness).str());
    return result;
  };
  auto plain = hardnessOf("attention a { token q[n], k[n], v[m]; causal }");
  EXPECT_EQ(plain, (std::set<std::string>{"usual", "large", "zeros", "all-zero", "huge"}));
  EXPECT_TRUE(hardnessOf("attention a { token q[n], k[n], v[m], g; decay exp(g) }").count("mixed-decay"));
  EXPECT_TRUE(hardnessOf("attention a { token q[n], k[n], v[m], g; decay sigmoid(g) }").count("gates"));
  EXPECT_TRUE(hardnessOf("attention a { token q[n], k[n], v[m]; feature(x) = exp(x); normalize }").count("exponents"));
  EXPECT_FALSE(hardnessOf("attention a { token q[n], k[n], v[m]; feature(x) = exp(-softplus(x)); normalize }")
                   .count("exponents"));
}

TEST(CheckCases, HardArraysAreHard) {
  auto file = spec("attention a { token q[n], k[n], v[m], g, i\n state S[n, m]\n"
                   " S = exp(g) * S + exp(i) * outer(k, v); out = q @ S }");
  CheckSubject subject = subjectOf(*file);
  RandomRequest request;
  request.steps = 200, request.dimensions = {{"n", 3}, {"m", 2}};
  request.traits.assign(subject.traits.begin(), subject.traits.end());
  auto valuesOf = [&](Hardness hardness, unsigned input) {
    request.hardness = hardness;
    return toDoubles(llvm::cantFail(randomArrays(subject.op, subject.uses, request)).inputs[input]);
  };
  std::vector<double> decays = valuesOf(Hardness::MixedDecay, 3);
  auto count = [&](auto which) { return std::count_if(decays.begin(), decays.end(), which); };
  EXPECT_GT(count([](double g) { return std::isinf(g) && g < 0; }), 0);
  EXPECT_GT(count([](double g) { return g == 0; }), 0);
  EXPECT_GT(count([](double g) { return g < -1e3 && g >= -1e4; }), 0);
  EXPECT_GT(count([](double g) { return g < 0 && g > -1e-7; }), 0);
  EXPECT_EQ(count([](double g) { return g > 0; }), 0);
  std::vector<double> exponents = valuesOf(Hardness::Exponents, 4);
  EXPECT_GT(*std::max_element(exponents.begin(), exponents.end()), 5e3);
  EXPECT_LT(*std::min_element(exponents.begin(), exponents.end()), -5e3);
  int64_t huge = 0;
  for (unsigned input = 0; input < 5; ++input)
    for (double x : valuesOf(Hardness::Huge, input)) huge += x == 1e6;
  EXPECT_EQ(huge, 1);
  for (double x : valuesOf(Hardness::AllZero, 1)) EXPECT_EQ(x, 0);
}

TEST(CheckSite, ShrinksToTheSmallestThatFails) {
  CheckSite site;
  site.form = "chunkwise", site.chunk = 16;
  site.one = llvm::cantFail(CheckCase::parse("resets B=2 T=67 H=4/2/1 initial seed=1004"));
  site.one.arrays.dimensions = {{"dk", 16}, {"dv", 24}};
  site.one.arrays.types = ElementTypes(LINTEL_BF16, {{"g", LINTEL_F32}});
  unsigned asked = 0;
  auto small = shrinkSite(
      site,
      [&](const CheckSite &at) { // a tail of a second chunk, with more than two features
        ++asked;
        return at.one.arrays.steps > at.chunk && at.chunk >= 3 && at.one.arrays.dimensions[0].second > 2;
      },
      1000);
  EXPECT_EQ(small.command("my specs/a.attn", "a", "native"),
            "lintel check 'my specs/a.attn' --op a --dim dk=3 --dim dv=1 --dtype f32 --form chunkwise --chunk 3 "
            "--case 'usual B=1 T=4 H=1 seed=1004'");
  EXPECT_LT(asked, 200u);
  // What fails with an empty sequence among packed ones alone keeps it.
  site.one = llvm::cantFail(CheckCase::parse("usual B=1 T=21 H=2 lengths=0,3,0,17,1 seed=1"));
  site.form = "recurrent", site.chunk = 0;
  auto packed = shrinkSite(
      site,
      [](const CheckSite &at) {
        return at.one.arrays.lengths && llvm::is_contained(*at.one.arrays.lengths, 0) && at.one.arrays.steps > 1;
      },
      1000);
  EXPECT_LE(packed.one.arrays.lengths->size(), 3u);
  EXPECT_EQ(packed.one.arrays.steps, 2);
  // No patience, no change.
  EXPECT_EQ(shrinkSite(
                site, [](const CheckSite &) { return true; }, 0)
                .one.text(),
            site.one.text());
}

} // namespace

// The search on a made-up space and a made-up clock: the same on every machine.
#include "codegen/tune/Search.h"
#include "codegen/tune/CostModel.h"
#include "llvm/ADT/StringRef.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace lintel;

namespace {

StageSchedule tile(int64_t vector, int64_t panel, int64_t rows) {
  StageSchedule s;
  s.vector = vector, s.panel = panel, s.rows = rows;
  return s;
}

StageSpace stage(const char *name) {
  StageSpace s;
  s.name = name, s.sizes = {16, 64}, s.folds = true, s.work = 1000;
  for (int64_t panel : {1, 2, 4})
    for (int64_t rows : {1, 2, 4, 8}) s.choices.push_back(tile(8, panel, rows));
  s.standard = 2;
  return s;
}

SearchSpace makeSpace() {
  SearchSpace space;
  for (int64_t chunk : {8, 16, 32}) {
    VariantSpace v;
    v.form = "chunkwise", v.chunk = chunk, v.cost = 100 + static_cast<double>(chunk);
    v.stages = {stage("A"), stage("r"), stage("S")};
    space.variants.push_back(v);
  }
  VariantSpace none;
  none.form = "parallel", none.chunk = 16, none.whyNot = "too slow";
  space.variants.push_back(none);
  space.standard = 1;
  return space;
}

/// Time from the candidate; drifts as a busy machine does, for all alike.
class Fake : public Measurer {
public:
  explicit Fake(const SearchSpace &space) : space(space) {}

  double exact(const Candidate &c) const {
    double seconds = 1e-3 * static_cast<double>(space.variants[c.variant].chunk == 8 ? 80 : 100);
    for (size_t i = 0; i < c.choices.size(); ++i) {
      const StageSchedule &s = space.variants[c.variant].stages[i].choices[c.choices[i]];
      seconds += 1e-3 * static_cast<double>(std::abs(s.panel * s.rows - 8));
    }
    return seconds;
  }
  Prepared prepare(const Candidate &c) override {
    prepared.push_back(c);
    clock += 1;
    Prepared p;
    if (refuses && c.choices[0] == 0) {
      p.outcome = Outcome::NotCompiled, p.reason = "no tile of one";
      return p;
    }
    if (refuses && c.choices[0] == 1) {
      p.outcome = Outcome::Wrong, p.reason = "out[0] is nan";
      return p;
    }
    p.id = static_cast<unsigned>(all.size());
    all.push_back(c);
    live.insert(p.id);
    return p;
  }
  llvm::Expected<double> time(unsigned id) override {
    EXPECT_TRUE(live.count(id)) << "timed after it was released, or never prepared";
    double seconds = exact(all[id]) * (1 + 0.5 * static_cast<double>(timed / 40 % 3));
    ++timed;
    clock += seconds;
    return seconds;
  }
  void release(unsigned id) override { EXPECT_EQ(live.erase(id), 1u); }
  double now() override { return clock; }

  const SearchSpace &space;
  std::vector<Candidate> all, prepared;
  std::set<unsigned> live;
  double clock = 0;
  unsigned timed = 0;
  bool refuses = false;
};

class Log : public SearchListener {
public:
  llvm::Error record(const Trial &t) override {
    trials.push_back(t);
    return trials.size() == failAt ? llvm::createStringError("disk is full") : llvm::Error::success();
  }
  llvm::Error best(const SearchResult &r, const Candidate *before) override {
    bests.push_back(r.ratio);
    instead.push_back(before ? std::optional(*before) : std::nullopt);
    return llvm::Error::success();
  }
  std::vector<Trial> trials;
  std::vector<double> bests;
  std::vector<std::optional<Candidate>> instead;
  size_t failAt = 0;
};

SearchResult runSearch(const SearchSpace &space, Fake &fake, Log &log, llvm::StringRef name, unsigned trials,
                       uint64_t seed = 1, llvm::ArrayRef<Trial> known = {}, std::optional<Candidate> start = {}) {
  auto strategy = llvm::cantFail(makeStrategy(name, space, seed));
  SearchOptions options;
  options.trials = trials;
  return llvm::cantFail(search(space, *strategy, fake, log, options, known, start, [] { return false; }));
}

class Strategies : public testing::TestWithParam<const char *> {};

TEST_P(Strategies, FindsFasterOnesAndMeasuresEachOnce) {
  SearchSpace space = makeSpace();
  Fake fake(space);
  Log log;
  SearchResult found = runSearch(space, fake, log, GetParam(), 60);
  EXPECT_EQ(space.variants[found.best.variant].chunk, 8);
  EXPECT_LT(found.ratio, 0.9);
  EXPECT_EQ(found.trials, 60u);
  EXPECT_NEAR(found.ratio, fake.exact(found.best) / fake.exact(space.standardCandidate()), 1e-9);
  std::set<Candidate> different(fake.prepared.begin(), fake.prepared.end());
  EXPECT_EQ(different.size(), fake.prepared.size());
  EXPECT_EQ(log.trials.size(), 61u); // the default, too
  EXPECT_TRUE(fake.live.empty());
  for (const Trial &t : log.trials) EXPECT_TRUE(space.variants[t.candidate.variant].whyNot.empty());
}

TEST_P(Strategies, IsRepeatedBySeed) {
  SearchSpace space = makeSpace();
  Fake a(space), b(space), c(space);
  Log log;
  runSearch(space, a, log, GetParam(), 40, 5);
  runSearch(space, b, log, GetParam(), 40, 5);
  runSearch(space, c, log, GetParam(), 40, 6);
  EXPECT_EQ(a.prepared, b.prepared);
  if (llvm::StringRef(GetParam()) != "beam") EXPECT_NE(a.prepared, c.prepared);
}

TEST_P(Strategies, RecordsWhatIsRefusedAndGoesOn) {
  SearchSpace space = makeSpace();
  Fake fake(space);
  fake.refuses = true;
  Log log;
  SearchResult found = runSearch(space, fake, log, GetParam(), 60);
  unsigned refused = 0, wrong = 0;
  for (const Trial &t : log.trials) {
    if (t.outcome != Outcome::Ok) EXPECT_EQ(t.rounds, 0u);
    else EXPECT_GT(t.rounds, 0u);
    refused += t.outcome == Outcome::NotCompiled && t.reason == "no tile of one";
    wrong += t.outcome == Outcome::Wrong && t.reason == "out[0] is nan";
  }
  EXPECT_EQ(found.failed, refused + wrong);
  EXPECT_GT(refused + wrong, 0u);
  EXPECT_GE(found.best.choices[0], 2u);
}

TEST_P(Strategies, GoesOnFromWhatIsKnown) {
  SearchSpace space = makeSpace();
  Fake first(space), second(space);
  Log log, later;
  SearchResult found = runSearch(space, first, log, GetParam(), 30);
  SearchResult again = runSearch(space, second, later, GetParam(), 20, 1, log.trials, found.best);
  EXPECT_LE(second.exact(again.best), second.exact(found.best) * 1.01);
  for (size_t i = 2; i < second.prepared.size(); ++i) // behind the default and the best
    EXPECT_EQ(std::count(first.prepared.begin(), first.prepared.end(), second.prepared[i]), 0);
  EXPECT_EQ(again.trials, 20u);
  EXPECT_GT(again.standardSeconds, 0);
}

TEST_P(Strategies, EndsWhereNothingIsLeft) {
  SearchSpace space = makeSpace();
  space.variants.resize(1);
  space.standard = 0;
  space.variants[0].stages.resize(1);
  Fake fake(space);
  Log log;
  SearchResult found = runSearch(space, fake, log, GetParam(), 1000);
  EXPECT_TRUE(found.exhausted);
  EXPECT_EQ(log.trials.size(), 12u);
  EXPECT_LT(found.ratio, 1);
}

INSTANTIATE_TEST_SUITE_P(All, Strategies, testing::Values("random", "beam", "evolution"));

TEST(Search, StrategyThatIsNone) {
  SearchSpace space = makeSpace();
  EXPECT_EQ(llvm::toString(makeStrategy("luck", space, 1).takeError()),
            "expected a strategy of random, beam, evolution, halide:mullapudi2016, halide:adams2019, found 'luck'");
}

TEST(Search, StopsWithTheBestSoFar) {
  SearchSpace space = makeSpace();
  Fake fake(space);
  Log log;
  auto strategy = llvm::cantFail(makeStrategy("evolution", space, 1));
  SearchResult found = llvm::cantFail(
      search(space, *strategy, fake, log, SearchOptions(), {}, {}, [&] { return log.trials.size() > 20; }));
  EXPECT_TRUE(found.stopped);
  EXPECT_LE(log.trials.size(), 27u); // the batch that was under way
  EXPECT_LT(found.ratio, 1);
  EXPECT_TRUE(fake.live.empty());
}

TEST(Search, KeepsToTheBudget) {
  SearchSpace space = makeSpace();
  Fake fake(space);
  Log log;
  auto strategy = llvm::cantFail(makeStrategy("random", space, 1));
  SearchOptions options;
  options.seconds = 50;
  llvm::cantFail(search(space, *strategy, fake, log, options, {}, {}, [] { return false; }).takeError());
  EXPECT_GT(fake.clock, 50);
  EXPECT_LT(fake.clock, 50 + 30); // the race of one batch and the last one
}

TEST(Search, DefaultThatIsWrongIsAnError) {
  SearchSpace space = makeSpace();
  space.variants[1].stages[0].standard = 1;
  Fake fake(space);
  fake.refuses = true;
  Log log;
  auto strategy = llvm::cantFail(makeStrategy("random", space, 1));
  auto result = search(space, *strategy, fake, log, SearchOptions(), {}, {}, [] { return false; });
  EXPECT_EQ(llvm::toString(result.takeError()),
            "the default candidate is no measure for others, it is wrong: out[0] is nan");
  EXPECT_EQ(fake.timed, 0u);
}

TEST(Search, RecordThatFailsEndsIt) {
  SearchSpace space = makeSpace();
  Fake fake(space);
  Log log;
  log.failAt = 5;
  auto strategy = llvm::cantFail(makeStrategy("random", space, 1));
  auto result = search(space, *strategy, fake, log, SearchOptions(), {}, {}, [] { return false; });
  EXPECT_EQ(llvm::toString(result.takeError()), "disk is full");
  EXPECT_EQ(log.trials.size(), 5u);
  EXPECT_TRUE(fake.live.empty());
}

/// Faster than the default in one race by luck, and not again.
TEST(Search, LuckIsTakenBack) {
  SearchSpace space = makeSpace();
  space.variants.resize(1);
  space.standard = 0;
  class Lucky : public Fake {
  public:
    using Fake::Fake;
    llvm::Expected<double> time(unsigned id) override {
      EXPECT_TRUE(live.count(id));
      ++timed;
      return id == 3 && timed < 110 ? 0.5 : 1;
    }
  } fake(space);
  Log log;
  SearchResult found = runSearch(space, fake, log, "random", 6);
  ASSERT_FALSE(log.bests.empty());
  EXPECT_LT(log.bests.front(), 0.6);
  EXPECT_EQ(found.best, space.standardCandidate());
  EXPECT_EQ(found.ratio, 1);
  EXPECT_EQ(log.bests.back(), 1);
  EXPECT_FALSE(log.instead.front().has_value());
  ASSERT_TRUE(log.instead.back().has_value()); // so that a database drops it
  EXPECT_FALSE(*log.instead.back() == space.standardCandidate());
}

TEST(Race, RatiosAreOfOneRound) {
  SearchSpace space = makeSpace();
  Fake fake(space);
  std::vector<unsigned> ids;
  for (unsigned variant : {1, 0, 2}) ids.push_back(fake.prepare(space.standardOf(variant)).id);
  auto standings = llvm::cantFail(race(fake, ids, RaceOptions(), [] { return false; }));
  // The machine was up to twice as slow at times; the ratio does not know.
  EXPECT_NEAR(standings[1].ratio, fake.exact(fake.all[1]) / fake.exact(fake.all[0]), 0.02);
  EXPECT_EQ(standings[2].times.size(), 3u); // fell out after the first heat
  EXPECT_GE(standings[1].times.size(), 12u);
  EXPECT_EQ(standings[0].times.size(), standings[1].times.size());
}

TEST(Space, TextsAreFoundAgain) {
  SearchSpace space = makeSpace();
  EXPECT_EQ(space.size(), 3 * 12 * 12 * 12);
  Candidate c{2, {3, 0, 11}};
  EXPECT_EQ(space.schedule(c), "A: vector 8 rows 8\nr: vector 8\nS: vector 8 panel 4 rows 8\n");
  EXPECT_EQ(space.find("chunkwise", 32, space.schedule(c)), c);
  EXPECT_EQ(space.find("chunkwise", 32, "r: vector 8\n"), (Candidate{2, {2, 0, 2}}));
  EXPECT_FALSE(space.find("chunkwise", 64, "r: vector 8\n").has_value());
  EXPECT_FALSE(space.find("chunkwise", 32, "r: vector 4\n").has_value());
  EXPECT_FALSE(space.find("chunkwise", 32, "x: vector 8\n").has_value());
  EXPECT_FALSE(space.find("parallel", 16, "").has_value());
}

TEST(CostModel, StandardHasTheVariantsCost) {
  SearchSpace space = makeSpace();
  for (unsigned v : {0, 1, 2}) EXPECT_DOUBLE_EQ(predictedCost(space, space.standardOf(v)), space.variants[v].cost);
}

TEST(CostModel, TilesThatWasteCostMore) {
  StageSpace s = stage("r");
  ScheduleTarget target; // 16 registers of 8 lanes
  double good = tileFactor(s, tile(8, 2, 4), target);
  EXPECT_GT(tileFactor(s, tile(1, 1, 1), target), 4 * good); // lanes
  EXPECT_GT(tileFactor(s, tile(8, 1, 1), target), good);     // latency and loads
  EXPECT_GT(tileFactor(s, tile(8, 4, 8), target), good);     // registers
  s.sizes = {5, 64};
  EXPECT_GT(tileFactor(s, tile(8, 2, 4), target), tileFactor(s, tile(8, 2, 5), target)); // an overlapping tile
}

} // namespace

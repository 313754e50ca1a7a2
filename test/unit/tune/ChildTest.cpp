// Candidates that crash and hang, in processes of their own: the search records them and goes on.
#include "codegen/tune/ChildMeasurer.h"
#include "codegen/tune/Search.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace lintel;

namespace {

double clockNow() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

enum Plant { Sound, Faster, Crashes, Aborts, Hangs, Exits, CrashesWhenTimed, HangsWhenTimed, Refused, NumPlants };

/// One stage, whose choice says what becomes of it.
class Planted : public Measurer {
public:
  Prepared prepare(const Candidate &c) override {
    plant = static_cast<Plant>(c.choices[0]);
    if (plant == Crashes) raise(SIGSEGV);
    if (plant == Aborts) std::abort();
    if (plant == Hangs) hang();
    if (plant == Exits) _exit(7);
    Prepared p;
    p.id = 3, p.error = 0.25;
    if (plant == Refused) p.outcome = Outcome::NotCompiled, p.reason = "no such tile";
    return p;
  }
  llvm::Expected<double> time(unsigned id) override {
    EXPECT_EQ(id, 3u);
    if (plant == CrashesWhenTimed) raise(SIGILL);
    if (plant == HangsWhenTimed) hang();
    return plant == Faster ? 1.0 : 2.0;
  }
  void release(unsigned) override {}
  double now() override { return clockNow(); }
  Plant plant = Sound;
};

SearchSpace spaceOfPlants() {
  SearchSpace space;
  VariantSpace variant;
  variant.form = "chunkwise", variant.chunk = 8, variant.cost = 1;
  StageSpace stage;
  stage.name = "r", stage.sizes = {64};
  for (int i = 0; i < NumPlants; ++i) {
    StageSchedule s;
    s.vector = 1 + i;
    stage.choices.push_back(s);
  }
  variant.stages.push_back(stage);
  space.variants.push_back(variant);
  return space;
}

TEST(ChildMeasurer, WhatBecomesOfEach) {
  Planted planted;
  ChildMeasurer children(planted, 2);
  auto prepared = [&](Plant plant) { return children.prepare({0, {plant}}); };
  Prepared sound = prepared(Sound);
  ASSERT_EQ(sound.outcome, Outcome::Ok) << sound.reason;
  EXPECT_EQ(sound.error, 0.25);
  EXPECT_EQ(llvm::cantFail(children.time(sound.id)), 2.0);
  EXPECT_EQ(planted.plant, Sound) << "it ran in this process";
  Prepared faster = prepared(Faster);
  EXPECT_NE(faster.id, sound.id);
  EXPECT_EQ(llvm::cantFail(children.time(faster.id)), 1.0);
  EXPECT_EQ(llvm::cantFail(children.time(sound.id)), 2.0);
  Prepared refused = prepared(Refused);
  EXPECT_EQ(refused.outcome, Outcome::NotCompiled);
  EXPECT_EQ(refused.reason, "no such tile");
  struct Case {
    Plant plant;
    const char *reason;
  };
  for (Case c :
       {Case{Crashes, "it crashed: signal 11 (Segmentation fault)"}, Case{Aborts, "it crashed: signal 6 (Aborted)"},
        Case{Hangs, "it took more than 2.0 s"}, Case{Exits, "its process ended with status 7"}}) {
    Prepared failed = prepared(c.plant);
    EXPECT_EQ(failed.outcome, Outcome::Failed);
    EXPECT_EQ(failed.reason, c.reason);
  }
  for (Case c : {Case{CrashesWhenTimed, "it crashed: signal 4 (Illegal instruction)"},
                 Case{HangsWhenTimed, "it took more than 2.0 s"}}) {
    Prepared late = prepared(c.plant);
    ASSERT_EQ(late.outcome, Outcome::Ok);
    for (int again = 0; again < 2; ++again) {
      auto time = children.time(late.id);
      ASSERT_FALSE(bool(time));
      EXPECT_EQ(llvm::toString(time.takeError()), c.reason);
    }
    children.release(late.id);
  }
  children.release(sound.id), children.release(faster.id);
}

class Log : public SearchListener {
public:
  llvm::Error record(const Trial &trial) override {
    trials.push_back(trial);
    return llvm::Error::success();
  }
  std::vector<Trial> trials;
};

TEST(ChildMeasurer, TheSearchGoesOn) {
  SearchSpace space = spaceOfPlants();
  Planted planted;
  ChildMeasurer children(planted, 2);
  Log log;
  auto strategy = llvm::cantFail(makeStrategy("random", space, 1));
  SearchOptions options;
  options.trials = NumPlants - 1;
  SearchResult found =
      llvm::cantFail(search(space, *strategy, children, log, options, {}, std::nullopt, [] { return false; }));
  EXPECT_EQ(found.best.choices[0], unsigned(Faster));
  EXPECT_EQ(found.ratio, 0.5);
  EXPECT_EQ(log.trials.size(), size_t(NumPlants));
  EXPECT_EQ(found.failed, unsigned(NumPlants - 2));
  for (const Trial &trial : log.trials) {
    auto plant = static_cast<Plant>(trial.candidate.choices[0]);
    Outcome expected = plant <= Faster ? Outcome::Ok : plant == Refused ? Outcome::NotCompiled : Outcome::Failed;
    EXPECT_EQ(trial.outcome, expected) << plant << ": " << trial.reason;
    EXPECT_EQ(trial.reason.empty(), expected == Outcome::Ok);
  }
}

// The best so far fails in a later race: it is the best no more.
class Spoiling : public Planted {
public:
  llvm::Expected<double> time(unsigned id) override {
    if (plant == Faster && ++timed > 8) raise(SIGSEGV);
    return Planted::time(id);
  }
  unsigned timed = 0;
};

TEST(ChildMeasurer, ABestThatFailsIsGivenUp) {
  SearchSpace space = spaceOfPlants();
  space.variants[0].stages[0].choices.resize(2);
  Spoiling spoiling;
  ChildMeasurer children(spoiling, 5);
  Log log;
  auto strategy = llvm::cantFail(makeStrategy("random", space, 1));
  SearchOptions options;
  options.trials = 1;
  // The candidate's own race is of 12 rounds.
  SearchResult found =
      llvm::cantFail(search(space, *strategy, children, log, options, {}, std::nullopt, [] { return false; }));
  EXPECT_EQ(found.best, space.standardCandidate());
  EXPECT_EQ(log.trials.back().outcome, Outcome::Failed);
  // One that was the best of an earlier search, and fails in the end.
  Log again;
  auto other = llvm::cantFail(makeStrategy("random", space, 1));
  Trial known;
  known.candidate = {0, {Faster}}, known.ratio = 0.5;
  found = llvm::cantFail(search(space, *other, children, again, options, known, known.candidate, [] { return false; }));
  EXPECT_EQ(found.best, space.standardCandidate());
  EXPECT_EQ(found.ratio, 1);
}

} // namespace

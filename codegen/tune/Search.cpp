#include "codegen/tune/Search.h"
#include "codegen/tune/CostModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include <set>

using namespace llvm;
using namespace lintel;

namespace {

class Searcher {
public:
  Searcher(const SearchSpace &space, Strategy &strategy, Measurer &measurer, SearchListener &listener,
           const SearchOptions &options, function_ref<bool()> stop)
      : space(space), strategy(strategy), measurer(measurer), listener(listener), options(options), stop(stop) {}
  ~Searcher() {
    for (unsigned id : {standardId, bestId})
      if (id) measurer.release(id - 1);
  }

  Error begin(ArrayRef<Trial> known, std::optional<Candidate> start) {
    begun = measurer.now();
    for (const Trial &trial : known) {
      seen.insert(trial.candidate);
      strategy.report(trial);
    }
    Candidate standard = space.standardCandidate();
    Prepared prepared = measurer.prepare(standard);
    if (prepared.outcome != Outcome::Ok)
      return createStringError("the default candidate is no measure for others, it is %s: %s",
                               toString(prepared.outcome).str().c_str(), prepared.reason.c_str());
    standardId = prepared.id + 1;
    result.best = standard;
    // A race of one gives its time.
    auto standing = race(measurer, {prepared.id}, RaceOptions(), stop);
    if (!standing) return standing.takeError();
    result.seconds = result.standardSeconds = standing->front().seconds();
    result.rounds = standing->front().times.size();
    if (seen.insert(standard).second && result.rounds) {
      Trial trial;
      trial.candidate = standard, trial.error = prepared.error, trial.ratio = 1;
      trial.predicted = predictedCost(space, standard);
      trial.seconds = result.seconds, trial.rounds = result.rounds;
      trial.at = measurer.now() - begun;
      strategy.report(trial);
      if (Error e = listener.record(trial)) return e;
    }
    if (!start || *start == standard || over()) return Error::success();
    // What an earlier search left as its best is checked again like any other.
    Prepared again = measurer.prepare(*start);
    if (again.outcome != Outcome::Ok) return Error::success();
    bestId = again.id + 1;
    result.best = *start;
    return final(RaceOptions().lastRounds);
  }

  bool over() {
    if (stop()) result.stopped = true;
    return result.stopped || result.trials >= options.trials || measurer.now() - begun >= options.seconds;
  }

  Error run() {
    while (!over() && !result.exhausted)
      if (Error e = batch()) return e;
    return Error::success();
  }

  /// The best against the standard one alone, for the figure that is told.
  Error final(unsigned rounds) {
    if (!bestId) return Error::success();
    RaceOptions race{rounds, rounds};
    auto standings = lintel::race(measurer, {standardId - 1, bestId - 1}, race, stop);
    if (!standings) return standings.takeError();
    if ((*standings)[0].times.empty()) return Error::success();
    Candidate before = result.best;
    if (!(*standings)[1].failure.empty()) {
      if (Error e = recordFailure(before, (*standings)[1].failure)) return e;
    } else if ((*standings)[1].ratio <= 1 - options.margin) {
      return take(before, (*standings)[1], (*standings)[0], &before);
    }
    return backToStandard((*standings)[0]); // it was luck
  }

  SearchResult result;

private:
  Error take(const Candidate &candidate, const Standing &standing, const Standing &standard, const Candidate *instead) {
    result.best = candidate, result.ratio = standing.ratio;
    result.seconds = standing.seconds(), result.standardSeconds = standard.seconds();
    result.rounds = standing.times.size();
    return listener.best(result, instead);
  }

  Error backToStandard(const Standing &standard) {
    Candidate before = result.best;
    measurer.release(bestId - 1);
    bestId = 0;
    Standing even = standard;
    even.ratio = 1;
    return take(space.standardCandidate(), even, standard, &before);
  }

  /// Of one that passed its check and failed in a race.
  Error recordFailure(const Candidate &candidate, StringRef reason) {
    Trial trial;
    trial.candidate = candidate, trial.predicted = predictedCost(space, candidate);
    trial.outcome = Outcome::Failed, trial.reason = reason.str(), trial.at = measurer.now() - begun;
    ++result.failed;
    strategy.report(trial);
    return listener.record(trial);
  }

  Error batch() {
    std::vector<Trial> trials;
    std::vector<unsigned> ids{standardId - 1};
    if (bestId) ids.push_back(bestId - 1);
    size_t fixed = ids.size();
    scope_exit releaseAll([&] {
      for (unsigned id : ArrayRef(ids).drop_front(fixed))
        if (id + 1 != bestId) measurer.release(id);
    });
    while (trials.size() < options.batch && !over()) {
      listener.progress(result.trials, measurer.now() - begun, result);
      auto candidate = fresh();
      if (!candidate) {
        // With the results of this batch it may know more.
        result.exhausted = trials.empty();
        break;
      }
      Trial trial;
      trial.candidate = *candidate, trial.predicted = predictedCost(space, *candidate);
      Prepared prepared = measurer.prepare(*candidate);
      trial.outcome = prepared.outcome, trial.reason = prepared.reason, trial.error = prepared.error;
      ++result.trials;
      if (prepared.outcome == Outcome::Ok) {
        trials.push_back(trial);
        ids.push_back(prepared.id);
        continue;
      }
      ++result.failed;
      trial.at = measurer.now() - begun;
      strategy.report(trial);
      if (Error e = listener.record(trial)) return e;
    }
    if (trials.empty()) return Error::success();
    auto standings = race(measurer, ids, RaceOptions(), stop);
    if (!standings) return standings.takeError();
    if ((*standings)[0].times.empty()) return Error::success(); // stopped before a whole round
    if (bestId && !(*standings)[1].failure.empty()) {
      if (Error e = recordFailure(result.best, (*standings)[1].failure)) return e;
      if (Error e = backToStandard((*standings)[0])) return e;
    }
    const Standing *winner = &(*standings)[0];
    const Candidate *winning = nullptr;
    for (auto [trial, standing] : zip_equal(trials, ArrayRef(*standings).drop_front(fixed))) {
      if (!standing.failure.empty()) {
        if (Error e = recordFailure(trial.candidate, standing.failure)) return e;
        continue;
      }
      trial.ratio = standing.ratio, trial.seconds = standing.seconds(), trial.rounds = standing.times.size();
      trial.at = measurer.now() - begun;
      strategy.report(trial);
      if (Error e = listener.record(trial)) return e;
      if (!winning || standing.ratio < winner->ratio) winner = &standing, winning = &trial.candidate;
    }
    double toBeat = (bestId ? (*standings)[1].ratio : 1) * (1 - options.margin);
    if (winner->ratio > toBeat) return Error::success();
    bool replaces = bestId != 0;
    Candidate before = result.best;
    if (replaces) measurer.release(bestId - 1);
    bestId = winner->id + 1;
    return take(*winning, *winner, (*standings)[0], replaces ? &before : nullptr);
  }

  /// One that was not looked at; nothing where the strategy names only known ones.
  std::optional<Candidate> fresh() {
    for (unsigned tries = 0; tries < 1000; ++tries) {
      auto candidate = strategy.next();
      if (!candidate) return std::nullopt;
      if (seen.insert(*candidate).second) return candidate;
    }
    return std::nullopt;
  }

  const SearchSpace &space;
  Strategy &strategy;
  Measurer &measurer;
  SearchListener &listener;
  const SearchOptions &options;
  function_ref<bool()> stop;
  std::set<Candidate> seen;
  unsigned standardId = 0, bestId = 0; // one more than the measurer's; 0: none
  double begun = 0;
};

} // namespace

Expected<SearchResult> lintel::search(const SearchSpace &space, Strategy &strategy, Measurer &measurer,
                                      SearchListener &listener, const SearchOptions &options, ArrayRef<Trial> known,
                                      std::optional<Candidate> start, function_ref<bool()> stop) {
  Searcher searcher(space, strategy, measurer, listener, options, stop);
  if (Error e = searcher.begin(known, std::move(start))) return std::move(e);
  if (Error e = searcher.run()) return std::move(e);
  if (!stop())
    if (Error e = searcher.final(options.finalRounds)) return std::move(e);
  return searcher.result;
}

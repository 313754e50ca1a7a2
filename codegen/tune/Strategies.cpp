// Random choice, a beam over the cost model, and evolution.
#include "codegen/schedule/Autoscheduler.h"
#include "codegen/tune/CostModel.h"
#include "codegen/tune/Search.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace llvm;
using namespace lintel;

uint64_t TuneRandom::next() { // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// How many directives two schedules of a stage differ in.
static unsigned distance(const StageSchedule &a, const StageSchedule &b) {
  if (a.inlined != b.inlined) return 1;
  return (a.vector != b.vector) + (a.panel != b.panel) + (a.rows != b.rows);
}

namespace {

class Base : public Strategy {
public:
  Base(const SearchSpace &space, uint64_t seed) : space(space), random(seed) {
    for (auto [v, variant] : enumerate(space.variants))
      if (variant.whyNot.empty() && variant.whole.empty()) usable.push_back(v);
  }

protected:
  /// The heuristic's of every variant, one after the other.
  std::optional<Candidate> nextStandard() {
    if (given == usable.size()) return std::nullopt;
    return space.standardOf(usable[given++]);
  }
  Candidate any() { return anyOf(usable[random.below(usable.size())]); }
  /// Half of the stages as the heuristic has them: most of a kernel's stages matter little.
  Candidate anyOf(unsigned variant) {
    Candidate c = space.standardOf(variant);
    for (auto [stage, choice] : zip_equal(space.variants[variant].stages, c.choices))
      if (random.chance(0.5)) choice = random.below(stage.choices.size());
    return c;
  }
  /// Another schedule of one stage, mostly one directive away.
  void change(Candidate &c) {
    const auto &stages = space.variants[c.variant].stages;
    if (stages.empty()) return;
    unsigned s = random.below(stages.size());
    SmallVector<unsigned> near;
    for (auto [i, choice] : enumerate(stages[s].choices))
      if (distance(choice, stages[s].choices[c.choices[s]]) == 1) near.push_back(i);
    c.choices[s] =
        near.empty() || random.chance(0.25) ? random.below(stages[s].choices.size()) : near[random.below(near.size())];
  }

  const SearchSpace &space;
  TuneRandom random;
  SmallVector<unsigned> usable;

private:
  size_t given = 0;
};

/// The heuristic's of every variant first, then any of any variant.
class RandomStrategy : public Base {
public:
  using Base::Base;
  std::optional<Candidate> next() override {
    if (usable.empty()) return std::nullopt;
    if (auto standard = nextStandard()) return standard;
    return any();
  }
  void report(const Trial &) override {}
};

/// Looks at one change of each of the best so far, those first that the cost model holds for cheapest; what the model
/// says of a variant is corrected by what was measured of it.
class BeamStrategy : public Base {
public:
  using Base::Base;

  std::optional<Candidate> next() override {
    if (usable.empty()) return std::nullopt;
    if (!started) {
      started = true;
      for (unsigned v : usable) offer(space.standardOf(v));
    }
    if (frontier.empty()) expand();
    if (frontier.empty()) return std::nullopt;
    auto first = min_element(frontier, [&](const Candidate &a, const Candidate &b) {
      return std::make_pair(guess(a), a) < std::make_pair(guess(b), b);
    });
    Candidate c = *first;
    frontier.erase(first);
    // Half of what a wave offers is never looked at: a better place to look from may have been found.
    if (expanded && ++looked >= waveSize) frontier.clear();
    return c;
  }

  void report(const Trial &trial) override {
    offered.insert(trial.candidate);
    if (trial.outcome != Outcome::Ok) return;
    measured.push_back({trial.ratio, trial.candidate});
    llvm::sort(measured);
    double scale = trial.ratio / std::max(trial.predicted, 1e-9);
    auto [it, isNew] = scales.try_emplace(trial.candidate.variant, scale);
    if (!isNew) it->second = std::min(it->second, scale);
  }

private:
  static constexpr size_t width = 4, waveSize = 12;

  double guess(const Candidate &c) const {
    double mean = 0;
    for (const auto &[variant, scale] : scales) mean += scale / static_cast<double>(scales.size());
    auto it = scales.find(c.variant);
    return predictedCost(space, c) * (it != scales.end() ? it->second : mean > 0 ? mean : 1);
  }
  void offer(const Candidate &c) {
    if (offered.insert(c).second) frontier.push_back(c);
  }
  void expand() {
    expanded = true, looked = 0;
    // Where all near the best are known, those near the next ones.
    for (size_t i = 0; i < measured.size() && (i < width || frontier.empty()); ++i) {
      const Candidate &from = measured[i].second;
      for (auto [s, stage] : enumerate(space.variants[from.variant].stages))
        for (unsigned choice = 0; choice < stage.choices.size(); ++choice) {
          if (distance(stage.choices[choice], stage.choices[from.choices[s]]) != 1) continue;
          Candidate c = from;
          c.choices[s] = choice;
          // Those that a wave ends before come back in the next one.
          if (!offered.count(c) && !is_contained(frontier, c)) frontier.push_back(c);
        }
    }
  }

  bool started = false, expanded = false;
  size_t looked = 0;
  std::set<Candidate> offered; // known, or on the way
  std::vector<Candidate> frontier;
  std::vector<std::pair<double, Candidate>> measured;
  std::map<unsigned, double> scales;
};

/// Children of the fastest so far: stages from one or the other parent of a variant, then changes.
class EvolutionStrategy : public Base {
public:
  using Base::Base;

  std::optional<Candidate> next() override {
    if (usable.empty()) return std::nullopt;
    if (auto standard = nextStandard()) return standard;
    if (fastest.size() < 2 || random.chance(0.1)) return any();
    const Candidate &a = parent(), &b = parent();
    Candidate child = a;
    if (a.variant == b.variant)
      for (auto [mine, other] : zip_equal(child.choices, b.choices))
        if (random.chance(0.5)) mine = other;
    do change(child);
    while (random.chance(0.4));
    return child;
  }

  void report(const Trial &trial) override {
    if (trial.outcome != Outcome::Ok) return;
    fastest.push_back({trial.ratio, trial.candidate});
    llvm::sort(fastest);
    if (fastest.size() > population) fastest.pop_back();
  }

private:
  static constexpr size_t population = 16;

  const Candidate &parent() {
    // The better of two: fastest is sorted.
    return fastest[std::min(random.below(fastest.size()), random.below(fastest.size()))].second;
  }

  std::vector<std::pair<double, Candidate>> fastest;
};

/// Halide's own schedule of each variant.
class WholeStrategy : public Strategy {
public:
  WholeStrategy(const SearchSpace &space, std::string text) : space(space), text(std::move(text)) {}
  std::optional<Candidate> next() override {
    for (; at < space.variants.size(); ++at)
      if (space.variants[at].whole == text) return space.standardOf(at++);
    return std::nullopt;
  }
  void report(const Trial &) override {}

private:
  const SearchSpace &space;
  const std::string text;
  unsigned at = 0;
};

constexpr StringLiteral names[] = {"random", "beam", "evolution", "halide:mullapudi2016", "halide:adams2019"};

} // namespace

ArrayRef<StringLiteral> lintel::strategyNames() { return names; }

Expected<std::unique_ptr<Strategy>> lintel::makeStrategy(StringRef name, const SearchSpace &space, uint64_t seed) {
  if (name == "random") return std::make_unique<RandomStrategy>(space, seed);
  if (name == "beam") return std::make_unique<BeamStrategy>(space, seed);
  if (name == "evolution") return std::make_unique<EvolutionStrategy>(space, seed);
  StringRef scheduler = name;
  if (is_contained(names, name) && scheduler.consume_front("halide:"))
    return std::make_unique<WholeStrategy>(space, autoschedulerText(scheduler));
  return createStringError("expected a strategy of %s, found '%s'", llvm::join(strategyNames(), ", ").c_str(),
                           name.str().c_str());
}

#include "codegen/tune/Measure.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace lintel;

StringRef lintel::toString(Outcome outcome) {
  switch (outcome) {
  case Outcome::Ok:
    return "ok";
  case Outcome::NotCompiled:
    return "not compiled";
  case Outcome::Wrong:
    return "wrong";
  case Outcome::Failed:
    return "failed";
  }
  llvm_unreachable("an outcome");
}

Outcome lintel::outcomeOf(StringRef text) {
  for (Outcome outcome : {Outcome::Ok, Outcome::Wrong, Outcome::Failed})
    if (text == toString(outcome)) return outcome;
  return Outcome::NotCompiled;
}

double Standing::seconds() const { return times.empty() ? 0 : *std::min_element(times.begin(), times.end()); }

static double median(std::vector<double> values) {
  llvm::sort(values);
  size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

Expected<std::vector<Standing>> lintel::race(Measurer &measurer, ArrayRef<unsigned> ids, const RaceOptions &options,
                                             function_ref<bool()> stop) {
  std::vector<Standing> all(ids.size());
  SmallVector<size_t> left;
  for (auto [i, id] : enumerate(ids)) all[i].id = id, left.push_back(i);
  unsigned done = 0;
  auto rounds = [&](unsigned count) -> Error {
    for (unsigned r = 0; r < count; ++r) {
      if (stop()) return Error::success();
      SmallVector<double> times(left.size());
      for (size_t i = 0; i < left.size(); ++i) {
        size_t at = (i + done) % left.size();
        auto time = measurer.time(all[left[at]].id);
        if (time) times[at] = *time;
        else if (left[at] == 0) return time.takeError();
        else all[left[at]].failure = llvm::toString(time.takeError());
      }
      // A round counts as a whole: every figure is a ratio within one.
      for (auto [at, time] : zip_equal(left, times)) all[at].times.push_back(time);
      erase_if(left, [&](size_t at) { return !all[at].failure.empty(); });
      ++done;
    }
    for (size_t at : left) {
      std::vector<double> ratios;
      for (auto [mine, standard] : zip(all[at].times, all[0].times)) ratios.push_back(mine / standard);
      if (!ratios.empty()) all[at].ratio = median(std::move(ratios));
    }
    return Error::success();
  };
  for (unsigned heat = options.firstRounds;; heat *= 2) {
    bool last = left.size() <= 2;
    if (last) heat = std::max(heat, options.lastRounds > done ? options.lastRounds - done : 1);
    if (Error e = rounds(heat)) return std::move(e);
    if (last || stop()) break;
    llvm::sort(left,
               [&](size_t a, size_t b) { return std::make_pair(all[a].ratio, a) < std::make_pair(all[b].ratio, b); });
    // The standard candidate, and half of the others, rounded up.
    size_t others = left.size() / 2;
    SmallVector<size_t> next{0};
    for (size_t at : left)
      if (at != 0 && next.size() <= others) next.push_back(at);
    left = std::move(next);
  }
  return std::move(all);
}

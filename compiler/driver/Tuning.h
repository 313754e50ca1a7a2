// The search for schedules, joined: spaces from kernels, candidates on the workbench, results in the database.
#ifndef LINTEL_COMPILER_DRIVER_TUNING_H
#define LINTEL_COMPILER_DRIVER_TUNING_H

#include "codegen/tune/Search.h"
#include "codegen/tune/TuningDatabase.h"
#include "compiler/driver/Workbench.h"
#include <functional>

namespace lintel {

/// The forms and chunks of an operator at a shape, and the schedules of their stages on the request's target. What the
/// request's form names is the only one of its kind: a form, a chunk. Variants whose kernel cannot be built, or whose
/// cost is far above the least, are there with the reason.
llvm::Expected<SearchSpace> searchSpace(const SpecFile &file, const OperatorInfo &op, const BenchmarkRequest &request);

/// What the database keeps results of this request under.
llvm::Expected<TuningKey> tuningKey(const OperatorInfo &op, const BenchmarkRequest &request);

struct TuneRequest {
  BenchmarkRequest bench; // its form: what the search is limited to
  std::string strategy = "beam";
  uint64_t seed = 1;
  SearchOptions search;
  TuningDatabase *database = nullptr; // none: nothing is kept
  double patience = 60;               // seconds that a candidate may take (ChildMeasurer)
  /// Asked between compiles and rounds.
  std::function<bool()> stop = [] { return false; };
  /// Told after each trial: how many are done, seconds since the start, the best so far.
  std::function<void(unsigned, double, const SearchResult &)> progress = [](unsigned, double, const SearchResult &) {};
};

struct TuneResult {
  SearchSpace space;
  TuningKey key;
  SearchResult found;
  std::vector<StoredTrial> trials; // of this search and those before
  unsigned resumed = 0;            // of `trials`, those before
  double seconds = 0;              // the search took
  double workFlops = 0;            // by the operator's mathematics; 0: not counted
  double bytes = 0;                // of inputs and outputs
  double limit = 0;                // gflops of these threads at most

  double bandwidth = 0; // GB a second that one core reads
  std::string strategy;

  std::string form() const { return space.variants[found.best.variant].form; }
  int64_t chunk() const { return space.variants[found.best.variant].chunk; }
  std::string schedule() const { return space.schedule(found.best); }
  /// A .sched file with what was measured in its comments.
  std::string exported() const;
  /// An HTML page.
  std::string report() const;
  void print(llvm::raw_ostream &os) const;
  llvm::json::Value json() const;
};

/// Compiles, checks and only then times candidates. With a database it goes on from what that has, and every trial is
/// kept at once. Errors: the default does not compile or is wrong, the database cannot be written.
llvm::Expected<TuneResult> tuneOperator(const SpecFile &file, const OperatorInfo &op, const TuneRequest &request);

/// A schedule from the database.
struct TunedSchedule {
  FormRequest form;   // its origin: "tuned for B=1 T=4096 H=8, 1 thread: 1.12 times the default's speed ('FILE')"
  std::string misfit; // not empty: why it is none for the kernel of this compiler, and the default is to be taken
};
/// The best one of exactly this request, or, where `anyShape`, of the request's kernel at the shape with most work.
/// Nothing where there is none, or where the best is the default.
llvm::Expected<std::optional<TunedSchedule>> findTuned(TuningDatabase &database, const std::string &path,
                                                       const SpecFile &file, const OperatorInfo &op,
                                                       const BenchmarkRequest &request, bool anyShape);

} // namespace lintel

#endif

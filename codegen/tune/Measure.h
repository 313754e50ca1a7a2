//===- Measure.h - which of some candidates is fastest, by interleaved runs
//----------------------------------------===//
//
// Times on a machine that others use drift by tens of percent within seconds; ratios of runs that follow each other do
// not. So candidates are timed in rounds: each round times every one that is left once, the standard candidate always
// among them, starting with another one each time. A candidate's figure is the median over rounds of its time over the
// standard's in the same round. Successive halving: after a heat the slower half goes, and the next heat is longer.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_TUNE_MEASURE_H
#define LINTEL_CODEGEN_TUNE_MEASURE_H

#include "codegen/tune/SearchSpace.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace lintel {

enum class Outcome {
  Ok,
  NotCompiled,
  Wrong,
  Failed ///< it crashed, or took too long
};
/// "ok", "not compiled", "wrong", "failed"
llvm::StringRef toString(Outcome outcome);
/// What toString() writes; NotCompiled for any other text.
Outcome outcomeOf(llvm::StringRef text);

struct Prepared {
  Outcome outcome = Outcome::Ok;
  unsigned id = 0;    ///< where it is Ok: what time() and release() take
  std::string reason; ///< where it is not
  double error = 0;   ///< of the check
};

/// Who compiles, checks and times: the driver, or a test's fake.
class Measurer {
public:
  virtual ~Measurer() = default;
  /// Compiles and checks. A candidate whose result was not checked has no id, so nothing of it can be timed.
  virtual Prepared prepare(const Candidate &candidate) = 0;
  /// Seconds of one run.
  virtual llvm::Expected<double> time(unsigned id) = 0;
  virtual void release(unsigned id) = 0;
  /// Seconds since some start.
  virtual double now() = 0;
};

struct Standing {
  unsigned id = 0;
  std::vector<double> times; ///< of each round that it took part in
  double ratio = 1;          ///< to the standard's, below 1 is faster
  std::string failure;       ///< not empty: a run failed, and it left the race
  double seconds() const;    ///< least
};

struct RaceOptions {
  unsigned firstRounds = 3; ///< of the first heat; each next one doubles it
  unsigned lastRounds = 12; ///< at least, for the one that is left
};

/// `ids[0]` is the standard candidate, which stays to the end. In the order of `ids`. Ends early where `stop` says so,
/// after a whole round; without one whole round the times are empty. One whose run fails leaves; an error where it is
/// the standard one.
llvm::Expected<std::vector<Standing>> race(Measurer &measurer, llvm::ArrayRef<unsigned> ids, const RaceOptions &options,
                                           llvm::function_ref<bool()> stop);

} // namespace lintel
#endif

//===- Search.h - strategies, and the search that drives them -------------===//
//
// A strategy names candidates and is told what became of them; it sees neither IR nor clocks. The search asks for a
// batch, leaves out what is known, has the rest compiled and checked, races those that passed against the standard
// candidate and the best so far (Measure.h), and records every trial at once, so that it may be stopped at any time.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_TUNE_SEARCH_H
#define LINTEL_CODEGEN_TUNE_SEARCH_H

#include "codegen/tune/Measure.h"
#include <limits>
#include <memory>

namespace lintel {

struct Trial {
  Candidate candidate;
  Outcome outcome = Outcome::Ok;
  std::string reason;
  double error = 0;
  double ratio = 0, seconds = 0; ///< of an Ok one
  unsigned rounds = 0;
  double predicted = 0; ///< by the cost model
  double at = 0;        ///< seconds since the search began
};

/// Small numbers that are the same on every machine.
class TuneRandom {
public:
  explicit TuneRandom(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// Below n, which is at least 1.
  unsigned below(size_t n) { return static_cast<unsigned>(next() % n); }
  bool chance(double p) { return static_cast<double>(next() >> 11) * 0x1p-53 < p; }

private:
  uint64_t state;
};

class Strategy {
public:
  virtual ~Strategy() = default;
  /// The next one to look at; nothing where it knows no more. May name one that is known.
  virtual std::optional<Candidate> next() = 0;
  virtual void report(const Trial &trial) = 0;
};

/// "random", "beam", "evolution", or "halide:" and an auto-scheduler, which looks at the space's variants that have its
/// schedule as a whole; any other name is an error that lists these. The space must outlive it.
llvm::Expected<std::unique_ptr<Strategy>> makeStrategy(llvm::StringRef name, const SearchSpace &space, uint64_t seed);
llvm::ArrayRef<llvm::StringLiteral> strategyNames();

struct SearchOptions {
  unsigned trials = std::numeric_limits<unsigned>::max(); ///< new ones
  double seconds = std::numeric_limits<double>::infinity();
  unsigned batch = 6;
  unsigned finalRounds = 24; ///< of the best against the standard, at the end
  /// A best one must be faster by this share.
  double margin = 0.01;
};

struct SearchResult {
  Candidate best;
  double ratio = 1;                        ///< of the last race in which both were
  double seconds = 0, standardSeconds = 0; ///< the least of that race
  unsigned rounds = 0;
  unsigned trials = 0, failed = 0;
  bool stopped = false, exhausted = false;
};

/// Told as the search goes; an error of record() ends it.
class SearchListener {
public:
  virtual ~SearchListener() = default;
  virtual llvm::Error record(const Trial &) { return llvm::Error::success(); }
  /// A new best one, or another figure of it. `instead`: the best until then, which it was raced against; null: none.
  virtual llvm::Error best(const SearchResult &, const Candidate *instead) { return llvm::Error::success(); }
  virtual void progress(unsigned, double, const SearchResult &) {}
};

/// `known` are earlier trials, whose candidates are not looked at again; `start` is the best of them. Errors: the
/// standard candidate does not compile or is wrong, runs that fail, the listener's.
llvm::Expected<SearchResult> search(const SearchSpace &space, Strategy &strategy, Measurer &measurer,
                                    SearchListener &listener, const SearchOptions &options, llvm::ArrayRef<Trial> known,
                                    std::optional<Candidate> start, llvm::function_ref<bool()> stop);

} // namespace lintel
#endif

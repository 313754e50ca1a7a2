//===- TuningDatabase.h - what searches have found, kept ------------------===//
//
// A SQLite file. Tuners may share it (each write is a transaction of its own that waits for
// others); compilers read it. It is never repaired, emptied or replaced: a file that is something else, is damaged or
// was written by a newer Lintel is an error that says where, what was expected, what was found and the way out.
//
//   problem  a key: kernel (hash of the canonical text, dimensions and types), shape, threads, processor, compiler
//   trial    a candidate of a problem: form, chunk, schedule, outcome, figures
//   best     of a problem, against the default in the same rounds
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_TUNE_TUNINGDATABASE_H
#define LINTEL_CODEGEN_TUNE_TUNINGDATABASE_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace lintel {

/// All that a figure depends on. Fields are compared as they are.
struct TuningKey {
  std::string specHash;
  std::string name;  ///< of the operator, for people
  std::string dims;  ///< "dk=64 dv=64", for people
  std::string types; ///< "f32", for people
  int64_t batch = 1, steps = 0, heads = 1, groups = 0;
  int64_t threads = 1;
  std::string target;   ///< name, cpu and features as they are resolved
  std::string machine;  ///< the processor's name
  std::string compiler; ///< version
};

struct StoredTrial {
  std::string form, schedule;
  int64_t chunk = 0;
  std::string outcome, reason;
  double error = 0, ratio = 0, seconds = 0, predicted = 0, at = 0;
  int64_t rounds = 0;
  std::string strategy;
};

struct StoredBest {
  std::string form, schedule;
  int64_t chunk = 0;
  double ratio = 1, seconds = 0, standardSeconds = 0;
  int64_t rounds = 0;
};

class TuningDatabase {
public:
  static constexpr int schemaVersion = 1;
  enum class Access { Read, Write };

  /// Makes the file for writing where there is none; for reading that is an error.
  static llvm::Expected<std::unique_ptr<TuningDatabase>> open(const std::string &path, Access access);
  ~TuningDatabase();
  TuningDatabase(const TuningDatabase &) = delete;

  /// Replaces an earlier trial of the same candidate.
  llvm::Error add(const TuningKey &key, const StoredTrial &trial);
  llvm::Expected<std::vector<StoredTrial>> trials(const TuningKey &key);
  /// Keeps what another tuner found if that was better, and is neither the same candidate nor `instead`: one that
  /// `best` was raced against.
  llvm::Error setBest(const TuningKey &key, const StoredBest &best, const StoredBest *instead = nullptr);
  llvm::Expected<std::optional<StoredBest>> best(const TuningKey &key);
  /// The keys with a best one that agree with `key` in kernel, target, machine and compiler, most work first.
  llvm::Expected<std::vector<TuningKey>> shapes(const TuningKey &key);
  /// Whether there is a best one for the kernel, target and machine of `key`, but of another compiler.
  llvm::Expected<bool> hasOfOthers(const TuningKey &key);

private:
  class Statement;
  TuningDatabase(std::string path, sqlite3 *db) : path(std::move(path)), db(db) {}
  llvm::Error failure(const char *doing, int code) const;
  llvm::Error execute(const char *doing, const char *sql);
  llvm::Error check(Access access);
  /// -1: the problem is not there.
  llvm::Expected<int64_t> problem(const TuningKey &key, bool make);
  std::string path;
  sqlite3 *db;
};

} // namespace lintel
#endif

// --database and --no-database: where schedules that were searched for are kept.
#ifndef LINTEL_COMPILER_TOOLS_DATABASE_H
#define LINTEL_COMPILER_TOOLS_DATABASE_H

#include "compiler/driver/Tuning.h"
#include "compiler/tools/Tool.h"

namespace lintel::tools {

/// The file that --database names, else the one of the environment variable LINTEL_DATABASE, else none.
struct DatabaseOptions {
  explicit DatabaseOptions(Subcommand &command);

  /// Null where there is none; so, too, where the variable's file is not there and it is only to be read.
  llvm::Expected<std::unique_ptr<TuningDatabase>> open(TuningDatabase::Access access) const;
  /// What it has for the request, where that leaves form, chunk and schedule open; a warning where that does not fit.
  /// `anyShape`: see findTuned().
  llvm::Expected<std::optional<FormRequest>> find(const SpecFile &file, const OperatorInfo &op,
                                                  const BenchmarkRequest &request, bool anyShape) const;
  /// Puts it into the request, and says so on the standard error.
  llvm::Error apply(const SpecFile &file, const OperatorInfo &op, BenchmarkRequest &request, bool anyShape) const;

private:
  std::string path() const;
  llvm::cl::opt<std::string> file;
  llvm::cl::opt<bool> none;
};

} // namespace lintel::tools

#endif

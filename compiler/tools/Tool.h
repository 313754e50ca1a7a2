// What the subcommands of `lintel` share. Each is an object that declares its options in its constructor, so that there
// are no global options, and runs once they are parsed.
#ifndef LINTEL_COMPILER_TOOLS_TOOL_H
#define LINTEL_COMPILER_TOOLS_TOOL_H

#include "compiler/driver/Arrays.h"
#include "compiler/driver/Compilation.h"
#include "llvm/Support/CommandLine.h"
#include <memory>
#include <optional>
#include <string>

namespace lintel::tools {

/// Exit statuses.
enum : int { Success = 0, CheckFailed = 1, BadInput = 2 };

class Subcommand {
public:
  Subcommand(llvm::StringRef name, llvm::StringRef description) : sub(name, description), category("Options") {}
  virtual ~Subcommand() = default;
  /// The end of its help.
  virtual llvm::StringRef example() const = 0;
  /// Bad usage and bad input are errors (status 2); a check that failed is status 1.
  virtual llvm::Expected<int> run() = 0;

  llvm::cl::SubCommand sub;
  llvm::cl::OptionCategory category;
};

std::unique_ptr<Subcommand> makeRun();
std::unique_ptr<Subcommand> makeCompile();
std::unique_ptr<Subcommand> makeCheck();
std::unique_ptr<Subcommand> makeExplain();
std::unique_ptr<Subcommand> makeBench();

/// SPEC, --op and --dim.
struct SpecOptions {
  explicit SpecOptions(Subcommand &command);
  llvm::cl::opt<std::string> path, op;
  llvm::cl::list<std::string> dims;

  /// Reads the file and prints its warnings.
  llvm::Expected<std::unique_ptr<SpecFile>> open() const;
  /// The operator of --op, or all of the file.
  llvm::Expected<std::vector<const OperatorInfo *>> select(const SpecFile &file) const;
};

/// --dtype, --form, --chunk and --schedule.
struct CodeOptions {
  explicit CodeOptions(Subcommand &command);
  llvm::cl::list<std::string> dtypes;
  llvm::cl::opt<std::string> form, schedule;
  llvm::cl::opt<long long> chunk;

  /// Nothing where the option is not given.
  llvm::Expected<TypeRequest> types() const { return parseTypes(dtypes); }
  /// Checks --form and --chunk.
  llvm::Error check() const;
  /// What they ask for; reads the schedule.
  llvm::Expected<FormRequest> request() const;
};

/// The folder that LINTEL_CACHE names, for compiled operators; empty: they are not kept.
std::string cacheFolder();

int defaultThreads();
llvm::Error checkThreads(long long threads);

/// "NAME=FILE"
llvm::Expected<std::pair<std::string, std::string>> parseAssignment(llvm::StringRef option, llvm::StringRef text);
/// The arrays of "NAME=FILE" texts. '<u2' counts as bfloat16 where that is the dtype asked for by `types`.
llvm::Expected<std::vector<NamedArray>> readArrays(llvm::StringRef option, llvm::ArrayRef<std::string> texts,
                                                   const TypeRequest &types);
/// "1,2,3"; nothing between the commas is an error, an empty text is an empty list.
llvm::Expected<std::vector<int64_t>> parseList(llvm::StringRef option, llvm::StringRef text);

} // namespace lintel::tools

#endif

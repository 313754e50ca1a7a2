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
std::unique_ptr<Subcommand> makeMeasure();
std::unique_ptr<Subcommand> makeSpace();
std::unique_ptr<Subcommand> makeTune();

/// What LLVM's parser of command lines would refuse without saying what it expected and found: options that do not
/// exist, without a value or given twice, and too many or too few SPECs.
llvm::Error checkArguments(const Subcommand &command, llvm::ArrayRef<const char *> arguments);

/// The value of an option that is an integer, see range().
class Integer : public llvm::cl::parser<long long> {
public:
  using parser::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef name, llvm::StringRef text, long long &value);
  long long low = 0, high = 0;
  const char *expected = "";
};
using IntegerOption = llvm::cl::opt<long long, false, Integer>;

/// A modifier of integer options: `expected` says which values there are, as in "1 to 1024 threads".
struct range {
  long long low, high;
  const char *expected;
  void apply(IntegerOption &option) const {
    option.getParser().low = low, option.getParser().high = high, option.getParser().expected = expected;
  }
};
/// Of --threads.
inline range threadRange() { return {1, 1024, "1 to 1024 threads"}; }
/// Of --timeout.
inline range timeoutRange() { return {1, 1LL << 30, "1 to 2^30 seconds"}; }

/// SPEC, --op and --dim.
struct SpecOptions {
  explicit SpecOptions(Subcommand &command);
  llvm::cl::opt<std::string> path, op;
  llvm::cl::list<std::string> dims;

  /// Reads the file and prints its warnings, those about the operator of --op where that is given.
  llvm::Expected<std::unique_ptr<SpecFile>> open() const;
  /// The operator of --op, or all of the file.
  llvm::Expected<std::vector<const OperatorInfo *>> select(const SpecFile &file) const;
};

/// --dtype and --products.
struct TypeOptions {
  explicit TypeOptions(Subcommand &command);
  llvm::cl::list<std::string> dtypes;
  llvm::cl::opt<std::string> products;

  /// Nothing where the option is not given.
  llvm::Expected<TypeRequest> types() const { return parseTypes(dtypes, products); }
};

/// --dtype, --products, --form, --chunk, --schedule and --column-parts.
struct CodeOptions : TypeOptions {
  explicit CodeOptions(Subcommand &command);
  llvm::cl::opt<std::string> form, schedule;
  IntegerOption chunk, parts;

  /// Checks --form.
  llvm::Error check() const;
  /// What they ask for; reads the schedule.
  llvm::Expected<FormRequest> request() const;
};

/// Of --target: what there is.
llvm::StringRef targetHelp(bool several = false);

/// The folder that LINTEL_CACHE names, for compiled operators; empty: they are not kept.
std::string cacheFolder();

int defaultThreads();

/// "NAME=FILE"
llvm::Expected<std::pair<std::string, std::string>> parseAssignment(llvm::StringRef option, llvm::StringRef text);
/// The arrays of "NAME=FILE" texts. '<u2' counts as bfloat16 where that is the dtype asked for by `types`.
llvm::Expected<std::vector<NamedArray>> readArrays(llvm::StringRef option, llvm::ArrayRef<std::string> texts,
                                                   const TypeRequest &types);
/// "1,2,3"; nothing between the commas is an error, an empty text is an empty list.
llvm::Expected<std::vector<int64_t>> parseList(llvm::StringRef option, llvm::StringRef text);

} // namespace lintel::tools

#endif

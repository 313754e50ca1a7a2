#include "compiler/tools/Database.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

DatabaseOptions::DatabaseOptions(Subcommand &c)
    : file("database",
           cl::desc("a file of schedules that lintel tune found (default: what LINTEL_DATABASE names, else none)"),
           cl::value_desc("FILE"), cl::sub(c.sub), cl::cat(c.category)),
      none("no-database", cl::desc("use no such file"), cl::sub(c.sub), cl::cat(c.category)) {}

std::string DatabaseOptions::path() const {
  if (none) return "";
  if (file.getNumOccurrences()) return file;
  return sys::Process::GetEnv("LINTEL_DATABASE").value_or("");
}

Expected<std::unique_ptr<TuningDatabase>> DatabaseOptions::open(TuningDatabase::Access access) const {
  if (none && file.getNumOccurrences())
    return createStringError("expected --database FILE or --no-database, found both");
  if (file.getNumOccurrences() && file.empty()) return createStringError("expected a file for --database, found ''");
  std::string name = path();
  bool isDefault = !file.getNumOccurrences();
  if (name.empty() || (isDefault && access == TuningDatabase::Access::Read && !sys::fs::exists(name))) return nullptr;
  return TuningDatabase::open(name, access);
}

Expected<std::optional<FormRequest>> DatabaseOptions::find(const SpecFile &file, const OperatorInfo &op,
                                                           const BenchmarkRequest &request, bool anyShape) const {
  const FormRequest &form = request.compile.form;
  auto database = open(TuningDatabase::Access::Read);
  if (!database) return database.takeError();
  if (!*database || form.form != "auto" || form.chunk || !form.schedule.empty()) return std::nullopt;
  auto found = findTuned(**database, path(), file, op, request, anyShape);
  if (!found) return found.takeError();
  if (!*found) return std::nullopt;
  if (!(*found)->misfit.empty()) {
    errs() << "lintel: warning: '" << path() << "': no schedule for " << op.name << " is taken from it ("
           << (*found)->misfit << "); tune it again\n";
    return std::nullopt;
  }
  return (*found)->form;
}

Error DatabaseOptions::apply(const SpecFile &file, const OperatorInfo &op, BenchmarkRequest &request,
                             bool anyShape) const {
  auto found = find(file, op, request, anyShape);
  if (!found) return found.takeError();
  if (!*found) return Error::success();
  request.compile.form = **found;
  errs() << "lintel: " << op.name << ": " << (*found)->origin << "\n";
  return Error::success();
}

#include "compiler/tools/Tool.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Threading.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

SpecOptions::SpecOptions(Subcommand &c)
    : path(cl::Positional, cl::desc("SPEC"), cl::value_desc("SPEC"), cl::Required, cl::sub(c.sub), cl::cat(c.category)),
      op("op", cl::desc("which operator of the file, where it has several"), cl::value_desc("NAME"), cl::sub(c.sub),
         cl::cat(c.category)),
      dims("dim", cl::desc("value of a dimension; may be repeated"), cl::value_desc("NAME=N"), cl::CommaSeparated,
           cl::sub(c.sub), cl::cat(c.category)) {}

Expected<std::unique_ptr<SpecFile>> SpecOptions::open() const {
  auto file = SpecFile::open(path);
  if (!file) return file;
  if (op.empty()) errs() << (*file)->warnings();
  else if (auto one = (*file)->find(op)) errs() << (*file)->warnings(**one);
  else consumeError(one.takeError()); // who asks for it says so
  return file;
}

TypeOptions::TypeOptions(Subcommand &c)
    : dtypes("dtype",
             cl::desc("f32, f64, f16 or bf16 for all arrays, NAME=TYPE for one input or for out; may be repeated"),
             cl::value_desc("[NAME=]TYPE"), cl::CommaSeparated, cl::sub(c.sub), cl::cat(c.category)),
      products("products",
               cl::desc("f32 (default), or bf16: sums of products may round their factors to bf16 where the target "
                        "multiplies pairs of them"),
               cl::value_desc("TYPE"), cl::init("f32"), cl::sub(c.sub), cl::cat(c.category)) {}

CodeOptions::CodeOptions(Subcommand &c)
    : TypeOptions(c), form("form", cl::desc("auto (default), recurrent, chunkwise or parallel"), cl::value_desc("FORM"),
                           cl::init("auto"), cl::sub(c.sub), cl::cat(c.category)),
      schedule("schedule", cl::desc("a .sched file: how the stages of the form are computed"), cl::value_desc("FILE"),
               cl::sub(c.sub), cl::cat(c.category)),
      chunk("chunk", cl::desc("steps a chunk; 0 (default) chooses"), cl::value_desc("N"), cl::init(0),
            range{0, 4096, "a chunk of 1 to 4096 steps, or 0 to choose one,"}, cl::sub(c.sub), cl::cat(c.category)),
      parts("column-parts",
            cl::desc("parts that a head's value columns can be computed in, for fewer heads than threads; 1: none, 0 "
                     "(default) chooses"),
            cl::value_desc("N"), cl::init(0), range{0, 64, "1 to 64 parts, or 0 to choose,"}, cl::sub(c.sub),
            cl::cat(c.category)) {}

StringRef tools::targetHelp(bool several) {
  static const std::string all = "the processor: " + knownTargets().str() + " (default native)",
                           one = all + "; this machine must run it", list = all + "; may be repeated";
  return several ? list : one;
}

Expected<std::vector<const OperatorInfo *>> SpecOptions::select(const SpecFile &file) const {
  std::vector<const OperatorInfo *> result;
  if (op.empty()) {
    for (const OperatorInfo &info : file.operators()) result.push_back(&info);
    return std::move(result);
  }
  auto found = file.find(op);
  if (!found) return found.takeError();
  result.push_back(*found);
  return std::move(result);
}

Error CodeOptions::check() const {
  if (!is_contained({"auto", "recurrent", "chunkwise", "parallel"}, StringRef(form)))
    return createStringError("expected a form of auto, recurrent, chunkwise or parallel, found '%s'", form.c_str());
  return Error::success();
}

Expected<FormRequest> CodeOptions::request() const {
  FormRequest request{form, chunk, {}, {}};
  if (schedule.empty()) return request;
  auto buffer = MemoryBuffer::getFile(schedule, /*IsText=*/true);
  if (!buffer)
    return createStringError("cannot read the schedule '%s': %s", schedule.c_str(),
                             buffer.getError().message().c_str());
  request.schedule = (*buffer)->getBuffer().str();
  if (StringRef(request.schedule).trim().empty())
    return createStringError("expected 'STAGE: DIRECTIVES' lines in the schedule '%s', found nothing",
                             schedule.c_str());
  request.scheduleName = schedule;
  return request;
}

std::string tools::cacheFolder() { return sys::Process::GetEnv("LINTEL_CACHE").value_or(""); }

int tools::defaultThreads() { return std::clamp(llvm::get_physical_cores(), 1, 1024); }

Expected<std::pair<std::string, std::string>> tools::parseAssignment(StringRef option, StringRef text) {
  auto [name, file] = text.split('=');
  if (name.empty() || file.empty())
    return createStringError("expected --%s NAME=FILE, found '%s'", option.str().c_str(), text.str().c_str());
  return std::make_pair(name.str(), file.str());
}

Expected<std::vector<NamedArray>> tools::readArrays(StringRef option, ArrayRef<std::string> texts,
                                                    const TypeRequest &types) {
  std::vector<NamedArray> result;
  for (const std::string &text : texts) {
    auto assignment = parseAssignment(option, text);
    if (!assignment) return assignment.takeError();
    NpyReadOptions options;
    options.uint16IsBf16 = types.of(assignment->first) == LINTEL_BF16;
    if (option == "initial") {
      auto state = readNpyState(assignment->second, assignment->first, options);
      if (!state) return state.takeError();
      result.push_back({assignment->first, std::move(state->values), std::move(state->exponents)});
      continue;
    }
    auto array = readNpy(assignment->second, options);
    if (!array) return array.takeError();
    result.push_back({assignment->first, std::move(*array)});
  }
  return std::move(result);
}

Expected<std::vector<int64_t>> tools::parseList(StringRef option, StringRef text) {
  std::vector<int64_t> result;
  if (text.empty()) return result;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    int64_t value;
    if (part.trim().getAsInteger(10, value))
      return createStringError("expected integers separated by commas for --%s, found '%s'", option.str().c_str(),
                               part.str().c_str());
    result.push_back(value);
  }
  return result;
}

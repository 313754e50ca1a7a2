// lintel check: every form of an operator against the interpreter.
#include "compiler/driver/Checks.h"
#include "compiler/tools/ProgressLine.h"
#include "compiler/tools/Tool.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

namespace {

class Check : public Subcommand {
public:
  Check()
      : Subcommand("check", "compare every form, split and thread count with the interpreter"), spec(*this),
        dtypes("dtype",
               cl::desc(
                   "check these types alone: f32, f64, f16 or bf16 for all arrays, NAME=TYPE for one input or for out"),
               cl::value_desc("[NAME=]TYPE"), cl::CommaSeparated, cl::sub(sub), cl::cat(category)),
        products("products", cl::desc("f32 (default) or bf16, as lintel run has it, with the bound of bf16"),
                 cl::value_desc("TYPE"), cl::init("f32"), cl::sub(sub), cl::cat(category)),
        form("form", cl::desc("check this form alone: recurrent, chunkwise or parallel"), cl::value_desc("FORM"),
             cl::sub(sub), cl::cat(category)),
        chunk("chunk", cl::desc("check chunks of N steps alone"), cl::value_desc("N"), cl::init(0),
              range{1, 4096, "a chunk of 1 to 4096 steps"}, cl::sub(sub), cl::cat(category)),
        oneCase(
            "case",
            cl::desc("check this case alone, as a failure names it: 'usual B=1 T=7 H=4/2 initial lengths=3,4 seed=1'"),
            cl::value_desc("TEXT"), cl::sub(sub), cl::cat(category)),
        quick("quick", cl::desc("fewer types, chunks and cases"), cl::sub(sub), cl::cat(category)),
        target("target", cl::desc(targetHelp()), cl::value_desc("TARGET"), cl::init("native"), cl::sub(sub),
               cl::cat(category)),
        inputs("in", cl::desc("check on these arrays instead of random ones; may be repeated"),
               cl::value_desc("NAME=FILE"), cl::sub(sub), cl::cat(category)),
        initial("initial", cl::desc("a state before the first step of these arrays; may be repeated"),
                cl::value_desc("NAME=FILE"), cl::sub(sub), cl::cat(category)),
        seed("seed", cl::desc("of the random inputs (default 1)"), cl::value_desc("N"), cl::init(1),
             range{0, INT64_MAX, "a seed from 0 to 2^63 - 1"}, cl::sub(sub), cl::cat(category)) {}

  StringRef example() const override { return "  lintel check retnet.attn\n"; }

  Expected<int> run() override {
    CheckOptions options;
    auto dims = parseDimensions(spec.dims);
    if (!dims) return dims.takeError();
    options.dimensions = *dims;
    auto types = parseTypes(dtypes, products);
    if (!types) return types.takeError();
    options.types = std::move(*types);
    if (form.getNumOccurrences() && !is_contained({"recurrent", "chunkwise", "parallel"}, StringRef(form)))
      return createStringError("expected a form of recurrent, chunkwise or parallel, found '%s'", form.c_str());
    options.form = form;
    options.chunk = static_cast<int64_t>(chunk.getValue());
    options.quick = quick;
    if (oneCase.getNumOccurrences()) {
      if (!inputs.empty()) return createStringError("expected --in or --case, found both");
      auto one = CheckCase::parse(oneCase);
      if (!one) return one.takeError();
      options.only = std::move(*one);
    }
    options.target = target;
    options.seed = static_cast<uint64_t>(seed.getValue());
    options.cache = cacheFolder();
    if (Error e = checkTargets({target})) return std::move(e);
    auto file = spec.open();
    if (!file) return file.takeError();
    auto operators = spec.select(**file);
    if (!operators) return operators.takeError();
    if (!inputs.empty() && operators->size() > 1)
      return createStringError("expected one operator for --in, found %zu; choose one by --op NAME", operators->size());
    std::optional<BoundArrays> arrays;
    if (!inputs.empty()) {
      auto bound = readInputs(*operators->front(), options);
      if (!bound) return bound.takeError();
      arrays = std::move(*bound);
      options.arrays = &*arrays;
    }
    bool ok = true;
    for (const OperatorInfo *op : *operators) {
      auto one = checkOne(**file, *op, options);
      if (!one) return one.takeError();
      ok &= *one;
    }
    return ok ? Success : CheckFailed;
  }

private:
  Expected<BoundArrays> readInputs(const OperatorInfo &op, const CheckOptions &options) {
    ArraysRequest request;
    request.dimensions = options.dimensions, request.types = options.types;
    auto in = readArrays("in", inputs, options.types);
    if (!in) return in.takeError();
    request.inputs = std::move(*in);
    auto before = readArrays("initial", initial, options.types);
    if (!before) return before.takeError();
    request.initial = std::move(*before);
    return bindArrays(op, std::move(request));
  }

  Expected<bool> checkOne(const SpecFile &file, const OperatorInfo &op, CheckOptions options) {
    outs() << "operator " << op.name << (options.types.products == LINTEL_BF16 ? ", products of bf16" : "") << "\n"
           << formatv("  {0,-5} {1,-24} {2,-10} {3,5} {4,6} {5,9} {6,9}  {7}\n", "dtype", "dimensions", "form", "chunk",
                      "runs", "error", "bound", "");
    ProgressLine progress;
    options.progress = &progress;
    auto report = checkOperator(file, op, options, [&](const CheckRow &row) {
      progress.clear();
      outs() << formatv("  {0,-5} {1,-24} {2,-10} {3,5} {4,6} {5,9} {6,9}  {7}\n", ElementTypes(row.dtype).text(),
                        row.dimensions, row.form, row.chunk, row.cases, formatv("{0:e1}", row.worst.error).str(),
                        formatv("{0:e1}", row.worst.bound).str(), row.failures.empty() ? "ok" : "FAIL");
      for (const std::string &failure : row.failures) outs() << "        " << failure << "\n";
      if (!row.command.empty())
        outs() << "        smallest: " << row.smallest << "\n        repeat: " << row.command << "\n";
      outs().flush();
    });
    progress.clear();
    if (!report) return report.takeError();
    for (const std::string &warning : report->warnings) outs() << "  warning: " << warning << "\n";
    for (const std::string &note : report->notes) outs() << "  note: " << note << "\n";
    unsigned runs = 0, failed = 0;
    for (const CheckRow &row : report->rows) runs += row.cases, failed += !row.failures.empty();
    outs() << "  " << runs << " runs, " << report->rows.size() - failed << " variants ok, " << failed << " failed\n";
    return report->ok();
  }

  SpecOptions spec;
  cl::list<std::string> dtypes;
  cl::opt<std::string> products, form;
  IntegerOption chunk;
  cl::opt<std::string> oneCase;
  cl::opt<bool> quick;
  cl::opt<std::string> target;
  cl::list<std::string> inputs, initial;
  IntegerOption seed;
};

} // namespace

std::unique_ptr<Subcommand> tools::makeCheck() { return std::make_unique<Check>(); }

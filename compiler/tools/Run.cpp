// lintel run: computes an operator on .npy files.
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Execution.h"
#include "compiler/driver/Exponents.h"
#include "compiler/driver/Outputs.h"
#include "compiler/driver/Parts.h"
#include "compiler/driver/Reference.h"
#include "compiler/tools/Database.h"
#include "compiler/tools/ProgressLine.h"
#include "compiler/tools/Tool.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

namespace {

class Run : public Subcommand {
public:
  Run()
      : Subcommand("run", "compute an operator on .npy files, compiling it just in time"), spec(*this), code(*this),
        database(*this), inputs("in", cl::desc("an input's array; may be repeated"), cl::value_desc("NAME=FILE"),
                                cl::sub(sub), cl::cat(category)),
        initial("initial",
                cl::desc("a state before the first step (default zeros), as --final writes it; may be repeated"),
                cl::value_desc("NAME=FILE"), cl::sub(sub), cl::cat(category)),
        final("final",
              cl::desc("where to write a state after the last step, beside an exponent where it is beyond its type; "
                       "may be repeated"),
              cl::value_desc("NAME=FILE"), cl::sub(sub), cl::cat(category)),
        out("out", cl::desc("where to write the output; NAME=FILE for the other outputs of an operator that has some"),
            cl::value_desc("FILE"), cl::sub(sub), cl::cat(category)),
        lengths("lengths", cl::desc("lengths of sequences packed along the time axis of a batch of one"),
                cl::value_desc("N,N,..."), cl::sub(sub), cl::cat(category)),
        position("position", cl::desc("position of the first step (default 0)"), cl::value_desc("N"), cl::init(0),
                 range{0, 1LL << 53, "a position from 0 to 2^53"}, cl::sub(sub), cl::cat(category)),
        threads("threads", cl::desc("how many threads to use (default: one for each core)"), cl::value_desc("N"),
                cl::init(defaultThreads()), threadRange(), cl::sub(sub), cl::cat(category)),
        target("target", cl::desc(targetHelp()), cl::value_desc("TARGET"), cl::init("native"), cl::sub(sub),
               cl::cat(category)),
        interpret("interpret", cl::desc("run the float64 interpreter, which is slow and exact"), cl::sub(sub),
                  cl::cat(category)) {}

  StringRef example() const override {
    return "  lintel run retnet.attn --in q=q.npy --in k=k.npy --in v=v.npy --in gamma=gamma.npy --out out.npy\n";
  }

  Expected<int> run() override {
    if (Error e = code.check()) return std::move(e);
    auto types = code.types();
    if (!types) return types.takeError();
    if (Error e = checkTargets({target})) return std::move(e);
    auto file = spec.open();
    if (!file) return file.takeError();
    auto op = (*file)->find(spec.op);
    if (!op) return op.takeError();
    ArraysRequest request;
    request.types = std::move(*types);
    if (Error e = fill(request)) return std::move(e);
    auto arrays = bindArrays(**op, std::move(request));
    if (!arrays) return arrays.takeError();
    Outputs outputs;
    Files toOut{"out", "an output", out, {"out"}, "out"}, toFinal{"final", "a state", final, {}, ""};
    for (const ArrayInfo &output : (*op)->others) toOut.known.push_back(output.name);
    for (const ArrayInfo &state : (*op)->states) toFinal.known.push_back(state.name);
    auto outs = plan(outputs, **op, toOut);
    if (!outs) return outs.takeError();
    auto finals = plan(outputs, **op, toFinal);
    if (!finals) return finals.takeError();
    if (out.empty() && final.empty())
      return createStringError("expected --out FILE or --final NAME=FILE, found neither");
    auto result = compute(**file, **op, *arrays);
    if (!result) return result.takeError();
    if (Error e = write(outputs, **op, *outs, *finals, *arrays, *result)) return std::move(e);
    return Success;
  }

private:
  Error fill(ArraysRequest &request) {
    auto dims = parseDimensions(spec.dims);
    if (!dims) return dims.takeError();
    request.dimensions = std::move(*dims);
    request.position = position;
    if (lengths.getNumOccurrences()) {
      auto list = parseList("lengths", lengths);
      if (!list) return list.takeError();
      request.lengths = std::move(*list);
    }
    auto in = readArrays("in", inputs, request.types);
    if (!in) return in.takeError();
    request.inputs = std::move(*in);
    auto before = readArrays("initial", initial, request.types);
    if (!before) return before.takeError();
    request.initial = std::move(*before);
    return Error::success();
  }

  /// What an option of "NAME=FILE" texts names.
  struct Files {
    StringRef option, what; // "final", "a state"
    ArrayRef<std::string> texts;
    SmallVector<StringRef> known;
    StringRef nameless; // the name that a text without one stands for; empty: there is none such
  };

  /// Where each of the known names goes; an empty path: nowhere.
  static Expected<std::vector<std::string>> plan(Outputs &outputs, const OperatorInfo &op, const Files &files) {
    std::vector<std::string> paths(files.known.size());
    std::string option = files.option.str();
    for (const std::string &text : files.texts) {
      auto [name, path] = StringRef(text).split('=');
      // The file of an operator with one output may be called as it likes.
      bool isNamed = files.nameless.empty() ||
                     (StringRef(text).contains('=') && (name == files.nameless || files.known.size() > 1));
      if (!isNamed) name = files.nameless, path = text;
      if (name.empty() || path.empty())
        return createStringError("expected --%s %sFILE, found '%s'", option.c_str(), isNamed ? "NAME=" : "",
                                 text.c_str());
      auto it = llvm::find(files.known, name);
      if (it == files.known.end())
        return createStringError(unknownName(files.what + " of operator '" + op.name + "' (" +
                                                 (files.known.empty() ? "it has none" : llvm::join(files.known, ", ")) +
                                                 ") for --" + option,
                                             name, files.known));
      std::string &place = paths[it - files.known.begin()];
      if (!place.empty())
        return createStringError("expected --%s once for '%s', found it twice", option.c_str(), name.str().c_str());
      place = path.str();
      if (Error e = outputs.plan(place)) return std::move(e);
    }
    return std::move(paths);
  }

  Expected<RunResult> compute(SpecFile &file, const OperatorInfo &op, BoundArrays &arrays) {
    ProgressLine progress;
    if (interpret) {
      progress.phase("interpreting " + op.name);
      auto forms = deriveForms(file, op, arrays.dimensions);
      if (!forms) return forms.takeError();
      DiagnosticCollector collector(file.context());
      mlir::Operation *form = interpretedForm(**forms);
      if (Error e = settleExponents(op, arrays, exponentsOf(form))) return std::move(e);
      return interpretArrays(form, op, arrays, &progress, /*takeExponents=*/true);
    }
    CompileOptions options;
    options.dimensions = arrays.dimensions;
    options.types = arrays.types;
    auto request = code.request();
    if (!request) return request.takeError();
    options.form = *request;
    options.decode = false;
    options.targets = {target};
    options.parts = partsFor(arrays.sequences() * arrays.heads, static_cast<int>(threads));
    if (code.parts) options.parts.number = code.parts;
    progress.clear();
    if (Error e = choose(file, op, arrays, options)) return std::move(e);
    progress.phase("compiling " + op.name);
    options.cache = cacheFolder();
    auto compiled = compileOperator(file, op, options);
    if (!compiled) return compiled.takeError();
    auto kernel = loadOperator(*compiled);
    if (!kernel) return kernel.takeError();
    ExecuteOptions execute;
    execute.threads = static_cast<int>(threads);
    execute.progress = &progress;
    execute.takeExponents = true;
    if (Error e = settleExponents(op, arrays, exponentsOf(*(*kernel)->kernel()))) return std::move(e);
    progress.phase("running " + op.name);
    return executeKernel((*kernel)->kernel(), op, arrays, execute);
  }

  /// The database's schedule for exactly these arrays; packed sequences are never what a search timed.
  Error choose(const SpecFile &file, const OperatorInfo &op, const BoundArrays &arrays, CompileOptions &options) {
    if (arrays.lengths) return Error::success();
    BenchmarkRequest request;
    request.batch = arrays.batch, request.steps = arrays.steps, request.heads = arrays.heads;
    request.threads = static_cast<int>(threads), request.compile = options;
    bool isFirst = true, isMixed = false;
    for (auto [info, array] : llvm::zip_equal(op.inputs, arrays.inputs)) {
      if (info.kind != InputKind::Token) continue;
      if (!isFirst) {
        isMixed |= request.groups && request.groups != array.shape[2];
        request.groups = array.shape[2];
      }
      isFirst = false;
    }
    if (isMixed) return Error::success();
    if (Error e = database.apply(file, op, request, /*anyShape=*/false)) return e;
    options.form = request.compile.form;
    return Error::success();
  }

  Error write(Outputs &outputs, const OperatorInfo &op, ArrayRef<std::string> outs, ArrayRef<std::string> finals,
              const BoundArrays &arrays, const RunResult &result) {
    auto put = [&](StringRef path, const NpyArray &array, lintel_dtype dtype) -> Error {
      if (path.empty()) return Error::success();
      auto converted = array.convertedTo(dtype);
      if (!converted) return converted.takeError();
      return outputs.write(path, *converted);
    };
    if (Error e = put(outs[0], result.out, arrays.types.out())) return e;
    for (auto [path, info, other] : llvm::zip_equal(outs.drop_front(), op.others, result.others))
      if (Error e = put(path, other, arrays.types.of(info.name))) return e;
    std::string notes;
    for (auto [s, path] : llvm::enumerate(finals)) {
      if (path.empty()) continue;
      bool has = s < result.exponents.size() && result.exponents[s];
      auto state = stateForFile(result.states[s], has ? &*result.exponents[s] : nullptr, arrays.types.state(op));
      if (!state) return state.takeError();
      StringRef name = op.states[s].name;
      if (Error e = outputs.write(path, name, *state)) return e;
      if (!state->exponents) continue;
      auto [least, largest] = exponentRange(*state);
      notes +=
          formatv("state '{0}' is beyond {1}: '{2}' holds it as {0} * 2^exponent, exponents from {3:f0} to {4:f0}\n",
                  name, dtypeName(arrays.types.state(op)), path, least, largest);
    }
    if (Error e = outputs.commit()) return e;
    errs() << notes;
    return Error::success();
  }

  SpecOptions spec;
  CodeOptions code;
  DatabaseOptions database;
  cl::list<std::string> inputs, initial, final, out;
  cl::opt<std::string> lengths;
  IntegerOption position, threads;
  cl::opt<std::string> target;
  cl::opt<bool> interpret;
};

} // namespace

std::unique_ptr<Subcommand> tools::makeRun() { return std::make_unique<Run>(); }

// lintel compile: writes an operator's header, object, libraries and manifest, or any level on the way.
#include "compiler/driver/Arrays.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Outputs.h"
#include "compiler/tools/Database.h"
#include "compiler/tools/ProgressLine.h"
#include "compiler/tools/Tool.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

namespace {

class Compile : public Subcommand {
public:
  Compile()
      : Subcommand("compile", "write a C header, an object, libraries and a manifest, or one level as text"),
        spec(*this), code(*this), database(*this),
        target("target", cl::desc(targetHelp(/*several=*/true)), cl::value_desc("TARGET"), cl::CommaSeparated,
               cl::sub(sub), cl::cat(category)),
        out("o", cl::desc("folder for the artifacts; with --emit the file (default: the terminal)"),
            cl::value_desc("PATH"), cl::sub(sub), cl::cat(category)),
        emit("emit", cl::desc("write one level instead: attn, spec, form, kernel, halide, loops, llvm, asm or object"),
             cl::value_desc("LEVEL"), cl::sub(sub), cl::cat(category)) {}

  StringRef example() const override {
    return "  lintel compile retnet.attn --dim dk=64 --dim dv=64 -o build/retnet\n";
  }

  Expected<int> run() override {
    if (Error e = code.check()) return std::move(e);
    auto types = code.types();
    if (!types) return types.takeError();
    auto given = parseDimensions(spec.dims);
    if (!given) return given.takeError();
    std::optional<Level> level;
    if (emit.getNumOccurrences()) {
      level = parseLevel(emit);
      if (!level)
        return createStringError("expected a level of attn, spec, form, kernel, halide, loops, llvm, asm or object "
                                 "for --emit, found '%s'",
                                 emit.c_str());
    } else if (out.empty()) {
      return createStringError("expected -o DIR for the artifacts, or --emit LEVEL for one level, found neither");
    }
    CompileOptions options;
    if (Error e = asked(options.form)) return std::move(e);
    options.decode = form() == "auto";
    options.parts.number = level && !code.parts ? 1 : code.parts; // one level shows one function, unless asked
    options.cache = cacheFolder();
    if (!target.empty()) options.targets.assign(target.begin(), target.end());
    if (Error e = checkTargets(options.targets)) return std::move(e);

    auto file = spec.open();
    if (!file) return file.takeError();
    auto operators = spec.select(**file);
    if (!operators) return operators.takeError();
    if (Error e = checkNames(**file, *operators, *given)) return std::move(e);
    if (Error e = checkTypes(*operators, *types)) return std::move(e);
    Given all{std::move(*given), std::move(*types)};
    Error done =
        level ? emitText(**file, *operators, all, options, *level) : emitFolder(**file, *operators, all, options);
    if (done) return std::move(done);
    return Success;
  }

private:
  std::string form() const { return code.form; }

  /// What is said of all operators of the file.
  struct Given {
    Dimensions dimensions;
    TypeRequest types;
  };

  /// A dimension may belong to some of the operators only, but to none is a mistake.
  Error checkNames(const SpecFile &file, ArrayRef<const OperatorInfo *> operators, const Dimensions &given) {
    SmallVector<StringRef> known;
    for (const OperatorInfo *op : operators) known.append(op->dimensions.begin(), op->dimensions.end());
    for (const auto &[name, value] : given)
      if (!is_contained(known, name))
        return createStringError(unknownName("a dimension of '" + file.name() + "' (" +
                                                 (known.empty() ? "it has none" : llvm::join(known, ", ")) + ")",
                                             name, known));
    return Error::success();
  }

  static Error bind(const OperatorInfo &op, const Given &given, CompileOptions &options) {
    options.types = bindTypes(op, given.types);
    Dimensions mine;
    for (const auto &entry : given.dimensions)
      if (is_contained(op.dimensions, entry.first)) mine.push_back(entry);
    auto bound = bindDimensions(op, mine);
    if (!bound) return bound.takeError();
    options.dimensions = std::move(*bound);
    return Error::success();
  }

  /// The schedule of the database, where no form was asked for. One for several targets would be some target's only.
  Error choose(const SpecFile &file, const OperatorInfo &op, CompileOptions &options) {
    BenchmarkRequest request;
    request.compile = options;
    if (Error e = asked(request.compile.form)) return e;
    if (options.targets.size() == 1)
      if (Error e = database.apply(file, op, request, /*anyShape=*/true)) return e;
    options.form = request.compile.form;
    return Error::success();
  }
  Error asked(FormRequest &form) {
    auto request = code.request();
    if (!request) return request.takeError();
    form = *request;
    return Error::success();
  }

  Error emitText(const SpecFile &file, ArrayRef<const OperatorInfo *> operators, const Given &given,
                 CompileOptions &options, Level level) {
    if (level == Level::Object && operators.size() > 1)
      return createStringError("expected one operator for an object, found %zu; choose one by --op NAME",
                               operators.size());
    if (level == Level::Object && out.empty() && sys::Process::StandardOutIsDisplayed())
      return createStringError("expected -o FILE for an object, as the output is a terminal");
    Outputs outputs;
    if (!out.empty())
      if (Error e = outputs.plan(out)) return e;
    std::string text;
    for (const OperatorInfo *op : operators) {
      if (level != Level::Attn && level != Level::Spec) {
        if (Error e = bind(*op, given, options)) return e;
        if (Error e = choose(file, *op, options)) return e;
      }
      auto one = emitLevel(file, *op, options, level);
      if (!one) return one.takeError();
      // MLIR's own mark between modules of one file.
      if (!text.empty()) text += level == Level::Attn ? "\n" : "// -----\n";
      text += *one;
    }
    if (out.empty()) {
      outs() << text;
      outs().flush();
      return Error::success();
    }
    if (Error e = outputs.write(out, text)) return e;
    return outputs.commit();
  }

  Error emitFolder(const SpecFile &file, ArrayRef<const OperatorInfo *> operators, const Given &given,
                   CompileOptions &options) {
    // All are compiled before the first is written: a folder holds all of them or none.
    ProgressLine progress;
    std::vector<CompiledOperator> compiled;
    for (const OperatorInfo *op : operators) {
      progress.phase("compiling " + op->name + " (" + Twine(compiled.size() + 1) + " of " + Twine(operators.size()) +
                     ")");
      if (Error e = bind(*op, given, options)) return e;
      progress.clear();
      if (Error e = choose(file, *op, options)) return e;
      auto one = compileOperator(file, *op, options);
      if (!one) return one.takeError();
      compiled.push_back(std::move(*one));
    }
    return writeArtifacts(compiled, out);
  }

  SpecOptions spec;
  CodeOptions code;
  DatabaseOptions database;
  cl::list<std::string> target;
  cl::opt<std::string> out, emit;
};

} // namespace

std::unique_ptr<Subcommand> tools::makeCompile() { return std::make_unique<Compile>(); }

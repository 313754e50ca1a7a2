// lintel bench: the speed of an operator at a shape, checked first.
#include "compiler/driver/Benchmark.h"
#include "compiler/tools/ProgressLine.h"
#include "compiler/tools/Tool.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

namespace {

class Bench : public Subcommand {
public:
  Bench()
      : Subcommand("bench", "check an operator's result at a shape, then time it"), spec(*this), code(*this),
        shape("shape",
              cl::desc("sizes, such as B=1,H=8,T=1024,dk=64,dv=64 (G: heads of all token inputs but the first)"),
              cl::value_desc("NAME=N,..."), cl::sub(sub), cl::cat(category)),
        threads("threads", cl::desc("how many threads to use (default 1)"), cl::value_desc("N"), cl::init(1),
                threadRange(), cl::sub(sub), cl::cat(category)),
        target("target",
               cl::desc("native (default), x86-64-v3, x86-64-v4, x86-64-v4-bf16 or aarch64; this machine must run it"),
               cl::value_desc("TARGET"), cl::init("native"), cl::sub(sub), cl::cat(category)),
        asJson("json", cl::desc("write JSON"), cl::sub(sub), cl::cat(category)) {}

  StringRef example() const override { return "  lintel bench retnet.attn --shape B=1,H=8,T=1024,dk=64,dv=64\n"; }

  Expected<int> run() override {
    if (Error e = code.check()) return std::move(e);
    if (Error e = checkTargets({target})) return std::move(e);
    auto types = code.types();
    if (!types) return types.takeError();
    auto file = spec.open();
    if (!file) return file.takeError();
    auto op = (*file)->find(spec.op);
    if (!op) return op.takeError();
    BenchmarkRequest request;
    request.threads = static_cast<int>(threads);
    if (Error e = checkTypes(*op, *types)) return std::move(e);
    request.compile.types = bindTypes(**op, *types);
    auto form = code.request();
    if (!form) return form.takeError();
    request.compile.form = *form;
    request.compile.targets = {target};
    if (Error e = readShape(**op, request)) return std::move(e);
    ProgressLine progress;
    request.progress = &progress;
    auto result = benchmarkOperator(**file, **op, request);
    progress.clear();
    if (!result) return result.takeError();
    if (asJson) outs() << formatv("{0:2}\n", result->json());
    else result->print(outs());
    return result->difference.ok ? Success : CheckFailed;
  }

private:
  /// Sizes that are not given are B=1, H=8, T=1024 and 64 for every dimension.
  Error readShape(const OperatorInfo &op, BenchmarkRequest &request) {
    std::vector<std::string> texts(spec.dims.begin(), spec.dims.end());
    SmallVector<StringRef> parts;
    StringRef(shape).split(parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts) {
      auto [name, value] = part.split('=');
      int64_t size;
      if (name.trim().empty() || value.trim().getAsInteger(10, size) || size < 1) return badShape(op, part.trim());
      texts.push_back((name.trim() + "=" + value.trim()).str());
    }
    auto sizes = parseDimensions(texts);
    if (!sizes) return sizes.takeError();
    Dimensions dims;
    for (const auto &[name, value] : *sizes) {
      int64_t *axis = StringSwitch<int64_t *>(name)
                          .Case("B", &request.batch)
                          .Case("T", &request.steps)
                          .Case("H", &request.heads)
                          .Case("G", &request.groups)
                          .Default(nullptr);
      bool known = is_contained(op.dimensions, name);
      if (!axis && !known) return badShape(op, name);
      if (axis && !known) *axis = value;
      else dims.emplace_back(name, value);
    }
    if (request.groups && request.heads % request.groups)
      return createStringError("expected G to divide H = %lld, found %lld", static_cast<long long>(request.heads),
                               static_cast<long long>(request.groups));
    for (const std::string &name : op.dimensions)
      if (llvm::none_of(dims, [&](const auto &entry) { return entry.first == name; })) dims.emplace_back(name, 64);
    auto bound = bindDimensions(op, dims);
    if (!bound) return bound.takeError();
    request.compile.dimensions = std::move(*bound);
    return Error::success();
  }

  static Error badShape(const OperatorInfo &op, StringRef found) {
    std::string text = "expected sizes as NAME=N,... for --shape: B (sequences), T (steps), H (heads), G (heads of all "
                       "token inputs but the first)";
    for (const std::string &name : op.dimensions) text += ", " + name;
    text += "; such as B=1,T=1024,H=8";
    if (!op.dimensions.empty()) text += "," + op.dimensions.front() + "=64";
    text += ("; found '" + found + "'").str();
    if (found.find_first_of(" \t;") != StringRef::npos) text += "; separate sizes by commas";
    return createStringError(text);
  }

  SpecOptions spec;
  CodeOptions code;
  cl::opt<std::string> shape;
  IntegerOption threads;
  cl::opt<std::string> target;
  cl::opt<bool> asJson;
};

} // namespace

std::unique_ptr<Subcommand> tools::makeBench() { return std::make_unique<Bench>(); }

#include "test/unit/transforms/Harness.h"
#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/SpecBuilder.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <random>

using namespace mlir;
using namespace lintel;

std::vector<std::string> lintel::exampleSpecs() {
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(LINTEL_SOURCE_DIR "/examples/specs", error), end; it != end && !error;
       it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".attn") paths.push_back(it->path());
  llvm::sort(paths);
  return paths;
}

std::string lintel::readText(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

MLIRContext &lintel::context() {
  static MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<AttnDialect, arith::ArithDialect>();
  return context;
}

OwningOpRef<ModuleOp> lintel::specsOf(StringRef text) {
  auto file = frontend::parse(text, "test.attn");
  if (!frontend::check(*file)) {
    std::string message;
    llvm::raw_string_ostream os(message);
    file->diagnostics.print(os);
    ADD_FAILURE() << message;
    return {};
  }
  auto module = frontend::buildSpecs(*file, context());
  EXPECT_TRUE(module);
  return module;
}

llvm::StringMap<int64_t> lintel::smallDims(ModuleOp module) {
  SmallVector<std::string> names;
  auto collect = [&](Type type) {
    auto t = dyn_cast<RealType>(type);
    for (unsigned i = 0; t && i < t.getRank(); ++i) t.getDim(i).collectSymbols(names);
  };
  module.walk([&](SpecOp spec) {
    for (BlockArgument arg : spec.getBody().getArguments()) collect(arg.getType());
  });
  static const int64_t values[] = {3, 5, 4, 2, 7, 6};
  llvm::StringMap<int64_t> dims;
  for (auto [i, name] : llvm::enumerate(names)) dims[name] = values[i % std::size(values)];
  return dims;
}

FormOptions lintel::options(const llvm::StringMap<int64_t> &dims, int64_t chunk) {
  FormOptions o;
  for (auto &entry : dims) o.dims.push_back((entry.getKey() + "=" + Twine(entry.getValue())).str());
  o.chunk = chunk;
  return o;
}

bool lintel::runPasses(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passes(module.getContext());
  build(passes);
  bool ok = succeeded(passes.run(module));
  EXPECT_TRUE(ok);
  return ok;
}

OwningOpRef<ModuleOp> lintel::formsOf(ModuleOp specs, const llvm::StringMap<int64_t> &dims, int64_t chunk) {
  OwningOpRef<ModuleOp> module = specs.clone();
  FormOptions o = options(dims, chunk);
  runPasses(*module, [&](OpPassManager &passes) { buildDerivePipeline(passes, o); });
  return module;
}

OwningOpRef<ModuleOp> lintel::kernelsOf(ModuleOp forms) {
  OwningOpRef<ModuleOp> module = forms.clone();
  for (SpecOp spec : llvm::make_early_inc_range(module->getOps<SpecOp>())) spec.erase();
  runPasses(*module, [&](OpPassManager &passes) { buildKernelPipeline(passes); });
  return module;
}

Operation *lintel::find(ModuleOp module, StringRef name) { return SymbolTable::lookupSymbolIn(module, name); }

std::string lintel::textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os);
  return text;
}

Arguments lintel::randomArguments(Operation *spec, const llvm::StringMap<int64_t> &dims, const Problem &problem) {
  std::mt19937 random(problem.seed);
  auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  Arguments args;
  args.batch = problem.batch;
  args.steps = problem.steps;
  args.heads = problem.heads;
  args.position = problem.position;
  args.dimensions = dims;
  Block &body = spec->getRegion(0).front();
  auto inputs = spec->getAttrOfType<ArrayAttr>("inputs");
  auto sizes = [&](Value v) {
    SmallVector<int64_t> n;
    auto type = cast<RealType>(v.getType());
    for (unsigned i = 0; i < type.getRank(); ++i) n.push_back(*type.getDim(i).evaluate(dims));
    return n;
  };
  bool odd = false;
  for (auto [i, attr] : llvm::enumerate(inputs)) {
    auto param = cast<ParamAttr>(attr);
    SmallVector<int64_t> shape;
    if (param.getKind() == InputKind::Token) {
      shape = {problem.batch, problem.steps, problem.grouped && odd ? 1 : problem.heads};
      odd = !odd;
    }
    if (param.getKind() == InputKind::Head) shape = {problem.heads};
    shape.append(sizes(body.getArgument(i)));
    bool exponent =
        !body.getArgument(i).use_empty() && llvm::all_of(body.getArgument(i).getUsers(), [](Operation *user) {
          auto u = dyn_cast<UnaryOp>(user);
          return u && u.getKind() == UnaryKind::Exp;
        });
    Array a(shape);
    static const double hard[] = {-INFINITY, -20, -100, -1e4, -1e-8, 0};
    for (double &x : a.data) {
      x = uniform(-1, 1);
      if (exponent) x = problem.resets && uniform(0, 1) < 0.4 ? hard[random() % std::size(hard)] : -std::fabs(x);
    }
    args.inputs[param.getName()] = std::move(a);
  }
  if (problem.initial)
    for (auto [s, attr] : llvm::enumerate(spec->getAttrOfType<ArrayAttr>("states"))) {
      SmallVector<int64_t> shape{problem.batch, problem.heads};
      shape.append(sizes(body.getArgument(inputs.size() + s)));
      Array a(shape);
      for (double &x : a.data) x = uniform(0.5, 1.5);
      args.initial[cast<StringAttr>(attr).getValue()] = std::move(a);
    }
  return args;
}

Results lintel::run(Operation *op, const Arguments &arguments) {
  auto results = interpret(op, arguments);
  if (results) return std::move(*results);
  ADD_FAILURE() << llvm::toString(results.takeError());
  return {};
}

double lintel::difference(const Array &got, const Array &want) {
  if (got.shape != want.shape) return INFINITY;
  double error = 0, scale = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    double x = got.data[i], y = want.data[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) {
      if (std::isfinite(y)) scale = std::max(scale, std::fabs(y));
      continue;
    }
    if (!std::isfinite(x) || !std::isfinite(y)) return INFINITY;
    error = std::max(error, std::fabs(x - y));
    scale = std::max(scale, std::fabs(y));
  }
  return error == 0 ? 0 : error / scale;
}

testing::AssertionResult lintel::sameResults(const Results &got, const Results &want, double bound) {
  double error = difference(got.out, want.out);
  if (!(error <= bound)) return testing::AssertionFailure() << "the output differs by " << error;
  if (got.final.size() != want.final.size())
    return testing::AssertionFailure() << got.final.size() << " final states, not " << want.final.size();
  for (auto &entry : want.final) {
    auto it = got.final.find(entry.getKey());
    if (it == got.final.end()) return testing::AssertionFailure() << "no final state " << entry.getKey().str();
    error = difference(it->second, entry.second);
    if (!(error <= bound))
      return testing::AssertionFailure() << "the final state " << entry.getKey().str() << " differs by " << error;
  }
  return testing::AssertionSuccess();
}

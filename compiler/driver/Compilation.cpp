#include "compiler/driver/Compilation.h"
#include "codegen/emit/Artifacts.h"
#include "codegen/emit/KernelObject.h"
#include "codegen/halide/KernelToLoops.h"
#include "compiler/analysis/CostAnalysis.h"
#include "compiler/driver/Arrays.h"
#include "compiler/driver/KernelCache.h"
#include "compiler/driver/Parts.h"
#include "compiler/pipelines/Pipelines.h"
#include "dialect/OperatorUtils.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SHA256.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace lintel;
using OwnedModule = mlir::OwningOpRef<mlir::ModuleOp>;

std::optional<Level> lintel::parseLevel(StringRef name) {
  return StringSwitch<std::optional<Level>>(name)
      .Case("attn", Level::Attn)
      .Case("spec", Level::Spec)
      .Case("form", Level::Form)
      .Case("kernel", Level::Kernel)
      .Case("halide", Level::Halide)
      .Case("loops", Level::Loops)
      .Case("llvm", Level::Llvm)
      .Case("asm", Level::Asm)
      .Case("object", Level::Object)
      .Default(std::nullopt);
}

StringRef lintel::formName(mlir::Operation *op) {
  return TypeSwitch<mlir::Operation *, StringRef>(op)
      .Case<RecurrentOp>([](auto) { return "recurrent"; })
      .Case<ChunkwiseOp>([](auto) { return "chunkwise"; })
      .Case<ParallelOp, StreamedOp>([](auto) { return "parallel"; })
      .Case<StepOp>([](auto) { return "step"; })
      .Default([](auto) { return ""; });
}

/// A module that holds this operator alone.
static OwnedModule isolate(const SpecFile &file, const OperatorInfo &op) {
  OwnedModule module(mlir::ModuleOp::create(file.specs().getLoc()));
  module->push_back(op.spec->clone());
  return module;
}

static FormOptions formOptions(const Dimensions &dimensions) {
  FormOptions options;
  for (const auto &[name, value] : dimensions) options.dims.push_back(name + "=" + std::to_string(value));
  return options;
}

static Error runPasses(mlir::ModuleOp module, function_ref<void(mlir::PassManager &)> build) {
  DiagnosticCollector diagnostics(*module.getContext());
  mlir::PassManager passes(module.getContext());
  build(passes);
  if (succeeded(passes.run(module))) return Error::success();
  return diagnostics.takeError("a pass failed without saying why");
}

Expected<OwnedModule> lintel::deriveForms(const SpecFile &file, const OperatorInfo &op, const Dimensions &dimensions,
                                          int64_t chunk) {
  OwnedModule module = isolate(file, op);
  FormOptions options = formOptions(dimensions);
  options.chunk = chunk;
  if (Error e = runPasses(*module, [&](mlir::PassManager &passes) { buildDerivePipeline(passes, options); }))
    return std::move(e);
  return std::move(module);
}

Expected<OwnedModule> lintel::buildForm(const SpecFile &file, const OperatorInfo &op, const CompileOptions &options,
                                        const FormRequest &request) {
  OwnedModule module = isolate(file, op);
  FormOptions form = formOptions(options.dimensions);
  form.form = request.form;
  form.chunk = request.chunk;
  form.steps = options.steps;
  if (Error e = runPasses(*module, [&](mlir::PassManager &passes) { buildFormPipeline(passes, form); }))
    return std::move(e);
  return std::move(module);
}

static Error lowerForm(mlir::ModuleOp module) {
  return runPasses(module, [](mlir::PassManager &passes) { buildKernelPipeline(passes); });
}

Expected<OwnedModule> lintel::buildKernel(const SpecFile &file, const OperatorInfo &op, const CompileOptions &options,
                                          const FormRequest &request) {
  auto module = buildForm(file, op, options, request);
  if (!module) return module.takeError();
  if (Error e = lowerForm(**module)) return std::move(e);
  return std::move(*module);
}

std::string lintel::specHash(const OperatorInfo &op, const Dimensions &dimensions, const ElementTypes &types) {
  std::string text = SpecFile::canonicalText(op) + "\n";
  for (const auto &[name, value] : dimensions) text += name + "=" + std::to_string(value) + "\n";
  if (types.named.empty()) text += dtypeName(types.common);
  else {
    // However the combination was written.
    for (const ArrayInfo &input : op.inputs) text += std::string(dtypeName(types.of(input.name))) + " ";
    text += dtypeName(types.out());
    for (const ArrayInfo &output : op.others) text += std::string(" ") + dtypeName(types.of(output.name));
  }
  if (types.products == LINTEL_BF16) text += "\nproducts bf16";
  auto digest = SHA256::hash(ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return toHex(digest, /*LowerCase=*/true);
}

static ParameterDescription describe(const ArrayInfo &info, lintel_kind kind, lintel_dtype dtype,
                                     const Dimensions &dimensions) {
  ParameterDescription result;
  result.name = info.name, result.kind = kind, result.dtype = dtype;
  for (int64_t size : innerShape(info, dimensions)) result.dims.push_back(size);
  for (const DimExpr &dim : info.dims) result.dimNames.push_back(dim.isConstant() ? "" : dim.str());
  return result;
}

static std::string symbolOf(const OperatorInfo &op, const CompileOptions &options) {
  const ElementTypes &types = options.types;
  std::string symbol = kernelSymbol(op.name, options.dimensions, types.common, types.named);
  return types.products == LINTEL_BF16 ? symbol + "_bf16products" : symbol;
}

static KernelDescription describe(const OperatorInfo &op, const CompileOptions &options) {
  KernelDescription result;
  result.name = op.name;
  const ElementTypes &types = options.types;
  result.symbol = symbolOf(op, options);
  result.specHash = specHash(op, options.dimensions, types);
  result.dtype = types.common, result.products = types.products;
  result.causal = !op.bidirectional;
  result.attends = op.attends;
  result.dimensions = options.dimensions;
  for (const ArrayInfo &input : op.inputs) {
    lintel_kind kind = input.kind == InputKind::Token  ? LINTEL_TOKEN
                       : input.kind == InputKind::Head ? LINTEL_HEAD
                                                       : LINTEL_SHARED;
    result.inputs.push_back(describe(input, kind, types.of(input.name), options.dimensions));
  }
  for (const ArrayInfo &state : op.states)
    result.states.push_back(describe(state, LINTEL_STATE, types.state(op), options.dimensions));
  result.out = describe(op.out, LINTEL_OUT, types.out(), options.dimensions);
  for (const ArrayInfo &output : op.others)
    result.others.push_back(describe(output, LINTEL_OUT, types.of(output.name), options.dimensions));
  return result;
}

static Expected<KernelOp> onlyKernel(mlir::ModuleOp module) {
  for (KernelOp kernel : module.getOps<KernelOp>()) return kernel;
  return createStringError("the pipeline left no kernel");
}

/// The exponents behind the kernel's states; every form of an operator has the same.
static void describeExponents(KernelOp kernel, KernelDescription &result) {
  ArrayRef<int64_t> scales = kernel.getScales();
  for (auto [state, scale] : llvm::zip(result.states, scales))
    state.exponent = scale < 0 ? -1 : static_cast<int>(scale - static_cast<int64_t>(result.states.size()));
  result.exponents.clear();
  SmallVector<StringRef> names = stateNames(kernel.getStates());
  for (size_t s = result.states.size(); s < names.size(); ++s) {
    ParameterDescription exponent;
    exponent.name = names[s].str(), exponent.kind = LINTEL_EXPONENT, exponent.dtype = LINTEL_F64;
    auto type = cast<RealType>(kernel.getBody().getArgument(kernel.getInputs().size() + s).getType());
    for (int64_t n : type.getSizes()) exponent.dims.push_back(n);
    for (const ParameterDescription &state : result.states)
      if (!exponent.dims.empty() && !state.dimNames.empty() &&
          state.exponent == static_cast<int>(s - result.states.size()))
        exponent.dimNames = {state.dimNames[0]};
    result.exponents.push_back(std::move(exponent));
  }
}

static Expected<LoopsResult> lowerKernel(KernelOp kernel, const OperatorInfo &op, const ElementTypes &types,
                                         const FormRequest &form, const CpuTarget &target, const std::string &entry) {
  DiagnosticCollector diagnostics(*kernel.getContext());
  LoopsRequest request;
  request.kernel = kernel, request.target = target, request.entry = entry;
  for (const ArrayInfo &input : op.inputs) request.inputs.push_back(types.of(input.name));
  request.products = types.products;
  request.state = types.state(op), request.outputs = {types.out()};
  for (const ArrayInfo &output : op.others) request.outputs.push_back(types.of(output.name));
  request.schedule = form.schedule, request.scheduleName = form.scheduleName;
  auto result = lowerKernelToLoops(request);
  if (failed(result)) return diagnostics.takeError("the kernel could not be lowered to loops");
  return std::move(*result);
}

static Expected<std::vector<CpuTarget>> resolveTargets(ArrayRef<std::string> names) {
  std::vector<CpuTarget> targets;
  for (const std::string &name : names) {
    auto target = resolveTarget(name);
    if (!target) return target.takeError();
    if (!llvm::any_of(targets, [&](const CpuTarget &t) { return t.name == target->name; }))
      targets.push_back(std::move(*target));
  }
  // Best first: the one that asks most of the machine.
  llvm::sort(targets, [](const CpuTarget &a, const CpuTarget &b) {
    return llvm::popcount(a.abiFeatures) > llvm::popcount(b.abiFeatures);
  });
  for (const CpuTarget &target : targets)
    if (Triple(target.triple).getArch() != Triple(targets[0].triple).getArch())
      return createStringError("expected targets of one architecture, found %s and %s; compile them one by one, into "
                               "folders of their own",
                               targets[0].name.c_str(), target.name.c_str());
  if (targets.empty()) return createStringError("expected a target, found none");
  return std::move(targets);
}

StringRef lintel::knownTargets() { return targetNames; }

Error lintel::checkTargets(ArrayRef<std::string> names) { return resolveTargets(names).takeError(); }

Error lintel::writeArtifacts(ArrayRef<CompiledOperator> compiled, StringRef directory) {
  std::vector<ArtifactRequest> requests;
  for (const CompiledOperator &one : compiled) {
    ArtifactRequest request;
    request.kernel = one.description;
    request.name = one.description.symbol;
    request.object = one.code;
    request.triple = one.triple;
    request.directory = directory.str();
    requests.push_back(std::move(request));
  }
  return emitArtifacts(requests);
}

namespace {

/// The variants of one operator, one after another.
class Compiler {
public:
  Compiler(const SpecFile &file, const OperatorInfo &op, const CompileOptions &options, ArrayRef<CpuTarget> targets)
      : file(file), op(op), options(options), targets(targets) {}

  Expected<CompiledOperator> compile(Level level) {
    result.description = describe(op, options);
    result.triple = targets.front().triple;
    auto planned = planParts(op, options, targets);
    if (!planned) return planned.takeError();
    plan = std::move(*planned);
    result.description.notInParts = plan.whyNot;
    std::vector<FormRequest> requests = options.variants;
    if (requests.empty()) requests.push_back(options.form);
    for (size_t i = 0; i < requests.size(); ++i) {
      if (Error e = add(requests[i], i == 0, /*inParts=*/true)) return std::move(e);
      // For single steps, which no thread is worth waking for.
      if (i == 0 && options.variants.empty() && options.decode && op.splits() &&
          result.description.variants[0].form != "recurrent")
        if (Error e = add({"recurrent", 0}, false, /*inParts=*/false)) return std::move(e);
    }
    DiagnosticCollector diagnostics(file.context());
    CpuOutput output = level == Level::Llvm  ? CpuOutput::LLVMText
                       : level == Level::Asm ? CpuOutput::Assembly
                                             : CpuOutput::Object;
    auto object = buildKernelObject(code, result.description, output);
    if (!object) {
      // A pass says more than the caller's summary of it.
      std::string summary = toString(object.takeError());
      return diagnostics.takeError(summary);
    }
    result.code = std::move(*object);
    return std::move(result);
  }

private:
  Error add(const FormRequest &request, bool isFirst, bool inParts) {
    auto whole = kernelOf(options.dimensions, request);
    if (!whole) return whole.takeError();
    KernelOp kernel = whole->kernel;
    if (isFirst) {
      describeExponents(kernel, result.description);
      if (Error e = setParts()) return e;
      if (auto reason = kernel->getAttrOfType<mlir::StringAttr>("reason")) result.reason = reason.str();
    }
    std::string form = kernel.getForm().str();
    int64_t chunk = form == "recurrent" ? 1 : static_cast<int64_t>(kernel.getChunk());
    std::optional<Costed> part;
    for (const CpuTarget &target : targets) {
      std::string entry = variantSymbol(result.description.symbol, form, chunk, target.name);
      if (llvm::any_of(result.description.variants, [&](const VariantDescription &v) { return v.symbol == entry; }))
        continue; // two requests that come to the same
      auto loops = lower(kernel, request, target, entry);
      if (!loops) return loops.takeError();
      VariantDescription variant;
      variant.form = form, variant.chunk = chunk, variant.target = target.name, variant.features = target.abiFeatures;
      variant.cpu = target.abiFeatures & LINTEL_CPU_NATIVE ? target.cpu : "";
      variant.scratchBytes = loops->scratchBytes, variant.symbol = entry, variant.schedule = loops->schedule;
      variant.origin = request.origin;
      if (inParts && plan.exist()) {
        // The same form and chunk: the same sums in the same order, and so the same bits.
        FormRequest same = request;
        same.form = form, same.chunk = form == "recurrent" ? 0 : chunk;
        if (!part) {
          auto built = kernelOf(plan.dimensions, same);
          if (!built) return built.takeError();
          part = std::move(*built);
        }
        std::string symbol = entry + "_part" + std::to_string(plan.parts);
        if (auto loops = lower(part->kernel, same, target, symbol)) {
          variant.parts = {plan.parts, loops->scratchBytes, symbol, partCost(part->cost, whole->cost)};
          keep(std::move(*loops), target);
        } else if (Error e = withoutParts("the schedule does not fit a part: " +
                                          StringRef(toString(loops.takeError())).rtrim().str())) {
          return e; // such as tiles as wide as the whole
        }
      }
      keep(std::move(*loops), target);
      result.description.variants.push_back(std::move(variant));
    }
    return Error::success();
  }

  /// A kernel and the cost of its form.
  struct Costed {
    OwnedModule module;
    KernelOp kernel;
    double cost = 0;
  };

  Expected<Costed> kernelOf(const Dimensions &dimensions, const FormRequest &request) {
    CompileOptions own = options;
    own.dimensions = dimensions;
    auto module = buildForm(file, op, own, request);
    if (!module) return module.takeError();
    double cost = 0;
    for (mlir::Operation &form : *(*module)->getBody()) cost = costOf(&form, options.steps).total();
    if (Error e = lowerForm(**module)) return std::move(e);
    auto kernel = onlyKernel(**module);
    if (!kernel) return kernel.takeError();
    return Costed{std::move(*module), *kernel, cost};
  }

  Expected<LoopsResult> lower(KernelOp kernel, const FormRequest &request, const CpuTarget &target,
                              const std::string &entry) {
    return lowerKernel(kernel, op, options.types, request, target, entry);
  }

  /// Once the exponents are known.
  Error setParts() {
    std::vector<StateExponent> exponents;
    for (const ParameterDescription &state : result.description.states) {
      StateExponent &one = exponents.emplace_back();
      one.index = state.exponent;
      if (one && !result.description.exponents[one.index].dims.empty()) one.channels = state.dims[0];
    }
    std::string whyNot = plan.exist() ? sharedExponent(plan, op, exponents) : "";
    if (!whyNot.empty()) return withoutParts(whyNot);
    if (plan.exist()) describeParts(plan, result.description);
    return Error::success();
  }

  /// An error where a number of parts was asked for.
  Error withoutParts(const std::string &whyNot) {
    if (options.parts.number) return notInParts(op, options.parts.number, whyNot);
    plan.parts = 1;
    result.description.notInParts = whyNot;
    return Error::success();
  }

  void keep(LoopsResult loops, const CpuTarget &target) {
    code.push_back({*loops.loops, target});
    lowered.push_back(std::move(loops));
  }

  const SpecFile &file;
  const OperatorInfo &op;
  const CompileOptions &options;
  ArrayRef<CpuTarget> targets;
  CompiledOperator result;
  PartsPlan plan;
  std::vector<LoopsResult> lowered;
  std::vector<VariantCode> code;
};

} // namespace

Expected<CompiledOperator> lintel::compileOperator(const SpecFile &file, const OperatorInfo &op,
                                                   const CompileOptions &options, Level level) {
  auto targets = resolveTargets(options.targets);
  if (!targets) return targets.takeError();
  KernelCache cache(level == Level::Object ? options.cache : "");
  std::optional<std::string> key = cache.key(op, options, *targets);
  if (key)
    if (std::optional<CompiledOperator> found = cache.find(*key)) return std::move(*found);
  auto compiled = Compiler(file, op, options, *targets).compile(level);
  if (compiled && key) cache.insert(*key, *compiled);
  return compiled;
}

static std::string printed(mlir::ModuleOp module) {
  std::string text;
  raw_string_ostream os(text);
  module.print(os);
  return text + "\n";
}

Expected<std::string> lintel::emitLevel(const SpecFile &file, const OperatorInfo &op, const CompileOptions &options,
                                        Level level) {
  switch (level) {
  case Level::Attn:
    return SpecFile::canonicalText(op);
  case Level::Spec:
    return printed(*isolate(file, op));
  case Level::Form:
  case Level::Kernel: {
    auto module = (level == Level::Form ? buildForm : buildKernel)(file, op, options, options.form);
    if (!module) return module.takeError();
    return printed(**module);
  }
  case Level::Halide:
  case Level::Loops: {
    auto targets = resolveTargets(options.targets);
    if (!targets) return targets.takeError();
    auto module = buildKernel(file, op, options, options.form);
    if (!module) return module.takeError();
    auto kernel = onlyKernel(**module);
    if (!kernel) return kernel.takeError();
    std::string symbol = symbolOf(op, options);
    int64_t chunk = kernel->getForm() == "recurrent" ? 1 : static_cast<int64_t>(kernel->getChunk());
    auto loops = lowerKernel(*kernel, op, options.types, options.form, targets->front(),
                             variantSymbol(symbol, kernel->getForm().str(), chunk, targets->front().name));
    if (!loops) return loops.takeError();
    return level == Level::Halide ? loops->halide : printed(*loops->loops);
  }
  case Level::Llvm:
  case Level::Asm:
  case Level::Object:
    break;
  }
  auto compiled = compileOperator(file, op, options, level);
  if (!compiled) return compiled.takeError();
  return std::move(compiled->code);
}

Expected<std::unique_ptr<JitKernel>> lintel::loadOperator(const CompiledOperator &compiled) {
  return JitKernel::load({compiled.code}, compiled.description.symbol);
}

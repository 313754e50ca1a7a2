#include "compiler/driver/Checks.h"
#include "codegen/emit/KernelDescription.h"
#include "compiler/driver/CheckRuns.h"
#include "compiler/driver/Exponents.h"
#include "compiler/driver/Reference.h"
#include "dialect/OperatorUtils.h"
#include <map>

using namespace llvm;
using namespace lintel;

namespace {

/// Sizes for dimensions in the order of the text: even and odd, small, no two equal.
constexpr int64_t evenSizes[] = {16, 24, 20, 12, 28, 8}, oddSizes[] = {7, 5, 9, 3, 11, 13};

/// Kernels that are compiled while a failure is made small, and how many failures are.
constexpr unsigned shrinkPatience = 40, mostShrunk = 2;

std::string dimensionText(const Dimensions &dimensions) {
  std::string text;
  for (const auto &[name, value] : dimensions) text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text;
}

/// An operator at some sizes and types.
struct Site {
  mlir::OwningOpRef<mlir::ModuleOp> forms;
  SpecOp spec;
  Dimensions dimensions;
  ElementTypes types;
  CheckSubject subject;
  bool roundsStates = false;

  mlir::ModuleOp module() const { return forms.get(); }
};

class Checker {
public:
  Checker(const SpecFile &file, const OperatorInfo &op, const CheckOptions &options,
          function_ref<void(const CheckRow &)> onRow)
      : file(file), op(op), options(options), onRow(onRow) {}

  Expected<CheckReport> run() {
    if (options.arrays) {
      auto site = open(options.arrays->dimensions, options.arrays->types);
      if (!site) return site.takeError();
      if (Error e = checkGiven(*site)) return std::move(e);
      return std::move(report);
    }
    struct Plan {
      ElementTypes types;
      ArrayRef<int64_t> sizes;
      CheckDepth depth;
    };
    using Depth = CheckDepth;
    std::vector<Plan> plans = {{LINTEL_F32, evenSizes, Depth::Full},  {LINTEL_F32, oddSizes, Depth::Full},
                               {LINTEL_F64, oddSizes, Depth::Some},   {LINTEL_F16, evenSizes, Depth::Some},
                               {LINTEL_BF16, oddSizes, Depth::Some},  {halfActivations(), evenSizes, Depth::Least},
                               {everyOther(), oddSizes, Depth::Least}};
    if (options.quick) plans = {{LINTEL_F32, oddSizes, Depth::Some}, {LINTEL_BF16, evenSizes, Depth::Least}};
    if (!options.types.empty()) {
      if (Error e = checkTypes(&op, options.types)) return std::move(e);
      ElementTypes types = bindTypes(op, options.types);
      plans = {{types, evenSizes, Depth::Full}, {types, oddSizes, options.quick ? Depth::Some : Depth::Full}};
      if (options.quick) plans.erase(plans.begin());
    }
    if (options.only) plans.resize(1);
    for (Plan &plan : plans) plan.types.products = options.types.products;
    bool fixed = llvm::all_of(op.dimensions, [&](const std::string &name) { return given(name) > 0; });
    for (const Plan &plan : plans) {
      if (fixed && plan.sizes.data() == oddSizes && plan.depth == Depth::Full && plans.size() > 1)
        continue; // the same again
      Dimensions dimensions = choose(plan.sizes);
      auto site = open(dimensions, plan.types);
      if (!site) {
        // Such as an index past these sizes; larger ones may do.
        std::string why = toString(site.takeError());
        dimensions = choose({32, 32, 32, 32, 32, 32});
        site = open(dimensions, plan.types);
        if (!site) return site.takeError();
        report.notes.push_back("checked at " + dimensionText(dimensions) + ", as smaller sizes do not fit: " + why);
      }
      if (Error e = checkAt(*site, plan.depth)) return std::move(e);
    }
    return std::move(report);
  }

private:
  /// As models have them: vectors of tokens in bf16, gates and all else, and the output, in f32.
  ElementTypes halfActivations() const {
    TypeRequest request{LINTEL_BF16, {{"out", LINTEL_F32}}};
    for (const ArrayInfo &input : op.inputs)
      if (input.kind != InputKind::Token || input.dims.empty()) request.named.emplace_back(input.name, LINTEL_F32);
    return bindTypes(op, request);
  }

  /// No two neighbours of one type.
  ElementTypes everyOther() const {
    constexpr lintel_dtype cycle[] = {LINTEL_F16, LINTEL_F32, LINTEL_BF16};
    TypeRequest request{LINTEL_F16, {}};
    for (auto [i, input] : llvm::enumerate(op.inputs)) request.named.emplace_back(input.name, cycle[i % 3]);
    request.named.emplace_back("out", cycle[op.inputs.size() % 3]);
    return bindTypes(op, request);
  }

  int64_t given(StringRef name) const {
    for (const auto &[known, value] : options.dimensions)
      if (known == name) return value;
    return 0;
  }

  Dimensions choose(ArrayRef<int64_t> sizes) const {
    Dimensions result;
    for (auto [i, name] : llvm::enumerate(op.dimensions))
      result.emplace_back(name, given(name) > 0 ? given(name) : sizes[i % sizes.size()]);
    return result;
  }

  Expected<Site> open(const Dimensions &dimensions, const ElementTypes &types) const {
    auto forms = deriveForms(file, op, dimensions);
    if (!forms) return forms.takeError();
    Site site{std::move(*forms), {}, dimensions, types, {op, {}, {}}};
    for (mlir::Operation &form : *site.module().getBody()) {
      if (auto spec = mlir::dyn_cast<SpecOp>(form)) site.spec = spec;
      if (auto recurrent = mlir::dyn_cast<RecurrentOp>(form))
        site.subject.hasExponents = !recurrent.getScales().empty();
    }
    site.subject.uses = inputUses(site.spec);
    site.subject.traits = inputTraits(site.spec);
    site.roundsStates = op.splits() && types.state(op) != LINTEL_F64 && isPrecise(site.spec);
    return std::move(site);
  }

  /// The kernels to check there.
  Expected<std::vector<FormRequest>> requests(const Site &site, CheckDepth depth) const {
    std::vector<FormRequest> result;
    for (mlir::Operation &form : *site.module().getBody()) {
      std::string name = formName(&form).str();
      if (name.empty() || name == "step" || (!options.form.empty() && name != options.form)) continue;
      if (name == "recurrent") result.push_back({name, 0});
      else if (options.chunk) result.push_back({name, options.chunk});
      // 7 divides none of the lengths but 63.
      else
        for (int64_t chunk : {7, 16, 1, 4, 64})
          if (depth == CheckDepth::Full || chunk == 7 || (chunk == 16 && depth == CheckDepth::Some))
            result.push_back({name, chunk});
    }
    if (result.empty()) return createStringError("operator '%s' has no %s form", op.name.c_str(), options.form.c_str());
    return std::move(result);
  }

  Expected<PreparedCase> prepare(const Site &site, CheckCase one) const {
    one.arrays.dimensions = site.dimensions, one.arrays.types = site.types;
    one.arrays.traits.assign(site.subject.traits.begin(), site.subject.traits.end());
    auto arrays = randomArrays(op, site.subject.uses, one.arrays);
    if (!arrays) return arrays.takeError();
    // The spec's own sums may be beyond a double.
    bool far = one.arrays.hardness == Hardness::Exponents || one.arrays.hardness == Hardness::Huge;
    mlir::Operation *wide = interpretedForm(site.module());
    auto reference = makeReference(far ? wide : site.spec, wide, op, *arrays);
    if (!reference) return reference.takeError();
    std::string name = one.text();
    return PreparedCase{std::move(one), std::move(name), std::move(*arrays), std::move(*reference)};
  }

  Error checkGiven(const Site &site) {
    report.warnings = decayWarnings(op, site.subject.uses, *options.arrays);
    auto kernels = requests(site, CheckDepth::Full);
    if (!kernels) return kernels.takeError();
    noteRounding(site);
    auto arrays = cutArrays(op, *options.arrays, 0, options.arrays->steps, {});
    if (!arrays) return arrays.takeError();
    arrays->lengths = options.arrays->lengths;
    if (Error e = settleExponents(op, *arrays, exponentsOf(interpretedForm(site.module())))) return e;
    auto reference = makeReference(interpretedForm(site.module()), op, *arrays);
    if (!reference) return reference.takeError();
    std::vector<PreparedCase> prepared;
    prepared.push_back({{}, "given arrays", std::move(*arrays), std::move(*reference)});
    checkKernels(site, *kernels, prepared);
    return Error::success();
  }

  Error checkAt(const Site &site, CheckDepth depth) {
    auto kernels = requests(site, depth);
    if (!kernels) return kernels.takeError();
    noteRounding(site);
    where = site.types.text() + (site.dimensions.empty() ? "" : " ") + dimensionText(site.dimensions);
    phase("interpreting");
    RandomRequest base;
    base.seed = options.seed;
    std::vector<CheckCase> all;
    if (options.only) all.push_back(*options.only);
    else all = checkCases(site.subject, base, depth);
    std::vector<PreparedCase> prepared;
    for (CheckCase &one : all) {
      auto made = prepare(site, std::move(one));
      if (!made) return made.takeError();
      prepared.push_back(std::move(*made));
      count(prepared.size(), all.size(), "cases");
    }
    checkKernels(site, *kernels, prepared);
    return Error::success();
  }

  void noteRounding(const Site &site) {
    const char *const rounded = "states are carried in f64 and handed over in f32: a split sequence is compared within "
                                "the bound and not bit by bit";
    if (site.roundsStates && !is_contained(report.notes, rounded)) report.notes.push_back(rounded);
  }

  void checkKernels(const Site &site, ArrayRef<FormRequest> requests, ArrayRef<PreparedCase> prepared) {
    // Where the row of this kernel is not asked for, or failed, others are checked without their single steps.
    std::unique_ptr<JitKernel> stepper;
    if (any_of(prepared, [](const PreparedCase &one) { return one.one.splits; })) {
      phase("compiling the recurrent form");
      if (auto kernel = load(site, {"recurrent", 0})) stepper = std::move(*kernel);
      else consumeError(kernel.takeError());
    }
    for (const FormRequest &request : requests) {
      CheckRow row;
      row.dtype = site.types.common, row.form = request.form, row.chunk = std::max<int64_t>(request.chunk, 1);
      row.dimensions = dimensionText(site.dimensions);
      for (const auto &[array, type] : site.types.named) row.dimensions += " " + array + "=" + dtypeName(type);
      CheckRuns runs(op, row, site.roundsStates);
      std::string name = request.chunk ? request.form + " " + std::to_string(request.chunk) : request.form;
      phase("compiling " + name);
      // One chunk is enough: how columns are taken does not depend on it.
      auto kernel = load(site, request, request.chunk == 0 || request.chunk == 7 || options.chunk);
      if (kernel) {
        phase("running " + name);
        for (const PreparedCase &one : prepared) {
          runs.run((*kernel)->kernel(), stepper ? stepper->kernel() : nullptr, one);
          count(static_cast<size_t>(&one - prepared.data()) + 1, prepared.size(), "cases");
        }
      } else {
        runs.fail(toString(kernel.takeError()));
      }
      if (!row.failures.empty() && !options.arrays && shrunk++ < mostShrunk) {
        phase("making the failure of " + name + " small");
        const PreparedCase *failing = runs.firstFailing() ? runs.firstFailing() : &prepared.front();
        repeat(row, {failing->one, request.form, request.chunk});
      }
      onRow(row);
      report.rows.push_back(std::move(row));
    }
  }

  /// What fails there: the first failure's text, or nothing.
  std::string failureAt(const CheckSite &at) const {
    const RandomRequest &arrays = at.one.arrays;
    auto site = open(arrays.dimensions, arrays.types);
    // Sizes that do not fit the operator, for example an index beyond one, are no failure.
    if (!site) return consumeError(site.takeError()), "";
    auto one = prepare(*site, at.one);
    if (!one) return consumeError(one.takeError()), "";
    CheckRow row;
    row.form = at.form, row.chunk = std::max<int64_t>(at.chunk, 1);
    CheckRuns runs(op, row, site->roundsStates);
    auto kernel = load(*site, {at.form, at.chunk}, /*inParts=*/true);
    if (!kernel) return toString(kernel.takeError());
    std::unique_ptr<JitKernel> stepper;
    if (at.one.splits) {
      if (auto steps = load(*site, {"recurrent", 0})) stepper = std::move(*steps);
      else consumeError(steps.takeError());
    }
    runs.run((*kernel)->kernel(), stepper ? stepper->kernel() : nullptr, *one);
    return row.failures.empty() ? "" : row.failures.front();
  }

  void repeat(CheckRow &row, const CheckSite &from) {
    // A kernel that does not compile must not become one that computes something else, and the other way round.
    auto isCompile = [](StringRef text) { return text.starts_with("does not "); };
    bool compile = isCompile(row.failures.front());
    std::string last;
    CheckSite small = shrinkSite(
        from,
        [&](const CheckSite &site) {
          std::string text = failureAt(site);
          if (text.empty() || isCompile(text) != compile) return false;
          last = std::move(text);
          return true;
        },
        shrinkPatience);
    row.smallest = last.empty() ? row.failures.front() : last;
    row.command = small.command(file.name(), op.name, options.target);
  }

  Expected<std::unique_ptr<JitKernel>> load(const Site &site, const FormRequest &request, bool inParts = false) const {
    CompileOptions compile;
    if (inParts) compile.parts = {0, 3};
    compile.dimensions = site.dimensions, compile.types = site.types, compile.targets = {options.target};
    compile.cache = options.cache;
    compile.variants = {request};
    auto compiled = compileOperator(file, op, compile);
    if (!compiled) return createStringError("does not compile: %s", toString(compiled.takeError()).c_str());
    auto kernel = loadOperator(*compiled);
    if (!kernel) return createStringError("does not load: %s", toString(kernel.takeError()).c_str());
    return std::move(*kernel);
  }

  void phase(const Twine &doing) {
    if (options.progress) options.progress->phase("checking " + op.name + ", " + where + ": " + doing);
  }
  void count(size_t done, size_t all, StringRef what) {
    if (options.progress) options.progress->count(static_cast<int64_t>(done), static_cast<int64_t>(all), what);
  }

  const SpecFile &file;
  const OperatorInfo &op;
  const CheckOptions &options;
  function_ref<void(const CheckRow &)> onRow;
  CheckReport report;
  std::string where; // dtype and sizes, for progress
  unsigned shrunk = 0;
};

} // namespace

Expected<CheckReport> lintel::checkOperator(const SpecFile &file, const OperatorInfo &op, const CheckOptions &options,
                                            function_ref<void(const CheckRow &)> onRow) {
  return Checker(file, op, options, onRow).run();
}

std::vector<std::string> lintel::decayWarnings(const OperatorInfo &op, ArrayRef<InputUse> uses,
                                               const BoundArrays &arrays) {
  std::vector<std::string> warnings;
  for (auto [info, use, array] : llvm::zip_equal(op.inputs, uses, arrays.inputs)) {
    double low = use == InputUse::LogDecay ? -std::numeric_limits<double>::infinity() : 0;
    double high = use == InputUse::LogDecay      ? 0
                  : use == InputUse::DecayFactor ? 1
                                                 : std::numeric_limits<double>::infinity();
    if (use == InputUse::Plain || use == InputUse::Gate) continue;
    for (double x : toDoubles(array)) {
      if (x >= low && x <= high) continue;
      const char *expected = use == InputUse::DecayFactor ? "factors from 0 to 1"
                             : use == InputUse::LogDecay  ? "log-decays of at most 0"
                                                          : "decay rates of at least 0";
      const char *hint = use == InputUse::DecayFactor && x < 0 ? "; are these log-decays?"
                         : use == InputUse::LogDecay && x <= 1 ? "; are these factors?"
                                                               : "";
      warnings.push_back(
          formatv("input '{0}' is used as a decay: expected {1}, found {2}{3}", info.name, expected, x, hint).str());
      break;
    }
  }
  return warnings;
}

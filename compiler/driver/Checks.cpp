#include "compiler/driver/Checks.h"
#include "codegen/emit/KernelDescription.h"
#include "compiler/driver/Execution.h"
#include "compiler/driver/Reference.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace lintel;

namespace {

constexpr size_t maxFailures = 3;
/// Sizes for dimensions in the order of the text: even and odd, small, no two equal.
constexpr int64_t evenSizes[] = {16, 24, 20, 12, 28, 8}, oddSizes[] = {7, 5, 9, 3, 11, 13};

struct Case {
  std::string name;
  RandomRequest shape;
};

struct PreparedCase {
  std::string name;
  BoundArrays arrays;
  Reference reference;
};

std::string dimensionText(const Dimensions &dimensions) {
  std::string text;
  for (const auto &[name, value] : dimensions) text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text;
}

/// The runs of one kernel add up to a row.
class RowRecorder {
public:
  explicit RowRecorder(CheckRow &row) : row(row) {}

  void add(const std::string &name, const Difference &difference) {
    ++row.cases;
    if (!difference.ok) fail(name + ": " + difference.failure);
    bool worse = difference.ok == row.worst.ok ? difference.used() >= row.worst.used() : !difference.ok;
    if (!worse) return;
    row.worst = difference;
    row.worstCase = name;
  }
  void addSame(const std::string &name, const OperatorInfo &op, const RunResult &want, const RunResult &got) {
    if (auto text = firstOtherBits(op, want, got)) fail(name + ": " + *text);
  }
  void fail(const std::string &text) {
    row.worst.ok = false;
    if (row.failures.size() < maxFailures) row.failures.push_back(text);
  }

private:
  CheckRow &row;
};

class Checker {
public:
  Checker(const SpecFile &file, const OperatorInfo &op, const CheckOptions &options,
          function_ref<void(const CheckRow &)> onRow)
      : file(file), op(op), options(options), onRow(onRow) {}

  Expected<CheckReport> run() {
    if (options.arrays) {
      auto forms = deriveForms(file, op, options.arrays->dimensions);
      if (!forms) return forms.takeError();
      if (Error e = checkAt(**forms, options.arrays->dimensions, options.arrays->types, Depth::Full))
        return std::move(e);
      return std::move(report);
    }
    struct Plan {
      ElementTypes types;
      ArrayRef<int64_t> sizes;
      Depth depth;
    };
    std::vector<Plan> plans = {{LINTEL_F32, evenSizes, Depth::Full},  {LINTEL_F32, oddSizes, Depth::Full},
                               {LINTEL_F64, oddSizes, Depth::Some},   {LINTEL_F16, evenSizes, Depth::Some},
                               {LINTEL_BF16, oddSizes, Depth::Some},  {halfActivations(), evenSizes, Depth::Least},
                               {everyOther(), oddSizes, Depth::Least}};
    if (!options.types.empty()) {
      if (Error e = checkTypes(&op, options.types)) return std::move(e);
      ElementTypes types = bindTypes(op, options.types);
      plans = {{types, evenSizes, Depth::Full}, {types, oddSizes, Depth::Full}};
    }
    bool fixed = llvm::all_of(op.dimensions, [&](const std::string &name) { return given(name) > 0; });
    std::string done;
    for (const Plan &plan : plans) {
      if (fixed && plan.sizes.data() == oddSizes && plan.depth == Depth::Full) continue; // the same again
      Dimensions dimensions = choose(plan.sizes);
      auto forms = deriveForms(file, op, dimensions);
      if (!forms) {
        // Such as an index past these sizes; larger ones may do.
        std::string why = toString(forms.takeError());
        dimensions = choose({32, 32, 32, 32, 32, 32});
        forms = deriveForms(file, op, dimensions);
        if (!forms) return forms.takeError();
        report.notes.push_back("checked at " + dimensionText(dimensions) + ", as smaller sizes do not fit: " + why);
      }
      if (Error e = checkAt(**forms, dimensions, plan.types, plan.depth)) return std::move(e);
    }
    return std::move(report);
  }

private:
  /// How much is tried at some sizes and types.
  enum class Depth { Least, Some, Full };

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

  std::vector<Case> cases(const Dimensions &dimensions, const ElementTypes &types, ArrayRef<InputUse> uses,
                          Depth depth) const {
    std::vector<Case> result;
    RandomRequest base;
    base.dimensions = dimensions, base.types = types;
    auto add = [&](std::string name, int64_t batch, int64_t steps, int64_t heads, Hardness hardness = Hardness::Usual,
                   bool initial = false, int64_t groups = 0) -> Case & {
      RandomRequest shape = base;
      shape.batch = batch, shape.steps = steps, shape.heads = heads, shape.groups = groups;
      shape.hardness = hardness, shape.initial = initial && op.splits();
      shape.seed = options.seed * 1000 + result.size();
      name = formatv("{0} B={1} T={2} H={3}", name, batch, steps, heads).str();
      if (groups) name += "/" + std::to_string(groups);
      if (shape.initial) name += " initial";
      result.push_back({name, shape});
      return result.back();
    };
    add("usual", 2, 67, 2);
    if (depth == Depth::Least) return result;
    if (depth == Depth::Full) {
      for (int64_t steps : {0, 1, 3, 5, 15, 17, 63, 65, 131})
        add("usual", 1, steps, 1, Hardness::Usual, steps % 4 == 1);
      add("usual", 0, 5, 2);
      add("large", 1, 37, 2, Hardness::Large);
      add("zeros", 1, 37, 2, Hardness::Zeros, true);
    }
    bool decays = llvm::any_of(uses, [](InputUse use) { return use != InputUse::Plain && use != InputUse::Gate; });
    if (decays)
      for (Hardness hardness : {Hardness::StrongDecay, Hardness::WeakDecay, Hardness::Resets})
        add(toString(hardness).str(), 1, 37, 3, hardness, true);
    add("grouped heads", 2, 19, 4, Hardness::Usual, true, 2);
    Case &packed = add("packed 0,3,0,17,1", 1, 21, 2, Hardness::Usual, true);
    packed.shape.lengths = std::vector<int64_t>{0, 3, 0, 17, 1};
    return result;
  }

  Expected<PreparedCase> prepare(mlir::Operation *spec, const Case &from, ArrayRef<InputUse> uses) {
    auto arrays = randomArrays(op, uses, from.shape);
    if (!arrays) return arrays.takeError();
    auto reference = makeReference(spec, op, *arrays);
    if (!reference) return reference.takeError();
    return PreparedCase{from.name, std::move(*arrays), std::move(*reference)};
  }

  Error checkAt(mlir::ModuleOp forms, const Dimensions &dimensions, const ElementTypes &types, Depth depth) {
    mlir::Operation *spec = nullptr;
    std::vector<FormRequest> requests;
    for (mlir::Operation &form : *forms.getBody()) {
      if (auto s = mlir::dyn_cast<SpecOp>(form)) spec = s;
      StringRef name = formName(&form);
      if (name.empty() || name == "step" || (!options.form.empty() && name != options.form)) continue;
      if (name == "recurrent") requests.push_back({name.str(), 0});
      // 7 divides none of the lengths but 63.
      else
        for (int64_t chunk : {7, 16, 1, 4, 64})
          if (depth == Depth::Full || chunk == 7 || (chunk == 16 && depth == Depth::Some))
            requests.push_back({name.str(), chunk});
    }
    if (requests.empty())
      return createStringError("operator '%s' has no %s form", op.name.c_str(), options.form.c_str());
    auto precision = spec->getAttrOfType<mlir::StringAttr>("precision");
    roundsStates = op.splits() && types.state(op) != LINTEL_F64 && precision && precision.getValue() == "f64";
    const char *const rounded = "states are carried in f64 and handed over in f32: a split sequence is compared within "
                                "the bound and not bit by bit";
    if (roundsStates && !is_contained(report.notes, rounded)) report.notes.push_back(rounded);
    SmallVector<InputUse> uses = inputUses(mlir::cast<SpecOp>(spec));
    where = types.text() + (dimensions.empty() ? "" : " ") + dimensionText(dimensions);
    phase("interpreting");
    std::vector<PreparedCase> prepared;
    if (options.arrays) {
      report.warnings = decayWarnings(op, uses, *options.arrays);
      auto arrays = cutArrays(op, *options.arrays, 0, options.arrays->steps, {});
      if (!arrays) return arrays.takeError();
      arrays->lengths = options.arrays->lengths;
      // The spec's own sums may be beyond a double.
      auto reference = makeReference(interpretedForm(forms), op, *arrays);
      if (!reference) return reference.takeError();
      prepared.push_back({"given arrays", std::move(*arrays), std::move(*reference)});
      return checkVariants(requests, dimensions, types, prepared, nullptr);
    }
    std::vector<Case> all = cases(dimensions, types, uses, depth);
    for (const Case &from : all) {
      auto one = prepare(spec, from, uses);
      if (!one) return one.takeError();
      prepared.push_back(std::move(*one));
      count(prepared.size(), all.size(), "cases");
    }
    std::optional<PreparedCase> split;
    if (op.splits() && depth != Depth::Least) {
      RandomRequest shape;
      shape.steps = depth == Depth::Full ? 34 : 18, shape.heads = 2, shape.dimensions = dimensions, shape.types = types;
      shape.initial = true, shape.seed = options.seed;
      auto one = prepare(spec, {"split", shape}, uses);
      if (!one) return one.takeError();
      split = std::move(*one);
    }
    return checkVariants(requests, dimensions, types, prepared, split ? &*split : nullptr);
  }

  Error checkVariants(ArrayRef<FormRequest> requests, const Dimensions &dimensions, const ElementTypes &types,
                      ArrayRef<PreparedCase> prepared, const PreparedCase *split) {
    CompileOptions compile;
    compile.dimensions = dimensions, compile.types = types, compile.targets = {options.target};
    compile.cache = options.cache;
    // Where the row of this kernel is not asked for, or failed, others are checked without their single steps.
    std::unique_ptr<JitKernel> stepper;
    if (split) {
      compile.variants = {{"recurrent", 0}};
      phase("compiling the recurrent form");
      if (auto kernel = load(compile)) stepper = std::move(*kernel);
      else consumeError(kernel.takeError());
    }
    for (const FormRequest &request : requests) {
      CheckRow row;
      row.dtype = types.common, row.form = request.form, row.chunk = std::max<int64_t>(request.chunk, 1);
      row.dimensions = dimensionText(dimensions);
      for (const auto &[array, type] : types.named) row.dimensions += " " + array + "=" + dtypeName(type);
      compile.variants = {request};
      RowRecorder record(row);
      std::string name = request.chunk ? request.form + " " + std::to_string(request.chunk) : request.form;
      phase("compiling " + name);
      auto kernel = load(compile);
      if (kernel) {
        phase("running " + name);
        checkCases((*kernel)->kernel(), prepared, record);
        if (split) checkSplits((*kernel)->kernel(), stepper ? stepper->kernel() : nullptr, *split, row, record);
      } else {
        record.fail(toString(kernel.takeError()));
      }
      onRow(row);
      report.rows.push_back(std::move(row));
    }
    return Error::success();
  }

  Expected<std::unique_ptr<JitKernel>> load(const CompileOptions &compile) {
    auto compiled = compileOperator(file, op, compile);
    if (!compiled) return createStringError("does not compile: %s", toString(compiled.takeError()).c_str());
    auto kernel = loadOperator(*compiled);
    if (!kernel) return createStringError("does not load: %s", toString(kernel.takeError()).c_str());
    return std::move(*kernel);
  }

  void checkCases(const lintel_kernel *kernel, ArrayRef<PreparedCase> prepared, RowRecorder &record) {
    ExecuteOptions execute;
    execute.poison = true;
    for (size_t i = 0; i < prepared.size(); ++i) {
      const PreparedCase &one = prepared[i];
      auto run = [&](int threads) -> std::optional<RunResult> {
        execute.threads = threads;
        auto result = executeKernel(kernel, op, one.arrays, execute);
        if (result) return std::move(*result);
        record.fail(one.name + ": does not run: " + toString(result.takeError()));
        return std::nullopt;
      };
      auto first = run(1), second = run(2);
      if (!first || !second) continue;
      record.add(one.name, compareResults(op, one.reference, *first));
      record.addSame(one.name + " on two threads", op, *first, *second);
      count(i + 1, prepared.size(), "cases");
    }
  }

  /// One sequence in pieces that end at `ends`, the states handed over; the first with one kernel, the rest with
  /// another.
  Expected<RunResult> runInPieces(const lintel_kernel *first, const lintel_kernel *rest, const BoundArrays &whole,
                                  ArrayRef<int64_t> ends) {
    ExecuteOptions execute;
    execute.poison = true;
    RunResult joined;
    auto out = NpyArray::create(whole.types.out(), outShape(op, whole));
    if (!out) return out.takeError();
    joined.out = std::move(*out);
    for (unsigned o = 0; o < op.others.size(); ++o) {
      auto other = NpyArray::create(whole.types.of(op.others[o].name), otherShape(op, o, whole));
      if (!other) return other.takeError();
      joined.others.push_back(std::move(*other));
    }
    // The batch is one, so the pieces follow each other.
    auto append = [&](const NpyArray &piece, NpyArray &to, int64_t first) {
      std::copy_n(piece.dataAs<char>(), piece.bytes(), to.dataAs<char>() + to.bytes() / whole.steps * first);
    };
    std::vector<NpyArray> &states = joined.states;
    int64_t begin = 0;
    for (auto [i, end] : llvm::enumerate(ends)) {
      auto piece = cutArrays(op, whole, begin, end, std::move(states));
      if (!piece) return piece.takeError();
      auto result = executeKernel(i ? rest : first, op, *piece, execute);
      if (!result) return result.takeError();
      if (end > begin) append(result->out, joined.out, begin);
      for (unsigned o = 0; end > begin && o < op.others.size(); ++o) append(result->others[o], joined.others[o], begin);
      states = std::move(result->states);
      begin = end;
    }
    return std::move(joined);
  }

  void checkSplits(const lintel_kernel *kernel, const lintel_kernel *stepper, const PreparedCase &whole,
                   const CheckRow &row, RowRecorder &record) {
    int64_t steps = whole.arrays.steps;
    auto atOnce = runInPieces(kernel, kernel, whole.arrays, {steps});
    if (!atOnce) return record.fail("split: " + toString(atOnce.takeError()));
    for (int64_t at = 0; at <= steps; ++at) {
      std::string name = formatv("split T={0}+{1}", at, steps - at).str();
      auto joined = runInPieces(kernel, kernel, whole.arrays, {at, steps});
      if (!joined) return record.fail(name + ": " + toString(joined.takeError()));
      record.add(name, compareResults(op, whole.reference, *joined));
      if (!roundsStates && row.form != "parallel" && at % row.chunk == 0)
        record.addSame(name + " at a chunk's end", op, *atOnce, *joined);
    }
    if (!stepper) return;
    SmallVector<int64_t> prefills{0, 1, steps - 1};
    for (int64_t at : {row.chunk - 1, row.chunk, row.chunk + 1})
      if (at > 1 && at < steps - 1) prefills.push_back(at);
    for (int64_t at : prefills) {
      std::string name = formatv("prefill of {0}, then {1} single steps", at, steps - at).str();
      SmallVector<int64_t> ends;
      for (int64_t end = at; end <= steps; ++end) ends.push_back(end);
      auto joined = runInPieces(kernel, stepper, whole.arrays, ends);
      if (!joined) return record.fail(name + ": " + toString(joined.takeError()));
      record.add(name, compareResults(op, whole.reference, *joined));
      if (!roundsStates && row.form == "recurrent") record.addSame(name, op, *atOnce, *joined);
    }
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
  std::string where;         // dtype and sizes, for progress
  bool roundsStates = false; // a kernel's own states have more digits than those it hands over
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

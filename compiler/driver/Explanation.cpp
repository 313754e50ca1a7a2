#include "compiler/driver/Explanation.h"
#include "compiler/analysis/CostAnalysis.h"
#include "compiler/analysis/DivisionAnalysis.h"
#include "compiler/analysis/InputUse.h"
#include "compiler/analysis/TransitionAnalysis.h"
#include "compiler/analysis/WeightSupport.h"
#include "compiler/driver/Arrays.h"
#include "compiler/driver/Exponents.h"
#include "compiler/driver/Parts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace lintel;

/// By the cost model: a score, its exponential and the product with the value for each of (T + 1) / 2 keys; `width` is
/// that of a key and a value.
static double softmaxCost(double width, double steps) { return (steps + 1) / 2 * (2 * width + 21); }

static std::string place(mlir::Operation *op) {
  if (auto at = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>())
    return formatv("{0}:{1}:{2}: ", at.getFilename().getValue(), at.getLine(), at.getColumn()).str();
  return "";
}

static std::string symbolicShape(StringRef outer, const ArrayInfo &info) {
  std::string text = "[" + outer.str();
  for (const DimExpr &dim : info.dims) text += (text.size() > 1 ? ", " : "") + dim.str();
  return text + "]";
}

namespace {
struct Explainer {
  const OperatorInfo &op;
  Explanation result{};
  SpecOp spec;

  void inputs() {
    SmallVector<InputUse> uses = inputUses(spec);
    for (auto [info, use] : llvm::zip_equal(op.inputs, uses)) {
      const char *outer = info.kind == InputKind::Token ? "B, T, H" : info.kind == InputKind::Head ? "H" : "";
      result.inputs.push_back({info.name, stringifyInputKind(info.kind).str(), symbolicShape(outer, info),
                               use == InputUse::Plain ? "" : toString(use).str()});
    }
  }

  /// Which states may leave beside an exponent.
  void carried(mlir::Operation &form) {
    SmallVector<StringRef> names;
    for (auto [state, exponent] : llvm::zip_equal(op.states, exponentsOf(&form)))
      if (exponent) names.push_back(state.name);
    if (!names.empty() && op.splits())
      result.numbers.push_back(
          "where x * 2^p is beyond the state's type, --final writes x and p, which --initial takes: " +
          join(names, ", "));
  }

  void forms(mlir::ModuleOp module) {
    std::string notChunkwise, notParallel;
    for (mlir::Operation &form : *module.getBody()) {
      StringRef kind = formName(&form);
      if (auto why = form.getAttrOfType<mlir::StringAttr>("not_chunkwise")) notChunkwise = why.str();
      if (auto why = form.getAttrOfType<mlir::StringAttr>("not_parallel")) notParallel = why.str();
      if (auto lines = form.getAttrOfType<mlir::ArrayAttr>("stabilized"))
        for (mlir::Attribute line : lines)
          result.numbers.push_back(mlir::cast<mlir::StringAttr>(line).getValue().str());
      if (kind == "recurrent") carried(form);
      if (kind == "recurrent" && form.hasAttr("precision"))
        result.numbers.push_back("computed in f64: the terms of a denominator can cancel");
      if (kind.empty()) continue;
      Explanation::Form entry;
      entry.name = kind.str();
      Cost cost = costOf(&form, result.steps);
      entry.flops = cost.flops, entry.bytes = cost.bytes, entry.cost = cost.total();
      if (auto chunk = form.getAttrOfType<mlir::IntegerAttr>("chunk")) entry.chunk = chunk.getInt();
      result.forms.push_back(entry);
    }
    auto missing = [&](StringRef name, std::string why) {
      if (llvm::any_of(result.forms, [&](const Explanation::Form &f) { return f.name == name; })) return;
      Explanation::Form entry;
      entry.name = name.str(), entry.whyNot = std::move(why);
      result.forms.push_back(std::move(entry));
    };
    if (op.attends) {
      missing("recurrent", "weights that do not factor have no state of fixed size");
      missing("chunkwise", "weights that do not factor have no state of fixed size");
      return missing("step", "keys of earlier steps are read again");
    }
    missing("chunkwise", notChunkwise.empty() ? "no state carries over chunks" : notChunkwise);
    missing("parallel", !notChunkwise.empty() ? notChunkwise : notParallel);
    missing("step", "a bidirectional operator needs all steps");
  }

  /// Of the step as it is written: a form that carries exponents scales its states, which is not the operator's doing.
  void states() {
    if (op.states.empty()) return stateless();
    auto copy = mlir::cast<SpecOp>(spec->clone());
    {
      TransitionAnalysis analysis(copy.getBody().front(), op.inputs.size(), {});
      for (auto [i, info] : llvm::enumerate(op.states)) {
        const StateTransition &transition = analysis.transition(i);
        result.states.push_back(
            {info.name, symbolicShape("B, H", info), toString(transition.kind).str(), transition.reason});
      }
    }
    copy->erase();
  }

  void stateless() {
    result.stateless = "each output depends on its own step alone";
    spec.walk([&](AttendOp attend) {
      WeightSupport support = supportOf(attend);
      bool causal = attend.getCausal(), ends = support.window != 0;
      std::string back = ends ? formatv("up to {0} steps before", support.window - 1).str() : "of all earlier steps";
      std::string values = causal               ? back
                           : support.ahead >= 0 ? formatv("{0} and up to {1} after", back, support.ahead).str()
                           : ends               ? back + " and of all later ones"
                                                : "of all steps";
      if (support.first) values += formatv(", and of the sequence's first {0}", support.first).str();
      result.stateless = "weights that do not factor, of values " + values;
    });
  }

  void sizes(mlir::Operation *chosen) {
    result.stateNumbers = op.attends ? 0 : stateElements(chosen);
    StepWork work = workOf(spec, result.steps);
    result.leastFlops = work.flops;
    for (unsigned i : work.kept) result.kept.push_back(op.inputs[i].name);
    result.cacheNumbers = work.keptElements * work.keptSteps;
    if (!work.written) return;
    for (int64_t low = 1, high = int64_t(1) << 40; low <= high;) {
      int64_t middle = low + (high - low) / 2;
      if (costOf(chosen, middle).total() <=
          softmaxCost(static_cast<double>(work.written), static_cast<double>(middle))) {
        result.crossover = middle;
        high = middle - 1;
      } else {
        low = middle + 1;
      }
    }
  }

  /// As `compile` divides the chosen form.
  Error parts(const SpecFile &file, CompileOptions options, mlir::Operation *whole) {
    options.parts.number = 0;
    auto target = resolveTarget("native");
    if (!target) return target.takeError();
    auto plan = planParts(op, options, *target);
    if (!plan) return plan.takeError();
    result.notInParts = plan->whyNot;
    if (plan->exist()) result.notInParts = sharedExponent(*plan, op, exponentsOf(whole));
    if (!result.notInParts.empty()) return Error::success();
    double cost = costOf(whole, options.steps).total();
    FormRequest same{formName(whole).str(), 0};
    if (auto chunk = whole->getAttrOfType<mlir::IntegerAttr>("chunk")) same.chunk = chunk.getInt();
    options.dimensions = plan->dimensions;
    auto part = buildForm(file, op, options, same);
    if (!part) return part.takeError();
    for (mlir::Operation &form : *(*part)->getBody())
      result.partCost = static_cast<double>(partCost(costOf(&form, options.steps).total(), cost)) / 1000;
    result.parts = plan->parts, result.divided = plan->split.dimension;
    return Error::success();
  }

  void warnings() {
    DivisionAnalysis ranges(spec);
    for (mlir::Operation *division : ranges.doubtfulDivisions()) {
      if (mlir::isa<AttendOp>(division)) {
        result.warnings.push_back(place(division) + "weights can be negative, so their sum can be zero");
        continue;
      }
      OpenRange range = ranges.of(division->getOperand(1));
      const char *what = range.lo >= 0 ? "can be zero" : "can be zero or negative";
      result.warnings.push_back(place(division) + "the denominator " + what +
                                " for some inputs; the result is then what the division gives (inf or nan)");
    }
  }
};
} // namespace

Expected<Explanation> lintel::explainOperator(const SpecFile &file, const OperatorInfo &op, const Dimensions &given,
                                              int64_t steps) {
  Explainer e{op, {}, {}};
  Explanation &result = e.result;
  Dimensions all = given;
  for (const std::string &name : op.dimensions)
    if (llvm::none_of(given, [&](const auto &entry) { return entry.first == name; })) {
      all.emplace_back(name, 128);
      result.assumed.push_back(name);
    }
  auto dimensions = bindDimensions(op, all);
  if (!dimensions) return dimensions.takeError();
  result.name = op.name, result.dimensions = *dimensions, result.steps = steps, result.bidirectional = op.bidirectional;
  auto forms = deriveForms(file, op, *dimensions);
  if (!forms) return forms.takeError();
  for (SpecOp spec : (*forms)->getOps<SpecOp>()) e.spec = spec;
  CompileOptions options;
  options.dimensions = *dimensions, options.steps = steps;
  auto chosen = buildForm(file, op, options, {});
  if (!chosen) return chosen.takeError();
  e.inputs();
  e.states();
  e.forms(**forms);
  for (mlir::Operation &form : *(*chosen)->getBody()) {
    result.chosen = formName(&form).str();
    if (auto reason = form.getAttrOfType<mlir::StringAttr>("reason")) result.reason = reason.str();
    e.sizes(&form);
    if (Error error = e.parts(file, options, &form)) return std::move(error);
  }
  e.warnings();
  return std::move(result);
}

void Explanation::print(raw_ostream &os) const {
  os << "operator " << name << (bidirectional ? " (bidirectional)" : "") << "\n";
  for (const auto &[dim, value] : dimensions)
    os << "  " << dim << " = " << value << (is_contained(assumed, dim) ? " (not given; taken as 128)" : "") << "\n";
  os << "\ninputs\n";
  for (const Input &i : inputs) {
    const char *use = i.use == "log-decay"      ? "decay given as a log-decay (exp of it multiplies a state): at most 0"
                      : i.use == "decay factor" ? "decay given as a factor: from 0 to 1"
                      : i.use == "decay rate"
                          ? "decay given as a rate (exp of its negative multiplies a state): at least 0"
                          : i.use.c_str();
    os << StringRef(formatv("  {0,-7} {1,-10} {2,-22} {3}", i.kind, i.name, i.shape, use).str()).rtrim() << "\n";
  }
  os << "\nstates\n";
  for (const State &s : states) {
    os << formatv("  {0,-10} {1,-22} transition: {2}\n", s.name, s.shape, s.transition);
    if (!s.reason.empty()) os << "             " << s.reason << "\n";
  }
  if (states.empty()) os << "  none: " << stateless << "\n";
  if (!numbers.empty()) os << "\nnumbers\n";
  for (const std::string &line : numbers) os << "  " << line << "\n";
  os << formatv("\nforms, a token and head at T = {0}", steps);
  if (leastFlops)
    os << formatv(" ({0} {1:f0} flops)",
                  stateNumbers ? "reading and updating its matrices once takes"
                               : "the products of queries, keys and values take",
                  *leastFlops);
  os << "\n";
  for (const Form &f : forms) {
    if (!f.whyNot.empty()) os << formatv("  {0,-10} none: {1}\n", f.name, f.whyNot);
    else
      os << formatv("  {0,-10} {1,10:f0} flops {2,8:f0} bytes of arrays, cost {3:f0}{4}{5}\n", f.name, f.flops, f.bytes,
                    f.cost, f.chunk ? formatv(", chunk {0}", f.chunk).str() : "",
                    f.name == chosen ? "  <- chosen" : "");
  }
  os << "  why: " << reason << "\n";
  if (!tuned.empty()) os << "  instead, for f32 here: " << tuned << "\n";
  os << "\nparts of a head, for fewer heads than threads\n  ";
  if (parts) os << formatv("{0} of {1}, each at {2:f3} of the cost\n", parts, divided, partCost);
  else os << "none: " << notInParts << "\n";
  os << formatv("\nmemory, a head after T = {0}\n", steps);
  std::string cache = formatv("a cache of {0} {1} numbers", join(kept, ", "), cacheNumbers).str();
  if (!stateNumbers) os << "  no state; " << (kept.empty() ? "no earlier step is read" : cache) << "\n";
  else {
    os << formatv("  state {0} numbers", stateNumbers);
    if (!kept.empty())
      os << formatv("; {0} ({1:f1} times as many)", cache,
                    static_cast<double>(cacheNumbers) / static_cast<double>(stateNumbers));
    os << "\n";
  }
  if (crossover) os << "  costs less than softmax from T = " << *crossover << "\n";
  for (const std::string &warning : warnings) os << "\nwarning: " << warning << "\n";
}

json::Value Explanation::json() const {
  json::Object dims;
  for (const auto &[dim, value] : dimensions) dims[dim] = value;
  json::Array inputList, stateList, formList, warningList;
  for (const std::string &warning : warnings) warningList.push_back(warning);
  for (const Input &i : inputs)
    inputList.push_back(json::Object{{"name", i.name}, {"kind", i.kind}, {"shape", i.shape}, {"use", i.use}});
  for (const State &s : states)
    stateList.push_back(
        json::Object{{"name", s.name}, {"shape", s.shape}, {"transition", s.transition}, {"reason", s.reason}});
  for (const Form &f : forms) {
    if (!f.whyNot.empty()) formList.push_back(json::Object{{"name", f.name}, {"exists", false}, {"why_not", f.whyNot}});
    else
      formList.push_back(json::Object{{"name", f.name},
                                      {"exists", true},
                                      {"chunk", f.chunk},
                                      {"flops", f.flops},
                                      {"bytes", f.bytes},
                                      {"cost", f.cost}});
  }
  return json::Object{
      {"operator", name},
      {"dimensions", std::move(dims)},
      {"steps", steps},
      {"bidirectional", bidirectional},
      {"inputs", std::move(inputList)},
      {"states", std::move(stateList)},
      {"numbers", json::Array(numbers)},
      {"forms", std::move(formList)},
      {"chosen", chosen},
      {"reason", reason},
      {"parts", parts ? json::Value(json::Object{{"number", parts}, {"dimension", divided}, {"cost", partCost}})
                      : json::Value(nullptr)},
      {"not_in_parts", notInParts.empty() ? json::Value(nullptr) : json::Value(notInParts)},
      {"tuned", tuned.empty() ? json::Value(nullptr) : json::Value(tuned)},
      {"least_flops", leastFlops ? json::Value(*leastFlops) : json::Value(nullptr)},
      {"state_numbers", stateNumbers},
      {"cache_inputs", json::Array(kept)},
      {"cache_numbers", cacheNumbers},
      {"beats_softmax_from", crossover ? json::Value(*crossover) : json::Value(nullptr)},
      {"warnings", std::move(warningList)}};
}

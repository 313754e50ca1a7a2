#include "compiler/driver/Tuning.h"
#include "codegen/halide/KernelToLoops.h"
#include "codegen/schedule/AssignSchedule.h"
#include "codegen/schedule/Autoscheduler.h"
#include "codegen/tune/ChildMeasurer.h"
#include "codegen/tune/CostModel.h"
#include "codegen/tune/Report.h"
#include "compiler/analysis/CostAnalysis.h"
#include "compiler/driver/MachineLimit.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cmath>

using namespace llvm;
using namespace lintel;

namespace lintel {
extern const char codeHash[]; // cmake/CodeHash.cmake
} // namespace lintel

//===-- The space -------------------------------------------------------------------------------------------------===//

/// A variant of so many times the least cost is not worth a measurement.
static constexpr double farAbove = 12;

static std::string firstLine(Error error) {
  std::string text;
  raw_string_ostream os(text);
  handleAllErrors(
      std::move(error), [&](const DiagnosticError &e) { e.log(os); },
      [&](const ErrorInfoBase &e) { os << e.message(); });
  StringRef line = StringRef(text).split('\n').first;
  // The reason alone: the place is the spec's, as everywhere.
  size_t at = line.find("error: ");
  return (at == StringRef::npos ? line : line.drop_front(at + 7)).str();
}

static VariantSpace variantSpace(const SpecFile &file, const OperatorInfo &op, const CompileOptions &options,
                                 const CpuTarget &target, VariantSpace variant, ScheduleTarget &scheduled) {
  auto fail = [&](Error e) {
    variant.whyNot = firstLine(std::move(e));
    return variant;
  };
  auto module = buildKernel(file, op, options, {variant.form, variant.chunk, {}, {}});
  if (!module) return fail(module.takeError());
  for (KernelOp kernel : (*module)->getOps<KernelOp>()) {
    DiagnosticCollector diagnostics(file.context());
    ScheduleTarget own = scheduleTarget(kernel, target, options.types.state(op));
    if (failed(assignSchedules(kernel, own, {}))) return fail(diagnostics.takeError("the stages have no schedules"));
    variant.chunk = kernel.getForm() == "recurrent" ? 1 : static_cast<int64_t>(kernel.getChunk());
    variant.stages = stageSpaces(kernel, own);
    scheduled = own;
  }
  return variant;
}

Expected<SearchSpace> lintel::searchSpace(const SpecFile &file, const OperatorInfo &op,
                                          const BenchmarkRequest &request) {
  CompileOptions options = request.compile;
  const FormRequest only = options.form;
  auto target = resolveTarget(options.targets.front());
  if (!target) return target.takeError();
  SearchSpace space;
  // What is chosen where nobody searches, within what is asked for.
  auto chosen = buildForm(file, op, options, {only.form, only.chunk, {}, {}});
  if (!chosen) return chosen.takeError();
  std::string form;
  int64_t chunk = 0;
  for (mlir::Operation &one : *(*chosen)->getBody()) {
    form = formName(&one).str();
    if (auto attr = one.getAttrOfType<mlir::IntegerAttr>("chunk")) chunk = attr.getInt();
  }
  SmallVector<int64_t> chunks{chunk ? chunk : only.chunk};
  if (!only.chunk)
    for (int64_t n : {2, 4, 8, 16, 32, 64, 128})
      if (n <= std::max<int64_t>(request.steps, 2) && !is_contained(chunks, n)) chunks.push_back(n);
  double least = std::numeric_limits<double>::infinity();
  for (int64_t n : chunks) {
    auto forms = deriveForms(file, op, options.dimensions, n);
    if (!forms) return forms.takeError();
    for (mlir::Operation &one : *(*forms)->getBody()) {
      VariantSpace variant;
      variant.form = formName(&one).str();
      if (variant.form.empty() || variant.form == "step") continue;
      if (only.form != "auto" && only.form != variant.form) continue;
      if (variant.form == "recurrent" && n != chunks.front()) continue;
      variant.chunk = variant.form == "recurrent" ? 1 : n;
      variant.cost = costOf(&one, request.steps).total();
      least = std::min(least, variant.cost);
      if (variant.form == form && n == chunks.front()) space.standard = space.variants.size();
      space.variants.push_back(std::move(variant));
    }
  }
  for (auto [v, variant] : enumerate(space.variants)) {
    if (v != space.standard && variant.cost > farAbove * least) {
      variant.whyNot = formatv("its cost is {0:f0} times the least", variant.cost / least).str();
      continue;
    }
    ScheduleTarget own;
    variant = variantSpace(file, op, options, *target, std::move(variant), own);
    if (v == space.standard) space.target = own;
  }
  if (space.variants.empty() || !space.variants[space.standard].whyNot.empty())
    return createStringError("operator '%s' has no kernel to search from: %s", op.name.c_str(),
                             space.variants.empty() ? "no form" : space.variants[space.standard].whyNot.c_str());
  // Two chunks that come to the same kernel are one.
  for (size_t v = 0; v < space.variants.size(); ++v)
    for (size_t w = 0; w < v; ++w)
      if (space.variants[v].whyNot.empty() && space.variants[w].whyNot.empty() &&
          space.variants[v].form == space.variants[w].form && space.variants[v].chunk == space.variants[w].chunk)
        space.variants[v == space.standard ? w : v].whyNot = "the same as another chunk";
  return std::move(space);
}

/// Each variant once more, as an auto-scheduler of Halide's schedules it.
static void addWhole(SearchSpace &space, StringRef scheduler) {
  for (size_t v = 0, n = space.variants.size(); v < n; ++v) {
    if (!space.variants[v].whyNot.empty()) continue;
    VariantSpace variant = space.variants[v];
    variant.stages.clear();
    variant.whole = autoschedulerText(scheduler);
    space.variants.push_back(std::move(variant));
  }
}

//===-- The workbench as a search sees it -------------------------------------------------------------------------===//

namespace {

class BenchMeasurer : public Measurer {
public:
  BenchMeasurer(const SpecFile &file, const OperatorInfo &op, const BenchmarkRequest &request, const SearchSpace &space)
      : bench(file, op, request), space(space), start(Clock::now()) {}

  Prepared prepare(const Candidate &candidate) override {
    const VariantSpace &variant = space.variants[candidate.variant];
    Prepared result;
    auto contender = bench.prepare({variant.form, variant.chunk, space.schedule(candidate), "candidate"});
    if (!contender) {
      result.outcome = Outcome::NotCompiled, result.reason = firstLine(contender.takeError());
      return result;
    }
    result.error = (*contender)->difference.error;
    if (!(*contender)->difference.ok) {
      result.outcome = Outcome::Wrong, result.reason = (*contender)->difference.failure;
      return result;
    }
    if (!runs) {
      auto once = (*contender)->time();
      if (!once) {
        result.outcome = Outcome::NotCompiled, result.reason = firstLine(once.takeError());
        return result;
      }
      runs = static_cast<unsigned>(std::clamp(sampleSeconds / std::max(*once, 1e-9), 1.0, 10000.0));
    }
    auto free = llvm::find(contenders, nullptr);
    result.id = free - contenders.begin();
    if (free == contenders.end()) contenders.push_back(std::move(*contender));
    else *free = std::move(*contender);
    return result;
  }
  Expected<double> time(unsigned id) override {
    auto all = contenders[id]->time(runs);
    if (!all) return all.takeError();
    return *all / runs;
  }
  void release(unsigned id) override { contenders[id].reset(); }
  double now() override { return std::chrono::duration<double>(Clock::now() - start).count(); }

  Workbench bench;

private:
  using Clock = std::chrono::steady_clock;
  /// Long against a clock's resolution and an interrupt, short against a machine's moods.
  static constexpr double sampleSeconds = 0.004;
  const SearchSpace &space;
  Clock::time_point start;
  unsigned runs = 0; // of a sample
  std::vector<std::unique_ptr<Contender>> contenders;
};

/// Keeps trials as they come, in the database and in the result.
class Keeper : public SearchListener {
public:
  Keeper(const TuneRequest &request, TuneResult &result) : request(request), result(result) {}

  Error record(const Trial &trial) override {
    const VariantSpace &variant = result.space.variants[trial.candidate.variant];
    StoredTrial stored;
    stored.form = variant.form, stored.chunk = variant.chunk, stored.schedule = result.space.schedule(trial.candidate);
    stored.outcome = toString(trial.outcome).str(), stored.reason = trial.reason, stored.error = trial.error;
    stored.ratio = trial.ratio, stored.seconds = trial.seconds, stored.rounds = trial.rounds;
    stored.predicted = trial.predicted, stored.at = offset + trial.at, stored.strategy = request.strategy;
    result.trials.push_back(stored);
    return request.database ? request.database->add(result.key, stored) : Error::success();
  }
  Error best(const SearchResult &found, const Candidate *instead) override {
    if (!request.database) return Error::success();
    auto named = [&](const Candidate &candidate) {
      StoredBest result;
      const VariantSpace &variant = this->result.space.variants[candidate.variant];
      result.form = variant.form, result.chunk = variant.chunk;
      result.schedule = this->result.space.schedule(candidate);
      return result;
    };
    StoredBest best = named(found.best);
    best.ratio = found.ratio, best.seconds = found.seconds, best.standardSeconds = found.standardSeconds;
    best.rounds = found.rounds;
    if (!instead) return request.database->setBest(result.key, best);
    StoredBest before = named(*instead);
    return request.database->setBest(result.key, best, &before);
  }
  void progress(unsigned trials, double seconds, const SearchResult &found) override {
    request.progress(trials, seconds, found);
  }

  double offset = 0; // where earlier searches ended
private:
  const TuneRequest &request;
  TuneResult &result;
};

} // namespace

Expected<TuningKey> lintel::tuningKey(const OperatorInfo &op, const BenchmarkRequest &request) {
  auto target = resolveTarget(request.compile.targets.front());
  if (!target) return target.takeError();
  TuningKey key;
  key.specHash = specHash(op, request.compile.dimensions, request.compile.types);
  key.name = op.name, key.types = request.compile.types.text();
  for (const auto &[name, value] : request.compile.dimensions)
    key.dims += (key.dims.empty() ? "" : " ") + name + "=" + std::to_string(value);
  key.batch = request.batch, key.steps = request.steps, key.heads = request.heads;
  key.groups = request.groups == request.heads ? 0 : request.groups; // 0: as many
  key.threads = request.threads;
  key.target = target->name + " " + target->cpu + " " + target->features;
  key.machine = machineName();
  key.compiler = std::string("lintel " LINTEL_VERSION " (code ") + codeHash + "), LLVM " LLVM_VERSION_STRING;
  return key;
}

Expected<TuneResult> lintel::tuneOperator(const SpecFile &file, const OperatorInfo &op, const TuneRequest &request) {
  TuneResult result;
  auto space = searchSpace(file, op, request.bench);
  if (!space) return space.takeError();
  result.space = std::move(*space);
  if (StringRef scheduler = request.strategy; scheduler.consume_front("halide:")) addWhole(result.space, scheduler);
  auto key = tuningKey(op, request.bench);
  if (!key) return key.takeError();
  result.key = std::move(*key);
  auto strategy = makeStrategy(request.strategy, result.space, request.seed);
  if (!strategy) return strategy.takeError();

  Keeper keeper(request, result);
  std::vector<Trial> known;
  std::optional<Candidate> start;
  if (request.database) {
    auto trials = request.database->trials(result.key);
    if (!trials) return trials.takeError();
    for (StoredTrial &stored : *trials) {
      keeper.offset = std::max(keeper.offset, stored.at);
      // Of another space (a form that was not asked for now, directives that are no longer offered): not of this
      // search.
      auto candidate = result.space.find(stored.form, stored.chunk, stored.schedule);
      if (!candidate) continue;
      Trial trial;
      trial.candidate = *candidate;
      trial.outcome = outcomeOf(stored.outcome);
      trial.ratio = stored.ratio, trial.seconds = stored.seconds, trial.rounds = stored.rounds;
      trial.predicted = predictedCost(result.space, *candidate);
      known.push_back(std::move(trial));
      result.trials.push_back(std::move(stored));
    }
    result.resumed = known.size();
    auto best = request.database->best(result.key);
    if (!best) return best.takeError();
    if (*best) start = result.space.find((*best)->form, (*best)->chunk, (*best)->schedule);
  }
  // Candidates are many: the line on the terminal is the search's.
  BenchmarkRequest quiet = request.bench;
  quiet.progress = nullptr;
  BenchMeasurer inner(file, op, quiet, result.space);
  if (Error e = inner.bench.makeArrays()) return std::move(e); // once, for all candidates
  ChildMeasurer measurer(inner, request.patience);
  auto found = search(result.space, **strategy, measurer, keeper, request.search, known, start, request.stop);
  if (!found) return found.takeError();
  result.found = std::move(*found);
  result.seconds = measurer.now();
  const BenchmarkRequest &shape = request.bench;
  result.workFlops = inner.bench.flops().value_or(0) * static_cast<double>(shape.batch * shape.steps * shape.heads);
  result.bytes = inner.bench.arrayBytes();
  result.bandwidth = measureBandwidth() * 1e-9, result.strategy = request.strategy;
  result.limit = measurePeakFlops(shape.compile.types.state(op)) * shape.threads * 1e-9;
  return std::move(result);
}

//===-- What is told ----------------------------------------------------------------------------------------------===//

static std::string shapeOf(const TuningKey &key) {
  std::string text = formatv("B={0} T={1} H={2}", key.batch, key.steps, key.heads).str();
  if (key.groups) text += " G=" + std::to_string(key.groups);
  return text;
}
static std::string threadsText(const TuningKey &key) {
  return std::to_string(key.threads) + (key.threads == 1 ? " thread" : " threads");
}

std::string TuneResult::exported() const {
  std::string text = formatv("// {0} {1} {2}, {3}, {4}, for --form {5} --chunk {6}\n", key.name, key.types, key.dims,
                             shapeOf(key), threadsText(key), form(), chunk())
                         .str();
  text += formatv("// {0:f3} ms, {1:f3} times the default's speed over {2} rounds, on {3} ({4})\n", found.seconds * 1e3,
                  1 / found.ratio, found.rounds, key.machine, key.compiler);
  return text + schedule();
}

std::string TuneResult::report() const {
  ReportContent content;
  content.key = key, content.strategy = strategy, content.trials = trials;
  content.best.form = form(), content.best.chunk = chunk(), content.best.schedule = schedule();
  content.best.ratio = found.ratio, content.best.seconds = found.seconds, content.best.rounds = found.rounds;
  content.best.standardSeconds = found.standardSeconds;
  Candidate standard = space.standardCandidate();
  content.standardForm = space.variants[standard.variant].form;
  content.standardChunk = space.variants[standard.variant].chunk;
  content.standardSchedule = space.schedule(standard);
  content.standardPredicted = predictedCost(space, standard);
  content.flops = workFlops, content.bytes = bytes, content.limit = limit, content.bandwidth = bandwidth;
  return reportText(content);
}

void TuneResult::print(raw_ostream &os) const {
  os << formatv("{0} {1}, {2} {3}, {4}\n", key.name, key.types, shapeOf(key), key.dims, threadsText(key));
  os << formatv("  trials     {0} in {1:f1} s, {2} of them refused, wrong or failed", found.trials, seconds,
                found.failed);
  if (resumed) os << formatv(", {0} known before", resumed);
  os << formatv(" (of {0:e1} candidates)\n", space.size());
  if (found.stopped) os << "  stopped    by a signal; the best so far is kept\n";
  if (found.exhausted) os << "  ended      the strategy knows no other candidate\n";
  const VariantSpace &standard = space.variants[space.standard];
  os << formatv("  default    {0}, chunk {1}: {2:f3} ms\n", standard.form, standard.chunk, found.standardSeconds * 1e3);
  if (found.best == space.standardCandidate()) os << "  best       the default\n";
  else
    os << formatv("  best       {0}, chunk {1}: {2:f3} ms, {3:f3} times the default's speed (median of {4} rounds)\n",
                  form(), chunk(), found.seconds * 1e3, 1 / found.ratio, found.rounds);
  SmallVector<StringRef> lines;
  std::string text = schedule();
  StringRef(text).trim().split(lines, '\n');
  for (StringRef line : lines) os << "    " << line << "\n";
}

json::Value TuneResult::json() const {
  return json::Object{{"operator", key.name},
                      {"dtype", key.types},
                      {"shape", shapeOf(key)},
                      {"dimensions", key.dims},
                      {"threads", key.threads},
                      {"machine", key.machine},
                      {"candidates", space.size()},
                      {"trials", static_cast<int64_t>(found.trials)},
                      {"failed", static_cast<int64_t>(found.failed)},
                      {"resumed", static_cast<int64_t>(resumed)},
                      {"tuning_seconds", seconds},
                      {"stopped", found.stopped},
                      {"exhausted", found.exhausted},
                      {"form", form()},
                      {"chunk", chunk()},
                      {"schedule", schedule()},
                      {"is_default", found.best == space.standardCandidate()},
                      {"ratio_to_default", found.ratio},
                      {"seconds", found.seconds},
                      {"default_seconds", found.standardSeconds},
                      {"rounds", static_cast<int64_t>(found.rounds)}};
}

/// Whether the kernel of this compiler takes it: one of the same version may have been another.
static std::string misfitOf(const SpecFile &file, const OperatorInfo &op, const CompileOptions &options,
                            const FormRequest &form) {
  auto target = resolveTarget(options.targets.front());
  if (!target) return firstLine(target.takeError());
  std::string why;
  auto automatic = autoschedulerOf(form.schedule, form.scheduleName, why);
  if (automatic && !automatic->empty()) return "";
  auto given = parseScheduleFile(form.schedule, form.scheduleName, why);
  if (!given) return why;
  auto module = buildKernel(file, op, options, form);
  if (!module) return firstLine(module.takeError());
  DiagnosticCollector diagnostics(file.context());
  for (KernelOp kernel : (*module)->getOps<KernelOp>())
    if (failed(assignSchedules(kernel, scheduleTarget(kernel, *target, options.types.state(op)), *given)))
      return firstLine(diagnostics.takeError("its schedule is illegal"));
  return "";
}

Expected<std::optional<TunedSchedule>> lintel::findTuned(TuningDatabase &database, const std::string &path,
                                                         const SpecFile &file, const OperatorInfo &op,
                                                         const BenchmarkRequest &request, bool anyShape) {
  auto key = tuningKey(op, request);
  if (!key) return key.takeError();
  if (anyShape) {
    auto shapes = database.shapes(*key);
    if (!shapes) return shapes.takeError();
    if (!shapes->empty()) key = shapes->front();
  }
  auto best = database.best(*key);
  if (!best) return best.takeError();
  if (!*best) {
    auto others = database.hasOfOthers(*key);
    if (!others) return others.takeError();
    if (!*others) return std::nullopt;
    return TunedSchedule{{}, "it was found with other code of the compiler"};
  }
  if ((*best)->ratio >= 1) return std::nullopt;
  TunedSchedule result;
  result.form = {(*best)->form, (*best)->chunk, (*best)->schedule, path, {}};
  result.form.origin = formatv("tuned for {0}, {1}: {2:f2} times the default's speed ('{3}')", shapeOf(*key),
                               threadsText(*key), 1 / (*best)->ratio, path)
                           .str();
  result.misfit = misfitOf(file, op, request.compile, result.form);
  if (!result.misfit.empty()) result.misfit = "it does not fit the kernel: " + result.misfit;
  return result;
}

#include "SpecRun.h"
#include "SpecGenerator.h"
#include "compiler/analysis/InputUse.h"
#include "compiler/driver/Compare.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Execution.h"
#include "compiler/driver/Reference.h"
#include "dialect/OperatorUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace lintel;
using namespace lintel::fuzz;

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static const std::vector<Hardness> hardnesses = {Hardness::Usual,      Hardness::StrongDecay, Hardness::WeakDecay,
                                                 Hardness::MixedDecay, Hardness::Resets,      Hardness::Gates,
                                                 Hardness::Zeros,      Hardness::Large};

static std::string listText(ArrayRef<int64_t> values) {
  return join(map_range(values, [](int64_t n) { return std::to_string(n); }), ",");
}

std::string RunPlan::text() const {
  std::string result;
  for (const auto &[name, value] : dimensions) result += name + "=" + std::to_string(value) + " ";
  return result + formatv("level={0} dtype={1} form={2} chunks={3} blocks={4} B={5} T={6} H={7} G={8} hard={9} "
                          "initial={10} seed={11}",
                          code ? "code" : "kernel", dtypeName(dtype), form.empty() ? "all" : form, listText(chunks),
                          listText(blocks), batch, steps, heads, groups, toString(hardness), int(initial), seed)
                      .str();
}

std::optional<RunPlan> RunPlan::parse(StringRef text) {
  RunPlan plan;
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [key, value] = word.trim().split('=');
    auto number = [&, value = value](auto &into) { return !value.getAsInteger(10, into); };
    auto list = [&, value = value](std::vector<int64_t> &into) {
      SmallVector<StringRef> parts;
      value.split(parts, ',', -1, false);
      into.clear();
      for (StringRef part : parts) {
        int64_t n = 0;
        if (part.getAsInteger(10, n) || n < 1) return false;
        into.push_back(n);
      }
      return true;
    };
    bool ok = true;
    if (key == "level") {
      plan.code = value == "code";
      ok = plan.code || value == "kernel";
    } else if (key == "dtype") {
      ok = false;
      for (lintel_dtype dtype : {LINTEL_F64, LINTEL_F32, LINTEL_F16, LINTEL_BF16})
        if (value == dtypeName(dtype)) plan.dtype = dtype, ok = true;
    } else if (key == "form") {
      plan.form = value == "all" ? "" : value.str();
    } else if (key == "hard") {
      auto hardness = parseHardness(value);
      if ((ok = hardness.has_value())) plan.hardness = *hardness;
    } else if (key == "initial") {
      plan.initial = value == "1";
    } else if (key == "chunks") {
      ok = list(plan.chunks);
    } else if (key == "blocks") {
      ok = list(plan.blocks);
    } else if (int64_t *field = StringSwitch<int64_t *>(key)
                                    .Case("B", &plan.batch)
                                    .Case("T", &plan.steps)
                                    .Case("H", &plan.heads)
                                    .Case("G", &plan.groups)
                                    .Default(nullptr)) {
      ok = number(*field);
    } else if (key == "seed") {
      ok = number(plan.seed);
    } else {
      int64_t size = 0;
      ok = number(size) && size > 0;
      plan.dimensions.emplace_back(key.str(), size);
    }
    if (!ok) return std::nullopt;
  }
  return plan;
}

RunPlan lintel::fuzz::choosePlan(uint64_t seed, Dimensions dimensions, unsigned codeOf) {
  Dice dice(seed ^ 0x5ca1ab1e);
  RunPlan plan;
  plan.dimensions = std::move(dimensions);
  plan.seed = seed;
  plan.code = codeOf && seed % codeOf == 0;
  plan.dtype = LINTEL_F64;
  if (plan.code)
    plan.dtype = dice.chance(0.7) ? LINTEL_F32 : dice.pick<lintel_dtype>({LINTEL_F64, LINTEL_F16, LINTEL_BF16});
  auto chunk = [&] { return int64_t(dice.chance(0.3) ? 1 << dice.below(5) : 1 + dice.below(16)); };
  plan.chunks = {chunk()};
  plan.blocks.clear();
  // A parallel form is long in the compiling.
  if (!plan.code) plan.chunks.push_back(chunk());
  if (!plan.code || dice.chance(0.3)) plan.blocks.push_back(chunk());
  plan.batch = 1 + dice.below(2);
  plan.steps = dice.chance(0.2) ? dice.below(4) : 5 + dice.below(36);
  plan.heads = 1 + dice.below(4);
  if (plan.heads == 4 || plan.heads == 2) plan.groups = dice.chance(0.5) ? 0 : plan.heads / 2;
  if (dice.chance(0.5)) plan.hardness = dice.pick(hardnesses);
  plan.initial = dice.chance(0.5);
  return plan;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Compare.h's bound is for specs as people write them. In `s + b * (v - s)` with b near 1 what cancels is no input,
/// and a million elements of a thousand random specs find each such place: what is past the bound by less than this is
/// counted and not a failure. A wrong kernel is off by thousands.
static constexpr double room = 16;

namespace {

class SpecRunner {
public:
  SpecRunner(const std::string &text, const RunPlan &plan) : text(text), plan(plan), dice(plan.seed + plan.steps) {}
  Outcome run();

private:
  void fail(const std::string &kind, const std::string &message, double excess = 0) {
    if (!outcome.failure) outcome.failure = Failure{kind, message, excess};
  }
  bool failed() const { return outcome.failure.has_value(); }
  template <typename T> bool bad(Expected<T> &value, const std::string &kind) {
    if (value) return false;
    fail(kind, toString(value.takeError()));
    return true;
  }
  CompileOptions compileOptions(const FormRequest &request) const;
  void interpretKernel(const FormRequest &request);
  std::unique_ptr<JitKernel> compile(const FormRequest &request);
  std::optional<RunResult> execute(const lintel_kernel *kernel, const BoundArrays &arrays, int threads = 1);
  std::optional<RunResult> inPieces(const lintel_kernel *first, const lintel_kernel *rest, ArrayRef<int64_t> ends);
  void compare(const Reference &reference, const RunResult &got, const std::string &what);
  void same(const RunResult &want, const RunResult &got, const std::string &what);
  void runForm(const lintel_kernel *kernel, const lintel_kernel *stepper, const FormRequest &request);
  void causality(const lintel_kernel *kernel, const RunResult &whole);

  const std::string &text;
  const RunPlan &plan;
  Dice dice;
  Outcome outcome;
  std::unique_ptr<SpecFile> file;
  const OperatorInfo *op = nullptr;
  SmallVector<InputUse> uses;
  std::string where; // the form, for failures
  bool roundsStates = false;
  struct Case {
    std::string name;
    BoundArrays arrays;
    Reference reference;
  };
  std::vector<Case> cases; // the first is the plan's own; then one sequence, to be split; then packed ones
};

CompileOptions SpecRunner::compileOptions(const FormRequest &request) const {
  CompileOptions options;
  options.types = plan.dtype, options.variants = {request};
  for (const std::string &name : op->dimensions)
    for (const auto &dimension : plan.dimensions)
      if (dimension.first == name) options.dimensions.push_back(dimension);
  return options;
}

void SpecRunner::interpretKernel(const FormRequest &request) {
  ++outcome.kernels;
  auto module = buildKernel(*file, *op, compileOptions(request), request);
  if (bad(module, "build " + where)) return;
  for (mlir::Operation &kernel : *(*module)->getBody())
    for (const Case &one : cases) {
      ++outcome.runs;
      auto result = interpretArrays(&kernel, *op, one.arrays);
      if (bad(result, "interpret " + where)) return;
      compare(one.reference, *result, one.name);
    }
}

std::unique_ptr<JitKernel> SpecRunner::compile(const FormRequest &request) {
  ++outcome.kernels;
  auto compiled = compileOperator(*file, *op, compileOptions(request));
  if (bad(compiled, "compile " + where)) return nullptr;
  auto kernel = loadOperator(*compiled);
  if (bad(kernel, "load " + where)) return nullptr;
  return std::move(*kernel);
}

std::optional<RunResult> SpecRunner::execute(const lintel_kernel *kernel, const BoundArrays &arrays, int threads) {
  ExecuteOptions options;
  options.poison = true, options.threads = threads;
  ++outcome.runs;
  auto result = executeKernel(kernel, *op, arrays, options);
  if (bad(result, "run " + where)) return std::nullopt;
  return std::move(*result);
}

void SpecRunner::compare(const Reference &reference, const RunResult &got, const std::string &what) {
  Difference difference = compareResults(*op, reference, got);
  if (difference.ok) return;
  if (difference.used() <= room) ++outcome.marginal;
  else fail("numbers " + where, what + ": " + difference.failure, difference.used());
}

void SpecRunner::same(const RunResult &want, const RunResult &got, const std::string &what) {
  if (auto other = firstOtherBits(*op, want, got)) fail("bits " + where, what + ": " + *other);
}

/// The second case's sequence in pieces that end at `ends`, the states handed over.
std::optional<RunResult> SpecRunner::inPieces(const lintel_kernel *first, const lintel_kernel *rest,
                                              ArrayRef<int64_t> ends) {
  const BoundArrays &whole = cases[1].arrays;
  auto out = NpyArray::create(whole.types.out(), outShape(*op, whole));
  if (bad(out, "memory")) return std::nullopt;
  char *at = out->dataAs<char>();
  std::vector<NpyArray> states;
  int64_t begin = 0;
  for (auto [i, end] : enumerate(ends)) {
    auto piece = cutArrays(*op, whole, begin, end, std::move(states));
    if (bad(piece, "memory")) return std::nullopt;
    auto result = execute(i ? rest : first, *piece);
    if (!result) return std::nullopt;
    at = std::copy_n(result->out.dataAs<char>(), result->out.bytes(), at);
    states = std::move(result->states);
    begin = end;
  }
  return RunResult{std::move(*out), std::move(states), {}, {}};
}

/// Other inputs from a step on leave what is before it as it was, to the bit.
void SpecRunner::causality(const lintel_kernel *kernel, const RunResult &whole) {
  const BoundArrays &arrays = cases[1].arrays;
  if (arrays.steps < 2 || op->bidirectional) return;
  int64_t from = 1 + dice.below(static_cast<unsigned>(arrays.steps - 1));
  auto changed = cutArrays(*op, arrays, 0, arrays.steps, {});
  if (bad(changed, "memory")) return;
  for (auto [info, array] : zip_equal(op->inputs, changed->inputs)) {
    if (info.kind != InputKind::Token) continue;
    size_t row = array.bytes() / arrays.steps, rest = (arrays.steps - from) * row;
    std::memset(array.dataAs<char>() + from * row, dice.chance(0.5) ? 0xff : 0, rest); // NaNs, or zeros
  }
  auto result = execute(kernel, *changed);
  if (!result) return;
  size_t row = whole.out.bytes() / arrays.steps;
  if (std::memcmp(whole.out.data(), result->out.data(), from * row) != 0)
    fail("causality " + where, formatv("inputs from step {0} change what is before", from).str());
}

void SpecRunner::runForm(const lintel_kernel *kernel, const lintel_kernel *stepper, const FormRequest &request) {
  for (const Case &one : cases) {
    auto first = execute(kernel, one.arrays), second = execute(kernel, one.arrays, 2);
    if (!first || !second) return;
    compare(one.reference, *first, one.name);
    same(*first, *second, one.name + " on two threads");
    if (failed()) return;
  }
  int64_t steps = cases[1].arrays.steps, chunk = std::max<int64_t>(request.chunk, 1);
  auto whole = execute(kernel, cases[1].arrays);
  if (!whole) return;
  causality(kernel, *whole);
  if (!op->splits() || failed()) return;
  int64_t anywhere = dice.below(static_cast<unsigned>(steps + 1)), atChunk = anywhere / chunk * chunk;
  for (int64_t at : {anywhere, atChunk}) {
    auto joined = inPieces(kernel, kernel, {at, steps});
    if (!joined) return;
    std::string name = formatv("split T={0}+{1}", at, steps - at).str();
    compare(cases[1].reference, *joined, name);
    if (at % chunk == 0 && request.form != "parallel" && !roundsStates) same(*whole, *joined, name);
    if (failed()) return;
  }
  if (!stepper) return;
  SmallVector<int64_t> ends;
  for (int64_t end = steps - std::min<int64_t>(steps, 4); end <= steps; ++end) ends.push_back(end);
  if (auto joined = inPieces(kernel, stepper, ends)) compare(cases[1].reference, *joined, "prefill, then single steps");
}

Outcome SpecRunner::run() {
  auto parsed = SpecFile::parse(text, "random.attn");
  if (bad(parsed, "frontend")) return outcome;
  file = std::move(*parsed);
  auto found = file->find("");
  if (bad(found, "frontend")) return outcome;
  op = *found;
  Dimensions dimensions;
  for (const std::string &name : op->dimensions) {
    auto at = llvm::find_if(plan.dimensions, [&](const auto &dimension) { return dimension.first == name; });
    if (at == plan.dimensions.end()) {
      fail("plan", "no size for dimension " + name);
      return outcome;
    }
    dimensions.push_back(*at);
  }
  auto forms = deriveForms(*file, *op, dimensions);
  if (bad(forms, "derive")) return outcome;
  std::vector<FormRequest> requests;
  SpecOp spec;
  for (mlir::Operation &form : *(*forms)->getBody()) {
    if (auto s = mlir::dyn_cast<SpecOp>(form)) spec = s;
    std::string name = formName(&form).str();
    if (name == "recurrent") requests.push_back({name, 0, {}, {}});
    if (name == "chunkwise" && (plan.form.empty() || plan.form == name))
      for (int64_t chunk : plan.chunks) requests.push_back({name, chunk, {}, {}});
    if (name == "parallel" && (plan.form.empty() || plan.form == name))
      for (int64_t block : plan.blocks) requests.push_back({name, block, {}, {}});
  }
  // A spec without a recurrent form must be run in some way.
  if (requests.empty())
    for (mlir::Operation &form : *(*forms)->getBody())
      if (formName(&form) == "parallel") requests.push_back({"parallel", plan.chunks.front(), {}, {}});
  roundsStates = plan.dtype != LINTEL_F64 && isPrecise(spec);
  uses = inputUses(spec);
  SmallVector<InputTraits> traits = inputTraits(spec);

  RandomRequest request;
  request.dimensions = dimensions, request.types = plan.dtype, request.hardness = plan.hardness;
  request.batch = plan.batch, request.steps = plan.steps, request.heads = plan.heads, request.groups = plan.groups;
  request.initial = plan.initial && op->splits(), request.seed = plan.seed;
  request.traits.assign(traits.begin(), traits.end());
  auto add = [&](const std::string &name) {
    auto arrays = randomArrays(*op, uses, request);
    if (bad(arrays, "arrays")) return;
    arrays->position = op->splits() ? plan.seed % 3 * 5 : 0;
    auto reference = makeReference(spec, interpretedForm(**forms), *op, *arrays);
    if (bad(reference, "interpret")) return;
    ArrayRef<double> out(reference->exact.out.dataAs<double>(), reference->exact.out.elements());
    bool tells = llvm::any_of(enumerate(out), [&](const auto &each) {
      return reference->bound[0][each.index()] < 1e-3 * std::fabs(each.value()) && std::isfinite(each.value());
    });
    outcome.vacuous += !tells && !out.empty();
    cases.push_back({name, std::move(*arrays), std::move(*reference)});
  };
  add("arrays");
  request.batch = 1;
  add("one sequence");
  request.lengths = std::vector<int64_t>{0, 1, plan.steps / 2, 0};
  request.steps = 1 + plan.steps / 2;
  add("packed");
  if (failed()) return outcome;

  std::unique_ptr<JitKernel> stepper;
  for (const FormRequest &form : requests) {
    where = form.form + (form.chunk ? " " + std::to_string(form.chunk) : "");
    bool isStepper = form.form == "recurrent";
    if (!plan.code) {
      if (plan.form.empty() || plan.form == form.form) interpretKernel(form);
      if (failed()) return outcome;
      continue;
    }
    // A failure of another form alone needs the recurrent one for its single steps, but not its checks.
    auto kernel = compile(form);
    if (kernel && (!isStepper || plan.form.empty() || plan.form == form.form))
      runForm(kernel->kernel(), stepper ? stepper->kernel() : nullptr, form);
    if (failed()) return outcome;
    if (isStepper) stepper = std::move(kernel);
  }
  return outcome;
}

//===----------------------------------------------------------------------===//
// In a process of its own
//===----------------------------------------------------------------------===//

void writeAll(int fd, StringRef text) {
  while (!text.empty()) {
    ssize_t n = write(fd, text.data(), text.size());
    if (n <= 0) return;
    text = text.drop_front(static_cast<size_t>(n));
  }
}

} // namespace

Outcome lintel::fuzz::runSpec(const std::string &text, const RunPlan &plan) { return SpecRunner(text, plan).run(); }

Outcome lintel::fuzz::runSpecApart(const std::string &text, const RunPlan &plan, unsigned seconds) {
  int ends[2];
  if (pipe(ends)) report_fatal_error("pipe failed");
  pid_t child = fork();
  if (child < 0) report_fatal_error("fork failed");
  if (child == 0) {
    close(ends[0]);
    rlimit limit{seconds, seconds};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(10 * seconds); // one that waits, on a machine that may be busy
    Outcome outcome = runSpec(text, plan);
    std::string line =
        formatv("{0} {1} {2} {3}", outcome.kernels, outcome.runs, outcome.marginal, outcome.vacuous).str();
    if (outcome.failure)
      line += formatv(" {0}\n{1}\n{2}", outcome.failure->excess, outcome.failure->kind, outcome.failure->message).str();
    writeAll(ends[1], line + "\n.");
    _exit(0);
  }
  close(ends[1]);
  std::string got;
  char buffer[4096];
  while (ssize_t n = read(ends[0], buffer, sizeof buffer)) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0) got.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome;
  StringRef rest = got;
  if (!rest.consume_back("\n.")) {
    bool slow = WIFSIGNALED(status) &&
                (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
    outcome.failure = Failure{slow ? "time" : "crash",
                              slow                  ? formatv("not done after {0} s", seconds).str()
                              : WIFSIGNALED(status) ? formatv("signal {0}", WTERMSIG(status)).str()
                                                    : formatv("exit status {0}", WEXITSTATUS(status)).str(),
                              0};
    return outcome;
  }
  auto [counts, report] = rest.split('\n');
  SmallVector<StringRef> numbers;
  counts.split(numbers, ' ');
  numbers[0].getAsInteger(10, outcome.kernels);
  numbers[1].getAsInteger(10, outcome.runs);
  numbers[2].getAsInteger(10, outcome.marginal);
  numbers[3].getAsInteger(10, outcome.vacuous);
  if (numbers.size() > 4) {
    Failure failure;
    numbers[4].getAsDouble(failure.excess);
    failure.kind = report.split('\n').first.str(), failure.message = report.split('\n').second.str();
    outcome.failure = std::move(failure);
  }
  return outcome;
}

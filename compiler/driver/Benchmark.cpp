#include "compiler/driver/Benchmark.h"
#include "compiler/analysis/CostAnalysis.h"
#include "compiler/analysis/InputUse.h"
#include "compiler/driver/Execution.h"
#include "compiler/driver/MachineLimit.h"
#include "compiler/driver/NpyHeader.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cstring>

using namespace llvm;
using namespace lintel;

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The first head of the first sequence, its first steps.
static Expected<BoundArrays> firstHead(const OperatorInfo &op, const BoundArrays &arrays, int64_t steps) {
  BoundArrays result;
  result.batch = 1, result.steps = steps, result.heads = 1;
  result.dimensions = arrays.dimensions, result.types = arrays.types;
  for (auto [info, array] : llvm::zip_equal(op.inputs, arrays.inputs)) {
    SmallVector<int64_t, 5> shape = array.shape;
    int64_t inner = 1, outer = info.kind == InputKind::Token ? 3 : info.kind == InputKind::Head ? 1 : 0;
    for (int64_t n : ArrayRef(shape).drop_front(outer)) inner *= n;
    int64_t stride = info.kind == InputKind::Token ? shape[2] * inner : 0, rows = 1;
    if (info.kind == InputKind::Token) shape[0] = 1, shape[1] = rows = steps, shape[2] = 1;
    if (info.kind == InputKind::Head) shape[0] = 1;
    auto piece = NpyArray::create(array.dtype, shape);
    if (!piece) return piece.takeError();
    size_t size = array.elements() ? array.bytes() / array.elements() : 0;
    for (int64_t t = 0; t < rows; ++t)
      std::memcpy(piece->dataAs<char>() + t * inner * size, array.dataAs<char>() + t * stride * size, inner * size);
    result.inputs.push_back(std::move(*piece));
  }
  result.initial.resize(op.states.size());
  return std::move(result);
}

/// The first head's first steps of an output.
static Expected<NpyArray> firstHeadOut(const NpyArray &out, const NpyArray &like) {
  auto piece = NpyArray::create(out.dtype, like.shape);
  if (!piece) return piece.takeError();
  size_t size = out.elements() ? out.bytes() / out.elements() : 0;
  int64_t inner = 1;
  for (int64_t n : ArrayRef(out.shape).drop_front(3)) inner *= n;
  for (int64_t t = 0; t < like.shape[1]; ++t)
    std::memcpy(piece->dataAs<char>() + t * inner * size, out.dataAs<char>() + t * out.shape[2] * inner * size,
                inner * size);
  return piece;
}

static double arrayBytes(const OperatorInfo &op, const BoundArrays &arrays) {
  double bytes = 0;
  for (const NpyArray &array : arrays.inputs) bytes += static_cast<double>(array.bytes());
  auto add = [&](StringRef name, ArrayRef<int64_t> shape) {
    double n = static_cast<double>(npy::bytesOf(arrays.types.of(name)));
    for (int64_t size : shape) n *= static_cast<double>(size);
    bytes += n;
  };
  add(op.out.name, outShape(op, arrays));
  for (auto [i, info] : llvm::enumerate(op.others)) add(info.name, otherShape(op, i, arrays));
  return bytes;
}

/// Steps of one head that the interpreter does in about a second.
static int64_t affordableSteps(const OperatorInfo &op, const BoundArrays &arrays) {
  double work = 1;
  for (unsigned s = 0; s < op.states.size(); ++s) {
    double n = 1;
    for (int64_t size : innerShape(op.states[s], arrays.dimensions)) n *= static_cast<double>(size);
    work += n;
  }
  double linear = 2e6 / work;
  return std::clamp<int64_t>(static_cast<int64_t>(op.attends ? 400 : linear), 64, 1024);
}

/// The big run's first head, where later steps cannot have changed it; else a run of the same kernel on the piece.
static Error check(const lintel_kernel *kernel, const OperatorInfo &op, const BoundArrays &arrays,
                   const ExecuteOptions &execute, BenchmarkResult &result) {
  int64_t steps = std::min(arrays.steps, affordableSteps(op, arrays));
  if (arrays.batch == 0 || arrays.heads == 0) steps = 0;
  if (arrays.batch * arrays.heads == 0) {
    result.checked = "nothing to compute";
    return Error::success();
  }
  auto piece = firstHead(op, arrays, steps);
  if (!piece) return piece.takeError();
  auto reference = makeReference(op.spec, op, *piece);
  if (!reference) return reference.takeError();
  ExecuteOptions single = execute;
  single.threads = 1, single.poison = true;
  auto small = executeKernel(kernel, op, *piece, single);
  if (!small) return small.takeError();
  result.difference = compareResults(op, *reference, *small);
  result.checked = steps == arrays.steps && arrays.heads == 1 && arrays.batch == 1
                       ? "all of it"
                       : formatv("first head, first {0} of {1} steps", steps, arrays.steps).str();
  if (!result.difference.ok || (op.bidirectional && steps != arrays.steps)) return Error::success();
  ExecuteOptions poisoned = execute;
  poisoned.poison = true;
  auto whole = executeKernel(kernel, op, arrays, poisoned);
  if (!whole) return whole.takeError();
  auto out = firstHeadOut(whole->out, small->out);
  if (!out) return out.takeError();
  small->out = std::move(*out);
  for (size_t o = 0; o < small->others.size(); ++o) {
    auto other = firstHeadOut(whole->others[o], small->others[o]);
    if (!other) return other.takeError();
    small->others[o] = std::move(*other);
  }
  result.difference = compareResults(op, *reference, *small);
  return Error::success();
}

Expected<BenchmarkResult> lintel::benchmarkOperator(const SpecFile &file, const OperatorInfo &op,
                                                    const BenchmarkRequest &request) {
  BenchmarkResult result;
  auto phase = [&](const char *doing) {
    if (request.progress) request.progress->phase(Twine(doing) + " " + op.name);
  };
  phase("compiling");
  auto start = Clock::now();
  CompileOptions options = request.compile;
  options.decode = false;
  auto compiled = compileOperator(file, op, options);
  if (!compiled) return compiled.takeError();
  auto jit = loadOperator(*compiled);
  if (!jit) return jit.takeError();
  result.compileSeconds = since(start);
  const VariantDescription &variant = compiled->description.variants.front();
  result.name = op.name, result.dtype = options.types.text(), result.form = variant.form;
  result.target = variant.target, result.schedule = variant.schedule, result.machine = machineName();
  result.batch = request.batch, result.steps = request.steps, result.heads = request.heads;
  result.chunk = variant.chunk, result.dimensions = options.dimensions, result.threads = request.threads;

  phase("checking");
  auto forms = deriveForms(file, op, options.dimensions);
  if (!forms) return forms.takeError();
  SmallVector<InputUse> uses;
  for (SpecOp spec : (*forms)->getOps<SpecOp>()) {
    uses = inputUses(spec);
    result.flops = workOf(spec, request.steps).flops;
  }
  RandomRequest shape;
  shape.batch = request.batch, shape.steps = request.steps, shape.heads = request.heads, shape.groups = request.groups;
  shape.dimensions = options.dimensions, shape.types = options.types;
  auto arrays = randomArrays(op, uses, shape);
  if (!arrays) return arrays.takeError();
  ExecuteOptions execute;
  execute.threads = request.threads;
  if (Error e = check((*jit)->kernel(), op, *arrays, execute, result)) return std::move(e);
  if (!result.difference.ok) return std::move(result);

  phase("timing");
  auto call = PreparedCall::create((*jit)->kernel(), op, *arrays, execute);
  if (!call) return call.takeError();
  if (Error e = (*call)->run()) return std::move(e); // pages and caches
  std::vector<double> times;
  auto begin = Clock::now();
  while (times.size() < 5 || since(begin) < 0.5) {
    auto one = Clock::now();
    if (Error e = (*call)->run()) return std::move(e);
    times.push_back(since(one));
    if (times.size() >= 5 && since(begin) > 60) break;
  }
  llvm::sort(times);
  result.runs = static_cast<unsigned>(times.size());
  result.seconds = times.front(), result.median = times[times.size() / 2];
  double count =
      static_cast<double>(request.batch) * static_cast<double>(request.steps) * static_cast<double>(request.heads);
  result.tokensHeads = count / result.seconds;
  result.arrayRate = arrayBytes(op, *arrays) / result.seconds;
  result.limit = measurePeakFlops(options.types.state(op)) * request.threads * 1e-9;
  return std::move(result);
}

static std::string shapeOf(const BenchmarkResult &r) {
  std::string text = formatv("B={0} T={1} H={2}", r.batch, r.steps, r.heads).str();
  for (const auto &[name, value] : r.dimensions) text += " " + name + "=" + std::to_string(value);
  return text;
}

void BenchmarkResult::print(raw_ostream &os) const {
  os << formatv("{0} {1}, {2}, {3} thread{4}\n", name, dtype, shapeOf(*this), threads, threads == 1 ? "" : "s");
  os << formatv("  form       {0}, chunk {1}, {2}, compiled in {3:f2} s\n", form, chunk, target, compileSeconds);
  os << formatv("  check      {0}: error {1:e2}, bound {2:e2} ({3})\n", difference.ok ? "ok" : "FAILED",
                difference.error, difference.bound, checked);
  if (!difference.ok) {
    os << "             " << difference.failure << "\n";
    return;
  }
  os << formatv("  time       {0:f3} ms least, {1:f3} ms median of {2} runs\n", seconds * 1e3, median * 1e3, runs);
  os << formatv("  rate       {0:f3} million tokens x heads a second\n", tokensHeads * 1e-6);
  os << formatv("  arrays     {0:f2} GB a second\n", arrayRate * 1e-9);
  os << "  work       ";
  if (!flops) os << "not counted: no state is a matrix that a product reads\n";
  else {
    os << formatv("{0:f2} gflops at {1:f0} flops a token and head, ", *gflops(), *flops);
    if (auto part = fraction()) os << formatv("{0:f1} % of the measured {1:f1}\n", *part * 100, limit);
    else os << formatv("beyond the measured {0:f1}: this form does less than is counted\n", limit);
  }
  os << "  machine    " << machine << "\n";
}

json::Value BenchmarkResult::json() const {
  auto number = [](std::optional<double> x) { return x ? json::Value(*x) : json::Value(nullptr); };
  json::Object dims;
  for (const auto &[dim, value] : dimensions) dims[dim] = value;
  return json::Object{{"operator", name},
                      {"dtype", dtype},
                      {"batch", batch},
                      {"steps", steps},
                      {"heads", heads},
                      {"dimensions", std::move(dims)},
                      {"threads", threads},
                      {"seconds", seconds},
                      {"seconds_median", median},
                      {"runs", static_cast<int64_t>(runs)},
                      {"tokens_heads_per_second", tokensHeads},
                      {"gflops", number(gflops())},
                      {"limit_gflops", limit},
                      {"fraction_of_limit", number(fraction())},
                      {"flops_per_token_head", number(flops)},
                      {"array_bytes_per_second", arrayRate},
                      {"ok", difference.ok},
                      {"error", difference.error},
                      {"bound", difference.bound},
                      {"checked", checked},
                      {"form", form},
                      {"chunk", chunk},
                      {"target", target},
                      {"schedule", schedule},
                      {"compile_seconds", compileSeconds},
                      {"machine", machine}};
}

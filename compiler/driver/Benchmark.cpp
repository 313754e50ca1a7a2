#include "compiler/driver/Benchmark.h"
#include "codegen/tune/ChildProcess.h"
#include "compiler/driver/MachineLimit.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace llvm;
using namespace lintel;

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Expected<BenchmarkResult> lintel::benchmarkOperator(const SpecFile &file, const OperatorInfo &op,
                                                    const BenchmarkRequest &request) {
  Workbench bench(file, op, request);
  auto contender = bench.prepare(request.compile.form);
  if (!contender) return contender.takeError();
  BenchmarkResult result;
  const CompileOptions &options = request.compile;
  const VariantDescription &variant = (*contender)->variant();
  result.name = op.name, result.dtype = options.types.text(), result.form = variant.form;
  result.target = variant.target, result.schedule = variant.schedule, result.machine = machineName();
  result.batch = request.batch, result.steps = request.steps, result.heads = request.heads;
  result.chunk = variant.chunk, result.dimensions = options.dimensions, result.threads = request.threads;
  result.compileSeconds = (*contender)->compileSeconds;
  result.difference = (*contender)->difference, result.checked = (*contender)->checked;
  if (!result.difference.ok) return std::move(result);

  if (request.progress) request.progress->phase("timing " + op.name);
  std::vector<double> times;
  auto begin = Clock::now();
  while (times.size() < 5 || since(begin) < 0.5) {
    auto one = (*contender)->time();
    if (!one) return one.takeError();
    times.push_back(*one);
    if (times.size() >= 5 && since(begin) > 60) break;
  }
  llvm::sort(times);
  result.runs = static_cast<unsigned>(times.size());
  result.seconds = times.front(), result.median = times[times.size() / 2];
  double count =
      static_cast<double>(request.batch) * static_cast<double>(request.steps) * static_cast<double>(request.heads);
  result.tokensHeads = count / result.seconds;
  result.arrayRate = bench.arrayBytes() / result.seconds, result.flops = bench.flops();
  result.limit = measurePeakFlops(options.types.state(op)) * request.threads * 1e-9;
  return std::move(result);
}

/// What the child has to say, in front of it what that is.
static std::string answer(Expected<BenchmarkResult> got) {
  if (got) return (got->difference.ok ? "ok:" : "wrong:") + formatv("{0}", got->json()).str();
  std::string text;
  raw_string_ostream os(text);
  handleAllErrors(
      got.takeError(), [&](const DiagnosticError &e) { os << "diagnostic:", e.log(os); },
      [&](const ErrorInfoBase &e) { os << "error:" << e.message(); });
  return text;
}

Expected<ApartResult> lintel::benchmarkApart(const SpecFile &file, const OperatorInfo &op,
                                             const BenchmarkRequest &request, double seconds) {
  auto child =
      ChildProcess::start([&](ChildProcess::Line &line) { line.send(answer(benchmarkOperator(file, op, request))); });
  if (!child) return child.takeError();
  ApartResult result;
  auto message = (*child)->receive(seconds);
  if (!message) {
    result.json = json::Object{{"ok", false}, {"failure", toString(message.takeError())}};
    return std::move(result);
  }
  StringRef text = *message;
  if (text.consume_front("diagnostic:")) return make_error<DiagnosticError>(text.str());
  if (text.consume_front("error:")) return createStringError(text);
  result.ok = text.consume_front("ok:");
  text.consume_front("wrong:");
  auto parsed = json::parse(text);
  if (!parsed) return parsed.takeError();
  result.json = std::move(*parsed);
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

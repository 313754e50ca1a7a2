// Random specs: every form must agree with the interpreter.
//
//   spec_fuzz [--seed N] [--count N] [--seconds N] [--code N] [--out DIR] [FILE|DIR ...]
//
// The files given are run first: each ends with the plan of its runs, `// run: ...` (SpecRun.h). Then random specs, of
// seeds N, N + 1 and so on. One that fails is written to DIR as it is and made small; the exit status is 1.
#include "SpecGenerator.h"
#include "SpecShrinker.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <set>

using namespace llvm;
using namespace lintel;
using namespace lintel::fuzz;

namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned secondsEach = 120; // of one spec; a compile takes about one
constexpr StringRef runMark = "// run: ";

struct Options {
  cl::opt<unsigned long long> seed{"seed", cl::desc("of the first random spec (default 1)"), cl::init(1)};
  cl::opt<unsigned> count{"count", cl::desc("of random specs; 0: as many as the time allows"), cl::init(0)};
  cl::opt<unsigned> seconds{"seconds", cl::desc("after which no further spec is begun; 0: no limit"), cl::init(0)};
  cl::opt<unsigned> code{"code",
                         cl::desc("every so many specs is compiled, the others' kernels are interpreted; 0: "
                                  "none (default 8)"),
                         cl::init(8)};
  cl::opt<bool> print{"print", cl::desc("print the specs, and run nothing")};
  cl::opt<unsigned> shrinkSeconds{"shrink", cl::desc("seconds for making one failure small (default 300)"),
                                  cl::init(300)};
  cl::opt<std::string> out{"out", cl::desc("folder for the specs that fail (default: this one)"), cl::init(".")};
  cl::list<std::string> files{cl::Positional, cl::desc("[FILE|DIR ...]")};
};

std::string withPlan(const std::string &text, const RunPlan &plan) { return text + runMark.str() + plan.text() + "\n"; }

class Fuzzer {
public:
  explicit Fuzzer(const Options &options) : options(options), start(Clock::now()) {}

  int run() {
    for (const std::string &path : options.files) replayAll(path);
    if (options.count || options.seconds)
      for (uint64_t i = 0; !isOver(i); ++i) random(options.seed + i);
    outs() << formatv(
        "spec_fuzz: {0} specs, {1} kernels, {2} runs ({3} marginal), {4} failed; {5} arrays told nothing\n", specs,
        kernels, runs, marginal, failed, vacuous);
    return failed ? 1 : 0;
  }

private:
  bool isOver(uint64_t done) const {
    auto seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return (options.count && done >= options.count) || (options.seconds && seconds >= options.seconds);
  }

  Outcome execute(const std::string &text, const RunPlan &plan) {
    Outcome outcome = runSpecApart(text, plan, secondsEach);
    ++specs, kernels += outcome.kernels, runs += outcome.runs, marginal += outcome.marginal, vacuous += outcome.vacuous;
    return outcome;
  }

  void replayAll(const std::string &path) {
    if (!sys::fs::is_directory(path)) return replay(path);
    std::error_code error;
    std::set<std::string> found;
    for (sys::fs::directory_iterator it(path, error), end; it != end && !error; it.increment(error))
      if (sys::path::extension(it->path()) == ".attn") found.insert(it->path());
    for (const std::string &each : found) replay(each);
  }

  void replay(const std::string &path) {
    auto buffer = MemoryBuffer::getFile(path);
    StringRef text = buffer ? (*buffer)->getBuffer() : "";
    size_t at = text.rfind(runMark);
    auto plan =
        at == StringRef::npos ? std::nullopt : RunPlan::parse(text.substr(at + runMark.size()).split('\n').first);
    if (!plan) return report(path, Failure{"file", "expected a spec with a line '// run: ...'", 0});
    if (Outcome outcome = execute(text.str(), *plan); outcome.failure) report(path, *outcome.failure);
  }

  void random(uint64_t seed) {
    GeneratedSpec spec = generateSpec(seed);
    RunPlan plan = choosePlan(seed, spec.dimensions, options.code);
    if (options.print) {
      outs() << withPlan(spec.text, plan);
      return;
    }
    Outcome outcome = execute(spec.text, plan);
    if (!outcome.failure) return;
    std::string stem = (options.out + "/failed-" + Twine(seed)).str();
    write(stem + ".attn", withPlan(spec.text, plan), *outcome.failure);
    report(stem + ".attn", *outcome.failure);
    if (!options.shrinkSeconds) return;
    Failure last = *outcome.failure;
    Candidate small = shrunk({spec.text, plan}, last);
    std::string text = withPlan(small.text, small.plan);
    write(stem + "-small.attn", text, last);
    outs() << text << "  " << last.kind << ": " << last.message << "\n";
    outs().flush();
  }

  /// Keeps the kind of the failure, and a good part of its size: a large error must not become one of rounding.
  Candidate shrunk(Candidate from, Failure &last) {
    auto end = Clock::now() + std::chrono::seconds(options.shrinkSeconds);
    Failure first = last;
    return shrink(std::move(from), [&](const Candidate &candidate) {
      if (Clock::now() > end) return false;
      Outcome outcome = runSpecApart(candidate.text, candidate.plan, secondsEach);
      if (!outcome.failure || kindOf(outcome.failure->kind) != kindOf(first.kind)) return false;
      if (first.excess > 0 && outcome.failure->excess < std::min(first.excess / 2, 100.0)) return false;
      last = *outcome.failure;
      return true;
    });
  }
  /// Without the chunk, which may shrink.
  static StringRef kindOf(StringRef kind) { return kind.rtrim("0123456789"); }

  void write(const std::string &path, const std::string &text, const Failure &failure) {
    std::error_code error;
    raw_fd_ostream os(path, error);
    if (error) return;
    SmallVector<StringRef> lines;
    StringRef(failure.message).split(lines, '\n', -1, false);
    os << "// " << failure.kind << (failure.excess > 0 ? formatv(" ({0:f1} of the bound)", failure.excess).str() : "")
       << "\n";
    for (StringRef line : lines) os << "// " << line << "\n";
    os << text;
  }

  void report(const std::string &name, const Failure &failure) {
    ++failed;
    outs() << formatv("FAILED {0}: {1}: {2}", name, failure.kind, failure.message);
    if (failure.excess > 0) outs() << formatv(", {0:f1} of the bound", failure.excess);
    outs() << "\n";
    outs().flush();
  }

  const Options &options;
  Clock::time_point start;
  unsigned specs = 0, kernels = 0, runs = 0, marginal = 0, vacuous = 0, failed = 0;
};

} // namespace

int main(int argc, char **argv) {
  Options options;
  cl::ParseCommandLineOptions(argc, argv, "random specs through every form\n");
  return Fuzzer(options).run();
}

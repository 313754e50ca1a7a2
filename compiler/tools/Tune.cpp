// lintel space and lintel tune: what there is to choose from, and the search through it.
#include "compiler/driver/Outputs.h"
#include "compiler/driver/Tuning.h"
#include "compiler/tools/Database.h"
#include "compiler/tools/Point.h"
#include "compiler/tools/ProgressLine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cmath>
#include <csignal>

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

namespace {

/// --form and --chunk, as limits of a space.
struct LimitOptions {
  explicit LimitOptions(Subcommand &c)
      : form("form", cl::desc("only this form: recurrent, chunkwise or parallel (default: all)"),
             cl::value_desc("FORM"), cl::init("auto"), cl::sub(c.sub), cl::cat(c.category)),
        chunk("chunk", cl::desc("only this chunk; 0 (default): all that are worth it"), cl::value_desc("N"),
              cl::init(0), range{0, 4096, "a chunk of 1 to 4096 steps, or 0 for all,"}, cl::sub(c.sub),
              cl::cat(c.category)) {}

  Expected<FormRequest> request() const {
    if (!is_contained({"auto", "recurrent", "chunkwise", "parallel"}, StringRef(form)))
      return createStringError("expected a form of auto, recurrent, chunkwise or parallel, found '%s'", form.c_str());
    return FormRequest{form, chunk, {}, {}};
  }

  cl::opt<std::string> form;
  IntegerOption chunk;
};

class Space : public Subcommand {
public:
  Space()
      : Subcommand("space", "write as JSON the forms, chunks and schedules that an operator can have at a shape"),
        types(*this), point(*this, types), limit(*this) {}

  StringRef example() const override { return "  lintel space retnet.attn --shape B=1,H=8,T=1024,dk=64,dv=64\n"; }

  Expected<int> run() override {
    auto form = limit.request();
    if (!form) return form.takeError();
    if (Error e = point.read()) return std::move(e);
    point.request.compile.form = *form;
    auto space = searchSpace(*point.file, *point.op, point.request);
    if (!space) return space.takeError();
    outs() << formatv("{0:2}\n", space->json());
    return Success;
  }

private:
  TypeOptions types;
  PointOptions point;
  LimitOptions limit;
};

/// Set by SIGINT and SIGTERM while it lives; a second signal ends the process as usual.
class Interrupt {
public:
  Interrupt() {
    set = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { set = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, &before[0]);
    sigaction(SIGTERM, &action, &before[1]);
  }
  ~Interrupt() {
    sigaction(SIGINT, &before[0], nullptr);
    sigaction(SIGTERM, &before[1], nullptr);
  }
  Interrupt(const Interrupt &) = delete;
  static bool isSet() { return set; }

private:
  static volatile std::sig_atomic_t set;
  struct sigaction before[2]{};
};
volatile std::sig_atomic_t Interrupt::set = 0;

class Tune : public Subcommand {
public:
  Tune()
      : Subcommand("tune", "search for the fastest form, chunk and schedule of an operator at a shape"), types(*this),
        point(*this, types), limit(*this), database(*this),
        strategy("strategy",
                 cl::desc("beam (default: over the cost model), random, evolution, or an auto-scheduler of "
                          "Halide's: halide:mullapudi2016 or halide:adams2019"),
                 cl::value_desc("NAME"), cl::init("beam"), cl::sub(sub), cl::cat(category)),
        budget("budget", cl::desc("seconds to search for (default 60, where --trials is not given)"),
               cl::value_desc("SECONDS"), cl::init(0), range{1, 1LL << 30, "1 to 2^30 seconds"}, cl::sub(sub),
               cl::cat(category)),
        trials("trials", cl::desc("candidates to look at in this run"), cl::value_desc("N"), cl::init(0),
               range{1, 1LL << 30, "1 to 2^30 trials"}, cl::sub(sub), cl::cat(category)),
        timeout(
            "timeout",
            cl::desc("seconds after which a candidate has failed, where that is ten times the default's (default 60)"),
            cl::value_desc("SECONDS"), cl::init(60), timeoutRange(), cl::sub(sub), cl::cat(category)),
        seed("seed", cl::desc("of the strategy's random choices (default 1)"), cl::value_desc("N"), cl::init(1),
             range{0, std::numeric_limits<long long>::max(), "a seed from 0 to 2^63 - 1"}, cl::sub(sub),
             cl::cat(category)),
        exported("export", cl::desc("where to write the best schedule, for --schedule"), cl::value_desc("FILE"),
                 cl::sub(sub), cl::cat(category)),
        report("report", cl::desc("where to write a report, one HTML file"), cl::value_desc("FILE"), cl::sub(sub),
               cl::cat(category)),
        asJson("json", cl::desc("write JSON"), cl::sub(sub), cl::cat(category)) {}

  StringRef example() const override {
    return "  lintel tune retnet.attn --shape B=1,H=8,T=4096,dk=64,dv=64 --budget 60 --database tuned.db\n";
  }

  Expected<int> run() override {
    auto form = limit.request();
    if (!form) return form.takeError();
    // Names before work.
    if (!is_contained(strategyNames(), StringRef(strategy)))
      return createStringError(unknownName("a strategy (" + llvm::join(strategyNames(), ", ") + ")", strategy,
                                           SmallVector<StringRef>(strategyNames())));
    Outputs outputs;
    for (const std::string &path : {exported.getValue(), report.getValue()})
      if (!path.empty())
        if (Error e = outputs.plan(path)) return std::move(e);
    if (Error e = point.read()) return std::move(e);
    point.request.compile.form = *form;
    auto kept = database.open(TuningDatabase::Access::Write);
    if (!kept) return kept.takeError();
    TuneRequest request;
    request.bench = point.request;
    request.strategy = strategy, request.seed = static_cast<uint64_t>(seed);
    request.database = kept->get(), request.patience = static_cast<double>(timeout);
    if (trials.getNumOccurrences()) request.search.trials = static_cast<unsigned>(trials);
    if (budget.getNumOccurrences() || !trials.getNumOccurrences())
      request.search.seconds = budget.getNumOccurrences() ? static_cast<double>(budget) : 60;
    ProgressLine line;
    request.progress = [&](unsigned done, double seconds, const SearchResult &best) {
      show(line, request.search, done, seconds, best);
    };
    line.phase("making the space of " + point.op->name);
    Interrupt interrupt;
    request.stop = Interrupt::isSet;
    auto result = tuneOperator(*point.file, *point.op, request);
    line.clear();
    if (!result) return result.takeError();
    if (!exported.empty())
      if (Error e = outputs.write(exported, result->exported())) return std::move(e);
    if (!report.empty())
      if (Error e = outputs.write(report, result->report())) return std::move(e);
    if (Error e = outputs.commit()) return std::move(e);
    if (asJson) outs() << formatv("{0:2}\n", result->json());
    else result->print(outs());
    return Success;
  }

private:
  void show(ProgressLine &line, const SearchOptions &search, unsigned done, double seconds, const SearchResult &best) {
    // By the budget, or by what the trials so far took.
    double left = search.seconds - seconds;
    if (done && trials.getNumOccurrences()) left = std::min(left, seconds / done * (search.trials - done));
    std::string rest = std::isfinite(left) ? formatv(", {0:f0} s left", std::max(left, 0.0)).str() : "";
    line.phase(formatv("tuning {0}: {1} trials, best {2:f2} times the default's speed{3}", point.op->name, done,
                       1 / best.ratio, rest)
                   .str());
  }

  TypeOptions types;
  PointOptions point;
  LimitOptions limit;
  DatabaseOptions database;
  cl::opt<std::string> strategy;
  IntegerOption budget, trials, timeout, seed;
  cl::opt<std::string> exported, report;
  cl::opt<bool> asJson;
};

} // namespace

std::unique_ptr<Subcommand> tools::makeSpace() { return std::make_unique<Space>(); }
std::unique_ptr<Subcommand> tools::makeTune() { return std::make_unique<Tune>(); }

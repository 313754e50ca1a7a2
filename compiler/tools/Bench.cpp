// lintel bench and lintel measure: one candidate at a shape, its result checked first.
#include "compiler/driver/Benchmark.h"
#include "compiler/driver/Parts.h"
#include "compiler/tools/Database.h"
#include "compiler/tools/Point.h"
#include "compiler/tools/ProgressLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

namespace {

class Bench : public Subcommand {
public:
  Bench(StringRef name, StringRef description) : Subcommand(name, description), code(*this), point(*this, code) {}

protected:
  /// Reads what is asked for.
  Error prepare() {
    if (Error e = code.check()) return e;
    if (Error e = point.read()) return e;
    auto form = code.request();
    if (!form) return form.takeError();
    point.request.compile.form = *form;
    if (Error e = choose()) return e;
    PartsRequest &parts = point.request.compile.parts;
    parts = partsFor(point.request.batch * point.request.heads, point.request.threads);
    if (code.parts) parts.number = code.parts;
    return Error::success();
  }
  /// Of what the options leave open.
  virtual Error choose() { return Error::success(); }

  CodeOptions code;
  PointOptions point;
};

class BenchTable : public Bench {
public:
  BenchTable()
      : Bench("bench", "check an operator's result at a shape, then time it"), database(*this),
        asJson("json", cl::desc("write JSON"), cl::sub(sub), cl::cat(category)) {}

  StringRef example() const override { return "  lintel bench retnet.attn --shape B=1,H=8,T=1024,dk=64,dv=64\n"; }

  Expected<int> run() override {
    if (Error e = prepare()) return std::move(e);
    ProgressLine progress;
    point.request.progress = &progress;
    auto got = benchmarkOperator(*point.file, *point.op, point.request);
    if (!got) return got.takeError();
    progress.clear();
    if (asJson) outs() << formatv("{0:2}\n", got->json());
    else got->print(outs());
    return got->difference.ok ? Success : CheckFailed;
  }

private:
  Error choose() override { return database.apply(*point.file, *point.op, point.request, /*anyShape=*/false); }

  DatabaseOptions database;
  cl::opt<bool> asJson;
};

/// For outside optimisers: always JSON; what is no candidate is refused with status 2, what computes something else,
/// crashes or takes too long with status 1 and no time.
class Measure : public Bench {
public:
  Measure()
      : Bench("measure", "check and time one form, chunk and schedule of an operator at a shape; write JSON"),
        timeout("timeout", cl::desc("seconds after which the candidate has failed (default 600)"),
                cl::value_desc("SECONDS"), cl::init(600), timeoutRange(), cl::sub(sub), cl::cat(category)) {}

  StringRef example() const override {
    return "  lintel measure retnet.attn --shape T=1024 --form chunkwise --chunk 8 --schedule mine.sched\n";
  }

  Expected<int> run() override {
    if (Error e = prepare()) return std::move(e);
    auto got = benchmarkApart(*point.file, *point.op, point.request, static_cast<double>(timeout));
    if (!got) return got.takeError();
    outs() << formatv("{0:2}\n", got->json);
    return got->ok ? Success : CheckFailed;
  }

private:
  IntegerOption timeout;
};

} // namespace

std::unique_ptr<Subcommand> tools::makeBench() { return std::make_unique<BenchTable>(); }
std::unique_ptr<Subcommand> tools::makeMeasure() { return std::make_unique<Measure>(); }

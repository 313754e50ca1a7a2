// lintel explain: what the compiler knows about an operator.
#include "compiler/driver/Explanation.h"
#include "compiler/tools/Database.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

namespace {

class Explain : public Subcommand {
public:
  Explain()
      : Subcommand("explain", "say how an operator's states move, which forms it has, and what they cost"), spec(*this),
        database(*this), steps("steps", cl::desc("T that costs are given for (default 4096)"), cl::value_desc("T"),
                               cl::init(4096), range{1, 1LL << 40, "1 to 2^40 steps"}, cl::sub(sub), cl::cat(category)),
        asJson("json", cl::desc("write JSON"), cl::sub(sub), cl::cat(category)) {}

  StringRef example() const override { return "  lintel explain retnet.attn --dim dk=128 --dim dv=128\n"; }

  Expected<int> run() override {
    auto dims = parseDimensions(spec.dims);
    if (!dims) return dims.takeError();
    auto file = spec.open();
    if (!file) return file.takeError();
    auto operators = spec.select(**file);
    if (!operators) return operators.takeError();
    json::Array all;
    for (const OperatorInfo *op : *operators) {
      auto explanation = explainOperator(**file, *op, *dims, steps);
      if (!explanation) return explanation.takeError();
      BenchmarkRequest request;
      request.compile.dimensions = explanation->dimensions;
      auto tuned = database.find(**file, *op, request, /*anyShape=*/true);
      if (!tuned) return tuned.takeError();
      if (*tuned)
        explanation->tuned = (*tuned)->form + ", chunk " + std::to_string((*tuned)->chunk) + ": " + (*tuned)->origin;
      if (asJson) {
        all.push_back(explanation->json());
        continue;
      }
      if (op != operators->front()) outs() << "\n";
      explanation->print(outs());
    }
    if (asJson) outs() << formatv("{0:2}\n", all.size() == 1 ? std::move(all[0]) : json::Value(std::move(all)));
    return Success;
  }

private:
  SpecOptions spec;
  DatabaseOptions database;
  IntegerOption steps;
  cl::opt<bool> asJson;
};

} // namespace

std::unique_ptr<Subcommand> tools::makeExplain() { return std::make_unique<Explain>(); }

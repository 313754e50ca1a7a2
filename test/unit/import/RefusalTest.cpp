// What has no import is refused with a message that names it, and leaves nothing behind.
#include "Cases.h"

#include "codegen/halide/StmtImport.h"
#include "gtest/gtest.h"

using namespace lintel;
using namespace lintel::testing;

namespace {

struct Refusal {
  const char *name;
  const char *message;
};

std::string importError(const char *name) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) { message = d.str(); });
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  for (const StatementCase &c : statements()) {
    if (std::string(c.name) != name) continue;
    auto stage = importStmt(*module, c.build(), "stage", {}, loc);
    EXPECT_TRUE(failed(stage));
    EXPECT_TRUE(module->getBody()->empty());
    return message;
  }
  return "no such case";
}

TEST(ImportRefusal, NamesTheNode) {
  const Refusal refusals[] = {
      {"acquire", "acquire node: async() stages have no import"},
      {"allocate-dynamic", "allocation of Func 't' is not of constant size (extent n)"},
      {"allocate-large", "take 67108864 bytes of stack; at most 4194304 are allowed"},
      {"allocate-shared", "allocation of 't' in a kind of memory that CPUs do not have"},
      {"assert", "assert node (n < 4): lower with the target feature no_asserts"},
      {"atomic-mutex", "atomic node of 'f' with a mutex"},
      {"barrier", "gpu_thread_barrier has no import yet"},
      {"extern-unknown", "extern call of 'my_function' has no import"},
      {"for-gpu", "GPU loop over 'i' has no import yet"},
      {"for-parallel", "parallel loop over 'i': the split over threads is made outside of Halide"},
      {"for-vectorized", "loop over 'i' is of a kind that lowering should have removed"},
      {"fork", "fork node: async() stages have no import"},
      {"open-bounds", "buffer 'weights': bounds of dimension 0 are not fixed"},
      {"parallel-pipeline", "parallel loop in a stage: the split over threads is made outside of Halide"},
      {"provide", "provide node of 'f' is not lowered"},
      {"realize", "realize node of 'f' is not lowered"},
      {"stride-as-number", "computes with a stride that is not fixed"},
      {"string", "string \"text\" has no import"},
      {"unbound-variable", "variable 'nowhere' is bound nowhere"},
      {"undef", "undef that lowering did not remove"},
      {"unknown-buffer", "access to 'q', which is neither an argument nor allocated here"},
      {"wrong-type", "access to 'a' as float64, which it does not hold"},
  };
  for (const Refusal &r : refusals) {
    std::string found = importError(r.name);
    EXPECT_NE(found.find(std::string("cannot import stage 'stage': ")), std::string::npos) << r.name << ": " << found;
    EXPECT_NE(found.find(r.message), std::string::npos) << r.name << ": " << found;
  }
}

} // namespace

// halide-import-cases NAME [--stmt] [--no-transpose]: imports one of the test pipelines and prints the MLIR, with the
// names of Funcs as locations. --stmt prints Halide's statement instead; without a name, all names are listed.
#include "Cases.h"

#include "codegen/halide/HalideSupport.h"
#include "codegen/halide/StmtImport.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/CommandLine.h"
#include <optional>
#include <sstream>

using namespace lintel;
using namespace lintel::testing;

static llvm::cl::opt<std::string> caseName(llvm::cl::Positional, llvm::cl::desc("<case>"));
static llvm::cl::opt<bool> printStmt("stmt", llvm::cl::desc("print Halide's statement"));
static llvm::cl::opt<bool> printLocations("locations", llvm::cl::desc("print locations"));
static llvm::cl::opt<bool> noTranspose("no-transpose", llvm::cl::desc("leave strided accesses to scalars"));

static std::optional<Halide::Internal::LoweredFunc> find(const std::string &name) {
  for (const ProgramCase &c : programs())
    if (name == c.name) return lower(c.build(), fixedTarget()).functions()[0];
  for (const StatementCase &c : statements())
    if (name == c.name) return c.build();
  return std::nullopt;
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "imports one of the test pipelines and prints the MLIR\n");
  if (caseName.empty()) {
    for (const ProgramCase &c : programs()) llvm::outs() << c.name << "\n";
    for (const StatementCase &c : statements()) llvm::outs() << c.name << "\n";
    return 0;
  }
  std::optional<Halide::Internal::LoweredFunc> fn;
  if (std::optional<std::string> fault = guardHalide([&] { fn = find(caseName); })) {
    llvm::errs() << "error: " << *fault << "\n";
    return 1;
  }
  if (!fn) {
    llvm::errs() << "error: no case '" << caseName << "'\n";
    return 2;
  }
  if (printStmt) {
    std::ostringstream os;
    os << fn->body;
    llvm::outs() << os.str();
    return 0;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  ImportOptions options;
  options.transposeLoads = options.transposeStores = !noTranspose;
  mlir::FailureOr<ImportedStage> stage = importStmt(*module, *fn, "stage", options, loc);
  if (failed(stage) || failed(mlir::verify(*module))) return 1;
  for (StrideArg stride : stage->strides)
    llvm::outs() << "// stride of argument " << stride.buffer << ", dimension " << stride.dim << "\n";
  mlir::OpPrintingFlags flags;
  if (printLocations) flags.enableDebugInfo(true, /*prettyForm=*/true);
  module->print(llvm::outs(), flags);
  return 0;
}

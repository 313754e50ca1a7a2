#ifndef LINTEL_TEST_UNIT_IMPORT_RUN_H
#define LINTEL_TEST_UNIT_IMPORT_RUN_H

#include "codegen/halide/StmtImport.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace lintel::testing {

/// An imported stage, compiled by MLIR's own passes and LLVM with neither inlining nor further lowering of ours.
class CompiledStage {
public:
  /// Takes the stage's module apart. On failure `error` is set.
  CompiledStage(mlir::ModuleOp module, mlir::func::FuncOp stage);
  ~CompiledStage();
  std::string error;

  /// Arguments in order: the address of a buffer's first element, or an index. At most ten.
  struct Argument {
    void *data = nullptr;
    int64_t index = 0;
  };
  void operator()(const std::vector<Argument> &arguments);

private:
  struct State;
  llvm::Error compile(mlir::ModuleOp module, mlir::func::FuncOp stage);
  std::unique_ptr<State> state;
};

} // namespace lintel::testing

#endif

//===- Pipelines.h - the passes in order ----------------------------------===//
//
// One function for each arrow of the design: spec -> form -> kernel. The file Pipelines.cpp is the map of the compiler.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_PIPELINES_PIPELINES_H
#define LINTEL_COMPILER_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace lintel {

struct FormOptions {
  llvm::SmallVector<std::string> dims; ///< "dk=64"; every name must have a value
  std::string form = "auto";           ///< auto, recurrent, chunkwise, parallel, step
  int64_t chunk = 0;                   ///< steps a chunk or block; 0 chooses
  int64_t steps = 4096;                ///< T that forms are compared at
};

/// Specs to all their forms, dimensions bound; specs stay.
void buildDerivePipeline(mlir::OpPassManager &passes, const FormOptions &options);
/// The above, then one form of each operator is kept and the spec goes.
void buildFormPipeline(mlir::OpPassManager &passes, const FormOptions &options);
/// Forms to kernels: stages in groups.
void buildKernelPipeline(mlir::OpPassManager &passes);

} // namespace lintel
#endif

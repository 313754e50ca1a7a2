// SPEC at one shape: what bench, measure, space and tune are asked about.
#ifndef LINTEL_COMPILER_TOOLS_POINT_H
#define LINTEL_COMPILER_TOOLS_POINT_H

#include "compiler/driver/Workbench.h"
#include "compiler/tools/Tool.h"

namespace lintel::tools {

/// SPEC, --op, --dim, --shape, --threads, --target and, through `types`, --dtype.
struct PointOptions {
  PointOptions(Subcommand &command, const TypeOptions &types);

  /// Reads the file, finds the operator and fills in all of a request but the form.
  llvm::Error read();

  std::unique_ptr<SpecFile> file;
  const OperatorInfo *op = nullptr;
  BenchmarkRequest request;

private:
  llvm::Error readShape();

  const TypeOptions &types;
  SpecOptions spec;
  llvm::cl::opt<std::string> shape;
  IntegerOption threads;
  llvm::cl::opt<std::string> target;
};

} // namespace lintel::tools

#endif

// MLIR text to code in this process, for the tests of this folder.
#ifndef LINTEL_TEST_UNIT_CPU_COMPILE_H
#define LINTEL_TEST_UNIT_CPU_COMPILE_H

#include "codegen/cpu/CpuLowering.h"
#include "codegen/cpu/Jit.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace lintel::test {

struct Compiled {
  std::string object; // the bytes, or the text asked for
  std::string error;  // diagnostics and the error, if it failed
};

inline Compiled compile(llvm::StringRef text, CpuOutput output = CpuOutput::Object,
                        llvm::StringRef targetName = "native") {
  Compiled result;
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    result.error += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) return result;
  auto target = resolveTarget(targetName);
  if (!target) {
    result.error = llvm::toString(target.takeError());
    return result;
  }
  llvm::SmallVector<char> bytes;
  if (llvm::Error error = compileForCpu(*module, *target, output, bytes)) {
    result.error += llvm::toString(std::move(error));
    return result;
  }
  result.object.assign(bytes.begin(), bytes.end());
  return result;
}

} // namespace lintel::test

#endif

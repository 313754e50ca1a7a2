//===- Harness.h - interpret before = interpret after ---------------------===//
#ifndef LINTEL_TEST_UNIT_TRANSFORMS_HARNESS_H
#define LINTEL_TEST_UNIT_TRANSFORMS_HARNESS_H

#include "compiler/pipelines/Pipelines.h"
#include "dialect/reference/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>

namespace lintel {

/// The paths of the `.attn` files under examples/specs, sorted.
std::vector<std::string> exampleSpecs();
std::string readText(const std::string &path);
mlir::MLIRContext &context();

/// The specs of a text; a failure of the test where it does not check.
mlir::OwningOpRef<mlir::ModuleOp> specsOf(llvm::StringRef text);

/// A small value for each dimension name that the module uses, no two alike.
llvm::StringMap<int64_t> smallDims(mlir::ModuleOp module);
FormOptions options(const llvm::StringMap<int64_t> &dims, int64_t chunk = 0);
/// A pass pipeline given as text or built by a function; false after a failed test.
bool runPasses(mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> build);
/// Specs, dimensions bound, with all their forms at `chunk`.
mlir::OwningOpRef<mlir::ModuleOp> formsOf(mlir::ModuleOp specs, const llvm::StringMap<int64_t> &dims,
                                          int64_t chunk = 0);
/// The forms of `forms` as kernels.
mlir::OwningOpRef<mlir::ModuleOp> kernelsOf(mlir::ModuleOp forms);
mlir::Operation *find(mlir::ModuleOp module, llvm::StringRef name);
std::string textOf(mlir::Operation *op);

struct Problem {
  int64_t batch = 1, steps = 5, heads = 2, position = 0;
  unsigned seed = 1;
  bool initial = false; ///< states start at random values
  bool grouped = false; ///< every second token input has one head
  bool resets = false;  ///< inputs that are used as exponents alone are strong or -inf now and then
};
/// Random arrays for a spec. An input that is used as an exponent alone is a log-decay (or a gate) and at most 0.
Arguments randomArguments(mlir::Operation *spec, const llvm::StringMap<int64_t> &dims, const Problem &problem);
Results run(mlir::Operation *op, const Arguments &arguments);

/// The largest difference over the largest magnitude; infinity where one is NaN or infinite and the other is not the
/// same.
double difference(const Array &got, const Array &want);
/// Compares output and final states.
testing::AssertionResult sameResults(const Results &got, const Results &want, double bound = 1e-9);

} // namespace lintel
#endif

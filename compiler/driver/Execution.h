// Compiled kernels on bound arrays.
#ifndef LINTEL_COMPILER_DRIVER_EXECUTION_H
#define LINTEL_COMPILER_DRIVER_EXECUTION_H

#include "compiler/driver/Arrays.h"
#include "compiler/driver/Progress.h"
#include "lintel/runtime.h"

namespace lintel {

struct ExecuteOptions {
  std::string form; // empty: the kernel's best variant
  int64_t chunk = 0;
  int threads = 1;
  /// Fill outputs and scratch with NaN first, so that what is left unwritten, or read before it is written, shows.
  bool poison = false;
  /// Token inputs and the output lie in memory as [B, H, T, ...]: the kernel sees strides.
  bool headsFirst = false;
  /// Final states as they are held, beside their exponents, and not as the product.
  bool takeExponents = false;
  lintel_parts parts = LINTEL_PARTS_AUTO;
  Progress *progress = nullptr; // counts heads
};

/// The call's arrays in the runtime's terms; `arrays` must outlive it, and so must its own memory.
class PreparedCall {
public:
  static llvm::Expected<std::unique_ptr<PreparedCall>> create(const lintel_kernel *kernel, const OperatorInfo &op,
                                                              const BoundArrays &arrays, const ExecuteOptions &options);
  ~PreparedCall();
  /// Computes; may be called again.
  llvm::Error run();
  llvm::Expected<RunResult> takeResult();

private:
  PreparedCall() = default;
  class Counter;
  std::vector<lintel_array> inputs, statesIn, statesOut;
  std::vector<lintel_array> outputs, exponentsIn, exponentsOut;
  std::vector<NpyArray> exponents; // in the kernel's order
  std::vector<int> exponentOf;     // of each state, in `exponents`
  std::string form;
  RunResult result;
  bool headsFirst = false;
  std::vector<NpyArray> copies; // of inputs, in another order
  std::vector<int64_t> lengths;
  std::unique_ptr<NpyArray> scratch;
  lintel_pool *pool = nullptr;
  std::unique_ptr<Counter> counter;
  lintel_call call{};
};

/// Runs the kernel once. The result has the run's dtypes.
llvm::Expected<RunResult> executeKernel(const lintel_kernel *kernel, const OperatorInfo &op, const BoundArrays &arrays,
                                        const ExecuteOptions &options);

} // namespace lintel

#endif

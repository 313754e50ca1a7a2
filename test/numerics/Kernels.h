// Compiled operators for the tests of numbers: one compilation for each operator, sizes and dtype in a process, and
// runs in guarded memory.
//
// Every array of a run lies against a page that cannot be touched, so that reading or writing past its end ends the
// test; what lies before it, and outputs, final states and scratch, is NaN.
#ifndef LINTEL_TEST_NUMERICS_KERNELS_H
#define LINTEL_TEST_NUMERICS_KERNELS_H

#include "compiler/driver/Compare.h"
#include "compiler/driver/Compilation.h"
#include "lintel/runtime.h"
#include "gtest/gtest.h"
#include <cmath>
#include <functional>

namespace lintel::test {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Memory of `bytes` bytes that ends at a page without access. All of its pages are filled with ones: NaNs.
class GuardedMemory {
public:
  explicit GuardedMemory(size_t bytes, size_t alignment = 1);
  GuardedMemory(GuardedMemory &&other) noexcept;
  ~GuardedMemory();
  void *data() const { return start; }
  /// Whether what lies before the memory is as it was.
  bool isFrontIntact() const;

private:
  char *base = nullptr, *start = nullptr;
  size_t mapped = 0;
};

/// A form to ask for; no chunk: whatever is compiled.
inline FormRequest form(std::string name, int64_t chunk = 0) {
  FormRequest result;
  result.form = std::move(name), result.chunk = chunk;
  return result;
}

class Kernel {
public:
  const OperatorInfo &op() const { return *info; }
  SpecOp spec() const { return bound; } // with its dimensions
  const lintel_kernel *kernel() const { return jit->kernel(); }
  const Dimensions &dimensions() const { return options.dimensions; }
  const ElementTypes &types() const { return options.types; }
  lintel_dtype dtype() const { return options.types.common; }
  const std::vector<FormRequest> &variants() const { return options.variants; }
  const SpecFile &file() const { return *specFile; }

  /// The arrays by name, see list() and filled().
  BoundArrays arrays(std::vector<NamedArray> inputs, std::vector<NamedArray> initial = {}) const;
  /// By how the step uses each input; the sizes are the kernel's.
  BoundArrays random(RandomRequest request) const;
  RunResult run(const BoundArrays &arrays, const FormRequest &variant, int threads = 1,
                bool takeExponents = false) const;
  RunResult interpret(const BoundArrays &arrays) const;
  Reference reference(const BoundArrays &arrays) const;

private:
  friend const Kernel &compiledText(const std::string &, const std::string &, Dimensions, ElementTypes,
                                    std::vector<FormRequest>);
  std::unique_ptr<SpecFile> specFile;
  const OperatorInfo *info = nullptr;
  CompileOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> forms;
  SpecOp bound;
  std::unique_ptr<JitKernel> jit;
};

/// An operator given as text. No variants: every form there is, chunkwise at 4 and 16, parallel at 4 (its code takes
/// longest to compile; every_spec has it at 16).
const Kernel &compiledText(const std::string &name, const std::string &text, Dimensions dimensions,
                           ElementTypes types = {}, std::vector<FormRequest> variants = {});
/// The same for examples/specs/NAME.attn.
const Kernel &compiled(const std::string &name, Dimensions dimensions, ElementTypes types = {},
                       std::vector<FormRequest> variants = {});
/// Every form there is, those in chunks at these sizes.
std::vector<FormRequest> allForms(const std::string &name, const Dimensions &dimensions, std::vector<int64_t> chunks);

/// Row-major, filled with `values`, repeated.
NamedArray filled(const std::string &name, llvm::ArrayRef<int64_t> shape, std::vector<double> values,
                  lintel_dtype dtype = LINTEL_F32);
/// Normal numbers times `scale`.
NamedArray normal(const std::string &name, llvm::ArrayRef<int64_t> shape, double scale, uint64_t seed,
                  lintel_dtype dtype = LINTEL_F32);

template <typename... Arrays> std::vector<NamedArray> list(Arrays &&...arrays) {
  std::vector<NamedArray> result;
  (result.push_back(std::forward<Arrays>(arrays)), ...);
  return result;
}

/// "chunkwise at 16"
std::string text(const FormRequest &variant);
bool sameBits(const NpyArray &a, const NpyArray &b);
bool sameBits(const RunResult &a, const RunResult &b);
/// Fails the test unless the kernel's result is within Compare.h's bound of the interpreter's on the same arrays.
void expectReference(const Kernel &kernel, const BoundArrays &arrays, const FormRequest &variant, int threads = 1);
/// The same for every variant, with one reference.
void expectReference(const Kernel &kernel, const BoundArrays &arrays);
/// Element by element: infinities and NaNs the same, else within `tolerance` of the larger of 1 and |want|.
testing::AssertionResult near(const std::vector<double> &got, const std::vector<double> &want, double tolerance);
testing::AssertionResult near(const NpyArray &got, const std::vector<double> &want, double tolerance);

} // namespace lintel::test

#endif

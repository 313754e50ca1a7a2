// Candidates of one operator at one shape: each compiled, checked against the interpreter, and only then timed.
#ifndef LINTEL_COMPILER_DRIVER_WORKBENCH_H
#define LINTEL_COMPILER_DRIVER_WORKBENCH_H

#include "compiler/driver/Compare.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Execution.h"
#include "compiler/driver/Progress.h"
#include <optional>

namespace lintel {

struct BenchmarkRequest {
  int64_t batch = 1, steps = 1024, heads = 8, groups = 0;
  CompileOptions compile; // dimensions, types, form, target
  int threads = 1;
  Progress *progress = nullptr;
};

/// One that was compiled and checked.
class Contender {
public:
  CompiledOperator compiled;
  Difference difference; // of the check
  std::string checked;   // what of it
  double compileSeconds = 0;

  const VariantDescription &variant() const { return compiled.description.variants.front(); }
  /// Seconds of `runs` runs, one after the other. Only where the check passed.
  llvm::Expected<double> time(unsigned runs = 1);

private:
  friend class Workbench;
  std::unique_ptr<JitKernel> jit;
  std::unique_ptr<PreparedCall> call;
};

/// What candidates share: the arrays, and the exact result on the piece that is checked. The request's file and
/// operator must outlive it, and it the contenders.
class Workbench {
public:
  Workbench(const SpecFile &file, const OperatorInfo &op, const BenchmarkRequest &request)
      : file(file), op(op), request(request) {}
  /// Makes the arrays and the exact result, which prepare() otherwise does at its first call.
  llvm::Error makeArrays();
  /// Compiles, and checks against the interpreter, on the first head's first steps where all would take long. Errors:
  /// what could not be compiled or run; a check that fails is the contender's `difference`.
  llvm::Expected<std::unique_ptr<Contender>> prepare(const FormRequest &form);
  /// Once the arrays are made: of a token and head, by the operator's mathematics (StepWork::flops), and of all
  /// inputs and outputs.
  std::optional<double> flops() const { return work; }
  double arrayBytes() const { return bytes; }

private:
  llvm::Error check(Contender &contender);

  const SpecFile &file;
  const OperatorInfo &op;
  const BenchmarkRequest request;
  std::unique_ptr<BoundArrays> arrays, piece;
  std::unique_ptr<Reference> reference;
  std::string checked;
  std::optional<double> work;
  double bytes = 0;
};

} // namespace lintel

#endif

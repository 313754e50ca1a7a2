// The speed of one operator at one shape, after its result has been checked.
#ifndef LINTEL_COMPILER_DRIVER_BENCHMARK_H
#define LINTEL_COMPILER_DRIVER_BENCHMARK_H

#include "compiler/driver/Workbench.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace lintel {

struct BenchmarkResult {
  std::string name, dtype, form, target, schedule, machine, checked;
  int64_t batch = 0, steps = 0, heads = 0, chunk = 0;
  Dimensions dimensions;
  int threads = 1;
  double compileSeconds = 0;
  Difference difference; // of the check
  unsigned runs = 0;
  double seconds = 0; // least of the runs
  double median = 0;
  double tokensHeads = 0; // a second
  double arrayRate = 0;   // bytes of inputs and outputs a second
  /// Of a token and head, by the operator's mathematics (StepWork::flops): the same for all forms.
  std::optional<double> flops;
  double limit = 0; // gflops of these threads at most

  std::optional<double> gflops() const { return flops ? std::optional(*flops * tokensHeads * 1e-9) : std::nullopt; }
  /// Of the limit. Nothing where it would be more than all of it: the form then does less than what is counted.
  std::optional<double> fraction() const {
    auto rate = gflops();
    return rate && limit > 0 && *rate <= limit ? std::optional(*rate / limit) : std::nullopt;
  }
  void print(llvm::raw_ostream &os) const;
  llvm::json::Value json() const;
};

/// Compiles, checks against the interpreter (on the first head's first steps where all would take long; `checked` says
/// which), and, if the check passes, times for at least half a second.
llvm::Expected<BenchmarkResult> benchmarkOperator(const SpecFile &file, const OperatorInfo &op,
                                                  const BenchmarkRequest &request);

struct ApartResult {
  bool ok = false;
  llvm::json::Value json = nullptr; ///< of the result; or `ok` and the reason as `failure`
};
/// The same in a process of its own, which may crash, or take more than so many seconds. Errors are those of
/// benchmarkOperator.
llvm::Expected<ApartResult> benchmarkApart(const SpecFile &file, const OperatorInfo &op,
                                           const BenchmarkRequest &request, double seconds);

} // namespace lintel

#endif

// What one kernel is asked on one case: the interpreter's numbers, and results that must be the same bits.
#ifndef LINTEL_COMPILER_DRIVER_CHECKRUNS_H
#define LINTEL_COMPILER_DRIVER_CHECKRUNS_H

#include "compiler/driver/CheckCases.h"
#include "compiler/driver/Checks.h"
#include "compiler/driver/Compare.h"
#include "compiler/driver/Execution.h"

namespace lintel {

struct PreparedCase {
  CheckCase one;
  std::string name;
  BoundArrays arrays;
  Reference reference;
};

/// The runs of one kernel, which add up to a row.
class CheckRuns {
public:
  /// `roundsStates`: the kernel's own states have more digits than those it hands over.
  CheckRuns(const OperatorInfo &op, CheckRow &row, bool roundsStates) : op(op), row(row), roundsStates(roundsStates) {}

  /// `stepper` runs single steps; null: none are run.
  void run(const lintel_kernel *kernel, const lintel_kernel *stepper, const PreparedCase &one);
  void fail(const std::string &text);
  /// The first case that failed; null: none did, or none was run.
  const PreparedCase *firstFailing() const { return failing; }

private:
  void compare(const std::string &what, const PreparedCase &one, const RunResult &got);
  void compareBits(const std::string &what, const RunResult &want, const RunResult &got);
  void laterInputs(const lintel_kernel *kernel, const PreparedCase &one, const RunResult &want);
  llvm::Expected<RunResult> inPieces(const lintel_kernel *first, const lintel_kernel *rest, const BoundArrays &whole,
                                     llvm::ArrayRef<int64_t> ends);
  void splits(const lintel_kernel *kernel, const lintel_kernel *stepper, const PreparedCase &whole);

  const OperatorInfo &op;
  CheckRow &row;
  bool roundsStates;
  const PreparedCase *failing = nullptr;
};

} // namespace lintel

#endif

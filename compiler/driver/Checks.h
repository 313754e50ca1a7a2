// Every form of an operator against the interpreter, on random and on hard inputs.
#ifndef LINTEL_COMPILER_DRIVER_CHECKS_H
#define LINTEL_COMPILER_DRIVER_CHECKS_H

#include "compiler/driver/CheckCases.h"
#include "compiler/driver/Compare.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Progress.h"

namespace lintel {

struct CheckOptions {
  Dimensions dimensions;              // given by the user; the others vary
  TypeRequest types;                  // only these, if any
  std::string form;                   // only this one; empty: all
  int64_t chunk = 0;                  // only this one; 0: several
  std::optional<CheckCase> only = {}; // this case alone; its dimensions and types are those above
  bool quick = false;                 // fewer types, chunks and cases
  std::string target = "native";
  uint64_t seed = 1;
  std::string cache = {};              // folder of compiled operators; empty: none
  const BoundArrays *arrays = nullptr; // check on these alone
  Progress *progress = nullptr;
};

/// One variant over all its cases.
struct CheckRow {
  lintel_dtype dtype;
  std::string form;
  std::string dimensions; // and what has another type: "dk=7 dv=5 g=f32"
  int64_t chunk = 0;
  unsigned cases = 0;
  Difference worst;                  // of all cases: the failure if there is one, else the largest error
  std::string worstCase;             // which it was
  std::vector<std::string> failures; // at most a few; empty if all is well
  // The first failure on the smallest arrays that still show it, and the command that repeats that; of the first few
  // rows that fail.
  std::string smallest, command;
};

struct CheckReport {
  std::vector<CheckRow> rows;
  std::vector<std::string> notes;    // what could not be checked, and why
  std::vector<std::string> warnings; // about the arrays given
  bool ok() const {
    return llvm::all_of(rows, [](const CheckRow &row) { return row.failures.empty(); });
  }
};

/// Runs all: each variant within its bound on every case; the same bits on two threads as on one, in parts of columns
/// (at one chunk) as in whole heads, on arrays that lie as
/// [B, H, T, ...] in memory, and before a step whose inputs change; every split in two with the states handed over, the
/// same bits as in one run where it falls between chunks; and a prefill followed by single steps of the recurrent
/// variant, which after a recurrent prefill gives the same bits too (but not where states are rounded on their way,
/// from f64 inside a kernel to f32). `onRow` sees each row when it is done. A kernel that does not compile is a failed
/// row. Errors: the operator cannot be checked at all (dimensions that do not fit it).
llvm::Expected<CheckReport> checkOperator(const SpecFile &file, const OperatorInfo &op, const CheckOptions &options,
                                          llvm::function_ref<void(const CheckRow &)> onRow);

/// Warnings about arrays whose values the operator's decays do not allow: factors outside [0, 1], log-decays above 0.
std::vector<std::string> decayWarnings(const OperatorInfo &op, llvm::ArrayRef<InputUse> uses,
                                       const BoundArrays &arrays);

} // namespace lintel

#endif

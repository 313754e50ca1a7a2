// Operators in parts of one dimension (compiler/analysis/ColumnSplit.h): how many, and of which arrays.
#ifndef LINTEL_COMPILER_DRIVER_PARTS_H
#define LINTEL_COMPILER_DRIVER_PARTS_H

#include "codegen/cpu/CpuTarget.h"
#include "compiler/analysis/ColumnSplit.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Exponents.h"

namespace lintel {

struct PartsPlan {
  ColumnSplit split;
  int64_t parts = 1;
  Dimensions dimensions; // of one part; empty where there are none
  std::string whyNot;    // empty: there are some, or they were not asked for

  bool exist() const { return parts > 1; }
};

/// The parts of an operator at these sizes: of whole vectors of every target, so that a part's code is the whole's with
/// fewer vectors. Errors: a number that was asked for and cannot be.
llvm::Expected<PartsPlan> planParts(const OperatorInfo &op, const CompileOptions &options,
                                    llvm::ArrayRef<CpuTarget> targets);

/// Why states that are held with these exponents cannot be divided, if so: columns whose numbers lie beside one
/// exponent.
std::string sharedExponent(const PartsPlan &plan, const OperatorInfo &op, llvm::ArrayRef<StateExponent> exponents);

/// Writes into the description which axes are divided, once its exponents are known.
void describeParts(const PartsPlan &plan, KernelDescription &description);

/// A part's cost, in thousandths of the whole's.
int64_t partCost(double part, double whole);

/// Why an operator that was asked for in `asked` parts has none.
llvm::Error notInParts(const OperatorInfo &op, int64_t asked, const std::string &whyNot);

/// What occupies `threads` threads with so many heads (of all sequences).
PartsRequest partsFor(int64_t heads, int threads);

} // namespace lintel

#endif

// The arrays that `lintel check` runs an operator on, how they are named, and how a failure among them is made small.
#ifndef LINTEL_COMPILER_DRIVER_CHECKCASES_H
#define LINTEL_COMPILER_DRIVER_CHECKCASES_H

#include "compiler/driver/RandomArrays.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace lintel {

/// Arrays to be drawn, and whether they are run in pieces too.
struct CheckCase {
  RandomRequest arrays;
  bool splits = false; // in two at every step, and a prefill followed by single steps; of one sequence

  /// All but dimensions and types: "strong-decay B=1 T=37 H=4/2 initial lengths=0,3,1 splits seed=1004". "H=4/2/1":
  /// groups of 2 and 1 by turns.
  std::string text() const;
  static llvm::Expected<CheckCase> parse(llvm::StringRef text);
};

/// How much is tried at some sizes and types.
enum class CheckDepth { Least, Some, Full };

/// What cases are chosen by.
struct CheckSubject {
  const OperatorInfo &op;
  llvm::SmallVector<InputUse> uses;
  llvm::SmallVector<InputTraits> traits;
  bool hasExponents = false; // running ones, in which unbounded exponentials cancel
};

/// Random and hard arrays of all sizes; `base` has dimensions and types, and the seed that theirs follow from.
std::vector<CheckCase> checkCases(const CheckSubject &subject, const RandomRequest &base, CheckDepth depth);

/// One kernel on one case.
struct CheckSite {
  CheckCase one;
  std::string form;
  int64_t chunk = 0; // of a form in chunks

  /// "lintel check FILE --op NAME --dim .. --dtype .. --form .. --chunk .. --case '..'"
  std::string command(llvm::StringRef file, llvm::StringRef op, llvm::StringRef target) const;
};

/// The smallest that still fails: fewer sequences, heads and steps, smaller dimensions and chunks, plainer numbers.
/// Asks `fails` at most `patience` times.
CheckSite shrinkSite(CheckSite from, llvm::function_ref<bool(const CheckSite &)> fails, unsigned patience);

} // namespace lintel

#endif

// A failing spec made small: fewer statements, simpler terms, smaller arrays, as long as it still fails.
#ifndef LINTEL_TEST_FUZZ_SPECSHRINKER_H
#define LINTEL_TEST_FUZZ_SPECSHRINKER_H

#include "SpecRun.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace lintel::fuzz {

struct Candidate {
  std::string text;
  RunPlan plan;
};

/// `fails` says whether a candidate shows the same fault; it sees well-typed specs alone. Takes the first simpler one
/// that does, until there is none.
Candidate shrink(Candidate from, llvm::function_ref<bool(const Candidate &)> fails);

} // namespace lintel::fuzz

#endif

// One spec through every form on arrays, compared with the float64 interpreter.
#ifndef LINTEL_TEST_FUZZ_SPECRUN_H
#define LINTEL_TEST_FUZZ_SPECRUN_H

#include "compiler/driver/RandomArrays.h"
#include <optional>
#include <string>

namespace lintel::fuzz {

/// What to run. As text: "dk=3 level=code dtype=f32 form=chunkwise chunks=4,7 B=2 T=19 H=4 G=2 hard=usual initial=1
/// seed=5".
struct RunPlan {
  /// Compiled code; else the kernels are interpreted, which takes a hundredth of the time and shows what the middle end
  /// does.
  bool code = true;
  Dimensions dimensions; // may name more than the operator has
  lintel_dtype dtype = LINTEL_F32;
  std::string form;                          // this one alone; empty: all
  std::vector<int64_t> chunks{4}, blocks{7}; // of the chunkwise and the parallel form
  int64_t batch = 1, steps = 19, heads = 2, groups = 0;
  Hardness hardness = Hardness::Usual;
  bool initial = false;
  uint64_t seed = 1;

  std::string text() const;
  /// Nothing if the text is no plan.
  static std::optional<RunPlan> parse(llvm::StringRef text);
};

/// Of the dimensions given and a seed; every `codeOf`th seed goes to compiled code, 0: none.
RunPlan choosePlan(uint64_t seed, Dimensions dimensions, unsigned codeOf);

struct Failure {
  std::string kind;    // the stage, and the form: what stays the same while a spec shrinks
  std::string message; // with the values
  double excess = 0;   // error over bound, where it is a matter of numbers
};

struct Outcome {
  std::optional<Failure> failure;
  unsigned kernels = 0, runs = 0;
  unsigned marginal = 0; // runs past their bound by what random specs may
  unsigned vacuous = 0;  // arrays whose every output is zero, or not known to three digits
};

Outcome runSpec(const std::string &text, const RunPlan &plan);
/// The same in a process of its own, so that a crash or an endless loop is a failure like others.
Outcome runSpecApart(const std::string &text, const RunPlan &plan, unsigned seconds);

} // namespace lintel::fuzz

#endif

#ifndef LINTEL_TEST_UNIT_IMPORT_CASES_H
#define LINTEL_TEST_UNIT_IMPORT_CASES_H

#include "codegen/halide/HalideHeader.h"

#include <string>
#include <vector>

namespace lintel::testing {

/// A pipeline that Halide's own compiler can run as well: all shapes fixed and dense, dimension 0 innermost.
struct Program {
  std::vector<Halide::ImageParam> inputs;
  std::vector<Halide::Func> outputs;
  /// One for each output: its extents.
  std::vector<std::vector<int>> sizes;
  /// Lowered with Target::StrictFloat, so that both compilers round in the same places.
  bool strict = true;
  /// Largest allowed difference, relative to max(1, |expected|); 0 asks for the same bits.
  double tolerance = 0;
  std::vector<Halide::Param<int32_t>> counts;
  std::vector<int32_t> countValues;
};

struct ProgramCase {
  const char *name;
  Program (*build)();
};
const std::vector<ProgramCase> &programs();

/// Statements built by hand or lowered for refusal: what no runnable program reaches.
struct StatementCase {
  const char *name;
  Halide::Internal::LoweredFunc (*build)();
};
const std::vector<StatementCase> &statements();

/// `base` with the features that the import expects.
Halide::Target importTarget(Halide::Target base, bool strict);
/// A CPU that is the same on every machine, for text that is compared.
Halide::Target fixedTarget();
Halide::Module lower(const Program &program, const Halide::Target &base);

} // namespace lintel::testing

#endif

//===- ChildMeasurer.h - each candidate in a process of its own -----------===//
//
// Compiled code under test may crash or hang, and so may the compiler on a schedule that nobody tried before. Each
// candidate is compiled, checked and timed in a child process, which waits between its turns; what goes wrong there is
// the trial's outcome, and the search goes on. What candidates share must be made before: children start as copies.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_TUNE_CHILDMEASURER_H
#define LINTEL_CODEGEN_TUNE_CHILDMEASURER_H

#include "codegen/tune/ChildProcess.h"
#include "codegen/tune/Measure.h"
#include <vector>

namespace lintel {

class ChildMeasurer : public Measurer {
public:
  /// A candidate has failed that takes more than `patience` seconds to be compiled and checked, or for one sample, and
  /// more than ten times what the first candidate took, which may take what it likes.
  ChildMeasurer(Measurer &inner, double patience) : inner(inner), patience(patience) {}

  Prepared prepare(const Candidate &candidate) override;
  llvm::Expected<double> time(unsigned id) override;
  void release(unsigned id) override { children[id].reset(); }
  double now() override { return inner.now(); }

private:
  Measurer &inner;
  const double patience;
  double longestPrepare = 0, longestTime = 0; // 0: not known yet
  std::vector<std::unique_ptr<ChildProcess>> children;
};

} // namespace lintel
#endif

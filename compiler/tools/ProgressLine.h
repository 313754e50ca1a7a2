// A long run's progress as one line on a terminal.
#ifndef LINTEL_COMPILER_TOOLS_PROGRESSLINE_H
#define LINTEL_COMPILER_TOOLS_PROGRESSLINE_H

#include "compiler/driver/Progress.h"
#include <chrono>
#include <string>

namespace lintel::tools {

/// Writes to the standard error, and only where that is a terminal: the line is rewritten in place, and gone when this
/// ends. Call clear() before anything else is printed, since the output may be the same terminal.
class ProgressLine : public Progress {
public:
  ProgressLine();
  ~ProgressLine() override { clear(); }
  ProgressLine(const ProgressLine &) = delete;

  void phase(const llvm::Twine &text) override;
  void count(int64_t done, int64_t all, llvm::StringRef what) override;
  void clear();

private:
  void show(const std::string &text);

  using Clock = std::chrono::steady_clock;
  bool isTerminal;
  std::string current;    // the phase
  unsigned width = 0;     // of what is on the line now
  Clock::time_point last; // shown
};

} // namespace lintel::tools

#endif

#include "compiler/tools/ProgressLine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

ProgressLine::ProgressLine() : isTerminal(sys::Process::StandardErrIsDisplayed()) {}

void ProgressLine::phase(const Twine &text) {
  if (!isTerminal) return;
  current = text.str();
  show(current);
}

void ProgressLine::count(int64_t done, int64_t all, StringRef what) {
  // As often as an eye can follow: terminals are slower than the work.
  if (!isTerminal || Clock::now() - last < std::chrono::milliseconds(100)) return;
  show((current + ": " + Twine(done) + " of " + Twine(all) + " " + what).str());
}

void ProgressLine::show(const std::string &text) {
  // A line that wraps could not be taken back. Names are ASCII; what else a path holds is cut anywhere.
  winsize size{};
  bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0; // LLVM's looks at COLUMNS alone
  std::string line = text.substr(0, (known ? size.ws_col : 80) - 1);
  for (char &c : line)
    if (!isPrint(c)) c = '?';
  std::string rest(width > line.size() ? width - line.size() : 0, ' ');
  // Blanks and not an escape sequence: every terminal knows them.
  errs() << '\r' << line << rest << std::string(rest.size(), '\b');
  errs().flush();
  width = line.size();
  last = Clock::now();
}

void ProgressLine::clear() {
  if (!width) return;
  errs() << '\r' << std::string(width, ' ') << '\r';
  errs().flush();
  width = 0;
}

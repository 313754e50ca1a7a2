#include "codegen/schedule/Autoscheduler.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace lintel;

static constexpr StringLiteral names[] = {"mullapudi2016", "adams2019"};

ArrayRef<StringLiteral> lintel::autoschedulers() { return names; }

std::string lintel::autoschedulerText(StringRef name) { return ("*: halide:" + name + "\n").str(); }

std::optional<std::string> lintel::autoschedulerOf(StringRef text, StringRef file, std::string &error) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  std::string found;
  unsigned others = 0;
  for (auto [n, line] : enumerate(lines)) {
    StringRef content = line.split("//").first.trim();
    if (content.empty()) continue;
    auto [stage, directive] = content.split(':');
    if (stage.trim() != "*") {
      ++others;
      continue;
    }
    StringRef name = directive.trim();
    if (!name.consume_front("halide:") || !is_contained(names, name) || !found.empty())
      return error = (file + ":" + Twine(n + 1) + ": expected one line '*: halide:NAME' with a name of " +
                      llvm::join(autoschedulers(), " or ") + ", found '" + content + "'")
                         .str(),
             std::nullopt;
    found = name.str();
  }
  if (!found.empty() && others)
    return error = (file + ": expected no schedules of stages beside '*: halide:" + found + "', found " +
                    Twine(others) + "; leave out one or the other")
                       .str(),
           std::nullopt;
  return found;
}

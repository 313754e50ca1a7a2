#include "compiler/frontend/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"
#include <algorithm>
#include <numeric>

using namespace lintel;
using namespace lintel::frontend;

namespace {
struct Entry {
  const char *name;
  Severity severity;
  const char *format;
};
constexpr Entry entries[] = {
#define DIAG(name, severity, format) {#name, Severity::severity, format},
#include "compiler/frontend/Diagnostics.def"
#undef DIAG
};
} // namespace

llvm::StringRef diag::name(Id id) { return entries[id].name; }
Severity diag::severity(Id id) { return entries[id].severity; }
const char *diag::format(Id id) { return entries[id].format; }

Diagnostic &Diagnostics::add(diag::Id id, Span span, std::string message) {
  bool isError = diag::severity(id) == Severity::Error;
  for (const Diagnostic &other : kept)
    if (other.id == id && other.span.begin == span.begin && other.message == message) return dropped;
  if (++(isError ? errors : warnings) > maxErrors) return dropped;
  kept.push_back({id, span, std::move(message), {}});
  return kept.back();
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<size_t> order(kept.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::make_pair(kept[a].span.begin, a) < std::make_pair(kept[b].span.begin, b);
  });
  std::vector<Diagnostic> result;
  for (size_t i : order) result.push_back(kept[i]);
  return result;
}

void Diagnostics::print(llvm::raw_ostream &os) const {
  for (const Diagnostic &diagnostic : sorted()) print(os, diagnostic);
  if (errors > maxErrors) os << source.name() << ": error: " << errors - maxErrors << " more errors are not shown\n";
}

std::string Diagnostics::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

std::string Diagnostics::str(Span inside) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Diagnostic &diagnostic : sorted())
    if (diagnostic.span.begin >= inside.begin && diagnostic.span.begin < inside.end) print(os, diagnostic);
  return text;
}

/// UTF-8 sequences; a byte that belongs to none counts as one.
static void forCharacters(llvm::StringRef text, llvm::function_ref<void(llvm::StringRef)> visit) {
  while (!text.empty()) {
    size_t length = 1;
    while (length < text.size() && Source::isContinuation(text[length])) ++length;
    visit(text.take_front(length));
    text = text.drop_front(length);
  }
}

/// Of a terminal: two for a wide character, none for an accent that combines.
static unsigned columns(llvm::StringRef character) {
  int width = llvm::sys::unicode::columnWidthUTF8(character);
  return width < 0 ? 1 : static_cast<unsigned>(width);
}

void Diagnostics::print(llvm::raw_ostream &os, const Diagnostic &diagnostic) const {
  Place place = source.place(diagnostic.span.begin);
  os << source.name() << ':' << place.line << ':' << place.column << ": "
     << (diagnostic.severity() == Severity::Error ? "error" : "warning") << ": " << diagnostic.message << '\n';

  // A very long line is cut to a window around the place.
  constexpr size_t before = 100, after = 60;
  llvm::StringRef line = source.line(place.line);
  size_t at = std::min<size_t>(diagnostic.span.begin - std::min(diagnostic.span.begin, source.lineStart(place.line)),
                               line.size());
  size_t from = at > before ? at - before : 0;
  while (from < at && Source::isContinuation(line[from])) ++from;
  size_t to = std::min(line.size(), at + after);
  while (to < line.size() && Source::isContinuation(line[to])) ++to;
  llvm::StringRef left = line.slice(from, at), right = line.slice(at, to);
  auto printBytes = [&](llvm::StringRef text) {
    for (char c : text) os << (c == '\t' || static_cast<unsigned char>(c) >= 0x20 ? c : '?');
  };
  os << "  " << (from ? "..." : "");
  printBytes(left);
  printBytes(right);
  os << (to < line.size() ? "..." : "") << "\n  " << (from ? "   " : "");
  forCharacters(left, [&](llvm::StringRef c) { c == "\t" ? os << c : os.indent(columns(c)); });
  os << '^';
  unsigned under = 0;
  forCharacters(right.take_front(diagnostic.span.end - diagnostic.span.begin),
                [&](llvm::StringRef c) { under += columns(c); });
  for (unsigned i = 1; i < under; ++i) os << '~';
  os << '\n';
  if (!diagnostic.hintText.empty()) os << "hint: " << diagnostic.hintText << '\n';
}

llvm::StringRef lintel::frontend::nearest(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  // One slip in a short name, about a third of a longer one.
  unsigned limit = name.size() < 3 ? 1 : std::min<size_t>(1 + name.size() / 4, 3);
  llvm::StringRef best;
  unsigned bestDistance = limit + 1;
  if (name.size() > 64) return best;
  for (llvm::StringRef candidate : candidates) {
    unsigned distance = name.equals_insensitive(candidate) ? 0 : name.edit_distance(candidate, true, bestDistance);
    // A name replaced as a whole is not a slip.
    if (distance < bestDistance && distance < std::max(name.size(), candidate.size())) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

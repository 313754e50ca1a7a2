// What is wrong with a file: collected, never thrown, and printed together in the order of the text.
#ifndef LINTEL_FRONTEND_DIAGNOSTICS_H
#define LINTEL_FRONTEND_DIAGNOSTICS_H

#include "compiler/frontend/Source.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace lintel::frontend {

enum class Severity : uint8_t { Error, Warning };

namespace diag {
enum Id : uint8_t {
#define DIAG(name, severity, format) name,
#include "compiler/frontend/Diagnostics.def"
#undef DIAG
  count
};
/// The name in Diagnostics.def, for tests.
llvm::StringRef name(Id id);
Severity severity(Id id);
const char *format(Id id);
} // namespace diag

struct Diagnostic {
  diag::Id id;
  Span span;
  std::string message;
  std::string hintText; // empty where there is none

  Diagnostic &hint(const llvm::Twine &text) {
    hintText = text.str();
    return *this;
  }
  Severity severity() const { return diag::severity(id); }
};

class Diagnostics {
public:
  /// Further errors are counted and not kept; the same for warnings.
  static constexpr unsigned maxErrors = 50;

  explicit Diagnostics(const Source &source) : source(source) {}

  /// The same message at the same place is kept once. The result lives until the next report.
  template <typename... Args> Diagnostic &report(diag::Id id, Span span, const Args &...args) {
    if constexpr (sizeof...(Args) == 0) return add(id, span, diag::format(id));
    else return add(id, span, llvm::formatv(diag::format(id), args...).str());
  }

  bool hasErrors() const { return errors != 0; }
  unsigned numErrors() const { return errors; }
  /// In the order of the text.
  std::vector<Diagnostic> sorted() const;

  /// For each, `file:line:col: error: message`, the source line, a caret with an underline, and `hint: ...` where there
  /// is one.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
  /// Those alone that begin inside.
  std::string str(Span inside) const;

private:
  Diagnostic &add(diag::Id id, Span span, std::string message);
  void print(llvm::raw_ostream &os, const Diagnostic &diagnostic) const;

  const Source &source;
  std::vector<Diagnostic> kept;
  Diagnostic dropped{};
  unsigned errors = 0, warnings = 0;
};

/// The candidate nearest to `name` by edit distance, or an empty string where none is near.
llvm::StringRef nearest(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_DIAGNOSTICS_H

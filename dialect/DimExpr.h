// A dimension: a polynomial with positive integer coefficients over dimension names, such as `2*m + dk*dk + 1`.
//
// Inputs give names and literals, `concat` adds, `flatten` and `outer` multiply, so every size the language can express
// is of this kind, and two sizes are equal for all bindings exactly when their canonical forms are equal. The
// frontend's shapes and the dialect's types both use it; it depends on LLVM's ADT and Support alone.
//
// The default value, and any result that would leave the limits below, is the invalid dimension: it equals only itself,
// and arithmetic keeps it. Callers report it once, where it arises.
#ifndef LINTEL_DIALECT_DIMEXPR_H
#define LINTEL_DIALECT_DIMEXPR_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lintel {

class DimExpr {
public:
  static constexpr unsigned maxTerms = 64;
  static constexpr unsigned maxDegree = 16;

  DimExpr() = default;
  /// A size that is known. Invalid unless `value` > 0.
  static DimExpr constant(int64_t value);
  /// A size bound later. `name` must be an ASCII identifier.
  static DimExpr symbol(llvm::StringRef name);
  /// Reads what print writes: sums of products of names and positive integers, blanks ignored. On failure returns
  /// nothing and, where `error` is given, says why.
  static std::optional<DimExpr> parse(llvm::StringRef text, std::string *error = nullptr);

  bool isValid() const { return !terms.empty(); }
  bool isConstant() const { return terms.size() == 1 && terms[0].names.empty(); }
  /// The value of a constant; nothing for any other dimension.
  std::optional<int64_t> getConstant() const;
  /// Whether this is one name alone.
  bool isSymbol() const { return terms.size() == 1 && terms[0].coefficient == 1 && terms[0].names.size() == 1; }
  bool isOne() const { return isConstant() && terms[0].coefficient == 1; }
  /// The name of a symbol; asserts isSymbol().
  llvm::StringRef getSymbol() const;
  /// Adds every name in this dimension to `names`, each once, in the order of printing.
  void collectSymbols(llvm::SmallVectorImpl<std::string> &names) const;

  DimExpr operator+(const DimExpr &other) const;
  DimExpr operator*(const DimExpr &other) const;
  bool operator==(const DimExpr &other) const { return terms == other.terms; }
  bool operator!=(const DimExpr &other) const { return !(*this == other); }

  /// The value under `binding`; nothing where a name is unbound or bound to less than 1, or where int64 overflows.
  std::optional<int64_t> evaluate(const llvm::StringMap<int64_t> &binding) const;
  std::optional<int64_t> evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> binding) const;
  /// Puts dimensions in the place of the names that `binding` knows and leaves the others.
  DimExpr substitute(llvm::function_ref<std::optional<DimExpr>(llvm::StringRef)> binding) const;

  /// Takes from both what they have in common, so that a - b stays the same; either may become the empty sum, which is
  /// invalid.
  static void cancel(DimExpr &a, DimExpr &b);

  /// Canonical: terms by degree, then by name, the constant last; `2*m + dk*dk + 1`. The invalid dimension prints `?`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

  friend llvm::hash_code hash_value(const DimExpr &dim);

private:
  struct Term {
    std::vector<std::string> names; // sorted; repeated for powers
    int64_t coefficient = 1;        // > 0
    bool operator==(const Term &other) const { return coefficient == other.coefficient && names == other.names; }
  };
  /// Adds a term, keeping the canonical order. False where a limit is passed.
  bool addTerm(Term term);

  std::vector<Term> terms; // in canonical order; empty only for the invalid dimension
};

llvm::hash_code hash_value(const DimExpr &dim);
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const DimExpr &dim) {
  dim.print(os);
  return os;
}

} // namespace lintel

#endif // LINTEL_DIALECT_DIMEXPR_H

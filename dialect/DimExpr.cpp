#include "dialect/DimExpr.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cassert>

using namespace lintel;

DimExpr DimExpr::constant(int64_t value) {
  DimExpr result;
  if (value > 0) result.terms.push_back({{}, value});
  return result;
}

DimExpr DimExpr::symbol(llvm::StringRef name) {
  assert(!name.empty() && "a dimension needs a name");
  DimExpr result;
  result.terms.push_back({{name.str()}, 1});
  return result;
}

std::optional<int64_t> DimExpr::getConstant() const {
  if (!isConstant()) return std::nullopt;
  return terms[0].coefficient;
}

llvm::StringRef DimExpr::getSymbol() const {
  assert(isSymbol() && "not a single name");
  return terms[0].names[0];
}

void DimExpr::collectSymbols(llvm::SmallVectorImpl<std::string> &names) const {
  for (const Term &term : terms)
    for (const std::string &name : term.names)
      if (!llvm::is_contained(names, name)) names.push_back(name);
}

// By degree, then by names; the constant comes last, as one writes it.
static bool termLess(const std::vector<std::string> &a, const std::vector<std::string> &b) {
  if (a.empty() || b.empty()) return !a.empty() && b.empty();
  if (a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

bool DimExpr::addTerm(Term term) {
  if (term.names.size() > maxDegree) return false;
  auto at = std::lower_bound(terms.begin(), terms.end(), term,
                             [](const Term &a, const Term &b) { return termLess(a.names, b.names); });
  if (at != terms.end() && at->names == term.names)
    return !llvm::AddOverflow(at->coefficient, term.coefficient, at->coefficient);
  if (terms.size() == maxTerms) return false;
  terms.insert(at, std::move(term));
  return true;
}

DimExpr DimExpr::operator+(const DimExpr &other) const {
  if (!isValid() || !other.isValid()) return DimExpr();
  DimExpr result = *this;
  for (const Term &term : other.terms)
    if (!result.addTerm(term)) return DimExpr();
  return result;
}

DimExpr DimExpr::operator*(const DimExpr &other) const {
  DimExpr result;
  for (const Term &a : terms)
    for (const Term &b : other.terms) {
      Term product;
      if (llvm::MulOverflow(a.coefficient, b.coefficient, product.coefficient)) return DimExpr();
      product.names.resize(a.names.size() + b.names.size());
      std::merge(a.names.begin(), a.names.end(), b.names.begin(), b.names.end(), product.names.begin());
      if (!result.addTerm(std::move(product))) return DimExpr();
    }
  return result;
}

std::optional<int64_t> DimExpr::evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> binding) const {
  if (!isValid()) return std::nullopt;
  int64_t sum = 0;
  for (const Term &term : terms) {
    int64_t product = term.coefficient;
    for (const std::string &name : term.names) {
      std::optional<int64_t> value = binding(name);
      if (!value || *value < 1 || llvm::MulOverflow(product, *value, product)) return std::nullopt;
    }
    if (llvm::AddOverflow(sum, product, sum)) return std::nullopt;
  }
  return sum;
}

void DimExpr::cancel(DimExpr &a, DimExpr &b) {
  for (Term &x : a.terms)
    for (Term &y : b.terms)
      if (x.names == y.names) {
        int64_t common = std::min(x.coefficient, y.coefficient);
        x.coefficient -= common;
        y.coefficient -= common;
      }
  auto isZero = [](const Term &term) { return term.coefficient == 0; };
  llvm::erase_if(a.terms, isZero);
  llvm::erase_if(b.terms, isZero);
}

std::optional<int64_t> DimExpr::evaluate(const llvm::StringMap<int64_t> &binding) const {
  return evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
    auto it = binding.find(name);
    if (it == binding.end()) return std::nullopt;
    return it->second;
  });
}

DimExpr DimExpr::substitute(llvm::function_ref<std::optional<DimExpr>(llvm::StringRef)> binding) const {
  DimExpr sum;
  for (const auto &[index, term] : llvm::enumerate(terms)) {
    DimExpr product = constant(term.coefficient);
    for (const std::string &name : term.names) {
      std::optional<DimExpr> value = binding(name);
      product = product * (value ? *value : symbol(name));
    }
    sum = index == 0 ? product : sum + product;
  }
  return sum;
}

void DimExpr::print(llvm::raw_ostream &os) const {
  if (!isValid()) {
    os << '?';
    return;
  }
  llvm::interleave(
      terms, os,
      [&](const Term &term) {
        if (term.coefficient != 1 || term.names.empty()) os << term.coefficient << (term.names.empty() ? "" : "*");
        llvm::interleave(term.names, os, "*");
      },
      " + ");
}

std::string DimExpr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

std::optional<DimExpr> DimExpr::parse(llvm::StringRef text, std::string *error) {
  auto fail = [&](const llvm::Twine &why) -> std::optional<DimExpr> {
    if (error) *error = ("in dimension '" + text + "': " + why).str();
    return std::nullopt;
  };
  llvm::StringRef rest = text;
  DimExpr sum, product;
  bool first = true;
  while (true) {
    rest = rest.ltrim();
    DimExpr factor;
    if (!rest.empty() && llvm::isDigit(rest.front())) {
      int64_t value;
      if (rest.consumeInteger(10, value)) return fail("the number does not fit 64 bits");
      if (value < 1) return fail("expected a positive integer, found " + llvm::Twine(value));
      factor = constant(value);
    } else {
      auto isHead = [](char c) { return llvm::isAlpha(c) || c == '_'; };
      if (rest.empty() || !isHead(rest.front()))
        return fail("expected a name or a positive integer" +
                    (rest.empty() ? llvm::Twine(" at the end") : ", found '" + rest.take_front(1) + "'"));
      llvm::StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      rest = rest.drop_front(name.size());
      factor = symbol(name);
    }
    product = product.isValid() ? product * factor : factor;
    if (!product.isValid()) return fail("the dimension is too large");
    rest = rest.ltrim();
    if (rest.consume_front("*")) continue;
    sum = first ? product : sum + product;
    if (!sum.isValid()) return fail("the dimension is too large");
    if (rest.empty()) return sum;
    if (!rest.consume_front("+")) return fail("expected '+', '*' or the end, found '" + rest.take_front(1) + "'");
    first = false;
    product = DimExpr();
  }
}

llvm::hash_code lintel::hash_value(const DimExpr &dim) {
  llvm::hash_code hash = llvm::hash_value(dim.terms.size());
  for (const DimExpr::Term &term : dim.terms) {
    hash = llvm::hash_combine(hash, term.coefficient);
    for (const std::string &name : term.names) hash = llvm::hash_combine(hash, name);
  }
  return hash;
}

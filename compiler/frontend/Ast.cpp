#include "compiler/frontend/Ast.h"

#include "llvm/ADT/StringExtras.h"

using namespace lintel;
using namespace lintel::frontend;

std::string ValueType::str() const {
  if (kind == Error) return "a value with an error";
  std::string text = kind == Condition ? "condition " : "";
  text += rank() == 0 ? "scalar" : rank() == 1 ? "vector [" : "matrix [";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  if (rank() != 0) os << ']';
  return text;
}

llvm::StringRef lintel::frontend::spelling(Operation operation) {
  static constexpr const char *texts[] = {"",  "-",  "not", "+",  "-",  "*",  "/",   "@", "^",
                                          "<", "<=", ">",   ">=", "==", "!=", "and", "or"};
  return texts[unsigned(operation)];
}

llvm::StringRef lintel::frontend::keyword(StatementKind kind) {
  static constexpr const char *texts[] = {
      "token",     "head",      "shared", "state",  "output",        "let",   "",          "feature",
      "feature_q", "feature_k", "scale",  "causal", "bidirectional", "decay", "normalize", "weights"};
  return texts[unsigned(kind)];
}

llvm::StringRef Symbol::describe() const {
  static constexpr const char *texts[] = {
      "a token input",   "a head input", "a shared input", "a state",      "an output",  "a 'let'",    "a parameter",
      "the denominator", "a dimension",  "the position",   "the distance", "a constant", "a constant", "unknown"};
  return texts[kind];
}

const Operator *File::find(llvm::StringRef name) const {
  for (const auto &op : operators)
    if (op->name == name) return op.get();
  return nullptr;
}

Expr *File::newExpr(ExprKind kind, Span span) {
  exprs.push_back(std::make_unique<Expr>());
  exprs.back()->kind = kind;
  exprs.back()->span = exprs.back()->at = span;
  return exprs.back().get();
}

// Names, shapes and affinity of expressions; Sema's inner part.
#ifndef LINTEL_FRONTEND_EXPRCHECKER_H
#define LINTEL_FRONTEND_EXPRCHECKER_H

#include "compiler/frontend/Ast.h"
#include "compiler/frontend/Builtins.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"

namespace lintel::frontend {

class ExprChecker {
public:
  ExprChecker(File &file, Operator &op) : source(file.source), diagnostics(file.diagnostics), op(op) {}

  /// Types the tree below `expr` and reports what is wrong with it.
  void check(Expr &expr);
  /// As check, and the value must be a number of at most rank `maxRank`; `what` names it in messages.
  void checkNumber(Expr &expr, const llvm::Twine &what);

  /// All names of the operator but parameters. A let is in it from the start and `ready` once its value is known.
  llvm::StringMap<Symbol *> names;
  llvm::SmallPtrSet<const Symbol *, 16> ready;
  /// The parameters in scope, which hide other names.
  llvm::SmallVector<Symbol *, 2> locals;
  bool inWeights = false;
  bool inKeyPosition = false; // the position less the distance

  Symbol *newSymbol(Symbol::Kind kind, llvm::StringRef name, Span span, ValueType type = {});
  Symbol *lookUp(llvm::StringRef name) const;

  /// Whether a value of shape `from` may stand where `to` is wanted: the same, or a scalar.
  static bool fits(const ValueType &from, const ValueType &to) {
    return from.isError() || to.isError() || from.rank() == 0 || from.shape == to.shape;
  }
  /// The shape of two broadcast together, or nothing.
  static std::optional<Shape> broadcast(const Shape &a, const Shape &b);
  /// The text of a term for messages, cut where it is long.
  std::string quote(const Expr &expr) const;

private:
  void checkName(Expr &expr);
  void checkUnary(Expr &expr);
  void checkBinary(Expr &expr);
  void checkMatMul(Expr &expr);
  void checkIndex(Expr &expr);
  void checkCall(Expr &expr);
  void checkOverVector(Expr &expr);
  void checkWhere(Expr &expr);
  void unknownFunction(Expr &expr);

  bool wantNumber(const Expr &expr, const llvm::Twine &what);
  bool wantCondition(const Expr &expr, const llvm::Twine &what);
  bool wantRank(const Expr &expr, unsigned rank, const llvm::Twine &what, const llvm::Twine &hint = "");
  /// Gives `expr` the arguments' common shape, or reports.
  void setBroadcast(Expr &expr, llvm::ArrayRef<Expr *> args, ValueType::Kind kind, llvm::StringRef what);
  void setVector(Expr &expr, DimExpr size);

  void flow(Expr &expr);
  void nonlinear(Expr &expr, const Expr *culprit);
  void product(Expr &expr);

  const Source &source;
  Diagnostics &diagnostics;
  Operator &op;
};

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_EXPRCHECKER_H

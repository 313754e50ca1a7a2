// What a parsed file means: names, shapes, the form of each operator, and whether each update is affine in the states.
//
// Every expression gets its type, each name its symbol, and each operator its inputs, states, dimensions and form. The
// tree itself is not changed. Errors are reported to the file's diagnostics, all of them; a node with an error has the
// Error type, which agrees with everything, so that one mistake makes one message.
#ifndef LINTEL_FRONTEND_SEMA_H
#define LINTEL_FRONTEND_SEMA_H

#include "compiler/frontend/Ast.h"

namespace lintel::frontend {

void checkFile(File &file);

/// A constant index made of integers and dimensions: a polynomial as the difference of two with positive coefficients,
/// of which either may be absent (invalid) and no term is in both.
struct IndexValue {
  DimExpr plus, minus;
  bool isZero() const { return !plus.isValid() && !minus.isValid(); }
};
/// Nothing where `expr` is not such an index; `culprit`, if given, is then the part that is not.
std::optional<IndexValue> evaluateIndex(const Expr &expr, const Expr **culprit = nullptr);

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_SEMA_H

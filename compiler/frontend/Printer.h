// Syntax back to text: the canonical form, which parses to the same tree. Comments are not part of it.
#ifndef LINTEL_FRONTEND_PRINTER_H
#define LINTEL_FRONTEND_PRINTER_H

#include "compiler/frontend/Ast.h"
#include "llvm/Support/raw_ostream.h"

namespace lintel::frontend {

/// The tree must have parsed without errors.
void printFile(const File &file, llvm::raw_ostream &os);
void printOperator(const Operator &op, llvm::raw_ostream &os);
/// With the fewest parentheses.
void printExpr(const Expr &expr, llvm::raw_ostream &os);
/// The shortest text that reads as the same double; `number` is finite and not negative.
std::string printNumber(double number);

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_PRINTER_H

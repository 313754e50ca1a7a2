#include "compiler/frontend/Printer.h"

#include "llvm/ADT/STLExtras.h"
#include <cstdio>
#include <cstdlib>

using namespace lintel;
using namespace lintel::frontend;

std::string lintel::frontend::printNumber(double number) {
  char buffer[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, number);
    if (std::strtod(buffer, nullptr) == number) break;
  }
  std::string text = buffer;
  // 1e+02 is 100 and 1e-06 is 1e-6.
  if (number >= 1 && number < 1e15 && number == double(int64_t(number))) return std::to_string(int64_t(number));
  size_t e = text.find('e');
  if (e == std::string::npos) return text;
  size_t digit = e + 2;
  while (digit + 1 < text.size() && text[digit] == '0') text.erase(digit, 1);
  if (text[e + 1] == '+') text.erase(e + 1, 1);
  return text;
}

// As in the parser: how strongly an expression holds together.
namespace {
enum Strength : unsigned {
  OrStrength = 1,
  AndStrength,
  NotStrength,
  Comparison,
  Sum,
  Product,
  Minus,
  PowerStrength,
  Postfix
};
}

static unsigned strength(const Expr &expr) {
  if (expr.kind == ExprKind::Unary) return expr.operation == Operation::Not ? NotStrength : Minus;
  if (expr.kind != ExprKind::Binary) return Postfix;
  switch (expr.operation) {
  case Operation::Or:
    return OrStrength;
  case Operation::And:
    return AndStrength;
  case Operation::Add:
  case Operation::Subtract:
    return Sum;
  case Operation::Multiply:
  case Operation::Divide:
  case Operation::MatMul:
    return Product;
  case Operation::Power:
    return PowerStrength;
  default:
    return Comparison;
  }
}

static void printOperand(const Expr &expr, unsigned least, llvm::raw_ostream &os) {
  bool parens = strength(expr) < least;
  if (parens) os << '(';
  printExpr(expr, os);
  if (parens) os << ')';
}

void lintel::frontend::printExpr(const Expr &expr, llvm::raw_ostream &os) {
  switch (expr.kind) {
  case ExprKind::Error:
    os << "<error>";
    return;
  case ExprKind::Number:
    os << printNumber(expr.number);
    return;
  case ExprKind::Name:
    os << expr.name;
    return;
  case ExprKind::Unary: {
    bool isNot = expr.operation == Operation::Not;
    os << (isNot ? "not " : "-");
    printOperand(*expr.args[0], isNot ? NotStrength : Minus, os);
    return;
  }
  case ExprKind::Binary: {
    unsigned own = strength(expr);
    // Powers group to the right, and their exponent takes a sign; comparisons group to neither side.
    bool isPower = expr.operation == Operation::Power;
    printOperand(*expr.args[0], isPower || own == Comparison ? own + 1 : own, os);
    if (isPower) os << '^';
    else os << ' ' << spelling(expr.operation) << ' ';
    printOperand(*expr.args[1], isPower ? unsigned(Minus) : own + 1, os);
    return;
  }
  case ExprKind::Call:
    os << expr.name << '(';
    llvm::interleaveComma(expr.args, os, [&](const Expr *arg) { printExpr(*arg, os); });
    os << ')';
    return;
  case ExprKind::Index:
    printOperand(*expr.args[0], Postfix, os);
    os << '[';
    printExpr(*expr.args[1], os);
    os << ']';
    return;
  }
}

static void printStatement(const Statement &statement, llvm::raw_ostream &os) {
  os << "  ";
  switch (statement.kind) {
  case StatementKind::Token:
  case StatementKind::Head:
  case StatementKind::Shared:
  case StatementKind::State:
  case StatementKind::Output:
    os << keyword(statement.kind) << ' ';
    llvm::interleaveComma(statement.declarators, os, [&](const Declarator &declarator) {
      os << declarator.name;
      if (declarator.dims.empty()) return;
      os << '[';
      llvm::interleaveComma(declarator.dims, os, [&](const DimSyntax &dim) { os << dim.value; });
      os << ']';
    });
    break;
  case StatementKind::Let:
    os << "let ";
    [[fallthrough]];
  case StatementKind::Assign:
    os << statement.name << " = ";
    printExpr(*statement.value, os);
    break;
  case StatementKind::Feature:
  case StatementKind::FeatureQ:
  case StatementKind::FeatureK:
  case StatementKind::Weights:
    os << keyword(statement.kind) << '(';
    llvm::interleaveComma(statement.parameters, os, [&](const Parameter &parameter) { os << parameter.name; });
    os << ") = ";
    printExpr(*statement.value, os);
    break;
  default:
    os << keyword(statement.kind);
    if (statement.value) {
      os << ' ';
      printExpr(*statement.value, os);
    }
    break;
  }
  os << '\n';
}

void lintel::frontend::printOperator(const Operator &op, llvm::raw_ostream &os) {
  os << "attention " << op.name << " {\n";
  for (const auto &statement : op.statements) printStatement(*statement, os);
  os << "}\n";
}

void lintel::frontend::printFile(const File &file, llvm::raw_ostream &os) {
  llvm::interleave(
      file.operators, os, [&](const auto &op) { printOperator(*op, os); }, "\n");
}

// The syntax of a file, with what Sema finds out about it written beside each node.
//
// The parser fills the first part of each struct and Sema the second; a file that did not parse still has a tree, with
// Error nodes where something is missing. Names point into the Source, which the File owns, so a File never moves.
#ifndef LINTEL_FRONTEND_AST_H
#define LINTEL_FRONTEND_AST_H

#include "compiler/frontend/Diagnostics.h"
#include "compiler/frontend/Source.h"
#include "dialect/DimExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <string>
#include <vector>

namespace lintel::frontend {

struct Builtin;
struct Symbol;

/// Shape of a value: [] a scalar, [n] a vector, [m, n] a matrix (row-major, the first axis is the feature axis).
using Shape = llvm::SmallVector<DimExpr, 2>;

struct ValueType {
  enum Kind : uint8_t { Error, Number, Condition };
  Kind kind = Error; // Error: reported already, agrees with everything
  Shape shape;

  bool isError() const { return kind == Error; }
  unsigned rank() const { return shape.size(); }
  static ValueType number(Shape shape = {}) { return {Number, std::move(shape)}; }
  static ValueType condition(Shape shape = {}) { return {Condition, std::move(shape)}; }
  /// `scalar`, `vector [dk]` or `matrix [dk, dv]`.
  std::string str() const;
};

enum class ExprKind : uint8_t { Error, Number, Name, Unary, Binary, Call, Index };

enum class Operation : uint8_t {
  None,
  Negate,
  Not,
  Add,
  Subtract,
  Multiply,
  Divide,
  MatMul,
  Power,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  And,
  Or,
};
/// As it is written: `+`, `and`.
llvm::StringRef spelling(Operation operation);

/// How a value depends on the states.
enum class Degree : uint8_t { Free, Affine, Nonlinear };

struct Expr {
  ExprKind kind = ExprKind::Error;
  Operation operation = Operation::None;
  Span span;
  Span at;                           // the operator, or the name of a function
  llvm::StringRef name;              // of a Name or a Call
  double number = 0;                 // of a Number; never negative
  llvm::SmallVector<Expr *, 2> args; // operands; of an Index the value and the index
  unsigned height = 1;

  // From Sema.
  ValueType type;
  const Symbol *symbol = nullptr;   // of a Name
  const Builtin *builtin = nullptr; // of a Call
  bool varies = false;              // differs from token to token
  Degree degree = Degree::Free;
  const Expr *culprit = nullptr; // the term that makes it Nonlinear
};

/// `dk` or `64` in `q[dk, 64]`.
struct DimSyntax {
  Span span;
  DimExpr value;
};

struct Declarator {
  llvm::StringRef name;
  Span span;
  llvm::SmallVector<DimSyntax, 2> dims;
  bool hasError = false; // its dimensions did not parse
};

struct Parameter {
  llvm::StringRef name;
  Span span;
};

enum class StatementKind : uint8_t {
  Token,
  Head,
  Shared,
  State,
  Output,
  Let,
  Assign,
  Feature,
  FeatureQ,
  FeatureK,
  Scale,
  Causal,
  Bidirectional,
  Decay,
  Normalize,
  Weights,
};
/// The keyword; empty for Assign.
llvm::StringRef keyword(StatementKind kind);

struct Statement {
  StatementKind kind;
  Span span;            // all of it
  Span at;              // the keyword or the assigned name
  llvm::StringRef name; // of a Let or an Assign
  Span nameSpan;
  std::vector<Declarator> declarators; // of Token, Head, Shared, State, Output
  std::vector<Parameter> parameters;   // of Feature*, Weights
  Expr *value = nullptr;               // null for Causal, Bidirectional, a bare Normalize and declarations

  // From Sema: the symbols that the declarators or the parameters stand for, or the Let's, or the state or output
  // assigned to (none for `out`), or the `den` of Normalize.
  llvm::SmallVector<Symbol *, 2> symbols;
};

struct Symbol {
  enum Kind : uint8_t {
    Token,
    Head,
    Shared,
    State,
    Output,
    Let,
    Parameter,
    Denominator,
    Dimension,
    Position,
    Distance,
    Pi,
    Inf,
    Bad
  };
  Kind kind;
  llvm::StringRef name;
  Span span;
  ValueType type;
  const Statement *statement = nullptr; // of a Let
  bool varies = false;
  Degree degree = Degree::Free;
  const Expr *culprit = nullptr;
  mutable bool isRead = false, isAssigned = false;

  bool isInput() const { return kind == Token || kind == Head || kind == Shared; }
  /// `a token input`, `a state`, ... for messages.
  llvm::StringRef describe() const;
};

enum class Form : uint8_t {
  Recurrence, // states and assignments
  Linear,     // the short form with features
  Weights,    // the short form with `weights`
};

/// The short form's parts; statements and symbols are null where they are absent.
struct ShortForm {
  const Symbol *q = nullptr, *k = nullptr, *v = nullptr;
  const Statement *featureQ = nullptr, *featureK = nullptr, *scale = nullptr, *decay = nullptr, *normalize = nullptr,
                  *weights = nullptr;
  bool bidirectional = false;
  ValueType phi; // of the mapped q and k
};

struct Operator {
  llvm::StringRef name;
  Span span; // the name
  std::vector<std::unique_ptr<Statement>> statements;
  bool hasSyntaxError = false;

  // From Sema.
  bool isValid = false;
  Form form = Form::Linear;
  std::vector<std::unique_ptr<Symbol>> symbols;
  std::vector<const Symbol *> inputs, states; // in the order of declaration
  std::vector<const Symbol *> outputs;        // those beside `out`
  std::vector<std::string> dimensions;        // in the order of first occurrence
  ShortForm shortForm;                        // for Linear and Weights
  ValueType out;
};

struct File {
  File(std::string text, std::string name) : source(std::move(text), std::move(name)), diagnostics(source) {}
  File(const File &) = delete;

  Source source;
  Diagnostics diagnostics;
  std::vector<std::unique_ptr<Operator>> operators;

  /// The operator of that name, or null.
  const Operator *find(llvm::StringRef name) const;
  Expr *newExpr(ExprKind kind, Span span);

private:
  std::vector<std::unique_ptr<Expr>> exprs;
};

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_AST_H

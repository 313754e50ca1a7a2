#include "compiler/frontend/ExprChecker.h"
#include "compiler/frontend/Sema.h"

#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <utility>

using namespace lintel;
using namespace lintel::frontend;

Symbol *ExprChecker::newSymbol(Symbol::Kind kind, llvm::StringRef name, Span span, ValueType type) {
  op.symbols.push_back(std::make_unique<Symbol>());
  Symbol *symbol = op.symbols.back().get();
  symbol->kind = kind;
  symbol->name = name;
  symbol->span = span;
  symbol->type = std::move(type);
  symbol->varies =
      kind == Symbol::Token || kind == Symbol::State || kind == Symbol::Position || kind == Symbol::Distance;
  if (kind == Symbol::State) symbol->degree = Degree::Affine;
  return symbol;
}

Symbol *ExprChecker::lookUp(llvm::StringRef name) const {
  for (Symbol *local : llvm::reverse(locals))
    if (local->name == name) return local;
  return names.lookup(name);
}

std::optional<Shape> ExprChecker::broadcast(const Shape &a, const Shape &b) {
  if (a.empty() || a == b) return b;
  if (b.empty()) return a;
  // A vector runs along the first axis of a matrix.
  if (a.size() == 1 && b.size() == 2 && a[0] == b[0]) return b;
  if (b.size() == 1 && a.size() == 2 && b[0] == a[0]) return a;
  return std::nullopt;
}

std::string ExprChecker::quote(const Expr &expr) const {
  std::string text;
  for (char c : source.text(expr.span).take_front(200))
    if (bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r'; !blank || (!text.empty() && text.back() != ' '))
      text += blank ? ' ' : c;
  if (text.size() > 50) text = text.substr(0, 47) + "...";
  return text;
}

//===----------------------------------------------------------------------===//
// What is wanted of an operand
//===----------------------------------------------------------------------===//

bool ExprChecker::wantNumber(const Expr &expr, const llvm::Twine &what) {
  if (expr.type.isError()) return false;
  if (expr.type.kind == ValueType::Number) return true;
  diagnostics.report(diag::ExpectedNumber, expr.span, what.str())
      .hint("'where(" + quote(expr) + ", 1, 0)' is a number");
  return false;
}

bool ExprChecker::wantCondition(const Expr &expr, const llvm::Twine &what) {
  if (expr.type.isError()) return false;
  if (expr.type.kind == ValueType::Condition) return true;
  diagnostics.report(diag::ExpectedCondition, expr.span, what.str())
      .hint("compare it, as in '" + quote(expr) + " > 0'");
  return false;
}

bool ExprChecker::wantRank(const Expr &expr, unsigned rank, const llvm::Twine &what, const llvm::Twine &hint) {
  if (!wantNumber(expr, what)) return false;
  if (expr.type.rank() == rank) return true;
  static constexpr const char *kinds[] = {"a scalar", "a vector", "a matrix"};
  Diagnostic &diagnostic = diagnostics.report(diag::ExpectedKind, expr.span, what.str(), kinds[rank], expr.type.str());
  if (!hint.isTriviallyEmpty()) diagnostic.hint(hint);
  else if (rank == 1 && expr.type.rank() == 2)
    diagnostic.hint("'flatten(" + quote(expr) + ")' is the matrix as a vector");
  return false;
}

void ExprChecker::setBroadcast(Expr &expr, llvm::ArrayRef<Expr *> args, ValueType::Kind kind, llvm::StringRef what) {
  Shape shape;
  for (Expr *arg : args) {
    std::optional<Shape> both = broadcast(shape, arg->type.shape);
    if (!both) {
      Diagnostic &diagnostic = diagnostics.report(diag::Broadcast, expr.at, what, ValueType::number(shape).str(),
                                                  ValueType::number(arg->type.shape).str());
      if (shape.size() + arg->type.rank() == 3)
        diagnostic.hint("a vector runs along the first axis of a matrix, so its length must be the number of rows");
      else if (shape.size() == 1 && arg->type.rank() == 1)
        diagnostic.hint("for all pairs of elements write 'outer(a, b)'");
      return;
    }
    shape = *both;
  }
  expr.type = {kind, shape};
}

void ExprChecker::setVector(Expr &expr, DimExpr size) {
  if (!size.isValid()) {
    diagnostics.report(diag::SizeTooLarge, expr.span, quote(expr));
    return;
  }
  expr.type = ValueType::number({size});
}

void ExprChecker::checkNumber(Expr &expr, const llvm::Twine &what) {
  check(expr);
  if (!expr.type.isError() && !wantNumber(expr, what)) expr.type = {};
}

//===----------------------------------------------------------------------===//
// How a value depends on states
//===----------------------------------------------------------------------===//

// By default a value depends on states as the worst of its operands does.
void ExprChecker::flow(Expr &expr) {
  for (const Expr *arg : expr.args) {
    expr.varies |= arg->varies;
    if (arg->degree <= expr.degree) continue;
    expr.degree = arg->degree;
    expr.culprit = arg->culprit;
  }
}

void ExprChecker::nonlinear(Expr &expr, const Expr *culprit) {
  if (expr.degree != Degree::Affine) return; // free, or there is a culprit further inside
  expr.degree = Degree::Nonlinear;
  expr.culprit = culprit;
}

void ExprChecker::product(Expr &expr) {
  if (expr.args[0]->degree != Degree::Free && expr.args[1]->degree != Degree::Free) nonlinear(expr, &expr);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void ExprChecker::check(Expr &expr) {
  // A body may be checked again.
  expr.type = {};
  expr.varies = false;
  expr.degree = Degree::Free;
  expr.culprit = nullptr;
  if (expr.kind == ExprKind::Index) return checkIndex(expr);
  auto isName = [&](unsigned arg, const char *name) {
    return expr.args[arg]->kind == ExprKind::Name && expr.args[arg]->name == name;
  };
  bool isKeyPosition = expr.kind == ExprKind::Binary && expr.operation == Operation::Subtract &&
                       isName(0, "position") && isName(1, "distance");
  bool outer = std::exchange(inKeyPosition, false);
  for (Expr *arg : expr.args) {
    inKeyPosition = isKeyPosition;
    check(*arg);
  }
  inKeyPosition = outer;
  flow(expr);
  switch (expr.kind) {
  case ExprKind::Error:
    return;
  case ExprKind::Number:
    expr.type = ValueType::number();
    return;
  case ExprKind::Name:
    return checkName(expr);
  case ExprKind::Unary:
    return checkUnary(expr);
  case ExprKind::Binary:
    return checkBinary(expr);
  case ExprKind::Call:
    return checkCall(expr);
  case ExprKind::Index:
    return;
  }
}

void ExprChecker::checkName(Expr &expr) {
  Symbol *symbol = lookUp(expr.name);
  if (expr.name == "out" || (symbol && symbol->kind == Symbol::Output)) {
    diagnostics.report(diag::OutIsRead, expr.span, expr.name).hint("name the value with 'let' and read that name");
    return;
  }
  if (!symbol) {
    if (findBuiltin(expr.name)) {
      diagnostics.report(diag::FunctionAsValue, expr.span, expr.name);
      return;
    }
    Diagnostic &diagnostic = diagnostics.report(diag::UnknownName, expr.span, expr.name);
    llvm::SmallVector<llvm::StringRef> known;
    for (Symbol *local : locals) known.push_back(local->name);
    for (const auto &symbol : op.symbols) known.push_back(symbol->name); // in the order of declaration
    llvm::StringRef near = nearest(expr.name, known);
    if (!near.empty()) diagnostic.hint("did you mean '" + near + "'?");
    else if (expr.name == "den") diagnostic.hint("'den' is the denominator, known in 'normalize' alone");
    return;
  }
  expr.symbol = symbol;
  symbol->isRead = true;
  if (symbol->kind == Symbol::Distance && !inWeights) {
    diagnostics.report(diag::DistanceOutsideWeights, expr.span).hint("the index of this step is 'position'");
    return;
  }
  if (symbol->kind == Symbol::Let && !ready.contains(symbol)) {
    bool itself = symbol->statement->span.begin <= expr.span.begin && expr.span.end <= symbol->statement->span.end;
    if (itself)
      diagnostics.report(diag::LetReadsItself, expr.span, expr.name)
          .hint("a value kept from step to step is declared with 'state'");
    else
      diagnostics.report(diag::UsedBeforeLet, expr.span, expr.name, source.place(symbol->span.begin).line)
          .hint("move the 'let' up");
    return;
  }
  if (inWeights && symbol->varies && symbol->kind != Symbol::Parameter && symbol->kind != Symbol::Distance &&
      !(inKeyPosition && symbol->kind == Symbol::Position))
    diagnostics.report(diag::QueryStep, expr.span, expr.name)
        .hint("what is needed of the key's step must come through the key's parameter, for example by 'concat'");
  expr.type = symbol->type;
  expr.varies = symbol->varies;
  expr.degree = symbol->degree;
  expr.culprit = symbol->culprit;
}

void ExprChecker::checkUnary(Expr &expr) {
  const Expr &operand = *expr.args[0];
  std::string what = ("'" + spelling(expr.operation) + "'").str();
  if (expr.operation == Operation::Not) {
    nonlinear(expr, &expr);
    if (wantCondition(operand, what)) expr.type = operand.type;
  } else if (wantNumber(operand, what)) expr.type = operand.type;
}

void ExprChecker::checkBinary(Expr &expr) {
  std::string what = ("'" + spelling(expr.operation) + "'").str();
  ValueType::Kind kind = ValueType::Number;
  switch (expr.operation) {
  case Operation::MatMul:
    return checkMatMul(expr);
  case Operation::Add:
  case Operation::Subtract:
    break;
  case Operation::Multiply:
    product(expr);
    break;
  case Operation::Divide:
    if (expr.args[1]->degree != Degree::Free) nonlinear(expr, &expr);
    break;
  case Operation::Power:
    nonlinear(expr, &expr);
    break;
  default:
    nonlinear(expr, &expr);
    kind = ValueType::Condition;
    break;
  }
  bool logical = expr.operation == Operation::And || expr.operation == Operation::Or, good = true;
  for (Expr *arg : expr.args) good &= logical ? wantCondition(*arg, what) : wantNumber(*arg, what);
  if (good) setBroadcast(expr, expr.args, kind, spelling(expr.operation));
}

void ExprChecker::checkMatMul(Expr &expr) {
  product(expr);
  const Expr &a = *expr.args[0], &b = *expr.args[1];
  bool good = wantNumber(a, "'@'");
  good &= wantNumber(b, "'@'");
  if (!good) return;
  if (a.type.rank() == 0 || b.type.rank() == 0 || a.type.rank() + b.type.rank() < 3) {
    Diagnostic &diagnostic = diagnostics.report(diag::MatMulRank, expr.at, a.type.str(), b.type.str());
    diagnostic.hint(a.type.rank() == 0 || b.type.rank() == 0
                        ? "a product with a scalar is '*'"
                        : "the inner product is 'dot(a, b)', the outer one 'outer(a, b)'");
    return;
  }
  if (a.type.shape.back() != b.type.shape.front()) {
    Diagnostic &diagnostic = diagnostics.report(diag::MatMulShapes, expr.at, a.type.str(), b.type.str());
    const Shape &s = a.type.shape, &t = b.type.shape;
    bool areNames = a.kind == ExprKind::Name && b.kind == ExprKind::Name;
    if (s.size() + t.size() == 3 && s.front() == t.back())
      diagnostic.hint(
          "'x @ M' sums over the rows of M, 'M @ x' over its columns; " +
          (areNames ? "write '" + quote(b) + " @ " + quote(a) + "'" : std::string("turn the factors round")));
    return;
  }
  Shape shape(a.type.shape.begin(), std::prev(a.type.shape.end()));
  shape.append(std::next(b.type.shape.begin()), b.type.shape.end());
  expr.type = ValueType::number(shape);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

// Sums and products of differences; nothing where a number is too large. Absent parts are invalid dimensions.
static std::optional<DimExpr> addParts(const DimExpr &a, const DimExpr &b) {
  if (!a.isValid() || !b.isValid()) return a.isValid() ? a : b;
  DimExpr sum = a + b;
  return sum.isValid() ? std::optional(sum) : std::nullopt;
}
static std::optional<DimExpr> multiplyParts(const DimExpr &a, const DimExpr &b) {
  if (!a.isValid() || !b.isValid()) return DimExpr();
  DimExpr result = a * b;
  return result.isValid() ? std::optional(result) : std::nullopt;
}
static std::optional<IndexValue> makeIndex(std::optional<DimExpr> plus, std::optional<DimExpr> minus) {
  if (!plus || !minus) return std::nullopt;
  DimExpr::cancel(*plus, *minus);
  return IndexValue{*plus, *minus};
}

std::optional<IndexValue> lintel::frontend::evaluateIndex(const Expr &expr, const Expr **culprit) {
  auto fail = [&]() -> std::optional<IndexValue> {
    if (culprit && !*culprit) *culprit = &expr;
    return std::nullopt;
  };
  if (expr.kind == ExprKind::Number) {
    if (expr.number != std::floor(expr.number) || expr.number > 9e15) return fail();
    return IndexValue{DimExpr::constant(int64_t(expr.number)), {}};
  }
  if (expr.kind == ExprKind::Name && expr.symbol && expr.symbol->kind == Symbol::Dimension)
    return IndexValue{DimExpr::symbol(expr.name), {}};
  bool isUnary = expr.kind == ExprKind::Unary && expr.operation == Operation::Negate;
  bool isBinary =
      expr.kind == ExprKind::Binary && (expr.operation == Operation::Add || expr.operation == Operation::Subtract ||
                                        expr.operation == Operation::Multiply);
  if (!isUnary && !isBinary) return fail();
  std::optional<IndexValue> a = evaluateIndex(*expr.args[0], culprit);
  if (!a) return std::nullopt;
  if (isUnary) return IndexValue{a->minus, a->plus};
  std::optional<IndexValue> b = evaluateIndex(*expr.args[1], culprit), result;
  if (!b) return std::nullopt;
  if (expr.operation == Operation::Multiply) {
    std::optional<DimExpr> pp = multiplyParts(a->plus, b->plus), mm = multiplyParts(a->minus, b->minus);
    std::optional<DimExpr> pm = multiplyParts(a->plus, b->minus), mp = multiplyParts(a->minus, b->plus);
    if (pp && mm && pm && mp) result = makeIndex(addParts(*pp, *mm), addParts(*pm, *mp));
  } else {
    if (expr.operation == Operation::Subtract) std::swap(b->plus, b->minus);
    result = makeIndex(addParts(a->plus, b->plus), addParts(a->minus, b->minus));
  }
  return result ? result : fail();
}

// Whether a - b >= least for all dimensions of at least 1; an absent side is 0. Sufficient, not necessary.
static bool alwaysAtLeast(DimExpr a, DimExpr b, int64_t least) {
  DimExpr::cancel(a, b);
  if (b.isValid() && !b.isConstant()) return false;
  auto one = [](llvm::StringRef) -> std::optional<int64_t> { return 1; };
  int64_t low = a.isValid() ? a.evaluate(one).value_or(INT64_MAX / 2) : 0;
  return std::min(low, INT64_MAX / 2) - b.getConstant().value_or(0) >= least;
}

void ExprChecker::checkIndex(Expr &expr) {
  Expr &value = *expr.args[0], &position = *expr.args[1];
  check(value);
  check(position);
  flow(expr);
  bool good = wantNumber(value, "indexing");
  if (good && value.type.rank() == 0) {
    diagnostics.report(diag::ExpectedKind, value.span, "indexing", "a vector or a matrix", value.type.str());
    good = false;
  }
  if (position.type.isError()) return;
  const Expr *culprit = nullptr;
  std::optional<IndexValue> index = evaluateIndex(position, &culprit);
  if (!index) {
    if (culprit->kind == ExprKind::Number) diagnostics.report(diag::IndexNotInteger, culprit->span, quote(*culprit));
    else
      diagnostics.report(diag::IndexNotConstant, culprit->span, quote(*culprit))
          .hint("to pick by a value, multiply with a vector that selects");
    return;
  }
  if (!good) return;
  const DimExpr &size = value.type.shape[0];
  std::string shown = "'" + quote(position) + "'";
  auto withMinus = addParts(size, index->minus);
  if (!index->isZero() && alwaysAtLeast(index->minus, index->plus, 1)) {
    diagnostics.report(diag::IndexNegative, position.span, quote(position))
        .hint("indices count from 0; the last element is at '" + size.str() + " - 1'");
    return;
  }
  if (withMinus && alwaysAtLeast(index->plus, *withMinus, 0)) {
    diagnostics.report(diag::IndexTooLarge, position.span, shown, value.type.str()).hint("indices count from 0");
    return;
  }
  // A difference stands for a mask over the elements and so must be known to lie inside; a sum is checked when
  // dimensions are bound.
  if (index->minus.isValid() &&
      !(alwaysAtLeast(index->plus, index->minus, 0) && withMinus && alwaysAtLeast(*withMinus, index->plus, 1))) {
    diagnostics.report(diag::IndexUnbounded, position.span, shown, value.type.str())
        .hint("write an index that stays inside for every size, such as '" + size.str() + " - 1'");
    return;
  }
  expr.type = ValueType::number(Shape(std::next(value.type.shape.begin()), value.type.shape.end()));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void ExprChecker::unknownFunction(Expr &expr) {
  if (Symbol *symbol = lookUp(expr.name)) {
    symbol->isRead = true;
    diagnostics.report(diag::NotAFunction, expr.at, expr.name, symbol->describe()).hint("a product is written '*'");
    return;
  }
  Diagnostic &diagnostic = diagnostics.report(diag::UnknownFunction, expr.at, expr.name);
  static constexpr std::pair<const char *, const char *> others[] = {
      {"pow", "a power is written 'x ^ y'"},
      {"tan", "write 'sin(x) / cos(x)'"},
      {"maximum", "write 'max(a, b)'"},
      {"minimum", "write 'min(a, b)'"},
      {"if", "write 'where(condition, a, b)'"},
      {"select", "write 'where(condition, a, b)'"},
      {"matmul", "write 'a @ b'"},
      {"square", "write 'x ^ 2'"},
      {"exp2", "write '2 ^ x'"},
      {"logsigmoid", "write '-softplus(-x)'"},
      {"swish", "write 'silu(x)'"},
      {"concatenate", "write 'concat(a, b)'"},
      {"inner", "write 'dot(a, b)'"},
      {"length", "a dimension's name is its size"},
  };
  for (auto [name, advice] : others)
    if (expr.name == name) {
      diagnostic.hint(advice);
      return;
    }
  llvm::SmallVector<llvm::StringRef> known;
  for (const Builtin &builtin : builtins()) known.push_back(builtin.name);
  if (llvm::StringRef near = nearest(expr.name, known); !near.empty()) diagnostic.hint("did you mean '" + near + "'?");
  else diagnostic.hint("the functions are " + llvm::join(known, ", "));
}

void ExprChecker::checkCall(Expr &expr) {
  expr.builtin = findBuiltin(expr.name);
  if (!expr.builtin) return unknownFunction(expr);
  size_t count = expr.args.size();
  const Builtin &builtin = *expr.builtin;
  if (count < builtin.least || count > builtin.most) {
    auto plural = [](size_t n) { return std::to_string(n) + (n == 1 ? " argument" : " arguments"); };
    std::string wanted = builtin.most == builtin.least ? plural(builtin.least) : "at least " + plural(builtin.least);
    Diagnostic &diagnostic = diagnostics.report(diag::Arity, expr.span, wanted, expr.name, plural(count));
    if (builtin.function == Function::Where) diagnostic.hint("write 'where(condition, a, b)'");
    return;
  }
  std::string what = ("'" + expr.name + "'").str();

  bool folds = (builtin.function == Function::Max || builtin.function == Function::Min) && count > 1;
  if (builtin.isElementwise() || folds) {
    nonlinear(expr, &expr);
    bool good = true;
    for (Expr *arg : expr.args) good &= wantNumber(*arg, what);
    if (good) setBroadcast(expr, expr.args, ValueType::Number, expr.name);
    return;
  }
  switch (builtin.function) {
  case Function::Where:
    return checkWhere(expr);
  case Function::Dot:
  case Function::Outer: {
    product(expr);
    const char *hint = builtin.function == Function::Dot ? "a product of scalars is '*'" : "scale by a scalar with '*'";
    bool good = wantRank(*expr.args[0], 1, what, expr.args[0]->type.rank() == 0 ? hint : "");
    good &= wantRank(*expr.args[1], 1, what, expr.args[1]->type.rank() == 0 ? hint : "");
    if (!good) return;
    const ValueType &a = expr.args[0]->type, &b = expr.args[1]->type;
    if (builtin.function == Function::Outer) expr.type = ValueType::number({a.shape[0], b.shape[0]});
    else if (a.shape != b.shape) diagnostics.report(diag::VectorShapes, expr.at, expr.name, a.str(), b.str());
    else expr.type = ValueType::number();
    return;
  }
  case Function::Concat: {
    DimExpr size;
    bool good = true;
    for (Expr *arg : expr.args) {
      if (arg->type.rank() == 2) wantRank(*arg, 1, what), good = false;
      else if (!wantNumber(*arg, what)) good = false;
      else {
        DimExpr part = arg->type.rank() ? arg->type.shape[0] : DimExpr::constant(1);
        size = arg == expr.args[0] ? part : size + part;
      }
    }
    if (good) setVector(expr, size);
    return;
  }
  case Function::Flatten:
    if (wantRank(*expr.args[0], 2, what)) setVector(expr, expr.args[0]->type.shape[0] * expr.args[0]->type.shape[1]);
    return;
  default:
    return checkOverVector(expr);
  }
}

void ExprChecker::checkOverVector(Expr &expr) {
  if (!expr.builtin->isLinear()) nonlinear(expr, &expr);
  const Expr &arg = *expr.args[0];
  if (!wantRank(arg, 1, ("'" + expr.name + "'").str(),
                (expr.name == "max" || expr.name == "min") && arg.type.rank() == 0
                    ? "of two scalars it is '" + expr.name + "(a, b)'"
                    : llvm::Twine("")))
    return;
  bool keepsLength = expr.builtin->function == Function::Softmax || expr.builtin->function == Function::Cumsum;
  expr.type = keepsLength ? arg.type : ValueType::number();
}

void ExprChecker::checkWhere(Expr &expr) {
  if (expr.args[0]->degree != Degree::Free) {
    // The choice is not affine, whatever the branches are.
    expr.degree = Degree::Nonlinear;
    expr.culprit = expr.args[0]->culprit ? expr.args[0]->culprit : expr.args[0];
  }
  bool good = wantCondition(*expr.args[0], "the first argument of 'where'");
  for (Expr *arg : llvm::ArrayRef(expr.args).drop_front())
    if (!arg->type.isError() && arg->type.kind == ValueType::Condition)
      wantNumber(*arg, "a branch of 'where'"), good = false;
    else good &= !arg->type.isError();
  if (good) setBroadcast(expr, expr.args, ValueType::Number, "where");
}

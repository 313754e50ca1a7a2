#include "compiler/frontend/ParserImpl.h"

using namespace lintel;
using namespace lintel::frontend;

namespace {

// Binding strengths of the operators with two sides; unary minus stands between products and powers.
struct BinaryOperator {
  Operation operation = Operation::None;
  unsigned strength = 0;
};

BinaryOperator binaryOperator(TokenKind kind, llvm::StringRef word) {
  switch (kind) {
  case TokenKind::Name:
    if (word == "or") return {Operation::Or, 1};
    if (word == "and") return {Operation::And, 2};
    return {};
  case TokenKind::Less:
    return {Operation::Less, 4};
  case TokenKind::LessEqual:
    return {Operation::LessEqual, 4};
  case TokenKind::Greater:
    return {Operation::Greater, 4};
  case TokenKind::GreaterEqual:
    return {Operation::GreaterEqual, 4};
  case TokenKind::Equal:
    return {Operation::Equal, 4};
  case TokenKind::NotEqual:
    return {Operation::NotEqual, 4};
  case TokenKind::Plus:
    return {Operation::Add, 5};
  case TokenKind::Minus:
    return {Operation::Subtract, 5};
  case TokenKind::Star:
    return {Operation::Multiply, 6};
  case TokenKind::Slash:
    return {Operation::Divide, 6};
  case TokenKind::At:
    return {Operation::MatMul, 6};
  case TokenKind::Dot:
    return {Operation::None, 6};
  default:
    return {};
  }
}
constexpr unsigned comparisonStrength = 4, notStrength = 3;

} // namespace

Expr *Parser::finish(Expr *expr) {
  for (Expr *arg : expr->args) expr->height = std::max(expr->height, arg->height + 1);
  if (expr->height > limits::height) {
    error(diag::TooDeep, expr->at, limits::height).hint("name parts of it with 'let'");
    return errorExpr();
  }
  return expr;
}

Expr *Parser::parseExpr(unsigned minimum) {
  Nest nest(*this);
  if (panic || tooDeep()) return errorExpr();
  Expr *left;
  if (atWord("not") && minimum <= notStrength) {
    Token token = current();
    advance();
    Expr *operand = parseExpr(notStrength);
    left = file.newExpr(ExprKind::Unary, join(token.span, operand->span));
    left->operation = Operation::Not;
    left->at = token.span;
    left->args = {operand};
    left = finish(left);
  } else left = parseUnary();

  bool compared = false;
  while (!panic) {
    Token token = current();
    BinaryOperator op = binaryOperator(token.kind, text(token));
    if (!op.strength || op.strength < minimum) break;
    if (op.strength == comparisonStrength) {
      if (compared) {
        error(diag::ChainedComparison, token.span).hint("write 'a < b and b < c'");
        break;
      }
      compared = true;
    } else if (op.strength < comparisonStrength) compared = false;
    advance();
    skipNewlines();
    Expr *right = parseExpr(op.strength + 1);
    bool isDot = token.kind == TokenKind::Dot;
    Expr *both = file.newExpr(isDot ? ExprKind::Call : ExprKind::Binary, join(left->span, right->span));
    both->operation = op.operation;
    if (isDot) both->name = "dot";
    both->at = token.span;
    both->args = {left, right};
    left = finish(both);
  }
  return left;
}

Expr *Parser::parseUnary() {
  if (!at(TokenKind::Minus)) {
    if (at(TokenKind::Plus)) error(diag::ExpectedExpression, current().span, found()).hint("there is no unary '+'");
    return parsePower();
  }
  Nest nest(*this);
  if (panic || tooDeep()) return errorExpr();
  Token token = current();
  advance();
  Expr *operand = parseUnary();
  Expr *expr = file.newExpr(ExprKind::Unary, join(token.span, operand->span));
  expr->operation = Operation::Negate;
  expr->at = token.span;
  expr->args = {operand};
  return finish(expr);
}

Expr *Parser::parsePower() {
  Expr *base = parsePostfix();
  if (panic || !at(TokenKind::Caret)) return base;
  Nest nest(*this);
  if (tooDeep()) return errorExpr();
  Token token = current();
  advance();
  skipNewlines();
  Expr *exponent = parseUnary(); // to the right first: a^b^c is a^(b^c), and a^-b needs no parentheses
  Expr *expr = file.newExpr(ExprKind::Binary, join(base->span, exponent->span));
  expr->operation = Operation::Power;
  expr->at = token.span;
  expr->args = {base, exponent};
  return finish(expr);
}

Expr *Parser::parsePostfix() {
  Expr *value = parsePrimary();
  while (!panic && at(TokenKind::LBracket)) {
    ++parens;
    advance();
    Expr *position = parseExpr();
    Span end = current().span;
    if (!panic && !at(TokenKind::RBracket)) {
      Diagnostic &diagnostic = error(diag::ExpectedCloseBracket, end, found());
      if (at(TokenKind::Comma)) diagnostic.hint("an element of a matrix is 'M[i][j]'");
    }
    if (panic) return errorExpr();
    --parens;
    advance();
    Expr *expr = file.newExpr(ExprKind::Index, join(value->span, end));
    expr->args = {value, position};
    value = finish(expr);
  }
  return value;
}

Expr *Parser::parsePrimary() {
  if (panic) return errorExpr();
  Token token = current();
  if (at(TokenKind::Number)) {
    advance();
    Expr *expr = file.newExpr(ExprKind::Number, token.span);
    expr->number = token.number;
    return expr;
  }
  if (at(TokenKind::LParen)) {
    ++parens;
    advance();
    Expr *expr = parseExpr();
    Span end = current().span;
    parseCloseParen(token);
    if (!panic) expr->span = join(token.span, end);
    return expr;
  }
  bool isChoice = atWord("if") && (ahead(1).kind == TokenKind::Name || ahead(1).kind == TokenKind::Number);
  if (at(TokenKind::Name) && !atWord("and") && !atWord("or") && !atWord("not") && !isChoice) {
    if (ahead(1).kind == TokenKind::LParen) return parseCall();
    advance();
    Expr *expr = file.newExpr(ExprKind::Name, token.span);
    expr->name = text(token);
    return expr;
  }
  Diagnostic &diagnostic = error(diag::ExpectedExpression, token.span, found());
  if (at(TokenKind::Star) && index && tokens[index - 1].kind == TokenKind::Star)
    diagnostic.hint("a power is written '^'");
  else if (isChoice) diagnostic.hint(choiceHint);
  else if (atWord("not")) diagnostic.hint("put the negation in parentheses");
  else if (at(TokenKind::Assign)) diagnostic.hint("an assignment is 'name = expression'; equality is '=='");
  return errorExpr();
}

Expr *Parser::parseCall() {
  Token name = current();
  advance();
  Token open = current();
  ++parens;
  advance();
  Expr *call = file.newExpr(ExprKind::Call, name.span);
  call->name = text(name);
  if (!at(TokenKind::RParen)) do
      call->args.push_back(parseExpr());
    while (!panic && accept(TokenKind::Comma));
  Span end = current().span;
  parseCloseParen(open);
  if (!panic) call->span = join(name.span, end);
  return finish(call);
}

void Parser::parseCloseParen(const Token &open) {
  if (panic) return;
  if (!at(TokenKind::RParen)) {
    Diagnostic &diagnostic =
        error(diag::ExpectedCloseParen, current().span, source.place(open.span.begin).line, found());
    if (atChoice()) diagnostic.hint(choiceHint);
    return;
  }
  --parens;
  advance();
}

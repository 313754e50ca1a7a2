#include "compiler/frontend/Parser.h"
#include "compiler/frontend/Lexer.h"

#include "llvm/ADT/StringSwitch.h"
#include <optional>

using namespace lintel;
using namespace lintel::frontend;

namespace {

std::optional<StatementKind> statementKind(llvm::StringRef word) {
  for (unsigned i = 0; i <= unsigned(StatementKind::Weights); ++i)
    if (!word.empty() && word == keyword(StatementKind(i))) return StatementKind(i);
  return std::nullopt;
}

class Parser {
public:
  explicit Parser(File &file)
      : file(file), source(file.source), diagnostics(file.diagnostics), tokens(lex(file.source, file.diagnostics)) {}

  void run();

private:
  // Tokens. `index` never passes Eof.
  const Token &current() const { return tokens[index]; }
  const Token &ahead(unsigned n) const { return tokens[std::min<size_t>(index + n, tokens.size() - 1)]; }
  bool at(TokenKind kind) const { return current().kind == kind; }
  bool atWord(llvm::StringRef word) const { return at(TokenKind::Name) && text(current()) == word; }
  llvm::StringRef text(const Token &token) const { return source.text(token.span); }
  std::string found() const { return describe(source, current()); }
  void advance();
  bool accept(TokenKind kind) {
    if (!at(kind)) return false;
    advance();
    return true;
  }
  void skipNewlines() {
    while (at(TokenKind::Newline) && !startsStatement(index + 1)) ++index;
  }
  void skipEnds() {
    while (at(TokenKind::Newline) || at(TokenKind::Semicolon)) ++index;
  }
  /// Whether what follows an open parenthesis on a new line is rather the next statement than the expression's rest.
  bool startsStatement(size_t i) const;

  /// Reports unless this statement has an error already; the first one says what is wrong, the others follow from it.
  template <typename... Args> Diagnostic &error(diag::Id id, Span span, const Args &...args) {
    if (panic || at(TokenKind::Error)) {
      panic = true;
      return dropped;
    }
    panic = true;
    return diagnostics.report(id, span, args...);
  }
  void synchronize();

  void parseOperator();
  void parseStatement(Operator &op);
  void parseDeclarators(Statement &statement);
  void parseDimensions(Declarator &declarator);
  void parseParameters(Statement &statement, unsigned count);
  void parseEquals(llvm::StringRef after);
  bool parseName(llvm::StringRef after, llvm::StringRef &name, Span &span);

  Expr *parseExpr(unsigned minimum = 0);
  Expr *parseUnary();
  Expr *parsePower();
  Expr *parsePostfix();
  Expr *parsePrimary();
  Expr *parseCall();
  void parseCloseParen(const Token &open);
  Expr *errorExpr() { return file.newExpr(ExprKind::Error, {current().span.begin, current().span.begin}); }
  Expr *finish(Expr *expr);

  /// Counts nesting; `tooDeep` once the limit is passed.
  struct Nest {
    explicit Nest(Parser &parser) : parser(parser) { ++parser.depth; }
    ~Nest() { --parser.depth; }
    Parser &parser;
  };
  bool tooDeep() {
    if (depth <= limits::nesting) return false;
    error(diag::TooDeep, current().span, limits::nesting).hint("name parts of it with 'let'");
    return true;
  }

  File &file;
  const Source &source;
  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  size_t index = 0;
  unsigned depth = 0;  // of expressions
  unsigned parens = 0; // open ones: line ends inside are blanks
  bool panic = false;
  Diagnostic dropped{};
};

bool Parser::startsStatement(size_t i) const {
  auto kind = [&](size_t j) { return tokens[std::min(j, tokens.size() - 1)].kind; };
  if (kind(i) == TokenKind::Eof || kind(i) == TokenKind::RBrace) return true;
  if (kind(i) != TokenKind::Name) return false;
  llvm::StringRef word = text(tokens[std::min(i, tokens.size() - 1)]);
  if (kind(i + 1) == TokenKind::Assign) return true;
  // `token q`, `decay 3`, `attention x`: two operands in a row are no expression. `weights(q, k) = ` could begin as
  // one, but there is no such function.
  std::optional<StatementKind> statement = statementKind(word);
  if (kind(i + 1) == TokenKind::LParen)
    return statement && (keyword(*statement).starts_with("feature") || *statement == StatementKind::Weights);
  return (statement || word == "attention") && (kind(i + 1) == TokenKind::Name || kind(i + 1) == TokenKind::Number);
}

void Parser::advance() {
  if (!at(TokenKind::Eof)) ++index;
  if (parens) skipNewlines();
}

void Parser::synchronize() {
  while (!at(TokenKind::Newline) && !at(TokenKind::Semicolon) && !at(TokenKind::RBrace) && !at(TokenKind::Eof)) ++index;
  panic = false;
  parens = 0;
}

void Parser::run() {
  if (source.text().size() > limits::fileSize) {
    diagnostics.report(diag::FileTooLarge, {}, source.text().size(), limits::fileSize);
    return;
  }
  skipEnds();
  if (at(TokenKind::Eof)) {
    diagnostics.report(diag::EmptyFile, current().span).hint("write 'attention name {', the statements, and '}'");
    return;
  }
  while (skipEnds(), !at(TokenKind::Eof)) {
    if (atWord("attention")) {
      if (file.operators.size() == limits::operators) {
        diagnostics.report(diag::TooManyOperators, current().span, limits::operators);
        return;
      }
      parseOperator();
      panic = false;
      continue;
    }
    Diagnostic &diagnostic = error(diag::ExpectedAttention, current().span, found());
    if (at(TokenKind::Name) && nearest(text(current()), {"attention"}) == "attention")
      diagnostic.hint("did you mean 'attention'?");
    else if (at(TokenKind::RBrace)) diagnostic.hint("this closing brace has no opening one");
    else if (at(TokenKind::Name) && statementKind(text(current())))
      diagnostic.hint("statements stand inside of 'attention name { ... }'");
    // To the next declaration, past any braces.
    while (!at(TokenKind::Eof) && !(atWord("attention") && ahead(1).kind == TokenKind::Name)) ++index;
    panic = false;
  }
}

void Parser::parseOperator() {
  auto op = std::make_unique<Operator>();
  Token start = current();
  advance();
  op->span = start.span;
  if (at(TokenKind::Name)) {
    op->name = text(current());
    op->span = current().span;
    advance();
  } else error(diag::ExpectedOperatorName, current().span, found());
  std::string shown = op->name.empty() ? "?" : op->name.str();
  while (at(TokenKind::Newline)) ++index;
  if (!at(TokenKind::LBrace)) {
    error(diag::ExpectedOpenBrace, current().span, found());
    // `attention x (` or `attention x:`: the statements most likely follow.
    if (tokens[index - 1].kind != TokenKind::Newline) synchronize();
  } else advance();
  op->hasSyntaxError = panic;
  panic = false;

  while (skipEnds(), !at(TokenKind::RBrace)) {
    bool next = atWord("attention") && ahead(1).kind == TokenKind::Name;
    if (at(TokenKind::Eof) || next) {
      diagnostics.report(diag::ExpectedCloseBrace, current().span, shown, source.place(start.span.begin).line, found());
      op->hasSyntaxError = true;
      break;
    }
    if (op->statements.size() == limits::statements) {
      diagnostics.report(diag::TooManyStatements, current().span, limits::statements);
      op->hasSyntaxError = true;
      while (!at(TokenKind::RBrace) && !at(TokenKind::Eof)) ++index;
      break;
    }
    size_t before = index, count = op->statements.size();
    parseStatement(*op);
    bool ended = at(TokenKind::Newline) || at(TokenKind::Semicolon) || at(TokenKind::RBrace) || at(TokenKind::Eof);
    if (!ended && !panic) {
      Diagnostic &diagnostic = error(diag::ExpectedStatementEnd, current().span, found());
      if (at(TokenKind::Assign)) diagnostic.hint("equality is written '=='");
      if (at(TokenKind::Name)) diagnostic.hint("statements are separated by line ends or ';', and a product needs '*'");
      if (at(TokenKind::LBrace)) diagnostic.hint("braces enclose the statements of an operator alone");
    }
    if (panic) {
      op->hasSyntaxError = true;
      // Half an expression would only lead to errors that are none.
      if (op->statements.size() != count && op->statements.back()->value) op->statements.back()->value = errorExpr();
      if (index == before) ++index;
    }
    if (panic || !ended) synchronize();
    parens = 0;
  }
  accept(TokenKind::RBrace);
  file.operators.push_back(std::move(op));
}

void Parser::parseStatement(Operator &op) {
  Token start = current();
  if (!at(TokenKind::Name)) {
    Diagnostic &diagnostic = error(diag::ExpectedStatement, start.span, found());
    if (at(TokenKind::Plus) || at(TokenKind::Minus) || at(TokenKind::Star) || at(TokenKind::Slash) ||
        at(TokenKind::At) || at(TokenKind::Dot))
      diagnostic.hint(
          "to go on from the line above, end that line with the operator or put the expression in parentheses");
    return;
  }
  llvm::StringRef word = text(start);
  std::optional<StatementKind> kind = statementKind(word);
  bool declares = kind && *kind <= StatementKind::Let;
  bool isAssignment = ahead(1).kind == TokenKind::Assign && !declares;
  if (!kind && !isAssignment) {
    Diagnostic &diagnostic = error(diag::UnknownStatement, start.span, word);
    llvm::SmallVector<llvm::StringRef> words;
    for (unsigned i = 0; i <= unsigned(StatementKind::Weights); ++i)
      if (StatementKind(i) != StatementKind::Assign) words.push_back(keyword(StatementKind(i)));
    llvm::StringRef near = nearest(word, words);
    TokenKind after = ahead(1).kind, second = ahead(2).kind;
    if (!near.empty()) diagnostic.hint("did you mean '" + near + "'?");
    else if (after == TokenKind::Plus || after == TokenKind::Minus || after == TokenKind::Star ||
             after == TokenKind::Slash)
      diagnostic.hint(second == TokenKind::Assign
                          ? "write it out: '" + word + " = " + word + " " + text(ahead(1)) + " ...'"
                          : "an assignment is '" + word + " = expression'");
    return;
  }

  op.statements.push_back(std::make_unique<Statement>());
  Statement &statement = *op.statements.back();
  statement.kind = isAssignment ? StatementKind::Assign : *kind;
  statement.at = start.span;
  advance();
  switch (statement.kind) {
  case StatementKind::Assign:
    statement.name = word;
    statement.nameSpan = start.span;
    advance();
    skipNewlines();
    statement.value = parseExpr();
    break;
  case StatementKind::Token:
  case StatementKind::Head:
  case StatementKind::Shared:
  case StatementKind::State:
    parseDeclarators(statement);
    break;
  case StatementKind::Let:
    if (!parseName(word, statement.name, statement.nameSpan)) {
      statement.value = errorExpr();
      break;
    }
    parseEquals(("'" + statement.name + "'").str());
    statement.value = parseExpr();
    break;
  case StatementKind::Feature:
  case StatementKind::FeatureQ:
  case StatementKind::FeatureK:
  case StatementKind::Weights:
    parseParameters(statement, statement.kind == StatementKind::Weights ? 2 : 1);
    parseEquals("the parameters");
    statement.value = parseExpr();
    break;
  case StatementKind::Scale:
  case StatementKind::Decay:
    statement.value = parseExpr();
    break;
  case StatementKind::Normalize:
    if (!at(TokenKind::Newline) && !at(TokenKind::Semicolon) && !at(TokenKind::RBrace) && !at(TokenKind::Eof))
      statement.value = parseExpr();
    break;
  case StatementKind::Causal:
  case StatementKind::Bidirectional:
    break;
  }
  uint32_t end = index ? tokens[index - 1].span.end : start.span.end;
  statement.span = {start.span.begin, std::max(end, start.span.end)};
}

bool Parser::parseName(llvm::StringRef after, llvm::StringRef &name, Span &span) {
  span = current().span;
  if (!at(TokenKind::Name)) {
    error(diag::ExpectedName, span, after, found());
    return false;
  }
  name = text(current());
  advance();
  return true;
}

void Parser::parseDeclarators(Statement &statement) {
  llvm::StringRef after = keyword(statement.kind);
  do {
    skipNewlines();
    Declarator declarator;
    if (!parseName(after, declarator.name, declarator.span)) return;
    if (at(TokenKind::LBracket)) parseDimensions(declarator);
    declarator.hasError = panic;
    statement.declarators.push_back(std::move(declarator));
    if (panic) {
      // What else the line declares is known by its names, so that each later use of them is not an error too.
      while (at(TokenKind::Name) || at(TokenKind::LBracket) || at(TokenKind::RBracket) || at(TokenKind::Comma) ||
             at(TokenKind::Number) || at(TokenKind::Minus) || at(TokenKind::Error)) {
        if (at(TokenKind::Comma) && ahead(1).kind == TokenKind::Name && ahead(2).kind != TokenKind::RBracket) {
          statement.declarators.push_back({text(ahead(1)), ahead(1).span, {}, true});
          ++index;
        }
        ++index;
      }
      return;
    }
    after = ",";
  } while (accept(TokenKind::Comma));
}

void Parser::parseDimensions(Declarator &declarator) {
  advance();
  do {
    if (declarator.dims.size() == 2) {
      error(diag::TooManyDimensions, current().span, declarator.name)
          .hint("inputs and states are scalars, vectors or matrices");
      return;
    }
    Token token = current();
    DimExpr value;
    if (at(TokenKind::Name)) {
      llvm::StringRef name = text(token);
      llvm::StringRef axis = llvm::StringSwitch<llvm::StringRef>(name)
                                 .Case("B", "the batch")
                                 .Case("T", "time")
                                 .Case("H", "heads")
                                 .Default("");
      if (!axis.empty()) {
        error(diag::DimensionIsAxis, token.span, name, axis)
            .hint("dimensions stand for what comes after batch, time and heads; choose a lower-case name");
        return;
      }
      value = DimExpr::symbol(name);
    } else if (at(TokenKind::Number)) {
      llvm::StringRef digits = text(token);
      if (digits.find_first_not_of("0123456789") != llvm::StringRef::npos) {
        error(diag::ExpectedDimension, token.span, found());
        return;
      }
      if (token.number < 1) {
        error(diag::DimensionNotPositive, token.span, digits);
        return;
      }
      if (token.number > double(limits::dimension)) {
        error(diag::DimensionTooLarge, token.span, digits, limits::dimension);
        return;
      }
      value = DimExpr::constant(int64_t(token.number));
    } else if (at(TokenKind::Minus) && ahead(1).kind == TokenKind::Number) {
      error(diag::DimensionNotPositive, join(token.span, ahead(1).span), "-" + text(ahead(1)).str());
      return;
    } else {
      Diagnostic &diagnostic = error(diag::ExpectedDimension, token.span, found());
      if (at(TokenKind::RBracket)) diagnostic.hint("a scalar is declared without brackets");
      return;
    }
    declarator.dims.push_back({token.span, value});
    advance();
  } while (accept(TokenKind::Comma));
  if (accept(TokenKind::RBracket)) return;
  Diagnostic &diagnostic = error(diag::ExpectedCloseBracket, current().span, found());
  if (at(TokenKind::Star) || at(TokenKind::Plus) || at(TokenKind::Minus) || at(TokenKind::Slash))
    diagnostic.hint("a declared dimension is one name or one integer");
}

void Parser::parseParameters(Statement &statement, unsigned count) {
  llvm::StringRef word = keyword(statement.kind);
  std::string wanted = count == 1 ? "one parameter" : "two parameters";
  if (!at(TokenKind::LParen)) {
    error(diag::ExpectedParameterList, current().span, word, wanted, found())
        .hint(count == 1 ? "write '" + word + "(x) = expression'" : "write '" + word + "(q, k) = expression'");
    return;
  }
  Token open = current();
  ++parens;
  advance();
  if (!at(TokenKind::RParen)) do {
      if (!at(TokenKind::Name)) {
        error(diag::ExpectedParameter, current().span, found());
        return;
      }
      statement.parameters.push_back({text(current()), current().span});
      advance();
    } while (accept(TokenKind::Comma));
  Span end = current().span;
  parseCloseParen(open);
  if (!panic && statement.parameters.size() != count)
    error(diag::ParameterCount, join(open.span, end), word, wanted, statement.parameters.size());
}

void Parser::parseEquals(llvm::StringRef after) {
  if (panic) return;
  if (!at(TokenKind::Assign)) {
    error(diag::ExpectedEquals, current().span, after, found());
    return;
  }
  advance();
  skipNewlines();
}

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
  if (at(TokenKind::Name) && !atWord("and") && !atWord("or") && !atWord("not")) {
    if (ahead(1).kind == TokenKind::LParen) return parseCall();
    advance();
    Expr *expr = file.newExpr(ExprKind::Name, token.span);
    expr->name = text(token);
    return expr;
  }
  Diagnostic &diagnostic = error(diag::ExpectedExpression, token.span, found());
  if (at(TokenKind::Star) && index && tokens[index - 1].kind == TokenKind::Star)
    diagnostic.hint("a power is written '^'");
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
    error(diag::ExpectedCloseParen, current().span, source.place(open.span.begin).line, found());
    return;
  }
  --parens;
  advance();
}

} // namespace

void lintel::frontend::parseInto(File &file) { Parser(file).run(); }

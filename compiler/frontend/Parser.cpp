#include "compiler/frontend/Parser.h"
#include "compiler/frontend/ParserImpl.h"

#include "llvm/ADT/StringSwitch.h"

using namespace lintel;
using namespace lintel::frontend;

static std::optional<StatementKind> statementKind(llvm::StringRef word) {
  for (unsigned i = 0; i <= unsigned(StatementKind::Weights); ++i)
    if (!word.empty() && word == keyword(StatementKind(i))) return StatementKind(i);
  return std::nullopt;
}

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
      if (atChoice()) diagnostic.hint(choiceHint);
      else if (at(TokenKind::Name))
        diagnostic.hint("statements are separated by line ends or ';', and a product needs '*'");
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
  bool declares = kind && *kind <= StatementKind::Let && *kind != StatementKind::Output;
  bool isAssignment = ahead(1).kind == TokenKind::Assign && !declares;
  if (!kind && !isAssignment) {
    Diagnostic &diagnostic = error(diag::UnknownStatement, start.span, word);
    llvm::SmallVector<llvm::StringRef> words;
    for (unsigned i = 0; i <= unsigned(StatementKind::Weights); ++i)
      if (StatementKind(i) != StatementKind::Assign) words.push_back(keyword(StatementKind(i)));
    llvm::StringRef near = nearest(word, words);
    TokenKind after = ahead(1).kind, second = ahead(2).kind;
    if (!near.empty()) diagnostic.hint("did you mean '" + near + "'?");
    else if (atChoice()) diagnostic.hint("a choice is a value, as in 'S = where(condition, a, b)'");
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
  case StatementKind::Output:
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

void lintel::frontend::parseInto(File &file) { Parser(file).run(); }

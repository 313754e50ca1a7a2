// The parser's inside: Parser.cpp has files, operators and statements, ParseExpr.cpp the expressions.
#ifndef LINTEL_FRONTEND_PARSERIMPL_H
#define LINTEL_FRONTEND_PARSERIMPL_H

#include "compiler/frontend/Lexer.h"
#include "compiler/frontend/Parser.h"
#include <optional>

namespace lintel::frontend {

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
  /// A word of other languages' choices, behind an operand.
  bool atChoice() const { return atWord("if") || atWord("then") || atWord("else"); }
  static constexpr const char *choiceHint = "a choice is written 'where(condition, a, b)'";
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

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_PARSERIMPL_H

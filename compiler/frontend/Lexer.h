// Text to tokens. Never fails: what cannot be a token is reported and becomes an Error token, which ends the statement.
#ifndef LINTEL_FRONTEND_LEXER_H
#define LINTEL_FRONTEND_LEXER_H

#include "compiler/frontend/Diagnostics.h"
#include "compiler/frontend/Source.h"
#include <vector>

namespace lintel::frontend {

enum class TokenKind : uint8_t {
  Eof,
  Error,   // reported already
  Newline, // one or more line ends
  Semicolon,
  Name,
  Number,
  LBrace,
  RBrace,
  LParen,
  RParen,
  LBracket,
  RBracket,
  Comma,
  Assign,
  Plus,
  Minus,
  Star,
  Slash,
  Caret,
  At,
  Dot, // with blanks on both sides, the inner product
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
};

struct Token {
  TokenKind kind = TokenKind::Eof;
  Span span;
  double number = 0; // of a Number
};

namespace limits {
constexpr size_t fileSize = 1 << 20;
constexpr size_t nameLength = 128;
constexpr size_t numberLength = 64;
} // namespace limits

/// All tokens of the file, the last one Eof.
std::vector<Token> lex(const Source &source, Diagnostics &diagnostics);

/// A token as messages name it: `'decay'`, `number '3'`, `the end of the line`.
std::string describe(const Source &source, const Token &token);

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_LEXER_H

#include "compiler/frontend/Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstdlib>

using namespace lintel;
using namespace lintel::frontend;

namespace {

bool isNameHead(char c) { return llvm::isAlpha(c) || c == '_'; }
bool isNameTail(char c) { return llvm::isAlnum(c) || c == '_'; }
bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0'; }

class Lexer {
public:
  Lexer(const Source &source, Diagnostics &diagnostics)
      : source(source), diagnostics(diagnostics), text(source.text()) {}

  std::vector<Token> run() {
    if (text.starts_with("\xEF\xBB\xBF")) at = 3; // a byte order mark
    while (at < text.size()) next();
    push(TokenKind::Eof, at);
    return std::move(tokens);
  }

private:
  char peek(uint32_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  void push(TokenKind kind, uint32_t begin) { tokens.push_back({kind, {begin, at}, 0}); }

  /// A run of bad characters is one token and one message.
  void error(uint32_t begin) {
    if (!tokens.empty() && tokens.back().kind == TokenKind::Error && tokens.back().span.end == begin)
      tokens.back().span.end = at;
    else push(TokenKind::Error, begin);
  }

  void next() {
    char c = peek();
    uint32_t begin = at;
    if (c == '\n') {
      ++at;
      if (tokens.empty() || tokens.back().kind != TokenKind::Newline) push(TokenKind::Newline, begin);
    } else if (c == ' ' || c == '\t' || c == '\r') ++at;
    else if (c == '/' && peek(1) == '/') at = std::min(text.find('\n', at), text.size());
    else if (c == '/' && peek(1) == '*') blockComment();
    else if (isNameHead(c)) name();
    else if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(peek(1)) && !afterOperand())) number();
    else if (c == '.') dot();
    else punctuation();
  }

  void blockComment() {
    uint32_t begin = at;
    at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    diagnostics.report(diag::BlockComment, {begin, begin + 2}).hint("comments start with '//' and end with the line");
    error(begin);
  }

  void name() {
    uint32_t begin = at;
    while (isNameTail(peek()) && at < text.size()) ++at;
    if (static_cast<unsigned char>(peek()) >= 0x80) return nonAscii(begin);
    if (at - begin > limits::nameLength) {
      diagnostics.report(diag::NameTooLong, {begin, at}, at - begin, limits::nameLength);
      return error(begin);
    }
    push(TokenKind::Name, begin);
  }

  void number() {
    uint32_t begin = at;
    auto digits = [&] {
      while (llvm::isDigit(peek())) ++at;
    };
    digits();
    // `1.` and `1.5`; in `2 . x` the dot is an operator and has a blank before it.
    if (peek() == '.') {
      ++at;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      uint32_t mark = at++;
      if (peek() == '+' || peek() == '-') ++at;
      if (!llvm::isDigit(peek())) at = mark;
      digits();
    }
    bool bad = isNameTail(peek()) || peek() == '.';
    while (isNameTail(peek()) || peek() == '.') ++at;
    Span span{begin, at};
    if (bad) {
      diagnostics.report(diag::BadNumber, span, source.text(span).take_front(40))
          .hint("names start with a letter, and a product needs '*'");
      return error(begin);
    }
    if (at - begin > limits::numberLength) {
      diagnostics.report(diag::NumberTooLong, span, at - begin, limits::numberLength);
      return error(begin);
    }
    std::string copy = source.text(span).str();
    double value = std::strtod(copy.c_str(), nullptr);
    if (std::isinf(value)) {
      diagnostics.report(diag::NumberTooLarge, span, copy).hint("infinity is written 'inf'");
      return error(begin);
    }
    llvm::StringRef mantissa = llvm::StringRef(copy).take_until([](char c) { return c == 'e' || c == 'E'; });
    if (value == 0 && mantissa.find_first_not_of("0.") != llvm::StringRef::npos) {
      diagnostics.report(diag::NumberTooSmall, span, copy);
      return error(begin);
    }
    push(TokenKind::Number, begin);
    tokens.back().number = value;
  }

  /// Whether what stands directly before, without a blank, could end an operand: in `a.5` the dot is a product gone
  /// wrong.
  bool afterOperand() const {
    return at > 0 && (isNameTail(text[at - 1]) || text[at - 1] == ')' || text[at - 1] == ']');
  }

  void dot() {
    uint32_t begin = at++;
    if (begin > 0 && isBlank(text[begin - 1]) && isBlank(peek())) return push(TokenKind::Dot, begin);
    diagnostics.report(diag::DotNeedsBlanks, {begin, at}).hint("write 'a . b' or 'dot(a, b)'");
    error(begin);
  }

  /// Takes a whole word that holds characters outside ASCII.
  void nonAscii(uint32_t begin) {
    uint32_t first = at;
    while (at < text.size() && (static_cast<unsigned char>(peek()) >= 0x80 || isNameTail(peek()))) ++at;
    // One character stands for the run in the message where it is an operator someone pasted.
    static constexpr std::pair<const char *, const char *> known[] = {
        {"\u00B7", "write ' . ' or 'dot(a, b)'"},
        {"\u22C5", "write ' . ' or 'dot(a, b)'"},
        {"\u00D7", "write '*' or 'outer(a, b)'"},
        {"\u2212", "write '-'"},
        {"\u2013", "write '-'"},
        {"\u2297", "write 'outer(a, b)'"},
        {"\u2264", "write '<='"},
        {"\u2265", "write '>='"},
        {"\u2260", "write '!='"},
        {"\u00A0", "this is a no-break space; write a blank"},
        {"\u03C0", "write 'pi'"},
        {"\u221E", "write 'inf'"},
        {"\u2299", "write '*'"},
        {"\u221A", "write 'sqrt(x)'"}};
    llvm::StringRef rest = text.slice(first, at);
    const char *hint = "names are made of the letters a to z and A to Z, digits and '_', and do not start with a digit";
    for (auto [spelling, advice] : known)
      if (rest.starts_with(spelling)) {
        if (begin == first) at = first + llvm::StringRef(spelling).size();
        hint = advice;
      }
    std::string shown = text.slice(begin, std::min<size_t>(at, begin + 40)).str();
    // A cut or broken sequence would spoil the message.
    for (size_t i = 0; i < shown.size(); ++i) {
      unsigned char c = shown[i];
      if (c < 0x80) continue;
      size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 0;
      bool whole = length && i + length <= shown.size();
      for (size_t j = 1; whole && j < length; ++j) whole = Source::isContinuation(shown[i + j]);
      if (whole) i += length - 1;
      else shown[i] = '?';
    }
    diagnostics.report(diag::NonAsciiCharacter, {begin, at}, shown).hint(hint);
    error(begin);
  }

  /// `S'`, a state's next value on paper. What goes on is the name alone, which is what it should be.
  bool prime() {
    if (peek() != '\'' || !afterOperand()) return false;
    uint32_t begin = at;
    while (peek() == '\'') ++at;
    Diagnostic &diagnostic = diagnostics.report(diag::StrayCharacter, {begin, at}, "'''");
    if (tokens.back().kind == TokenKind::Name) {
      std::string name = source.text(tokens.back().span).str();
      diagnostic.hint("a state's next value goes by the state's own name: assign it by '" + name + " = ...', and '" +
                      name + "' reads it from there on");
    } else diagnostic.hint("there is no transposition: 'x @ M' sums over the rows of M, 'M @ x' over its columns");
    return true;
  }

  void punctuation() {
    uint32_t begin = at;
    char c = peek(), after = peek(1);
    if (static_cast<unsigned char>(c) >= 0x80) return nonAscii(begin);
    if (prime()) return;
    auto two = [&](char second, TokenKind both, TokenKind single) {
      at += after == second ? 2 : 1;
      push(after == second ? both : single, begin);
    };
    switch (c) {
    case '<':
      return two('=', TokenKind::LessEqual, TokenKind::Less);
    case '>':
      return two('=', TokenKind::GreaterEqual, TokenKind::Greater);
    case '=':
      return two('=', TokenKind::Equal, TokenKind::Assign);
    case '!':
      if (after != '=') break;
      at += 2;
      return push(TokenKind::NotEqual, begin);
    default:
      break;
    }
    static constexpr std::pair<char, TokenKind> singles[] = {
        {';', TokenKind::Semicolon}, {'{', TokenKind::LBrace},   {'}', TokenKind::RBrace},   {'(', TokenKind::LParen},
        {')', TokenKind::RParen},    {'[', TokenKind::LBracket}, {']', TokenKind::RBracket}, {',', TokenKind::Comma},
        {'+', TokenKind::Plus},      {'-', TokenKind::Minus},    {'*', TokenKind::Star},     {'/', TokenKind::Slash},
        {'^', TokenKind::Caret},     {'@', TokenKind::At}};
    ++at;
    for (auto [character, kind] : singles)
      if (c == character) return push(kind, begin);

    std::string shown =
        llvm::isPrint(c) ? "'" + std::string(1, c) + "'" : "of code " + std::to_string(static_cast<unsigned char>(c));
    Diagnostic &diagnostic = diagnostics.report(diag::StrayCharacter, {begin, at}, shown);
    if (c == '!') diagnostic.hint("negation is written 'not'");
    if (c == '&') diagnostic.hint("conjunction is written 'and'");
    if (c == '|') diagnostic.hint("disjunction is written 'or', the absolute value 'abs(x)'");
    if (c == '#') diagnostic.hint("comments start with '//'");
    if (c == '?') diagnostic.hint("a choice is written 'where(condition, a, b)'");
    if (c == ':') diagnostic.hint("declarations take no types; dimensions are written 'q[dk]'");
    if (c == '"' || c == '\'') {
      diagnostic.hint("the language has no strings");
      size_t end = text.find_first_of("\"'\n", at);
      if (end != llvm::StringRef::npos && text[end] != '\n') at = end + 1;
    }
    if (peek() == c && (c == '&' || c == '|')) ++at;
    error(begin);
  }

  const Source &source;
  Diagnostics &diagnostics;
  llvm::StringRef text;
  uint32_t at = 0;
  std::vector<Token> tokens;
};

} // namespace

std::vector<Token> lintel::frontend::lex(const Source &source, Diagnostics &diagnostics) {
  return Lexer(source, diagnostics).run();
}

std::string lintel::frontend::describe(const Source &source, const Token &token) {
  switch (token.kind) {
  case TokenKind::Eof:
    return "the end of the file";
  case TokenKind::Newline:
    return "the end of the line";
  case TokenKind::Number:
    return "number '" + source.text(token.span).str() + "'";
  default:
    return "'" + source.text(token.span).str() + "'";
  }
}

#include "compiler/frontend/Lexer.h"
#include <gtest/gtest.h>

using namespace lintel::frontend;

namespace {

std::vector<TokenKind> kinds(const std::string &text, unsigned errors = 0) {
  Source source(text, "t.attn");
  Diagnostics diagnostics(source);
  std::vector<TokenKind> result;
  for (const Token &token : lex(source, diagnostics)) result.push_back(token.kind);
  EXPECT_EQ(diagnostics.numErrors(), errors) << text << "\n" << diagnostics.str();
  return result;
}

using K = TokenKind;

} // namespace

TEST(Lexer, Tokens) {
  EXPECT_EQ(kinds("a + b_1 @ 2^-x"),
            (std::vector{K::Name, K::Plus, K::Name, K::At, K::Number, K::Caret, K::Minus, K::Name, K::Eof}));
  EXPECT_EQ(kinds("< <= > >= == != ="), (std::vector{K::Less, K::LessEqual, K::Greater, K::GreaterEqual, K::Equal,
                                                     K::NotEqual, K::Assign, K::Eof}));
  EXPECT_EQ(kinds("{ } ( ) [ ] , ; / *"),
            (std::vector{K::LBrace, K::RBrace, K::LParen, K::RParen, K::LBracket, K::RBracket, K::Comma, K::Semicolon,
                         K::Slash, K::Star, K::Eof}));
}

TEST(Lexer, LinesAndComments) {
  EXPECT_EQ(kinds("a // b\n\n\n c"), (std::vector{K::Name, K::Newline, K::Name, K::Eof}));
  EXPECT_EQ(kinds("a\r\nb // \xC3\xA9 \xFF\r\n"), (std::vector{K::Name, K::Newline, K::Name, K::Newline, K::Eof}));
  EXPECT_EQ(kinds("\xEF\xBB\xBF"
                  "a"),
            (std::vector{K::Name, K::Eof}));
}

TEST(Lexer, Dots) {
  EXPECT_EQ(kinds("a . b"), (std::vector{K::Name, K::Dot, K::Name, K::Eof}));
  EXPECT_EQ(kinds("a .\nb"), (std::vector{K::Name, K::Dot, K::Newline, K::Name, K::Eof}));
  EXPECT_EQ(kinds("a.b", 1), (std::vector{K::Name, K::Error, K::Name, K::Eof}));
  EXPECT_EQ(kinds("a. b", 1), (std::vector{K::Name, K::Error, K::Name, K::Eof}));
  EXPECT_EQ(kinds("a.5", 1), (std::vector{K::Name, K::Error, K::Number, K::Eof}));
}

TEST(Lexer, Numbers) {
  for (auto [text, value] :
       {std::pair("1", 1.0), {"1.", 1.0}, {"1.5", 1.5}, {".5", 0.5}, {"1e-6", 1e-6}, {"2E+3", 2000.0}, {"0.0", 0.0}}) {
    Source source(text, "t.attn");
    Diagnostics diagnostics(source);
    std::vector<Token> tokens = lex(source, diagnostics);
    ASSERT_EQ(tokens.size(), 2u) << text;
    EXPECT_EQ(tokens[0].number, value) << text;
  }
  for (const char *text : {"1e", "1e+", "1x", "1.2.3", "0x10", "1e999", "1e-999"})
    EXPECT_EQ(kinds(text, 1).front(), K::Error) << text;
}

TEST(Lexer, StrayBytes) {
  EXPECT_EQ(kinds(std::string("a \0 b", 5), 1), (std::vector{K::Name, K::Error, K::Name, K::Eof}));
  EXPECT_EQ(kinds("\xFF\xFE\x80", 1).front(), K::Error);
  EXPECT_EQ(kinds("/*", 1).front(), K::Error);
  EXPECT_EQ(kinds("/* never closed", 1).front(), K::Error);
}

TEST(Source, Places) {
  Source source("ab\n\xC3\xA9x\n", "t");
  EXPECT_EQ(source.place(0).line, 1u);
  EXPECT_EQ(source.place(5).line, 2u);
  EXPECT_EQ(source.place(5).column, 2u); // after one character of two bytes
  EXPECT_EQ(source.place(99).line, 3u);
  EXPECT_EQ(source.line(2), "\xC3\xA9x");
  EXPECT_EQ(source.line(3), "");
}

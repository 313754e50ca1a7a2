// Every file of test/error against the messages it names, and every message of Diagnostics.def against the files.
//
// A file starts with what is expected, in the order of the text:
//   // expect: LINE:COLUMN: message        (`warning: message` for a warning)
//   // hint: text                          (of the message above)
#include "Support.h"
#include "compiler/frontend/Lexer.h"
#include "compiler/frontend/Parser.h"
#include <gtest/gtest.h>
#include <set>

using namespace lintel::frontend;

namespace {

std::string expected(const std::string &text) {
  std::string result;
  llvm::StringRef rest = text, line;
  while (!rest.empty()) {
    std::tie(line, rest) = rest.split('\n');
    if (line.consume_front("// expect: ")) result += line.str() + "\n";
    if (line.consume_front("// hint: ")) result += "hint: " + line.str() + "\n";
  }
  return result;
}

std::string found(const File &file) {
  std::string result;
  for (const Diagnostic &diagnostic : file.diagnostics.sorted()) {
    Place place = file.source.place(diagnostic.span.begin);
    result += std::to_string(place.line) + ":" + std::to_string(place.column) + ": " +
              (diagnostic.severity() == Severity::Warning ? "warning: " : "") + diagnostic.message + "\n";
    if (!diagnostic.hintText.empty()) result += "hint: " + diagnostic.hintText + "\n";
  }
  return result;
}

std::set<diag::Id> seen;

void note(const File &file) {
  for (const Diagnostic &diagnostic : file.diagnostics.sorted()) seen.insert(diagnostic.id);
}

std::string nameOf(const testing::TestParamInfo<std::string> &info) { return llvm::sys::path::stem(info.param).str(); }

class Error : public testing::TestWithParam<std::string> {};

} // namespace

TEST_P(Error, IsReported) {
  std::string text = readText(GetParam());
  std::unique_ptr<File> file = parse(text, llvm::sys::path::filename(GetParam()));
  check(*file);
  std::string wanted = expected(text);
  EXPECT_NE(wanted, "") << "the file expects nothing";
  EXPECT_EQ(found(*file), wanted) << file->diagnostics.str();
}
INSTANTIATE_TEST_SUITE_P(Files, Error, testing::ValuesIn(attnFiles("test/error")), nameOf);

TEST(ErrorLimits, FileSize) {
  std::unique_ptr<File> file = parse(std::string(limits::fileSize + 1, '\n'), "t.attn");
  EXPECT_EQ(file->diagnostics.str(), "t.attn:1:1: error: file of 1048577 bytes is larger than 1048576\n  \n  ^\n");
  note(*file);
}

TEST(ErrorLimits, Statements) {
  std::string text = "attention a {\n  token q[dk], k[dk], v[dv]\n";
  for (unsigned i = 0; i < limits::statements; ++i) text += "  let x" + std::to_string(i) + " = 1\n";
  std::unique_ptr<File> file = parse(text + "}\n", "t.attn");
  EXPECT_EQ(file->diagnostics.numErrors(), 1u) << file->diagnostics.str();
  note(*file);
}

TEST(ErrorLimits, Operators) {
  std::string text;
  for (unsigned i = 0; i <= limits::operators; ++i)
    text += "attention a" + std::to_string(i) + " { token x; out = x }\n";
  std::unique_ptr<File> file = parse(text, "t.attn");
  EXPECT_EQ(file->diagnostics.numErrors(), 1u) << file->diagnostics.str();
  note(*file);
}

TEST(ErrorLimits, ErrorsAreCappedAndCounted) {
  std::string text = "attention a {\n  token q[dk], k[dk], v[dv]\n";
  for (unsigned i = 0; i < 80; ++i) text += "  let x" + std::to_string(i) + " = nothing_of_that_name\n";
  std::unique_ptr<File> file = parse(text + "}\n", "t.attn");
  EXPECT_FALSE(check(*file));
  EXPECT_EQ(file->diagnostics.sorted().size(), Diagnostics::maxErrors);
  EXPECT_NE(file->diagnostics.str().find("t.attn: error: 30 more errors are not shown\n"), std::string::npos);
}

TEST(ErrorText, CaretStandsUnderThePlace) {
  std::unique_ptr<File> file = parse("attention a {\n\ttoken q[dk], k[dk], v[dv]\n\tscale gamm\n}\n", "t.attn");
  check(*file);
  EXPECT_EQ(file->diagnostics.str(), "t.attn:3:8: error: unknown name 'gamm'\n  \tscale gamm\n  \t      ^~~~\n");
}

TEST(ErrorText, ColumnsCountCharacters) {
  std::unique_ptr<File> file =
      parse("attention a {\n  token q[dk], k[dk], v[dv]\n  decay \xC3\xA9 + \xC3\xA9\n}\r\n", "t.attn");
  check(*file);
  EXPECT_EQ(file->diagnostics.str(), "t.attn:3:9: error: expected ASCII text outside of comments, found '\xC3\xA9'\n"
                                     "    decay \xC3\xA9 + \xC3\xA9\n          ^\nhint: names are made of the letters "
                                     "a to z and A to Z, digits and '_', and do not start with a digit\n"
                                     "t.attn:3:13: error: expected ASCII text outside of comments, found '\xC3\xA9'\n"
                                     "    decay \xC3\xA9 + \xC3\xA9\n              ^\nhint: names are made of the "
                                     "letters a to z and A to Z, digits and '_', and do not start with a digit\n");
}

// A wide character takes two columns of a terminal, an accent that combines none.
TEST(ErrorText, TheCaretStandsBelowItsCharacter) {
  std::unique_ptr<File> file = parse("attention \u6CE8\u610F { token e\u0301x; state \u6CE8 $ }\n", "t.attn");
  std::string text = file->diagnostics.str();
  EXPECT_NE(text.find("\n            ^~~~\n"), std::string::npos) << text; // the first, two wide characters
  EXPECT_NE(text.find("\n" + std::string(2 + 10 + 4 + 3 + 6, ' ') + "^~\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n" + std::string(2 + 10 + 4 + 3 + 6 + 4 + 6 + 3, ' ') + "^\n"), std::string::npos) << text;
}

TEST(ErrorText, LongLinesAreCut) {
  std::unique_ptr<File> file =
      parse("attention a {\n  scale " + std::string(5000, ' ') + "$" + std::string(5000, ' ') + "\n}\n", "t.attn");
  EXPECT_LT(file->diagnostics.str().size(), 1000u);
}

TEST(ErrorText, StyleOfMessages) {
  for (unsigned i = 0; i < diag::count; ++i) {
    std::string text = diag::format(diag::Id(i));
    EXPECT_NE(text.back(), '.') << text;
    EXPECT_TRUE(text.front() < 'A' || text.front() > 'Z') << text;
  }
}

// Stands last: the tests above have seen the limits.
TEST(ErrorCoverage, EveryMessageHasATest) {
  if (testing::GTEST_FLAG(filter) != "*") GTEST_SKIP() << "needs the tests of limits";
  for (const std::string &path : attnFiles("test/error")) {
    std::unique_ptr<File> file = parse(readText(path), path);
    check(*file);
    note(*file);
  }
  for (unsigned i = 0; i < diag::count; ++i)
    EXPECT_TRUE(seen.count(diag::Id(i))) << diag::name(diag::Id(i)).str() << " has no file in test/error";
}

// Seeded mutations of the example operators through the whole frontend: a short form of what `parser_fuzz` does at
// length.
#include "../../fuzz/ParserProperties.h"
#include "Support.h"
#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace lintel::frontend;

namespace {

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed), seeds(attnFiles("examples/specs")) {
    for (std::string &path : seeds) path = readText(path);
    for (const std::string &path : attnFiles("test/error")) seeds.push_back(readText(path));
  }

  std::string next() {
    std::string text = seeds[below(seeds.size())];
    for (unsigned edits = 1 + below(4); edits; --edits) edit(text);
    if (text.size() > 20000) text.resize(20000);
    return text;
  }

private:
  size_t below(size_t n) { return n ? random() % n : 0; }

  void edit(std::string &text) {
    static const char *words[] = {"attention ",
                                  "token ",
                                  "state ",
                                  "let ",
                                  "feature(x) = ",
                                  "decay ",
                                  "normalize ",
                                  "weights(q, k) = ",
                                  "out = ",
                                  "exp(",
                                  "where(",
                                  "concat(",
                                  "flatten(",
                                  "outer(q, k)",
                                  "max(",
                                  "den",
                                  "distance",
                                  "position",
                                  "inf",
                                  "0",
                                  "1e-6",
                                  "-",
                                  "+",
                                  " . ",
                                  "^",
                                  "@",
                                  "(",
                                  ")",
                                  "[",
                                  "]",
                                  "{",
                                  "}",
                                  ";",
                                  ",",
                                  "=",
                                  "\n",
                                  "not ",
                                  " and ",
                                  "S",
                                  "\xC3\xA9",
                                  "\xFF",
                                  "//",
                                  "[dk - 1]",
                                  "[0]"};
    size_t at = below(text.size() + 1), length = below(12);
    switch (below(7)) {
    case 0:
      text.insert(at, words[below(std::size(words))]);
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(below(text.size()), length));
      break;
    case 3:
      if (at < text.size()) text[at] = char(random());
      break;
    case 4: { // a piece of another file
      const std::string &other = seeds[below(seeds.size())];
      text.insert(at, other.substr(below(other.size()), below(80)));
      break;
    }
    case 5:
      text.resize(at);
      break;
    case 6: { // one word for another
      size_t begin = text.find_first_of("abcdefghijklmnopqrstuvwxyz", at);
      if (begin == std::string::npos) break;
      size_t end = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", begin), text.size());
      text.replace(begin, end - begin, words[below(std::size(words))]);
      break;
    }
    }
  }

  std::mt19937 random;
  std::vector<std::string> seeds;
};

} // namespace

TEST(ParserFuzz, MutatedExamples) {
  Mutator mutator(20240607);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  unsigned valid = 0, runs = 0;
  // At most so many, so that the test is the same on every machine that is fast enough.
  for (; runs < 20000 && std::chrono::steady_clock::now() < end; ++runs) {
    std::string text = mutator.next();
    std::string violated = violatedProperty(text, &context);
    ASSERT_EQ(violated, "") << "after " << runs << " runs, of:\n" << text;
    std::unique_ptr<File> file = parse(text, "t.attn");
    valid += check(*file);
  }
  RecordProperty("runs", int(runs));
  EXPECT_GT(valid, 0u);
}

TEST(ParserFuzz, EveryPrefixOfEveryExample) {
  for (const std::string &path : attnFiles("examples/specs")) {
    std::string text = readText(path);
    for (size_t length = 0; length < text.size(); length += 3)
      ASSERT_EQ(violatedProperty(text.substr(0, length), nullptr), "") << path;
  }
}

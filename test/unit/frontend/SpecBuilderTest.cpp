#include "compiler/frontend/SpecBuilder.h"
#include "Support.h"
#include "dialect/AttnDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace lintel;
using namespace lintel::frontend;

namespace {

class SpecBuilderTest : public testing::Test {
protected:
  mlir::OwningOpRef<mlir::ModuleOp> build(const std::string &text) {
    std::unique_ptr<File> file = parse(text, "t.attn");
    if (!check(*file)) {
      ADD_FAILURE() << file->diagnostics.str();
      return nullptr;
    }
    return buildSpecs(*file, context);
  }

  std::string print(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    return text;
  }

  /// Without the module around it.
  std::string body(const std::string &text) {
    auto module = build(text);
    if (!module) return "";
    std::string all = print(*module);
    return all.substr(std::string("module {\n").size(), all.size() - std::string("module {\n}\n").size());
  }

  mlir::MLIRContext context;
};

} // namespace

TEST_F(SpecBuilderTest, ShortFormIsTheRecurrenceOfTheLanguage) {
  std::string text = body(
      "attention t {\n  token q[dk], k[dk], v[dv], g\n  scale 2\n  feature(x) = exp(x)\n  decay g\n  normalize\n}\n");
  EXPECT_EQ(
      text,
      R"(  attn.spec @t inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "g">] states ["S", "z"] {
  ^bb0(%q: !attn.tensor<dk>, %k: !attn.tensor<dk>, %v: !attn.tensor<dv>, %g: !attn.tensor<>, %S: !attn.tensor<dk, dv>, %z: !attn.tensor<dk>):
    %0 = attn.constant 2.000000e+00
    %1 = attn.binary mul %0, %q : <>, <dk>
    %2 = attn.unary exp %1 : <dk>
    %3 = attn.unary exp %k : <dk>
    %4 = attn.outer %3, %v : <dk>, <dv>
    %5 = attn.binary mul %g, %S : <>, <dk, dv>
    %6 = attn.binary mul %g, %z : <>, <dk>
    %7 = attn.binary add %5, %4 : <dk, dv>, <dk, dv>
    %8 = attn.binary add %6, %3 : <dk>, <dk>
    %9 = attn.matmul %2, %7 : <dk>, <dk, dv>
    %10 = attn.matmul %2, %8 : <dk>, <dk>
    %11 = attn.binary div %9, %10 : <dv>, <>
    attn.yield %11, %7, %8 : !attn.tensor<dv>, !attn.tensor<dk, dv>, !attn.tensor<dk>
  }
)");
}

TEST_F(SpecBuilderTest, OutReadsTheStateAtItsPlace) {
  std::string before = body("attention t {\n  token x\n  state s\n  out = s\n  s = s + x\n}\n");
  std::string after = body("attention t {\n  token x\n  state s\n  s = s + x\n  out = s\n}\n");
  EXPECT_NE(before.find("attn.yield %s, %0 "), std::string::npos) << before;
  EXPECT_NE(after.find("attn.yield %0, %0 "), std::string::npos) << after;
}

TEST_F(SpecBuilderTest, LetsReadTheStateAtTheirPlace) {
  std::string text = body("attention t {\n  token x\n  state s\n  let old = s\n  s = s + x\n  out = old\n}\n");
  EXPECT_NE(text.find("attn.yield %s, %0 "), std::string::npos) << text;
}

TEST_F(SpecBuilderTest, BidirectionalReadsTheFinalStates) {
  std::string text = body("attention t {\n  token q[dk], k[dk], v[dv]\n  bidirectional\n  normalize\n}\n");
  EXPECT_EQ(llvm::StringRef(text).count("attn.final"), 2u) << text;
  text = body("attention t {\n  token q[dk], k[dk], v[dv]\n  bidirectional\n  weights(q, k) = exp(dot(q, k))\n}\n");
  EXPECT_EQ(text.find("causal"), std::string::npos) << text;
}

TEST_F(SpecBuilderTest, ScalarsFillStates) {
  std::string text = body("attention t {\n  token x[n]\n  state s[n]\n  s = 0\n  s = s + x\n  out = s\n}\n");
  EXPECT_NE(text.find("attn.broadcast"), std::string::npos) << text;
}

TEST_F(SpecBuilderTest, FeatureBodiesAreBuiltForBothSides) {
  std::string text =
      body("attention t {\n  token q[dk], k[dk], v[dv]\n  feature_q(x) = sin(x)\n  feature_k(y) = cos(y)\n}\n");
  EXPECT_NE(text.find("attn.unary sin %q"), std::string::npos) << text;
  EXPECT_NE(text.find("attn.unary cos %k"), std::string::npos) << text;
}

TEST_F(SpecBuilderTest, Indices) {
  std::string text = body("attention t {\n  token x[n]\n  out = x[0] + x[3]\n}\n");
  EXPECT_NE(text.find("attn.extract %x[\"0\"]"), std::string::npos) << text;
  EXPECT_NE(text.find("attn.extract %x[\"3\"]"), std::string::npos) << text;
  // A difference becomes a mask.
  text = body("attention t {\n  token x[n]\n  out = x[n - 1]\n}\n");
  EXPECT_EQ(text.find("attn.extract"), std::string::npos) << text;
  EXPECT_NE(text.find("attn.cumsum"), std::string::npos) << text;
}

TEST_F(SpecBuilderTest, OperationsKnowTheirPlace) {
  auto module = build("attention t {\n  token x\n  out = exp(x)\n}\n");
  std::string place;
  module->walk([&](UnaryOp op) {
    llvm::raw_string_ostream os(place);
    op.getLoc().print(os);
  });
  EXPECT_EQ(place, "loc(\"t.attn\":3:9)");
}

TEST_F(SpecBuilderTest, ExamplesBuildAndParseBack) {
  for (const std::string &path : attnFiles("examples/specs")) {
    auto module = build(readText(path));
    ASSERT_TRUE(module) << path;
    std::string text = print(*module);
    auto again = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    ASSERT_TRUE(again) << path << "\n" << text;
    EXPECT_EQ(print(*again), text);
  }
}

// The canonical text means the same.
TEST_F(SpecBuilderTest, CanonicalTextBuildsTheSameSpec) {
  for (const std::string &path : attnFiles("examples/specs")) {
    std::unique_ptr<File> file = parse(readText(path), path);
    std::string canonical = frontend::print(*file);
    EXPECT_EQ(print(*build(readText(path))), print(*build(canonical))) << canonical;
  }
}

TEST_F(SpecBuilderTest, SeveralOperators) {
  auto module = build("attention a { token x; out = x }\nattention b { token x; out = x }\n");
  EXPECT_TRUE(module->lookupSymbol<SpecOp>("a"));
  EXPECT_TRUE(module->lookupSymbol<SpecOp>("b"));
}

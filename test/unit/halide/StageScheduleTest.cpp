// The schedule grammar, what makes each directive illegal, and that lowering obeys what the stage says or refuses it.
#include "codegen/schedule/StageSchedule.h"
#include "codegen/halide/KernelToLoops.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace lintel;

namespace {

TEST(StageSchedule, PrintsWhatItParses) {
  for (const char *text :
       {"inline", "vector 1", "vector 8", "vector 8 panel 2", "vector 8 rows 4", "vector 8 panel 2 rows 4"}) {
    std::string error;
    auto schedule = StageSchedule::parse(text, error);
    ASSERT_TRUE(schedule) << error;
    EXPECT_EQ(schedule->str(), text);
  }
  // In any order and with any blanks; what is not said is one.
  std::string error;
  auto schedule = StageSchedule::parse("  rows 4\tvector 8 ", error);
  ASSERT_TRUE(schedule) << error;
  EXPECT_EQ(schedule->str(), "vector 8 rows 4");
  EXPECT_EQ(StageSchedule::parse("rows 2", error)->str(), "vector 1 rows 2");
}

TEST(StageSchedule, MalformedTextSaysWhatWasExpected) {
  for (auto [text, message] : {
           std::pair{"", "expected a directive (inline, vector N, panel N, rows N, packed, direct), found nothing"},
           {"  ", "expected a directive (inline, vector N, panel N, rows N, packed, direct), found nothing"},
           {"unroll 4", "expected inline, vector, panel, rows, packed or direct, found 'unroll'"},
           {"vector", "expected a number of at least 1 behind 'vector', found ''"},
           {"vector 0", "expected a number of at least 1 behind 'vector', found '0'"},
           {"rows 4294967296", "expected a number of at most 2^20 behind 'rows', found '4294967296'"},
           {"vector -8", "expected a number of at least 1 behind 'vector', found '-8'"},
           {"vector 8 panel x", "expected a number of at least 1 behind 'panel', found 'x'"},
           {"vector 8 rows 99999999999999999999",
            "expected a number of at least 1 behind 'rows', found '99999999999999999999'"},
           {"inline vector 8", "expected nothing beside 'inline', found 'inline vector 8'"},
       }) {
    std::string error;
    EXPECT_FALSE(StageSchedule::parse(text, error)) << text;
    EXPECT_EQ(error, message);
  }
}

/// A kernel whose state of 8 x 16 is overwritten by stage S; stage f (8) has one user, stage out (1 x 16) is a sum.
std::string kernelText(llvm::StringRef f, llvm::StringRef out, llvm::StringRef state) {
  auto attribute = [](llvm::StringRef text) {
    return text.empty() ? std::string() : " {schedule = #attn.schedule<\"" + text.str() + "\">}";
  };
  return R"(attn.kernel @k form "recurrent" chunk 1 inputs [#attn.param<token "q">] states ["S"] out !attn.tensor<16> {
^bb0(%q: !attn.sequence<8>, %S: !attn.tensor<8, 16>):
  %last = attn.scan whole chunk 1 carry %S : !attn.tensor<8, 16> -> !attn.tensor<8, 16> {
  ^bb0(%t: index, %s: !attn.tensor<8, 16>):
    %r = attn.rows %q[%t] : !attn.sequence<8> -> !attn.tensor<1, 8>
    %f = attn.stage "f" axes ["i", "c"] : !attn.tensor<1, 8> {
    ^bb0(%i: index, %c: index):
      %x = attn.at %r[%i, %c] : !attn.tensor<1, 8>
      %y = attn.unary exp %x : !attn.tensor<>
      attn.yield %y : !attn.tensor<>
    })" + attribute(f) +
         R"(
    %out = attn.stage "out" axes ["i", "e"] : !attn.tensor<1, 16> {
    ^bb0(%i: index, %e: index):
      %sum = attn.fold sum "c" 8 {
      ^bb0(%c: index):
        %a = attn.at %f[%i, %c] : !attn.tensor<1, 8>
        %b = attn.at %s[%c, %e] : !attn.tensor<8, 16>
        %p = attn.binary mul %a, %b : !attn.tensor<>, !attn.tensor<>
        attn.yield %p : !attn.tensor<>
      }
      attn.yield %sum : !attn.tensor<>
    })" + attribute(out) +
         R"(
    attn.emit %out[%t] : !attn.tensor<1, 16>
    %next = attn.stage "S" axes ["c", "e"] group 1 : !attn.tensor<8, 16> {
    ^bb0(%c: index, %e: index):
      %b = attn.at %s[%c, %e] : !attn.tensor<8, 16>
      %two = attn.constant 2.0
      %p = attn.binary mul %b, %two : !attn.tensor<>, !attn.tensor<>
      attn.yield %p : !attn.tensor<>
    })" + attribute(state) +
         R"(
    attn.yield %next : !attn.tensor<8, 16>
  }
  attn.yield %last : !attn.tensor<8, 16>
}
)";
}

struct Lowered {
  std::string error; // diagnostics
  std::string schedule, loops;
};

Lowered lower(llvm::StringRef f, llvm::StringRef out, llvm::StringRef state) {
  Lowered result;
  mlir::DialectRegistry registry;
  registry.insert<AttnDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    result.error += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kernelText(f, out, state), &context);
  if (!module) return result;
  LoopsRequest request;
  request.kernel = *module->getOps<KernelOp>().begin();
  request.inputs.assign(request.kernel.getInputs().size(), LINTEL_F32);
  request.outputs = {LINTEL_F32};
  request.target = llvm::cantFail(resolveTarget("x86-64-v3"));
  request.entry = "k";
  auto lowered = lowerKernelToLoops(request);
  if (failed(lowered)) {
    EXPECT_FALSE(result.error.empty()) << "a failure without a reason";
    return result;
  }
  result.schedule = lowered->schedule;
  llvm::raw_string_ostream os(result.loops);
  lowered->loops->print(os);
  return result;
}

TEST(StageSchedule, LegalOnesAreObeyed) {
  for (auto [f, out, state] : {std::tuple{"vector 8", "vector 8", "vector 8"},
                               {"vector 1", "vector 1", "vector 1"},
                               {"vector 4 panel 2", "vector 8 panel 2", "vector 8 panel 2 rows 4"},
                               {"vector 8", "vector 16", "vector 16 rows 8"},
                               // Sizes that do not divide are legal where nothing is overwritten.
                               {"vector 3", "vector 5 panel 3", "vector 4 rows 2"}}) {
    Lowered lowered = lower(f, out, state);
    EXPECT_EQ(lowered.error, "");
    EXPECT_NE(lowered.schedule.find(std::string("f: ") + f), std::string::npos) << lowered.schedule;
    EXPECT_NE(lowered.schedule.find(std::string("out: ") + out), std::string::npos) << lowered.schedule;
    EXPECT_EQ(lowered.loops.find("memref.alloc("), std::string::npos) << "memory from the heap";
  }
  Lowered vectors = lower("vector 8", "vector 8", "vector 8"), scalars = lower("vector 1", "vector 1", "vector 1");
  EXPECT_NE(vectors.loops.find("vector<8xf32>"), std::string::npos);
  EXPECT_EQ(scalars.loops.find("vector<8xf32>"), std::string::npos);
}

TEST(StageSchedule, IllegalOnesAreRefusedWithAReason) {
  const char *good = "vector 8";
  struct Case {
    const char *f, *out, *state, *reason;
  };
  for (const Case &c : {
           Case{"vector 16", good, good,
                "has an illegal schedule 'vector 16': expected vector times panel of at most the axis's size 8, found "
                "16"},
           {good, "vector 8 panel 4", good, "expected vector times panel of at most the axis's size 16, found 32"},
           {good, "vector 8 rows 2", good, "expected rows of at most the axis's size 1, found 2"},
           {good, good, "vector 8 rows 16", "expected rows of at most the axis's size 8, found 16"},
           // A state's tiles may not overlap.
           {good, good, "vector 3", "it overwrites what it reads, so its tiles must divide its axes"},
           {good, good, "vector 8 rows 3", "it overwrites what it reads, so its tiles must divide its axes"},
           // f is used inside a sum, and S by the loop.
           {"inline", good, good, "it is used inside a reduction or a serial stage"},
           {good, good, "inline", "has an illegal schedule 'inline': a loop or another group uses it"},
           {"vector eight", good, good, "has a malformed schedule: expected a number of at least 1 behind 'vector'"},
       }) {
    Lowered lowered = lower(c.f, c.out, c.state);
    EXPECT_NE(lowered.error.find(c.reason), std::string::npos)
        << lowered.error << " for " << c.f << ", " << c.out << ", " << c.state;
    EXPECT_EQ(lowered.loops, "");
  }
}

} // namespace

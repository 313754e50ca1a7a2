// A schedule says where and in which order; the result is the same but for rounding, and its tails too.
#include "Kernels.h"

using namespace lintel;
using namespace lintel::test;

namespace {

TEST(Schedule, ChangesNothingButRounding) {
  Dimensions sizes = {{"dk", 8}, {"dv", 24}};
  for (const char *schedule : {"A: vector 1\nr: vector 1\nS: vector 1", "r: vector 24\nS: vector 24 rows 8",
                               "A: vector 3 rows 3\nr: vector 5 panel 2 rows 3\nS: vector 8 panel 3 rows 4",
                               "A: vector 2 panel 2 rows 2\nr: vector 7 rows 2\nS: vector 4 panel 6 rows 2"}) {
    FormRequest request = form("chunkwise", 4);
    request.schedule = schedule, request.scheduleName = "test.sched";
    const Kernel &kernel = compiled("identity", sizes, LINTEL_F32, {request});
    RandomRequest shape;
    shape.steps = 23, shape.heads = 2, shape.initial = true;
    expectReference(kernel, kernel.random(shape));
  }
}

TEST(Schedule, AnIllegalOneIsRefusedWithAReason) {
  auto file = llvm::cantFail(SpecFile::parse("attention a { token q[dk], k[dk], v[dv] }", "a.attn"));
  for (auto [schedule, reason] : {std::pair{"S: vector 5", "it overwrites what it reads"},
                                  {"r: vector 32", "at most the axis's size 24, found 32"},
                                  {"nothing: vector 1", "'nothing'"},
                                  {"r: vectors 8", "test.sched:1"}}) {
    CompileOptions options;
    options.dimensions = {{"dk", 8}, {"dv", 24}};
    FormRequest request = form("chunkwise", 4);
    request.schedule = schedule, request.scheduleName = "test.sched";
    options.variants = {request};
    auto compiled = compileOperator(*file, file->operators().front(), options);
    ASSERT_FALSE(bool(compiled)) << schedule;
    std::string message = llvm::toString(compiled.takeError());
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
}

} // namespace

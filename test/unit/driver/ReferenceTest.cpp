// Whole runs through the interpreter, against values worked out by hand.
#include "compiler/driver/Reference.h"
#include "Support.h"
#include "compiler/driver/RandomArrays.h"

using namespace lintel;
using namespace lintel::test;

namespace {

/// A sum over time of scalars, one for each head.
const char *const sumText = "attention total {\n  token x\n  state S\n  S = S + x\n  out = S\n}";

RunResult run(const OperatorInfo &op, ArraysRequest r) {
  BoundArrays arrays = llvm::cantFail(bindArrays(op, std::move(r)));
  return llvm::cantFail(interpretArrays(op.spec, op, arrays));
}

TEST(Reference, GroupedHeadsReadTheirGroup) {
  auto file = spec("attention a { token q[n], k[n], v[n] }");
  const OperatorInfo &op = file->operators().front();
  // One step: out = (q . k) v, and heads 0, 1 read group 0 and heads 2, 3 group 1.
  RunResult r =
      run(op, request(NamedArray{"q", array({1, 1, 4, 1}, {1, 2, 3, 4})},
                      NamedArray{"k", array({1, 1, 2, 1}, {10, 100})}, NamedArray{"v", array({1, 1, 1, 1}, {1})}));
  EXPECT_EQ(toDoubles(r.out), (std::vector<double>{10, 20, 300, 400}));
}

TEST(Reference, PackedSequencesKeepApart) {
  auto file = spec(sumText);
  const OperatorInfo &op = file->operators().front();
  ArraysRequest r = request(NamedArray{"x", array({1, 4, 1}, {1, 2, 3, 4})});
  r.lengths = std::vector<int64_t>{0, 3, 0, 1};
  r.initial.push_back({"S", array({4, 1}, {10, 20, 30, 40})});
  RunResult result = run(op, std::move(r));
  EXPECT_EQ(toDoubles(result.out), (std::vector<double>{21, 23, 26, 44}));
  EXPECT_EQ(toDoubles(result.states[0]), (std::vector<double>{10, 26, 30, 44}));
}

TEST(Reference, EmptySequencesPassTheirState) {
  auto file = spec(sumText);
  const OperatorInfo &op = file->operators().front();
  ArraysRequest r = request(NamedArray{"x", array({2, 0, 3})});
  r.initial.push_back({"S", array({2, 3}, {1, 2, 3, 4, 5, 6})});
  RunResult result = run(op, std::move(r));
  EXPECT_EQ(result.out.elements(), 0);
  EXPECT_EQ(toDoubles(result.states[0]), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Reference, PositionsContinue) {
  auto file = spec("attention a {\n  token x\n  state S\n  S = S + x\n  out = position\n}");
  const OperatorInfo &op = file->operators().front();
  ArraysRequest r = request(NamedArray{"x", array({1, 3, 1})});
  r.position = 7;
  EXPECT_EQ(toDoubles(run(op, std::move(r)).out), (std::vector<double>{7, 8, 9}));
}

TEST(Reference, HalfInputsAreWidenedExactly) {
  auto file = spec(sumText);
  const OperatorInfo &op = file->operators().front();
  RunResult r = run(op, request(NamedArray{"x", array({1, 3, 1}, {0.1}, LINTEL_F16)}));
  double x = widenF16(roundToF16(0.1));
  EXPECT_EQ(toDoubles(r.out), (std::vector<double>{x, 2 * x, x + x + x}));
}

TEST(RandomArrays, EqualSeedsGiveEqualArraysAndCutsFit) {
  auto file = spec(identityText);
  const OperatorInfo &op = file->operators().front();
  RandomRequest request;
  request.batch = 2, request.steps = 5, request.heads = 2, request.dimensions = {{"dk", 3}, {"dv", 2}};
  std::vector<InputUse> uses(3, InputUse::Plain);
  BoundArrays a = llvm::cantFail(randomArrays(op, uses, request)), b = llvm::cantFail(randomArrays(op, uses, request));
  EXPECT_EQ(toDoubles(a.inputs[0]), toDoubles(b.inputs[0]));
  BoundArrays cut = llvm::cantFail(cutArrays(op, a, 2, 5, {}));
  EXPECT_EQ(cut.steps, 3);
  EXPECT_EQ(cut.position, 2);
  RunResult whole = llvm::cantFail(interpretArrays(op.spec, op, a));
  BoundArrays head = llvm::cantFail(cutArrays(op, a, 0, 2, {}));
  RunResult first = llvm::cantFail(interpretArrays(op.spec, op, head));
  BoundArrays tail = llvm::cantFail(cutArrays(op, a, 2, 5, std::move(first.states)));
  RunResult second = llvm::cantFail(interpretArrays(op.spec, op, tail));
  EXPECT_EQ(toDoubles(whole.states[0]), toDoubles(second.states[0]));
}

} // namespace

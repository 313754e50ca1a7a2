// Arrays matched with an operator: what is inferred, and what is refused with which words.
#include "Support.h"

using namespace lintel;
using namespace lintel::test;

namespace {

struct Arrays : testing::Test {
  std::unique_ptr<SpecFile> file = spec(identityText);
  const OperatorInfo &op = file->operators().front();

  ArraysRequest usual() {
    return request(NamedArray{"q", array({2, 3, 4, 8})}, NamedArray{"k", array({2, 3, 2, 8})},
                   NamedArray{"v", array({2, 3, 2, 5})});
  }
  std::string refusal(ArraysRequest r) { return messageOf(bindArrays(op, std::move(r))); }
};

TEST_F(Arrays, InfersAxesAndDimensions) {
  auto bound = bindArrays(op, usual());
  ASSERT_TRUE(bool(bound)) << llvm::toString(bound.takeError());
  EXPECT_EQ(bound->batch, 2);
  EXPECT_EQ(bound->steps, 3);
  EXPECT_EQ(bound->heads, 4);
  EXPECT_EQ(bound->dimensions, (Dimensions{{"dk", 8}, {"dv", 5}}));
  EXPECT_EQ(bound->types.text(), "f32");
  EXPECT_EQ(outShape(op, *bound), (llvm::SmallVector<int64_t, 5>{2, 3, 4, 5}));
  EXPECT_EQ(stateShape(op, 0, *bound), (llvm::SmallVector<int64_t, 5>{2, 4, 8, 5}));
}

TEST_F(Arrays, EmptyAxesAreValid) {
  for (auto [b, t] : {std::pair{0, 3}, {2, 0}, {0, 0}}) {
    auto bound = bindArrays(op, request(NamedArray{"q", array({b, t, 4, 8})}, NamedArray{"k", array({b, t, 2, 8})},
                                        NamedArray{"v", array({b, t, 2, 5})}));
    EXPECT_TRUE(bool(bound)) << llvm::toString(bound.takeError());
  }
}

TEST_F(Arrays, ContradictionsNameBothArrays) {
  ArraysRequest r = usual();
  r.inputs[1].array = array({2, 3, 2, 7});
  EXPECT_EQ(refusal(std::move(r)),
            "input 'k': expected dimension 'dk' to be 8 as in input 'q', found 7 in [2, 3, 2, 7]");
  r = usual();
  r.inputs[2].array = array({2, 4, 2, 5});
  EXPECT_EQ(refusal(std::move(r)),
            "input 'v': expected the time axis T to be 3 as in input 'q', found 4 in [2, 4, 2, 5]");
  r = usual();
  r.dimensions = {{"dv", 6}};
  EXPECT_PRED2(contains, refusal(std::move(r)), "expected dimension 'dv' to be 6 as in --dim, found 5");
}

TEST_F(Arrays, HeadsMustDivide) {
  ArraysRequest r = usual();
  r.inputs[1].array = array({2, 3, 3, 8});
  EXPECT_EQ(refusal(std::move(r)), "expected the heads of input 'k' to divide the 4 heads of input 'q', found 3");
  r = usual();
  r.inputs[1].array = array({2, 3, 0, 8});
  EXPECT_PRED2(contains, refusal(std::move(r)), "found 0");
}

TEST_F(Arrays, NamesAreChecked) {
  ArraysRequest r = usual();
  r.inputs[0].name = "qq";
  EXPECT_PRED2(contains, refusal(std::move(r)), "found 'qq'; did you mean 'q'?");
  r = usual();
  r.inputs.pop_back();
  EXPECT_PRED2(contains, refusal(std::move(r)), "expected an array for input 'v' of operator 'identity', found none");
  r = usual();
  r.inputs.push_back({"v", array({2, 3, 2, 5})});
  EXPECT_EQ(refusal(std::move(r)), "expected an input once, found 'v' twice");
  r = usual();
  r.initial.push_back({"z", array({2, 4, 8})});
  EXPECT_PRED2(contains, refusal(std::move(r)), "expected a state of operator 'identity' (S) for --initial, found 'z'");
}

TEST_F(Arrays, RanksAndInitialStatesAreChecked) {
  ArraysRequest r = usual();
  r.inputs[0].array = array({3, 4, 8});
  EXPECT_EQ(refusal(std::move(r)), "expected input 'q' of 4 axes [B, T, H, dk], found 3: [3, 4, 8]");
  r = usual();
  r.initial.push_back({"S", array({2, 4, 5, 8})});
  EXPECT_PRED2(contains, refusal(std::move(r)), "initial state 'S': expected dimension 'dk' to be 8 as in input 'q'");
  r = usual();
  r.initial.push_back({"S", array({1, 4, 8, 5})});
  EXPECT_PRED2(contains, refusal(std::move(r)), "the batch axis B to be 2");
}

TEST_F(Arrays, LengthsAddUp) {
  auto packed = [&](std::vector<int64_t> lengths, int64_t batch = 1) {
    ArraysRequest r = request(NamedArray{"q", array({batch, 4, 1, 8})}, NamedArray{"k", array({batch, 4, 1, 8})},
                              NamedArray{"v", array({batch, 4, 1, 5})});
    r.lengths = std::move(lengths);
    return r;
  };
  auto bound = bindArrays(op, packed({0, 3, 0, 1}));
  ASSERT_TRUE(bool(bound)) << llvm::toString(bound.takeError());
  EXPECT_EQ(bound->sequences(), 4);
  EXPECT_PRED2(contains, refusal(packed({3})), "add up to the time axis T = 4 of input 'q', found 3");
  EXPECT_PRED2(contains, refusal(packed({5, -1})), "expected lengths of 0 or more, found -1");
  EXPECT_PRED2(contains, refusal(packed({4}, 2)), "expected a batch of 1 with --lengths, found 2");
}

TEST_F(Arrays, DtypeFollowsTheInputs) {
  auto typed = [&](lintel_dtype q, lintel_dtype k, lintel_dtype v, TypeRequest types = {}) {
    ArraysRequest r =
        request(NamedArray{"q", array({1, 1, 1, 2}, {1}, q)}, NamedArray{"k", array({1, 1, 1, 2}, {1}, k)},
                NamedArray{"v", array({1, 1, 1, 2}, {1}, v)});
    r.initial.push_back({"S", array({1, 1, 2, 2}, {1}, LINTEL_F16)});
    r.types = std::move(types);
    BoundArrays bound = llvm::cantFail(bindArrays(op, std::move(r)));
    for (auto [info, array] : llvm::zip_equal(op.inputs, bound.inputs))
      EXPECT_EQ(array.dtype, bound.types.of(info.name)) << info.name;
    EXPECT_EQ(bound.initial[0]->dtype, bound.types.state(op));
    return bound.types.text();
  };
  EXPECT_EQ(typed(LINTEL_F32, LINTEL_F32, LINTEL_F32), "f32");
  EXPECT_EQ(typed(LINTEL_F16, LINTEL_F16, LINTEL_F16), "f16");
  EXPECT_EQ(typed(LINTEL_BF16, LINTEL_BF16, LINTEL_BF16), "bf16");
  // The first is the output's.
  EXPECT_EQ(typed(LINTEL_F32, LINTEL_F64, LINTEL_F16), "f64 q=f32 v=f16");
  EXPECT_EQ(typed(LINTEL_BF16, LINTEL_F16, LINTEL_F16), "f32 q=bf16 k=f16 v=f16");
  EXPECT_EQ(typed(LINTEL_F16, LINTEL_F32, LINTEL_F16), "f32 q=f16 v=f16");
  // What is asked for comes before what is found.
  EXPECT_EQ(typed(LINTEL_F16, LINTEL_F32, LINTEL_F64, {LINTEL_BF16, {}}), "bf16");
  EXPECT_EQ(typed(LINTEL_F16, LINTEL_F32, LINTEL_F64, {LINTEL_BF16, {{"k", LINTEL_F64}}}), "bf16 k=f64");
  EXPECT_EQ(typed(LINTEL_F16, LINTEL_F16, LINTEL_F16, {std::nullopt, {{"out", LINTEL_F32}}}), "f32 q=f16 k=f16 v=f16");
  EXPECT_EQ(typed(LINTEL_F64, LINTEL_F16, LINTEL_F16, {std::nullopt, {{"q", LINTEL_F16}}}), "f16");
}

TEST_F(Arrays, StatesFollowTheWidestType) {
  EXPECT_EQ(ElementTypes(LINTEL_BF16).state(op), LINTEL_F32);
  EXPECT_EQ(ElementTypes(LINTEL_F64).state(op), LINTEL_F64);
  EXPECT_EQ(ElementTypes(LINTEL_F32, {{"out", LINTEL_F64}}).state(op), LINTEL_F64);
  EXPECT_EQ(ElementTypes(LINTEL_F16, {{"k", LINTEL_F64}}).state(op), LINTEL_F64);
  ElementTypes none(LINTEL_F64);
  for (const char *name : {"q", "k", "v", "out"}) none.named.emplace_back(name, LINTEL_F16);
  EXPECT_EQ(none.state(op), LINTEL_F32);
}

TEST_F(Arrays, TypesAsText) {
  auto types = [&](std::vector<std::string> texts) -> std::string {
    auto request = parseTypes(texts);
    if (!request) return llvm::toString(request.takeError());
    if (auto e = checkTypes(&op, *request)) return llvm::toString(std::move(e));
    return bindTypes(op, *request).text();
  };
  EXPECT_EQ(types({}), "f32");
  EXPECT_EQ(types({"bf16"}), "bf16");
  // The operator's order, whatever the user's.
  EXPECT_EQ(types({"out=f32", "k=f16", "bf16", "q=f64"}), "bf16 q=f64 k=f16 out=f32");
  EXPECT_EQ(types({"f16", "k=f16"}), "f16");
  EXPECT_EQ(types({"f8"}), "expected a dtype of f64, f32, f16 or bf16, found 'f8'");
  EXPECT_EQ(types({"q="}), "expected a dtype of f64, f32, f16 or bf16, found ''");
  EXPECT_EQ(types({"=f32"}), "expected a dtype as TYPE or NAME=TYPE, found '=f32'");
  EXPECT_EQ(types({"f32", "f32"}), "expected one dtype for all arrays, found 'f32' after another");
  EXPECT_EQ(types({"q=f32", "q=f16"}), "expected one dtype for 'q', found 'q=f16' after another");
  EXPECT_EQ(types({"g=f32"}), "expected an input or output (q, k, v, out) for --dtype, found 'g'");
  EXPECT_EQ(types({"S=f64"}), "expected an input or output for --dtype, found the state 'S'; states are f64 where an "
                              "input or output is, else f32");
}

TEST_F(Arrays, DimensionsThatNoArrayGives) {
  auto other = spec("attention a {\n  token x\n  state S[n]\n  S = S + x\n  out = S\n}");
  ASSERT_TRUE(other);
  const OperatorInfo &a = other->operators().front();
  EXPECT_PRED2(contains, messageOf(bindArrays(a, request(NamedArray{"x", array({1, 2, 1})}))),
               "expected a value for dimension 'n', which no array gives; add --dim n=N");
  ArraysRequest r = request(NamedArray{"x", array({1, 2, 1})});
  r.dimensions = {{"n", 3}};
  EXPECT_EQ(messageOf(bindArrays(a, std::move(r))), "");
}

TEST(SpecFiles, ErrorsAreTheFrontends) {
  auto file = SpecFile::parse("attention a {\n  token q[dk]\n  out = p\n}", "a.attn");
  ASSERT_FALSE(bool(file));
  EXPECT_PRED2(contains, llvm::toString(file.takeError()), "a.attn:3:9: error:");
}

TEST(SpecFiles, OperatorsByName) {
  auto file = spec("attention a { token q[n], k[n], v[n] }\nattention b { token q[n], k[n], v[n] }");
  ASSERT_TRUE(file);
  EXPECT_PRED2(contains, messageOf(file->find("")), "several operators (a, b); choose one by --op NAME");
  EXPECT_PRED2(contains, messageOf(file->find("c")), "found 'c'");
  EXPECT_EQ((*file->find("b"))->name, "b");
}

} // namespace

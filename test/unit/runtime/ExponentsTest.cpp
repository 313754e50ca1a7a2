// States beside exponents: what is asked of their arrays, and where they lie for each head.
#include "lintel/state.h"
#include "test/unit/runtime/FakeKernels.h"
#include "gtest/gtest.h"
#include <cmath>
#include <string>
#include <vector>

namespace {

/// `halved` on B sequences of T steps with H heads; s starts at 1, 2, 3, ..., p at 10, 11, ...
struct Halving {
  Halving(int64_t B, int64_t T, int64_t H)
      : q(B * T * H * 3, 1), o(B * T * H * 3, NAN), s0(B * H * 3), s1(B * H * 3, NAN), p0(B * H), p1(B * H, NAN) {
    for (size_t i = 0; i < s0.size(); ++i) s0[i] = float(i + 1);
    for (size_t i = 0; i < p0.size(); ++i) p0[i] = double(10 + i);
    const int64_t tokens[] = {B, T, H, 3}, states[] = {B, H, 3}, heads[] = {B, H};
    in = lintel_array_contiguous(q.data(), LINTEL_F32, 4, tokens);
    out = lintel_array_contiguous(o.data(), LINTEL_F32, 4, tokens);
    stateIn = lintel_array_contiguous(s0.data(), LINTEL_F32, 3, states);
    stateOut = lintel_array_contiguous(s1.data(), LINTEL_F32, 3, states);
    exponentIn = lintel_array_contiguous(p0.data(), LINTEL_F64, 2, heads);
    exponentOut = lintel_array_contiguous(p1.data(), LINTEL_F64, 2, heads);
    call.kernel = &fake_halved, call.inputs = &in, call.out = &out;
    call.states_in = &stateIn, call.states_out = &stateOut;
    call.exponents_in = &exponentIn, call.exponents_out = &exponentOut;
  }
  int run() { return lintel_run(&call, &error); }
  std::string message() const { return error.message; }

  std::vector<float> q, o, s0, s1;
  std::vector<double> p0, p1;
  lintel_array in, out, stateIn, stateOut, exponentIn, exponentOut;
  lintel_call call{};
  lintel_error error;
};

#define EXPECT_REFUSED(p, status, ...)                                                                                 \
  do {                                                                                                                 \
    EXPECT_EQ((p).run(), status) << (p).message();                                                                     \
    for (const char *part : {__VA_ARGS__})                                                                             \
      EXPECT_NE((p).message().find(part), std::string::npos) << part << " is not in: " << (p).message();               \
  } while (false)

TEST(Exponents, ReachTheirHeads) {
  Halving h(2, 5, 3);
  ASSERT_EQ(h.run(), LINTEL_OK) << h.message();
  EXPECT_EQ(h.s1, h.s0);
  for (size_t i = 0; i < h.p0.size(); ++i) EXPECT_EQ(h.p1[i], h.p0[i] - 5);
}

TEST(Exponents, AreOptional) {
  Halving given(1, 2, 1); // given, not taken: the product
  given.call.exponents_out = nullptr, given.p0[0] = -3;
  ASSERT_EQ(given.run(), LINTEL_OK) << given.message();
  EXPECT_EQ(given.s1, (std::vector<float>{1 / 32.0F, 2 / 32.0F, 3 / 32.0F}));
  Halving taken(1, 2, 1); // taken, not given: from 0
  taken.exponentIn.data = nullptr;
  ASSERT_EQ(taken.run(), LINTEL_OK) << taken.message();
  EXPECT_EQ(taken.s1, taken.s0);
  EXPECT_EQ(taken.p1[0], -2);
  Halving neither(1, 2, 1);
  neither.call.exponents_in = neither.call.exponents_out = nullptr;
  ASSERT_EQ(neither.run(), LINTEL_OK) << neither.message();
  EXPECT_EQ(neither.s1, (std::vector<float>{0.25F, 0.5F, 0.75F}));
}

TEST(Exponents, PassThroughWithoutSteps) {
  Halving both(2, 0, 2);
  ASSERT_EQ(both.run(), LINTEL_OK) << both.message();
  EXPECT_EQ(both.s1, both.s0);
  EXPECT_EQ(both.p1, both.p0);
  Halving product(1, 0, 1);
  product.exponentOut.data = nullptr, product.p0[0] = -2;
  ASSERT_EQ(product.run(), LINTEL_OK) << product.message();
  EXPECT_EQ(product.s1, (std::vector<float>{0.25F, 0.5F, 0.75F}));
  product.p0[0] = 1e6;
  ASSERT_EQ(product.run(), LINTEL_OK) << product.message();
  EXPECT_TRUE(std::isinf(product.s1[0]));
  product.p0[0] = LINTEL_EXPONENT_NONE;
  ASSERT_EQ(product.run(), LINTEL_OK) << product.message();
  EXPECT_EQ(product.s1[0], 0);
  Halving fresh(1, 0, 2); // states that are not given hold nothing yet
  fresh.call.states_in = nullptr;
  ASSERT_EQ(fresh.run(), LINTEL_OK) << fresh.message();
  EXPECT_EQ(fresh.p1, (std::vector<double>{LINTEL_EXPONENT_NONE, LINTEL_EXPONENT_NONE}));
  Halving plain(1, 0, 1);
  plain.exponentIn.data = nullptr;
  ASSERT_EQ(plain.run(), LINTEL_OK) << plain.message();
  EXPECT_EQ(plain.p1[0], 0);
  // Wanted alone.
  Halving alone(1, 0, 1);
  alone.call.states_out = nullptr;
  ASSERT_EQ(alone.run(), LINTEL_OK) << alone.message();
  EXPECT_EQ(alone.p1, alone.p0);
}

TEST(Exponents, PoolsAndPackedSequences) {
  Halving h(1, 5, 2);
  const int64_t lengths[] = {0, 4, 1}, sizes[] = {3, 2}, inner[] = {3, 2, 3};
  std::vector<double> pool(8, 7);
  std::vector<float> states(18, 1);
  lintel_array exponents = lintel_array_contiguous(nullptr, LINTEL_F64, 2, sizes);
  lintel_array state = lintel_array_contiguous(states.data(), LINTEL_F32, 3, inner);
  void *at[] = {&pool[6], &pool[0], &pool[2]};
  void *const *lists[] = {at};
  h.call.lengths = lengths, h.call.num_lengths = 3;
  h.call.states_in = h.call.states_out = &state;
  h.call.exponents_in = h.call.exponents_out = &exponents;
  h.call.exponents_in_at = h.call.exponents_out_at = lists;
  ASSERT_EQ(h.run(), LINTEL_OK) << h.message();
  EXPECT_EQ(pool, (std::vector<double>{3, 3, 6, 6, 7, 7, 7, 7}));
  at[2] = &pool[1]; // meets the second sequence's
  EXPECT_REFUSED(h, LINTEL_ERROR_OVERLAP, "final exponent 'p' of sequence 2", "sequence 1");
  at[2] = nullptr;
  EXPECT_REFUSED(h, LINTEL_ERROR_DATA, "exponent 'p' of sequence 2", "NULL");
  h.call.exponents_in = nullptr;
  EXPECT_REFUSED(h, LINTEL_ERROR_ARGUMENT, "exponents_in", "1 arrays");
}

TEST(Exponents, Refused) {
  Halving h(2, 3, 2);
  h.exponentIn.dtype = LINTEL_F32;
  EXPECT_REFUSED(h, LINTEL_ERROR_DTYPE, "initial exponent 'p'", "expected f64", "found f32");
  h.exponentIn.dtype = LINTEL_F64, h.exponentIn.rank = 3;
  EXPECT_REFUSED(h, LINTEL_ERROR_SHAPE, "initial exponent 'p'", "2 axes [B, H]", "found 3");
  h.exponentIn.rank = 2, h.exponentOut.shape[1] = 1;
  EXPECT_REFUSED(h, LINTEL_ERROR_SHAPE, "final exponent 'p'", "head axis H", "expected 2", "found 1");
  h.exponentOut.shape[1] = 2, h.exponentOut.shape[0] = 1;
  EXPECT_REFUSED(h, LINTEL_ERROR_SHAPE, "final exponent 'p'", "batch axis B", "found 1");
  h.exponentOut.shape[0] = 2, h.exponentOut.data = reinterpret_cast<char *>(h.p1.data()) + 4;
  EXPECT_REFUSED(h, LINTEL_ERROR_DATA, "final exponent 'p'", "multiple of 8");
  h.exponentOut.data = h.p0.data() + 1;
  EXPECT_REFUSED(h, LINTEL_ERROR_OVERLAP, "final exponent 'p'", "initial exponent 'p'");
  h.exponentOut.data = h.p0.data(); // in place
  EXPECT_EQ(h.run(), LINTEL_OK) << h.message();
  h.exponentOut.data = h.s1.data();
  EXPECT_EQ(h.run(), LINTEL_ERROR_OVERLAP) << h.message();
}

TEST(Exponents, DamagedKernels) {
  Halving h(1, 1, 1);
  lintel_kernel bad = fake_halved;
  lintel_parameter state = fake_halved.states[0], exponent = fake_halved.exponents[0];
  h.call.kernel = &bad;
  bad.exponents = nullptr;
  EXPECT_REFUSED(h, LINTEL_ERROR_KERNEL, "no exponents");
  bad.exponents = &exponent, exponent.dtype = LINTEL_F32;
  EXPECT_REFUSED(h, LINTEL_ERROR_KERNEL, "neither one f64");
  exponent.dtype = LINTEL_F64, exponent.kind = LINTEL_STATE;
  EXPECT_REFUSED(h, LINTEL_ERROR_KERNEL, "wrong kind");
  exponent.kind = LINTEL_EXPONENT, state.exponent = 2, bad.states = &state;
  EXPECT_REFUSED(h, LINTEL_ERROR_KERNEL, "an exponent that is not there");
  state.exponent = 1, exponent.rank = 1, exponent.dim[0] = state.dim[0] + 1;
  EXPECT_REFUSED(h, LINTEL_ERROR_KERNEL, "exponents of another size");
  exponent.rank = 2, exponent.dim[0] = state.dim[0], exponent.dim[1] = 1;
  EXPECT_REFUSED(h, LINTEL_ERROR_KERNEL, "nor a vector");
}

TEST(Exponents, OneForEachRow) {
  lintel_kernel kernel = fake_halved;
  lintel_parameter exponent = fake_halved.exponents[0];
  const int64_t rows = fake_halved.states[0].dim[0];
  exponent.rank = 1, exponent.dim[0] = rows, kernel.exponents = &exponent;
  lintel_error error;
  lintel_state *state = lintel_state_create_with_exponents(&kernel, 2, 5, nullptr, &error);
  ASSERT_NE(state, nullptr) << error.message;
  ASSERT_EQ(state->exponents[0].rank, 3);
  EXPECT_EQ(state->exponents[0].shape[2], rows);
  EXPECT_GE(state->memory_bytes, lintel_state_bytes(&kernel, 2, 5) + 2 * 5 * rows * sizeof(double));
  for (int64_t i = 0; i < 2 * 5 * rows; ++i)
    EXPECT_EQ(static_cast<double *>(state->exponents[0].data)[i], LINTEL_EXPONENT_NONE);
  lintel_state_destroy(state);
  EXPECT_EQ(lintel_state_create_with_exponents(&kernel, INT64_MAX / 64, 8, nullptr, &error), nullptr);
}

TEST(Exponents, OfAState) {
  lintel_error error;
  lintel_state *state = lintel_state_create_with_exponents(&fake_halved, 2, 3, nullptr, &error);
  ASSERT_NE(state, nullptr) << error.message;
  EXPECT_EQ(state->memory_bytes, lintel_state_bytes(&fake_halved, 2, 3) + 64);
  ASSERT_NE(state->exponents, nullptr);
  auto *p = static_cast<double *>(state->exponents[0].data);
  EXPECT_EQ(reinterpret_cast<char *>(p), static_cast<char *>(state->memory) + lintel_state_bytes(&fake_halved, 2, 3));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(p[i], LINTEL_EXPONENT_NONE);
  for (int i = 0; i < 6; ++i) p[i] = i;
  Halving h(2, 4, 3);
  ASSERT_EQ(lintel_advance(state, &h.in, &h.out, &error), LINTEL_OK) << error.message;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(p[i], i - 4);
  lintel_state_clear(state);
  EXPECT_EQ(p[5], LINTEL_EXPONENT_NONE);
  lintel_state_destroy(state);
  EXPECT_EQ(lintel_state_create_with_exponents(&fake_halved, INT64_C(1) << 40, INT64_C(1) << 40, nullptr, &error),
            nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_ARGUMENT);
  // Others have none, and a state as ever has none either.
  for (lintel_state *none : {lintel_state_create_with_exponents(&fake_blend, 1, 1, nullptr, &error),
                             lintel_state_create(&fake_halved, 1, 1, nullptr, &error)}) {
    ASSERT_NE(none, nullptr);
    EXPECT_EQ(none->exponents, nullptr);
    lintel_state_destroy(none);
  }
}

} // namespace

#include "lintel/state.h"
#include "test/unit/runtime/Problem.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>

namespace {

TEST(State, BytesAndLayout) {
  // S: 2 * 3 * 6 floats = 144 bytes, in 192; z: 2 * 3 * 3 floats = 72 bytes, in 128.
  EXPECT_EQ(lintel_state_bytes(&fake_blend, 2, 3), 192u + 128u);
  EXPECT_EQ(lintel_state_bytes(&fake_blend, 0, 3), 0u);
  EXPECT_EQ(lintel_state_bytes(&fake_bare, 2, 3), 0u);
  EXPECT_EQ(lintel_state_bytes(nullptr, 2, 3), UINT64_MAX);
  EXPECT_EQ(lintel_state_bytes(&fake_blend, -1, 3), UINT64_MAX);
  EXPECT_EQ(lintel_state_bytes(&fake_blend, INT64_MAX, INT64_MAX), UINT64_MAX);
  EXPECT_EQ(lintel_state_bytes(&fake_blend, INT64_C(1) << 58, 1), UINT64_MAX);

  alignas(64) char memory[320];
  lintel_array arrays[2];
  lintel_error error;
  ASSERT_EQ(lintel_state_arrays(&fake_blend, 2, 3, memory, arrays, &error), LINTEL_OK);
  EXPECT_EQ(arrays[0].data, memory);
  EXPECT_EQ(arrays[1].data, memory + 192);
  EXPECT_EQ(arrays[0].rank, 4);
  EXPECT_EQ(arrays[0].stride[0], 18);
  EXPECT_EQ(arrays[1].shape[2], 3);
  EXPECT_EQ(lintel_state_arrays(&fake_blend, 2, 3, memory + 4, arrays, &error), LINTEL_ERROR_DATA);
  EXPECT_EQ(lintel_state_arrays(&fake_blend, 2, 3, nullptr, arrays, &error), LINTEL_ERROR_ARGUMENT);
  EXPECT_EQ(lintel_state_arrays(&fake_blend, -2, 3, memory, arrays, &error), LINTEL_ERROR_ARGUMENT);
  EXPECT_EQ(lintel_state_arrays(&fake_bare, 2, 3, nullptr, nullptr, &error), LINTEL_OK);
}

// The steps [first, first + count) of a problem's arrays.
struct Slice {
  Slice(const Problem &p, int64_t first, int64_t count) : out(p.out) {
    for (int i = 0; i < 5; ++i) {
      in[i] = p.in[i];
      if (i <= Problem::U) cut(in[i], first, count);
    }
    cut(out, first, count);
  }
  static void cut(lintel_array &a, int64_t first, int64_t count) {
    a.data = static_cast<float *>(a.data) + first * a.stride[1];
    a.shape[1] = count;
  }
  lintel_array in[5], out;
};

TEST(State, PrefillThenDecodeIsTheWhole) {
  Problem whole(2, 9, 4, 2);
  whole.call.states_in = nullptr;
  ASSERT_EQ(whole.run(), LINTEL_OK);
  for (int64_t prefill = 0; prefill <= 9; ++prefill) {
    Problem p(2, 9, 4, 2);
    lintel_error error;
    lintel_state *state = lintel_state_create(&fake_blend, 2, 4, nullptr, &error);
    ASSERT_NE(state, nullptr) << error.message;
    Slice head(p, 0, prefill);
    ASSERT_EQ(lintel_advance(state, head.in, &head.out, &error), LINTEL_OK) << error.message;
    for (int64_t t = prefill; t < 9; ++t) {
      Slice step(p, t, 1);
      ASSERT_EQ(lintel_step(state, step.in, &step.out, &error), LINTEL_OK) << error.message;
    }
    EXPECT_EQ(p.o, whole.o);
    EXPECT_EQ(state->position, 9);
    EXPECT_EQ(std::memcmp(state->arrays[0].data, whole.s1.data(), whole.s1.size() * 4), 0);
    EXPECT_EQ(std::memcmp(state->arrays[1].data, whole.z1.data(), whole.z1.size() * 4), 0);
    lintel_state_clear(state);
    Slice again(p, 0, 9);
    ASSERT_EQ(lintel_advance(state, again.in, &again.out, &error), LINTEL_OK);
    EXPECT_EQ(p.o, whole.o);
    lintel_state_destroy(state);
  }
}

TEST(State, OnThreads) {
  lintel_pool *pool = lintel_pool_create(3, nullptr);
  Problem whole(2, 5, 4), p(2, 5, 4);
  whole.call.states_in = nullptr;
  ASSERT_EQ(whole.run(), LINTEL_OK);
  lintel_state *state = lintel_state_create(&fake_blend, 2, 4, lintel_pool_executor(pool), nullptr);
  ASSERT_NE(state, nullptr);
  for (int64_t t = 0; t < 5; ++t) {
    Slice step(p, t, 1);
    ASSERT_EQ(lintel_step(state, step.in, &step.out, nullptr), LINTEL_OK);
  }
  EXPECT_EQ(p.o, whole.o);
  lintel_state_destroy(state);
  lintel_pool_destroy(pool);
}

TEST(State, Refusals) {
  lintel_error error;
  EXPECT_EQ(lintel_state_create(&fake_total, 1, 1, nullptr, &error), nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_NOT_CAUSAL);
  EXPECT_EQ(lintel_state_create(&fake_again, 1, 1, nullptr, &error), nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_NO_STATE);
  EXPECT_NE(std::string(error.message).find("'again' has no state of constant size"), std::string::npos)
      << error.message;
  EXPECT_EQ(lintel_state_create(nullptr, 1, 1, nullptr, &error), nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_ARGUMENT);
  EXPECT_EQ(lintel_state_create(&fake_blend, -1, 1, nullptr, &error), nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_ARGUMENT);
  const lintel_executor none = {nullptr, 0, nullptr};
  EXPECT_EQ(lintel_state_create(&fake_blend, 1, 1, &none, &error), nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_ARGUMENT);
  lintel_state_destroy(nullptr);

  lintel_state *state = lintel_state_create(&fake_blend, 2, 4, nullptr, &error);
  ASSERT_NE(state, nullptr);
  Problem two(2, 2, 4), other(1, 1, 4);
  EXPECT_EQ(lintel_step(state, two.in, &two.out, &error), LINTEL_ERROR_SHAPE);
  EXPECT_STREQ(error.message,
               "output 'out': lintel_step takes exactly one step: expected T = 1, found 2; lintel_advance "
               "takes any number");
  Problem one(2, 1, 4);
  EXPECT_EQ(lintel_step(state, two.in, &one.out, &error), LINTEL_ERROR_SHAPE);
  EXPECT_NE(std::string(error.message).find(": lintel_step takes exactly one step: expected T = 1, found 2"),
            std::string::npos)
      << error.message;
  EXPECT_EQ(std::string(error.message).find("input '"), 0u) << error.message;
  EXPECT_EQ(lintel_step(state, other.in, &other.out, &error), LINTEL_ERROR_SHAPE);
  EXPECT_EQ(lintel_step(nullptr, other.in, &other.out, &error), LINTEL_ERROR_ARGUMENT);
  EXPECT_EQ(lintel_advance(state, two.in, nullptr, &error), LINTEL_ERROR_ARGUMENT);
  EXPECT_EQ(state->position, 0);
  lintel_state_destroy(state);

  // An operator without states is stepped all the same.
  state = lintel_state_create(&fake_bare, 2, 4, nullptr, &error);
  ASSERT_NE(state, nullptr) << error.message;
  EXPECT_EQ(lintel_advance(state, two.in, &two.out, &error), LINTEL_OK) << error.message;
  EXPECT_EQ(state->position, 2);
  lintel_state_destroy(state);
}

} // namespace

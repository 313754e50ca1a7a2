// Operators with several outputs.
#include "lintel/state.h"
#include "test/unit/runtime/Problem.h"
#include "gtest/gtest.h"

namespace {

struct TwoOutputs {
  explicit TwoOutputs(int64_t B, int64_t T, int64_t H) {
    Problem::add(q, in, {B, T, H, 3}, 1);
    Problem::add(o, out[0], {B, T, H, 3}, -1);
    Problem::add(s, out[1], {B, T, H}, -1);
    call.kernel = &fake_both;
    call.inputs = &in;
    call.out = out;
  }
  int run() { return lintel_run(&call, &error); }
  int wrong() const {
    int bad = 0;
    for (size_t i = 0; i < s.size(); ++i) {
      bad += s[i] != q[3 * i] + q[3 * i + 1] + q[3 * i + 2];
      for (size_t c = 0; c < 3; ++c) bad += o[3 * i + c] != 2 * q[3 * i + c];
    }
    return bad;
  }
  std::vector<float> q, o, s;
  lintel_array in, out[2];
  lintel_call call{};
  lintel_error error{};
};

TEST(Outputs, EachGoesToItsArray) {
  for (int64_t T : {1, 2, 7}) {
    TwoOutputs p(2, T, 3);
    ASSERT_EQ(p.run(), LINTEL_OK) << p.error.message;
    EXPECT_EQ(p.wrong(), 0);
  }
  EXPECT_EQ(lintel_output_index(&fake_both, "out"), 0);
  EXPECT_EQ(lintel_output_index(&fake_both, "sum"), 1);
  EXPECT_EQ(lintel_output_index(&fake_both, "q"), -1);
}

TEST(Outputs, PackedAndThreaded) {
  TwoOutputs p(1, 6, 2);
  int64_t lengths[] = {0, 5, 1};
  p.call.lengths = lengths, p.call.num_lengths = 3;
  lintel_pool *pool = lintel_pool_create(2, nullptr);
  p.call.executor = lintel_pool_executor(pool);
  EXPECT_EQ(p.run(), LINTEL_OK) << p.error.message;
  EXPECT_EQ(p.wrong(), 0);
  lintel_pool_destroy(pool);
}

TEST(Outputs, StridesOfTheirOwn) {
  TwoOutputs p(1, 4, 2);
  std::vector<float> wide(4 * 2 * 5, NAN);
  p.out[1].data = wide.data();
  p.out[1].stride[1] = 10, p.out[1].stride[2] = 5;
  ASSERT_EQ(p.run(), LINTEL_OK) << p.error.message;
  for (size_t i = 0; i < 8; ++i) p.s[i] = wide[5 * i];
  EXPECT_EQ(p.wrong(), 0);
}

TEST(Outputs, AreChecked) {
  TwoOutputs p(1, 4, 2);
  auto refused = [&](const char *what) {
    EXPECT_NE(p.run(), LINTEL_OK);
    EXPECT_NE(std::string(p.error.message).find(what), std::string::npos) << p.error.message;
  };
  lintel_array good = p.out[1];
  p.out[1].data = nullptr;
  refused("output 'sum': expected data, found NULL");
  p.out[1] = good, p.out[1].shape[1] = 3;
  refused("output 'sum': time axis T: expected 4 as in 'q', found 3");
  p.out[1] = good, p.out[1].data = p.o.data() + 2;
  refused("'sum' shares memory with");
  p.out[1] = good, p.out[1].dtype = LINTEL_F64;
  refused("output 'sum': expected f32 elements, found f64");
  lintel_kernel none = fake_both;
  none.num_outputs = 0;
  p.out[1] = good, p.call.kernel = &none;
  refused("no output");
}

TEST(Outputs, StepByStep) {
  TwoOutputs p(1, 3, 2);
  lintel_error error;
  lintel_state *state = lintel_state_create(&fake_both, 1, 2, nullptr, &error);
  ASSERT_NE(state, nullptr) << error.message;
  for (int64_t t = 0; t < 3; ++t) {
    lintel_array in = p.in, out[2] = {p.out[0], p.out[1]};
    for (lintel_array *a : {&in, &out[0], &out[1]}) {
      a->data = static_cast<float *>(a->data) + t * a->stride[1];
      a->shape[1] = 1;
    }
    EXPECT_EQ(lintel_step(state, &in, out, &error), LINTEL_OK) << error.message;
  }
  EXPECT_EQ(p.wrong(), 0);
  lintel_state_destroy(state);
}

} // namespace

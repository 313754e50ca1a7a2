// Heads in parts: the same bits as whole heads, whatever is divided, and when parts are used.
#include "test/unit/runtime/Problem.h"
#include "gtest/gtest.h"
#include <cstring>

namespace {

/// The executor of a test: `threads` of them in turns, the last range first; it remembers the count.
struct Turns {
  explicit Turns(int threads) : executor{this, threads, run} {}
  static void run(void *context, int64_t count, lintel_task task, void *data) {
    auto &self = *static_cast<Turns *>(context);
    self.count = count;
    for (int64_t i = count; i-- > 0;) task(data, i, i + 1, int(i % self.executor.threads));
  }
  lintel_executor executor;
  int64_t count = -1;
};

struct Parted {
  enum { S, R, N };
  Parted(int64_t B, int64_t T, int64_t H, int64_t groups = 0, int64_t sequences = -1) : executor(2) {
    if (sequences < 0) sequences = B;
    add(in[0], {B, T, H, 2});
    add(in[1], {B, T, groups ? groups : H, 4});
    add(in[2], {3, 4});
    add(in[3], {H, 4, 2});
    const std::vector<int64_t> shapes[] = {{sequences, H, 2, 4}, {sequences, H, 4, 2}, {sequences, H, 2}};
    for (int i = 0; i < 3; ++i) add(before[i], shapes[i]), add(after[i], shapes[i], true);
    for (int i = 0; i < 2; ++i) add(out[i], {B, T, H, 4}, true);
    p.assign(size_t(sequences * H), 3), pOut.assign(p.size(), NAN);
    const int64_t shape[] = {sequences, H};
    pBefore = lintel_array_contiguous(p.data(), LINTEL_F64, 2, shape);
    pAfter = lintel_array_contiguous(pOut.data(), LINTEL_F64, 2, shape);
    call.kernel = &fake_parted;
    call.inputs = in;
    call.states_in = before, call.states_out = after;
    call.exponents_in = &pBefore, call.exponents_out = &pAfter;
    call.out = out;
    call.executor = &executor.executor;
  }
  Parted(const Parted &) = delete;

  void add(lintel_array &a, std::vector<int64_t> shape, bool isOutput = false) {
    numbers.emplace_back();
    Problem::add(numbers.back(), a, shape, isOutput ? -1 : int(numbers.size()));
  }
  /// Runs in memory that says so if it is read before it is written.
  int run(int32_t parts) {
    call.parts = parts;
    scratch.assign(lintel_scratch_bytes(&fake_parted, nullptr, 0, executor.executor.threads) + 1, char(0xff));
    call.scratch = scratch.data() + 1, call.scratch_bytes = scratch.size() - 1;
    return lintel_run(&call, &error);
  }

  std::vector<std::vector<float>> numbers;
  std::vector<double> p, pOut;
  lintel_array in[4], before[3], after[3], out[2], pBefore, pAfter;
  lintel_call call = {};
  lintel_error error = {};
  std::vector<char> scratch;
  Turns executor;
};

/// All arrays the same; NaN nowhere.
void expectSame(const Parted &a, const Parted &b) {
  EXPECT_EQ(a.numbers, b.numbers);
  EXPECT_EQ(a.p, b.p);
  EXPECT_EQ(a.pOut, b.pOut);
}

TEST(Parts, GiveTheWhole) {
  for (int64_t B : {1, 2})
    for (int64_t T : {1, 2, 7})
      for (int64_t H : {1, 2, 4}) {
        Parted whole(B, T, H, 1), parts(B, T, H, 1);
        ASSERT_EQ(whole.run(LINTEL_PARTS_NEVER), LINTEL_OK) << whole.error.message;
        EXPECT_EQ(whole.executor.count, B * H);
        ASSERT_EQ(parts.run(LINTEL_PARTS_ALWAYS), LINTEL_OK) << parts.error.message;
        EXPECT_EQ(parts.executor.count, 2 * B * H);
        expectSame(whole, parts);
        EXPECT_EQ(parts.pOut[0], 3 + double(T));
      }
}

TEST(Parts, OnAPoolOfThreads) {
  lintel_pool *pool = lintel_pool_create(3, nullptr);
  Parted whole(1, 50, 3);
  ASSERT_EQ(whole.run(LINTEL_PARTS_NEVER), LINTEL_OK);
  for (int again = 0; again < 20; ++again) {
    Parted parts(1, 50, 3);
    parts.executor.executor.threads = 3; // for its scratch
    parts.call.executor = lintel_pool_executor(pool);
    ASSERT_EQ(parts.run(LINTEL_PARTS_ALWAYS), LINTEL_OK) << parts.error.message;
    expectSame(whole, parts);
  }
  lintel_pool_destroy(pool);
}

TEST(Parts, StridesOfRowsAndHeads) {
  // Rows of `w` and `a` apart, and v and the outputs as [B, H, T, 4].
  auto bend = [](Parted &p, std::vector<float> &w, std::vector<float> &a) {
    w.assign(30, NAN), a.assign(100, NAN);
    for (int r = 0; r < 3; ++r)
      for (int e = 0; e < 4; ++e) w[size_t(r * 9 + e)] = Problem::at(p.in[2], {r, e});
    for (int h = 0; h < 2; ++h)
      for (int e = 0; e < 4; ++e)
        for (int c = 0; c < 2; ++c) a[size_t(h * 40 + e * 7 + c)] = Problem::at(p.in[3], {h, e, c});
    p.in[2].data = w.data(), p.in[2].stride[0] = 9;
    p.in[3].data = a.data(), p.in[3].stride[0] = 40, p.in[3].stride[1] = 7;
    for (lintel_array *x : {&p.in[1], &p.out[0], &p.out[1]}) x->stride[1] = 4, x->stride[2] = 4 * 5;
  };
  Parted whole(1, 5, 2), parts(1, 5, 2);
  std::vector<float> w[2], a[2];
  bend(whole, w[0], a[0]);
  bend(parts, w[1], a[1]);
  ASSERT_EQ(whole.run(LINTEL_PARTS_NEVER), LINTEL_OK) << whole.error.message;
  ASSERT_EQ(parts.run(LINTEL_PARTS_ALWAYS), LINTEL_OK) << parts.error.message;
  expectSame(whole, parts);
}

TEST(Parts, StatesAreOptional) {
  for (int mask = 0; mask < 256; ++mask) {
    Parted whole(1, 3, 2), parts(1, 3, 2);
    for (Parted *one : {&whole, &parts}) {
      for (int i = 0; i < 3; ++i) {
        if (mask >> i & 1) one->before[i].data = nullptr;
        if (mask >> (3 + i) & 1) one->after[i].data = nullptr;
      }
      if (mask & 64) one->pBefore.data = nullptr;
      if (mask & 128) one->pAfter.data = nullptr;
      ASSERT_EQ(one->run(one == &whole ? LINTEL_PARTS_NEVER : LINTEL_PARTS_ALWAYS), LINTEL_OK) << one->error.message;
    }
    for (int i = 0; i < 2; ++i)
      for (int64_t t = 0; t < 3; ++t)
        for (int64_t e = 0; e < 4; ++e)
          EXPECT_EQ(Problem::at(whole.out[i], {0, t, 1, e}), Problem::at(parts.out[i], {0, t, 1, e})) << mask;
    for (int i = 0; i < 3; ++i)
      if (whole.after[i].data)
        EXPECT_EQ(std::memcmp(whole.after[i].data, parts.after[i].data, 4 * 2 * (i < 2 ? 8 : 2)), 0) << mask << i;
    if (!(mask & 128)) EXPECT_EQ(whole.pOut, parts.pOut) << mask;
  }
}

TEST(Parts, StatesInPlace) {
  // A part that ends early must not write what the others still have to read.
  Parted whole(2, 5, 2), parts(2, 5, 2);
  for (int i = 0; i < 3; ++i) parts.after[i] = parts.before[i];
  parts.pAfter = parts.pBefore;
  ASSERT_EQ(whole.run(LINTEL_PARTS_NEVER), LINTEL_OK);
  ASSERT_EQ(parts.run(LINTEL_PARTS_ALWAYS), LINTEL_OK) << parts.error.message;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(std::memcmp(whole.after[i].data, parts.after[i].data, 4 * 4 * (i < 2 ? 8 : 2)), 0) << i;
  EXPECT_EQ(parts.p, whole.pOut);
}

TEST(Parts, PackedSequencesAndStatesAtAddresses) {
  const int64_t lengths[] = {2, 0, 5, 1};
  Parted whole(1, 8, 2, 0, 4), parts(1, 8, 2, 0, 4);
  for (Parted *one : {&whole, &parts}) one->call.lengths = lengths, one->call.num_lengths = 4;
  // Sequences last to first, stepped in place where they lie.
  std::vector<void *> at[3], pAt;
  void *const *lists[3];
  const int64_t sizes[] = {16, 16, 4};
  for (int i = 0; i < 3; ++i) {
    for (int64_t s = 0; s < 4; ++s) at[i].push_back(static_cast<float *>(parts.before[i].data) + s * sizes[i]);
    lists[i] = at[i].data();
  }
  for (size_t s = 0; s < 4; ++s) pAt.push_back(parts.p.data() + 2 * s);
  void *const *pList = pAt.data();
  parts.call.states_in_at = parts.call.states_out_at = lists;
  parts.call.exponents_in_at = parts.call.exponents_out_at = &pList;
  ASSERT_EQ(whole.run(LINTEL_PARTS_NEVER), LINTEL_OK) << whole.error.message;
  ASSERT_EQ(parts.run(LINTEL_PARTS_ALWAYS), LINTEL_OK) << parts.error.message;
  EXPECT_EQ(parts.executor.count, 16);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(std::memcmp(whole.out[i].data, parts.out[i].data, 8 * 2 * 4 * 4), 0);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(std::memcmp(whole.after[i].data, parts.before[i].data, size_t(4 * sizes[i]) * 4), 0) << i;
  EXPECT_EQ(parts.p, whole.pOut);
}

int64_t countOf(int64_t T, int64_t H, int threads, int64_t cost = 550, const int64_t *lengths = nullptr,
                int64_t sequences = -1) {
  lintel_kernel kernel = fake_parted;
  lintel_variant variant = fake_parted.variants[0];
  variant.part_cost = cost;
  kernel.variants = &variant;
  Parted p(1, T, H, 0, sequences);
  p.call.kernel = &kernel;
  p.executor.executor.threads = threads;
  p.call.lengths = lengths, p.call.num_lengths = lengths ? sequences : 0;
  EXPECT_EQ(p.run(LINTEL_PARTS_AUTO), LINTEL_OK) << p.error.message;
  return p.executor.count;
}

TEST(Parts, AreUsedWhereHeadsDoNotFillTheThreads) {
  const int64_t T = 1 << 15; // its states have 18 numbers
  EXPECT_EQ(countOf(T, 1, 2), 2);
  EXPECT_EQ(countOf(T, 1, 4), 2);
  EXPECT_EQ(countOf(T, 3, 2), 6); // 2 turns, or 3 of 0.55
  EXPECT_EQ(countOf(T, 1, 1), 1);
  EXPECT_EQ(countOf(T, 2, 2), 2);
  EXPECT_EQ(countOf(T, 4, 2), 4);
  EXPECT_EQ(countOf(T, 5, 2), 10); // 3 turns, or 5 of 0.55
  EXPECT_EQ(countOf(T, 5, 2, 580), 5);
  EXPECT_EQ(countOf(T, 1, 2, 960), 1);
  EXPECT_EQ(countOf(T, 9, 2), 9); // more than the scratch has room for
  EXPECT_EQ(countOf(1000, 1, 2), 1);
  // The longest sequence alone, beside the others.
  const int64_t uneven[] = {T - 10, 10}, even[] = {T / 2, T / 2};
  EXPECT_EQ(countOf(T, 1, 2, 550, uneven, 2), 4);
  EXPECT_EQ(countOf(T, 1, 2, 550, even, 2), 2);
}

TEST(Parts, ThatDoNotDivideAreRefused) {
  lintel_variant variant = fake_parted.variants[0];
  auto refused = [&](void (*bend)(lintel_kernel &, lintel_variant &)) {
    lintel_kernel kernel = fake_parted;
    lintel_variant bent = variant;
    static lintel_parameter states[3], outputs[2];
    std::copy_n(fake_parted.states, 3, states);
    std::copy_n(fake_parted.out, 2, outputs);
    kernel.states = states, kernel.out = outputs, kernel.variants = &bent;
    bend(kernel, bent);
    Parted p(1, 2, 1);
    p.call.kernel = &kernel;
    bool is = p.run(LINTEL_PARTS_AUTO) == LINTEL_ERROR_KERNEL;
    return is && std::string(p.error.message).find("a variant whose parts do not divide it") != std::string::npos;
  };
  using K = lintel_kernel;
  using V = lintel_variant;
  EXPECT_FALSE(refused([](K &, V &) {}));
  EXPECT_TRUE(refused([](K &, V &v) { v.parts = 1; }));
  EXPECT_TRUE(refused([](K &, V &v) { v.parts = 3; }));
  EXPECT_TRUE(refused([](K &, V &v) { v.run_part = nullptr; }));
  EXPECT_TRUE(refused([](K &, V &v) { v.part_cost = 0; }));
  EXPECT_TRUE(refused([](K &k, V &) { const_cast<lintel_parameter *>(k.out)[1].columns = 0; }));
  EXPECT_TRUE(refused([](K &k, V &) { const_cast<lintel_parameter *>(k.out)[1].columns = 2; }));
  EXPECT_TRUE(refused([](K &k, V &) { const_cast<lintel_parameter *>(k.states)[2].columns = 1; })); // p is not divided
  Parted p(1, 2, 1);
  EXPECT_EQ(p.run(3), LINTEL_ERROR_ARGUMENT);
  EXPECT_EQ(std::string(p.error.message), "parts: expected a lintel_parts from 0 to 2, found 3");
}

TEST(Parts, NothingIsMovedAfterABrokenExecutor) {
  Parted p(1, 2, 1);
  lintel_executor lazy = {nullptr, 2, [](void *, int64_t, lintel_task task, void *data) { task(data, 0, 1, 0); }};
  p.call.executor = &lazy;
  EXPECT_EQ(p.run(LINTEL_PARTS_ALWAYS), LINTEL_ERROR_EXECUTOR);
  EXPECT_TRUE(std::isnan(Problem::at(p.after[Parted::N], {0, 0, 0})));
}

} // namespace

#include "test/unit/runtime/Problem.h"
#include "gtest/gtest.h"
#include <sys/mman.h>
#include <unistd.h>

namespace {

TEST(Run, MatchesItsMeaningForManyShapes) {
  for (int64_t B : {1, 2, 3})
    for (int64_t T : {1, 2, 5, 17})
      for (int64_t H : {1, 2, 6}) {
        Problem p(B, T, H);
        ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
        EXPECT_EQ(p.wrong(), 0) << B << " " << T << " " << H;
        EXPECT_EQ(p.message(), "");
      }
}

TEST(Run, EveryFormGivesTheSame) {
  for (const char *form : {"recurrent", "chunkwise", static_cast<const char *>(nullptr)}) {
    Problem p(2, 9, 4);
    p.call.form = form;
    ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
    EXPECT_EQ(p.wrong(), 0);
  }
}

TEST(Run, StatesAreOptional) {
  for (int mask = 0; mask < 16; ++mask) {
    Problem p(2, 3, 2);
    if (mask & 1) p.statesIn[Problem::S].data = nullptr;
    if (mask & 2) p.statesIn[Problem::Z].data = nullptr;
    if (mask & 4) p.statesOut[Problem::S].data = nullptr;
    if (mask & 8) p.statesOut[Problem::Z].data = nullptr;
    ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
    EXPECT_EQ(p.wrong(), 0) << mask;
  }
  Problem p(2, 3, 2);
  p.call.states_in = p.call.states_out = nullptr;
  ASSERT_EQ(p.run(), LINTEL_OK);
  EXPECT_EQ(p.wrong(), 0);
}

TEST(Run, StateInPlace) {
  Problem p(2, 5, 3);
  std::vector<float> s = p.s0, z = p.z0;
  p.initial[0] = p.statesIn[0];
  p.initial[1] = p.statesIn[1];
  p.initial[0].data = s.data();
  p.initial[1].data = z.data();
  p.statesOut[0] = p.statesIn[0];
  p.statesOut[1] = p.statesIn[1];
  ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
  EXPECT_EQ(p.wrong(), 0);
}

TEST(Run, StatesAtAddresses) {
  // A pack with empty sequences, whose states lie in slots of a pool; S in place, z to other slots.
  const int64_t lengths[] = {2, 0, 5, 1, 0}, slots[] = {4, 0, 3, 6, 2}, H = 3;
  for (int threads : {1, 3}) {
    Problem plain(1, 8, H, 0, 5), p(1, 8, H, 0, 5);
    for (Problem *one : {&plain, &p}) one->call.lengths = lengths, one->call.num_lengths = 5;
    ASSERT_EQ(plain.run(), LINTEL_OK) << plain.message();
    std::vector<float> s(7 * H * 6, NAN), z(7 * H * 3, NAN), z2 = z;
    std::vector<void *> sAt, zAt, z2At;
    for (int64_t i = 0; i < 5; ++i) {
      std::copy_n(p.s0.data() + i * H * 6, H * 6, s.data() + slots[i] * H * 6);
      std::copy_n(p.z0.data() + i * H * 3, H * 3, z.data() + slots[i] * H * 3);
      sAt.push_back(s.data() + slots[i] * H * 6);
      zAt.push_back(z.data() + slots[i] * H * 3);
      z2At.push_back(z2.data() + slots[4 - i] * H * 3);
    }
    void *const *in[] = {sAt.data(), zAt.data()}, *const * out[] = {sAt.data(), z2At.data()};
    p.call.states_in_at = in, p.call.states_out_at = out;
    const std::vector<float> s0 = p.s0, z0 = p.z0, z1 = z;
    lintel_pool *workers = lintel_pool_create(threads, nullptr);
    p.call.executor = lintel_pool_executor(workers);
    ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
    lintel_pool_destroy(workers);
    EXPECT_EQ(p.o, plain.o);
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t e = 0; e < H * 6; ++e) {
        EXPECT_EQ(static_cast<float *>(sAt[i])[e], plain.s1[i * H * 6 + e]) << i;
        if (e < H * 3) EXPECT_EQ(static_cast<float *>(z2At[i])[e], plain.z1[i * H * 3 + e]) << i;
      }
    // The arrays' own memory, and what is only read, are as they were; so are slots of nobody.
    EXPECT_EQ(p.s0, s0);
    EXPECT_EQ(p.z0, z0);
    for (float x : p.s1) EXPECT_TRUE(std::isnan(x));
    for (size_t i = 0; i < z.size(); ++i) EXPECT_TRUE(z[i] == z1[i] || std::isnan(z[i]));
    for (int64_t slot : {1, 5})
      for (int64_t e = 0; e < H * 6; ++e) EXPECT_TRUE(std::isnan(s[slot * H * 6 + e]));
  }
  // One list alone: the other state lies in its array.
  Problem plain(2, 3, 2), p(2, 3, 2);
  ASSERT_EQ(plain.run(), LINTEL_OK);
  std::vector<void *> at = {p.s0.data() + 12, p.s0.data()};
  std::swap_ranges(p.s0.begin(), p.s0.begin() + 12, p.s0.begin() + 12);
  void *const *lists[] = {at.data(), nullptr};
  p.call.states_in_at = lists;
  ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
  EXPECT_EQ(p.o, plain.o);
  EXPECT_EQ(p.s1, plain.s1);
  EXPECT_EQ(p.z1, plain.z1);
}

TEST(Run, GroupedHeads) {
  for (int64_t groups : {1, 2, 3, 6}) {
    Problem p(2, 4, 6, groups);
    ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
    EXPECT_EQ(p.wrong(), 0) << groups;
  }
  Problem p(1, 3, 32, 16);
  ASSERT_EQ(p.run(), LINTEL_OK);
  EXPECT_EQ(p.wrong(), 0);
}

TEST(Run, AnySplitGivesTheWhole) {
  const int64_t T = 11;
  Problem whole(2, T, 3);
  ASSERT_EQ(whole.run(), LINTEL_OK);
  for (int64_t a = 0; a <= T; ++a) {
    Problem p(2, T, 3);
    Problem middle(2, 0, 3);
    lintel_call first = p.call, second = p.call;
    lintel_array in1[5], in2[5], out1 = p.out, out2 = p.out;
    for (int i = 0; i < 5; ++i) {
      in1[i] = in2[i] = p.in[i];
      if (i > Problem::U) continue;
      in1[i].shape[1] = a;
      in2[i].shape[1] = T - a;
      in2[i].data = static_cast<float *>(in2[i].data) + a * in2[i].stride[1];
    }
    out1.shape[1] = a;
    out2.shape[1] = T - a;
    out2.data = static_cast<float *>(out2.data) + a * out2.stride[1];
    first.inputs = in1;
    first.out = &out1;
    first.states_out = middle.statesIn;
    second.inputs = in2;
    second.out = &out2;
    second.states_in = middle.statesIn;
    second.position = a;
    ASSERT_EQ(lintel_run(&first, &p.error), LINTEL_OK) << p.message();
    ASSERT_EQ(lintel_run(&second, &p.error), LINTEL_OK) << p.message();
    EXPECT_EQ(p.o, whole.o) << a;
    EXPECT_EQ(p.s1, whole.s1) << a;
    EXPECT_EQ(p.z1, whole.z1) << a;
  }
}

TEST(Run, Positions) {
  Problem p(3, 2, 2);
  p.call.position = 7;
  ASSERT_EQ(p.run(), LINTEL_OK);
  EXPECT_EQ(p.wrong(), 0);
  const int64_t positions[3] = {5, 0, 90};
  p.call.positions = positions;
  ASSERT_EQ(p.run(), LINTEL_OK);
  for (int64_t b = 0; b < 3; ++b)
    for (int64_t h = 0; h < 2; ++h) EXPECT_EQ(p.wrong(b, b, 0, 2, h, positions[b]), 0);
}

TEST(Run, NothingToDoPassesStatesThrough) {
  for (int axis = 0; axis < 3; ++axis) {
    Problem p(axis == 0 ? 0 : 2, axis == 1 ? 0 : 3, axis == 2 ? 0 : 4);
    ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
    EXPECT_EQ(p.s1, p.s0);
    EXPECT_EQ(p.z1, p.z0);
  }
  Problem zero(2, 0, 4);
  zero.statesIn[Problem::S].data = nullptr;
  ASSERT_EQ(zero.run(), LINTEL_OK);
  EXPECT_EQ(zero.s1, std::vector<float>(zero.s1.size(), 0));
  EXPECT_EQ(zero.z1, zero.z0);
  // However large the other axes claim to be, nothing is nothing.
  Problem large(1, 0, 1);
  for (lintel_array *a : {&large.in[0], &large.in[1], &large.in[2], &large.out}) a->shape[0] = INT64_MAX / 2;
  large.call.states_in = large.call.states_out = nullptr;
  ASSERT_EQ(large.run(), LINTEL_OK) << large.message();
}

TEST(Run, PackedSequences) {
  const std::vector<std::vector<int64_t>> packs = {{0, 3, 0, 1}, {5}, {0, 0}, {}, {1, 1, 1}, {4, 0, 0, 2, 7, 0}};
  for (const std::vector<int64_t> &lengths : packs) {
    int64_t T = 0;
    for (int64_t n : lengths) T += n;
    Problem p(1, T, 4, 2, int64_t(lengths.size()));
    const int64_t none = 0;
    p.call.lengths = lengths.empty() ? &none : lengths.data();
    p.call.num_lengths = int64_t(lengths.size());
    p.call.position = 3;
    ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
    int64_t first = 0;
    for (size_t s = 0; s < lengths.size(); first += lengths[s++])
      for (int64_t h = 0; h < 4; ++h) EXPECT_EQ(p.wrong(int64_t(s), 0, first, lengths[s], h, 3), 0);
  }
}

TEST(Run, StridesAreFree) {
  // Each array is a view into a larger one: every second batch entry, reversed time, heads outside time, wide rows.
  Problem p(2, 5, 3);
  std::vector<float> q(4 * 5 * 3 * 3), k(2 * 3 * 5 * 10), u(2 * 5 * 3 * 7), g(3 * 5), w(2 * 9), s0(2 * 3 * 40),
      out(2 * 3 * 5 * 4, NAN);
  for (auto *v : {&q, &k, &u, &g, &w, &s0}) Problem::fill(*v, int(v->size() % 7));
  p.in[Problem::Q].data = q.data() + 4 * 9;
  p.in[Problem::Q].stride[0] = 2 * 5 * 9;
  p.in[Problem::Q].stride[1] = -9;
  const int64_t kStrides[] = {150, 10, 50, 1}, uStrides[] = {105, 21, 7}, outStrides[] = {60, 4, 20, 1};
  std::copy(kStrides, kStrides + 4, p.in[Problem::K].stride);
  p.in[Problem::K].data = k.data();
  std::copy(uStrides, uStrides + 3, p.in[Problem::U].stride);
  p.in[Problem::U].data = u.data();
  p.in[Problem::G].data = g.data() + 10;
  p.in[Problem::G].stride[0] = -5;
  p.in[Problem::W].data = w.data();
  p.in[Problem::W].stride[0] = 9;
  p.statesIn[0].data = s0.data();
  p.statesIn[0].stride[0] = 40;
  p.statesIn[0].stride[1] = 80;
  std::copy(outStrides, outStrides + 4, p.out.stride);
  p.out.data = out.data();
  ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
  EXPECT_EQ(p.wrong(), 0);
  // An input may repeat (stride 0) and may be shared by inputs.
  p.in[Problem::K] = p.in[Problem::Q];
  p.in[Problem::K].stride[1] = 0;
  ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
  EXPECT_EQ(p.wrong(), 0);
}

TEST(Run, AxesOfSizeOneMayHaveAnyStride) {
  Problem p(1, 1, 1);
  for (lintel_array *a : {&p.in[0], &p.in[1], &p.in[2], &p.out})
    for (int axis = 0; axis < 3; ++axis) a->stride[axis] = axis == 0 ? INT64_MIN : INT64_MAX;
  p.in[Problem::G].stride[0] = INT64_MAX;
  ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
  EXPECT_EQ(p.wrong(), 0);
}

TEST(Run, OffsetsBeyond32Bits) {
  const int64_t stride = (INT64_C(1) << 31) + 64;
  const size_t bytes = size_t(stride + 4096) * sizeof(float);
  void *space = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) GTEST_SKIP() << "no address space for a sparse mapping";
  Problem p(2, 2, 1);
  float *base = static_cast<float *>(space);
  std::copy(p.q.begin(), p.q.begin() + 6, base);
  std::copy(p.q.begin() + 6, p.q.end(), base + stride);
  p.in[Problem::Q].data = base;
  p.in[Problem::Q].stride[0] = stride;
  p.out.data = base + 64;
  p.out.stride[0] = stride;
  ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
  EXPECT_EQ(p.wrong(), 0);
  munmap(space, bytes);
}

TEST(Run, ManyHeadsAndSequences) {
  Problem heads(1, 1, 70000);
  ASSERT_EQ(heads.run(), LINTEL_OK);
  EXPECT_EQ(heads.wrong(), 0);
  Problem batch(70000, 1, 1);
  ASSERT_EQ(batch.run(), LINTEL_OK);
  EXPECT_EQ(batch.wrong(), 0);
}

// An array that ends where an inaccessible page begins.
struct Guarded {
  explicit Guarded(const std::vector<float> &from) {
    page = size_t(sysconf(_SC_PAGESIZE));
    const size_t bytes = from.size() * sizeof(float);
    size = (bytes + page - 1) / page * page + page;
    space = static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(space + size - page, page, PROT_NONE);
    data = reinterpret_cast<float *>(space + size - page - bytes);
    std::copy(from.begin(), from.end(), data);
  }
  ~Guarded() { munmap(space, size); }
  Guarded(const Guarded &) = delete;
  size_t page, size;
  char *space;
  float *data;
};

TEST(Run, TouchesNothingPastTheArrays) {
  for (int64_t T : {1, 3, 7}) {
    Problem p(2, T, 3, 1);
    Guarded q(p.q), k(p.k), u(p.u), g(p.g), w(p.w), s0(p.s0), z0(p.z0), s1(p.s1), z1(p.z1), o(p.o);
    float *data[] = {q.data, k.data, u.data, g.data, w.data};
    for (int i = 0; i < 5; ++i) p.in[i].data = data[i];
    p.statesIn[0].data = s0.data;
    p.statesIn[1].data = z0.data;
    p.statesOut[0].data = s1.data;
    p.statesOut[1].data = z1.data;
    p.out.data = o.data;
    ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
    EXPECT_EQ(p.wrong(), 0);
  }
}

TEST(Run, ScratchOfTheCallerAtAnyAddress) {
  Problem p(2, 5, 3);
  const uint64_t bytes = lintel_scratch_bytes(&fake_blend, nullptr, 0, 1);
  ASSERT_GE(bytes, 1000u);
  for (size_t shift : {0, 1, 63}) {
    std::vector<char> memory(bytes + shift, char(0xcc));
    p.call.scratch = memory.data() + shift;
    p.call.scratch_bytes = bytes;
    ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
    EXPECT_EQ(p.wrong(), 0);
  }
  p.call.scratch_bytes = bytes - 1;
  EXPECT_EQ(p.run(), LINTEL_ERROR_SCRATCH);
  EXPECT_NE(p.message().find(std::to_string(bytes)), std::string::npos) << p.message();
}

TEST(Run, OtherOperators) {
  Problem p(2, 4, 3);
  p.call.states_in = p.call.states_out = nullptr;
  p.call.kernel = &fake_bare;
  ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
  for (size_t i = 0; i < p.o.size(); ++i) ASSERT_EQ(p.o[i], 2 * p.q[i]);
  p.call.kernel = &fake_total;
  ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
  float sum = 0;
  for (int64_t t = 0; t < 4; ++t) sum += Problem::at(p.in[0], {1, t, 2, 1});
  for (int64_t t = 0; t < 4; ++t) EXPECT_EQ(Problem::at(p.out, {1, t, 2, 1}), sum);
}

TEST(Run, ASecondRunEqualsTheFirst) {
  Problem p(2, 6, 3);
  ASSERT_EQ(p.run(), LINTEL_OK);
  const std::vector<float> first = p.o;
  Problem other(1, 3, 2);
  ASSERT_EQ(other.run(), LINTEL_OK);
  Problem::fill(p.o, -1);
  ASSERT_EQ(p.run(), LINTEL_OK);
  EXPECT_EQ(p.o, first);
}

} // namespace

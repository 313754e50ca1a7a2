#include "test/unit/runtime/Problem.h"
#include "gtest/gtest.h"

extern "C" int lintelTestHeadersC99(void);
bool lintelTestHeadersCxx();

namespace {

// Each refusal leaves every array as it was.
#define EXPECT_REFUSED(p, status, ...)                                                                                 \
  do {                                                                                                                 \
    EXPECT_EQ((p).run(), status) << (p).message();                                                                     \
    EXPECT_EQ((p).error.code, status);                                                                                 \
    for (const char *part : {__VA_ARGS__})                                                                             \
      EXPECT_NE((p).message().find(part), std::string::npos) << part << " is not in: " << (p).message();               \
    for (float x : (p).o) ASSERT_TRUE(std::isnan(x));                                                                  \
    EXPECT_EQ(lintel_run(&(p).call, nullptr), status);                                                                 \
    EXPECT_EQ(lintel_check(&(p).call, nullptr), status);                                                               \
  } while (false)

TEST(Headers, CompileAsC99AndCxx11) {
  EXPECT_TRUE(lintelTestHeadersC99());
  EXPECT_TRUE(lintelTestHeadersCxx());
}

TEST(Check, NullPointers) {
  lintel_error error;
  EXPECT_EQ(lintel_run(nullptr, &error), LINTEL_ERROR_ARGUMENT);
  Problem p(1, 2, 2);
  p.call.kernel = nullptr;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "kernel");
  p.call.kernel = &fake_blend;
  p.call.inputs = nullptr;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "inputs", "5");
  p.call.inputs = p.in;
  p.call.out = nullptr;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "out");
  p.call.out = &p.out;
  p.in[Problem::K].data = nullptr;
  EXPECT_REFUSED(p, LINTEL_ERROR_DATA, "input 'k'", "NULL");
}

TEST(Check, Kernels) {
  Problem p(1, 2, 2);
  lintel_kernel bad = fake_blend;
  p.call.kernel = &bad;
  bad.abi_version = 99;
  EXPECT_REFUSED(p, LINTEL_ERROR_KERNEL, "version 5", "99", "compile");
  bad = fake_blend;
  bad.struct_bytes = 8;
  EXPECT_REFUSED(p, LINTEL_ERROR_KERNEL, "too short");
  bad = fake_blend;
  bad.num_variants = 0;
  EXPECT_REFUSED(p, LINTEL_ERROR_KERNEL, "damaged");
  bad = fake_blend;
  lintel_parameter inputs[5];
  std::copy(fake_blend.inputs, fake_blend.inputs + 5, inputs);
  bad.inputs = inputs;
  inputs[0].rank = 3;
  EXPECT_REFUSED(p, LINTEL_ERROR_KERNEL, "axes");
  inputs[0] = fake_blend.inputs[0];
  inputs[4].dim[0] = inputs[4].dim[1] = INT64_C(1) << 40;
  EXPECT_REFUSED(p, LINTEL_ERROR_KERNEL, "size");
  inputs[4] = fake_blend.inputs[4];
  inputs[1].dtype = 17;
  EXPECT_REFUSED(p, LINTEL_ERROR_KERNEL, "dtype");
}

TEST(Check, Dtype) {
  Problem p(1, 2, 2);
  p.in[Problem::K].dtype = LINTEL_BF16;
  EXPECT_REFUSED(p, LINTEL_ERROR_DTYPE, "input 'k'", "expected f32", "found bf16");
  p.in[Problem::K].dtype = 9;
  EXPECT_REFUSED(p, LINTEL_ERROR_DTYPE, "unknown");
  p.in[Problem::K].dtype = LINTEL_F32;
  p.statesOut[1].dtype = LINTEL_F64;
  EXPECT_REFUSED(p, LINTEL_ERROR_DTYPE, "final state 'z'", "f64");
}

TEST(Check, Rank) {
  Problem p(1, 2, 2);
  p.in[Problem::K].rank = 3;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'k'", "4 axes [B, T, H, 3]", "found 3");
  p.in[Problem::K].rank = -1;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'k'", "found -1");
  p.in[Problem::K].rank = 4;
  p.in[Problem::U].rank = 4;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'u'", "3 axes [B, T, H]");
  p.in[Problem::U].rank = 3;
  p.in[Problem::W].rank = 400;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'w'", "2 axes [2, 3]", "400");
  p.in[Problem::W].rank = 2;
  p.statesIn[0].rank = 3;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "initial state 'S'", "4 axes [B, H, 2, 3]");
}

TEST(Check, Sizes) {
  Problem p(2, 4, 3);
  p.in[Problem::Q].shape[3] = 4;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'q'", "feature axis", "expected 3", "found 4");
  p.in[Problem::Q].shape[3] = 3;
  p.in[Problem::K].shape[0] = 3;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'k'", "batch axis B", "expected 2 as in 'q'", "found 3");
  p.in[Problem::K].shape[0] = 2;
  p.in[Problem::U].shape[1] = 5;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'u'", "time axis T", "expected 4 as in 'q'", "found 5");
  p.in[Problem::U].shape[1] = -4;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'u'", "time axis T", "found -4");
  p.in[Problem::U].shape[1] = 4;
  p.in[Problem::G].shape[0] = 2;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'g'", "head axis H", "expected 3", "found 2");
  p.in[Problem::G].shape[0] = 3;
  p.in[Problem::W].shape[0] = 3;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'w'", "row axis", "expected 2", "found 3");
  p.in[Problem::W].shape[0] = 2;
  p.statesIn[0].shape[0] = 1;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "initial state 'S'", "batch axis B", "expected 2", "found 1");
  p.statesIn[0].shape[0] = 2;
  p.statesOut[1].shape[1] = 1;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "final state 'z'", "head axis H", "expected 3", "found 1");
  p.statesOut[1].shape[1] = 3;
  p.out.shape[2] = 1;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "output 'out'", "head axis H", "expected 3", "found 1");
}

TEST(Check, StateTransposed) {
  Problem p(1, 2, 2);
  std::swap(p.statesIn[0].shape[2], p.statesIn[0].shape[3]);
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "initial state 'S'", "row axis", "expected 2", "found 3");
}

TEST(Check, TimeAndHeadsSwapped) {
  Problem p(1, 5, 2);
  std::swap(p.in[Problem::K].shape[1], p.in[Problem::K].shape[2]);
  p.in[Problem::K].shape[2] = 2; // and not the largest number of heads
  p.in[Problem::K].shape[1] = 2;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "input 'k'", "time axis T");
  Problem r(1, 2, 5);
  std::swap(r.in[Problem::K].shape[1], r.in[Problem::K].shape[2]);
  EXPECT_REFUSED(r, LINTEL_ERROR_SHAPE, "input 'k'", "time axis T", "swapped", "[B, T, H, ...]");
}

TEST(Check, HeadsThatDoNotDivide) {
  Problem p(1, 2, 33, 2);
  EXPECT_REFUSED(p, LINTEL_ERROR_HEADS, "input 'k'", "2 heads", "33", "multiple of 2");
  Problem r(1, 2, 3, 2);
  EXPECT_REFUSED(r, LINTEL_ERROR_HEADS, "input 'k'", "2 heads", "the 3 of 'q'");
  r.in[Problem::K].shape[2] = 0;
  EXPECT_REFUSED(r, LINTEL_ERROR_HEADS, "input 'k'", "0 heads");
}

TEST(Check, Strides) {
  Problem p(2, 4, 3);
  p.in[Problem::Q].stride[3] = 2;
  EXPECT_REFUSED(p, LINTEL_ERROR_STRIDE, "input 'q'", "feature axis", "expected stride 1", "found 2");
  p.in[Problem::Q].stride[3] = 1;
  p.in[Problem::Q].stride[0] = INT64_MAX / 2;
  EXPECT_REFUSED(p, LINTEL_ERROR_STRIDE, "input 'q'", "address space");
  p.in[Problem::Q].stride[0] = INT64_MIN;
  EXPECT_REFUSED(p, LINTEL_ERROR_STRIDE, "input 'q'", "batch axis B");
  p.in[Problem::Q].stride[0] = -(INT64_C(1) << 61);
  EXPECT_REFUSED(p, LINTEL_ERROR_STRIDE, "input 'q'", "address space");
  p.in[Problem::Q].stride[0] = 36;
  p.statesIn[0].stride[2] = 4;
  EXPECT_REFUSED(p, LINTEL_ERROR_STRIDE, "initial state 'S'", "row axis", "expected stride 3", "found 4");
  p.statesIn[0].stride[2] = 3;
  p.out.stride[1] = 0;
  EXPECT_REFUSED(p, LINTEL_ERROR_STRIDE, "output 'out'", "two elements in one place");
  p.out.stride[1] = 8;
  EXPECT_REFUSED(p, LINTEL_ERROR_STRIDE, "output 'out'", "two elements in one place");
  p.out.stride[1] = 9;
  p.in[Problem::U].data = static_cast<char *>(p.in[Problem::U].data) + 1;
  EXPECT_REFUSED(p, LINTEL_ERROR_DATA, "input 'u'", "multiple of 4");
}

TEST(Check, Overlap) {
  Problem p(2, 4, 3);
  const lintel_array out = p.out;
  p.out.data = p.q.data();
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "output 'out' shares memory with input 'q'");
  p.out = out;
  p.statesOut[0].data = p.s0.data() + 6;
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'S' shares memory with initial state 'S'", "very same");
  p.statesOut[0].data = p.o.data();
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "output 'out' shares memory with final state 'S'");
  p.statesOut[0].data = p.s1.data();
  p.statesOut[1].data = p.s1.data();
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'z' shares memory with final state 'S'");
  p.statesOut[1].data = p.z0.data();
  p.statesIn[1].stride[0] = 3;
  p.statesIn[1].stride[1] = 6;
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'z' shares memory with initial state 'z'");
}

TEST(Check, InterleavedArraysDoNotOverlap) {
  // Queries, keys, values and outputs in one [B, T, 4, H, 3] array.
  const int64_t B = 2, T = 4, H = 3;
  Problem p(B, T, H);
  std::vector<float> packed(size_t(B * T * 4 * H * 3));
  for (size_t i = 0; i < packed.size(); ++i) packed[i] = float(i % 5);
  lintel_array *arrays[] = {&p.in[Problem::Q], &p.in[Problem::K], &p.out};
  for (int i = 0; i < 3; ++i) {
    const int64_t stride[] = {T * 4 * H * 3, 4 * H * 3, 3, 1};
    std::copy(stride, stride + 4, arrays[i]->stride);
    arrays[i]->data = packed.data() + (i == 2 ? 3 : i) * H * 3;
  }
  ASSERT_EQ(p.run(), LINTEL_OK) << p.message();
  EXPECT_EQ(p.wrong(), 0);
  p.out.data = packed.data() + 2 * H * 3 - 1; // reaches into the keys
  EXPECT_EQ(p.run(), LINTEL_ERROR_OVERLAP);
  p.out.data = packed.data() + 3 * H * 3 + 1; // reaches into the next step's queries
  EXPECT_EQ(p.run(), LINTEL_ERROR_OVERLAP);

  // Two states in one record for each head.
  Problem r(2, 4, 3);
  std::vector<float> records(2 * 3 * 16);
  for (lintel_array *a : {&r.statesOut[0], &r.statesOut[1]}) {
    a->stride[0] = 48;
    a->stride[1] = 16;
  }
  r.statesOut[0].data = records.data();
  r.statesOut[1].data = records.data() + 6;
  ASSERT_EQ(r.run(), LINTEL_OK) << r.message();
  EXPECT_EQ(r.wrong(), 0);
  r.statesOut[1].data = records.data() + 5;
  EXPECT_EQ(r.run(), LINTEL_ERROR_OVERLAP);
  r.statesOut[1].data = records.data() + 14; // the last two records of S begin inside
  EXPECT_EQ(r.run(), LINTEL_ERROR_OVERLAP);
}

/// The states of sequence b in slot `order[b]` of a pool, S[H, 2, 3] before z[H, 3].
struct Pool {
  Pool(Problem &p, std::vector<int64_t> order) : slot(p.out.shape[2] * 9), memory(slot * order.size(), 1) {
    for (int64_t b : order) {
      s.push_back(memory.data() + b * slot);
      z.push_back(memory.data() + b * slot + p.out.shape[2] * 6);
    }
    lists[0] = s.data(), lists[1] = z.data();
    p.call.states_in_at = p.call.states_out_at = lists;
  }
  const int64_t slot; // in elements
  std::vector<float> memory;
  std::vector<void *> s, z;
  void *const *lists[2];
};

TEST(Check, StatesAtAddresses) {
  Problem p(4, 2, 3);
  Pool pool(p, {2, 0, 3, 1});
  ASSERT_EQ(lintel_check(&p.call, &p.error), LINTEL_OK) << p.message();
  pool.s[2] = nullptr;
  EXPECT_REFUSED(p, LINTEL_ERROR_DATA, "initial state 'S' of sequence 2: expected data, found NULL");
  pool.s[2] = pool.memory.data() + 3 * pool.slot;
  pool.z[1] = static_cast<char *>(pool.z[1]) + 1;
  EXPECT_REFUSED(p, LINTEL_ERROR_DATA, "initial state 'z' of sequence 1: expected an address that is a multiple of 4");
  pool.z[1] = static_cast<char *>(pool.z[1]) - 1;
  // The arrays still say how a state lies; their data and batch strides say nothing.
  for (lintel_array *a : {&p.statesIn[0], &p.statesIn[1], &p.statesOut[0], &p.statesOut[1]})
    a->data = nullptr, a->stride[0] = INT64_MIN;
  ASSERT_EQ(lintel_check(&p.call, &p.error), LINTEL_OK) << p.message();
  p.statesOut[0].shape[0] = 3;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "final state 'S'", "expected 4, one for each sequence", "found 3");
  p.statesOut[0].shape[0] = 4;
  p.statesIn[1].dtype = LINTEL_F64;
  EXPECT_REFUSED(p, LINTEL_ERROR_DTYPE, "initial state 'z'");
  p.statesIn[1].dtype = LINTEL_F32;
  p.statesOut[0].stride[1] = 5;
  EXPECT_REFUSED(p, LINTEL_ERROR_STRIDE, "final state 'S'", "two elements in one place");
  p.statesOut[0].stride[1] = 6;
  p.call.states_out = nullptr;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "states_out: expected 2 arrays", "NULL");
  p.call.states_out = p.statesOut;
  p.call.states_in = nullptr;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "states_in: expected 2 arrays", "NULL");
}

TEST(Check, AddressesThatMeet) {
  Problem p(4, 2, 3);
  Pool pool(p, {2, 0, 3, 1});
  std::vector<void *> s = pool.s, z = pool.z;
  void *const *out[] = {s.data(), z.data()};
  p.call.states_out_at = out;
  ASSERT_EQ(lintel_check(&p.call, &p.error), LINTEL_OK) << p.message(); // in place, by lists of their own
  s[3] = s[1];
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'S' of sequence 3 shares memory with",
                 "of sequence 1; give it an array of its own");
  s[3] = pool.memory.data() + 2 * pool.slot - 4 * 3; // the end of sequence 3's own z, and the start of sequence 0's S
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'S' of sequence 3 shares memory with");
  // States that change places among sequences: another may still have to read what is written.
  s = pool.s;
  std::swap(s[0], s[2]);
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'S' of sequence", "shares memory with initial state 'S' of");
  p.call.states_in = p.statesOut; // one description for both
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'S' of sequence", "shares memory with initial state 'S' of");
  p.call.states_in = p.statesIn;
  s = pool.s;
  z[2] = p.o.data();
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "output 'out' shares memory with final state 'z' of sequence 2");
  z[2] = p.k.data() + 3;
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'z' of sequence 2 shares memory with input 'k'");
  z[2] = s[0];
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'z' of sequence 2 shares memory with");
  z = pool.z;
  // A list beside an ordinary array, both ways.
  p.call.states_in_at = nullptr;
  ASSERT_EQ(lintel_check(&p.call, &p.error), LINTEL_OK) << p.message();
  for (int64_t b = 0; b < 4; ++b) z[b] = p.z0.data() + b * 9;
  ASSERT_EQ(lintel_check(&p.call, &p.error), LINTEL_OK) << p.message();
  std::swap(z[0], z[1]);
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'z' of sequence", "shares memory with initial state 'z' of");
  p.call.states_in_at = pool.lists, p.call.states_out_at = nullptr;
  p.statesOut[1].data = pool.z[3];
  EXPECT_REFUSED(p, LINTEL_ERROR_OVERLAP, "final state 'z' of sequence", "shares memory with initial state");
  p.statesOut[1].data = p.z1.data();
  // Sequences that go on from one state.
  std::fill(pool.s.begin(), pool.s.end(), pool.s[0]);
  ASSERT_EQ(lintel_check(&p.call, &p.error), LINTEL_OK) << p.message();
}

TEST(Check, AddressesOfManySequences) {
  // More than are looked at together, in no order.
  const int64_t many = 2500;
  Problem p(many, 1, 1);
  std::vector<int64_t> order;
  for (int64_t b = 0; b < many; ++b) order.push_back(b * 1237 % many);
  Pool pool(p, order);
  ASSERT_EQ(lintel_check(&p.call, &p.error), LINTEL_OK) << p.message();
  for (auto [i, j] : {std::pair{0, 1}, {3, 2400}, {2400, 3}, {511, 512}, {1700, 1699}}) {
    void *before = pool.z[i];
    pool.z[i] = pool.z[j];
    EXPECT_EQ(lintel_check(&p.call, &p.error), LINTEL_ERROR_OVERLAP) << i << " " << j;
    EXPECT_NE(p.message().find("of sequence " + std::to_string(j)), std::string::npos) << p.message();
    pool.z[i] = before;
    EXPECT_EQ(lintel_check(&p.call, &p.error), LINTEL_OK) << p.message();
  }
}

TEST(Check, RecordsOfAPoolDoNotMeet) {
  // In each slot a record of S and z for each head: the spans of the states interleave, their elements do not.
  Problem p(3, 2, 4);
  std::vector<float> memory(3 * 4 * 9);
  std::vector<void *> s, z;
  for (int64_t slot : {1, 2, 0}) {
    s.push_back(memory.data() + slot * 36);
    z.push_back(memory.data() + slot * 36 + 6);
  }
  void *const *lists[] = {s.data(), z.data()};
  for (lintel_array *a : {&p.statesIn[0], &p.statesIn[1], &p.statesOut[0], &p.statesOut[1]}) a->stride[1] = 9;
  p.call.states_in_at = p.call.states_out_at = lists;
  ASSERT_EQ(lintel_check(&p.call, &p.error), LINTEL_OK) << p.message();
  for (void *&at : z) at = static_cast<float *>(at) - 1;
  EXPECT_EQ(lintel_check(&p.call, &p.error), LINTEL_ERROR_OVERLAP);
}

TEST(Check, Lengths) {
  Problem p(1, 6, 2, 0, 3);
  const int64_t good[] = {1, 2, 3}, negative[] = {7, -4, 3}, huge[] = {INT64_MAX, INT64_MAX, 8};
  p.call.num_lengths = 3;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "lengths", "NULL");
  p.call.lengths = good;
  p.call.num_lengths = -1;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "lengths", "-1");
  p.call.num_lengths = 2;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "initial state 'S'", "expected 2, one for each sequence", "found 3");
  p.call.num_lengths = 3;
  p.call.lengths = negative;
  EXPECT_REFUSED(p, LINTEL_ERROR_LENGTHS, "-4 at 1");
  p.call.lengths = huge;
  EXPECT_REFUSED(p, LINTEL_ERROR_LENGTHS, "sum of 6");
  const int64_t shortSum[] = {1, 2, 2};
  p.call.lengths = shortSum;
  EXPECT_REFUSED(p, LINTEL_ERROR_LENGTHS, "sum of 6", "time axis T", "found 5");
  Problem r(2, 6, 2, 0, 3);
  r.call.lengths = good;
  r.call.num_lengths = 3;
  EXPECT_REFUSED(r, LINTEL_ERROR_LENGTHS, "batch axis B = 1", "has 2");
}

TEST(Check, Positions) {
  Problem p(2, 4, 3);
  p.call.position = -1;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "position", "-1");
  p.call.position = INT64_MAX - 3;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "position");
  const int64_t positions[] = {3, -9};
  p.call.positions = positions;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "position", "-9");
}

TEST(Check, FormsAndExecutors) {
  Problem p(2, 4, 3);
  p.call.form = "parallel";
  EXPECT_REFUSED(p, LINTEL_ERROR_FORM, "no form 'parallel'", "recurrent chunk 1", "chunkwise chunk 4");
  p.call.form = "recurrent";
  p.call.chunk = 8;
  EXPECT_REFUSED(p, LINTEL_ERROR_FORM, "'recurrent' of chunk 8");
  p.call.chunk = -1;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "chunk", "-1");
  p.call.chunk = 16;
  p.call.form = nullptr;
  EXPECT_REFUSED(p, LINTEL_ERROR_CPU, "future", "lower target");
  p.call.chunk = 0;
  lintel_executor executor = {nullptr, 1, nullptr};
  p.call.executor = &executor;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "executor", "NULL");
  executor.run = [](void *, int64_t, lintel_task, void *) {};
  executor.threads = 0;
  EXPECT_REFUSED(p, LINTEL_ERROR_ARGUMENT, "executor", "0");
}

TEST(Check, LongNamesAreCut) {
  const std::string name(5000, 'n');
  lintel_parameter inputs[5];
  std::copy(fake_blend.inputs, fake_blend.inputs + 5, inputs);
  inputs[1].name = name.c_str();
  lintel_kernel kernel = fake_blend;
  kernel.inputs = inputs;
  kernel.name = name.c_str();
  Problem p(2, 4, 3);
  p.call.kernel = &kernel;
  p.in[1].shape[0] = 7;
  EXPECT_REFUSED(p, LINTEL_ERROR_SHAPE, "found 7");
  p.call.form = name.c_str();
  EXPECT_REFUSED(p, LINTEL_ERROR_FORM, "no form");
}

TEST(Check, ContiguousArrays) {
  const int64_t shape[] = {2, 0, 4, 5, 6}, large[] = {INT64_MAX, INT64_MAX, 2};
  lintel_array a = lintel_array_contiguous(nullptr, LINTEL_F16, 5, shape);
  EXPECT_EQ(a.stride[4], 1);
  EXPECT_EQ(a.stride[3], 6);
  EXPECT_EQ(a.stride[2], 30);
  EXPECT_EQ(lintel_array_contiguous(nullptr, LINTEL_F16, 6, shape).rank, -1);
  EXPECT_EQ(lintel_array_contiguous(nullptr, LINTEL_F16, -3, nullptr).rank, -1);
  EXPECT_EQ(lintel_array_contiguous(nullptr, LINTEL_F16, 3, large).stride[0], INT64_MAX);
  EXPECT_EQ(lintel_dtype_bytes(LINTEL_F64), 8u);
  EXPECT_EQ(lintel_dtype_bytes(LINTEL_BF16), 2u);
  EXPECT_EQ(lintel_dtype_bytes(-1), 0u);
}

TEST(Check, ParametersByName) {
  EXPECT_EQ(lintel_input_index(&fake_blend, "g"), 3);
  EXPECT_EQ(lintel_input_index(&fake_blend, "S"), -1);
  EXPECT_EQ(lintel_input_index(&fake_blend, nullptr), -1);
  EXPECT_EQ(lintel_input_index(nullptr, "g"), -1);
  EXPECT_EQ(lintel_state_index(&fake_blend, "z"), 1);
  EXPECT_EQ(lintel_state_index(&fake_bare, "z"), -1);
}

TEST(Check, StatusNames) {
  EXPECT_STREQ(lintel_status_name(LINTEL_OK), "ok");
  EXPECT_STREQ(lintel_status_name(LINTEL_ERROR_FORM), "form");
  EXPECT_STREQ(lintel_status_name(LINTEL_ERROR_NOT_CAUSAL), "not causal");
  EXPECT_STREQ(lintel_status_name(LINTEL_ERROR_NO_STATE), "no state");
  EXPECT_STREQ(lintel_status_name(-1), "unknown");
  EXPECT_STREQ(lintel_status_name(17), "unknown");
}

} // namespace

// A run of the fake operator `blend` with contiguous arrays that tests then bend; and its meaning, from strides alone.
#ifndef LINTEL_TEST_UNIT_RUNTIME_PROBLEM_H
#define LINTEL_TEST_UNIT_RUNTIME_PROBLEM_H
#include "lintel/runtime.h"
#include "test/unit/runtime/FakeKernels.h"
#include <cmath>
#include <string>
#include <vector>

struct Problem {
  enum { Q, K, U, G, W, S = 0, Z = 1 };

  // Heads: q, u and out have H, k has `groups` (0: H).
  Problem(int64_t B, int64_t T, int64_t H, int64_t groups = 0, int64_t sequences = -1) {
    if (sequences < 0) sequences = B;
    add(q, in[Q], {B, T, H, 3}, 1);
    add(k, in[K], {B, T, groups ? groups : H, 3}, 2);
    add(u, in[U], {B, T, H}, 3);
    add(g, in[G], {H}, 4);
    add(w, in[W], {2, 3}, 5);
    add(s0, statesIn[S], {sequences, H, 2, 3}, 6);
    add(z0, statesIn[Z], {sequences, H, 3}, 7);
    add(s1, statesOut[S], {sequences, H, 2, 3}, -1);
    add(z1, statesOut[Z], {sequences, H, 3}, -1);
    add(o, out, {B, T, H, 3}, -1);
    call.kernel = &fake_blend;
    call.inputs = in;
    call.states_in = statesIn;
    call.states_out = statesOut;
    call.out = &out;
  }
  Problem(const Problem &) = delete;

  int run() { return lintel_run(&call, &error); }
  std::string message() const { return error.message; }

  // Small whole numbers, exact in any order of summation; NaN (seed < 0) for what must be overwritten.
  static void fill(std::vector<float> &v, int seed) {
    for (size_t i = 0; i < v.size(); ++i) v[i] = seed < 0 ? NAN : float(int((i * 7 + size_t(seed) * 5) % 11) - 5);
  }

  static void add(std::vector<float> &v, lintel_array &a, std::vector<int64_t> shape, int seed) {
    int64_t n = 1;
    for (int64_t s : shape) n *= s;
    v.assign(size_t(n), 0);
    fill(v, seed);
    a = lintel_array_contiguous(v.data(), LINTEL_F32, int32_t(shape.size()), shape.data());
  }

  static float &at(const lintel_array &a, std::vector<int64_t> index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += index[i] * a.stride[i];
    return static_cast<float *>(a.data)[offset];
  }

  // What out [.., t, h, c] and the final states of one sequence must be: the number of elements that are not.
  int wrong(int64_t sequence, int64_t batch, int64_t first, int64_t steps, int64_t h, int64_t position) const {
    const int64_t H = out.shape[2], group = h / (H / in[K].shape[2]);
    float s[2][3], z[3];
    int bad = 0;
    for (int64_t c = 0; c < 3; ++c) {
      const bool hasS = call.states_in && call.states_in[S].data, hasZ = call.states_in && call.states_in[Z].data;
      z[c] = hasZ ? at(initial[Z].rank ? initial[Z] : statesIn[Z], {sequence, h, c}) : 0;
      for (int64_t r = 0; r < 2; ++r)
        s[r][c] = hasS ? at(initial[S].rank ? initial[S] : statesIn[S], {sequence, h, r, c}) : 0;
    }
    for (int64_t t = 0; t < steps; ++t)
      for (int64_t c = 0; c < 3; ++c) {
        const float x = at(in[K], {batch, first + t, group, c});
        z[c] += at(in[G], {h}) * x;
        for (int64_t r = 0; r < 2; ++r) s[r][c] += at(in[W], {r, c}) * x;
        const float want = at(in[Q], {batch, first + t, h, c}) * z[c] +
                           at(in[U], {batch, first + t, h}) * (s[0][c] + s[1][c]) + float(position + t);
        bad += !(at(out, {batch, first + t, h, c}) == want);
      }
    for (int64_t c = 0; c < 3 && call.states_out; ++c) {
      if (call.states_out[Z].data) bad += !(at(statesOut[Z], {sequence, h, c}) == z[c]);
      for (int64_t r = 0; r < 2 && call.states_out[S].data; ++r)
        bad += !(at(statesOut[S], {sequence, h, r, c}) == s[r][c]);
    }
    return bad;
  }

  int wrong() const {
    int bad = 0;
    for (int64_t b = 0; b < out.shape[0]; ++b)
      for (int64_t h = 0; h < out.shape[2]; ++h) bad += wrong(b, b, 0, out.shape[1], h, call.position);
    return bad;
  }

  std::vector<float> q, k, u, g, w, s0, z0, s1, z1, o;
  lintel_array in[5], statesIn[2], statesOut[2], out;
  lintel_array initial[2] = {}; // copies of the initial states, for runs in place
  lintel_call call = {};
  lintel_error error = {};
};
#endif

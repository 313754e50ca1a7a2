// The recurrence, `Block` steps a pass over the state, which stays in the first cache: each vector of the state is
// loaded and stored once for 2 Block fused multiply-adds.
#pragma once
#include "head.h"
#include "vector.h"

namespace expert {

/// `Block` rows of queries, keys, decays, each packed, and what the outputs are multiplied by.
template <int D, int Block> struct BlockRows {
  alignas(64) float q[Block * D], k[Block * D], decay[Block * D];
  float outFactor[Block];
  float stateFactor; // of the whole state after the block, for scalar decays
};

template <Mode mode, int D, int Block, int Vectors>
EXPERT_INLINE void passOverState(float *state, const float *q, const float *k, int64_t step,
                                 const BlockRows<D, Block> &rows, const float *v, float *out) {
  for (int n = 0; n < D; n += lanes * Vectors) {
    Vector value[Block][Vectors], sums[Block][Vectors];
#pragma unroll
    for (int t = 0; t < Block; ++t)
#pragma unroll
      for (int j = 0; j < Vectors; ++j) value[t][j] = load(v + t * step + n + lanes * j), sums[t][j] = splat(0);
    for (int c = 0; c < D; ++c) {
      Vector s[Vectors];
#pragma unroll
      for (int j = 0; j < Vectors; ++j) s[j] = load(state + c * D + n + lanes * j);
#pragma unroll
      for (int t = 0; t < Block; ++t) {
        const int64_t at = mode == Mode::Identity || mode == Mode::Gla ? t * step + c : t * D + c;
        const Vector key = splat(k[at]), query = splat(mode == Mode::Elu ? q[t * D + c] : q[t * step + c]);
#pragma unroll
        for (int j = 0; j < Vectors; ++j) {
          if (mode == Mode::Gla) s[j] *= rows.decay[t * D + c];
          s[j] = fma(key, value[t][j], s[j]);
          sums[t][j] = fma(query, s[j], sums[t][j]);
        }
      }
#pragma unroll
      for (int j = 0; j < Vectors; ++j)
        store(state + c * D + n + lanes * j, hasScalarDecay(mode) ? s[j] * rows.stateFactor : s[j]);
    }
#pragma unroll
    for (int t = 0; t < Block; ++t)
#pragma unroll
      for (int j = 0; j < Vectors; ++j)
        store(out + t * step + n + lanes * j, mode == Mode::Identity ? sums[t][j] : sums[t][j] * rows.outFactor[t]);
  }
}

/// `steps` is a multiple of Block. Ahead: rows of how many steps later are asked for, 0: none.
/// Scalar decays: with b_t the sum of the block's log-decays, S_t = e^{b_t} (S + sum_s e^{-b_s} k_s v_s), so that keys
/// are multiplied by e^{-b_s}, outputs by e^{b_t} and the state once, after the block; a block is short, so that no
/// factor grows much.
template <Mode mode, int D, int Block, int Vectors, int Ahead> void recurrentHead(const Head &head) {
  alignas(64) static thread_local float state[D * D], keySum[D];
  static thread_local BlockRows<D, Block> rows;
  std::memset(state, 0, sizeof state);
  std::memset(keySum, 0, sizeof keySum);
  for (int64_t t0 = 0; t0 < head.steps; t0 += Block) {
    const float *q = head.q + t0 * head.step, *k = head.k + t0 * head.step, *v = head.v + t0 * head.step;
    if (Ahead && t0 + Ahead + Block <= head.steps)
      for (int t = 0; t < Block; ++t) {
        prefetchRow(q + (t + Ahead) * head.step, D);
        prefetchRow(k + (t + Ahead) * head.step, D);
        prefetchRow(v + (t + Ahead) * head.step, D);
        if (mode == Mode::Gla) prefetchRow(head.gate + (t0 + t + Ahead) * head.gateStep, D);
      }
    float keyFactor[Block];
    if (hasScalarDecay(mode)) {
      float b = 0;
      for (int t = 0; t < Block; ++t) {
        b += mode == Mode::Retnet ? head.logDecay : head.gate[(t0 + t) * head.gateStep];
        rows.outFactor[t] = std::exp(b) * head.scale, keyFactor[t] = std::exp(-b);
      }
      rows.stateFactor = std::exp(b);
    } else {
      for (int t = 0; t < Block; ++t) rows.outFactor[t] = head.scale;
    }
    if (mode != Mode::Identity) {
      Vector denominator[Block];
#pragma unroll
      for (int t = 0; t < Block; ++t) denominator[t] = splat(0);
      for (int c = 0; c < D; c += lanes) {
        Vector total = load(keySum + c);
#pragma unroll
        for (int t = 0; t < Block; ++t) {
          if (mode == Mode::Gla) {
            store(rows.decay + t * D + c, fastExp(load(head.gate + (t0 + t) * head.gateStep + c)));
            continue;
          }
          Vector key = load(k + t * head.step + c);
          if (mode == Mode::Elu) {
            const Vector query = eluPlusOne(load(q + t * head.step + c));
            key = eluPlusOne(key);
            total += key;
            denominator[t] = fma(query, total, denominator[t]);
            store(rows.q + t * D + c, query);
          } else {
            key *= keyFactor[t];
          }
          store(rows.k + t * D + c, key);
        }
        store(keySum + c, total);
      }
      if (mode == Mode::Elu)
        for (int t = 0; t < Block; ++t) rows.outFactor[t] = 1.0f / (sum(denominator[t]) + 1e-6f);
    }
    passOverState<mode, D, Block, Vectors>(state, mode == Mode::Elu ? rows.q : q,
                                           mode == Mode::Identity || mode == Mode::Gla ? k : rows.k, head.step, rows, v,
                                           head.out + t0 * head.step);
  }
}

} // namespace expert

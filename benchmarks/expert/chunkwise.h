// Chunkwise: within `C` steps a masked product of queries and keys, across chunks the state; everything in tiles of
// tileRows x tileVectors sums.
#pragma once
#include "head.h"
#include "vector.h"

namespace expert {

struct Tile {
  Vector sums[tileRows][tileVectors];

  EXPERT_INLINE void clear() {
#pragma unroll
    for (int u = 0; u < tileRows; ++u)
#pragma unroll
      for (int j = 0; j < tileVectors; ++j) sums[u][j] = splat(0);
  }
  /// Adds left[u, i] right[i, :] for i in [0, count).
  EXPERT_INLINE void addProduct(const float *left, int64_t leftRow, int64_t leftColumn, const float *right,
                                int64_t rightRow, int count) {
    for (int i = 0; i < count; ++i) {
      Vector r[tileVectors];
#pragma unroll
      for (int j = 0; j < tileVectors; ++j) r[j] = load(right + i * rightRow + j * lanes);
#pragma unroll
      for (int u = 0; u < tileRows; ++u) {
        const Vector l = splat(left[u * leftRow + i * leftColumn]);
#pragma unroll
        for (int j = 0; j < tileVectors; ++j) sums[u][j] = fma(l, r[j], sums[u][j]);
      }
    }
  }
  EXPERT_INLINE void multiplyRow(int u, float factor) {
#pragma unroll
    for (int j = 0; j < tileVectors; ++j) sums[u][j] *= factor;
  }
  EXPERT_INLINE void storeRow(int u, float *to) const {
#pragma unroll
    for (int j = 0; j < tileVectors; ++j) store(to + j * lanes, sums[u][j]);
  }
};

/// A chunk's values between its stages.
template <int D, int C> struct Chunk {
  static_assert(C % panel == 0 || C == lanes, "a row of weights is whole panels, or one vector");
  alignas(64) float q[C * D], k[C * D],
      keysTransposed[D * (C < panel ? panel : C)], weights[C * C + panel], decays[C * C + panel];
  alignas(64) float keySum[D], newKeys[D], channelDecay[D];
  alignas(64) float fromState[C], toState[C], divisor[C], running[C]; // factors of outputs, of keys
  float stateFactor;
};

/// Weights of pairs of steps, and what outputs and keys are multiplied by, where decays are scalar.
template <Mode mode, int D, int C> void scalarDecays(const Head &head, int64_t t0, Chunk<D, C> &chunk) {
  float b = 0;
  for (int i = 0; i < C; ++i)
    chunk.running[i] = b += mode == Mode::Retnet ? head.logDecay : head.gate[(t0 + i) * head.gateStep];
  for (int i = 0; i < C; i += lanes) {
    const Vector x = load(chunk.running + i);
    store(chunk.fromState + i, fastExp(x));
    store(chunk.toState + i, fastExp(splat(b) - x));
  }
  chunk.stateFactor = std::exp(b);
  for (int i = 0; i < C; ++i)
    for (int j = 0; j <= i; j += lanes)
      store(chunk.decays + i * C + j,
            fastExp(__builtin_elementwise_min(splat(chunk.running[i]) - load(chunk.running + j), splat(0))));
}

/// Features of queries and keys, and the keys transposed.
template <Mode mode, int D, int C> void features(const Head &head, int64_t t0, Chunk<D, C> &chunk) {
  const float *q = head.q + t0 * head.step, *k = head.k + t0 * head.step;
  constexpr int columns = C < panel ? panel : C;
  for (int c = 0; c < D; c += lanes) {
    Vector keys = splat(0), gates = splat(0);
    for (int i = 0; i < C; i += lanes) {
      Vector rows[lanes];
#pragma unroll
      for (int u = 0; u < lanes; ++u) {
        const int64_t at = (i + u) * head.step + c, to = (i + u) * D + c;
        Vector key = load(k + at);
        if (mode == Mode::Gla) {
          gates += load(head.gate + (t0 + i + u) * head.gateStep + c);
          key *= fastExp(-gates);
          store(chunk.q + to, load(q + at) * fastExp(gates));
        }
        if (mode == Mode::Elu) {
          key = eluPlusOne(key);
          keys += key;
          store(chunk.q + to, eluPlusOne(load(q + at)));
        }
        rows[u] = key;
        if (hasScalarDecay(mode)) key *= chunk.toState[i + u];
        if (mode != Mode::Identity) store(chunk.k + to, key);
      }
      transpose(rows);
#pragma unroll
      for (int u = 0; u < lanes; ++u) store(chunk.keysTransposed + (c + u) * columns + i, rows[u]);
    }
    if (mode == Mode::Gla) store(chunk.channelDecay + c, fastExp(gates));
    if (mode == Mode::Elu) store(chunk.newKeys + c, keys);
  }
}

/// mask(q k^T), and the divisors of elu.
template <Mode mode, int D, int C> void weights(const float *q, int64_t qStep, Chunk<D, C> &chunk) {
  constexpr int columns = C < panel ? panel : C;
  for (int i0 = 0; i0 < C; i0 += tileRows) {
    Vector rowSums[tileRows];
    for (int u = 0; u < tileRows; ++u) rowSums[u] = splat(0);
    for (int j0 = 0; j0 < i0 + tileRows; j0 += panel) {
      Tile tile;
      tile.clear();
      tile.addProduct(q + i0 * qStep, qStep, 1, chunk.keysTransposed + j0, columns, D);
      for (int u = 0; u < tileRows; ++u) {
        const int i = i0 + u;
        for (int j = 0; j < tileVectors && j0 + j * lanes < C; ++j) {
          Vector w = tile.sums[u][j];
          if (hasScalarDecay(mode)) w *= load(chunk.decays + i * C + j0 + j * lanes);
          w = upTo(i - j0 - j * lanes) ? w : splat(0);
          if (mode == Mode::Elu) rowSums[u] += w;
          store(chunk.weights + i * C + j0 + j * lanes, w);
        }
      }
    }
    if (mode == Mode::Elu)
      for (int u = 0; u < tileRows; ++u) {
        Vector total = rowSums[u];
        for (int c = 0; c < D; c += lanes) total = fma(load(q + (i0 + u) * qStep + c), load(chunk.keySum + c), total);
        chunk.divisor[i0 + u] = 1.0f / (sum(total) + 1e-6f);
      }
  }
}

/// `steps` is a multiple of C. The next chunk's rows are asked for while this one's outputs are computed.
template <Mode mode, int D, int C> void chunkwiseHead(const Head &head) {
  alignas(64) static thread_local float state[D * D];
  static thread_local Chunk<D, C> chunk;
  std::memset(state, 0, sizeof state);
  std::memset(&chunk, 0, sizeof chunk);
  for (int64_t t0 = 0; t0 < head.steps; t0 += C) {
    if (hasScalarDecay(mode)) scalarDecays<mode, D, C>(head, t0, chunk);
    features<mode, D, C>(head, t0, chunk);
    constexpr bool ownQueries = mode == Mode::Elu || mode == Mode::Gla;
    const float *q = ownQueries ? chunk.q : head.q + t0 * head.step, *v = head.v + t0 * head.step;
    const int64_t qStep = ownQueries ? D : head.step;
    const float *k = mode == Mode::Identity ? head.k + t0 * head.step : chunk.k;
    const int64_t kStep = mode == Mode::Identity ? head.step : D;
    weights<mode, D, C>(q, qStep, chunk);
    for (int n = 0; n < D; n += panel) {
      for (int i0 = 0; i0 < C; i0 += tileRows) {
        if (n == 0 && t0 + 2 * C <= head.steps)
          for (int u = 0; u < tileRows; ++u) {
            const int64_t next = (t0 + C + i0 + u) * head.step;
            prefetchRow(head.q + next, D), prefetchRow(head.k + next, D), prefetchRow(head.v + next, D);
            if (mode == Mode::Gla) prefetchRow(head.gate + (t0 + C + i0 + u) * head.gateStep, D);
          }
        Tile tile;
        tile.clear();
        tile.addProduct(q + i0 * qStep, qStep, 1, state + n, D, D);
        if (hasScalarDecay(mode))
          for (int u = 0; u < tileRows; ++u) tile.multiplyRow(u, chunk.fromState[i0 + u]);
        tile.addProduct(chunk.weights + i0 * C, C, 1, v + n, head.step, i0 + tileRows);
        for (int u = 0; u < tileRows; ++u) {
          if (mode != Mode::Identity) tile.multiplyRow(u, mode == Mode::Elu ? chunk.divisor[i0 + u] : head.scale);
          tile.storeRow(u, head.out + (t0 + i0 + u) * head.step + n);
        }
      }
      for (int c = 0; c < D; c += tileRows) {
        Tile tile;
#pragma unroll
        for (int u = 0; u < tileRows; ++u)
#pragma unroll
          for (int j = 0; j < tileVectors; ++j) tile.sums[u][j] = load(state + (c + u) * D + n + j * lanes);
        if (hasScalarDecay(mode))
          for (int u = 0; u < tileRows; ++u) tile.multiplyRow(u, chunk.stateFactor);
        tile.addProduct(k + c, 1, kStep, v + n, head.step, C);
        for (int u = 0; u < tileRows; ++u) {
          if (mode == Mode::Gla) tile.multiplyRow(u, chunk.channelDecay[c + u]);
          tile.storeRow(u, state + (c + u) * D + n);
        }
      }
    }
    if (mode == Mode::Elu)
      for (int c = 0; c < D; c += lanes) store(chunk.keySum + c, load(chunk.keySum + c) + load(chunk.newKeys + c));
  }
}

} // namespace expert

// One token: each state is read and written once, all that counts is how fast memory gives and takes it.
#pragma once
#include "head.h"
#include "vector.h"

namespace expert {

/// One step of one head whose state [D, D] is updated in place. `decay` is one number, or D of them (perChannel).
/// `Width` columns at once: few keep values and sums in registers, a whole row follows memory in its order.
template <int D, int Width, bool perChannel>
void decodeHead(float *state, const float *q, const float *k, const float *v, const float *decay, float scale,
                float *out) {
  constexpr int vectors = Width / lanes;
  for (int n = 0; n < D; n += Width) {
    Vector value[vectors], sums[vectors];
#pragma unroll
    for (int j = 0; j < vectors; ++j) value[j] = load(v + n + lanes * j), sums[j] = splat(0);
    for (int c = 0; c < D; ++c) {
      const Vector key = splat(k[c]), query = splat(q[c]), d = splat(decay[perChannel ? c : 0]);
      float *row = state + c * D + n;
#pragma unroll
      for (int j = 0; j < vectors; ++j) {
        const Vector s = fma(key, value[j], d * load(row + lanes * j));
        store(row + lanes * j, s);
        sums[j] = fma(query, s, sums[j]);
      }
    }
#pragma unroll
    for (int j = 0; j < vectors; ++j) store(out + n + lanes * j, sums[j] * scale);
  }
}

} // namespace expert

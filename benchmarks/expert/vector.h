// Vectors of floats as wide as the processor's registers (16 lanes with AVX-512, 8 with AVX2, 4 elsewhere), by the
// vector extensions of clang: operators work on all lanes, a scalar stands for a vector of copies.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace expert {

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
// Tiles of sums that fit the registers (32 of them with AVX-512, 16 with AVX2): rows x vectors.
constexpr int tileRows = lanes == 16 ? 8 : 4;
constexpr int tileVectors = 2;
constexpr int panel = tileVectors * lanes;

typedef float Vector __attribute__((ext_vector_type(lanes)));
typedef int32_t IntVector __attribute__((ext_vector_type(lanes)));
typedef float LooseVector __attribute__((ext_vector_type(lanes), aligned(4)));

#define EXPERT_INLINE inline __attribute__((always_inline))

EXPERT_INLINE Vector load(const float *from) { return *reinterpret_cast<const LooseVector *>(from); }
EXPERT_INLINE void store(float *to, Vector value) { *reinterpret_cast<LooseVector *>(to) = value; }
EXPERT_INLINE Vector splat(float value) { return Vector(value); }
EXPERT_INLINE Vector fma(Vector a, Vector b, Vector sum) { return __builtin_elementwise_fma(a, b, sum); }
EXPERT_INLINE float sum(Vector value) {
  float total = 0;
  for (int i = 0; i < lanes; ++i) total += value[i];
  return total;
}

/// True in the lanes 0 to last.
EXPERT_INLINE IntVector upTo(int last) {
  IntVector lane;
#pragma unroll
  for (int i = 0; i < lanes; ++i) lane[i] = i;
  return lane <= last;
}

/// e^x to about 3e-6, by a polynomial of degree 5 of the fraction of x / ln 2.
EXPERT_INLINE Vector fastExp(Vector x) {
  x = __builtin_elementwise_max(__builtin_elementwise_min(x, splat(88.0f)), splat(-87.0f));
  const Vector y = x * 1.44269504088896341f, whole = __builtin_elementwise_roundeven(y), f = y - whole;
  Vector p = splat(1.3333558e-3f);
  p = fma(p, f, splat(9.618129e-3f));
  p = fma(p, f, splat(5.550411e-2f));
  p = fma(p, f, splat(0.24022651f));
  p = fma(p, f, splat(0.69314718f));
  p = fma(p, f, splat(1.0f));
  const IntVector power = (__builtin_convertvector(whole, IntVector) + 127) << 23;
  return p * __builtin_bit_cast(Vector, power);
}

/// elu(x) + 1.
EXPERT_INLINE Vector eluPlusOne(Vector x) {
  const Vector zero = splat(0.0f), negative = fastExp(__builtin_elementwise_min(x, zero));
  return x > zero ? x + 1.0f : negative;
}

/// Rows become columns: log2(lanes) rounds in which each row is interleaved with the one half a matrix below.
EXPERT_INLINE void transpose(Vector (&rows)[lanes]) {
  for (int round = 1; round < lanes; round *= 2) {
    Vector next[lanes];
#pragma unroll
    for (int i = 0; i < lanes / 2; ++i) {
      const Vector a = rows[i], b = rows[i + lanes / 2];
#if defined(__AVX512F__)
      next[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif defined(__AVX__)
      next[2 * i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
      next[2 * i] = __builtin_shufflevector(a, b, 0, 4, 1, 5);
      next[2 * i + 1] = __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
    }
    std::memcpy(rows, next, sizeof next);
  }
}

/// Asks for the cache lines of a row of `width` floats.
EXPERT_INLINE void prefetchRow(const float *row, int width) {
  for (int i = 0; i < width; i += 16) __builtin_prefetch(row + i);
}

} // namespace expert

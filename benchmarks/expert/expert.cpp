#include "expert.h"
#include "chunkwise.h"
#include "decode.h"
#include "recurrent.h"
#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

using namespace expert;

namespace {

using Kernel = void (*)(const Head &);

/// One way to compute a mode: its kernels for both sizes, and what the number of steps must be a multiple of.
struct Variant {
  const char *name;
  int block;
  Kernel kernels[2][5]; // [size 64, 128][mode]
};

#define MODES(kernel, size, ...)                                                                                       \
  {                                                                                                                    \
    kernel<Mode::Elu, size, __VA_ARGS__>, kernel<Mode::Identity, size, __VA_ARGS__>,                                   \
        kernel<Mode::Retnet, size, __VA_ARGS__>, kernel<Mode::ScalarGate, size, __VA_ARGS__>,                          \
        kernel<Mode::Gla, size, __VA_ARGS__>                                                                           \
  }
#define VARIANT(name, block, kernel, ...)                                                                              \
  {                                                                                                                    \
    name, block, { MODES(kernel, 64, __VA_ARGS__), MODES(kernel, 128, __VA_ARGS__) }                                   \
  }

// With 16 registers four steps leave room for one vector of each row of the state, with 32 for two.
constexpr int wide = lanes == 16 ? 2 : 1;
const Variant variants[] = {
    VARIANT("4 steps", 4, recurrentHead, 4, wide, 0),
    VARIANT("4 steps, prefetched", 4, recurrentHead, 4, wide, 8),
    VARIANT("2 steps", 2, recurrentHead, 2, 2 * wide, 0),
    VARIANT("2 steps, prefetched", 2, recurrentHead, 2, 2 * wide, 8),
    VARIANT("chunks of 16", 16, chunkwiseHead, 16),
    VARIANT("chunks of 32", 32, chunkwiseHead, 32),
    VARIANT("chunks of 64", 64, chunkwiseHead, 64),
};

/// function(h) for all heads, in as many equal parts as there are threads.
void forHeads(int64_t heads, int threads, const std::function<void(int64_t)> &function) {
  auto part = [&](int64_t thread) {
    for (int64_t h = thread * heads / threads; h < (thread + 1) * heads / threads; ++h) function(h);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(part, thread);
  part(0);
  for (std::thread &other : others) other.join();
}

template <int D> void decodeOne(const expert_call &call, int64_t h) {
  const bool perChannel = call.mode == static_cast<int>(Mode::Gla);
  constexpr int few = std::min(D, tileRows * lanes);
  const int64_t at = h * call.head;
  const float *decay = call.gate + h * call.gate_head;
  float *state = call.state + h * D * D;
  auto *kernel = call.variant ? (perChannel ? decodeHead<D, D, true> : decodeHead<D, D, false>)
                              : (perChannel ? decodeHead<D, few, true> : decodeHead<D, few, false>);
  kernel(state, call.q + at, call.k + at, call.v + at, decay, call.scale, call.out + at);
}

} // namespace

int expert_lanes() { return lanes; }
int expert_variants() { return static_cast<int>(std::size(variants)); }
const char *expert_variant_name(int variant) { return variants[variant].name; }

int expert_run(const expert_call *call, void *) {
  if (call->variant < 0 || call->variant >= expert_variants() || call->mode < 0 || call->mode > 4) return 1;
  const Variant &variant = variants[call->variant];
  if ((call->size != 64 && call->size != 128) || call->steps % variant.block != 0) return 1;
  const Kernel kernel = variant.kernels[call->size == 128][call->mode];
  forHeads(call->heads, call->threads, [&](int64_t h) {
    const int64_t at = h * call->head;
    Head head{};
    head.steps = call->steps;
    head.q = call->q + at, head.k = call->k + at, head.v = call->v + at, head.out = call->out + at;
    if (call->gate) head.gate = call->gate + h * call->gate_head;
    if (call->log_decay) head.logDecay = call->log_decay[h];
    head.step = call->step, head.gateStep = call->gate_step, head.scale = call->scale;
    kernel(head);
  });
  return 0;
}

int expert_decode(const expert_call *call, void *) {
  const bool known = call->mode >= static_cast<int>(Mode::Retnet) && call->mode <= static_cast<int>(Mode::Gla);
  if (!known || (call->size != 64 && call->size != 128)) return 1;
  forHeads(call->heads, call->threads,
           [&](int64_t h) { call->size == 64 ? decodeOne<64>(*call, h) : decodeOne<128>(*call, h); });
  return 0;
}

int64_t expert_repeat(int (*function)(void *, void *), void *a, void *b, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += function(a, b);
  return sum;
}

double expert_peak_gflops() {
  constexpr int chains = 12;
  constexpr int64_t rounds = 1000000;
  double best = 0;
  for (int attempt = 0; attempt < 9; ++attempt) {
    Vector sums[chains], a = splat(0.999f), b = splat(0.001f);
    for (int i = 0; i < chains; ++i) sums[i] = splat(static_cast<float>(i));
    const auto start = std::chrono::steady_clock::now();
    for (int64_t r = 0; r < rounds; ++r) {
#pragma unroll
      for (int i = 0; i < chains; ++i) sums[i] = fma(sums[i], a, b);
        // What the loop computes is not to be foreseen.
#pragma unroll
      for (int i = 0; i < chains; ++i) asm volatile("" : "+v"(sums[i]));
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, 2.0 * lanes * chains * rounds / seconds * 1e-9);
  }
  return best;
}

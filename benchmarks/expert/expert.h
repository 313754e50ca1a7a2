/* Linear attention written by hand for CPUs: what a compiler has to beat. A library for the benchmarks, called with one
 * structure. Fixed sizes (64, 128), steps a multiple of the block, no tails, an exponential of 3e-6: a bar for speed,
 * not a library to use. */
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct expert_call {
  int32_t mode;    /* 0 elu, 1 identity, 2 retnet, 3 scalar_gate, 4 gla */
  int32_t size;    /* dk = dv */
  int32_t variant; /* of expert_variant_name */
  int32_t threads;
  int64_t steps, heads;
  const float *q, *k, *v, *gate; /* gate: [steps, heads] or [steps, heads, size] log-decays; decode: decays, not logs */
  const float *log_decay;        /* retnet: [heads] */
  float *out, *state;            /* state: decode only, [heads, size, size], in place */
  int64_t step, head;            /* floats from one step, from one head to the next of q, k, v, out */
  int64_t gate_step, gate_head;  /* the same for gate */
  float scale;
} expert_call;

int expert_lanes(void);
int expert_variants(void);
const char *expert_variant_name(int variant);
/* The whole sequence from a zero state. 0: done; 1: no kernel for these sizes. */
int expert_run(const expert_call *call, void *unused);
/* One step of retnet and scalar_gate (one decay a head) and gla (one a channel): variant 0 keeps tiles of columns in
 * registers, 1 takes whole rows. */
int expert_decode(const expert_call *call, void *unused);

/* function(a, b) `count` times: keeps what a call from Python costs out of the time of short calls. The sum of what
 * they returned. */
int64_t expert_repeat(int (*function)(void *, void *), void *a, void *b, int64_t count);
/* Measured: billions of f32 operations (two to a fused multiply-add) a second of one thread, from registers. */
double expert_peak_gflops(void);

#ifdef __cplusplus
}
#endif

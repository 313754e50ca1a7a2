/* Lesson 3: a compiled operator in a C program.
 *
 *     lintel compile ../specs/retnet.attn --dim dk=64 --dim dv=64 -o retnet
 *
 * writes a header that declares one constant, the kernel, and a library that holds it. The program needs these and the
 * runtime, nothing else.
 *
 * Runs RetNet over a whole sequence on two threads, then once more as a model would when it writes text: a prompt
 * first, then step by step with the state kept. Both are compared with the operator written as plain loops. */
#include "lintel_retnet_dk64_dv64_f32.h"
#include <lintel/runtime.h>
#include <lintel/state.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 2, T = 300, PROMPT = 290, H = 4, DK = 64, DV = 64 };

static float q[B][T][H][DK], k[B][T][H][DK], v[B][T][H][DV], gamma_[H];
static float out[B][T][H][DV], decoded[B][T][H][DV];

/* Numbers in [-1, 1), the same on every machine. */
static void fill(void *array, size_t bytes) {
  static uint32_t state = 1;
  for (size_t i = 0; i < bytes / sizeof(float); ++i) {
    state = state * 1664525u + 1013904223u;
    ((float *)array)[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
  }
}

/* The meaning: S = gamma S + outer(k, v), out = q S / sqrt(dk). Returns the largest difference from `found`. */
static double differenceFrom(float found[B][T][H][DV]) {
  static double S[DK][DV];
  double largest = 0;
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h) {
      for (int c = 0; c < DK; ++c)
        for (int e = 0; e < DV; ++e) S[c][e] = 0;
      for (int t = 0; t < T; ++t)
        for (int e = 0; e < DV; ++e) {
          double sum = 0;
          for (int c = 0; c < DK; ++c) {
            S[c][e] = gamma_[h] * S[c][e] + (double)k[b][t][h][c] * v[b][t][h][e];
            sum += q[b][t][h][c] * S[c][e];
          }
          double difference = fabs(sum / sqrt(DK) - found[b][t][h][e]);
          if (!(difference <= largest)) largest = difference; /* also when it is not a number */
        }
    }
  return largest;
}

/* Steps [first, first + steps) of an array [B, T, H, width]: the strides stay those of the whole. */
static lintel_array steps(void *data, int64_t width, int64_t first, int64_t count) {
  const int64_t shape[4] = {B, T, H, width};
  lintel_array array = lintel_array_contiguous((float *)data + first * H * width, LINTEL_F32, 4, shape);
  array.shape[1] = count;
  return array;
}

/* The kernel's inputs in its order, which is the order of the spec: q, k, v, gamma. */
static void inputs(lintel_array in[4], int64_t first, int64_t count) {
  const int64_t heads[1] = {H};
  in[0] = steps(q, DK, first, count);
  in[1] = steps(k, DK, first, count);
  in[2] = steps(v, DV, first, count);
  in[3] = lintel_array_contiguous(gamma_, LINTEL_F32, 1, heads);
}

static void stopOn(const lintel_error *error) {
  if (error->code == LINTEL_OK) return;
  fprintf(stderr, "%s: %s\n", lintel_status_name(error->code), error->message);
  exit(1);
}

int main(void) {
  fill(q, sizeof q);
  fill(k, sizeof k);
  fill(v, sizeof v);
  for (int h = 0; h < H; ++h) gamma_[h] = 1.0f - 1.0f / (float)(32 << h);

  /* At once: every pair of sequence and head is one piece of work, so that up to 8 threads have something to do. */
  lintel_error error = {LINTEL_OK, ""};
  lintel_array in[4], whole = steps(out, DV, 0, T);
  inputs(in, 0, T);
  lintel_pool *pool = lintel_pool_create(2, &error);
  stopOn(&error);
  lintel_call call = {0};
  call.kernel = &lintel_retnet_dk64_dv64_f32;
  call.inputs = in;
  call.out = &whole;
  call.executor = lintel_pool_executor(pool);
  lintel_run(&call, &error);
  stopOn(&error);

  /* As text is written: a prompt, then token by token. */
  lintel_state *state = lintel_state_create(&lintel_retnet_dk64_dv64_f32, B, H, NULL, &error);
  stopOn(&error);
  lintel_array prompt = steps(decoded, DV, 0, PROMPT);
  inputs(in, 0, PROMPT);
  lintel_advance(state, in, &prompt, &error);
  stopOn(&error);
  for (int64_t t = PROMPT; t < T; ++t) {
    lintel_array token = steps(decoded, DV, t, 1);
    inputs(in, t, 1);
    lintel_step(state, in, &token, &error);
    stopOn(&error);
  }

  const double wholeDifference = differenceFrom(out), decodedDifference = differenceFrom(decoded);
  printf("retnet, %d steps: largest difference %.1e at once, %.1e after a prompt and %d single steps\n", T,
         wholeDifference, decodedDifference, T - PROMPT);
  lintel_state_destroy(state);
  lintel_pool_destroy(pool);
  return wholeDifference < 1e-3 && decodedDifference < 1e-3 ? 0 : 1;
}

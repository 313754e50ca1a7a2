#include "test/unit/runtime/FakeKernels.h"
#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__)
#define BASE LINTEL_CPU_AARCH64
#else
#define BASE LINTEL_CPU_X86_64_V2
#endif

enum { Q, K, U, G, W };

static void blendStep(const lintel_item *item, int64_t t, float *S, float *z) {
  const float *q = (const float *)item->input[Q] + t * item->input_step[Q];
  const float *k = (const float *)item->input[K] + t * item->input_step[K];
  const float u = ((const float *)item->input[U])[t * item->input_step[U]];
  const float g = *(const float *)item->input[G];
  float *out = (float *)item->out[0] + t * item->out_step[0];
  for (int c = 0; c < 3; ++c) {
    z[c] += g * k[c];
    for (int r = 0; r < 2; ++r) S[r * 3 + c] += ((const float *)item->input[W])[r * item->input_row[W] + c] * k[c];
    out[c] = q[c] * z[c] + u * (S[c] + S[3 + c]) + (float)(item->position + t);
  }
}

static void blend(const lintel_item *item, float *states) {
  float *S = states, *z = states + 6;
  memset(states, 0, 9 * sizeof(float));
  if (item->state_in[0]) memcpy(S, item->state_in[0], 6 * sizeof(float));
  if (item->state_in[1]) memcpy(z, item->state_in[1], 3 * sizeof(float));
  for (int64_t t = 0; t < item->steps; ++t) blendStep(item, t, S, z);
  if (item->state_out[0]) memcpy(item->state_out[0], S, 6 * sizeof(float));
  if (item->state_out[1]) memcpy(item->state_out[1], z, 3 * sizeof(float));
}

static void blendRecurrent(const lintel_item *item) {
  float states[9];
  blend(item, states);
}

/* Keeps its states in scratch and leaves all of it dirty. */
static void blendChunkwise(const lintel_item *item) {
  if ((uintptr_t)item->scratch % 64) abort();
  blend(item, (float *)item->scratch);
  memset(item->scratch, 0xff, 1000);
}

static void neverRun(const lintel_item *item) {
  (void)item;
  abort();
}

static const lintel_parameter blendInputs[] = {{"q", LINTEL_TOKEN, LINTEL_F32, 1, 0, {3, 0}, 0},
                                               {"k", LINTEL_TOKEN, LINTEL_F32, 1, 0, {3, 0}, 0},
                                               {"u", LINTEL_TOKEN, LINTEL_F32, 0, 0, {0, 0}, 0},
                                               {"g", LINTEL_HEAD, LINTEL_F32, 0, 0, {0, 0}, 0},
                                               {"w", LINTEL_SHARED, LINTEL_F32, 2, 0, {2, 3}, 0}};
static const lintel_parameter blendStates[] = {{"S", LINTEL_STATE, LINTEL_F32, 2, 0, {2, 3}, 0},
                                               {"z", LINTEL_STATE, LINTEL_F32, 1, 0, {3, 0}, 0}};
static const lintel_parameter out3 = {"out", LINTEL_OUT, LINTEL_F32, 1, 0, {3, 0}, 0};
static const lintel_variant blendVariants[] = {
    {"chunkwise", "future", "", FAKE_FEATURE | BASE, 16, 4096, neverRun, 0, 0, NULL, 0},
    {"chunkwise", "base", "", BASE, 4, 1000, blendChunkwise, 0, 0, NULL, 0},
    {"recurrent", "base", "", BASE, 1, 0, blendRecurrent, 0, 0, NULL, 0}};
const lintel_kernel fake_blend = {
    LINTEL_ABI_VERSION, sizeof(lintel_kernel), "blend", "00",          LINTEL_F32, 1, 5, 2, 3, 0, 1, 0,
    blendInputs,        blendStates,           &out3,   blendVariants, NULL};

static void total(const lintel_item *item) {
  const float *q = (const float *)item->input[0];
  float sum[3] = {0, 0, 0};
  for (int64_t t = 0; t < item->steps; ++t)
    for (int c = 0; c < 3; ++c) sum[c] += q[t * item->input_step[0] + c];
  for (int64_t t = 0; t < item->steps; ++t)
    for (int c = 0; c < 3; ++c) ((float *)item->out[0])[t * item->out_step[0] + c] = sum[c];
}

static const lintel_variant totalVariants[] = {{"parallel", "base", "", BASE, 1, 0, total, 0, 0, NULL, 0}};
const lintel_kernel fake_total = {LINTEL_ABI_VERSION,
                                  sizeof(lintel_kernel),
                                  "total",
                                  "01",
                                  LINTEL_F32,
                                  0,
                                  1,
                                  0,
                                  1,
                                  0,
                                  1,
                                  0,
                                  blendInputs,
                                  NULL,
                                  &out3,
                                  totalVariants,
                                  NULL};

static void bare(const lintel_item *item) {
  for (int64_t t = 0; t < item->steps; ++t)
    for (int c = 0; c < 3; ++c)
      ((float *)item->out[0])[t * item->out_step[0] + c] =
          2 * ((const float *)item->input[0])[t * item->input_step[0] + c];
}

/* "out" doubles, "sum" adds up the features. */
static void both(const lintel_item *item) {
  bare(item);
  for (int64_t t = 0; t < item->steps; ++t) {
    const float *q = (const float *)item->input[0] + t * item->input_step[0];
    ((float *)item->out[1])[t * item->out_step[1]] = q[0] + q[1] + q[2];
  }
}

static const lintel_parameter bothOutputs[] = {{"out", LINTEL_OUT, LINTEL_F32, 1, 0, {3, 0}, 0},
                                               {"sum", LINTEL_OUT, LINTEL_F32, 0, 0, {0, 0}, 0}};
static const lintel_variant bothVariants[] = {{"recurrent", "base", "", BASE, 1, 0, both, 0, 0, NULL, 0}};
const lintel_kernel fake_both = {
    LINTEL_ABI_VERSION, sizeof(lintel_kernel), "both", "04", LINTEL_F32, 1, 1, 0, 1, 0, 2, 0, blendInputs, NULL,
    bothOutputs,        bothVariants,          NULL};

static const lintel_variant bareVariants[] = {{"recurrent", "base", "", BASE, 1, 0, bare, 0, 0, NULL, 0}};
#define BARE(name, hash, attends)                                                                                      \
  {                                                                                                                    \
    LINTEL_ABI_VERSION, sizeof(lintel_kernel), name, hash, LINTEL_F32, 1, 1, 0, 1, attends, 1, 0, blendInputs, NULL,   \
        &out3, bareVariants, NULL                                                                                      \
  }
const lintel_kernel fake_bare = BARE("bare", "02", 0);
const lintel_kernel fake_again = BARE("again", "03", 1);

/* Each step halves the state: its numbers stay, its exponent falls. */
static void halved(const lintel_item *item) {
  const double *given = item->exponent_in ? item->exponent_in[0] : NULL;
  double *taken = item->exponent_out ? item->exponent_out[0] : NULL;
  const float *in = (const float *)item->state_in[0];
  float *state = (float *)item->state_out[0];
  const double p = (!in ? LINTEL_EXPONENT_NONE : given ? *given : 0) - (double)item->steps;
  bare(item);
  for (int c = 0; c < 3 && state; ++c) {
    state[c] = in ? in[c] : 0;
    for (int64_t n = 0; !taken && state[c] != 0 && n < (int64_t)-p; ++n) state[c] /= 2;
  }
  if (taken) *taken = p;
}

static const lintel_parameter halvedStates[] = {{"s", LINTEL_STATE, LINTEL_F32, 1, 1, {3, 0}, 0}};
static const lintel_parameter halvedExponents[] = {{"p", LINTEL_EXPONENT, LINTEL_F64, 0, 0, {0, 0}, 0}};
static const lintel_variant halvedVariants[] = {{"recurrent", "base", "", BASE, 1, 0, halved, 0, 0, NULL, 0}};
const lintel_kernel fake_halved = {
    LINTEL_ABI_VERSION, sizeof(lintel_kernel), "halved", "05",           LINTEL_F32,     1, 1, 1, 1, 0, 1, 1,
    blendInputs,        halvedStates,          &out3,    halvedVariants, halvedExponents};

/* `columns` of the four, whose pointers stand at the first of them. */
static void parted(const lintel_item *item, int64_t columns) {
  float n[2] = {0, 0}, S[2][4] = {{0}}, R[4][2] = {{0}};
  const float *w = (const float *)item->input[2], *a = (const float *)item->input[3];
  if ((uintptr_t)item->scratch % 64) abort();
  for (int c = 0; c < 2; ++c) {
    if (item->state_in[2]) n[c] = ((const float *)item->state_in[2])[c];
    for (int64_t e = 0; e < columns; ++e) {
      if (item->state_in[0]) S[c][e] = ((const float *)item->state_in[0])[c * columns + e];
      if (item->state_in[1]) R[e][c] = ((const float *)item->state_in[1])[e * 2 + c];
    }
  }
  const double *given = item->exponent_in ? item->exponent_in[0] : NULL;
  const double p = (given ? *given : 0) + (double)item->steps;
  for (int64_t t = 0; t < item->steps; ++t) {
    const float *q = (const float *)item->input[0] + t * item->input_step[0];
    const float *v = (const float *)item->input[1] + t * item->input_step[1];
    float *out = (float *)item->out[0] + t * item->out_step[0], *more = (float *)item->out[1] + t * item->out_step[1];
    for (int c = 0; c < 2; ++c) n[c] += q[c];
    for (int64_t e = 0; e < columns; ++e) {
      out[e] = w[e] + w[item->input_row[2] + e] * w[2 * item->input_row[2] + e];
      for (int c = 0; c < 2; ++c) {
        S[c][e] += q[c] * v[e];
        R[e][c] += v[e] * a[e * item->input_row[3] + c];
        out[e] += q[c] * S[c][e] + R[e][c] * n[c];
      }
      more[e] = v[e] + n[0] + n[1];
    }
  }
  for (int c = 0; c < 2; ++c) {
    if (item->state_out[2]) ((float *)item->state_out[2])[c] = n[c];
    for (int64_t e = 0; e < columns; ++e) {
      if (item->state_out[0]) ((float *)item->state_out[0])[c * columns + e] = S[c][e];
      if (item->state_out[1]) ((float *)item->state_out[1])[e * 2 + c] = R[e][c];
    }
  }
  if (item->exponent_out && item->exponent_out[0]) *item->exponent_out[0] = p;
  memset(item->scratch, 0xff, columns == 4 ? 100 : 200);
}

static void partedWhole(const lintel_item *item) { parted(item, 4); }
static void partedPart(const lintel_item *item) { parted(item, 2); }

static const lintel_parameter partedInputs[] = {{"q", LINTEL_TOKEN, LINTEL_F32, 1, 0, {2, 0}, 0},
                                                {"v", LINTEL_TOKEN, LINTEL_F32, 1, 0, {4, 0}, 1},
                                                {"w", LINTEL_SHARED, LINTEL_F32, 2, 0, {3, 4}, 2},
                                                {"a", LINTEL_HEAD, LINTEL_F32, 2, 0, {4, 2}, 1}};
static const lintel_parameter partedStates[] = {{"S", LINTEL_STATE, LINTEL_F32, 2, 0, {2, 4}, 2},
                                                {"R", LINTEL_STATE, LINTEL_F32, 2, 0, {4, 2}, 1},
                                                {"n", LINTEL_STATE, LINTEL_F32, 1, 1, {2, 0}, 0}};
static const lintel_parameter partedOutputs[] = {{"out", LINTEL_OUT, LINTEL_F32, 1, 0, {4, 0}, 1},
                                                 {"more", LINTEL_OUT, LINTEL_F32, 1, 0, {4, 0}, 1}};
static const lintel_parameter partedExponents[] = {{"p", LINTEL_EXPONENT, LINTEL_F64, 0, 0, {0, 0}, 0}};
static const lintel_variant partedVariants[] = {
    {"recurrent", "base", "", BASE, 1, 100, partedWhole, 2, 200, partedPart, 550}};
const lintel_kernel fake_parted = {
    LINTEL_ABI_VERSION, sizeof(lintel_kernel), "parted",      "06",           LINTEL_F32,     1, 4, 3, 1, 0, 2, 1,
    partedInputs,       partedStates,          partedOutputs, partedVariants, partedExponents};

/* Runs one compiled operator over the first T tokens of a sequence, for several T, and says how long each took.
 *
 *     cc -std=c99 -DHEADER='"lintel_retnet_dk64_dv64_f32.h"' -DKERNEL=lintel_retnet_dk64_dv64_f32 attend.c ...
 *     attend HEADS T1,T2,... OUT INPUT...
 *
 * INPUT: one file of raw f32 for each input, in the kernel's order: [T, HEADS, n...], [HEADS, n...] or [n...]. The
 * output of the last T is written to OUT in the same way. Prints "T seconds" for each; short runs are repeated, and the
 * least time counts. It uses one thread. */
#define _POSIX_C_SOURCE 199309L
#include HEADER
#include <lintel/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_INPUTS = 16 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *what, const char *why) {
  fprintf(stderr, "attend: %s: %s\n", what, why);
  exit(1);
}

/* A parameter's array over `steps` steps; with `data` NULL it has a shape alone. */
static lintel_array view(const lintel_parameter *p, void *data, int64_t steps, int64_t heads) {
  int64_t shape[LINTEL_MAX_RANK];
  int32_t rank = 0, i;
  if (p->kind == LINTEL_TOKEN || p->kind == LINTEL_OUT) shape[rank++] = 1, shape[rank++] = steps, shape[rank++] = heads;
  if (p->kind == LINTEL_HEAD) shape[rank++] = heads;
  for (i = 0; i < p->rank; ++i) shape[rank++] = p->dim[i];
  return lintel_array_contiguous(data, p->dtype, rank, shape);
}

static size_t elements(lintel_array array) {
  size_t count = 1;
  int32_t i;
  for (i = 0; i < array.rank; ++i) count *= (size_t)array.shape[i];
  return count;
}

static float *readFloats(const char *path, size_t count) {
  float *data = (float *)malloc(count * sizeof(float) + 1);
  FILE *file = fopen(path, "rb");
  if (!data || !file) stop(path, "cannot be opened");
  if (fread(data, sizeof(float), count, file) != count) stop(path, "is too short");
  fclose(file);
  return data;
}

int main(int argc, char **argv) {
  const lintel_kernel *kernel = &KERNEL;
  lintel_error error = {LINTEL_OK, ""};
  float *data[MOST_INPUTS], *out;
  int64_t heads, most = 0, steps = 0;
  uint32_t i;
  char *list;
  FILE *file;
  if (argc < 4 || kernel->num_inputs > MOST_INPUTS || argc != 4 + (int)kernel->num_inputs)
    stop("usage", "attend HEADS T1,T2,... OUT INPUT...");
  heads = strtoll(argv[1], NULL, 10);
  for (list = argv[2]; *list; list += *list == ',') {
    steps = strtoll(list, &list, 10);
    if (steps > most) most = steps;
  }
  for (i = 0; i < kernel->num_inputs; ++i)
    data[i] = readFloats(argv[4 + i], elements(view(&kernel->inputs[i], NULL, most, heads)));
  out = (float *)malloc(elements(view(kernel->out, NULL, most, heads)) * sizeof(float) + 1);
  if (!out) stop("output", "no memory");

  for (list = argv[2]; *list; list += *list == ',') {
    lintel_array inputs[MOST_INPUTS], result;
    lintel_call call = {0};
    double least = 1e30, begin;
    int runs;
    steps = strtoll(list, &list, 10);
    for (i = 0; i < kernel->num_inputs; ++i) inputs[i] = view(&kernel->inputs[i], data[i], steps, heads);
    result = view(kernel->out, out, steps, heads);
    call.kernel = kernel;
    call.inputs = inputs;
    call.out = &result;
    /* A short run is timed warm, a long one once. */
    begin = now();
    for (runs = 0; runs < 1 || (runs < 20 && now() - begin < 0.3); ++runs) {
      double start = now();
      if (lintel_run(&call, &error) != LINTEL_OK) stop(kernel->name, error.message);
      if (now() - start < least) least = now() - start;
    }
    printf("%lld %.9f\n", (long long)steps, least);
    fflush(stdout);
  }
  file = fopen(argv[3], "wb");
  if (!file || fwrite(out, sizeof(float), elements(view(kernel->out, NULL, steps, heads)), file) == 0 ||
      fclose(file) != 0)
    stop(argv[3], "cannot be written");
  for (i = 0; i < kernel->num_inputs; ++i) free(data[i]);
  free(out);
  return 0;
}

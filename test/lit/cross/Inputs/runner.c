/* Runs one compiled operator (KERNEL, declared by HEADER) on arrays from files, for a processor other than the one
 * that builds it:
 *
 *     runner DIR B T H FORM
 *
 * reads in0.bin, in1.bin, ... (f32, contiguous) and writes out0.bin, ..., state0.bin, ... */
#include HEADER
#include <lintel/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lintel_array arrayOf(const lintel_parameter *p, int64_t B, int64_t T, int64_t H) {
  int64_t shape[LINTEL_MAX_RANK], bytes = 4;
  int rank = 0;
  if (p->kind != LINTEL_HEAD && p->kind != LINTEL_SHARED) shape[rank++] = B;
  if (p->kind == LINTEL_TOKEN || p->kind == LINTEL_OUT) shape[rank++] = T;
  if (p->kind != LINTEL_SHARED) shape[rank++] = H;
  for (int d = 0; d < p->rank; ++d) shape[rank++] = p->dim[d];
  for (int d = 0; d < rank; ++d) bytes *= shape[d];
  return lintel_array_contiguous(calloc(1, (size_t)bytes + 4), p->dtype, rank, shape);
}

static size_t elements(const lintel_array *a) {
  size_t n = 1;
  for (int d = 0; d < a->rank; ++d) n *= (size_t)a->shape[d];
  return n;
}

static int transfer(const char *dir, const char *name, unsigned i, const lintel_array *a, const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s%u.bin", dir, name, i);
  FILE *file = fopen(path, mode);
  size_t n = elements(a), done = 0;
  if (file) done = *mode == 'r' ? fread(a->data, 4, n, file) : fwrite(a->data, 4, n, file);
  if (!file || fclose(file) || done != n) {
    fprintf(stderr, "%s: expected %zu numbers, found %zu\n", path, n, done);
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 6) return fprintf(stderr, "expected DIR B T H FORM\n"), 2;
  int64_t B = atoll(argv[2]), T = atoll(argv[3]), H = atoll(argv[4]);
  const lintel_kernel *k = &KERNEL;
  lintel_array in[16], out[8], states[8];
  for (unsigned i = 0; i < k->num_inputs; ++i) {
    in[i] = arrayOf(&k->inputs[i], B, T, H);
    if (transfer(argv[1], "in", i, &in[i], "rb")) return 1;
  }
  for (unsigned i = 0; i < k->num_outputs; ++i) out[i] = arrayOf(&k->out[i], B, T, H);
  for (unsigned i = 0; i < k->num_states; ++i) states[i] = arrayOf(&k->states[i], B, T, H);
  lintel_error error;
  lintel_call call;
  memset(&call, 0, sizeof call);
  call.kernel = k, call.inputs = in, call.out = out, call.states_out = k->num_states ? states : NULL;
  call.form = argv[5];
  lintel_pool *pool = lintel_pool_create(2, &error);
  if (pool) call.executor = lintel_pool_executor(pool);
  if (!pool || lintel_run(&call, &error) != LINTEL_OK) return fprintf(stderr, "%s\n", error.message), 1;
  for (unsigned i = 0; i < k->num_outputs; ++i)
    if (transfer(argv[1], "out", i, &out[i], "wb")) return 1;
  for (unsigned i = 0; i < k->num_states; ++i)
    if (transfer(argv[1], "state", i, &states[i], "wb")) return 1;
  printf("%s by %s\n", k->name, lintel_select(k, argv[5], 0, NULL)->target);
  return 0;
}

/* How long a program waits for an operator: loads the runtime's and the kernel's shared libraries, checks a first call.
 *
 *     loading RUNTIME.so KERNEL.so SYMBOL
 *
 * prints microseconds of the two dlopens and lookups, and of the check. */
#include <dlfcn.h>
#include <lintel/runtime.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* A view of memory that nobody touches: a check reads no element. */
static lintel_array viewOf(const lintel_parameter *p, char **next) {
  const int64_t B = 1, T = 4096, H = 8;
  lintel_array a;
  memset(&a, 0, sizeof a);
  a.dtype = p->dtype;
  if (p->kind == LINTEL_TOKEN || p->kind == LINTEL_OUT) {
    a.shape[a.rank++] = B;
    a.shape[a.rank++] = T;
  }
  if (p->kind != LINTEL_SHARED) a.shape[a.rank++] = H;
  for (int d = 0; d < p->rank; ++d) a.shape[a.rank++] = p->dim[d];
  int64_t step = 1;
  for (int d = a.rank; d-- > 0; step *= a.shape[d]) a.stride[d] = step;
  a.data = *next;
  *next += (step * 8 + 63) / 64 * 64;
  return a;
}

int main(int argc, char **argv) {
  if (argc != 4) return fprintf(stderr, "expected RUNTIME KERNEL SYMBOL\n"), 2;
  const double start = now();
  void *runtime = dlopen(argv[1], RTLD_NOW), *library = dlopen(argv[2], RTLD_NOW);
  if (!runtime || !library) return fprintf(stderr, "%s\n", dlerror()), 1;
  const lintel_kernel *kernel = dlsym(library, argv[3]);
  int (*check)(const lintel_call *, lintel_error *);
  *(void **)&check = dlsym(runtime, "lintel_check");
  if (!kernel || !check) return fprintf(stderr, "%s\n", dlerror()), 1;
  const double loaded = now();
  lintel_array in[16], out[8];
  char *next = (char *)4096;
  for (uint32_t i = 0; i < kernel->num_inputs && i < 16; ++i) in[i] = viewOf(&kernel->inputs[i], &next);
  for (uint32_t i = 0; i < kernel->num_outputs && i < 8; ++i) out[i] = viewOf(&kernel->out[i], &next);
  lintel_call call;
  memset(&call, 0, sizeof call);
  call.kernel = kernel;
  call.inputs = in;
  call.out = out;
  lintel_error error;
  if (check(&call, &error) != LINTEL_OK) return fprintf(stderr, "%s\n", error.message), 1;
  const double checked = now();
  printf("%.1f %.1f\n", loaded - start, checked - loaded);
  return 0;
}

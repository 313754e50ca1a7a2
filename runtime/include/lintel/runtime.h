/* Calling compiled operators: describe the arrays, choose a variant, run it on one thread or many.
 *
 *     lintel_array in[3] = {lintel_array_contiguous(q, LINTEL_F32, 4, shape), ...}, out = ...;
 *     lintel_call call = {0};
 *     call.kernel = &retnet_f32;  call.inputs = in;  call.out = &out;
 *     lintel_error error;
 *     if (lintel_run(&call, &error)) fprintf(stderr, "%s\n", error.message);
 *
 * Every function is re-entrant and may be called from any number of threads at once; nothing is kept between calls.
 * All memory belongs to the caller. C99 and C++; needs libc and pthreads only. See also state.h (decoding) and
 * kernel.h (what a compiled operator is). */
#ifndef LINTEL_RUNTIME_H
#define LINTEL_RUNTIME_H
#include "lintel/kernel.h"
#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LINTEL_API __attribute__((visibility("default")))
#else
#define LINTEL_API
#endif

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* What a call returns. After any error no array has been written, unless said otherwise below. */
typedef enum lintel_status {
  LINTEL_OK = 0,

  /* The call is not well formed: a pointer that must be given is NULL, or a number is out of its range (negative
   * position, no threads). The program is wrong, not its data. */
  LINTEL_ERROR_ARGUMENT = 1,

  /* The kernel was compiled against another version of this interface, or its description is damaged. Compile it again
   * with the compiler that came with this library. */
  LINTEL_ERROR_KERNEL = 2,

  /* An array has another element type than the operator was compiled for. Convert it, or compile for that type. */
  LINTEL_ERROR_DTYPE = 3,

  /* An array's rank or one of its axes is not what the operator, or the other arrays, ask for. The message names the
   * array, the axis (batch B, time T, head H, feature), the size expected and why, and the size found. */
  LINTEL_ERROR_SHAPE = 4,

  /* A token input's number of heads does not divide the number of heads H of the call, so that its heads cannot be
   * shared evenly (grouped heads). The message names both numbers. */
  LINTEL_ERROR_HEADS = 5,

  /* An array's strides cannot be used: the innermost is not 1, a state's inner axes are not contiguous, elements of an
   * array to be written fall on each other, or an offset does not fit in 64 bits. */
  LINTEL_ERROR_STRIDE = 6,

  /* An array's data is NULL though it has elements, or is not aligned to the size of its element. */
  LINTEL_ERROR_DATA = 7,

  /* An array to be written shares memory with another array of the call. Only a state may be read and written in
   * place, and then both must be the same array. */
  LINTEL_ERROR_OVERLAP = 8,

  /* The lengths of packed sequences are negative, or do not add up to the time axis, or the batch axis is not 1. */
  LINTEL_ERROR_LENGTHS = 9,

  /* The kernel has no variant of the form or chunk asked for. The message lists what it has. */
  LINTEL_ERROR_FORM = 10,

  /* The kernel has such a variant, but it needs instructions that this processor, or the operating system, lacks.
   * Compile for a lower target (for example x86-64-v3). */
  LINTEL_ERROR_CPU = 11,

  /* The scratch memory given is smaller than lintel_scratch_bytes() says. */
  LINTEL_ERROR_SCRATCH = 12,

  /* The system gave no memory or no thread. Nothing was computed. */
  LINTEL_ERROR_MEMORY = 13,

  /* The caller's executor broke its promise: it left work undone, did some twice, or gave a thread number out of
   * range. Outputs and final states are partly written and must not be used. */
  LINTEL_ERROR_EXECUTOR = 14,

  /* The operator is not causal: every output depends on all steps, so that it cannot be run a few steps at a time. */
  LINTEL_ERROR_NOT_CAUSAL = 15,

  /* The operator has no state of constant size: every output reads all earlier steps again, so that it cannot be run a
   * few steps at a time. */
  LINTEL_ERROR_NO_STATE = 16
} lintel_status;

/* Where a function puts the reason of a failure. The caller owns it; every function takes NULL instead. On success it
 * is {LINTEL_OK, ""}. The message is one line that ends in no full stop; long names are cut. */
typedef struct lintel_error {
  int32_t code; /* lintel_status */
  char message[256];
} lintel_error;

LINTEL_API const char *lintel_status_name(int status); /* "ok", "shape", ...; "unknown" for any other number */
LINTEL_API uint32_t lintel_runtime_version(void);      /* LINTEL_ABI_VERSION of the library that is linked */

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

#define LINTEL_MAX_RANK 5

/* A view of the caller's memory. `data` points at element [0, 0, ...]. Strides count elements and are free (also zero
 * for an input that repeats, or negative), except that the innermost axis of a vector or matrix has stride 1 (where its
 * size is more than 1) and that a state's inner axes are contiguous. An axis of size 1 may have any stride. */
typedef struct lintel_array {
  void *data; /* inputs are never written, whatever this type says */
  int64_t shape[LINTEL_MAX_RANK];
  int64_t stride[LINTEL_MAX_RANK];
  int32_t rank;
  int32_t dtype; /* lintel_dtype */
} lintel_array;

/* Row-major view of `rank` axes (0 to LINTEL_MAX_RANK); another rank gives an array that every check refuses. */
LINTEL_API lintel_array lintel_array_contiguous(void *data, int32_t dtype, int32_t rank, const int64_t *shape);
LINTEL_API uint32_t lintel_dtype_bytes(int32_t dtype);   /* 8, 4, 2; 0 for an unknown dtype */
LINTEL_API const char *lintel_dtype_name(int32_t dtype); /* "f64", "f32", "f16", "bf16"; "unknown" */

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* Work to be done: calls of `task` for ranges that cover [0, count) exactly once, in any order. */
typedef void (*lintel_task)(void *data, int64_t begin, int64_t end, int thread);

/* Who does the work. Wrap your own thread pool in one, or take lintel_pool_executor().
 * `run` returns when all of [0, count) is done. Two calls of `task` that overlap in time must have different `thread`
 * numbers, each in [0, threads). Results never depend on the executor: each item is computed the same way by whoever
 * takes it. */
typedef struct lintel_executor {
  void *context;
  int threads; /* 1 or more: how many calls of `task` may overlap */
  void (*run)(void *context, int64_t count, lintel_task task, void *data);
} lintel_executor;

/* A pool of `threads` threads, the calling one among them (so threads - 1 are started). NULL when `threads` is outside
 * 1..1024 or the system gives no more threads. The pool may serve several callers: they take turns. A call made from
 * inside a task of the same pool runs on its own thread alone. */
typedef struct lintel_pool lintel_pool;
LINTEL_API lintel_pool *lintel_pool_create(int threads, lintel_error *error);
LINTEL_API void lintel_pool_destroy(lintel_pool *pool); /* no call may be using it; NULL does nothing */
LINTEL_API const lintel_executor *lintel_pool_executor(const lintel_pool *pool); /* lives as long as the pool */

/* ---- Processors and variants ------------------------------------------------------------------------------------- */

/* LINTEL_CPU_ bits of this processor, counting only what the operating system saves on a switch of threads, and only up
 * to the target that the environment's LINTEL_MAX_CPU names (x86-64, x86-64-v3, ...), which is read once. */
LINTEL_API uint64_t lintel_cpu_features(void);

/* The first variant (they stand best first) with this form (NULL: any) and chunk (0: any) that this processor, or one
 * with these features, can run. NULL and an error when there is none. */
LINTEL_API const lintel_variant *lintel_select(const lintel_kernel *kernel, const char *form, int64_t chunk,
                                               lintel_error *error);
LINTEL_API const lintel_variant *lintel_select_for(const lintel_kernel *kernel, const char *form, int64_t chunk,
                                                   uint64_t features, lintel_error *error);

/* Index of a parameter among kernel->inputs, kernel->states or kernel->out, by its name in the spec; -1 when there is
 * none. */
LINTEL_API int32_t lintel_input_index(const lintel_kernel *kernel, const char *name);
LINTEL_API int32_t lintel_state_index(const lintel_kernel *kernel, const char *name);
LINTEL_API int32_t lintel_output_index(const lintel_kernel *kernel, const char *name);

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Whether heads are computed in parts (lintel_variant.parts), which occupy more threads than there are heads. The
 * result is the same bits. LINTEL_PARTS_AUTO: where the variant has parts and they are estimated to take less time:
 * fewer heads than threads, or a number that does not fill them evenly, and sequences long enough. */
typedef enum lintel_parts {
  LINTEL_PARTS_AUTO = 0,
  LINTEL_PARTS_NEVER = 1,
  LINTEL_PARTS_ALWAYS = 2 /* wherever the variant has them and heads are at most LINTEL_PARTS_ITEMS times the threads */
} lintel_parts;
#define LINTEL_PARTS_ITEMS 4

/* One run of an operator. Zero-initialise it, then set what is needed: all that is optional is off when zero.
 *
 * B, T and H are taken from the arrays. H is the largest number of heads found; a token input may have G heads where G
 * divides H. Any of B, T, H may be 0: then there is nothing to compute, and states pass through.
 *
 * Packed sequences: with `lengths` the arrays have B = 1 and the sequences follow each other on the time axis, whose
 * size is their sum; states have num_lengths entries on their batch axis. An empty sequence passes its state through.
 *
 * States at addresses of the caller's choice, such as slots of a pool: states_in_at and states_out_at hold, for each
 * state, a list of addresses, one for each sequence. The state's array still tells type, shape and the strides within a
 * sequence; its data and the stride of its batch axis are not used. Sequences may start from one address, and one that
 * starts and ends at the same address is stepped in place. */
typedef struct lintel_call {
  const lintel_kernel *kernel;
  const lintel_array *inputs;     /* kernel->num_inputs arrays, in the kernel's order */
  const lintel_array *states_in;  /* kernel->num_states arrays or NULL; one with data NULL starts at zero */
  const lintel_array *states_out; /* kernel->num_states arrays or NULL; one with data NULL is not wanted.
                                     A state may be the same array in both */
  const lintel_array *out;        /* kernel->num_outputs arrays (one, for most operators), in the kernel's order;
                                     they share no memory with any input, state or each other */
  int64_t position;               /* of every sequence's first step, 0 or more */
  const int64_t *positions;       /* instead of `position`: one for each sequence; NULL: none */
  const int64_t *lengths;         /* of packed sequences, each 0 or more; NULL: not packed */
  int64_t num_lengths;
  const char *form;                /* NULL: the first variant this processor can run */
  int64_t chunk;                   /* 0: any */
  void *scratch;                   /* any alignment; NULL: allocated for this call and freed */
  uint64_t scratch_bytes;          /* at least lintel_scratch_bytes(kernel, form, chunk, threads) */
  const lintel_executor *executor; /* NULL: the calling thread alone */
  /* kernel->num_states lists of addresses, one for each sequence; NULL, or a list that is NULL: where the array says.
     What states_in_at points at is only read. */
  void *const *const *states_in_at;
  void *const *const *states_out_at;
  /* Exponents of states that may lie outside of any float (kernel.h): kernel->num_exponents arrays of f64, [B, H] or
     [B, H, n], and lists of addresses, all as with the states; an array with data NULL is not given, or not wanted.
     Without them the states are plain numbers. */
  const lintel_array *exponents_in;
  const lintel_array *exponents_out; /* an array may be the same in both */
  void *const *const *exponents_in_at;
  void *const *const *exponents_out_at;
  int32_t parts; /* lintel_parts */
} lintel_call;

/* Scratch memory, in bytes, that a call with this form and chunk on so many threads needs, whatever its B, T and H.
 * Two calls that overlap in time need two scratches. 0 when no variant fits or threads < 1 (lintel_select says why). */
LINTEL_API uint64_t lintel_scratch_bytes(const lintel_kernel *kernel, const char *form, int64_t chunk, int threads);

/* Checks everything, then computes. Returns a lintel_status. */
LINTEL_API int lintel_run(const lintel_call *call, lintel_error *error);

/* Checks everything that lintel_run checks, and computes nothing. */
LINTEL_API int lintel_check(const lintel_call *call, lintel_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* What the runtime's files share. Nothing here is part of the interface. */
#ifndef LINTEL_RUNTIME_INTERNAL_H
#define LINTEL_RUNTIME_INTERNAL_H
#include "lintel/runtime.h"

#if defined(__GNUC__)
#define LINTEL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define LINTEL_PRINTF(text, first)
#endif

/* Scratch areas of threads start on their own pair of cache lines. */
#define LINTEL_ALIGNMENT 64u

/* Fills in `error` (which may be NULL) and returns `code`. */
int lintel_internal_fail(lintel_error *error, int code, const char *format, ...) LINTEL_PRINTF(3, 4);
int lintel_internal_ok(lintel_error *error);

/* `value` rounded up to a multiple of `unit`, a power of two; UINT64_MAX when it does not fit. */
uint64_t lintel_internal_round_up(uint64_t value, uint64_t unit);

/* Elements of a parameter's inner axes. */
int64_t lintel_internal_elements(const lintel_parameter *parameter);

int lintel_internal_check_kernel(const lintel_kernel *kernel, lintel_error *error);

/* A call that passed every check. */
typedef struct lintel_plan {
  const lintel_call *call;
  const lintel_variant *variant;
  int64_t steps;     /* T of the arrays */
  int64_t heads;     /* H */
  int64_t sequences; /* B, or the number of packed sequences */
  int threads;
} lintel_plan;

int lintel_internal_plan(const lintel_call *call, lintel_plan *plan, lintel_error *error);

/* Into how many parts each of `items` items is taken; 1: as it is. */
int64_t lintel_internal_parts(const lintel_plan *plan, int64_t items);
/* Bytes that a thread needs for the columns of states, and that each item needs for the states and exponents that are
 * not divided: these may be written where they are read, so that all parts must have read them first. */
uint64_t lintel_internal_part_bytes(const lintel_kernel *kernel, const lintel_variant *variant);
uint64_t lintel_internal_kept_bytes(const lintel_kernel *kernel);

/* An item's pointers, to be changed; `whole` is one pointer for each state, for what is copied back. */
typedef struct part_tables {
  const void **input, **stateIn;
  void **stateOut, **out;
  const double **exponentIn;
  double **exponentOut;
  void **whole;
} part_tables;

/* Runs a part of an item of one step or more, whose pointers, those of the tables, are the whole item's. Final states
 * and exponents that are not divided go to `kept`, one after another. */
void lintel_internal_run_part(const lintel_kernel *kernel, const lintel_variant *variant, const lintel_item *item,
                              part_tables tables, int64_t part, char *apart, char *kept);

/* Bytes of one thread's part of the scratch memory, of the part shared by all, and of the whole (0: does not fit). */
uint64_t lintel_internal_thread_bytes(const lintel_kernel *kernel, const lintel_variant *variant);
uint64_t lintel_internal_shared_bytes(const lintel_kernel *kernel);
uint64_t lintel_internal_scratch_bytes(const lintel_kernel *kernel, const lintel_variant *variant, int threads);

#endif

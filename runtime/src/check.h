/* What the files that check a call share. Nothing here is part of the interface. */
#ifndef LINTEL_RUNTIME_CHECK_H
#define LINTEL_RUNTIME_CHECK_H
#include "internal.h"

/* An array of the call together with what the operator says of it. */
typedef struct subject {
  const lintel_array *array;
  const lintel_parameter *parameter;
  const char *role; /* "input", "initial state", "final state", "initial exponent", "final exponent", "output" */
  void *const *at;  /* a state or exponent whose sequences lie at these addresses; NULL: in the array */
  int outer;        /* axes before the inner ones */
  int written;
} subject;

typedef struct checker {
  const lintel_call *call;
  const lintel_kernel *kernel;
  lintel_error *error;
  int64_t batch, steps, heads, sequences;
  const char *batchFrom, *headsFrom; /* names of the arrays that set them */
} checker;

#define SUBJECT "%s '%.48s'"
#define NAMED(s) (s)->role, (s)->parameter->name

/* " of sequence 3" in `text`; "" for -1, an array that is no single sequence's. */
const char *lintel_internal_of_sequence(int64_t sequence, char *text, size_t size);

/* Visits inputs, initial states, final states, exponents in the same way, outputs; NULL states and exponents are
 * skipped. Returns the next index, -1 at the end.
 */
int64_t lintel_internal_next(const checker *c, int64_t at, subject *s);

/* The state of one sequence, as an array whose batch axis has size 1. */
lintel_array lintel_internal_view(const subject *s, int64_t sequence);

int lintel_internal_is_empty(const lintel_array *a);
int64_t lintel_internal_magnitude(int64_t value);
/* First and one past the last byte of the array, from its data. False when either does not fit. */
int lintel_internal_byte_range(const lintel_array *a, int64_t *first, int64_t *end);

int lintel_internal_check_overlap(const checker *c);

#endif

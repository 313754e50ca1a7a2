/* Decoding: the states of running sequences, kept between calls.
 *
 *     lintel_state *state = lintel_state_create(&retnet_f32, batch, heads, NULL, &error);
 *     lintel_advance(state, prompt, &prompt_out, &error);              any number of steps
 *     for (;;) lintel_step(state, token, &token_out, &error);          one step, T = 1
 *     lintel_state_destroy(state);
 *
 * Layout. The states lie one after another in the kernel's order, each [batch, heads, n...] row-major, each starting at
 * a multiple of 64 bytes from a 64-byte aligned base. S[dk, dv] is stored with the feature axis dk as its rows.
 * Elements are f64 where an input or out is, else f32: a state is never rounded to half. They are
 * the mathematical states of the spec, so that they can be saved, moved and given to any form of the same operator.
 * Where these may lie outside of any float (kernel->num_exponents is not 0: operators with unbounded exponentials), a
 * state made by lintel_state_create_with_exponents continues them exactly. */
#ifndef LINTEL_STATE_H
#define LINTEL_STATE_H
#include "lintel/runtime.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Size in bytes of all states of `batch` sequences of `heads` heads (a multiple of 64; 0 for an operator without
 * states). UINT64_MAX when the size does not fit in 63 bits, a number is negative or the kernel is unusable. */
LINTEL_API uint64_t lintel_state_bytes(const lintel_kernel *kernel, int64_t batch, int64_t heads);

/* Describes the states in the caller's `memory` (lintel_state_bytes, aligned to 64) as kernel->num_states arrays, for
 * lintel_call.states_in and .states_out. Does not write to `memory`. */
LINTEL_API int lintel_state_arrays(const lintel_kernel *kernel, int64_t batch, int64_t heads, void *memory,
                                   lintel_array *arrays, lintel_error *error);

/* The states of `batch` sequences in step with each other, with the scratch memory their steps need: nothing is
 * allocated after the create. One state may be used by one call at a time. */
typedef struct lintel_state {
  const lintel_kernel *kernel;
  int64_t batch, heads;
  int64_t position;     /* of the next step */
  lintel_array *arrays; /* kernel->num_states of them; read or write their elements between calls at will */
  void *memory;         /* the states, laid out as above; also what to save */
  uint64_t memory_bytes;
  void *scratch;
  uint64_t scratch_bytes;
  const lintel_executor *executor;
  lintel_array *exponents; /* kernel->num_exponents of them, behind the states in `memory`: a state is its array * 2^p;
                              NULL: the arrays are the states */
} lintel_state;

/* All zeros, at position 0. `executor` (NULL: the calling thread) must live as long as the state. NULL and an error
 * when memory is short, no variant runs here, or the operator cannot be stepped: it is not causal
 * (LINTEL_ERROR_NOT_CAUSAL), or has no state of constant size, as softmax (LINTEL_ERROR_NO_STATE). */
LINTEL_API lintel_state *lintel_state_create(const lintel_kernel *kernel, int64_t batch, int64_t heads,
                                             const lintel_executor *executor, lintel_error *error);

/* The same with exponents, [batch, heads] or [batch, heads, n] of f64 each in the kernel's order, behind the states in
 * `memory` and like them each from a multiple of 64 bytes: stepping then equals one run over all steps however large or
 * small the states are. The elements of `arrays` alone are no longer the mathematical states where
 * kernel->states[i].exponent is not 0; who writes such a state sets its exponents, too. */
LINTEL_API lintel_state *lintel_state_create_with_exponents(const lintel_kernel *kernel, int64_t batch, int64_t heads,
                                                            const lintel_executor *executor, lintel_error *error);
LINTEL_API void lintel_state_destroy(lintel_state *state); /* NULL does nothing */

/* Back to zeros at position 0, and exponents to LINTEL_EXPONENT_NONE. */
LINTEL_API void lintel_state_clear(lintel_state *state);

/* Continues the sequences by the T steps of the arrays (inputs [batch, T, ...]) with the variant that is best for many
 * steps. On an error the state is as before. */
LINTEL_API int lintel_advance(lintel_state *state, const lintel_array *inputs, const lintel_array *out,
                              lintel_error *error);

/* The same for exactly one step, with the variant of the smallest chunk. */
LINTEL_API int lintel_step(lintel_state *state, const lintel_array *inputs, const lintel_array *out,
                           lintel_error *error);

#ifdef __cplusplus
}
#endif
#endif

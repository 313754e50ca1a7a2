/* Decode states: where they lie, and stepping them. */
#include "lintel/state.h"
#include "internal.h"
#include <stdlib.h>
#include <string.h>

uint64_t lintel_state_bytes(const lintel_kernel *kernel, int64_t batch, int64_t heads) {
  if (lintel_internal_check_kernel(kernel, NULL) || batch < 0 || heads < 0) return UINT64_MAX;
  uint64_t total = 0;
  for (uint32_t i = 0; i < kernel->num_states; ++i) {
    uint64_t bytes = (uint64_t)lintel_internal_elements(&kernel->states[i]);
    if (__builtin_mul_overflow(bytes, (uint64_t)lintel_dtype_bytes(kernel->states[i].dtype), &bytes) ||
        __builtin_mul_overflow(bytes, (uint64_t)batch, &bytes) ||
        __builtin_mul_overflow(bytes, (uint64_t)heads, &bytes))
      return UINT64_MAX;
    bytes = lintel_internal_round_up(bytes, LINTEL_ALIGNMENT);
    if (__builtin_add_overflow(total, bytes, &total) || total > INT64_MAX) return UINT64_MAX;
  }
  return total;
}

int lintel_state_arrays(const lintel_kernel *kernel, int64_t batch, int64_t heads, void *memory, lintel_array *arrays,
                        lintel_error *error) {
  int status = lintel_internal_check_kernel(kernel, error);
  if (status) return status;
  uint64_t total = lintel_state_bytes(kernel, batch, heads);
  if (total == UINT64_MAX)
    return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT,
                                "states of %lld sequences of %lld heads: expected numbers from 0 whose product can be "
                                "addressed",
                                (long long)batch, (long long)heads);
  if ((kernel->num_states && !arrays) || (total && !memory))
    return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "states: expected memory and %u arrays, found NULL",
                                kernel->num_states);
  if ((uintptr_t)memory % LINTEL_ALIGNMENT)
    return lintel_internal_fail(error, LINTEL_ERROR_DATA, "states: expected memory aligned to %u bytes, found %p",
                                LINTEL_ALIGNMENT, memory);
  char *at = memory;
  for (uint32_t i = 0; i < kernel->num_states; ++i) {
    const lintel_parameter *p = &kernel->states[i];
    int64_t shape[4] = {batch, heads, p->dim[0], p->dim[1]};
    arrays[i] = lintel_array_contiguous(at, p->dtype, 2 + p->rank, shape);
    uint64_t bytes = (uint64_t)(lintel_internal_elements(p) * batch * heads) * lintel_dtype_bytes(p->dtype);
    if (at) at += lintel_internal_round_up(bytes, LINTEL_ALIGNMENT);
  }
  return lintel_internal_ok(error);
}

/* The variant for one step: of those this processor can run, the one that takes the fewest steps at a time. */
static const lintel_variant *stepVariant(const lintel_kernel *kernel) {
  const lintel_variant *best = NULL;
  for (uint32_t i = 0; i < kernel->num_variants; ++i) {
    const lintel_variant *variant = &kernel->variants[i];
    if (best && variant->chunk >= best->chunk) continue;
    const lintel_variant *usable = lintel_select(kernel, variant->form, variant->chunk, NULL);
    if (usable) best = usable;
  }
  return best;
}

static void *allocate(uint64_t bytes) {
  return aligned_alloc(LINTEL_ALIGNMENT, (size_t)lintel_internal_round_up(bytes ? bytes : 1, LINTEL_ALIGNMENT));
}

/* What exponent `i` of all heads takes, rounded up; UINT64_MAX: more than can be addressed. */
static uint64_t exponentBytes(const lintel_kernel *kernel, uint32_t i, int64_t batch, int64_t heads) {
  uint64_t count;
  if (__builtin_mul_overflow((uint64_t)batch, (uint64_t)heads, &count) ||
      __builtin_mul_overflow(count, (uint64_t)lintel_internal_elements(&kernel->exponents[i]), &count) ||
      count > INT64_MAX / sizeof(double) / 2)
    return UINT64_MAX;
  return lintel_internal_round_up(count * sizeof(double), LINTEL_ALIGNMENT);
}

static lintel_state *create(const lintel_kernel *kernel, int64_t batch, int64_t heads, int withExponents,
                            const lintel_executor *executor, lintel_error *error) {
  const lintel_variant *best = lintel_select(kernel, NULL, 0, error);
  if (!best) return NULL;
  if (!kernel->causal) {
    lintel_internal_fail(error, LINTEL_ERROR_NOT_CAUSAL,
                         "'%.48s' is not causal: each output depends on all steps, so run the whole sequence at once",
                         kernel->name);
    return NULL;
  }
  if (kernel->attends) {
    lintel_internal_fail(error, LINTEL_ERROR_NO_STATE,
                         "'%.48s' has no state of constant size: each output reads all earlier steps again, so run the "
                         "whole sequence at once",
                         kernel->name);
    return NULL;
  }
  int threads = executor ? executor->threads : 1;
  uint64_t states = lintel_state_bytes(kernel, batch, heads), bytes = states;
  const uint32_t exponents = withExponents ? kernel->num_exponents : 0;
  for (uint32_t i = 0; i < exponents && bytes != UINT64_MAX; ++i)
    if (__builtin_add_overflow(bytes, exponentBytes(kernel, i, batch, heads), &bytes) || bytes > INT64_MAX)
      bytes = UINT64_MAX;
  uint64_t scratch = threads < 1 ? 0 : lintel_internal_scratch_bytes(kernel, best, threads);
  uint64_t forStep = threads < 1 ? 0 : lintel_internal_scratch_bytes(kernel, stepVariant(kernel), threads);
  if (forStep > scratch) scratch = forStep;
  if (threads < 1 || bytes == UINT64_MAX) {
    lintel_internal_fail(
        error, LINTEL_ERROR_ARGUMENT,
        "state of B = %lld sequences with H = %lld heads on %d thread%s: expected numbers from 0 whose "
        "product can be addressed, and 1 or more threads",
        (long long)batch, (long long)heads, threads, threads == 1 ? "" : "s");
    return NULL;
  }
  lintel_state *state = calloc(1, sizeof *state);
  if (state) {
    state->kernel = kernel;
    state->batch = batch;
    state->heads = heads;
    state->executor = executor;
    state->memory_bytes = bytes;
    state->scratch_bytes = scratch;
    state->memory = allocate(bytes);
    state->scratch = scratch ? allocate(scratch) : NULL;
    state->arrays = calloc((size_t)kernel->num_states + exponents + 1, sizeof *state->arrays);
  }
  if (!state || !state->memory || !state->scratch || !state->arrays) {
    lintel_state_destroy(state);
    lintel_internal_fail(error, LINTEL_ERROR_MEMORY, "no memory for %llu bytes of states and %llu of scratch",
                         (unsigned long long)bytes, (unsigned long long)scratch);
    return NULL;
  }
  lintel_state_arrays(kernel, batch, heads, state->memory, state->arrays, NULL);
  if (exponents) state->exponents = state->arrays + kernel->num_states;
  char *at = (char *)state->memory + states;
  for (uint32_t i = 0; i < exponents; ++i) {
    const lintel_parameter *p = &kernel->exponents[i];
    const int64_t shape[3] = {batch, heads, p->dim[0]};
    state->exponents[i] = lintel_array_contiguous(at, LINTEL_F64, 2 + p->rank, shape);
    at += exponentBytes(kernel, i, batch, heads);
  }
  lintel_state_clear(state);
  lintel_internal_ok(error);
  return state;
}

lintel_state *lintel_state_create(const lintel_kernel *kernel, int64_t batch, int64_t heads,
                                  const lintel_executor *executor, lintel_error *error) {
  return create(kernel, batch, heads, 0, executor, error);
}

lintel_state *lintel_state_create_with_exponents(const lintel_kernel *kernel, int64_t batch, int64_t heads,
                                                 const lintel_executor *executor, lintel_error *error) {
  return create(kernel, batch, heads, 1, executor, error);
}

void lintel_state_destroy(lintel_state *state) {
  if (!state) return;
  free(state->memory);
  free(state->scratch);
  free(state->arrays);
  free(state);
}

void lintel_state_clear(lintel_state *state) {
  memset(state->memory, 0, (size_t)state->memory_bytes);
  for (uint32_t i = 0; state->exponents && i < state->kernel->num_exponents; ++i) {
    double *exponent = state->exponents[i].data;
    const int64_t each = lintel_internal_elements(&state->kernel->exponents[i]);
    for (int64_t n = state->batch * state->heads * each; n > 0; --n) *exponent++ = LINTEL_EXPONENT_NONE;
  }
  state->position = 0;
}

static int advance(lintel_state *state, const lintel_variant *variant, const lintel_array *inputs,
                   const lintel_array *out, lintel_error *error) {
  lintel_call call;
  memset(&call, 0, sizeof call);
  call.kernel = state->kernel;
  call.inputs = inputs;
  call.states_in = state->arrays;
  call.states_out = state->arrays;
  call.exponents_in = state->exponents;
  call.exponents_out = state->exponents;
  call.out = out;
  call.position = state->position;
  call.form = variant->form;
  call.chunk = variant->chunk;
  call.scratch = state->scratch;
  call.scratch_bytes = state->scratch_bytes;
  call.executor = state->executor;
  /* An operator without states has no array to compare these with. */
  if (out->shape[0] != state->batch || out->shape[2] != state->heads)
    return lintel_internal_fail(
        error, LINTEL_ERROR_SHAPE, "output 'out': expected B = %lld and H = %lld as in the state, found %lld and %lld",
        (long long)state->batch, (long long)state->heads, (long long)out->shape[0], (long long)out->shape[2]);
  int status = lintel_run(&call, error);
  if (status == LINTEL_OK) state->position += out->shape[1];
  return status;
}

static int checkAdvance(const lintel_state *state, const lintel_array *out, lintel_error *error) {
  if (!state || !out)
    return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "%s: expected one, found NULL", state ? "out" : "state");
  if (out->rank < 3)
    return lintel_internal_fail(error, LINTEL_ERROR_SHAPE, "output 'out': expected axes [B, T, H, ...], found %d axes",
                                out->rank);
  return LINTEL_OK;
}

int lintel_advance(lintel_state *state, const lintel_array *inputs, const lintel_array *out, lintel_error *error) {
  int status = checkAdvance(state, out, error);
  if (status) return status;
  return advance(state, lintel_select(state->kernel, NULL, 0, NULL), inputs, out, error);
}

static int failStep(const char *what, const char *name, const lintel_array *array, lintel_error *error) {
  return lintel_internal_fail(error, LINTEL_ERROR_SHAPE,
                              "%s '%s': lintel_step takes exactly one step: expected T = 1, found %lld; lintel_advance "
                              "takes any number",
                              what, name, (long long)array->shape[1]);
}

int lintel_step(lintel_state *state, const lintel_array *inputs, const lintel_array *out, lintel_error *error) {
  int status = checkAdvance(state, out, error);
  if (status) return status;
  if (out->shape[1] != 1) return failStep("output", "out", out, error);
  for (uint32_t i = 0; inputs && i < state->kernel->num_inputs; ++i) {
    const lintel_parameter *input = &state->kernel->inputs[i];
    if (input->kind == LINTEL_TOKEN && inputs[i].rank > 1 && inputs[i].shape[1] != 1)
      return failStep("input", input->name, &inputs[i], error);
  }
  return advance(state, stepVariant(state->kernel), inputs, out, error);
}

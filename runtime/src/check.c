/* Everything that can be wrong with a call is found here, before anything is computed. Order: the kernel, the call's
 * own numbers, each array by itself, the arrays against each other, memory. */
#include "check.h"
#include <stdio.h>
#include <string.h>

enum { MaxParameters = 1 << 16 };

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

static int checkParameter(const lintel_parameter *p, int kind, const char **reason) {
  int64_t elements = 1;
  if (!p->name) *reason = "a parameter without a name";
  else if (p->kind != kind && !(kind == LINTEL_TOKEN && (p->kind == LINTEL_HEAD || p->kind == LINTEL_SHARED)))
    *reason = "a parameter of the wrong kind";
  else if (!lintel_dtype_bytes(p->dtype)) *reason = "a parameter of unknown dtype";
  else if (p->rank < 0 || p->rank > 2) *reason = "a parameter of more than two axes";
  else {
    for (int32_t axis = 0; axis < p->rank; ++axis)
      if (p->dim[axis] < 1 || __builtin_mul_overflow(elements, p->dim[axis], &elements))
        *reason = "a parameter of impossible size";
    if (elements > INT64_MAX / 64) *reason = "a parameter of impossible size";
  }
  return *reason != NULL;
}

/* Whether parts of this variant divide the axes that they should; all else is checked. */
static int hasParts(const lintel_kernel *kernel, const lintel_variant *variant) {
  if (variant->parts < 2 || !variant->run_part || variant->part_cost < 1 || variant->part_cost > 1000000) return 0;
  const struct {
    const lintel_parameter *list;
    uint32_t count;
  } all[] = {{kernel->inputs, kernel->num_inputs},
             {kernel->states, kernel->num_states},
             {kernel->exponents, kernel->num_exponents},
             {kernel->out, kernel->num_outputs}};
  for (int kind = 0; kind < 4; ++kind)
    for (uint32_t i = 0; i < all[kind].count; ++i) {
      const lintel_parameter *p = &all[kind].list[i];
      if (p->columns < 0 || p->columns > p->rank) return 0;
      if (p->columns && p->dim[p->columns - 1] % variant->parts) return 0;
      if (!p->columns && p->kind == LINTEL_OUT) return 0; /* every part would write it */
    }
  /* The rows of a state are divided with their exponents, and one exponent for all rows is each part's. */
  for (uint32_t i = 0; i < kernel->num_states; ++i) {
    const lintel_parameter *state = &kernel->states[i];
    if (state->exponent && kernel->exponents[state->exponent - 1].columns != state->columns) return 0;
  }
  return 1;
}

int lintel_internal_check_kernel(const lintel_kernel *kernel, lintel_error *error) {
  if (!kernel) return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "kernel: expected a kernel, found NULL");
  if (kernel->abi_version != LINTEL_ABI_VERSION)
    return lintel_internal_fail(error, LINTEL_ERROR_KERNEL,
                                "kernel: expected ABI version %u, found %u; compile the operator again",
                                LINTEL_ABI_VERSION, kernel->abi_version);
  const char *reason = NULL;
  if (kernel->struct_bytes < sizeof *kernel) reason = "a description that is too short";
  else if (!kernel->name || !kernel->out || !kernel->num_outputs) reason = "no name or no output";
  else if (kernel->num_inputs > MaxParameters || kernel->num_states > MaxParameters ||
           kernel->num_outputs > MaxParameters)
    reason = "too many parameters";
  else if ((kernel->num_inputs && !kernel->inputs) || (kernel->num_states && !kernel->states) ||
           !kernel->num_variants || !kernel->variants)
    reason = "no parameters or variants where it says it has some";
  for (uint32_t i = 0; !reason && i < kernel->num_inputs; ++i)
    checkParameter(&kernel->inputs[i], LINTEL_TOKEN, &reason);
  for (uint32_t i = 0; !reason && i < kernel->num_states; ++i)
    checkParameter(&kernel->states[i], LINTEL_STATE, &reason);
  if (kernel->num_exponents > MaxParameters || (kernel->num_exponents && !kernel->exponents))
    reason = "no exponents where it says it has some";
  for (uint32_t i = 0; !reason && i < kernel->num_exponents; ++i) {
    const lintel_parameter *p = &kernel->exponents[i];
    if (!checkParameter(p, LINTEL_EXPONENT, &reason) && (p->rank > 1 || p->dtype != LINTEL_F64))
      reason = "an exponent that is neither one f64 nor a vector of them";
  }
  for (uint32_t i = 0; !reason && i < kernel->num_states; ++i) {
    const lintel_parameter *state = &kernel->states[i];
    if (state->exponent < 0 || (uint32_t)state->exponent > kernel->num_exponents)
      reason = "a state with an exponent that is not there";
    else if (state->exponent) {
      const lintel_parameter *p = &kernel->exponents[state->exponent - 1];
      if (p->rank && (!state->rank || p->dim[0] != state->dim[0])) reason = "a state with exponents of another size";
    }
  }
  for (uint32_t i = 0; !reason && i < kernel->num_outputs; ++i) checkParameter(&kernel->out[i], LINTEL_OUT, &reason);
  for (uint32_t i = 0; !reason && i < kernel->num_variants; ++i) {
    const lintel_variant *variant = &kernel->variants[i];
    if (!variant->form || !variant->target || !variant->run || variant->chunk < 1) reason = "an unfinished variant";
    else if (variant->parts && !hasParts(kernel, variant)) reason = "a variant whose parts do not divide it";
  }
  if (!reason) return LINTEL_OK;
  return lintel_internal_fail(error, LINTEL_ERROR_KERNEL, "kernel: damaged, it has %s; compile the operator again",
                              reason);
}

/* ---- Names in messages ------------------------------------------------------------------------------------------- */

const char *lintel_internal_of_sequence(int64_t sequence, char *text, size_t size) {
  if (sequence < 0) return "";
  snprintf(text, size, " of sequence %lld", (long long)sequence);
  return text;
}

static const char *axisName(const subject *s, int axis) {
  static const char *const token[] = {"batch axis B", "time axis T", "head axis H"};
  static const char *const state[] = {"batch axis B", "head axis H"};
  if (axis >= s->outer) return s->parameter->rank < 2 ? "feature axis" : axis == s->outer ? "row axis" : "column axis";
  if (s->outer == 3) return token[axis];
  if (s->outer == 2) return state[axis];
  return "head axis H";
}

/* "[B, T, H, 64]" */
static void expectedShape(const subject *s, char *text, size_t size) {
  static const char *const outer[] = {"", "H", "B, H", "B, T, H"};
  int n = snprintf(text, size, "[%s", outer[s->outer]);
  for (int32_t axis = 0; axis < s->parameter->rank && n > 0 && (size_t)n < size; ++axis)
    n += snprintf(text + n, size - (size_t)n, "%s%lld", s->outer || axis ? ", " : "",
                  (long long)s->parameter->dim[axis]);
  if (n > 0 && (size_t)n < size) snprintf(text + n, size - (size_t)n, "]");
}

/* ---- Each array by itself ---------------------------------------------------------------------------------------- */

static int checkForm(checker *c, const subject *s) {
  const lintel_array *a = s->array;
  const lintel_parameter *p = s->parameter;
  if (a->dtype != p->dtype)
    return lintel_internal_fail(c->error, LINTEL_ERROR_DTYPE, SUBJECT ": expected %s elements, found %s", NAMED(s),
                                lintel_dtype_name(p->dtype), lintel_dtype_name(a->dtype));
  if (a->rank != s->outer + p->rank) {
    char shape[80];
    expectedShape(s, shape, sizeof shape);
    return lintel_internal_fail(c->error, LINTEL_ERROR_SHAPE, SUBJECT ": expected %d axes %s, found %d", NAMED(s),
                                s->outer + p->rank, shape, a->rank);
  }
  for (int axis = 0; axis < a->rank; ++axis) {
    if (a->shape[axis] < 0)
      return lintel_internal_fail(c->error, LINTEL_ERROR_SHAPE, SUBJECT ": %s: expected 0 or more, found %lld",
                                  NAMED(s), axisName(s, axis), (long long)a->shape[axis]);
    if (axis >= s->outer && a->shape[axis] != p->dim[axis - s->outer])
      return lintel_internal_fail(c->error, LINTEL_ERROR_SHAPE,
                                  SUBJECT ": %s: expected %lld as the operator was compiled for, found %lld", NAMED(s),
                                  axisName(s, axis), (long long)p->dim[axis - s->outer], (long long)a->shape[axis]);
  }
  return LINTEL_OK;
}

int lintel_internal_is_empty(const lintel_array *a) {
  for (int axis = 0; axis < a->rank; ++axis)
    if (a->shape[axis] == 0) return 1;
  return 0;
}

int lintel_internal_byte_range(const lintel_array *a, int64_t *first, int64_t *end) {
  int64_t low = 0, high = 0, reach, bytes = lintel_dtype_bytes(a->dtype);
  for (int axis = 0; axis < a->rank; ++axis) {
    if (a->shape[axis] <= 1) continue;
    if (__builtin_mul_overflow(a->shape[axis] - 1, a->stride[axis], &reach)) return 0;
    int64_t *side = reach < 0 ? &low : &high;
    if (__builtin_add_overflow(*side, reach, side)) return 0;
  }
  if (__builtin_mul_overflow(low, bytes, first)) return 0;
  if (__builtin_add_overflow(high, 1, &high) || __builtin_mul_overflow(high, bytes, end)) return 0;
  /* Nor may an address wrap around. */
  uint64_t base = (uint64_t)(uintptr_t)a->data;
  return base >= 0 - (uint64_t)*first && (uint64_t)*end <= (uint64_t)UINTPTR_MAX - base;
}

int64_t lintel_internal_magnitude(int64_t value) { return value < 0 ? -value : value; }

/* Whether an array that will be written has no two elements in one place. It may say no to a layout whose axes
 * interleave without touching; such a layout has no use here. */
static int elementsAreDistinct(const lintel_array *a) {
  int order[LINTEL_MAX_RANK], n = 0;
  for (int axis = 0; axis < a->rank; ++axis) {
    if (a->shape[axis] <= 1) continue;
    int at = n++;
    for (; at > 0 && lintel_internal_magnitude(a->stride[order[at - 1]]) > lintel_internal_magnitude(a->stride[axis]);
         --at)
      order[at] = order[at - 1];
    order[at] = axis;
  }
  int64_t covered = 1;
  for (int i = 0; i < n; ++i) {
    int64_t stride = lintel_internal_magnitude(a->stride[order[i]]);
    if (stride < covered) return 0;
    covered += (a->shape[order[i]] - 1) * stride; /* fits: lintel_internal_byte_range was asked first */
  }
  return 1;
}

/* Of all sequences, or of one. */
static int checkView(checker *c, const subject *s, const lintel_array *a, int64_t sequence) {
  const lintel_parameter *p = s->parameter;
  if (lintel_internal_is_empty(a)) return LINTEL_OK;
  char text[40];
  const char *of = lintel_internal_of_sequence(sequence, text, sizeof text);
  int64_t first, end, bytes = lintel_dtype_bytes(a->dtype);
  if (!a->data)
    return lintel_internal_fail(c->error, LINTEL_ERROR_DATA, SUBJECT "%s: expected data, found NULL", NAMED(s), of);
  if ((uintptr_t)a->data % (uintptr_t)bytes)
    return lintel_internal_fail(c->error, LINTEL_ERROR_DATA,
                                SUBJECT "%s: expected an address that is a multiple of %lld, found %p", NAMED(s), of,
                                (long long)bytes, a->data);
  for (int axis = 0; axis < a->rank; ++axis)
    if (a->shape[axis] > 1 && a->stride[axis] == INT64_MIN)
      return lintel_internal_fail(c->error, LINTEL_ERROR_STRIDE, SUBJECT ": %s: stride %lld is out of range", NAMED(s),
                                  axisName(s, axis), (long long)a->stride[axis]);
  if (!lintel_internal_byte_range(a, &first, &end))
    return lintel_internal_fail(c->error, LINTEL_ERROR_STRIDE,
                                SUBJECT "%s: its sizes times its strides do not fit in the address space", NAMED(s),
                                of);
  int last = a->rank - 1;
  if (p->rank > 0 && a->shape[last] > 1 && a->stride[last] != 1)
    return lintel_internal_fail(c->error, LINTEL_ERROR_STRIDE,
                                SUBJECT ": %s: expected stride 1, found %lld; make a contiguous copy", NAMED(s),
                                axisName(s, last), (long long)a->stride[last]);
  int rowsAreFree = p->kind != LINTEL_STATE && p->kind != LINTEL_OUT;
  if (p->rank == 2 && !rowsAreFree && a->shape[last - 1] > 1 && a->stride[last - 1] != p->dim[1])
    return lintel_internal_fail(c->error, LINTEL_ERROR_STRIDE,
                                SUBJECT ": row axis: expected stride %lld (contiguous rows), found %lld", NAMED(s),
                                (long long)p->dim[1], (long long)a->stride[last - 1]);
  if (s->written && !elementsAreDistinct(a))
    return lintel_internal_fail(c->error, LINTEL_ERROR_STRIDE,
                                SUBJECT ": its strides put two elements in one place, so it cannot be written",
                                NAMED(s));
  return LINTEL_OK;
}

static int checkMemory(checker *c, const subject *s) {
  if (!s->at) return checkView(c, s, s->array, -1);
  int64_t first = 0, end = 0;
  for (int64_t i = 0; i < c->sequences; ++i) {
    /* What does not depend on the address is seen at the first. */
    const uint64_t base = (uint64_t)(uintptr_t)s->at[i];
    if (i > 0 && base && base % lintel_dtype_bytes(s->array->dtype) == 0 && base >= 0 - (uint64_t)first &&
        (uint64_t)end <= (uint64_t)UINTPTR_MAX - base)
      continue;
    lintel_array view = lintel_internal_view(s, i);
    int status = checkView(c, s, &view, i);
    if (status) return status;
    lintel_internal_byte_range(&view, &first, &end);
  }
  return LINTEL_OK;
}

/* ---- Arrays against each other ----------------------------------------------------------------------------------- */

/* The state or exponent at `at`, where all are given one after the other and then all that are taken. Whether there is
 * one. */
static int carried(const lintel_parameter *parameters, int64_t count, const lintel_array *const arrays[2],
                   void *const *const *const lists[2], const char *const roles[2], int64_t at, subject *s) {
  const int64_t i = at % count;
  s->written = at >= count;
  s->at = lists[s->written] ? lists[s->written][i] : NULL;
  if (!arrays[s->written] || (!arrays[s->written][i].data && !s->at)) return 0;
  s->array = &arrays[s->written][i];
  s->parameter = &parameters[i];
  s->role = roles[s->written];
  s->outer = 2;
  return 1;
}

int64_t lintel_internal_next(const checker *c, int64_t at, subject *s) {
  static const char *const stateRoles[2] = {"initial state", "final state"};
  static const char *const exponentRoles[2] = {"initial exponent", "final exponent"};
  const lintel_kernel *k = c->kernel;
  const lintel_call *call = c->call;
  const lintel_array *const states[2] = {call->states_in, call->states_out};
  const lintel_array *const exponents[2] = {call->exponents_in, call->exponents_out};
  void *const *const *const stateLists[2] = {call->states_in_at, call->states_out_at};
  void *const *const *const exponentLists[2] = {call->exponents_in_at, call->exponents_out_at};
  int64_t inputs = k->num_inputs, exponentsFrom = inputs + 2 * (int64_t)k->num_states,
          outputsFrom = exponentsFrom + 2 * (int64_t)k->num_exponents;
  for (; at < outputsFrom + k->num_outputs; ++at) {
    memset(s, 0, sizeof *s);
    if (at < inputs) {
      s->array = &c->call->inputs[at];
      s->parameter = &k->inputs[at];
      s->role = "input";
      s->outer = s->parameter->kind == LINTEL_TOKEN ? 3 : s->parameter->kind == LINTEL_HEAD ? 1 : 0;
      return at + 1;
    }
    if (at < exponentsFrom) {
      if (!carried(k->states, k->num_states, states, stateLists, stateRoles, at - inputs, s)) continue;
      return at + 1;
    }
    if (at < outputsFrom) {
      if (!carried(k->exponents, k->num_exponents, exponents, exponentLists, exponentRoles, at - exponentsFrom, s))
        continue;
      return at + 1;
    }
    s->array = &call->out[at - outputsFrom];
    s->parameter = &k->out[at - outputsFrom];
    s->role = "output";
    s->outer = 3;
    s->written = 1;
    return at + 1;
  }
  return -1;
}

lintel_array lintel_internal_view(const subject *s, int64_t sequence) {
  lintel_array view = *s->array;
  if (s->at) view.data = s->at[sequence];
  else if (sequence)
    view.data = (char *)view.data + sequence * view.stride[0] * (int64_t)lintel_dtype_bytes(view.dtype);
  view.shape[0] = 1;
  return view;
}

static int headAxis(const subject *s) { return s->outer - 1; } /* -1: none */

static int checkAxis(checker *c, const subject *s, int axis, int64_t expected, const char *from) {
  int64_t found = s->array->shape[axis];
  if (found == expected) return LINTEL_OK;
  int swapped = s->outer == 3 && axis > 0 && s->array->shape[1] == c->heads && s->array->shape[2] == c->steps;
  return lintel_internal_fail(c->error, LINTEL_ERROR_SHAPE, SUBJECT ": %s: expected %lld as in '%.48s', found %lld%s",
                              NAMED(s), axisName(s, axis), (long long)expected, from, (long long)found,
                              swapped ? "; axes T and H look swapped, the order is [B, T, H, ...]" : "");
}

/* Finds B, T and H, and checks every outer axis against them. */
static int checkOuterAxes(checker *c, int64_t sequences) {
  subject s;
  c->heads = -1;
  for (int64_t at = 0; (at = lintel_internal_next(c, at, &s)) >= 0;) {
    if (s.outer == 3 && !c->batchFrom) {
      c->batch = s.array->shape[0];
      c->steps = s.array->shape[1];
      c->batchFrom = s.parameter->name;
    }
    if (headAxis(&s) >= 0 && s.array->shape[headAxis(&s)] > c->heads) {
      c->heads = s.array->shape[headAxis(&s)];
      c->headsFrom = s.parameter->name;
    }
  }
  if (sequences < 0) sequences = c->batch;
  for (int64_t at = 0; (at = lintel_internal_next(c, at, &s)) >= 0;) {
    if (s.outer == 3) {
      if (checkAxis(c, &s, 0, c->batch, c->batchFrom)) return LINTEL_ERROR_SHAPE;
      if (checkAxis(c, &s, 1, c->steps, c->batchFrom)) return LINTEL_ERROR_SHAPE;
    }
    if (s.outer == 2 && s.array->shape[0] != sequences)
      return lintel_internal_fail(c->error, LINTEL_ERROR_SHAPE,
                                  SUBJECT ": batch axis B: expected %lld, one for each sequence, found %lld", NAMED(&s),
                                  (long long)sequences, (long long)s.array->shape[0]);
    if (headAxis(&s) < 0) continue;
    int64_t heads = s.array->shape[headAxis(&s)];
    if (s.parameter->kind != LINTEL_TOKEN) {
      if (checkAxis(c, &s, headAxis(&s), c->heads, c->headsFrom)) return LINTEL_ERROR_SHAPE;
    } else if (heads != c->heads && (heads == 0 || c->heads % heads)) {
      int swapped = s.array->shape[1] == c->heads && heads == c->steps;
      return lintel_internal_fail(c->error, LINTEL_ERROR_HEADS,
                                  SUBJECT ": head axis H: %lld heads cannot serve the %lld of '%.48s', which is not a "
                                          "multiple of %lld%s",
                                  NAMED(&s), (long long)heads, (long long)c->heads, c->headsFrom, (long long)heads,
                                  swapped ? "; axes T and H look swapped" : "");
    }
  }
  return LINTEL_OK;
}

/* ---- The call's own numbers -------------------------------------------------------------------------------------- */

static int checkLengths(checker *c) {
  const lintel_call *call = c->call;
  int64_t sum = 0;
  if (c->batch != 1)
    return lintel_internal_fail(c->error, LINTEL_ERROR_LENGTHS,
                                "lengths: packed sequences need arrays with batch axis B = 1, '%.48s' has %lld",
                                c->batchFrom, (long long)c->batch);
  for (int64_t i = 0; i < call->num_lengths; ++i) {
    if (call->lengths[i] < 0)
      return lintel_internal_fail(c->error, LINTEL_ERROR_LENGTHS, "lengths: expected 0 or more, found %lld at %lld",
                                  (long long)call->lengths[i], (long long)i);
    if (__builtin_add_overflow(sum, call->lengths[i], &sum)) sum = INT64_MAX;
  }
  if (sum != c->steps)
    return lintel_internal_fail(c->error, LINTEL_ERROR_LENGTHS,
                                "lengths: expected a sum of %lld, the time axis T of '%.48s', found %lld",
                                (long long)c->steps, c->batchFrom, (long long)sum);
  return LINTEL_OK;
}

static int checkPositions(checker *c, int64_t sequences) {
  const lintel_call *call = c->call;
  for (int64_t i = 0; i < (call->positions ? sequences : 1); ++i) {
    int64_t position = call->positions ? call->positions[i] : call->position;
    if (position < 0 || position > INT64_MAX - c->steps)
      return lintel_internal_fail(c->error, LINTEL_ERROR_ARGUMENT, "position: expected 0 to %lld, found %lld",
                                  (long long)(INT64_MAX - c->steps), (long long)position);
  }
  return LINTEL_OK;
}

int lintel_internal_plan(const lintel_call *call, lintel_plan *plan, lintel_error *error) {
  if (!call) return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "call: expected a call, found NULL");
  int status = lintel_internal_check_kernel(call->kernel, error);
  if (status) return status;
  const lintel_kernel *kernel = call->kernel;
  if (kernel->num_inputs && !call->inputs)
    return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "inputs: expected %u arrays, found NULL",
                                kernel->num_inputs);
  if (kernel->num_states && ((call->states_in_at && !call->states_in) || (call->states_out_at && !call->states_out)))
    return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT,
                                "states_%s: expected %u arrays that say how the states at these addresses lie, found "
                                "NULL",
                                call->states_in_at && !call->states_in ? "in" : "out", kernel->num_states);
  if (kernel->num_exponents &&
      ((call->exponents_in_at && !call->exponents_in) || (call->exponents_out_at && !call->exponents_out)))
    return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT,
                                "exponents_%s: expected %u arrays that say how the exponents at these addresses lie, "
                                "found NULL",
                                call->exponents_in_at && !call->exponents_in ? "in" : "out", kernel->num_exponents);
  if (!call->out) return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "out: expected an array, found NULL");
  if (call->num_lengths < 0 || (call->num_lengths && !call->lengths))
    return lintel_internal_fail(
        error, LINTEL_ERROR_ARGUMENT, "lengths: expected an array of num_lengths, found %s%lld",
        call->lengths ? "num_lengths = " : "NULL with num_lengths = ", (long long)call->num_lengths);
  if (call->parts < LINTEL_PARTS_AUTO || call->parts > LINTEL_PARTS_ALWAYS)
    return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "parts: expected a lintel_parts from %d to %d, found %d",
                                LINTEL_PARTS_AUTO, LINTEL_PARTS_ALWAYS, (int)call->parts);
  plan->call = call;
  plan->threads = 1;
  if (call->executor) {
    if (!call->executor->run || call->executor->threads < 1)
      return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT,
                                  "executor: expected a function and 1 or more threads, found %s and %d",
                                  call->executor->run ? "a function" : "NULL", call->executor->threads);
    plan->threads = call->executor->threads;
  }
  lintel_error reason;
  plan->variant = lintel_select(kernel, call->form, call->chunk, &reason);
  if (!plan->variant) return lintel_internal_fail(error, reason.code, "%s", reason.message);

  checker c = {.call = call, .kernel = kernel, .error = error};
  subject s;
  for (int64_t at = 0; (at = lintel_internal_next(&c, at, &s)) >= 0;)
    if ((status = checkForm(&c, &s))) return status;
  if ((status = checkOuterAxes(&c, call->lengths ? call->num_lengths : -1))) return status;
  plan->steps = c.steps;
  plan->heads = c.heads;
  plan->sequences = c.sequences = call->lengths ? call->num_lengths : c.batch;
  if (call->lengths && (status = checkLengths(&c))) return status;
  if ((status = checkPositions(&c, plan->sequences))) return status;
  for (int64_t at = 0; (at = lintel_internal_next(&c, at, &s)) >= 0;)
    if ((status = checkMemory(&c, &s))) return status;
  if ((status = lintel_internal_check_overlap(&c))) return status;

  uint64_t scratch = lintel_internal_scratch_bytes(kernel, plan->variant, plan->threads);
  const char *plural = plan->threads == 1 ? "" : "s";
  if (!scratch)
    return lintel_internal_fail(error, LINTEL_ERROR_MEMORY, "scratch for %d thread%s is too large to address",
                                plan->threads, plural);
  if (call->scratch && call->scratch_bytes < scratch)
    return lintel_internal_fail(
        error, LINTEL_ERROR_SCRATCH, "scratch: expected %llu bytes (lintel_scratch_bytes) for %d thread%s, found %llu",
        (unsigned long long)scratch, plan->threads, plural, (unsigned long long)call->scratch_bytes);
  return lintel_internal_ok(error);
}

int lintel_check(const lintel_call *call, lintel_error *error) {
  lintel_plan plan;
  return lintel_internal_plan(call, &plan, error);
}

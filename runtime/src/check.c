/* Everything that can be wrong with a call is found here, before anything is computed. Order: the kernel, the call's
 * own numbers, each array by itself, the arrays against each other, memory. */
#include "internal.h"
#include <stdio.h>
#include <string.h>

enum { MaxParameters = 1 << 16 };

/* An array of the call together with what the operator says of it. */
typedef struct subject {
  const lintel_array *array;
  const lintel_parameter *parameter;
  const char *role; /* "input", "initial state", "final state", "output" */
  int outer;        /* axes before the inner ones */
  int written;
} subject;

typedef struct checker {
  const lintel_call *call;
  const lintel_kernel *kernel;
  lintel_error *error;
  int64_t batch, steps, heads;
  const char *batchFrom, *headsFrom; /* names of the arrays that set them */
} checker;

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

int lintel_internal_check_kernel(const lintel_kernel *kernel, lintel_error *error) {
  if (!kernel) return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "kernel: expected a kernel, found NULL");
  if (kernel->abi_version != LINTEL_ABI_VERSION)
    return lintel_internal_fail(error, LINTEL_ERROR_KERNEL,
                                "kernel: expected ABI version %u, found %u; compile the operator again",
                                LINTEL_ABI_VERSION, kernel->abi_version);
  const char *reason = NULL;
  if (kernel->struct_bytes < sizeof *kernel) reason = "a description that is too short";
  else if (!kernel->name || !kernel->out) reason = "no name or no output";
  else if (kernel->num_inputs > MaxParameters || kernel->num_states > MaxParameters) reason = "too many parameters";
  else if ((kernel->num_inputs && !kernel->inputs) || (kernel->num_states && !kernel->states) ||
           !kernel->num_variants || !kernel->variants)
    reason = "no parameters or variants where it says it has some";
  for (uint32_t i = 0; !reason && i < kernel->num_inputs; ++i)
    checkParameter(&kernel->inputs[i], LINTEL_TOKEN, &reason);
  for (uint32_t i = 0; !reason && i < kernel->num_states; ++i)
    checkParameter(&kernel->states[i], LINTEL_STATE, &reason);
  if (!reason) checkParameter(kernel->out, LINTEL_OUT, &reason);
  for (uint32_t i = 0; !reason && i < kernel->num_variants; ++i) {
    const lintel_variant *variant = &kernel->variants[i];
    if (!variant->form || !variant->target || !variant->run || variant->chunk < 1) reason = "an unfinished variant";
  }
  if (!reason) return LINTEL_OK;
  return lintel_internal_fail(error, LINTEL_ERROR_KERNEL, "kernel: damaged, it has %s; compile the operator again",
                              reason);
}

/* ---- Names in messages ------------------------------------------------------------------------------------------- */

#define SUBJECT "%s '%.48s'"
#define NAMED(s) (s)->role, (s)->parameter->name

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

static int isEmpty(const lintel_array *a) {
  for (int axis = 0; axis < a->rank; ++axis)
    if (a->shape[axis] == 0) return 1;
  return 0;
}

/* First and one past the last byte of the array, from its data. False when either does not fit. */
static int byteRange(const lintel_array *a, int64_t *first, int64_t *end) {
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

static int64_t magnitude(int64_t value) { return value < 0 ? -value : value; }

/* Whether an array that will be written has no two elements in one place. It may say no to a layout whose axes
 * interleave without touching; such a layout has no use here. */
static int elementsAreDistinct(const lintel_array *a) {
  int order[LINTEL_MAX_RANK], n = 0;
  for (int axis = 0; axis < a->rank; ++axis) {
    if (a->shape[axis] <= 1) continue;
    int at = n++;
    for (; at > 0 && magnitude(a->stride[order[at - 1]]) > magnitude(a->stride[axis]); --at) order[at] = order[at - 1];
    order[at] = axis;
  }
  int64_t covered = 1;
  for (int i = 0; i < n; ++i) {
    int64_t stride = magnitude(a->stride[order[i]]);
    if (stride < covered) return 0;
    covered += (a->shape[order[i]] - 1) * stride; /* fits: byteRange was asked first */
  }
  return 1;
}

static int checkMemory(checker *c, const subject *s) {
  const lintel_array *a = s->array;
  const lintel_parameter *p = s->parameter;
  if (isEmpty(a)) return LINTEL_OK;
  int64_t first, end, bytes = lintel_dtype_bytes(a->dtype);
  if (!a->data)
    return lintel_internal_fail(c->error, LINTEL_ERROR_DATA, SUBJECT ": expected data, found NULL", NAMED(s));
  if ((uintptr_t)a->data % (uintptr_t)bytes)
    return lintel_internal_fail(c->error, LINTEL_ERROR_DATA,
                                SUBJECT ": expected an address that is a multiple of %lld, found %p", NAMED(s),
                                (long long)bytes, a->data);
  for (int axis = 0; axis < a->rank; ++axis)
    if (a->shape[axis] > 1 && a->stride[axis] == INT64_MIN)
      return lintel_internal_fail(c->error, LINTEL_ERROR_STRIDE, SUBJECT ": %s: stride %lld is out of range", NAMED(s),
                                  axisName(s, axis), (long long)a->stride[axis]);
  if (!byteRange(a, &first, &end))
    return lintel_internal_fail(c->error, LINTEL_ERROR_STRIDE,
                                SUBJECT ": its sizes times its strides do not fit in the address space", NAMED(s));
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

/* ---- Arrays against each other ----------------------------------------------------------------------------------- */

/* Visits inputs, initial states, final states, output; NULL states are skipped. Returns the next index, -1 at the end.
 */
static int64_t next(const checker *c, int64_t at, subject *s) {
  const lintel_kernel *k = c->kernel;
  int64_t inputs = k->num_inputs, states = k->num_states;
  for (; at < inputs + 2 * states + 1; ++at) {
    memset(s, 0, sizeof *s);
    if (at < inputs) {
      s->array = &c->call->inputs[at];
      s->parameter = &k->inputs[at];
      s->role = "input";
      s->outer = s->parameter->kind == LINTEL_TOKEN ? 3 : s->parameter->kind == LINTEL_HEAD ? 1 : 0;
      return at + 1;
    }
    if (at < inputs + 2 * states) {
      int64_t i = (at - inputs) % states;
      s->written = at - inputs >= states;
      const lintel_array *arrays = s->written ? c->call->states_out : c->call->states_in;
      if (!arrays || !arrays[i].data) continue;
      s->array = &arrays[i];
      s->parameter = &k->states[i];
      s->role = s->written ? "final state" : "initial state";
      s->outer = 2;
      return at + 1;
    }
    s->array = c->call->out;
    s->parameter = k->out;
    s->role = "output";
    s->outer = 3;
    s->written = 1;
    return at + 1;
  }
  return -1;
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
  for (int64_t at = 0; (at = next(c, at, &s)) >= 0;) {
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
  for (int64_t at = 0; (at = next(c, at, &s)) >= 0;) {
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

static int64_t greatestCommonDivisor(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* An array as a set of bytes: blocks of `bytes` at start + sum of i * stride. */
typedef struct footprint {
  uint64_t start;
  int axes;
  int64_t stride[LINTEL_MAX_RANK], reach[LINTEL_MAX_RANK], bytes;
} footprint;

static footprint footprintOf(const lintel_array *a) {
  footprint f;
  int64_t first, end;
  byteRange(a, &first, &end);
  f.bytes = lintel_dtype_bytes(a->dtype);
  f.start = (uint64_t)(uintptr_t)a->data + (uint64_t)first;
  f.axes = 0;
  for (int axis = 0; axis < a->rank; ++axis) {
    if (a->shape[axis] <= 1 || a->stride[axis] == 0) continue;
    f.stride[f.axes] = magnitude(a->stride[axis]) * f.bytes;
    f.reach[f.axes] = (a->shape[axis] - 1) * f.stride[f.axes];
    ++f.axes;
  }
  return f;
}

/* Folds the axes with strides below `threshold` into one block, and `period` with the other strides. */
static int64_t block(const footprint *f, int64_t threshold, int64_t *period) {
  int64_t bytes = f->bytes;
  for (int axis = 0; axis < f->axes; ++axis) {
    if (f->stride[axis] < threshold) bytes += f->reach[axis];
    else *period = greatestCommonDivisor(*period, f->stride[axis]);
  }
  return bytes;
}

/* Whether two arrays may share a byte. Exact for what programs do: separate arrays, parts of one array side by side,
 * and arrays interleaved in one (queries, keys, values and outputs in one [B, T, 4, H, d]; two states in one record).
 * For the last, all offsets repeat with the greatest common divisor of the outer strides, and it is enough that the
 * blocks do not meet within one period. */
static int mayOverlap(const lintel_array *x, const lintel_array *y) {
  footprint a = footprintOf(x), b = footprintOf(y);
  for (int i = 0; i < a.axes + b.axes; ++i) {
    int64_t threshold = i < a.axes ? a.stride[i] : b.stride[i - a.axes];
    int64_t period = 0;
    int64_t sizeA = block(&a, threshold, &period), sizeB = block(&b, threshold, &period);
    if (!period) continue;
    /* Where a block of b starts within the period that a block of a opens. */
    int64_t offset = b.start >= a.start ? (int64_t)((b.start - a.start) % (uint64_t)period)
                                        : (int64_t)((a.start - b.start) % (uint64_t)period);
    if (b.start < a.start && offset) offset = period - offset;
    if (offset >= sizeA && sizeB <= period - offset) return 0;
  }
  return 1;
}

/* The bytes between the array's first and its last; none when it is empty. */
typedef struct span {
  uint64_t begin, end;
} span;

static span spanOf(const lintel_array *a) {
  span all = {0, 0};
  int64_t first, end;
  if (isEmpty(a)) return all;
  byteRange(a, &first, &end);
  all.begin = (uint64_t)(uintptr_t)a->data + (uint64_t)first;
  all.end = (uint64_t)(uintptr_t)a->data + (uint64_t)end;
  return all;
}

static int sameArray(const lintel_array *x, const lintel_array *y) {
  if (x->data != y->data) return 0;
  for (int axis = 0; axis < x->rank; ++axis)
    if (x->shape[axis] > 1 && x->stride[axis] != y->stride[axis]) return 0;
  return 1;
}

static int checkOverlap(checker *c) {
  subject written, other;
  for (int64_t at = 0; (at = next(c, at, &written)) >= 0;) {
    if (!written.written) continue;
    const span mine = spanOf(written.array);
    for (int64_t with = 0; (with = next(c, with, &other)) >= 0;) {
      if (with == at || (other.written && with > at)) continue;
      const span theirs = spanOf(other.array);
      if (mine.end <= theirs.begin || theirs.end <= mine.begin) continue; /* as nearly always */
      if (other.parameter == written.parameter && sameArray(other.array, written.array)) continue;
      if (!mayOverlap(written.array, other.array)) continue;
      return lintel_internal_fail(c->error, LINTEL_ERROR_OVERLAP, SUBJECT " shares memory with " SUBJECT "; %s",
                                  NAMED(&written), NAMED(&other),
                                  other.parameter == written.parameter ? "give the very same array for both, or another"
                                                                       : "give it an array of its own");
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
  if (!call->out) return lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "out: expected an array, found NULL");
  if (call->num_lengths < 0 || (call->num_lengths && !call->lengths))
    return lintel_internal_fail(
        error, LINTEL_ERROR_ARGUMENT, "lengths: expected an array of num_lengths, found %s%lld",
        call->lengths ? "num_lengths = " : "NULL with num_lengths = ", (long long)call->num_lengths);
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
  for (int64_t at = 0; (at = next(&c, at, &s)) >= 0;)
    if ((status = checkForm(&c, &s))) return status;
  if ((status = checkOuterAxes(&c, call->lengths ? call->num_lengths : -1))) return status;
  plan->steps = c.steps;
  plan->heads = c.heads;
  plan->sequences = call->lengths ? call->num_lengths : c.batch;
  if (call->lengths && (status = checkLengths(&c))) return status;
  if ((status = checkPositions(&c, plan->sequences))) return status;
  for (int64_t at = 0; (at = next(&c, at, &s)) >= 0;)
    if ((status = checkMemory(&c, &s))) return status;
  if ((status = checkOverlap(&c))) return status;

  uint64_t scratch = lintel_internal_scratch_bytes(kernel, plan->variant, plan->threads);
  if (!scratch)
    return lintel_internal_fail(error, LINTEL_ERROR_MEMORY, "scratch for %d threads is too large to address",
                                plan->threads);
  if (call->scratch && call->scratch_bytes < scratch)
    return lintel_internal_fail(error, LINTEL_ERROR_SCRATCH,
                                "scratch: expected %llu bytes (lintel_scratch_bytes) for %d threads, found %llu",
                                (unsigned long long)scratch, plan->threads, (unsigned long long)call->scratch_bytes);
  return lintel_internal_ok(error);
}

int lintel_check(const lintel_call *call, lintel_error *error) {
  lintel_plan plan;
  return lintel_internal_plan(call, &plan, error);
}

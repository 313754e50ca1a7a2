/* Runs a checked call: finds each item's pointers and hands it to the variant, on whatever threads there are. */
#include "internal.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One thread's part of the scratch memory: this, its pointer tables, columns of states where the variant has parts,
 * then the variant's own scratch. */
typedef struct thread_area {
  int64_t sequence, first; /* of packed sequences: the last one visited and its first step */
} thread_area;

typedef struct run {
  lintel_plan plan;
  int64_t parts; /* of each item */
  int64_t count; /* sequences x heads x parts, sequence by sequence */
  char *kept;    /* where there are parts: final states that are not divided, item by item */
  uint64_t keptBytes, apartBytes;
  char *threadAreas;
  uint64_t threadBytes;
  const int64_t *inputStep, *inputRow, *outStep;
  _Atomic int64_t done;
  _Atomic int broken; /* the executor broke its promise */
} run;

/* ---- Scratch ----------------------------------------------------------------------------------------------------- */

static uint64_t tableBytes(const lintel_kernel *kernel) {
  uint64_t pointers = (uint64_t)kernel->num_inputs + 3 * (uint64_t)kernel->num_states +
                      2 * (uint64_t)kernel->num_exponents + kernel->num_outputs;
  return lintel_internal_round_up(sizeof(thread_area) + pointers * sizeof(void *), LINTEL_ALIGNMENT);
}

uint64_t lintel_internal_shared_bytes(const lintel_kernel *kernel) {
  uint64_t steps = 2 * (uint64_t)kernel->num_inputs + kernel->num_outputs;
  return lintel_internal_round_up(steps * sizeof(int64_t) + 1, LINTEL_ALIGNMENT);
}

uint64_t lintel_internal_thread_bytes(const lintel_kernel *kernel, const lintel_variant *variant) {
  uint64_t own = variant->scratch_bytes;
  if (variant->parts && variant->part_scratch_bytes > own) own = variant->part_scratch_bytes;
  const uint64_t apart = lintel_internal_part_bytes(kernel, variant);
  if (own > INT64_MAX || apart > INT64_MAX / 4) return UINT64_MAX;
  return tableBytes(kernel) + apart + lintel_internal_round_up(own, LINTEL_ALIGNMENT);
}

/* Of what parts keep; UINT64_MAX: does not fit. */
static uint64_t keptTotal(const lintel_kernel *kernel, const lintel_variant *variant, int threads) {
  uint64_t bytes = variant->parts ? lintel_internal_kept_bytes(kernel) : 0;
  return __builtin_mul_overflow(bytes, (uint64_t)threads * LINTEL_PARTS_ITEMS, &bytes) ? UINT64_MAX : bytes;
}

uint64_t lintel_internal_scratch_bytes(const lintel_kernel *kernel, const lintel_variant *variant, int threads) {
  uint64_t bytes;
  /* The last term lets the caller's memory have any alignment. */
  uint64_t fixed = lintel_internal_shared_bytes(kernel) + LINTEL_ALIGNMENT - 1;
  if (__builtin_add_overflow(fixed, keptTotal(kernel, variant, threads), &fixed)) return 0;
  if (__builtin_mul_overflow(lintel_internal_thread_bytes(kernel, variant), (uint64_t)threads, &bytes)) return 0;
  if (__builtin_add_overflow(bytes, fixed, &bytes) || bytes > INT64_MAX) return 0;
  return bytes;
}

uint64_t lintel_scratch_bytes(const lintel_kernel *kernel, const char *form, int64_t chunk, int threads) {
  const lintel_variant *variant = threads < 1 ? NULL : lintel_select(kernel, form, chunk, NULL);
  return variant ? lintel_internal_scratch_bytes(kernel, variant, threads) : 0;
}

/* ---- Items ------------------------------------------------------------------------------------------------------- */

static char *element(const lintel_array *a, int64_t offset) {
  return (char *)a->data + offset * (int64_t)lintel_dtype_bytes(a->dtype);
}

/* index * stride, where an axis of size 1 may carry any stride. */
static int64_t along(const lintel_array *a, int axis, int64_t index) { return index ? index * a->stride[axis] : 0; }

static void *stateOf(const lintel_array *arrays, void *const *const *lists, uint32_t i, int64_t sequence,
                     int64_t head) {
  if (lists && lists[i])
    return (char *)lists[i][sequence] + along(&arrays[i], 1, head) * (int64_t)lintel_dtype_bytes(arrays[i].dtype);
  if (!arrays || !arrays[i].data) return NULL;
  return element(&arrays[i], along(&arrays[i], 0, sequence) + along(&arrays[i], 1, head));
}

/* First step of a packed sequence, walking from the one this thread visited last. */
static int64_t firstStep(thread_area *area, const int64_t *lengths, int64_t sequence) {
  while (area->sequence < sequence) area->first += lengths[area->sequence++];
  while (area->sequence > sequence) area->first -= lengths[--area->sequence];
  return area->first;
}

/* `to` * 2^p, where the product is wanted; `exponents` of them, one for each row where there are more than one. */
static void multiplyOut(const lintel_parameter *state, void *to, const double *p, int64_t exponents) {
  const int64_t elements = lintel_internal_elements(state), each = elements / exponents;
  for (int64_t i = 0; i < elements; ++i) {
    const double of = p[i / each];
    const int power = of > 9999 ? 9999 : of < -9999 ? -9999 : (int)of; /* beyond any float */
    if (state->dtype == LINTEL_F64) ((double *)to)[i] = ldexp(((double *)to)[i], power);
    else ((float *)to)[i] = ldexpf(((float *)to)[i], power);
  }
}

/* A sequence of no steps: its final states are its initial ones. */
static void passStates(const lintel_kernel *kernel, const lintel_item *item) {
  for (uint32_t i = 0; i < kernel->num_states; ++i) {
    const lintel_parameter *state = &kernel->states[i];
    const int32_t e = state->exponent - 1;
    void *to = item->state_out[i];
    const void *from = item->state_in[i];
    size_t bytes = (size_t)lintel_internal_elements(state) * lintel_dtype_bytes(state->dtype);
    if (!to) continue;
    if (!from) memset(to, 0, bytes);
    else if (to != from) memcpy(to, from, bytes);
    if (from && e >= 0 && item->exponent_in[e] && !item->exponent_out[e])
      multiplyOut(state, to, item->exponent_in[e], lintel_internal_elements(&kernel->exponents[e]));
  }
  for (uint32_t e = 0; e < kernel->num_exponents; ++e) {
    int given = 0; /* states that are not say that they hold nothing yet */
    for (uint32_t i = 0; i < kernel->num_states; ++i)
      if (item->state_in[i]) given = 1;
    const double *from = item->exponent_in[e];
    double *to = item->exponent_out[e];
    for (int64_t n = 0; to && n < lintel_internal_elements(&kernel->exponents[e]); ++n)
      to[n] = !given ? LINTEL_EXPONENT_NONE : from ? from[n] : 0;
  }
}

static void runItem(const run *r, thread_area *area, int64_t sequence, int64_t head, int64_t part) {
  const lintel_call *call = r->plan.call;
  const lintel_kernel *kernel = call->kernel;
  const void **input = (const void **)(area + 1);
  const void **stateIn = input + kernel->num_inputs;
  void **stateOut = (void **)(stateIn + kernel->num_states), **out = stateOut + kernel->num_states;
  const double **exponentIn = (const double **)(out + kernel->num_outputs);
  double **exponentOut = (double **)(exponentIn + kernel->num_exponents);
  void **whole = (void **)(exponentOut + kernel->num_exponents);

  int64_t batch = sequence, first = 0, steps = r->plan.steps;
  if (call->lengths) {
    batch = 0;
    first = firstStep(area, call->lengths, sequence);
    steps = call->lengths[sequence];
  }
  for (uint32_t i = 0; i < kernel->num_states; ++i) {
    stateIn[i] = stateOf(call->states_in, call->states_in_at, i, sequence, head);
    stateOut[i] = stateOf(call->states_out, call->states_out_at, i, sequence, head);
  }
  for (uint32_t i = 0; i < kernel->num_exponents; ++i) {
    exponentIn[i] = stateOf(call->exponents_in, call->exponents_in_at, i, sequence, head);
    exponentOut[i] = stateOf(call->exponents_out, call->exponents_out_at, i, sequence, head);
  }
  lintel_item item;
  memset(&item, 0, sizeof item);
  item.steps = steps;
  item.position = call->positions ? call->positions[sequence] : call->position;
  item.input = input;
  item.input_step = r->inputStep;
  item.input_row = r->inputRow;
  item.state_in = stateIn;
  item.state_out = stateOut;
  item.exponent_in = exponentIn;
  item.exponent_out = exponentOut;
  if (steps == 0) {
    if (part == 0) passStates(kernel, &item);
    return;
  }
  for (uint32_t i = 0; i < kernel->num_inputs; ++i) {
    const lintel_array *a = &call->inputs[i];
    int64_t offset = 0;
    if (kernel->inputs[i].kind == LINTEL_TOKEN) {
      /* Decode of a token is short enough for a division to count. */
      int64_t group = a->shape[2] == r->plan.heads ? head : head / (r->plan.heads / a->shape[2]);
      offset = along(a, 0, batch) + along(a, 1, first) + along(a, 2, group);
    } else if (kernel->inputs[i].kind == LINTEL_HEAD) {
      offset = along(a, 0, head);
    }
    input[i] = element(a, offset);
  }
  for (uint32_t i = 0; i < kernel->num_outputs; ++i) {
    const lintel_array *a = &call->out[i];
    out[i] = element(a, along(a, 0, batch) + along(a, 1, first) + along(a, 2, head));
  }
  item.out = out;
  item.out_step = r->outStep;
  char *apart = (char *)area + tableBytes(kernel);
  item.scratch = apart + r->apartBytes;
  if (r->parts == 1) {
    r->plan.variant->run(&item);
    return;
  }
  const part_tables tables = {input, stateIn, stateOut, out, exponentIn, exponentOut, whole};
  lintel_internal_run_part(kernel, r->plan.variant, &item, tables, part, apart,
                           r->kept + (uint64_t)(sequence * r->plan.heads + head) * r->keptBytes);
}

/* Moves to its place what the parts of items have kept, now that all of them have read what was there. */
static void moveKept(const run *r) {
  const lintel_call *call = r->plan.call;
  const lintel_kernel *kernel = call->kernel;
  const char *kept = r->kept;
  for (int64_t number = 0; number < r->count / r->parts; ++number) {
    const int64_t sequence = number / r->plan.heads, head = number % r->plan.heads;
    const int wasRun = (call->lengths ? call->lengths[sequence] : r->plan.steps) > 0;
    for (uint32_t i = 0; i < kernel->num_states + kernel->num_exponents; ++i) {
      const int isState = i < kernel->num_states;
      const lintel_parameter *p = isState ? &kernel->states[i] : &kernel->exponents[i - kernel->num_states];
      if (p->columns) continue;
      void *to = isState ? stateOf(call->states_out, call->states_out_at, i, sequence, head)
                         : stateOf(call->exponents_out, call->exponents_out_at, i - kernel->num_states, sequence, head);
      const size_t bytes = (size_t)lintel_internal_elements(p) * lintel_dtype_bytes(p->dtype);
      if (to && wasRun) memcpy(to, kept, bytes);
      kept += lintel_internal_round_up(bytes, LINTEL_ALIGNMENT);
    }
  }
}

static void runRange(void *data, int64_t begin, int64_t end, int thread) {
  run *r = data;
  if (thread < 0 || thread >= r->plan.threads || begin < 0 || begin > end || end > r->count) {
    atomic_store_explicit(&r->broken, 1, memory_order_relaxed);
    return;
  }
  thread_area *area = (thread_area *)(void *)(r->threadAreas + (uint64_t)thread * r->threadBytes);
  int64_t part = begin % r->parts, number = begin / r->parts;
  int64_t sequence = number / r->plan.heads, head = number % r->plan.heads;
  for (int64_t i = begin; i < end; ++i) {
    runItem(r, area, sequence, head, part);
    if (++part < r->parts) continue;
    part = 0;
    if (++head == r->plan.heads) head = 0, ++sequence;
  }
  atomic_fetch_add_explicit(&r->done, end - begin, memory_order_relaxed);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static int wantsStates(const lintel_call *call) {
  for (uint32_t i = 0; call->exponents_out && i < call->kernel->num_exponents; ++i)
    if (call->exponents_out[i].data || (call->exponents_out_at && call->exponents_out_at[i])) return 1;
  for (uint32_t i = 0; call->states_out && i < call->kernel->num_states; ++i)
    if (call->states_out[i].data || (call->states_out_at && call->states_out_at[i])) return 1;
  return 0;
}

int lintel_run(const lintel_call *call, lintel_error *error) {
  run r;
  memset(&r, 0, sizeof r);
  int status = lintel_internal_plan(call, &r.plan, error);
  if (status) return status;
  const lintel_kernel *kernel = call->kernel;
  if (r.plan.steps == 0 && !wantsStates(call)) return LINTEL_OK;
  if (__builtin_mul_overflow(r.plan.sequences, r.plan.heads, &r.count))
    return lintel_internal_fail(error, LINTEL_ERROR_SHAPE, "%lld sequences of %lld heads are too many",
                                (long long)r.plan.sequences, (long long)r.plan.heads);
  if (r.count == 0) return LINTEL_OK;
  r.parts = lintel_internal_parts(&r.plan, r.count);
  r.count *= r.parts; /* there are few items then */

  void *own = NULL;
  char *scratch = call->scratch;
  if (!scratch) {
    uint64_t bytes = lintel_internal_scratch_bytes(kernel, r.plan.variant, r.plan.threads);
    scratch = own = malloc((size_t)bytes);
    if (!own)
      return lintel_internal_fail(error, LINTEL_ERROR_MEMORY, "no memory for %llu bytes of scratch",
                                  (unsigned long long)bytes);
  }
  scratch = (char *)(((uintptr_t)scratch + LINTEL_ALIGNMENT - 1) & ~(uintptr_t)(LINTEL_ALIGNMENT - 1));
  int64_t *steps = (int64_t *)(void *)scratch, *rows = steps + kernel->num_inputs,
          *outSteps = rows + kernel->num_inputs;
  for (uint32_t i = 0; i < kernel->num_inputs; ++i) {
    const lintel_array *a = &call->inputs[i];
    const lintel_parameter *p = &kernel->inputs[i];
    int row = a->rank - 2;
    steps[i] = p->kind == LINTEL_TOKEN && a->shape[1] > 1 ? a->stride[1] : 0;
    rows[i] = p->rank == 2 && a->shape[row] > 1 ? a->stride[row] : 0;
  }
  for (uint32_t i = 0; i < kernel->num_outputs; ++i)
    outSteps[i] = call->out[i].shape[1] > 1 ? call->out[i].stride[1] : 0;
  r.inputStep = steps;
  r.inputRow = rows;
  r.outStep = outSteps;
  r.threadBytes = lintel_internal_thread_bytes(kernel, r.plan.variant);
  r.kept = scratch + lintel_internal_shared_bytes(kernel);
  r.keptBytes = lintel_internal_kept_bytes(kernel);
  r.apartBytes = lintel_internal_part_bytes(kernel, r.plan.variant);
  r.threadAreas = r.kept + keptTotal(kernel, r.plan.variant, r.plan.threads);
  for (int thread = 0; thread < r.plan.threads; ++thread)
    memset(r.threadAreas + (uint64_t)thread * r.threadBytes, 0, sizeof(thread_area));

  if (call->executor) call->executor->run(call->executor->context, r.count, runRange, &r);
  else runRange(&r, 0, r.count, 0);
  int64_t done = atomic_load(&r.done);
  if (r.parts > 1 && done == r.count && !atomic_load(&r.broken)) moveKept(&r);
  free(own);
  if (atomic_load(&r.broken) || done != r.count)
    return lintel_internal_fail(error, LINTEL_ERROR_EXECUTOR,
                                "executor: expected %lld items done once each on threads 0 to %d, found %lld done%s",
                                (long long)r.count, r.plan.threads - 1, (long long)done,
                                atomic_load(&r.broken) ? " and a range or thread outside" : "");
  return lintel_internal_ok(error);
}

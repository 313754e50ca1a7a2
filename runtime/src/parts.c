/* Items in parts (lintel_variant.parts): when they are used, and one part of an item. */
#include "internal.h"
#include <string.h>

/* Below this many steps times numbers of the states (of the inputs, where there are no states) an item is done before
 * another thread has woken up. */
#define WORTH_A_THREAD (INT64_C(1) << 19)

static int64_t divideUp(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static uint64_t bytesOf(const lintel_parameter *p, int64_t elements) {
  return (uint64_t)elements * lintel_dtype_bytes(p->dtype);
}

/* The sum of a total and what `p` needs for so many elements; stays where it is once no memory is as large. */
static uint64_t plus(uint64_t total, const lintel_parameter *p, int64_t elements) {
  if (total > INT64_MAX / 4) return total;
  return total + lintel_internal_round_up(bytesOf(p, elements), LINTEL_ALIGNMENT);
}

/* Whether a part's elements lie apart, in rows, so that they are copied together. */
static int isApart(const lintel_parameter *state) { return state->columns == 2; }

uint64_t lintel_internal_part_bytes(const lintel_kernel *kernel, const lintel_variant *variant) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < kernel->num_states && variant->parts; ++i) {
    const lintel_parameter *p = &kernel->states[i];
    if (isApart(p)) total = plus(total, p, lintel_internal_elements(p) / variant->parts);
  }
  return total;
}

uint64_t lintel_internal_kept_bytes(const lintel_kernel *kernel) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < kernel->num_states + kernel->num_exponents; ++i) {
    const lintel_parameter *p =
        i < kernel->num_states ? &kernel->states[i] : &kernel->exponents[i - kernel->num_states];
    if (!p->columns) total = plus(total, p, lintel_internal_elements(p));
  }
  return total;
}

/* Steps of the longest sequence. */
static int64_t longest(const lintel_plan *plan) {
  if (!plan->call->lengths) return plan->steps;
  int64_t most = 0;
  for (int64_t i = 0; i < plan->sequences; ++i)
    if (plan->call->lengths[i] > most) most = plan->call->lengths[i];
  return most;
}

/* How long the threads are busy, in steps of one whole item, with `pieces` of each. */
static double busy(const lintel_plan *plan, int64_t items, int64_t pieces, int64_t steps) {
  if (!plan->call->lengths) return (double)divideUp(items * pieces, plan->threads) * (double)steps;
  double all = (double)plan->steps * (double)plan->heads * (double)pieces / plan->threads;
  return all > (double)steps ? all : (double)steps;
}

int64_t lintel_internal_parts(const lintel_plan *plan, int64_t items) {
  const lintel_kernel *kernel = plan->call->kernel;
  const lintel_variant *variant = plan->variant;
  const int32_t asked = plan->call->parts;
  if (!variant->parts || asked == LINTEL_PARTS_NEVER || items > (int64_t)LINTEL_PARTS_ITEMS * plan->threads) return 1;
  if (asked == LINTEL_PARTS_ALWAYS) return variant->parts;
  if (plan->threads == 1) return 1;
  const int64_t steps = longest(plan);
  int64_t numbers = 0;
  for (uint32_t i = 0; i < kernel->num_states; ++i) numbers += lintel_internal_elements(&kernel->states[i]);
  for (uint32_t i = 0; i < kernel->num_inputs && !kernel->num_states; ++i)
    numbers += lintel_internal_elements(&kernel->inputs[i]);
  if ((double)steps * (double)numbers < (double)WORTH_A_THREAD) return 1;
  /* A twentieth better, since the cost is an estimate. */
  double whole = busy(plan, items, 1, steps);
  double parts = busy(plan, items, variant->parts, steps) * (double)variant->part_cost / 1000;
  return parts < 0.95 * whole ? variant->parts : 1;
}

/* Elements from an array's first to the first of a part. `row`: from one row of a matrix to the next. */
static int64_t offsetOf(const lintel_parameter *p, int64_t part, int64_t parts, int64_t row) {
  if (!p->columns) return 0;
  return part * (p->dim[p->columns - 1] / parts) * (p->rank == 2 && p->columns == 1 ? row : 1);
}

static char *moved(const void *at, const lintel_parameter *p, int64_t elements) {
  return at ? (char *)at + elements * (int64_t)lintel_dtype_bytes(p->dtype) : NULL;
}

/* Between the columns of a state and the same ones by themselves. */
static void copyColumns(const lintel_parameter *state, char *whole, char *apart, int64_t parts, int isBack) {
  const size_t row = (size_t)bytesOf(state, state->dim[1]), piece = row / (size_t)parts;
  for (int64_t r = 0; r < state->dim[0]; ++r, whole += row, apart += piece)
    memcpy(isBack ? whole : apart, isBack ? apart : whole, piece);
}

void lintel_internal_run_part(const lintel_kernel *kernel, const lintel_variant *variant, const lintel_item *item,
                              part_tables tables, int64_t part, char *apart, char *kept) {
  const int64_t parts = variant->parts;
  for (uint32_t i = 0; i < kernel->num_inputs; ++i)
    tables.input[i] =
        moved(tables.input[i], &kernel->inputs[i], offsetOf(&kernel->inputs[i], part, parts, item->input_row[i]));
  for (uint32_t i = 0; i < kernel->num_outputs; ++i)
    tables.out[i] = moved(tables.out[i], &kernel->out[i], offsetOf(&kernel->out[i], part, parts, 1));
  char *piece = apart;
  for (uint32_t i = 0; i < kernel->num_states; ++i) {
    const lintel_parameter *p = &kernel->states[i];
    const int64_t offset = offsetOf(p, part, parts, p->dim[1]);
    tables.whole[i] = NULL;
    if (!p->columns) {
      if (tables.stateOut[i]) tables.stateOut[i] = part == 0 ? kept : NULL;
      kept += lintel_internal_round_up(bytesOf(p, lintel_internal_elements(p)), LINTEL_ALIGNMENT);
      continue;
    }
    char *in = moved(tables.stateIn[i], p, offset), *out = moved(tables.stateOut[i], p, offset);
    if (isApart(p)) {
      if (in) copyColumns(p, in, piece, parts, 0);
      tables.whole[i] = out;
      in = in ? piece : NULL;
      out = out ? piece : NULL;
      piece += lintel_internal_round_up(bytesOf(p, lintel_internal_elements(p) / parts), LINTEL_ALIGNMENT);
    }
    tables.stateIn[i] = in;
    tables.stateOut[i] = out;
  }
  for (uint32_t i = 0; i < kernel->num_exponents; ++i) {
    const lintel_parameter *p = &kernel->exponents[i];
    if (!p->columns) {
      if (tables.exponentOut[i]) tables.exponentOut[i] = part == 0 ? (double *)(void *)kept : NULL;
      kept += lintel_internal_round_up(bytesOf(p, lintel_internal_elements(p)), LINTEL_ALIGNMENT);
      continue;
    }
    const int64_t offset = offsetOf(p, part, parts, 1);
    tables.exponentIn[i] = (const double *)(const void *)moved(tables.exponentIn[i], p, offset);
    tables.exponentOut[i] = (double *)(void *)moved(tables.exponentOut[i], p, offset);
  }
  variant->run_part(item);
  piece = apart;
  for (uint32_t i = 0; i < kernel->num_states; ++i) {
    const lintel_parameter *p = &kernel->states[i];
    if (!isApart(p)) continue;
    if (tables.whole[i]) copyColumns(p, tables.whole[i], piece, parts, 1);
    piece += lintel_internal_round_up(bytesOf(p, lintel_internal_elements(p) / parts), LINTEL_ALIGNMENT);
  }
}

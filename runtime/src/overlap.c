/* Whether anything that a call writes shares memory with something else of it. */
#include "check.h"
#include <string.h>

/* An array as a set of bytes: blocks of `bytes` at start + sum of i * stride. */
typedef struct footprint {
  uint64_t start;
  int axes;
  int64_t stride[LINTEL_MAX_RANK], reach[LINTEL_MAX_RANK], bytes;
} footprint;

static int64_t greatestCommonDivisor(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static footprint footprintOf(const lintel_array *a) {
  footprint f;
  int64_t first, end;
  lintel_internal_byte_range(a, &first, &end);
  f.bytes = lintel_dtype_bytes(a->dtype);
  f.start = (uint64_t)(uintptr_t)a->data + (uint64_t)first;
  f.axes = 0;
  for (int axis = 0; axis < a->rank; ++axis) {
    if (a->shape[axis] <= 1 || a->stride[axis] == 0) continue;
    f.stride[f.axes] = lintel_internal_magnitude(a->stride[axis]) * f.bytes;
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

/* The bytes between the array's first and its last; none when it is empty. */
typedef struct span {
  uint64_t begin, end;
} span;

static span spanOf(const lintel_array *a) {
  span all = {0, 0};
  int64_t first, end;
  if (lintel_internal_is_empty(a)) return all;
  lintel_internal_byte_range(a, &first, &end);
  all.begin = (uint64_t)(uintptr_t)a->data + (uint64_t)first;
  all.end = (uint64_t)(uintptr_t)a->data + (uint64_t)end;
  return all;
}

static int meet(span x, span y) { return x.begin < y.end && y.begin < x.end; }

/* Whether two arrays may share a byte. Exact for what programs do: separate arrays, parts of one array side by side,
 * and arrays interleaved in one (queries, keys, values and outputs in one [B, T, 4, H, d]; two states in one record).
 * For the last, all offsets repeat with the greatest common divisor of the outer strides, and it is enough that the
 * blocks do not meet within one period. */
static int mayOverlap(const lintel_array *x, const lintel_array *y) {
  if (!meet(spanOf(x), spanOf(y))) return 0; /* as nearly always */
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

static int sameArray(const lintel_array *x, const lintel_array *y) {
  if (x->data != y->data) return 0;
  for (int axis = 0; axis < x->rank; ++axis)
    if (x->shape[axis] > 1 && x->stride[axis] != y->stride[axis]) return 0;
  return 1;
}

static int fail(const checker *c, const subject *written, int64_t i, const subject *other, int64_t j) {
  char mine[40], theirs[40];
  return lintel_internal_fail(c->error, LINTEL_ERROR_OVERLAP, SUBJECT "%s shares memory with " SUBJECT "%s; %s",
                              NAMED(written), lintel_internal_of_sequence(i, mine, sizeof mine), NAMED(other),
                              lintel_internal_of_sequence(j, theirs, sizeof theirs),
                              other->parameter == written->parameter && i == j
                                  ? "give the very same array for both, or another"
                                  : "give it an array of its own");
}

/* ---- States at addresses of their own ---------------------------------------------------------------------------- */

/* All sequences' states lie apart, so that they are compared one by one. Spans of at most 2^shift bytes that meet have
 * starts whose numbers, shifted, differ by at most one: a table of such numbers finds them without a comparison of all
 * with all. It holds some of them at a time, as nothing is allocated here. */
enum { Held = 2048, Slots = 8192 };

static uint32_t place(uint64_t number) { return (uint32_t)((number * UINT64_C(0x9E3779B97F4A7C15)) >> 51); }

/* Where the span of each sequence's state begins, and its size. */
typedef struct starts {
  void *const *at;
  uint64_t base, step, bytes; /* base: from the address, or, without addresses, of the first */
} starts;

static starts startsOf(const subject *s) {
  lintel_array view = lintel_internal_view(s, 0);
  span all = spanOf(&view);
  starts result = {s->at, all.begin, 0, all.end - all.begin};
  if (s->at) result.base -= (uint64_t)(uintptr_t)view.data;
  else if (s->array->shape[0] > 1) result.step = (uint64_t)s->array->stride[0] * lintel_dtype_bytes(s->array->dtype);
  return result;
}

static uint64_t startOf(const starts *s, int64_t i) {
  return s->base + (s->at ? (uint64_t)(uintptr_t)s->at[i] : (uint64_t)i * s->step);
}

/* What `written` has of one sequence must not meet what `other` has of any; only one array in both is allowed. */
static int compareStates(const checker *c, const subject *written, const subject *other) {
  const starts mine = startsOf(written), theirs = startsOf(other);
  const uint64_t widest = mine.bytes > theirs.bytes ? mine.bytes : theirs.bytes;
  int shift = 0;
  while (shift < 63 && (UINT64_C(1) << shift) < widest) ++shift;
  const int mayBeSame = other->parameter == written->parameter, itself = mayBeSame && other->written;
  uint16_t table[Slots]; /* one more than the index of a sequence, from `begin`; 0: none */
  for (int64_t begin = 0; begin < c->sequences; begin += Held) {
    const int64_t end = c->sequences - begin > Held ? begin + Held : c->sequences;
    memset(table, 0, sizeof table);
    for (int64_t j = begin; j < end; ++j) {
      uint32_t at = place(startOf(&theirs, j) >> shift);
      while (table[at]) at = (at + 1) % Slots;
      table[at] = (uint16_t)(j - begin + 1);
    }
    for (int64_t i = itself ? begin : 0; i < c->sequences; ++i) {
      const uint64_t first = startOf(&mine, i), number = first >> shift;
      for (uint64_t near = number - 1; near != number + 2; ++near)
        for (uint32_t at = place(near); table[at]; at = (at + 1) % Slots) {
          const int64_t j = begin + table[at] - 1;
          const uint64_t second = startOf(&theirs, j);
          if (second >> shift != near || (itself && i <= j)) continue;
          if (first + mine.bytes <= second || second + theirs.bytes <= first) continue;
          lintel_array x = lintel_internal_view(written, i), y = lintel_internal_view(other, j);
          if (i == j && mayBeSame && sameArray(&x, &y)) continue;
          if (mayOverlap(&x, &y)) return fail(c, written, i, other, j);
        }
    }
  }
  return LINTEL_OK;
}

/* The same against an array that is no state: an input or the output. Either may be the one that is written. */
static int compareWithArray(const checker *c, const subject *states, const subject *array, int statesAreWritten) {
  const starts all = startsOf(states);
  const span one = spanOf(array->array);
  for (int64_t i = 0; i < c->sequences; ++i) {
    const uint64_t first = startOf(&all, i);
    if (first >= one.end || one.begin >= first + all.bytes) continue;
    lintel_array view = lintel_internal_view(states, i);
    if (!mayOverlap(&view, array->array)) continue;
    return statesAreWritten ? fail(c, states, i, array, -1) : fail(c, array, -1, states, i);
  }
  return LINTEL_OK;
}

int lintel_internal_check_overlap(const checker *c) {
  subject written, other;
  for (int64_t at = 0; (at = lintel_internal_next(c, at, &written)) >= 0;) {
    if (!written.written || lintel_internal_is_empty(written.array)) continue;
    for (int64_t with = 0; (with = lintel_internal_next(c, with, &other)) >= 0;) {
      if ((other.written && with > at) || (with == at && !written.at) || lintel_internal_is_empty(other.array))
        continue;
      int status = LINTEL_OK;
      if (!written.at && !other.at) {
        if (other.parameter == written.parameter && sameArray(other.array, written.array)) continue;
        if (mayOverlap(written.array, other.array)) status = fail(c, &written, -1, &other, -1);
      } else if (written.outer != 2) status = compareWithArray(c, &other, &written, 0);
      else if (other.outer != 2) status = compareWithArray(c, &written, &other, 1);
      else if (with != at && other.at == written.at && other.parameter == written.parameter &&
               sameArray(other.array, written.array))
        continue; /* in place: seen when it met itself */
      else status = compareStates(c, &written, &other);
      if (status) return status;
    }
  }
  return LINTEL_OK;
}

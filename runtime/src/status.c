/* Statuses, messages, names and the arithmetic that the other files share. */
#include "internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int lintel_internal_fail(lintel_error *error, int code, const char *format, ...) {
  if (error) {
    va_list arguments;
    va_start(arguments, format);
    error->code = code;
    if (vsnprintf(error->message, sizeof error->message, format, arguments) < 0) error->message[0] = 0;
    va_end(arguments);
  }
  return code;
}

int lintel_internal_ok(lintel_error *error) {
  if (error) {
    error->code = LINTEL_OK;
    error->message[0] = 0;
  }
  return LINTEL_OK;
}

const char *lintel_status_name(int status) {
  static const char *const names[] = {"ok",      "argument", "kernel",   "dtype",      "shape",   "heads",
                                      "stride",  "data",     "overlap",  "lengths",    "form",    "cpu",
                                      "scratch", "memory",   "executor", "not causal", "no state"};
  return status >= 0 && status < (int)(sizeof names / sizeof *names) ? names[status] : "unknown";
}

uint32_t lintel_runtime_version(void) { return LINTEL_ABI_VERSION; }

uint32_t lintel_dtype_bytes(int32_t dtype) {
  switch (dtype) {
  case LINTEL_F64:
    return 8;
  case LINTEL_F32:
    return 4;
  case LINTEL_F16:
  case LINTEL_BF16:
    return 2;
  default:
    return 0;
  }
}

const char *lintel_dtype_name(int32_t dtype) {
  switch (dtype) {
  case LINTEL_F64:
    return "f64";
  case LINTEL_F32:
    return "f32";
  case LINTEL_F16:
    return "f16";
  case LINTEL_BF16:
    return "bf16";
  default:
    return "unknown";
  }
}

lintel_array lintel_array_contiguous(void *data, int32_t dtype, int32_t rank, const int64_t *shape) {
  lintel_array array;
  memset(&array, 0, sizeof array);
  array.data = data;
  array.dtype = dtype;
  array.rank = rank;
  if (rank < 0 || rank > LINTEL_MAX_RANK) {
    array.rank = -1;
    return array;
  }
  int64_t stride = 1;
  for (int32_t axis = rank; axis-- > 0;) {
    array.shape[axis] = shape[axis];
    array.stride[axis] = stride;
    /* What does not fit is refused by the checks, which see the largest stride times its axis. */
    if (shape[axis] > 1 && __builtin_mul_overflow(stride, shape[axis], &stride)) stride = INT64_MAX;
  }
  return array;
}

uint64_t lintel_internal_round_up(uint64_t value, uint64_t unit) {
  return value > UINT64_MAX - (unit - 1) ? UINT64_MAX : (value + unit - 1) & ~(unit - 1);
}

int64_t lintel_internal_elements(const lintel_parameter *parameter) {
  int64_t elements = 1;
  for (int32_t axis = 0; axis < parameter->rank; ++axis) elements *= parameter->dim[axis];
  return elements;
}

static int32_t indexOf(const lintel_parameter *parameters, uint32_t count, const char *name) {
  for (uint32_t i = 0; name && i < count; ++i)
    if (strcmp(parameters[i].name, name) == 0) return (int32_t)i;
  return -1;
}

int32_t lintel_input_index(const lintel_kernel *kernel, const char *name) {
  return lintel_internal_check_kernel(kernel, NULL) ? -1 : indexOf(kernel->inputs, kernel->num_inputs, name);
}

int32_t lintel_output_index(const lintel_kernel *kernel, const char *name) {
  return lintel_internal_check_kernel(kernel, NULL) ? -1 : indexOf(kernel->out, kernel->num_outputs, name);
}

int32_t lintel_state_index(const lintel_kernel *kernel, const char *name) {
  return lintel_internal_check_kernel(kernel, NULL) ? -1 : indexOf(kernel->states, kernel->num_states, name);
}

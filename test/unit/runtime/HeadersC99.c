/* The headers are C99: this file is compiled as such, with every warning an error. */
#include "lintel/kernel.h"
#include "lintel/runtime.h"
#include "lintel/state.h"

int lintelTestHeadersC99(void);
int lintelTestHeadersC99(void) {
  lintel_call call = {0};
  lintel_error error = {0, {0}};
  const int64_t shape[2] = {2, 3};
  float data[6] = {0};
  lintel_array array = lintel_array_contiguous(data, LINTEL_F32, 2, shape);
  call.inputs = &array;
  return lintel_run(&call, &error) == LINTEL_ERROR_ARGUMENT && array.stride[0] == 3 && error.message[0] != 0;
}

// The headers are C++11 too: this file is compiled as such, with every warning an error.
#include "lintel/state.h"

bool lintelTestHeadersCxx();
bool lintelTestHeadersCxx() {
  lintel_call call = lintel_call();
  return lintel_check(&call, nullptr) == LINTEL_ERROR_ARGUMENT && lintel_runtime_version() == LINTEL_ABI_VERSION;
}

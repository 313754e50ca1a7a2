/* A kernel by the name of its build target, see lintel_artifacts in CMakeLists.txt. */
#include "named_rwkv6.h"
#include <lintel/runtime.h>
#include <string.h>

int main(void) {
  const lintel_kernel *kernel = &named_rwkv6_kernel;
  return strcmp(kernel->name, "rwkv6") != 0 || !lintel_select(kernel, NULL, 0, NULL);
}

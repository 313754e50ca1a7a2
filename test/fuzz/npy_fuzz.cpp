// Any bytes are either read as an array, which converts to every type, or refused with a reason.
#include "compiler/driver/Npy.h"
#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  for (bool uint16IsBf16 : {false, true}) {
    llvm::Expected<lintel::NpyArray> array = lintel::parseNpy(bytes, "fuzz", {uint16IsBf16});
    if (!array) {
      if (llvm::toString(array.takeError()).empty()) std::abort();
      continue;
    }
    for (lintel_dtype to : {LINTEL_F64, LINTEL_F32, LINTEL_F16, LINTEL_BF16}) {
      llvm::Expected<lintel::NpyArray> converted = array->convertedTo(to);
      if (!converted) {
        llvm::consumeError(converted.takeError());
        continue;
      }
      if (to == array->dtype && std::memcmp(converted->data(), array->data(), array->bytes()) != 0) std::abort();
    }
  }
  return 0;
}

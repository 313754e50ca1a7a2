// Any bytes are either read as an array, which converts to every type, or refused with a reason; and so as a state.
#include "compiler/driver/Npy.h"
#include <cmath>
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
  // As the state of an operator, alone or beside exponents.
  llvm::Expected<lintel::NpyState> state = lintel::parseNpyState(bytes, "fuzz", "S");
  if (!state) {
    if (llvm::toString(state.takeError()).empty()) std::abort();
    return 0;
  }
  if (!state->exponents) return 0;
  const lintel::NpyArray &exponents = *state->exponents;
  for (int64_t i = 0; i < exponents.elements(); ++i)
    if (double p = exponents.dataAs<double>()[i]; std::trunc(p) != p) std::abort();
  if (state->values.shape.size() < 2 || state->values.shape[0] != exponents.shape[0] ||
      state->values.shape[1] != exponents.shape[1])
    std::abort();
  return 0;
}

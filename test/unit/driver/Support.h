// Operators as text and arrays as lists, for the driver's tests.
#ifndef LINTEL_TEST_UNIT_DRIVER_SUPPORT_H
#define LINTEL_TEST_UNIT_DRIVER_SUPPORT_H

#include "compiler/driver/Arrays.h"
#include "gtest/gtest.h"

namespace lintel::test {

inline const char *const identityText = R"(attention identity {
  token q[dk], k[dk], v[dv]
})";

inline std::unique_ptr<SpecFile> spec(llvm::StringRef text) {
  auto file = SpecFile::parse(text, "test.attn");
  if (!file) {
    ADD_FAILURE() << llvm::toString(file.takeError());
    return nullptr;
  }
  return std::move(*file);
}

/// Filled with `values`, repeated.
inline NpyArray array(llvm::ArrayRef<int64_t> shape, std::vector<double> values = {1},
                      lintel_dtype dtype = LINTEL_F32) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  std::vector<double> all(n);
  for (int64_t i = 0; i < n; ++i) all[i] = values[i % values.size()];
  return llvm::cantFail(fromDoubles(all, shape, dtype));
}

template <typename... Arrays> ArraysRequest request(Arrays &&...inputs) {
  ArraysRequest result;
  (result.inputs.push_back(std::move(inputs)), ...);
  return result;
}

inline bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

/// The message of a failure; empty where there is none.
template <typename T> std::string messageOf(llvm::Expected<T> result) {
  return result ? "" : llvm::toString(result.takeError());
}

} // namespace lintel::test

#endif

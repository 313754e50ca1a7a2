// Private to the readers and writers of .npy files: the header, and files as a whole.
#ifndef LINTEL_COMPILER_DRIVER_NPYHEADER_H
#define LINTEL_COMPILER_DRIVER_NPYHEADER_H
#include "compiler/driver/Npy.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace lintel::npy {

constexpr llvm::StringLiteral magic("\x93NUMPY");
constexpr size_t maxHeader = 65535;
/// The first bytes of a file that are enough for parseHeader.
constexpr size_t maxPrefix = maxHeader + 12;

template <typename... Args> llvm::Error failure(const char *format, Args &&...args) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 llvm::formatv(format, std::forward<Args>(args)...).str());
}

struct Field {
  std::string name, descr;
  llvm::SmallVector<int64_t, 5> shape;
};

struct Header {
  std::string descr;         // of a plain array
  std::vector<Field> fields; // of a structured one
  bool fortranOrder = false;
  llvm::SmallVector<int64_t, 5> shape;
  size_t dataOffset = 0;
};

/// `prefix` is the file's first bytes, all of them or at least maxPrefix.
llvm::Expected<Header> parseHeader(llvm::StringRef prefix, llvm::StringRef name);
/// What comes before the elements; `descr` is a Python literal.
std::string headerText(llvm::StringRef descr, llvm::ArrayRef<int64_t> shape);

/// The element type, or why it cannot be taken.
llvm::Expected<lintel_dtype> dtypeOf(llvm::StringRef descr, llvm::StringRef name, const NpyReadOptions &options);
/// As it is written: '<f4'.
llvm::StringRef descrOf(lintel_dtype dtype);
size_t bytesOf(lintel_dtype dtype);
/// Bytes of an array, or nothing when they do not fit in 63 bits.
std::optional<int64_t> checkedBytes(size_t element, llvm::ArrayRef<int64_t> shape);
/// "(2, 3)"
std::string printShape(llvm::ArrayRef<int64_t> shape);

/// Writes a temporary file and renames it; see writeNpy.
llvm::Error writeFile(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> content);

} // namespace lintel::npy

#endif

#include "compiler/driver/NpyHeader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <sys/mman.h>

using namespace llvm;
using namespace lintel::npy;

namespace lintel {
namespace {

struct Layout {
  Header header;
  lintel_dtype dtype = LINTEL_F32;
};

Expected<Layout> parseLayout(StringRef prefix, StringRef name, const NpyReadOptions &options) {
  Expected<Header> header = parseHeader(prefix, name);
  if (!header) return header.takeError();
  if (!header->fields.empty())
    return failure("'{0}': expected an array of numbers, found a structured array; save one of its fields, as in "
                   "x['name']",
                   name);
  Expected<lintel_dtype> dtype = dtypeOf(header->descr, name, options);
  if (!dtype) return dtype.takeError();
  return Layout{std::move(*header), *dtype};
}

// Checks that the file holds just the elements, and makes room for them.
Expected<NpyArray> allocateFor(const Layout &layout, uint64_t fileSize, StringRef name) {
  ArrayRef<int64_t> shape = layout.header.shape;
  std::optional<int64_t> bytes = checkedBytes(bytesOf(layout.dtype), shape);
  if (!bytes) return failure("'{0}': expected a shape whose bytes fit in 63 bits, found {1}", name, printShape(shape));
  uint64_t found = fileSize - layout.header.dataOffset;
  if (found != uint64_t(*bytes))
    return failure("'{0}': expected {1} bytes of elements for shape {2}, found {3}; the file is {4}", name, *bytes,
                   printShape(shape), found, found < uint64_t(*bytes) ? "truncated" : "longer than its array");
  Expected<NpyArray> array = NpyArray::create(layout.dtype, shape);
  if (!array) return failure("'{0}': {1}", name, toString(array.takeError()));
  return array;
}

// Fortran order has the first axis innermost.
template <typename T> void copyTransposed(const T *from, T *to, ArrayRef<int64_t> shape, int64_t elements) {
  const size_t rank = shape.size();
  SmallVector<int64_t, 5> stride(rank), index(rank, 0);
  int64_t next = 1;
  for (size_t axis = 0; axis < rank; ++axis) {
    stride[axis] = next;
    next *= shape[axis];
  }
  int64_t offset = 0;
  for (int64_t i = 0; i < elements; ++i) {
    to[i] = from[offset];
    for (size_t axis = rank; axis-- > 0;) {
      offset += stride[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

Expected<NpyArray> toRowMajor(NpyArray array, bool fortranOrder) {
  if (!fortranOrder || array.shape.size() < 2 || array.elements() == 0) return array;
  Expected<NpyArray> result = NpyArray::create(array.dtype, array.shape);
  if (!result) return result.takeError();
  const int64_t n = array.elements();
  switch (bytesOf(array.dtype)) {
  case 8:
    copyTransposed(array.dataAs<uint64_t>(), result->dataAs<uint64_t>(), array.shape, n);
    break;
  case 4:
    copyTransposed(array.dataAs<uint32_t>(), result->dataAs<uint32_t>(), array.shape, n);
    break;
  default:
    copyTransposed(array.dataAs<uint16_t>(), result->dataAs<uint16_t>(), array.shape, n);
    break;
  }
  return result;
}

// ---- Files
// -----------------------------------------------------------------------------------------------------------

class File {
public:
  explicit File(sys::fs::file_t handle) : handle(handle) {}
  ~File() { sys::fs::closeFile(handle); }
  File(const File &) = delete;

  // All of `to` unless the file ends before: the number of bytes read.
  Expected<size_t> readAll(MutableArrayRef<char> to) {
    size_t done = 0;
    while (done < to.size()) {
      Expected<size_t> n = sys::fs::readNativeFile(handle, to.drop_front(done));
      if (!n) return n.takeError();
      if (*n == 0) break;
      done += *n;
    }
    return done;
  }

  sys::fs::file_t handle;
};

Error finish(raw_fd_ostream &os) {
  os.flush();
  if (!os.has_error()) return Error::success();
  std::error_code code = os.error();
  os.clear_error(); // an error left standing would end the process
  return errorCodeToError(code);
}

Error cannotWrite(StringRef path, const std::string &reason) {
  return failure("'{0}': expected to write the array here, found: {1}", path, reason);
}

} // namespace

// ---- Arrays
// ----------------------------------------------------------------------------------------------------------

Expected<NpyArray> NpyArray::create(lintel_dtype dtype, ArrayRef<int64_t> shape) {
  std::optional<int64_t> bytes = checkedBytes(bytesOf(dtype), shape);
  bool negative = any_of(shape, [](int64_t size) { return size < 0; });
  if (!bytes || negative || *bytes > std::numeric_limits<int64_t>::max() - 64)
    return failure("expected sizes from 0 whose bytes fit in 63 bits, found {0}", printShape(shape));
  NpyArray array;
  array.dtype = dtype;
  array.shape.assign(shape.begin(), shape.end());
  // Large arrays in large pages where the system has them, as NumPy does: rows of many heads lie pages apart.
  const bool large = *bytes >= (int64_t(4) << 20);
  const uint64_t alignment = large ? uint64_t(2) << 20 : 64,
                 size = alignTo(std::max<uint64_t>(uint64_t(*bytes), 1), 64);
  array.memory.reset(std::aligned_alloc(alignment, alignTo(size, alignment)));
#ifdef MADV_HUGEPAGE
  if (large && array.memory) (void)madvise(array.memory.get(), size, MADV_HUGEPAGE);
#endif
  if (!array.memory) return failure("no memory for an array of {0} bytes", *bytes);
  return array;
}

int64_t NpyArray::elements() const {
  if (is_contained(shape, 0)) return 0;
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  return n;
}

size_t NpyArray::bytes() const { return size_t(elements()) * bytesOf(dtype); }

// ---- Conversion
// ------------------------------------------------------------------------------------------------------

// Rounds to a format of `exponentBits` and `mantissaBits`, to nearest with ties to even, subnormals included.
static uint16_t roundTo(double value, int exponentBits, int mantissaBits) {
  const uint64_t bits = bit_cast<uint64_t>(value);
  const uint16_t sign = uint16_t(bits >> 63 << 15);
  const uint16_t infinity = uint16_t(((1u << exponentBits) - 1) << mantissaBits);
  if (std::isnan(value)) return uint16_t(sign | infinity | 1u << (mantissaBits - 1));
  if (std::isinf(value)) return sign | infinity;
  const int field = int(bits >> 52 & 0x7ff);
  if (field == 0) return sign; // a double's subnormals lie far below half of the smallest
  const int exponent = field - 1023, least = 2 - (1 << (exponentBits - 1));
  const uint64_t mantissa = (bits & maskTrailingOnes<uint64_t>(52)) | uint64_t(1) << 52;
  const int shift = 52 - mantissaBits + std::max(0, least - exponent);
  if (shift > 53) return sign;
  uint64_t kept = mantissa >> shift;
  const uint64_t dropped = mantissa & maskTrailingOnes<uint64_t>(shift), half = uint64_t(1) << (shift - 1);
  if (dropped > half || (dropped == half && (kept & 1))) ++kept;
  // A carry out of the mantissa is the next exponent, and out of the subnormals the first normal.
  if (exponent >= least) kept += uint64_t(exponent - least) << mantissaBits;
  return uint16_t(sign | std::min<uint64_t>(kept, infinity));
}

uint16_t roundToF16(double value) { return roundTo(value, 5, 10); }
uint16_t roundToBf16(double value) { return roundTo(value, 8, 7); }

double widenF16(uint16_t bits) {
  const int field = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  double value = field == 0    ? std::ldexp(mantissa, -24)
                 : field != 31 ? std::ldexp(mantissa + 1024, field - 25)
                 : mantissa    ? std::numeric_limits<double>::quiet_NaN()
                               : std::numeric_limits<double>::infinity();
  return bits & 0x8000 ? -value : value;
}

double widenBf16(uint16_t bits) { return double(bit_cast<float>(uint32_t(bits) << 16)); }

template <typename To, typename From, typename Convert>
static void convertEach(const NpyArray &from, NpyArray &to, Convert convert) {
  const From *source = from.dataAs<From>();
  To *target = to.dataAs<To>();
  for (int64_t i = 0, n = from.elements(); i < n; ++i) target[i] = To(convert(source[i]));
}

template <typename From, typename Widen> static void convertFrom(const NpyArray &from, NpyArray &to, Widen widen) {
  switch (to.dtype) {
  case LINTEL_F64:
    return convertEach<double, From>(from, to, widen);
  case LINTEL_F32:
    return convertEach<float, From>(from, to, widen);
  case LINTEL_F16:
    return convertEach<uint16_t, From>(from, to, [&](From x) { return roundToF16(widen(x)); });
  case LINTEL_BF16:
    return convertEach<uint16_t, From>(from, to, [&](From x) { return roundToBf16(widen(x)); });
  }
}

Expected<NpyArray> NpyArray::convertedTo(lintel_dtype to) const {
  Expected<NpyArray> result = create(to, shape);
  if (!result) return result.takeError();
  if (to == dtype) {
    std::memcpy(result->data(), data(), bytes());
    return result;
  }
  switch (dtype) {
  case LINTEL_F64:
    convertFrom<double>(*this, *result, [](double x) { return x; });
    break;
  case LINTEL_F32:
    convertFrom<float>(*this, *result, [](float x) { return double(x); });
    break;
  case LINTEL_F16:
    convertFrom<uint16_t>(*this, *result, widenF16);
    break;
  case LINTEL_BF16:
    convertFrom<uint16_t>(*this, *result, widenBf16);
    break;
  }
  return result;
}

// ---- Reading and writing
// ---------------------------------------------------------------------------------------------

Expected<NpyArray> parseNpy(StringRef bytes, StringRef name, const NpyReadOptions &options) {
  Expected<Layout> layout = parseLayout(bytes, name, options);
  if (!layout) return layout.takeError();
  Expected<NpyArray> array = allocateFor(*layout, bytes.size(), name);
  if (!array) return array.takeError();
  std::memcpy(array->data(), bytes.data() + layout->header.dataOffset, array->bytes());
  return toRowMajor(std::move(*array), layout->header.fortranOrder);
}

Expected<NpyArray> readNpy(StringRef path, const NpyReadOptions &options) {
  // The status comes first: opening a pipe would wait for its other end.
  sys::fs::file_status status;
  std::error_code code = sys::fs::status(path, status);
  if (!code && status.type() != sys::fs::file_type::regular_file)
    return failure("'{0}': expected a regular file, found {1}", path,
                   status.type() == sys::fs::file_type::directory_file ? "a directory" : "a device or pipe");
  if (code) return failure("'{0}': expected a .npy file, found: {1}", path, code.message());
  Expected<sys::fs::file_t> handle = sys::fs::openNativeFileForRead(path);
  if (!handle) return failure("'{0}': expected a readable file, found: {1}", path, toString(handle.takeError()));
  File file(*handle);
  const uint64_t size = status.getSize();

  SmallVector<char, 0> prefix(std::min<uint64_t>(size, maxPrefix));
  Expected<size_t> read = file.readAll(prefix);
  if (!read) return failure("'{0}': expected to read the file, found: {1}", path, toString(read.takeError()));
  prefix.truncate(*read);
  Expected<Layout> layout = parseLayout(StringRef(prefix.data(), prefix.size()), path, options);
  if (!layout) return layout.takeError();
  Expected<NpyArray> array = allocateFor(*layout, size, path);
  if (!array) return array.takeError();

  const size_t bytes = array->bytes();
  size_t have = std::min(prefix.size() - layout->header.dataOffset, bytes);
  std::memcpy(array->data(), prefix.data() + layout->header.dataOffset, have);
  read = file.readAll(MutableArrayRef<char>(array->dataAs<char>() + have, bytes - have));
  if (!read) return failure("'{0}': expected to read the file, found: {1}", path, toString(read.takeError()));
  if (have + *read != bytes)
    return failure("'{0}': expected {1} bytes of elements, found {2}; the file was cut while being read", path, bytes,
                   have + *read);
  Expected<NpyArray> result = toRowMajor(std::move(*array), layout->header.fortranOrder);
  if (!result) return failure("'{0}': {1}", path, toString(result.takeError()));
  return result;
}

Error writeNpy(StringRef path, const NpyArray &array) {
  return writeFile(path, [&](raw_ostream &os) {
    os << headerText(("'" + descrOf(array.dtype) + "'").str(), array.shape)
       << StringRef(static_cast<const char *>(array.data()), array.bytes());
  });
}

Error npy::writeFile(StringRef path, function_ref<void(raw_ostream &)> content) {
  SmallString<256> target(path);
  sys::fs::file_status status;
  if (path.empty()) return cannotWrite(path, "an empty name");
  if (!sys::fs::status(path, status)) {
    if (status.type() == sys::fs::file_type::directory_file) return cannotWrite(path, "a directory");
    if (status.type() != sys::fs::file_type::regular_file) {
      std::error_code code;
      raw_fd_ostream os(path, code, sys::fs::CD_OpenExisting, sys::fs::FA_Write, sys::fs::OF_None);
      if (code) return cannotWrite(path, code.message());
      content(os);
      if (Error error = finish(os)) return cannotWrite(path, toString(std::move(error)));
      return Error::success();
    }
    if (std::error_code code = sys::fs::access(path, sys::fs::AccessMode::Write))
      return cannotWrite(path, code.message());
    if (std::error_code code = sys::fs::real_path(path, target)) return cannotWrite(path, code.message());
  }

  SmallString<256> temporary;
  int descriptor = -1;
  std::error_code code;
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary = formatv("{0}.tmp{1}-{2}", target, sys::Process::getProcessId(), attempt).str();
    code = sys::fs::openFileForWrite(temporary, descriptor, sys::fs::CD_CreateNew, sys::fs::OF_None, 0666);
    if (code != std::errc::file_exists) break;
  }
  if (code) return cannotWrite(path, code.message());
  sys::RemoveFileOnSignal(temporary);
  Error error = Error::success();
  {
    raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    content(os);
    error = finish(os);
    os.close();
    if (os.has_error()) {
      error = joinErrors(std::move(error), errorCodeToError(os.error()));
      os.clear_error();
    }
  }
  if (!error) error = errorCodeToError(sys::fs::rename(temporary, target));
  if (error) sys::fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
  if (error) return cannotWrite(path, toString(std::move(error)));
  return Error::success();
}

} // namespace lintel

#include "compiler/driver/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
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

namespace lintel {
namespace {

constexpr StringLiteral magic("\x93NUMPY");
constexpr size_t maxHeader = 65535;
constexpr size_t maxRank = 32; // NumPy's own, until its version 2

size_t bytesOf(lintel_dtype dtype) { return dtype == LINTEL_F64 ? 8 : dtype == LINTEL_F32 ? 4 : 2; }

template <typename... Args> Error failure(const char *format, Args &&...args) {
  return createStringError(inconvertibleErrorCode(), formatv(format, std::forward<Args>(args)...).str());
}

// ---- The header
// ------------------------------------------------------------------------------------------------------

struct Header {
  std::string descr;
  bool fortranOrder = false;
  SmallVector<int64_t, 5> shape;
};

// The dictionary is a Python literal. NumPy writes it in one way, others in theirs: any order of keys, either quote,
// any blanks.
class HeaderParser {
public:
  HeaderParser(StringRef text, StringRef name) : rest(text), name(name) {}

  Expected<Header> parse() {
    Header header;
    bool sawDescr = false, sawOrder = false, sawShape = false;
    if (!consume('{')) return unexpected("a dictionary");
    while (!consume('}')) {
      std::optional<std::string> key = string();
      if (!key || !consume(':')) return unexpected("a key of the header's dictionary");
      bool *saw = StringSwitch<bool *>(*key)
                      .Case("descr", &sawDescr)
                      .Case("fortran_order", &sawOrder)
                      .Case("shape", &sawShape)
                      .Default(nullptr);
      if (!saw || *saw)
        return failure(
            "'{0}': expected the keys descr, fortran_order and shape once each in the header, found '{1}'{2}", name,
            *key, saw ? " twice" : "");
      *saw = true;
      if (saw == &sawDescr) {
        if (peek() == '[')
          return failure("'{0}': expected an array of numbers, found a structured array; save one of its fields, as in "
                         "x['name']",
                         name);
        std::optional<std::string> descr = string();
        if (!descr) return unexpected("the element type as a string");
        header.descr = *descr;
      } else if (saw == &sawOrder) {
        if (word("True")) header.fortranOrder = true;
        else if (!word("False")) return unexpected("True or False for fortran_order");
      } else if (Error error = shape(header.shape)) {
        return std::move(error);
      }
      if (!consume(',') && peek() != '}') return unexpected("',' or '}' in the header's dictionary");
    }
    blanks();
    if (!rest.empty()) return unexpected("nothing after the header's dictionary");
    if (!sawDescr || !sawOrder || !sawShape)
      return failure("'{0}': expected the keys descr, fortran_order and shape in the header, found no {1}", name,
                     !sawDescr   ? "descr"
                     : !sawOrder ? "fortran_order"
                                 : "shape");
    return header;
  }

private:
  void blanks() { rest = rest.ltrim(" \t\r\n"); }
  char peek() {
    blanks();
    return rest.empty() ? 0 : rest.front();
  }
  bool consume(char c) {
    if (peek() != c || rest.empty()) return false;
    rest = rest.drop_front();
    return true;
  }
  bool word(StringRef text) {
    blanks();
    return rest.consume_front(text) && (rest.empty() || !isAlnum(rest.front()));
  }
  std::optional<std::string> string() {
    char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    size_t end = rest.find(quote, 1);
    if (end == StringRef::npos) return std::nullopt;
    std::string text = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1);
    return text;
  }
  Error shape(SmallVectorImpl<int64_t> &sizes) {
    if (!consume('(')) return unexpected("a tuple for shape");
    while (!consume(')')) {
      blanks();
      bool negative = rest.consume_front("-");
      StringRef digits = rest.take_while(isDigit);
      rest = rest.drop_front(digits.size());
      int64_t size;
      if (digits.empty()) return unexpected("a whole number in shape");
      if (negative)
        return failure("'{0}': expected sizes of 0 or more in shape, found -{1}", name,
                       printable(digits.take_front(24)));
      if (digits.getAsInteger(10, size))
        return failure("'{0}': expected sizes below 2^63 in shape, found {1}", name, printable(digits.take_front(24)));
      rest.consume_front("L"); // Python 2
      if (sizes.size() == maxRank) return failure("'{0}': expected at most {1} axes, found more", name, maxRank);
      sizes.push_back(size);
      // "(3)" is no tuple in Python, but it can only mean one thing.
      if (!consume(',') && peek() != ')') return unexpected("',' or ')' in shape");
    }
    return Error::success();
  }
  static std::string printable(StringRef text) {
    std::string result;
    for (char c : text) result += isPrint(c) ? std::string(1, c) : formatv("\\x{0:X-2}", uint8_t(c)).str();
    return result;
  }
  Error unexpected(StringRef expected) {
    blanks();
    std::string found = rest.empty() ? "its end" : "'" + printable(rest.take_front(20)) + "'";
    return failure("'{0}': damaged header: expected {1}, found {2}", name, expected, found);
  }

  StringRef rest, name;
};

// The element type, or why it cannot be taken.
Expected<lintel_dtype> dtypeOf(StringRef descr, StringRef name, const NpyReadOptions &options) {
  if (descr == "bfloat16") return LINTEL_BF16;
  StringRef kind = descr;
  char order = kind.empty() ? 0 : kind.front();
  if (order == '<' || order == '>' || order == '=' || order == '|') kind = kind.drop_front();
  else order = '=';
  bool isFloat = kind == "f8" || kind == "f4" || kind == "f2";
  bool isBits = kind == "u2" || kind == "V2";
  if (order == '>' && (isFloat || isBits))
    return failure("'{0}': expected little-endian elements, found big-endian '{1}'; convert with x.astype('<{2}')",
                   name, descr, kind);
  if (kind == "f8") return LINTEL_F64;
  if (kind == "f4") return LINTEL_F32;
  if (kind == "f2") return LINTEL_F16;
  if (kind == "V2") return LINTEL_BF16;
  if (kind == "u2" && options.uint16IsBf16) return LINTEL_BF16;
  const char *advice = "; convert with x.astype('float32')";
  if (kind == "u2") advice = "; convert with x.astype('float32'), or ask for bf16 if these are its bits";
  if (kind.starts_with("c")) advice = "; save x.real and x.imag";
  if (kind.starts_with("O"))
    return failure("'{0}': expected an array of numbers, found pickled objects; convert with x.astype('float32')",
                   name);
  std::string found;
  for (char c : descr.take_front(24)) found += isPrint(c) ? c : '?';
  return failure("'{0}': expected elements of type f8, f4, f2 or bfloat16, found '{1}'{2}", name, found, advice);
}

struct Layout {
  Header header;
  lintel_dtype dtype = LINTEL_F32;
  size_t dataOffset = 0;
};

// `prefix` is the file's first bytes, all of them or at least maxHeader + 12.
Expected<Layout> parseLayout(StringRef prefix, StringRef name, const NpyReadOptions &options) {
  if (prefix.empty()) return failure("'{0}': expected a .npy file, found an empty file", name);
  if (!prefix.starts_with(magic)) {
    StringRef what = StringSwitch<StringRef>(prefix.take_front(4))
                         .StartsWith("PK", "a zip archive; a .npz file holds several arrays, save each with np.save")
                         .StartsWith("\x80", "a Python pickle; save the array with np.save")
                         .Default("other content; save the array with np.save");
    if (magic.starts_with(prefix)) what = "a truncated one";
    return failure("'{0}': expected a .npy file, found {1}", name, what);
  }
  if (prefix.size() < 10) return failure("'{0}': expected a .npy header, found the end of the file", name);
  const unsigned major = uint8_t(prefix[6]), minor = uint8_t(prefix[7]);
  if (major < 1 || major > 3 || minor != 0)
    return failure("'{0}': expected .npy version 1.0, 2.0 or 3.0, found {1}.{2}", name, major, minor);
  size_t start = major == 1 ? 10 : 12;
  if (prefix.size() < start) return failure("'{0}': expected a .npy header, found the end of the file", name);
  size_t length =
      major == 1 ? support::endian::read16le(prefix.data() + 8) : support::endian::read32le(prefix.data() + 8);
  if (length > maxHeader)
    return failure("'{0}': expected a header of at most {1} bytes, found {2}", name, maxHeader, length);
  if (prefix.size() < start + length)
    return failure("'{0}': expected a header of {1} bytes, found the end of the file after {2}", name, length,
                   prefix.size() - start);
  Expected<Header> header = HeaderParser(prefix.substr(start, length), name).parse();
  if (!header) return header.takeError();
  Expected<lintel_dtype> dtype = dtypeOf(header->descr, name, options);
  if (!dtype) return dtype.takeError();
  return Layout{std::move(*header), *dtype, start + length};
}

// Bytes of an array, or nothing when they do not fit in 63 bits.
std::optional<int64_t> checkedBytes(lintel_dtype dtype, ArrayRef<int64_t> shape) {
  int64_t total = int64_t(bytesOf(dtype));
  if (is_contained(shape, 0)) return 0;
  for (int64_t size : shape)
    if (size < 0 || MulOverflow(total, size, total)) return std::nullopt;
  return total;
}

std::string printShape(ArrayRef<int64_t> shape) {
  std::string text = "(";
  ListSeparator comma;
  for (int64_t size : shape) text += (StringRef(comma) + Twine(size)).str();
  return text + ")";
}

// Checks that the file holds just the elements, and makes room for them.
Expected<NpyArray> allocateFor(const Layout &layout, uint64_t fileSize, StringRef name) {
  ArrayRef<int64_t> shape = layout.header.shape;
  std::optional<int64_t> bytes = checkedBytes(layout.dtype, shape);
  if (!bytes) return failure("'{0}': expected a shape whose bytes fit in 63 bits, found {1}", name, printShape(shape));
  uint64_t found = fileSize - layout.dataOffset;
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

Error writeTo(raw_fd_ostream &os, const NpyArray &array) {
  const char *descr = array.dtype == LINTEL_F64   ? "<f8"
                      : array.dtype == LINTEL_F32 ? "<f4"
                      : array.dtype == LINTEL_F16 ? "<f2"
                                                  : "<u2";
  std::string shape = printShape(array.shape);
  if (array.shape.size() == 1) shape.insert(shape.size() - 1, ",");
  std::string header = formatv("{{'descr': '{0}', 'fortran_order': False, 'shape': {1}, }", descr, shape).str();
  // The elements begin at a multiple of 64, as NumPy has it.
  size_t length = alignTo(10 + header.size() + 1, 64) - 10;
  header.resize(length - 1, ' ');
  header += '\n';
  char prefix[4] = {1, 0};
  support::endian::write16le(prefix + 2, uint16_t(length));
  os << magic << StringRef(prefix, 4) << header << StringRef(static_cast<const char *>(array.data()), array.bytes());
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
  std::optional<int64_t> bytes = checkedBytes(dtype, shape);
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
  std::memcpy(array->data(), bytes.data() + layout->dataOffset, array->bytes());
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

  SmallVector<char, 0> prefix(std::min<uint64_t>(size, maxHeader + 12));
  Expected<size_t> read = file.readAll(prefix);
  if (!read) return failure("'{0}': expected to read the file, found: {1}", path, toString(read.takeError()));
  prefix.truncate(*read);
  Expected<Layout> layout = parseLayout(StringRef(prefix.data(), prefix.size()), path, options);
  if (!layout) return layout.takeError();
  Expected<NpyArray> array = allocateFor(*layout, size, path);
  if (!array) return array.takeError();

  const size_t bytes = array->bytes();
  size_t have = std::min(prefix.size() - layout->dataOffset, bytes);
  std::memcpy(array->data(), prefix.data() + layout->dataOffset, have);
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
  SmallString<256> target(path);
  sys::fs::file_status status;
  if (path.empty()) return cannotWrite(path, "an empty name");
  if (!sys::fs::status(path, status)) {
    if (status.type() == sys::fs::file_type::directory_file) return cannotWrite(path, "a directory");
    if (status.type() != sys::fs::file_type::regular_file) {
      std::error_code code;
      raw_fd_ostream os(path, code, sys::fs::CD_OpenExisting, sys::fs::FA_Write, sys::fs::OF_None);
      if (code) return cannotWrite(path, code.message());
      if (Error error = writeTo(os, array)) return cannotWrite(path, toString(std::move(error)));
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
    error = writeTo(os, array);
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

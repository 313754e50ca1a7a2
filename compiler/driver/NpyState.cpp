// States beside their exponents: NumPy's structured arrays of the one form that NpyState describes.
#include "compiler/driver/NpyHeader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace lintel;
using namespace lintel::npy;

namespace {

/// The other field's name; two of one name are no array of NumPy's.
StringRef exponentField(StringRef state) { return state == "exponent" ? "exponent1" : "exponent"; }

enum class Whole { I4, I8, F4, F8 };

std::optional<Whole> wholeType(StringRef descr) {
  if (!descr.consume_front("<")) descr.consume_front("=");
  if (descr == "i4") return Whole::I4;
  if (descr == "i8") return Whole::I8;
  if (descr == "f4") return Whole::F4;
  if (descr == "f8") return Whole::F8;
  return std::nullopt;
}

size_t bytesOf(Whole type) { return type == Whole::I4 || type == Whole::F4 ? 4 : 8; }

template <typename T> double loaded(const char *from) {
  T x;
  std::memcpy(&x, from, sizeof x);
  return static_cast<double>(x);
}

double load(Whole type, const char *from) {
  switch (type) {
  case Whole::I4:
    return loaded<int32_t>(from);
  case Whole::I8:
    return loaded<int64_t>(from);
  case Whole::F4:
    return loaded<float>(from);
  case Whole::F8:
    return loaded<double>(from);
  }
  return 0;
}

std::string printable(StringRef text) {
  std::string result;
  for (char c : text.take_front(48)) result += isPrint(c) ? c : '?';
  return result;
}

/// The structured array behind `header`.
Expected<NpyState> parseRecords(const Header &header, StringRef bytes, StringRef name, StringRef state,
                                const NpyReadOptions &options) {
  const char *advice = "; lintel run --final writes such files";
  const Field *values = nullptr, *exponent = nullptr;
  const StringRef exponentName = exponentField(state);
  for (const Field &field : header.fields) (field.name == exponentName ? exponent : values) = &field;
  // One exponent, or one for each row.
  auto fits = [&](ArrayRef<int64_t> shape) {
    return shape.empty() || (!values->shape.empty() && shape == ArrayRef<int64_t>(values->shape).take_front());
  };
  if (header.fields.size() != 2 || !values || !exponent || values->name != state || !fits(exponent->shape)) {
    std::string found;
    ListSeparator comma;
    for (const Field &field : header.fields)
      found += StringRef(comma).str() + "'" + printable(field.name) + "'" +
               (field.name == exponentName && !field.shape.empty() ? " of shape " + printShape(field.shape) : "");
    return failure("'{0}': expected a structured array with the fields '{1}' and '{2}', one number or one for each row "
                   "of '{1}', for state '{1}', found {3}{4}",
                   name, state, exponentName, found, advice);
  }
  Expected<lintel_dtype> dtype = dtypeOf(values->descr, name, options);
  if (!dtype) return dtype.takeError();
  std::optional<Whole> whole = wholeType(exponent->descr);
  if (!whole)
    return failure("'{0}': expected the field '{1}' of type '<i4', '<i8', '<f4' or '<f8', found '{2}'{3}", name,
                   exponentName, printable(exponent->descr), advice);
  if (header.shape.size() != 2)
    return failure("'{0}': expected a structured array of 2 axes [B, H], found {1}; the axes of one state belong to "
                   "its field '{2}'",
                   name, printShape(header.shape), state);
  SmallVector<int64_t, 5> shape = header.shape;
  shape.append(values->shape.begin(), values->shape.end());
  std::optional<int64_t> each = checkedBytes(npy::bytesOf(*dtype), values->shape);
  const int64_t count = exponent->shape.empty() ? 1 : exponent->shape[0];
  std::optional<int64_t> record = each, beside = checkedBytes(bytesOf(*whole), exponent->shape);
  if (each) record = beside ? checkedBytes(1, {*each <= INT64_MAX - *beside ? *each + *beside : -1}) : std::nullopt;
  std::optional<int64_t> all = record ? checkedBytes(size_t(*record), header.shape) : std::nullopt;
  if (!all) return failure("'{0}': expected a shape whose bytes fit in 63 bits, found {1}", name, printShape(shape));
  uint64_t found = bytes.size() - header.dataOffset;
  if (found != uint64_t(*all))
    return failure("'{0}': expected {1} bytes of elements for shape {2}, found {3}; the file is {4}", name, *all,
                   printShape(header.shape), found, found < uint64_t(*all) ? "truncated" : "longer than its array");
  auto numbers = NpyArray::create(*dtype, shape);
  if (!numbers) return failure("'{0}': {1}", name, toString(numbers.takeError()));
  SmallVector<int64_t, 5> exponentShape = header.shape;
  exponentShape.append(exponent->shape.begin(), exponent->shape.end());
  auto exponents = NpyArray::create(LINTEL_F64, exponentShape);
  if (!exponents) return failure("'{0}': {1}", name, toString(exponents.takeError()));
  bool valuesFirst = values < exponent;
  int64_t B = header.shape[0], H = header.shape[1];
  if (*all == 0) B = 0; // also where the other size is beyond counting
  for (int64_t b = 0; b < B; ++b)
    for (int64_t h = 0; h < H; ++h) {
      const char *from = bytes.data() + header.dataOffset + (header.fortranOrder ? h * B + b : b * H + h) * *record;
      std::memcpy(numbers->dataAs<char>() + (b * H + h) * *each, from + (valuesFirst ? 0 : *beside), size_t(*each));
      for (int64_t c = 0; c < count; ++c) {
        double p = load(*whole, from + (valuesFirst ? *each : 0) + c * int64_t(bytesOf(*whole)));
        if (!(std::fabs(p) <= -1.001 * LINTEL_EXPONENT_NONE) || p != std::trunc(p))
          return failure("'{0}': expected whole numbers of at most 1e30 in the field '{1}', found {2} at [{3}, {4}]; "
                         "the state is '{5}' * 2^{1}",
                         name, exponentName, printable(std::to_string(p)), b, h, state);
        exponents->dataAs<double>()[(b * H + h) * count + c] = p;
      }
    }
  return NpyState{std::move(*numbers), std::move(*exponents)};
}

/// Whether a readable file holds a structured array; what is wrong with others is said by who reads them.
bool isStructured(StringRef path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status) || status.type() != sys::fs::file_type::regular_file) return false;
  auto prefix = MemoryBuffer::getFileSlice(path, std::min<uint64_t>(status.getSize(), maxPrefix), 0);
  if (!prefix) return false;
  Expected<Header> header = parseHeader((*prefix)->getBuffer(), path);
  if (header) return !header->fields.empty();
  consumeError(header.takeError());
  return false;
}

} // namespace

Expected<NpyState> lintel::parseNpyState(StringRef bytes, StringRef name, StringRef state,
                                         const NpyReadOptions &options) {
  Expected<Header> header = parseHeader(bytes, name);
  if (!header) return header.takeError();
  if (!header->fields.empty()) return parseRecords(*header, bytes, name, state, options);
  auto plain = parseNpy(bytes, name, options);
  if (!plain) return plain.takeError();
  return NpyState{std::move(*plain), std::nullopt};
}

Expected<NpyState> lintel::readNpyState(StringRef path, StringRef state, const NpyReadOptions &options) {
  if (!isStructured(path)) {
    auto plain = readNpy(path, options);
    if (!plain) return plain.takeError();
    return NpyState{std::move(*plain), std::nullopt};
  }
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) return failure("'{0}': expected a readable file, found: {1}", path, file.getError().message());
  return parseNpyState((*file)->getBuffer(), path, state, options);
}

Error lintel::writeNpyState(StringRef path, StringRef name, const NpyState &state) {
  if (!state.exponents) return writeNpy(path, state.values);
  const NpyArray &values = state.values;
  const StringRef exponentName = exponentField(name);
  ArrayRef<int64_t> shape = state.exponents->shape, heads = shape.take_front(2), rows = shape.drop_front(2);
  const double *exponents = state.exponents->dataAs<double>();
  const int64_t all = state.exponents->elements(), count = rows.empty() ? 1 : rows[0];
  // In the type of the numbers, unless one has more digits than that.
  bool narrow = values.dtype != LINTEL_F64 && all_of(ArrayRef(exponents, size_t(all)), [](double p) {
                  return p <= 0.999 * LINTEL_EXPONENT_NONE || double(float(p)) == p;
                });
  auto sizes = [](ArrayRef<int64_t> inner) {
    std::string text = printShape(inner);
    if (inner.size() == 1) text.insert(text.size() - 1, ",");
    return inner.empty() ? "" : ", " + text;
  };
  std::string descr =
      formatv("[('{0}', '{1}'{2}), ('{3}', '{4}'{5})]", name, descrOf(values.dtype),
              sizes(ArrayRef<int64_t>(values.shape).drop_front(2)), exponentName, narrow ? "<f4" : "<f8", sizes(rows));
  const size_t each = all ? values.bytes() / size_t(all / count) : 0;
  return writeFile(path, [&](raw_ostream &os) {
    os << headerText(descr, heads);
    for (int64_t i = 0; i < all; ++i) {
      if (i % count == 0) os << StringRef(values.dataAs<char>() + size_t(i / count) * each, each);
      float f = float(exponents[i]);
      os << (narrow ? StringRef(reinterpret_cast<const char *>(&f), sizeof f)
                    : StringRef(reinterpret_cast<const char *>(exponents + i), sizeof(double)));
    }
  });
}

#include "compiler/driver/NpyHeader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace lintel::npy {
namespace {

constexpr size_t maxRank = 32; // NumPy's own, until its version 2
constexpr size_t maxFields = 256;

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
        if (peek() == '[') {
          if (Error error = fields(header.fields)) return std::move(error);
        } else if (std::optional<std::string> descr = string()) {
          header.descr = *descr;
        } else return unexpected("the element type as a string");
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
  // [('S', '<f4', (2, 3)), ('exponent', '<f4')]
  Error fields(std::vector<Field> &list) {
    consume('[');
    while (!consume(']')) {
      Field field;
      if (!consume('(')) return unexpected("a field of the structured array");
      std::optional<std::string> text = string();
      if (!text || !consume(',')) return unexpected("a field's name");
      field.name = *text;
      text = string();
      if (!text) return unexpected("a field's element type as a string");
      field.descr = *text;
      if (consume(',') && peek() != ')')
        if (Error error = shape(field.shape)) return error;
      consume(',');
      if (!consume(')')) return unexpected("the end of a field");
      if (list.size() == maxFields) return failure("'{0}': expected at most {1} fields, found more", name, maxFields);
      list.push_back(std::move(field));
      if (!consume(',') && peek() != ']') return unexpected("',' or ']' in the list of fields");
    }
    if (list.empty()) return failure("'{0}': expected a structured array with fields, found none", name);
    return Error::success();
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

} // namespace

Expected<Header> parseHeader(StringRef prefix, StringRef name) {
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
  header->dataOffset = start + length;
  return header;
}

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

StringRef descrOf(lintel_dtype dtype) {
  return dtype == LINTEL_F64 ? "<f8" : dtype == LINTEL_F32 ? "<f4" : dtype == LINTEL_F16 ? "<f2" : "<u2";
}

size_t bytesOf(lintel_dtype dtype) { return dtype == LINTEL_F64 ? 8 : dtype == LINTEL_F32 ? 4 : 2; }

std::optional<int64_t> checkedBytes(size_t element, ArrayRef<int64_t> shape) {
  int64_t total = int64_t(element);
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

std::string headerText(StringRef descr, ArrayRef<int64_t> shape) {
  std::string sizes = printShape(shape);
  if (shape.size() == 1) sizes.insert(sizes.size() - 1, ",");
  std::string header = formatv("{{'descr': {0}, 'fortran_order': False, 'shape': {1}, }", descr, sizes).str();
  // The elements begin at a multiple of 64, as NumPy has it.
  size_t length = alignTo(10 + header.size() + 1, 64) - 10;
  header.resize(length - 1, ' ');
  header += '\n';
  char prefix[4] = {1, 0};
  support::endian::write16le(prefix + 2, uint16_t(length));
  return magic.str() + std::string(prefix, 4) + header;
}

} // namespace lintel::npy

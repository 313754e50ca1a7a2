#include "codegen/emit/KernelDescription.h"

using namespace lintel;

const char *lintel::dtypeName(lintel_dtype dtype) {
  switch (dtype) {
  case LINTEL_F64:
    return "f64";
  case LINTEL_F32:
    return "f32";
  case LINTEL_F16:
    return "f16";
  case LINTEL_BF16:
    return "bf16";
  }
  return "unknown";
}

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// A name as part of an identifier: any byte that cannot stand there becomes xHH.
static std::string encode(const std::string &text) {
  static const char hex[] = "0123456789abcdef";
  std::string result;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (isDigit(c) || isLetter(c) || c == '_') result += c;
    else ((result += 'x') += hex[byte >> 4]) += hex[byte & 15];
  }
  return result;
}

/// True if some part of a name could be taken for a dimension's, as in "op_dk64" beside "op" with dk = 64.
static bool isAmbiguous(const std::string &name, bool isDimension) {
  if (name.empty() || encode(name) != name || (isDimension && name.find('_') != std::string::npos)) return true;
  for (size_t i = 0; i < name.size(); ++i)
    if (isDigit(name[i]) && (i + 1 == name.size() || name[i + 1] == '_')) return true;
  return false;
}

std::string lintel::kernelSymbol(const std::string &name,
                                 const std::vector<std::pair<std::string, int64_t>> &dimensions, lintel_dtype dtype,
                                 const std::vector<std::pair<std::string, lintel_dtype>> &others) {
  std::string result = "lintel_" + encode(name);
  bool ambiguous = isAmbiguous(name, false);
  for (const auto &[dimension, size] : dimensions) {
    result += "_" + encode(dimension) + std::to_string(size);
    ambiguous |= isAmbiguous(dimension, true);
  }
  result += std::string("_") + dtypeName(dtype);
  for (const auto &[array, type] : others) {
    result += "_" + encode(array) + "_" + dtypeName(type);
    ambiguous |= isAmbiguous(array, true);
  }
  if (!ambiguous) return result;
  // Rare: tell such names apart by a hash (FNV-1a) over the parts with their lengths.
  uint64_t hash = 0xcbf29ce484222325;
  auto feed = [&](const std::string &text) {
    for (char c : std::to_string(text.size()) + ":" + text)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  feed(name);
  for (const auto &[dimension, size] : dimensions) feed(dimension), feed(std::to_string(size));
  for (const auto &[array, type] : others) feed(array), feed(dtypeName(type));
  result += "_h";
  for (int shift = 60; shift >= 0; shift -= 4) result += "0123456789abcdef"[(hash >> shift) & 15];
  return result;
}

std::string lintel::variantSymbol(const std::string &kernelSymbol, const std::string &form, int64_t chunk,
                                  const std::string &target) {
  std::string result = kernelSymbol + "_" + form + std::to_string(chunk) + "_" + target;
  for (char &c : result)
    if (!isDigit(c) && !isLetter(c)) c = '_';
  return result;
}

#include "codegen/emit/Artifacts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lintel;

/// Text that is safe inside a comment.
static std::string comment(StringRef text) {
  std::string result;
  for (char c : text) {
    bool closes = c == '/' && !result.empty() && result.back() == '*',
         opens = c == '*' && !result.empty() && result.back() == '/';
    result += closes || opens ? '_' : isPrint(c) ? c : ' ';
  }
  return result;
}

static std::string identifier(StringRef text) {
  std::string result;
  for (char c : text) result += isAlnum(c) ? c : '_';
  return result;
}

/// "[B, T, H, dk = 64]"
static std::string shape(const ParameterDescription &p) {
  std::vector<std::string> axes;
  switch (p.kind) {
  case LINTEL_TOKEN:
    axes = {"B", "T", "G"};
    break;
  case LINTEL_HEAD:
    axes = {"H"};
    break;
  case LINTEL_SHARED:
    break;
  case LINTEL_STATE:
  case LINTEL_EXPONENT:
    axes = {"B", "H"};
    break;
  case LINTEL_OUT:
    axes = {"B", "T", "H"};
    break;
  }
  for (size_t i = 0; i < p.dims.size(); ++i) {
    std::string size = std::to_string(p.dims[i]);
    axes.push_back(i < p.dimNames.size() && !p.dimNames[i].empty() ? comment(p.dimNames[i]) + " = " + size : size);
  }
  return "[" + join(axes, ", ") + "]";
}

static const char *kindName(lintel_kind kind) {
  switch (kind) {
  case LINTEL_TOKEN:
    return "token input";
  case LINTEL_HEAD:
    return "head input";
  case LINTEL_SHARED:
    return "shared input";
  case LINTEL_STATE:
    return "state";
  case LINTEL_OUT:
    return "output";
  case LINTEL_EXPONENT:
    return "exponent";
  }
  return "array";
}

std::string lintel::headerText(const KernelDescription &k) {
  std::string text;
  raw_string_ostream os(text);
  std::string guard = StringRef(k.symbol).upper() + "_H";
  os << "/* " << comment(k.name) << ", " << dtypeName(k.dtype);
  std::vector<ParameterDescription> typed = k.inputs;
  typed.push_back(k.out);
  for (const ParameterDescription &p : typed)
    if (p.dtype != k.dtype) os << ' ' << comment(p.name) << '=' << dtypeName(p.dtype);
  for (const auto &[name, size] : k.dimensions) os << ", " << comment(name) << " = " << size;
  if (k.products == LINTEL_BF16) os << ", products of bf16";
  os << ". Written by lintel; do not edit.\n *\n"
     << " * B sequences, T steps, H heads, G head groups (G divides H; G = H without grouping).\n"
     << " * Strides count elements and are free, but for the innermost axis, which is contiguous.\n *\n";
  auto line = [&](const ParameterDescription &p, const char *note) {
    os << " *   " << left_justify(comment(p.name), 8) << ' ' << left_justify(kindName(p.kind), 12) << ' '
       << left_justify(dtypeName(p.dtype), 4) << ' ' << shape(p) << note << "\n";
  };
  for (const ParameterDescription &p : k.inputs) line(p, "");
  for (const ParameterDescription &p : k.states) line(p, ", zeros if not given");
  for (auto [i, p] : llvm::enumerate(k.exponents)) {
    std::vector<std::string> of;
    for (const ParameterDescription &state : k.states)
      if (state.exponent == static_cast<int>(i)) of.push_back(comment(state.name));
    line(p, (", of " + join(of, ", ") + "; optional").c_str());
  }
  line(k.out, "");
  for (const ParameterDescription &p : k.others) line(p, "");
  os << " *\n * Variants, best first:\n";
  for (const VariantDescription &v : k.variants) {
    os << " *   " << comment(v.form) << ", chunk " << v.chunk << ", " << comment(v.target);
    if (!v.cpu.empty()) os << " (" << comment(v.cpu) << ")";
    os << ", " << v.scratchBytes << " bytes of scratch a thread\n";
  }
  os << " *\n * Spec hash " << comment(k.specHash) << ". */\n";
  os << "#ifndef " << guard << "\n#define " << guard << "\n\n#include <lintel/kernel.h>\n\n";
  for (const auto &[name, size] : k.dimensions)
    os << "#define " << k.symbol << "_dim_" << identifier(name) << " INT64_C(" << size << ")\n";
  if (!k.dimensions.empty()) os << "\n";
  if (!k.inputs.empty() || !k.states.empty()) {
    os << "/* Positions in lintel_item.input, in .state_in and .state_out"
       << (k.exponents.empty() ? "" : ", in .exponent_in and .exponent_out")
       << (k.others.empty() ? "" : ", and in .out") << ". */\nenum {\n";
    std::vector<std::string> entries;
    for (size_t i = 0; i < k.inputs.size(); ++i)
      entries.push_back("  " + k.symbol + "_input_" + identifier(k.inputs[i].name) + " = " + std::to_string(i));
    for (size_t i = 0; i < k.states.size(); ++i)
      entries.push_back("  " + k.symbol + "_state_" + identifier(k.states[i].name) + " = " + std::to_string(i));
    for (size_t i = 0; i < k.exponents.size(); ++i)
      entries.push_back("  " + k.symbol + "_exponent_" + identifier(k.exponents[i].name) + " = " + std::to_string(i));
    for (size_t i = 0; i < k.others.size(); ++i)
      entries.push_back("  " + k.symbol + "_output_" + identifier(k.others[i].name) + " = " + std::to_string(i + 1));
    os << join(entries, ",\n") << "\n};\n\n";
  }
  os << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nextern const lintel_kernel " << k.symbol
     << ";\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

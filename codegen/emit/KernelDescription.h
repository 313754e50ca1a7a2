// One operator at one set of dimensions and types, as plain data: from it come the descriptor in the object, the C
// header and the manifest, which therefore cannot disagree.
#ifndef LINTEL_CODEGEN_EMIT_KERNELDESCRIPTION_H
#define LINTEL_CODEGEN_EMIT_KERNELDESCRIPTION_H

#include "runtime/include/lintel/kernel.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lintel {

/// A lintel_parameter.
struct ParameterDescription {
  std::string name;
  lintel_kind kind = LINTEL_TOKEN;
  lintel_dtype dtype = LINTEL_F32;
  std::vector<int64_t> dims;         // inner axes only; at most 2
  std::vector<std::string> dimNames; // as in the spec ("dk"), "" for a literal; empty or as long as dims
  int exponent = -1;                 // of a state: the index of the exponent it is held with
  int columns = -1;                  // the axis that parts divide; -1: none
};

/// A variant's parts.
struct PartsDescription {
  int64_t parts = 0; // 0: none
  uint64_t scratchBytes = 0;
  std::string symbol;
  int64_t cost = 0; // of a part, in thousandths of the whole's
};

/// A lintel_variant.
struct VariantDescription {
  std::string form;
  std::string target, cpu;
  uint64_t features = 0;
  int64_t chunk = 1;
  uint64_t scratchBytes = 0;
  std::string symbol;   // the entry, `void symbol(const lintel_item *)`
  std::string schedule; // text, for the manifest only; and where it is from, empty for the heuristic's or a file's
  std::string origin;
  PartsDescription parts;
};

/// A lintel_kernel.
struct KernelDescription {
  std::string symbol;                 // of the lintel_kernel constant; see kernelSymbol()
  std::string name;                   // the operator's name in the spec
  std::string specHash;               // hexadecimal
  lintel_dtype dtype = LINTEL_F32;    // the common one; each parameter has its own
  lintel_dtype products = LINTEL_F32; // LINTEL_BF16: factors of sums of products may be rounded to it
  bool causal = true;
  bool attends = false;                                    // reads other steps' inputs again
  std::vector<std::pair<std::string, int64_t>> dimensions; // dk = 64, in the order of the spec
  std::string columns;                                     // the dimension that parts divide; empty: there are none
  std::string notInParts;                                  // why; empty: there are some, or they were not asked for
  std::vector<ParameterDescription> inputs, states, exponents;
  ParameterDescription out;
  std::vector<ParameterDescription> others; // outputs after `out`
  std::vector<VariantDescription> variants; // best first
};

/// "f64", "f32", "f16", "bf16".
const char *dtypeName(lintel_dtype dtype);

/// A C identifier that is unique for operator, dimensions and types: "lintel_retnet_dk64_dv64_f32", and with arrays of
/// other types than the common one "lintel_gla_dk64_dv64_bf16_g_f32"; where that would not be unique (an operator
/// "op_dk64" beside an "op" with dk = 64) a hash is appended.
std::string kernelSymbol(const std::string &name, const std::vector<std::pair<std::string, int64_t>> &dimensions,
                         lintel_dtype dtype, const std::vector<std::pair<std::string, lintel_dtype>> &others = {});

/// The symbol of one variant's entry: the kernel's symbol, the form, chunk and target.
std::string variantSymbol(const std::string &kernelSymbol, const std::string &form, int64_t chunk,
                          const std::string &target);

} // namespace lintel

#endif

#include "codegen/emit/Artifacts.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lintel;

static std::string utf8(StringRef text) { return json::isUTF8(text) ? text.str() : json::fixUTF8(text); }

static json::Object parameter(const ParameterDescription &p) {
  static const char *const kinds[] = {"token", "head", "shared", "state", "out", "exponent"};
  json::Array dims, names;
  for (int64_t dim : p.dims) dims.push_back(dim);
  for (const std::string &name : p.dimNames) names.push_back(utf8(name));
  json::Object result{{"name", utf8(p.name)},
                      {"kind", kinds[p.kind]},
                      {"dtype", dtypeName(p.dtype)},
                      {"dims", std::move(dims)},
                      {"dim_names", std::move(names)}};
  if (p.exponent >= 0) result["exponent"] = p.exponent;
  if (p.columns >= 0) result["divided_axis"] = p.columns;
  return result;
}

static json::Array parameters(ArrayRef<ParameterDescription> list) {
  json::Array result;
  for (const ParameterDescription &p : list) result.push_back(parameter(p));
  return result;
}

static json::Array featureNames(uint64_t features) {
  json::Array result;
  for (auto [bit, name] : {std::pair<uint64_t, const char *>{LINTEL_CPU_X86_64, "x86-64"},
                           {LINTEL_CPU_X86_64_V2, "x86-64-v2"},
                           {LINTEL_CPU_X86_64_V3, "x86-64-v3"},
                           {LINTEL_CPU_X86_64_V4, "x86-64-v4"},
                           {LINTEL_CPU_AVX512_BF16, "avx512-bf16"},
                           {LINTEL_CPU_AARCH64, "aarch64"},
                           {LINTEL_CPU_NATIVE, "native"}})
    if (features & bit) result.push_back(name);
  return result;
}

static json::Value parts(const PartsDescription &p) {
  if (!p.parts) return nullptr;
  return json::Object{{"number", p.parts},
                      {"cost", static_cast<double>(p.cost) / 1000},
                      {"scratch_bytes", static_cast<int64_t>(p.scratchBytes)},
                      {"symbol", utf8(p.symbol)}};
}

std::string lintel::manifestText(const ArtifactRequest &request) {
  const KernelDescription &k = request.kernel;
  json::Object dimensions;
  for (const auto &[name, size] : k.dimensions) dimensions[utf8(name)] = size;
  json::Array variants;
  for (const VariantDescription &v : k.variants)
    variants.push_back(json::Object{{"form", utf8(v.form)},
                                    {"chunk", v.chunk},
                                    {"target", utf8(v.target)},
                                    {"cpu", utf8(v.cpu)},
                                    {"features", featureNames(v.features)},
                                    {"scratch_bytes", static_cast<int64_t>(v.scratchBytes)},
                                    {"symbol", utf8(v.symbol)},
                                    {"parts", parts(v.parts)},
                                    {"schedule", utf8(v.schedule)},
                                    {"tuned", v.origin.empty() ? json::Value(nullptr) : json::Value(utf8(v.origin))}});
  json::Array files;
  auto file = [&](bool asked, std::string name) {
    if (asked) files.push_back(utf8(name));
  };
  file(request.header, request.name + ".h");
  file(request.objectFile, request.name + ".o");
  file(request.staticLibrary, "lib" + request.name + ".a");
  file(request.sharedLibrary, "lib" + request.name + ".so");
  json::Object root{{"operator", utf8(k.name)},
                    {"symbol", utf8(k.symbol)},
                    {"spec_hash", utf8(k.specHash)},
                    {"abi_version", static_cast<int64_t>(LINTEL_ABI_VERSION)},
                    {"dtype", dtypeName(k.dtype)},
                    {"products", dtypeName(k.products)},
                    {"causal", k.causal},
                    {"attends", k.attends},
                    {"dimensions", std::move(dimensions)},
                    {"divided_dimension", k.columns.empty() ? json::Value(nullptr) : json::Value(utf8(k.columns))},
                    {"not_in_parts", k.notInParts.empty() ? json::Value(nullptr) : json::Value(utf8(k.notInParts))},
                    {"triple", utf8(request.triple)},
                    {"inputs", parameters(k.inputs)},
                    {"states", parameters(k.states)},
                    {"exponents", parameters(k.exponents)},
                    {"out", parameter(k.out)},
                    {"other_outputs", parameters(k.others)},
                    {"variants", std::move(variants)},
                    {"files", std::move(files)}};
  std::string text;
  raw_string_ostream os(text);
  os << formatv("{0:2}", json::Value(std::move(root))) << "\n";
  return text;
}

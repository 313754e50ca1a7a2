#include "compiler/driver/KernelCache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include <link.h>

using namespace llvm;
using namespace lintel;

static constexpr StringRef magic = "lintel kernel 1\n";

static std::string checksum(StringRef text) {
  auto digest = SHA256::hash(ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return toHex(digest, /*LowerCase=*/true);
}

//===-- What the process is
//------------------------------------------------------------------------------------------===//

static std::string buildIdentifier(const dl_phdr_info &object) {
  for (const auto &segment : ArrayRef(object.dlpi_phdr, object.dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    const char *at = reinterpret_cast<const char *>(object.dlpi_addr + segment.p_vaddr);
    const char *end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
      const char *name = at + sizeof(ElfW(Nhdr)), *value = name + alignTo(note->n_namesz, 4);
      if (note->n_type == NT_GNU_BUILD_ID && StringRef(name, note->n_namesz) == StringRef("GNU", 4))
        return toHex(StringRef(value, note->n_descsz));
      at = value + alignTo(note->n_descsz, 4);
    }
  }
  return "";
}

/// The build identifiers of the program and its libraries; empty if one has none.
static const std::string &processIdentity() {
  static const std::string identity = [] {
    struct Search {
      std::string text;
      bool complete = true;
    } search;
    dl_iterate_phdr(
        [](dl_phdr_info *object, size_t, void *data) {
          auto &search = *static_cast<Search *>(data);
          if (StringRef(object->dlpi_name).contains("linux-vdso")) return 0; // the kernel's: no code of ours
          std::string identifier = buildIdentifier(*object);
          search.complete &= !identifier.empty();
          search.text += identifier + "\n";
          return 0;
        },
        &search);
    return search.complete ? search.text : std::string();
  }();
  return identity;
}

std::optional<std::string> KernelCache::key(const OperatorInfo &op, const CompileOptions &options,
                                            ArrayRef<CpuTarget> targets) const {
  if (folder.empty() || processIdentity().empty()) return std::nullopt;
  std::string text;
  raw_string_ostream os(text);
  // The types as they are written: the symbol follows them.
  os << processIdentity() << specHash(op, options.dimensions, options.types) << "\n"
     << options.types.text() << "\nsteps " << options.steps << " decode " << options.decode << " parts "
     << options.parts.number << " " << options.parts.usual << "\n";
  std::vector<FormRequest> requests = options.variants;
  if (requests.empty()) requests.push_back(options.form);
  os << (options.variants.empty() ? "form" : "variants") << "\n";
  for (const FormRequest &request : requests)
    os << request.form << " " << request.chunk << " " << request.schedule.size() << " " << request.schedule << "\n"
       << request.origin << "\n";
  for (const CpuTarget &target : targets)
    os << target.name << " " << target.triple << " " << target.cpu << " " << target.features << " "
       << target.abiFeatures << " " << target.vectorBits << "\n";
  return checksum(text);
}

//===-- Entries
//------------------------------------------------------------------------------------------------------===//
// In LLVM's JSON, which finds these functions by their argument.

namespace lintel {

static json::Value toJSON(const ParameterDescription &p) {
  return json::Object{{"name", p.name},         {"kind", int64_t(p.kind)}, {"dtype", int64_t(p.dtype)},
                      {"exponent", p.exponent}, {"dims", p.dims},          {"dimNames", p.dimNames},
                      {"columns", p.columns}};
}

template <typename Enum> static bool mapEnum(json::ObjectMapper &map, StringLiteral name, Enum &value, Enum last) {
  int64_t number;
  if (!map.map(name, number) || number < 0 || number > int64_t(last)) return false;
  value = Enum(number);
  return true;
}

static bool fromJSON(const json::Value &value, ParameterDescription &p, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", p.name) && mapEnum(map, "kind", p.kind, LINTEL_EXPONENT) &&
         mapEnum(map, "dtype", p.dtype, LINTEL_BF16) && map.map("exponent", p.exponent) && map.map("dims", p.dims) &&
         map.map("dimNames", p.dimNames) && map.map("columns", p.columns);
}

static json::Value toJSON(const PartsDescription &p) {
  return json::Object{{"parts", p.parts}, {"scratchBytes", p.scratchBytes}, {"symbol", p.symbol}, {"cost", p.cost}};
}

static bool fromJSON(const json::Value &value, PartsDescription &p, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("parts", p.parts) && map.map("scratchBytes", p.scratchBytes) && map.map("symbol", p.symbol) &&
         map.map("cost", p.cost);
}

static json::Value toJSON(const VariantDescription &v) {
  return json::Object{{"form", v.form},          {"target", v.target},     {"cpu", v.cpu},
                      {"features", v.features},  {"chunk", v.chunk},       {"scratchBytes", v.scratchBytes},
                      {"symbol", v.symbol},      {"schedule", v.schedule}, {"origin", v.origin},
                      {"parts", toJSON(v.parts)}};
}

static bool fromJSON(const json::Value &value, VariantDescription &v, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("form", v.form) && map.map("target", v.target) && map.map("cpu", v.cpu) &&
         map.map("features", v.features) && map.map("chunk", v.chunk) && map.map("scratchBytes", v.scratchBytes) &&
         map.map("symbol", v.symbol) && map.map("schedule", v.schedule) && map.map("origin", v.origin) &&
         map.map("parts", v.parts);
}

static json::Value toJSON(const CompiledOperator &c) {
  const KernelDescription &k = c.description;
  json::Array names, sizes;
  for (const auto &[name, size] : k.dimensions) names.push_back(name), sizes.push_back(size);
  return json::Object{{"triple", c.triple},
                      {"reason", c.reason},
                      {"symbol", k.symbol},
                      {"name", k.name},
                      {"specHash", k.specHash},
                      {"dtype", int64_t(k.dtype)},
                      {"products", int64_t(k.products)},
                      {"causal", k.causal},
                      {"attends", k.attends},
                      {"columns", k.columns},
                      {"notInParts", k.notInParts},
                      {"names", std::move(names)},
                      {"sizes", std::move(sizes)},
                      {"inputs", json::Array(k.inputs)},
                      {"states", json::Array(k.states)},
                      {"exponents", json::Array(k.exponents)},
                      {"out", toJSON(k.out)},
                      {"others", json::Array(k.others)},
                      {"variants", json::Array(k.variants)}};
}

static bool fromJSON(const json::Value &value, CompiledOperator &c, json::Path path) {
  KernelDescription &k = c.description;
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  json::ObjectMapper map(value, path);
  if (!(map && map.map("triple", c.triple) && map.map("reason", c.reason) && map.map("symbol", k.symbol) &&
        map.map("name", k.name) && map.map("specHash", k.specHash) && mapEnum(map, "dtype", k.dtype, LINTEL_BF16) &&
        mapEnum(map, "products", k.products, LINTEL_BF16) && map.map("causal", k.causal) &&
        map.map("attends", k.attends) && map.map("columns", k.columns) && map.map("notInParts", k.notInParts) &&
        map.map("names", names) && map.map("sizes", sizes) && map.map("inputs", k.inputs) &&
        map.map("states", k.states) && map.map("exponents", k.exponents) && map.map("out", k.out) &&
        map.map("others", k.others) && map.map("variants", k.variants)))
    return false;
  for (auto [name, size] : llvm::zip_equal(names, sizes)) k.dimensions.emplace_back(name, size);
  return true;
}

} // namespace lintel

std::string KernelCache::path(StringRef key) const {
  SmallString<128> result(folder);
  sys::path::append(result, "llvmcache-" + key); // the prefix that pruneCache takes as its own
  return result.str().str();
}

std::optional<CompiledOperator> KernelCache::find(StringRef key) const {
  auto buffer = MemoryBuffer::getFile(path(key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) return std::nullopt;
  StringRef text = (*buffer)->getBuffer();
  if (!text.consume_front(magic)) return std::nullopt;
  auto [sum, body] = text.split('\n');
  if (sum != checksum(body)) return std::nullopt;
  auto [header, code] = body.split('\n');
  auto value = json::parse(header);
  CompiledOperator result;
  json::Path::Root root;
  if (!value || !fromJSON(*value, result, root)) {
    if (!value) consumeError(value.takeError());
    return std::nullopt;
  }
  result.code = code.str();
  return result;
}

void KernelCache::insert(StringRef key, const CompiledOperator &compiled) const {
  std::string body;
  raw_string_ostream(body) << formatv("{0}", toJSON(compiled)) << "\n" << compiled.code;
  std::string sum = checksum(body);
  if (sys::fs::create_directories(folder)) return;
  consumeError(writeToOutput(path(key), [&](raw_ostream &os) {
    os << magic << sum << "\n" << body;
    return Error::success();
  }));
  CachePruningPolicy policy;
  policy.MaxSizeBytes = uint64_t(1) << 30;
  pruneCache(folder, policy);
}

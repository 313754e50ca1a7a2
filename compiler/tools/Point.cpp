#include "compiler/tools/Point.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace lintel;
using namespace lintel::tools;

PointOptions::PointOptions(Subcommand &c, const TypeOptions &types)
    : types(types), spec(c),
      shape("shape", cl::desc("sizes, such as B=1,H=8,T=1024,dk=64,dv=64 (G: heads of all token inputs but the first)"),
            cl::value_desc("NAME=N,..."), cl::sub(c.sub), cl::cat(c.category)),
      threads("threads", cl::desc("how many threads to use (default 1)"), cl::value_desc("N"), cl::init(1),
              threadRange(), cl::sub(c.sub), cl::cat(c.category)),
      target("target", cl::desc(targetHelp()), cl::value_desc("TARGET"), cl::init("native"), cl::sub(c.sub),
             cl::cat(c.category)) {}

Error PointOptions::read() {
  if (Error e = checkTargets({target})) return e;
  auto asked = types.types();
  if (!asked) return asked.takeError();
  auto opened = spec.open();
  if (!opened) return opened.takeError();
  file = std::move(*opened);
  auto found = file->find(spec.op);
  if (!found) return found.takeError();
  op = *found;
  request.threads = static_cast<int>(threads);
  if (Error e = checkTypes(op, *asked)) return e;
  request.compile.types = bindTypes(*op, *asked);
  request.compile.targets = {target};
  return readShape();
}

static Error badShape(const OperatorInfo &op, StringRef found) {
  std::string text = "expected sizes as NAME=N,... for --shape: B (sequences), T (steps), H (heads), G (heads of all "
                     "token inputs but the first)";
  for (const std::string &name : op.dimensions) text += ", " + name;
  text += "; such as B=1,T=1024,H=8";
  if (!op.dimensions.empty()) text += "," + op.dimensions.front() + "=64";
  text += ("; found '" + found + "'").str();
  if (found.find_first_of(" \t;") != StringRef::npos) text += "; separate sizes by commas";
  return createStringError(text);
}

/// Sizes that are not given are B=1, H=8, T=1024 and 64 for every dimension.
Error PointOptions::readShape() {
  std::vector<std::string> texts(spec.dims.begin(), spec.dims.end());
  SmallVector<StringRef> parts;
  StringRef(shape).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [name, value] = part.split('=');
    int64_t size;
    if (name.trim().empty() || value.trim().getAsInteger(10, size) || size < 1) return badShape(*op, part.trim());
    texts.push_back((name.trim() + "=" + value.trim()).str());
  }
  auto sizes = parseDimensions(texts);
  if (!sizes) return sizes.takeError();
  Dimensions dims;
  for (const auto &[name, value] : *sizes) {
    int64_t *axis = StringSwitch<int64_t *>(name)
                        .Case("B", &request.batch)
                        .Case("T", &request.steps)
                        .Case("H", &request.heads)
                        .Case("G", &request.groups)
                        .Default(nullptr);
    bool known = is_contained(op->dimensions, name);
    if (!axis && !known) return badShape(*op, name);
    if (axis && !known) *axis = value;
    else dims.emplace_back(name, value);
  }
  if (request.groups && request.heads % request.groups)
    return createStringError("expected G to divide H = %lld, found %lld", static_cast<long long>(request.heads),
                             static_cast<long long>(request.groups));
  for (const std::string &name : op->dimensions)
    if (llvm::none_of(dims, [&](const auto &entry) { return entry.first == name; })) dims.emplace_back(name, 64);
  auto bound = bindDimensions(*op, dims);
  if (!bound) return bound.takeError();
  request.compile.dimensions = std::move(*bound);
  return Error::success();
}

#include "compiler/driver/SpecFile.h"
#include "codegen/cpu/CpuLowering.h"
#include "compiler/frontend/Printer.h"
#include "compiler/frontend/SpecBuilder.h"
#include "dialect/OperatorUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace lintel;

char DiagnosticError::ID = 0;

/// Far above any operator; a device or a wrong file should not fill the memory.
static constexpr uint64_t maxFileBytes = 16 << 20;

Expected<std::unique_ptr<SpecFile>> SpecFile::open(StringRef path) {
  sys::fs::file_status status;
  if (path != "-") {
    if (std::error_code code = sys::fs::status(path, status))
      return createStringError("cannot read '%s': %s", path.str().c_str(), code.message().c_str());
    if (sys::fs::is_directory(status))
      return createStringError("expected a file of attention operators, found a folder: '%s'", path.str().c_str());
    if (status.type() == sys::fs::file_type::character_file || status.type() == sys::fs::file_type::block_file)
      return createStringError("expected a file of attention operators, found a device: '%s'", path.str().c_str());
    if (status.getSize() > maxFileBytes)
      return createStringError("expected a file of attention operators of at most 16 MiB, found %llu bytes in '%s'",
                               static_cast<unsigned long long>(status.getSize()), path.str().c_str());
  }
  auto buffer = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError("cannot read '%s': %s", path.str().c_str(), buffer.getError().message().c_str());
  return parse((*buffer)->getBuffer(), path == "-" ? "<stdin>" : path);
}

static OperatorInfo describe(SpecOp spec, const frontend::File &file) {
  OperatorInfo info;
  info.name = spec.getSymName().str();
  info.spec = spec;
  info.syntax = file.find(info.name);
  if (info.syntax) info.dimensions = info.syntax->dimensions;
  mlir::Block &body = spec.getBody().front();
  auto array = [](StringRef name, mlir::Type type) {
    ArrayInfo result;
    result.name = name.str();
    auto real = mlir::cast<RealType>(type);
    for (unsigned i = 0; i < real.getRank(); ++i) result.dims.push_back(real.getDim(i));
    return result;
  };
  for (auto [i, attr] : llvm::enumerate(spec.getInputs())) {
    auto param = mlir::cast<ParamAttr>(attr);
    info.inputs.push_back(array(param.getName(), body.getArgument(i).getType()));
    info.inputs.back().kind = param.getKind();
  }
  for (auto [i, name] : llvm::enumerate(stateNames(spec.getStates())))
    info.states.push_back(array(name, body.getArgument(info.inputs.size() + i).getType()));
  for (auto [name, value] : llvm::zip(outputNames(spec), body.getTerminator()->getOperands())) {
    ArrayInfo output = array(name, value.getType());
    if (name == "out") info.out = output;
    else info.others.push_back(output);
  }
  spec.walk([&](mlir::Operation *op) {
    info.bidirectional |= mlir::isa<FinalOp>(op);
    if (auto attend = mlir::dyn_cast<AttendOp>(op)) {
      info.attends = true;
      info.bidirectional |= !attend.getCausal();
    }
  });
  return info;
}

Expected<std::unique_ptr<SpecFile>> SpecFile::parse(StringRef text, StringRef name) {
  std::unique_ptr<SpecFile> result(new SpecFile);
  result->file = frontend::parse(text, name);
  bool ok = frontend::check(*result->file);
  if (!ok) return make_error<DiagnosticError>(result->file->diagnostics.str());
  result->warningText = result->file->diagnostics.str();
  mlir::DialectRegistry registry;
  registry.insert<AttnDialect>();
  registerCpuDialects(registry);
  result->ownContext = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  // The place in the spec says where; a dump of the IR does not help its author.
  result->ownContext->printOpOnDiagnostic(false);
  result->ownContext->loadAllAvailableDialects();
  DiagnosticCollector collector(*result->ownContext);
  result->module = frontend::buildSpecs(*result->file, *result->ownContext);
  if (!result->module) return collector.takeError("the operators could not be built");
  for (SpecOp spec : result->module->getOps<SpecOp>()) result->infos.push_back(describe(spec, *result->file));
  if (result->infos.empty())
    return createStringError("expected an attention operator in '%s', found none", name.str().c_str());
  return std::move(result);
}

Expected<const OperatorInfo *> SpecFile::find(StringRef wanted) const {
  std::string list;
  SmallVector<StringRef> names;
  for (const OperatorInfo &info : infos) {
    if (wanted.empty() ? infos.size() == 1 : info.name == wanted) return &info;
    list += (list.empty() ? "" : ", ") + info.name;
    names.push_back(info.name);
  }
  if (wanted.empty())
    return createStringError("'%s' has several operators (%s); choose one by --op NAME", name().str().c_str(),
                             list.c_str());
  return createStringError(unknownName("an operator of '" + name() + "' (" + list + ")", wanted, names));
}

std::string SpecFile::warnings(const OperatorInfo &op) const {
  // From its name to the next one's.
  frontend::Span span{op.syntax->span.begin, std::numeric_limits<uint32_t>::max()};
  for (const OperatorInfo &other : infos)
    if (uint32_t begin = other.syntax->span.begin; begin > span.begin) span.end = std::min(span.end, begin);
  return file->diagnostics.str(span);
}

std::string SpecFile::canonicalText(const OperatorInfo &op) {
  std::string text;
  raw_string_ostream os(text);
  frontend::printOperator(*op.syntax, os);
  return text;
}

static void printPlace(mlir::Location location, raw_ostream &os) {
  if (auto place = location->findInstanceOf<mlir::FileLineColLoc>())
    os << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn() << ": ";
}

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext &context) : context(context) {
  id = context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    using Severity = mlir::DiagnosticSeverity;
    if (diagnostic.getSeverity() == Severity::Remark) return mlir::success();
    bool isError = diagnostic.getSeverity() == Severity::Error;
    raw_string_ostream os(isError ? errorText : warningText);
    printPlace(diagnostic.getLocation(), os);
    os << (isError ? "error: " : "warning: ") << diagnostic.str() << "\n";
    for (mlir::Diagnostic &note : diagnostic.getNotes()) {
      printPlace(note.getLocation(), os);
      os << "note: " << note.str() << "\n";
    }
    return mlir::success();
  });
}

DiagnosticCollector::~DiagnosticCollector() { context.getDiagEngine().eraseHandler(id); }

Error DiagnosticCollector::takeError(const Twine &otherwise) {
  if (errorText.empty()) return createStringError(otherwise);
  return make_error<DiagnosticError>(std::move(errorText));
}

Expected<Dimensions> lintel::parseDimensions(ArrayRef<std::string> texts) {
  Dimensions result;
  StringSet<> seen;
  for (const std::string &text : texts) {
    auto [name, number] = StringRef(text).split('=');
    int64_t value = 0;
    if (name.empty() || number.getAsInteger(10, value) || value < 1)
      return createStringError("expected a dimension as NAME=VALUE with an integer of at least 1, found '%s'",
                               text.c_str());
    if (!seen.insert(name).second)
      return createStringError("expected each dimension once, found '%s' twice", name.str().c_str());
    result.emplace_back(name.str(), value);
  }
  return result;
}

std::string lintel::unknownName(const Twine &expected, StringRef name, ArrayRef<StringRef> known) {
  std::string text = ("expected " + expected + ", found '" + name + "'").str();
  StringRef near = frontend::nearest(name, known);
  if (!near.empty()) text += ("; did you mean '" + near + "'?").str();
  return text;
}

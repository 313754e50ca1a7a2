#include "codegen/halide/StmtImportImpl.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "codegen/halide/HalideSupport.h"
#include <set>
#include <sstream>

using namespace lintel;
using namespace lintel::detail;
using namespace mlir;

void lintel::detail::refuse(const std::string &message) { throw ImportError{message}; }

std::string lintel::detail::text(const Halide::Expr &e) {
  std::ostringstream os;
  os << e;
  return os.str();
}
std::string lintel::detail::text(const Halide::Type &t) {
  std::ostringstream os;
  os << t;
  return os.str();
}

Importer::Importer(ModuleOp module, const ImportOptions &options, Location loc)
    : module(module), options(options), outerLoc(loc), b(loc, module.getContext()) {}

Type Importer::elementType(Halide::Type t) {
  if (t.is_bfloat() && t.bits() == 16) return b.getBF16Type();
  if (t.is_float() && t.bits() == 16) return b.getF16Type();
  if (t.is_float() && t.bits() == 32) return b.getF32Type();
  if (t.is_float() && t.bits() == 64) return b.getF64Type();
  if (t.is_int_or_uint() && t.bits() <= 64) return b.getIntegerType(t.bits());
  refuse("type " + text(t) + " has no import; expected a float of 16, 32 or 64 bits, bfloat16, or an integer");
}

Type Importer::typeOf(Halide::Type t) {
  Type e = elementType(t);
  return t.is_scalar() ? e : VectorType::get({t.lanes()}, e);
}

static const char *const parallelLoop = "parallel loop in a stage: the split over threads is made outside of Halide; "
                                        "remove .parallel() from the schedule";

namespace {

// What must be known before the function's type is: the strides read, and parallel loops, which lowering has already
// cut into closures that would be refused in a less helpful way.
class Scan : public hi::IRVisitor {
  using hi::IRVisitor::visit;
  void visit(const hi::Call *op) override {
    if (op->name == "halide_do_par_for" || op->name == "halide_do_parallel_tasks") refuse(parallelLoop);
    if (op->name == hi::Call::buffer_get_stride && op->args.size() == 2)
      if (auto *handle = op->args[0].as<hi::Variable>())
        if (auto dim = hi::as_const_int(op->args[1])) strides.insert({handle->name, unsigned(*dim)});
    hi::IRVisitor::visit(op);
  }
  void visit(const hi::LetStmt *op) override {
    // A stride may be fetched and not used; then it is no argument.
    if (auto *call = op->value.as<hi::Call>())
      if (call->name == hi::Call::buffer_get_stride && !hi::stmt_uses_var(op->body, op->name)) {
        op->body.accept(this);
        return;
      }
    hi::IRVisitor::visit(op);
  }

public:
  std::set<std::pair<std::string, unsigned>> strides;
};

} // namespace

void Importer::declareArguments(const hi::LoweredFunc &fn, llvm::StringRef name) {
  Scan scan;
  fn.body.accept(&scan);

  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1});
  // With a parallel loop the module's first function is that loop's body, not the pipeline.
  for (const hi::LoweredArgument &arg : fn.args)
    if (arg.name == "closure_arg") refuse(parallelLoop);
  SmallVector<Type> types;
  for (auto [position, arg] : llvm::enumerate(fn.args)) {
    if (arg.is_buffer()) {
      types.push_back(MemRefType::get({ShapedType::kDynamic}, elementType(arg.type), layout));
      bufferArguments[arg.name + ".buffer"] = position;
    } else if (arg.type.is_handle()) {
      refuse("parameter '" + arg.name + "' is a handle; expected a number or a buffer");
    } else {
      types.push_back(arg.type == Halide::Int(32) ? b.getIndexType() : typeOf(arg.type));
    }
  }
  for (const auto &[handle, dim] : scan.strides) {
    auto it = bufferArguments.find(handle);
    if (it == bufferArguments.end()) refuse("stride of '" + handle + "', which is no argument");
    strideValues[{it->second, dim}] = Value();
  }
  types.append(strideValues.size(), b.getIndexType());

  b.setInsertionPointToEnd(module.getBody());
  made = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  made.setPrivate();
  entry = made.addEntryBlock();
  b.setInsertionPointToStart(entry);
  for (auto [position, arg] : llvm::enumerate(fn.args)) {
    if (arg.is_buffer()) continue;
    Value v = entry->getArgument(position);
    bool isIndex = v.getType().isIndex();
    variables[arg.name].push_back({isIndex ? Value() : v, isIndex ? v : Value()});
  }
  unsigned next = fn.args.size();
  for (auto &entryOfStride : strideValues) entryOfStride.second = entry->getArgument(next++);
}

ImportedStage Importer::run(const hi::LoweredFunc &fn, llvm::StringRef name) {
  declareArguments(fn, name);
  importBody(fn.body);
  func::ReturnOp::create(b);
  ImportedStage stage{made, {}};
  for (const auto &[key, value] : strideValues) stage.strides.push_back({key.first, key.second});
  return stage;
}

FailureOr<ImportedStage> lintel::importStmt(ModuleOp module, const hi::LoweredFunc &fn, llvm::StringRef name,
                                            const ImportOptions &options, Location loc) {
  module.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  if (module.lookupSymbol(name))
    return emitError(loc) << "symbol '" << name << "' exists already; give the stage another name", failure();

  Importer importer(module, options, loc);
  FailureOr<ImportedStage> stage = failure();
  std::string message;
  std::optional<std::string> fault = guardHalide([&] {
    try {
      stage = importer.run(fn, name);
    } catch (const ImportError &e) {
      message = e.message;
    }
  });
  if (fault) message = *fault;
  if (message.empty()) return stage;
  if (importer.made) importer.made.erase();
  return emitError(loc) << "cannot import stage '" << name << "': " << message, failure();
}

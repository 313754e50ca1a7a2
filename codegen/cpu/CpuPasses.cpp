// The small passes around the standard lowering: float flags, allocas, and kernel entries.
#include "codegen/cpu/CpuLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/include/lintel/kernel.h"
#include <cstddef>

using namespace mlir;
using namespace lintel;

static constexpr StringRef entryName = "lintel.entry", inputsName = "lintel.inputs", statesName = "lintel.states",
                           exportName = "lintel.export";

namespace {

struct RelaxFloat : PassWrapper<RelaxFloat, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RelaxFloat)
  StringRef getArgument() const final { return "lintel-relax-float"; }
  StringRef getDescription() const final { return "Make `contract` the only fast-math flag of float ops"; }
  void runOnOperation() override {
    getOperation()->walk([](arith::ArithFastMathInterface op) {
      arith::FastMathFlags flags = arith::FastMathFlags::contract;
      if (isa<vector::VectorDialect>(op->getDialect()))
        flags = flags | (op.getFastMathFlagsAttr().getValue() & arith::FastMathFlags::reassoc);
      op->setAttr(op.getFastMathAttrName(), arith::FastMathFlagsAttr::get(op->getContext(), flags));
    });
  }
};

struct HoistAllocas : PassWrapper<HoistAllocas, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistAllocas)
  StringRef getArgument() const final { return "lintel-hoist-allocas"; }
  StringRef getDescription() const final { return "Move stack allocations of fixed size to the function's entry"; }
  void runOnOperation() override {
    getOperation()->walk([&](func::FuncOp function) {
      if (function.isExternal()) return;
      SmallVector<memref::AllocaOp> allocas;
      function.walk([&](memref::AllocaOp op) { allocas.push_back(op); });
      Block &entry = function.getBody().front();
      for (memref::AllocaOp op : llvm::reverse(allocas)) {
        if (op->getNumOperands() == 0) {
          op->moveBefore(&entry, entry.begin());
        } else if (op->getBlock() != &entry) {
          op.emitOpError("expected a fixed size inside a loop or branch, found ")
              << op.getType() << "; give the stage constant bounds";
          signalPassFailure();
        }
      }
      function.walk([&](memref::AllocOp op) {
        op.emitOpError("kernels allocate nothing on the heap; use the scratch argument or memref.alloca");
        signalPassFailure();
      });
    });
  }
};

/// The numbers of inputs and states of an entry; failure with a diagnostic if an attribute is bad.
struct EntryShape {
  int64_t inputs = 0, states = 0;
  int64_t arguments() const { return 3 * inputs + 4 * states + 5; }
};

FailureOr<EntryShape> readShape(Operation *op) {
  EntryShape shape;
  if (!op->getAttrOfType<StringAttr>(entryName) || op->getAttrOfType<StringAttr>(entryName).getValue().empty())
    return op->emitOpError() << "expected the symbol's name as string in `" << entryName << "`";
  for (auto [name, value] : {std::pair<StringRef, int64_t *>{inputsName, &shape.inputs}, {statesName, &shape.states}}) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    if (!attr || attr.getInt() < 0 || attr.getInt() > 1000)
      return op->emitOpError() << "an entry needs `" << name << "`, an integer from 0 to 1000";
    *value = attr.getInt();
  }
  return shape;
}

struct CheckEntry : PassWrapper<CheckEntry, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckEntry)
  StringRef getArgument() const final { return "lintel-check-entry"; }
  StringRef getDescription() const final { return "Verify the contract of kernel entries"; }

  LogicalResult check(func::FuncOp function) {
    FailureOr<EntryShape> shape = readShape(function);
    if (failed(shape)) return failure();
    if (function.isExternal()) return function.emitOpError("an entry needs a body");
    if (function.getNumResults() != 0) return function.emitOpError("an entry has no results");
    if (function.getNumArguments() != shape->arguments())
      return function.emitOpError() << "expected " << shape->arguments() << " arguments for " << shape->inputs
                                    << " inputs and " << shape->states << " states, found "
                                    << function.getNumArguments();
    std::string kinds; // m memref, i index, b i1
    for (int64_t i = 0; i < shape->inputs; ++i) kinds += "mii";
    for (int64_t i = 0; i < shape->states; ++i) kinds += "mmbb";
    kinds += "miiim";
    for (auto [kind, type, i] : llvm::zip_equal(kinds, function.getArgumentTypes(), llvm::seq<size_t>(kinds.size()))) {
      if (kind == 'i' && !type.isIndex())
        return function.emitOpError() << "expected argument " << i << " to be index, found " << type;
      if (kind == 'b' && !type.isInteger(1))
        return function.emitOpError() << "expected argument " << i << " to be i1, found " << type;
      if (kind != 'm') continue;
      auto memref = dyn_cast<MemRefType>(type);
      SmallVector<int64_t> strides;
      int64_t offset;
      if (!memref || memref.getRank() != 1 || failed(memref.getStridesAndOffset(strides, offset)) || strides[0] != 1 ||
          (offset != 0 && !ShapedType::isDynamic(offset)))
        return function.emitOpError() << "expected argument " << i
                                      << " to be a memref of rank 1 with unit stride, found " << type;
      Type element = memref.getElementType();
      bool scratch = i + 1 == kinds.size();
      if (scratch ? !element.isInteger(8)
                  : !(element.isF64() || element.isF32() || element.isF16() || element.isBF16()))
        return function.emitOpError() << "expected argument " << i << " to hold "
                                      << (scratch ? "i8" : "f64, f32, f16 or bf16") << ", found " << element;
    }
    return success();
  }

  void runOnOperation() override {
    bool failed = false;
    getOperation().walk([&](func::FuncOp function) {
      if (!function->hasAttr(entryName)) return;
      failed |= mlir::failed(check(function));
      function.setPublic(); // nothing calls it yet: the inliner would drop it as dead
    });
    if (failed) signalPassFailure();
  }
};

struct CpuEntry : PassWrapper<CpuEntry, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuEntry)
  StringRef getArgument() const final { return "lintel-cpu-entry"; }
  StringRef getDescription() const final { return "Build the exported C functions around kernel bodies"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<LLVM::LLVMDialect>(); }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<LLVM::LLVMFuncOp> functions(module.getOps<LLVM::LLVMFuncOp>());
    for (LLVM::LLVMFuncOp function : functions) {
      if (!function.isExternal() && !function->removeAttr(exportName)) function.setLinkage(LLVM::Linkage::Internal);
      if (!function->hasAttr(entryName)) continue;
      FailureOr<EntryShape> shape = readShape(function);
      if (failed(shape) || failed(build(module, function, *shape))) return signalPassFailure();
    }
    // What is left of other dialects would otherwise fail in the translation, without a word on what to do.
    WalkResult result = module.walk([&](Operation *op) {
      if (isa<ModuleOp>(op) || isa<LLVM::LLVMDialect>(op->getDialect())) return WalkResult::advance();
      op->emitOpError("cannot be lowered for CPUs; expected func, scf, affine, arith, math, index, vector or memref "
                      "ops of static vector shapes");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted()) signalPassFailure();
  }

  LogicalResult build(ModuleOp module, LLVM::LLVMFuncOp body, EntryShape shape) {
    // A memref is five arguments: allocated and aligned pointer, offset, size, stride.
    int64_t expected = shape.inputs * 7 + shape.states * 12 + 13;
    if (body.getNumArguments() != expected)
      return body.emitOpError() << "expected " << expected << " arguments after lowering, found "
                                << body.getNumArguments();
    MLIRContext *context = &getContext();
    Location loc = body.getLoc();
    OpBuilder b(context);
    b.setInsertionPointAfter(body);
    Type ptr = LLVM::LLVMPointerType::get(context), i64 = b.getI64Type();
    StringRef symbol = body->getAttrOfType<StringAttr>(entryName).getValue();
    if (module.lookupSymbol(symbol)) return body.emitOpError() << "the symbol '" << symbol << "' is already taken";
    auto entry = LLVM::LLVMFuncOp::create(
        b, loc, symbol, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {ptr}), LLVM::Linkage::External);
    b.setInsertionPointToStart(entry.addEntryBlock(b));
    Value item = entry.getArgument(0);

    auto at = [&](Value base, Type type, int64_t bytes) -> Value {
      Value address =
          LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
      return LLVM::LoadOp::create(b, loc, type, address, /*alignment=*/8);
    };
    Value zero = LLVM::ConstantOp::create(b, loc, i64, 0), one = LLVM::ConstantOp::create(b, loc, i64, 1);
    Value large = LLVM::ConstantOp::create(b, loc, i64, int64_t(1) << 56);
    SmallVector<Value> arguments;
    enum Fact { Nothing, ReadOnly, NoAlias, Scratch };
    auto pass = [&](Value pointer, Fact fact) {
      for (unsigned i = 0; i < 2 && fact != Nothing; ++i) {
        unsigned index = arguments.size() + i;
        body.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
        if (fact == ReadOnly) body.setArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
        if (fact == Scratch) body.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
      }
      arguments.append({pointer, pointer, zero, large, one});
    };
    if (shape.inputs) {
      Value base = at(item, ptr, offsetof(lintel_item, input));
      Value steps = at(item, ptr, offsetof(lintel_item, input_step));
      Value rows = at(item, ptr, offsetof(lintel_item, input_row));
      for (int64_t i = 0; i < shape.inputs; ++i) {
        pass(at(base, ptr, 8 * i), ReadOnly);
        arguments.append({at(steps, i64, 8 * i), at(rows, i64, 8 * i)});
      }
    }
    if (shape.states) {
      Value in = at(item, ptr, offsetof(lintel_item, state_in)), out = at(item, ptr, offsetof(lintel_item, state_out));
      Value null = LLVM::ZeroOp::create(b, loc, ptr);
      for (int64_t i = 0; i < shape.states; ++i) {
        Value from = at(in, ptr, 8 * i), to = at(out, ptr, 8 * i);
        pass(from, Nothing);
        pass(to, Nothing);
        arguments.push_back(LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, from, null));
        arguments.push_back(LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, to, null));
      }
    }
    pass(at(item, ptr, offsetof(lintel_item, out)), NoAlias);
    arguments.append({at(item, i64, offsetof(lintel_item, out_step)), at(item, i64, offsetof(lintel_item, steps)),
                      at(item, i64, offsetof(lintel_item, position))});
    pass(at(item, ptr, offsetof(lintel_item, scratch)), Scratch);
    LLVM::CallOp::create(b, loc, body, arguments);
    LLVM::ReturnOp::create(b, loc, ValueRange());
    body.setPassthroughAttr(b.getArrayAttr({b.getStringAttr("noinline")}));
    for (StringRef name : {entryName, inputsName, statesName}) body->removeAttr(name);
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> lintel::createRelaxFloatPass() { return std::make_unique<RelaxFloat>(); }
std::unique_ptr<Pass> lintel::createHoistAllocasPass() { return std::make_unique<HoistAllocas>(); }
std::unique_ptr<Pass> lintel::createCheckEntryPass() { return std::make_unique<CheckEntry>(); }
std::unique_ptr<Pass> lintel::createCpuEntryPass() { return std::make_unique<CpuEntry>(); }

#include "codegen/cpu/EntryShape.h"
#include "codegen/cpu/Passes.h"
#include "runtime/include/lintel/kernel.h"
#include <cstddef>

namespace lintel {
#define GEN_PASS_DEF_BUILDENTRY
#include "codegen/cpu/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

/// So few steps are not worth a copy of the state to aligned memory.
constexpr int64_t fewSteps = 8;

struct BuildEntry : lintel::impl::BuildEntryBase<BuildEntry> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<LLVM::LLVMFuncOp> functions(module.getOps<LLVM::LLVMFuncOp>());
    for (LLVM::LLVMFuncOp function : functions) {
      if (!function.isExternal() && !function->removeAttr(exportName)) function.setLinkage(LLVM::Linkage::Internal);
      if (!function->hasAttr(entryName)) continue;
      FailureOr<EntryShape> shape = readEntryShape(function);
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
    int64_t expected = shape.inputs * 7 + shape.states * 12 + shape.outputs * 6 + 7;
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
      Value strides = at(item, ptr, offsetof(lintel_item, input_step));
      Value rows = at(item, ptr, offsetof(lintel_item, input_row));
      for (int64_t i = 0; i < shape.inputs; ++i) {
        pass(at(base, ptr, 8 * i), ReadOnly);
        arguments.append({at(strides, i64, 8 * i), at(rows, i64, 8 * i)});
      }
    }
    Value steps = at(item, i64, offsetof(lintel_item, steps)), own = at(item, ptr, offsetof(lintel_item, scratch));
    auto number = [&](int64_t n) -> Value { return LLVM::ConstantOp::create(b, loc, i64, n); };
    SmallVector<std::tuple<Value, Value, Value>> copies; // to, from, bytes
    if (shape.states) {
      Value in = at(item, ptr, offsetof(lintel_item, state_in)), out = at(item, ptr, offsetof(lintel_item, state_out));
      Value null = LLVM::ZeroOp::create(b, loc, ptr), none;
      if (shape.exponents) { // a list that is NULL is one of NULLs
        none = LLVM::AllocaOp::create(b, loc, ptr, ptr, one, /*alignment=*/8);
        LLVM::StoreOp::create(b, loc, null, none, /*alignment=*/8);
      }
      auto exponent = [&](int64_t field, int64_t i) -> Value {
        Value list = at(item, ptr, field);
        Value isGiven = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, list, null);
        Value entry = LLVM::GEPOp::create(b, loc, ptr, ptr, list, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
        return at(LLVM::SelectOp::create(b, loc, isGiven, entry, none), ptr, 0);
      };
      for (int64_t i = 0; i < shape.states; ++i) {
        int64_t e = i - (shape.states - shape.exponents);
        Value from = e < 0 ? at(in, ptr, 8 * i) : exponent(offsetof(lintel_item, exponent_in), e);
        Value to = e < 0 ? at(out, ptr, 8 * i) : exponent(offsetof(lintel_item, exponent_out), e);
        Value hasIn = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, from, null);
        Value hasOut = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, to, null);
        bool inPlace = shape.inPlace[i].bytes > 0;
        if (inPlace) {
          // In the caller's memory, unless there is none, or vectors would lie across lines for long.
          Value low = LLVM::AndOp::create(b, loc, LLVM::PtrToIntOp::create(b, loc, i64, to), number(63));
          Value across =
              LLVM::AndOp::create(b, loc, LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, low, zero),
                                  LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sgt, steps, number(fewSteps)));
          Value apart =
              LLVM::OrOp::create(b, loc, LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, to, null), across);
          Value aside =
              LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), own, ValueRange(number(shape.inPlace[i].offset)));
          Value memory = LLVM::SelectOp::create(b, loc, apart, aside, to);
          Value wanted = LLVM::AndOp::create(b, loc, apart, hasOut);
          copies.emplace_back(LLVM::SelectOp::create(b, loc, wanted, to, memory), memory,
                              LLVM::SelectOp::create(b, loc, wanted, number(shape.inPlace[i].bytes), zero));
          to = memory;
        }
        pass(from, inPlace ? ReadOnly : Nothing);
        pass(to, inPlace ? NoAlias : Nothing);
        arguments.append({hasIn, hasOut});
      }
    }
    Value outs = at(item, ptr, offsetof(lintel_item, out)), outSteps = at(item, ptr, offsetof(lintel_item, out_step));
    for (int64_t i = 0; i < shape.outputs; ++i) {
      pass(at(outs, ptr, 8 * i), NoAlias);
      arguments.push_back(at(outSteps, i64, 8 * i));
    }
    arguments.append({steps, at(item, i64, offsetof(lintel_item, position))});
    pass(own, Scratch);
    LLVM::CallOp::create(b, loc, body, arguments);
    for (auto [to, from, bytes] : copies) LLVM::MemcpyOp::create(b, loc, to, from, bytes, /*isVolatile=*/false);
    LLVM::ReturnOp::create(b, loc, ValueRange());
    body.setPassthroughAttr(b.getArrayAttr({b.getStringAttr("noinline")}));
    for (StringRef name : {entryName, inputsName, statesName, exponentsName, outputsName, inPlaceName})
      body->removeAttr(name);
    return success();
  }
};

} // namespace

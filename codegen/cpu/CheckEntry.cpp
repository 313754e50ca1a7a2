#include "codegen/cpu/EntryShape.h"
#include "codegen/cpu/Passes.h"

namespace lintel {
#define GEN_PASS_DEF_CHECKENTRY
#include "codegen/cpu/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

struct CheckEntry : lintel::impl::CheckEntryBase<CheckEntry> {
  LogicalResult check(func::FuncOp function) {
    FailureOr<EntryShape> shape = readEntryShape(function);
    if (failed(shape)) return failure();
    if (function.isExternal()) return function.emitOpError("an entry needs a body");
    if (function.getNumResults() != 0) return function.emitOpError("an entry has no results");
    if (function.getNumArguments() != shape->arguments())
      return function.emitOpError() << "expected " << shape->arguments() << " arguments for " << shape->inputs
                                    << " inputs, " << shape->states << " states and " << shape->outputs
                                    << " outputs, found " << function.getNumArguments();
    std::string kinds; // m memref, i index, b i1
    for (int64_t i = 0; i < shape->inputs; ++i) kinds += "mii";
    for (int64_t i = 0; i < shape->states; ++i) kinds += "mmbb";
    for (int64_t i = 0; i < shape->outputs; ++i) kinds += "mi";
    kinds += "iim";
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

} // namespace

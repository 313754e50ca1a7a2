#include "codegen/cpu/Passes.h"

namespace lintel {
#define GEN_PASS_DEF_HOISTALLOCAS
#include "codegen/cpu/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

struct HoistAllocas : lintel::impl::HoistAllocasBase<HoistAllocas> {
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

} // namespace

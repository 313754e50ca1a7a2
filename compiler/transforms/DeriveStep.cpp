#include "compiler/transforms/Passes.h"
#include "dialect/OperatorUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace lintel {
#define GEN_PASS_DEF_DERIVESTEP
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {
struct Pass : lintel::impl::DeriveStepBase<Pass> {
  using DeriveStepBase::DeriveStepBase;
  void runOnOperation() override {
    for (RecurrentOp recurrent : llvm::make_early_inc_range(getOperation().getOps<RecurrentOp>())) {
      // Decode knows no later step.
      if (recurrent.getBody().walk([](FinalOp) { return WalkResult::interrupt(); }).wasInterrupted()) continue;
      OpBuilder builder(recurrent->getContext());
      builder.setInsertionPointAfter(recurrent);
      StringRef base = recurrent.getSymName();
      base.consume_back("_recurrent");
      std::string name = (base + "_step").str();
      if (failed(verifyFreshName(recurrent, name))) return signalPassFailure();
      auto form = StepOp::create(builder, recurrent.getLoc(), builder.getStringAttr(name), recurrent.getInputs(),
                                 recurrent.getStates(), recurrent.getScalesAttr());
      inheritAttributes(form, recurrent);
      IRMapping mapping;
      recurrent.getBody().cloneInto(&form.getBody(), mapping);
    }
  }
};
} // namespace

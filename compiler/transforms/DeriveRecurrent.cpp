#include "compiler/transforms/Passes.h"
#include "dialect/OperatorUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace lintel {
#define GEN_PASS_DEF_DERIVERECURRENT
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {
struct Pass : lintel::impl::DeriveRecurrentBase<Pass> {
  using DeriveRecurrentBase::DeriveRecurrentBase;
  void runOnOperation() override {
    for (SpecOp spec : llvm::make_early_inc_range(getOperation().getOps<SpecOp>())) {
      if (spec.getBody().walk([](AttendOp) { return WalkResult::interrupt(); }).wasInterrupted()) continue;
      std::string name = (spec.getSymName() + "_recurrent").str();
      if (failed(verifyBoundSpec(spec)) || failed(verifyFreshName(spec, name))) return signalPassFailure();
      OpBuilder builder(spec->getContext());
      builder.setInsertionPointAfter(spec);
      auto form = RecurrentOp::create(builder, spec.getLoc(), builder.getStringAttr(name), spec.getInputs(),
                                      spec.getStates(), builder.getDenseI64ArrayAttr({}));
      inheritAttributes(form, spec);
      IRMapping mapping;
      spec.getBody().cloneInto(&form.getBody(), mapping);
    }
  }
};
} // namespace

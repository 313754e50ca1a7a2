#include "compiler/analysis/TransitionAnalysis.h"
#include "compiler/analysis/WeightSupport.h"
#include "compiler/transforms/Passes.h"
#include "dialect/OperatorUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace lintel {
#define GEN_PASS_DEF_DERIVEPARALLEL
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

bool hasLowRank(ChunkwiseOp op) {
  return llvm::any_of(op.getStates(), [](Attribute s) { return cast<StateInfoAttr>(s).getLowRank() > 0; });
}

bool decaysByChannel(ChunkwiseOp op) {
  return llvm::any_of(op.getStates(), [](Attribute s) { return cast<StateInfoAttr>(s).getDecay() > 0; });
}

bool clearsByChannel(ChunkwiseOp op) {
  return llvm::any_of(op.getToken().front().getTerminator()->getOperands(), [](Value v) {
    auto select = v.getDefiningOp<SelectOp>();
    return select && select->hasAttr(clearsName) && cast<RealType>(select.getCondition().getType()).getRank();
  });
}

struct Pass : lintel::impl::DeriveParallelBase<Pass> {
  using DeriveParallelBase::DeriveParallelBase;

  void runOnOperation() override {
    if (chunk && failed(verifyChunk(getOperation(), chunk))) return signalPassFailure();
    OpBuilder builder(&getContext());
    for (ChunkwiseOp chunkwise : llvm::make_early_inc_range(getOperation().getOps<ChunkwiseOp>())) {
      // Queries of these go back in time, exponents forward.
      StringRef backward = hasLowRank(chunkwise)        ? "a low-rank transition"
                           : decaysByChannel(chunkwise) ? "a decay for each channel"
                                                        : "";
      StringRef forward = chunkwise.internalStates()                              ? "a running exponent"
                          : chunkwise.getBidirectional() && hasLowRank(chunkwise) ? "reads of the last state"
                                                                                  : "";
      if (!backward.empty() && !forward.empty()) {
        chunkwise->setAttr("not_parallel", builder.getStringAttr(backward + " does not go with " + forward));
        continue;
      }
      // What is left of a key would be a question of each channel for each pair of steps.
      if (clearsByChannel(chunkwise)) {
        chunkwise->setAttr("not_parallel", builder.getStringAttr("a state is cleared channel by channel"));
        continue;
      }
      builder.setInsertionPointAfter(chunkwise);
      StringRef base = chunkwise.getSymName();
      base.consume_back("_chunkwise");
      std::string name = (base + "_parallel").str();
      if (failed(verifyFreshName(chunkwise, name))) return signalPassFailure();
      auto form = ParallelOp::create(
          builder, chunkwise.getLoc(), builder.getStringAttr(name), chunkwise.getInputs(), chunkwise.getStates(),
          chunkwise.getReads(), builder.getI64IntegerAttr(chunk ? static_cast<int64_t>(chunk) : chunkwise.getChunk()),
          chunkwise.getBidirectionalAttr(), chunkwise.getScalesAttr());
      inheritAttributes(form, chunkwise);
      IRMapping mapping;
      chunkwise.getPrefix().cloneInto(&form.getPrefix(), mapping);
      chunkwise.getToken().cloneInto(&form.getToken(), mapping);
      chunkwise.getCombine().cloneInto(&form.getCombine(), mapping);
    }
    for (SpecOp spec : llvm::make_early_inc_range(getOperation().getOps<SpecOp>())) {
      AttendOp attend;
      spec.getBody().walk([&](AttendOp op) { attend = op; });
      if (!attend) continue;
      std::string name = (spec.getSymName() + "_parallel").str();
      if (failed(verifyBoundSpec(spec)) || failed(verifyFreshName(spec, name))) return signalPassFailure();
      builder.setInsertionPointAfter(spec);
      WeightSupport support = supportOf(attend);
      auto number = [&](int64_t n) { return builder.getI64IntegerAttr(n); };
      auto form = StreamedOp::create(builder, spec.getLoc(), builder.getStringAttr(name), spec.getInputs(),
                                     number(chunk ? static_cast<int64_t>(chunk) : 32), number(support.window),
                                     number(support.ahead), number(support.first));
      IRMapping mapping;
      spec.getBody().cloneInto(&form.getBody(), mapping);
    }
  }
};

} // namespace

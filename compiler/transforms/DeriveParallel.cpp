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

/// The window of weights that are `where(distance < n, ..., 0)` or `where(distance <= n, ...)` with a constant n: the
/// first distance at which they are zero, or 0 where there is none.
int64_t windowOf(AttendOp attend) {
  Block &weights = attend.getWeights().front();
  auto select = weights.getTerminator()->getOperand(0).getDefiningOp<SelectOp>();
  if (!select) return 0;
  auto compare = select.getCondition().getDefiningOp<BinaryOp>();
  auto zero = select.getB().getDefiningOp<ConstantOp>();
  if (!compare || !zero || zero.getValueAttr().getValueAsDouble() != 0) return 0;
  Value distance = weights.getArgument(2), a = compare.getA(), b = compare.getB();
  BinaryKind kind = compare.getKind();
  if (b == distance) {
    std::swap(a, b);
    kind = kind == BinaryKind::Gt ? BinaryKind::Lt : kind == BinaryKind::Ge ? BinaryKind::Le : BinaryKind::Add;
  }
  auto bound = b.getDefiningOp<ConstantOp>();
  if (a != distance || !bound) return 0;
  double n = bound.getValueAttr().getValueAsDouble();
  if (!(n > 0 && n < 1e9)) return 0;
  if (kind == BinaryKind::Lt) return static_cast<int64_t>(std::ceil(n));
  if (kind == BinaryKind::Le) return static_cast<int64_t>(std::floor(n)) + 1;
  return 0;
}

bool hasLowRank(ChunkwiseOp op) {
  return llvm::any_of(op.getStates(), [](Attribute s) { return cast<StateInfoAttr>(s).getLowRank() > 0; });
}

bool decaysByChannel(ChunkwiseOp op) {
  return llvm::any_of(op.getStates(), [](Attribute s) { return cast<StateInfoAttr>(s).getDecay() > 0; });
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
      auto form = StreamedOp::create(builder, spec.getLoc(), builder.getStringAttr(name), spec.getInputs(),
                                     builder.getI64IntegerAttr(chunk ? static_cast<int64_t>(chunk) : 32),
                                     builder.getI64IntegerAttr(attend.getCausal() ? windowOf(attend) : 0));
      IRMapping mapping;
      spec.getBody().cloneInto(&form.getBody(), mapping);
    }
  }
};

} // namespace

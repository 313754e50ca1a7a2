#include "compiler/analysis/DivisionAnalysis.h"
#include "compiler/analysis/StateDependence.h"
#include "compiler/transforms/Passes.h"

namespace lintel {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

bool denominatorCancels(SpecOp spec) {
  DivisionAnalysis ranges(spec);
  StateDependence states(spec.getBody().front(), spec.getInputs().size());
  for (BinaryOp op : spec.getBody().getOps<BinaryOp>()) {
    if (op.getKind() != BinaryKind::Div || !states.of(op.getB())) continue;
    OpenRange range = ranges.of(op.getB());
    if (range.lo < 0 && range.hi > 0) return true;
  }
  return false;
}

bool hasSum(StageOp stage) {
  auto isSum = [](FoldOp fold) {
    return fold.getKind() == ReduceKind::Sum ? WalkResult::interrupt() : WalkResult::advance();
  };
  return stage.getBody().walk(isSum).wasInterrupted();
}

/// Marks the sums that `v`, inside a stage, takes part of its value from; true if there are any. `known` says so of
/// values seen before.
bool markSums(Value v, DenseMap<Value, bool> &known) {
  if (auto it = known.find(v); it != known.end()) return it->second;
  Operation *op = v.getDefiningOp();
  if (isa_and_present<BinaryOp, SelectOp>(op) ||
      (isa_and_present<UnaryOp>(op) && cast<UnaryOp>(op).getKind() == UnaryKind::Neg)) {
    bool any = false;
    for (Value operand : op->getOperands()) any |= markSums(operand, known);
    return known[v] = any;
  }
  auto at = dyn_cast_if_present<AtOp>(op);
  auto stage = at ? at.getX().getDefiningOp<StageOp>() : StageOp();
  if (!stage || stage.isSerial()) return false;
  bool sum = hasSum(stage) || markSums(stage.getBody().front().getTerminator()->getOperand(0), known);
  if (sum) stage->setAttr("precision", StringAttr::get(stage.getContext(), "f64"));
  return known[v] = sum;
}

/// Marks the stages through which `v`, inside a stage, comes from the position of the step; true if it does.
bool markPositions(Value v, DenseMap<Value, bool> &known) {
  if (auto it = known.find(v); it != known.end()) return it->second;
  known[v] = false;
  Operation *op = v.getDefiningOp();
  if (isa_and_present<StartOp>(op)) return known[v] = true;
  if (isa_and_present<BinaryOp, SelectOp, UnaryOp>(op)) {
    bool any = false;
    for (Value operand : op->getOperands()) any |= markPositions(operand, known);
    return known[v] = any;
  }
  auto at = dyn_cast_if_present<AtOp>(op);
  auto stage = at ? at.getX().getDefiningOp<StageOp>() : StageOp();
  if (!stage || stage.isSerial()) return false;
  bool any = markPositions(stage.getBody().front().getTerminator()->getOperand(0), known);
  if (any) stage->setAttr("precision", StringAttr::get(stage.getContext(), "f64"));
  return known[v] = any;
}

bool isCurved(UnaryKind kind) {
  return !llvm::is_contained({UnaryKind::Neg, UnaryKind::Abs, UnaryKind::Relu, UnaryKind::Not, UnaryKind::Ceil}, kind);
}

struct Pass : lintel::impl::AssignPrecisionBase<Pass> {
  using AssignPrecisionBase::AssignPrecisionBase;
  void runOnOperation() override {
    auto f64 = StringAttr::get(&getContext(), "f64");
    for (SpecOp spec : getOperation().getOps<SpecOp>())
      if (denominatorCancels(spec)) spec->setAttr("precision", f64);
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      // An angle or an exponent that grows with the position: its rounding grows, too.
      DenseMap<Value, bool> fromPosition;
      kernel.walk([&](UnaryOp op) {
        auto stage = op->getParentOfType<StageOp>();
        if (stage && !stage.isSerial() && isCurved(op.getKind()) && markPositions(op.getX(), fromPosition))
          stage->setAttr("precision", f64);
      });
      // Without states nothing is kept: each weight's error is seen once, beside those of its neighbours.
      if (kernel.getStates().empty()) continue;
      DenseMap<Value, bool> known;
      kernel.walk([&](UnaryOp op) {
        if (op.getKind() == UnaryKind::Exp && op->getParentOfType<StageOp>()) markSums(op.getX(), known);
      });
    }
  }
};

} // namespace

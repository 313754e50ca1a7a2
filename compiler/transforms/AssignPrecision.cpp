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

/// Marks the stages through which `v`, inside a stage, comes from a source; true if it does.
class Tracer {
public:
  virtual ~Tracer() = default;

  bool mark(Value v) {
    if (auto it = known.find(v); it != known.end()) return it->second;
    Operation *op = v.getDefiningOp();
    if (!op) return false;
    if (isSource(op)) return known[v] = true;
    if (isa<BinaryOp, SelectOp>(op) || (isa<UnaryOp>(op) && follows(cast<UnaryOp>(op)))) {
      bool any = false;
      for (Value operand : op->getOperands()) any |= mark(operand);
      return known[v] = any;
    }
    auto at = dyn_cast<AtOp>(op);
    auto stage = at ? at.getX().getDefiningOp<StageOp>() : StageOp();
    if (!stage || stage.isSerial()) return false;
    bool any = isSource(stage) || mark(stage.getBody().front().getTerminator()->getOperand(0));
    if (any) stage->setAttr("precision", StringAttr::get(stage.getContext(), "f64"));
    return known[v] = any;
  }

private:
  /// An op inside a stage, or a stage.
  virtual bool isSource(Operation *op) = 0;
  virtual bool follows(UnaryOp op) = 0;
  DenseMap<Value, bool> known;
};

struct Sums : Tracer {
  bool isSource(Operation *op) override { return isa<StageOp>(op) && hasSum(cast<StageOp>(op)); }
  bool follows(UnaryOp op) override { return op.getKind() == UnaryKind::Neg; }
};

struct Positions : Tracer {
  bool isSource(Operation *op) override { return isa<StartOp>(op); }
  bool follows(UnaryOp) override { return true; }
};

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
      Positions positions;
      kernel.walk([&](UnaryOp op) {
        auto stage = op->getParentOfType<StageOp>();
        if (stage && !stage.isSerial() && isCurved(op.getKind()) && positions.mark(op.getX()))
          stage->setAttr("precision", f64);
      });
      // Without states nothing is kept: each weight's error is seen once, beside those of its neighbours.
      if (kernel.getStates().empty()) continue;
      Sums sums;
      kernel.walk([&](UnaryOp op) {
        if (op.getKind() == UnaryKind::Exp && op->getParentOfType<StageOp>()) sums.mark(op.getX());
      });
    }
  }
};

} // namespace

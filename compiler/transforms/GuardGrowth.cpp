// A decay of exp(g) is a factor on the state; where g is large the factor leaves the range of a number before the state
// has left zero, and inf * 0 is NaN where the mathematics has 0. Chunks do the same in FactoredEmitter.
#include "compiler/analysis/RangeAnalysis.h"
#include "compiler/analysis/StateDependence.h"
#include "compiler/transforms/Passes.h"
#include "mlir/IR/Builders.h"

namespace lintel {
#define GEN_PASS_DEF_GUARDGROWTH
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

/// Exponentials below this are numbers in f32 too.
constexpr double bound = 80;

class Guard {
public:
  Guard(Block &body, unsigned inputs) : body(body), states(body, inputs) {}

  void run() {
    for (BinaryOp op : llvm::to_vector(body.getOps<BinaryOp>())) {
      if (op.getKind() != BinaryKind::Mul) continue;
      for (auto [x, w] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())})
        if (states.of(x) && !states.of(w) && canOverflow(w)) {
          guard(op, x);
          break;
        }
    }
  }

private:
  /// Whether an exponential in `v` makes it inf though all inputs are finite.
  bool canOverflow(Value v) {
    if (ranges.of(v).high < std::exp(bound)) return false;
    SmallVector<Value> work{v};
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (!op || !seen.insert(op).second) continue;
      auto u = dyn_cast<UnaryOp>(op);
      if (u && u.getKind() == UnaryKind::Exp && ranges.of(u.getX()).high > bound) return true;
      work.append(op->operand_begin(), op->operand_end());
    }
    return false;
  }

  void guard(BinaryOp op, Value x) {
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    Value zero = ConstantOp::create(b, op.getLoc(), b.getF64FloatAttr(0));
    auto isZero = BinaryOp::create(b, op.getLoc(), BinaryKind::Eq, x, zero);
    auto safe = SelectOp::create(b, op.getLoc(), isZero, zero, op, b.getUnitAttr());
    op.getResult().replaceAllUsesExcept(safe, safe);
  }

  Block &body;
  StateDependence states;
  RangeAnalysis ranges;
};

struct Pass : lintel::impl::GuardGrowthBase<Pass> {
  using GuardGrowthBase::GuardGrowthBase;
  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody())
      if (isa<RecurrentOp, StepOp>(op))
        Guard(op.getRegion(0).front(), op.getAttrOfType<ArrayAttr>("inputs").size()).run();
  }
};

} // namespace

// A vector meets the factors of a product of matrices one by one: `q @ (P @ C - G)` is `(q @ P) @ C - q @ G`, whose
// cost is that of three matrices' reading instead of a product of two.
#include "compiler/transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace lintel {
#define GEN_PASS_DEF_REORDERPRODUCTS
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

int64_t rankOf(Value v) { return cast<RealType>(v.getType()).getRank(); }

bool isProduct(Operation *op) {
  auto m = dyn_cast<MatmulOp>(op);
  return m && rankOf(m.getA()) == 2 && rankOf(m.getB()) == 2;
}

/// The operands of `op` that a linear map of its result goes into; empty where it is not linear in matrices.
SmallVector<OpOperand *> linearParts(Operation *op) {
  SmallVector<OpOperand *> parts;
  auto matrices = [&] {
    for (OpOperand &operand : op->getOpOperands())
      if (rankOf(operand.get()) == 2) parts.push_back(&operand);
    return parts;
  };
  if (auto u = dyn_cast<UnaryOp>(op)) return u.getKind() == UnaryKind::Neg ? matrices() : parts;
  auto b = dyn_cast<BinaryOp>(op);
  if (!b) return parts;
  int64_t ra = rankOf(b.getA()), rb = rankOf(b.getB());
  switch (b.getKind()) {
  case BinaryKind::Add:
  case BinaryKind::Sub: // a number added to each element is no matrix that a vector could meet
    return ra == 2 && rb == 2 ? matrices() : parts;
  case BinaryKind::Mul:
    return (ra == 0) != (rb == 0) ? matrices() : parts;
  case BinaryKind::Div:
    return ra == 2 && rb == 0 ? matrices() : parts;
  default:
    return parts;
  }
}

/// Whether a product of matrices, which nothing else needs, is all of `v` or a term of it.
bool hasProduct(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || rankOf(v) != 2 || !v.hasOneUse()) return false;
  return isProduct(op) || llvm::any_of(linearParts(op), [](OpOperand *part) { return hasProduct(part->get()); });
}

struct Pass : lintel::impl::ReorderProductsBase<Pass> {
  using ReorderProductsBase::ReorderProductsBase;

  static Value times(OpBuilder &b, Location loc, Value vector, Value matrix, bool vectorFirst) {
    if (!hasProduct(matrix))
      return vectorFirst ? MatmulOp::create(b, loc, vector, matrix) : MatmulOp::create(b, loc, matrix, vector);
    Operation *op = matrix.getDefiningOp();
    if (auto product = dyn_cast<MatmulOp>(op)) {
      Value near = vectorFirst ? product.getA() : product.getB(), far = vectorFirst ? product.getB() : product.getA();
      return times(b, loc, times(b, loc, vector, near, vectorFirst), far, vectorFirst);
    }
    IRMapping map;
    for (OpOperand *part : linearParts(op))
      if (!map.contains(part->get())) map.map(part->get(), times(b, loc, vector, part->get(), vectorFirst));
    SmallVector<Value> operands;
    for (Value v : op->getOperands()) operands.push_back(map.lookupOrDefault(v));
    if (auto u = dyn_cast<UnaryOp>(op)) return UnaryOp::create(b, loc, u.getKind(), operands[0]);
    return BinaryOp::create(b, loc, cast<BinaryOp>(op).getKind(), operands[0], operands[1]);
  }

  void runOnOperation() override {
    for (Operation &op : *getOperation().getBody()) {
      if (!isa<SpecOp, RecurrentOp>(op)) continue;
      SmallVector<MatmulOp> products(op.getRegion(0).getOps<MatmulOp>());
      // The last first: what it takes apart is dead before its factors are looked at.
      for (MatmulOp m : llvm::reverse(products)) {
        bool vectorFirst = rankOf(m.getA()) == 1;
        Value vector = vectorFirst ? m.getA() : m.getB(), matrix = vectorFirst ? m.getB() : m.getA();
        if (rankOf(vector) != 1 || !hasProduct(matrix)) continue;
        OpBuilder b(m);
        Value result = times(b, m.getLoc(), vector, matrix, vectorFirst);
        if (result.getType() != m.getType()) continue;
        m.replaceAllUsesWith(result);
        m.erase();
      }
    }
  }
};

} // namespace

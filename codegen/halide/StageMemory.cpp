#include "codegen/halide/StageMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace lintel;

namespace {

struct Allocation {
  memref::AllocaOp op;
  int64_t bytes;
  int64_t from = INT64_MAX, to = -1; ///< first and last op of the entry block that use it
  int64_t at = -1;
};

int64_t bytesOf(MemRefType type) {
  int64_t bits = type.getElementTypeBitWidth();
  return (type.getNumElements() * std::max<int64_t>(1, bits / 8) + 63) / 64 * 64;
}

/// Every op that uses the memory, through casts and views too.
void markUses(Value v, Block &entry, const DenseMap<Operation *, int64_t> &order, Allocation &a) {
  for (Operation *user : v.getUsers()) {
    int64_t n = order.lookup(entry.findAncestorOpInBlock(*user));
    a.from = std::min(a.from, n), a.to = std::max(a.to, n);
    for (Value result : user->getResults())
      if (isa<BaseMemRefType>(result.getType())) markUses(result, entry, order, a);
  }
}

} // namespace

int64_t lintel::moveToScratch(func::FuncOp fn, int64_t keep) {
  Block &entry = fn.getBody().front();
  DenseMap<Operation *, int64_t> order;
  SmallVector<Allocation> all;
  int64_t stack = 0;
  for (Operation &op : entry) {
    order[&op] = static_cast<int64_t>(order.size());
    auto alloca = dyn_cast<memref::AllocaOp>(op);
    if (!alloca || !alloca.getType().hasStaticShape()) continue;
    all.push_back({alloca, bytesOf(alloca.getType())});
    stack += all.back().bytes;
  }
  llvm::stable_sort(all, [](const Allocation &x, const Allocation &y) { return x.bytes > y.bytes; });
  SmallVector<Allocation *> placed;
  int64_t total = 0;
  for (Allocation &a : all) {
    if (stack <= keep) break;
    stack -= a.bytes;
    markUses(a.op, entry, order, a);
    // The lowest place that is free as long as it is in use.
    SmallVector<Allocation *> rivals;
    for (Allocation *p : placed)
      if (p->from <= a.to && a.from <= p->to) rivals.push_back(p);
    llvm::sort(rivals, [](Allocation *x, Allocation *y) { return x->at < y->at; });
    a.at = 0;
    for (Allocation *p : rivals)
      if (a.at + a.bytes > p->at) a.at = std::max(a.at, p->at + p->bytes);
    total = std::max(total, a.at + a.bytes);
    placed.push_back(&a);
  }
  if (placed.empty()) return 0;
  OpBuilder b(fn.getContext());
  auto type = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  unsigned n = fn.getNumArguments();
  if (failed(fn.insertArgument(n, type, {}, fn.getLoc()))) return 0;
  for (Allocation *a : placed) {
    b.setInsertionPoint(a->op);
    Value offset = arith::ConstantIndexOp::create(b, a->op.getLoc(), a->at);
    Value view = memref::ViewOp::create(b, a->op.getLoc(), a->op.getType(), fn.getArgument(n), offset, ValueRange());
    a->op.replaceAllUsesWith(view);
    a->op.erase();
  }
  return total;
}

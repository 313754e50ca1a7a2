// What the values of a step must be, in every phase.
#include "dialect/OperatorUtils.h"
#include "dialect/ShapeInference.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace lintel;

namespace {

/// Passes follow operands by recursion; a chain of more ops than this could exhaust the stack.
constexpr unsigned longestChain = 10000;
/// Ops that a region may have once each value is written out wherever it is used.
constexpr int64_t largestExpression = 4096;

} // namespace

LogicalResult lintel::verifySeen(Operation *op, int64_t window, int64_t ahead, int64_t first) {
  if (ahead < -1) return op->emitOpError("expected steps ahead of 0 or more, or -1 for no bound, found ") << ahead;
  if (first < 0) return op->emitOpError("expected first steps of 0 or more, found ") << first;
  if (first > 0 && window <= 0) return op->emitOpError("expected first steps only beside a window");
  return success();
}

LogicalResult lintel::verifyChunk(Operation *op, int64_t chunk) {
  if (chunk < 1) return op->emitOpError("expected a chunk of at least 1, found ") << chunk;
  if (chunk > maxChunk) return op->emitOpError("expected a chunk of at most ") << maxChunk << ", found " << chunk;
  return success();
}

LogicalResult lintel::verifyBound(Operation *op, RealType type, int64_t most) {
  if (!type.isStatic())
    return op->emitOpError("expected bound dimensions, found ") << type << "; run attn-bind-dimensions first";
  int64_t n = 1;
  for (int64_t size : type.getSizes())
    if (llvm::MulOverflow(n, size, n) || n > most)
      return op->emitOpError("expected at most 2^") << llvm::Log2_64(most) << " elements, found " << type;
  return success();
}

bool lintel::canBeWrittenOut(Block &block, ValueRange values) {
  llvm::DenseMap<Value, int64_t> sizes;
  auto sum = [&](ValueRange parts) {
    int64_t size = 1;
    for (Value v : parts) size = std::min(size + sizes.lookup(v), largestExpression + 1);
    return size;
  };
  for (Operation &op : block)
    for (Value v : op.getResults()) sizes[v] = sum(op.getOperands());
  return sum(values) <= largestExpression;
}

LogicalResult lintel::verifyWrittenSize(Operation *op, Region &region) {
  if (canBeWrittenOut(region.front(), region.front().getTerminator()->getOperands())) return success();
  return op->emitOpError("expected a region of at most ")
         << largestExpression << " operations once each value is written out at each of its uses";
}

LogicalResult lintel::verifyFreshName(Operation *from, StringRef name) {
  Operation *other = SymbolTable::lookupSymbolIn(from->getParentOp(), name);
  if (!other) return success();
  return from->emitOpError("expected no operator '")
         << name << "' yet, which is to be derived from this one; rename one";
}

bool lintel::dependsOnlyOn(Value v, unsigned inputs, unsigned state) {
  SmallVector<Value> work{v};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value x = work.pop_back_val();
    if (!seen.insert(x).second) continue;
    if (auto arg = dyn_cast<BlockArgument>(x)) {
      if (arg.getArgNumber() >= inputs && arg.getArgNumber() != inputs + state) return false;
    } else {
      llvm::append_range(work, x.getDefiningOp()->getOperands());
    }
  }
  return true;
}

LogicalResult lintel::verifyBlockArguments(Operation *op, Region &region, unsigned expected, bool bound) {
  if (!region.hasOneBlock()) return op->emitOpError("expected a region of one block");
  Block &block = region.front();
  if (block.getNumArguments() != expected)
    return op->emitOpError("expected ") << expected << " block arguments, found " << block.getNumArguments();
  for (BlockArgument arg : block.getArguments()) {
    auto type = dyn_cast<RealType>(arg.getType());
    if (!type) return op->emitOpError("expected tensors as block arguments, found ") << arg.getType();
    if (type.getRank() > 2) return op->emitOpError("expected a scalar, a vector or a matrix, found ") << type;
    if (bound && failed(verifyBound(op, type))) return failure();
  }
  if (!isa<YieldOp>(block.getTerminator())) return op->emitOpError("expected the body to end in attn.yield");
  return success();
}

LogicalResult lintel::verifyStepOps(Operation *op, Region &region, bool bound, bool final, bool attend) {
  llvm::DenseMap<Value, unsigned> chain;        // ops up to and with the value's
  llvm::DenseMap<Operation *, unsigned> inside; // of an attn.attend's regions
  auto check = [&](Operation *inner) -> LogicalResult {
    bool known = isa<ConstantOp, DimOp, PositionOp, UnaryOp, BinaryOp, SelectOp, BroadcastOp, MatmulOp, OuterOp,
                     ReduceOp, CumsumOp, ConcatOp, ExtractOp, FlattenOp, YieldOp>(inner);
    bool outermost = inner->getParentRegion() == &region;
    if (!known && !(final && outermost && isa<FinalOp>(inner)) && !(attend && outermost && isa<AttendOp>(inner)))
      return inner->emitOpError("does not belong into this region of ") << op->getName();
    for (Type type : inner->getResultTypes()) {
      auto t = cast<RealType>(type);
      if (t.getRank() > 2) return inner->emitOpError("expected a scalar, a vector or a matrix, found ") << t;
      if (bound && failed(verifyBound(inner, t))) return failure();
    }
    if (auto dim = dyn_cast<DimOp>(inner); dim && bound && !DimExpr::parse(dim.getDim())->getConstant())
      return inner->emitOpError("expected a bound dimension, found \"") << dim.getDim() << "\"";
    if (auto extract = dyn_cast<ExtractOp>(inner); extract && bound && !constantIndex(extract.getIndex()))
      return inner->emitOpError("expected a bound index, found \"") << extract.getIndex() << "\"";
    unsigned length = inside.lookup(inner);
    for (Value v : inner->getOperands()) length = std::max(length, chain.lookup(v));
    if (++length > longestChain)
      return inner->emitOpError("expected at most ") << longestChain << " operations one upon another";
    for (Value v : inner->getResults()) chain[v] = length;
    unsigned &outer = inside[inner->getParentOp()];
    outer = std::max(outer, length);
    return success();
  };
  // Operations inside of others come first.
  return failure(region
                     .walk([&](Operation *inner) {
                       return failed(check(inner)) ? WalkResult::interrupt() : WalkResult::advance();
                     })
                     .wasInterrupted());
}

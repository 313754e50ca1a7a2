// A step reads a state and writes it: in one pass over its rows each element is read from memory once. Beyond the
// caches (decode of many heads) that is what a step costs.
#include "compiler/transforms/Passes.h"
#include "dialect/OperatorUtils.h"
#include "mlir/IR/Builders.h"

namespace lintel {
#define GEN_PASS_DEF_WALKSTATES
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

/// Element by element arithmetic of vectors, without code of its own (an exponential).
bool isPlain(Operation *op) {
  if (isa<ConstantOp, AtOp, SelectOp, YieldOp, arith::ConstantIndexOp>(op)) return true;
  if (auto u = dyn_cast<UnaryOp>(op)) return u.getKind() == UnaryKind::Neg;
  auto b = dyn_cast<BinaryOp>(op);
  return b && !llvm::is_contained({BinaryKind::Pow, BinaryKind::And, BinaryKind::Or}, b.getKind()) &&
         b.getKind() != BinaryKind::Min && b.getKind() != BinaryKind::Max;
}

/// The states of one shape that a step updates, and what reads them.
struct Walk {
  SmallVector<StageOp> states, reads;
  llvm::SmallPtrSet<Operation *, 8> behind; ///< what the reads feed
};

class Finder {
public:
  Finder(ScanOp scan) : block(scan.getBody().front()) {}

  std::optional<Walk> find(RealType type) {
    Walk walk;
    SmallVector<Value> before; // the states' values at the step's start
    for (auto [k, v] : llvm::enumerate(block.getTerminator()->getOperands())) {
      auto stage = v.getDefiningOp<StageOp>();
      if (v.getType() != type || !stage || stage->getBlock() != &block || !stage->hasOneUse()) continue;
      walk.states.push_back(stage);
      before.push_back(block.getArgument(k + 1));
    }
    if (walk.states.empty()) return std::nullopt;
    for (StageOp stage : walk.states)
      if (!updatesInRows(stage, before)) return std::nullopt;
    for (auto stage : block.getOps<StageOp>())
      if (readsInRows(stage, before, type)) walk.reads.push_back(stage);
    // What reads a state elsewhere must have read it before; what a read feeds comes behind and reads no state at all.
    llvm::erase_if(walk.reads, [&](StageOp read) {
      llvm::SmallPtrSet<Operation *, 8> fed;
      bool apart = feeds(read, fed);
      if (apart) walk.behind.insert(fed.begin(), fed.end());
      return !apart;
    });
    if (walk.reads.empty()) return std::nullopt;
    for (StageOp stage : walk.states)
      if (walk.behind.contains(stage)) return std::nullopt;
    for (StageOp read : walk.reads)
      if (walk.behind.contains(read)) return std::nullopt;
    return walk;
  }

private:
  /// Vectors lie along the last axis `e`: it is the last index, or none.
  static bool alongLast(AtOp at, Value e) {
    auto indices = at.getIndices();
    return llvm::all_of(indices,
                        [](Value i) { return isa<BlockArgument>(i) || i.getDefiningOp<arith::ConstantIndexOp>(); }) &&
           (indices.empty() || llvm::all_of(indices.drop_back(), [&](Value i) { return i != e; }));
  }

  bool updatesInRows(StageOp stage, ArrayRef<Value> before) {
    if (stage.isSerial() || isPrecise(stage)) return false;
    Block &body = stage.getBody().front();
    return llvm::all_of(body, [&](Operation &op) {
      auto at = dyn_cast<AtOp>(op);
      if (!at) return isPlain(&op) && op.getNumRegions() == 0;
      if (llvm::is_contained(before, at.getX())) return llvm::equal(at.getIndices(), body.getArguments());
      return alongLast(at, body.getArgument(1)) && !isCarried(at.getX());
    });
  }

  /// Whether the stage is a row [1, e] with sums over the states' rows.
  bool readsInRows(StageOp stage, ArrayRef<Value> before, RealType type) {
    auto sizes = stage.getType().getSizes(), shape = type.getSizes();
    if (stage.isSerial() || isPrecise(stage) || sizes.size() != 2 || sizes[0] != 1 || sizes[1] != shape[1])
      return false;
    Block &body = stage.getBody().front();
    Value e = body.getArgument(1);
    bool any = false;
    auto ok = [&](Operation &op, Value c) {
      auto at = dyn_cast<AtOp>(op);
      if (!at) return isPlain(&op);
      if (!llvm::is_contained(before, at.getX())) return alongLast(at, e) && !isCarried(at.getX());
      any = true;
      return c && at.getIndices().size() == 2 && at.getIndices()[0] == c && at.getIndices()[1] == e;
    };
    for (Operation &op : body) {
      auto fold = dyn_cast<FoldOp>(op);
      if (!fold) {
        if (!ok(op, {})) return false;
        continue;
      }
      if (fold.getKind() != ReduceKind::Sum || fold.getLast() || static_cast<int64_t>(fold.getExtent()) != shape[0])
        return false;
      Block &inner = fold.getBody().front();
      for (Operation &inside : inner)
        if (!ok(inside, inner.getArgument(0))) return false;
    }
    return any;
  }

  bool isCarried(Value v) {
    auto arg = dyn_cast<BlockArgument>(v);
    return arg && arg.getOwner() == &block;
  }

  /// Everything in the block that `read` feeds; false where one of it reads a carried value or becomes one.
  bool feeds(StageOp read, llvm::SmallPtrSetImpl<Operation *> &fed) {
    SmallVector<Operation *> work{read};
    while (!work.empty()) {
      for (Operation *user : work.pop_back_val()->getUsers()) {
        Operation *top = block.findAncestorOpInBlock(*user);
        if (isa<YieldOp>(top)) return false;
        auto stage = dyn_cast<StageOp>(top);
        if (!stage || !fed.insert(stage).second) continue;
        bool carried = false;
        stage->walk([&](AtOp at) { carried |= isCarried(at.getX()); });
        if (carried || stage.isSerial()) return false;
        work.push_back(stage);
      }
    }
    return true;
  }

  Block &block;
};

struct Pass : lintel::impl::WalkStatesBase<Pass> {
  using WalkStatesBase::WalkStatesBase;

  void runOnOperation() override {
    getOperation().walk([&](ScanOp scan) {
      if (scan.getChunk() == 1) walkIn(scan);
    });
  }

  static void walkIn(ScanOp scan) {
    Block &block = scan.getBody().front();
    SmallVector<RealType> shapes;
    for (Value v : block.getTerminator()->getOperands())
      if (auto type = dyn_cast<RealType>(v.getType()); type && type.getRank() == 2 && !llvm::is_contained(shapes, type))
        shapes.push_back(type);
    for (RealType type : shapes) {
      auto walk = Finder(scan).find(type);
      if (!walk) continue;
      int64_t last = 0;
      for (auto stage : block.getOps<StageOp>()) last = std::max(last, static_cast<int64_t>(stage.getGroup()));
      auto mark = UnitAttr::get(scan.getContext());
      // Behind all that is there: what else reads these states has done so.
      for (auto *list : {&walk->reads, &walk->states})
        for (StageOp stage : *list) {
          stage->setAttr("walk", mark);
          stage.setGroup(last + 1);
          stage->moveBefore(block.getTerminator());
        }
      SmallVector<StageOp> behind;
      for (auto stage : block.getOps<StageOp>())
        if (walk->behind.contains(stage)) behind.push_back(stage);
      for (StageOp stage : behind) {
        stage.setGroup(last + 2);
        stage->moveBefore(block.getTerminator());
      }
      // The output is emitted behind all stages.
      SmallVector<EmitOp> emits(block.getOps<EmitOp>());
      for (EmitOp emit : emits) emit->moveBefore(block.getTerminator());
    }
  }
};

} // namespace

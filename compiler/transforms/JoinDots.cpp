// Where a step updates a state several times, each update reads what those before it wrote: m updates make m (m - 1) /
// 2 scalar products of their vectors. A stage for each would be most of what is compiled; all of them are elements of
// one product, [i, a, b] = x_a[i] . y_b[i], of the vectors side by side.
#include "compiler/transforms/StageEmitter.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace lintel;

/// Fewer are not worth the copies of the vectors.
static constexpr size_t fewest = 4;

static bool isDot(Operation *op) {
  auto m = dyn_cast_if_present<MatmulOp>(op);
  return m && m.getType().getRank() == 0;
}

/// How many dots lie behind one another on the way to `v`: those of one level do not need each other.
static int64_t levelOf(Value v, DenseMap<Value, int64_t> &levels) {
  Operation *op = v.getDefiningOp();
  if (!op) return 0;
  if (auto it = levels.find(v); it != levels.end()) return it->second;
  int64_t level = 0;
  for (Value x : op->getOperands()) level = std::max(level, levelOf(x, levels));
  return levels[v] = level + (isDot(op) ? 1 : 0);
}

void StageEmitter::joinDots(Block &step, int64_t rows) {
  llvm::MapVector<std::pair<int64_t, int64_t>, SmallVector<MatmulOp>> groups; // by level and length
  DenseMap<Value, int64_t> levels;
  for (MatmulOp dot : step.getOps<MatmulOp>())
    if (isDot(dot) && !isKnown(dot.getResult()) && variesWithStep(dot.getA()) && variesWithStep(dot.getB()))
      groups[{levelOf(dot.getResult(), levels), dot.getA().getType().getSizes()[0]}].push_back(dot);
  auto members = groups.takeVector();
  llvm::stable_sort(members, [](const auto &x, const auto &y) { return x.first.first < y.first.first; });
  for (auto &[key, dots] : members) {
    llvm::SetVector<Value> left, right;
    for (MatmulOp dot : dots) left.insert(dot.getA()), right.insert(dot.getB());
    // At least about half of what the product computes is asked for.
    if (dots.size() < fewest || left.size() * right.size() > 2 * dots.size() + 2) continue;
    auto sideBySide = [&](StringRef name, ArrayRef<Value> vectors) {
      for (Value v : vectors) materialize(v, name.lower(), rows);
      SmallVector<int64_t> sizes{rows, static_cast<int64_t>(vectors.size()), key.second};
      return stage(name, {"i", "a", "c"}, sizes, [&](Indices idx) {
        Value x;
        for (auto [n, v] : llvm::enumerate(vectors)) {
          Value own = scalar(v, {idx[0], idx[0]}, {idx[2]});
          x = x ? select(compare(BinaryKind::Eq, idx[1], index(n)), own, x) : own;
        }
        return x;
      });
    };
    Value x = sideBySide("X", left.getArrayRef()), y = sideBySide("Y", right.getArrayRef());
    SmallVector<int64_t> sizes{rows, static_cast<int64_t>(left.size()), static_cast<int64_t>(right.size())};
    Value products = stage("dots", {"i", "a", "b"}, sizes, [&](Indices idx) {
      return fold(ReduceKind::Sum, "c", key.second, [&](Value c) {
        return mul(at(x, {idx[0], idx[1], c}), at(y, {idx[0], idx[2], c}));
      });
    });
    for (MatmulOp dot : dots) {
      int64_t a = llvm::find(left, dot.getA()) - left.begin(), b = llvm::find(right, dot.getB()) - right.begin();
      elements[dot.getResult()] = {products, a, b};
    }
    varying.clear();
  }
}

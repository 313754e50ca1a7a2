#include "compiler/transforms/StageEmitter.h"
#include "dialect/ShapeInference.h"

using namespace mlir;
using namespace lintel;

namespace {

RealType typeOf(Value v) { return cast<RealType>(v.getType()); }

bool isReduction(Operation *op) { return isa<MatmulOp, ReduceOp, CumsumOp>(op); }

/// Ops of an expression that are written out again at each use; more than any operator has that was written with sense.
constexpr int64_t largestExpression = 256;

/// Costs enough that computing it twice is worse than keeping it.
bool isCostly(Operation *op) {
  if (auto u = dyn_cast<UnaryOp>(op))
    return !llvm::is_contained({UnaryKind::Neg, UnaryKind::Relu, UnaryKind::Abs, UnaryKind::Not, UnaryKind::Ceil},
                               u.getKind());
  if (auto b = dyn_cast<BinaryOp>(op)) return b.getKind() == BinaryKind::Pow || b.getKind() == BinaryKind::Div;
  return false;
}

} // namespace

Value StageEmitter::number(double x) { return ConstantOp::create(builder, loc, builder.getF64FloatAttr(x)); }
Value StageEmitter::index(int64_t x) { return arith::ConstantIndexOp::create(builder, loc, x); }

Value StageEmitter::stage(StringRef name, ArrayRef<StringRef> axes, ArrayRef<int64_t> sizes, Body body, Value init,
                          Value solve, bool staggered) {
  auto type = RealType::get(builder.getContext(), sizes);
  auto op = StageOp::create(builder, loc, type, builder.getStringAttr(name), builder.getStrArrayAttr(axes), init,
                            staggered ? builder.getUnitAttr() : UnitAttr(), solve, UnitAttr(),
                            builder.getI64IntegerAttr(0), ScheduleAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block &block = op.getBody().emplaceBlock();
  SmallVector<Value> indices;
  for (size_t i = 0; i < sizes.size(); ++i) indices.push_back(block.addArgument(builder.getIndexType(), loc));
  if (init) indices.push_back(block.addArgument(RealType::get(builder.getContext(), ArrayRef<int64_t>{}), loc));
  builder.setInsertionPointToEnd(&block);
  Value result = body(indices);
  YieldOp::create(builder, loc, result);
  return op.getResult();
}

Value StageEmitter::fold(ReduceKind kind, StringRef axis, int64_t extent, llvm::function_ref<Value(Value)> body,
                         Value last) {
  auto op =
      FoldOp::create(builder, loc, RealType::get(builder.getContext(), ArrayRef<int64_t>{}), kind, axis, extent, last);
  OpBuilder::InsertionGuard guard(builder);
  Block &block = op.getBody().emplaceBlock();
  Value i = block.addArgument(builder.getIndexType(), loc);
  builder.setInsertionPointToEnd(&block);
  YieldOp::create(builder, loc, body(i));
  return op.getResult();
}

Value StageEmitter::reduceScalar(Operation *op, RowIndices rows, Indices indices) {
  if (auto m = dyn_cast<MatmulOp>(op)) {
    unsigned ra = typeOf(m.getA()).getRank();
    SmallVector<Value> left(indices.take_front(ra - 1)), right(indices.drop_front(ra - 1));
    return fold(ReduceKind::Sum, "r", typeOf(m.getA()).getSizes().back(), [&](Value r) {
      SmallVector<Value> a(left), b{r};
      a.push_back(r);
      b.append(right);
      return mul(scalar(m.getA(), rows, a), scalar(m.getB(), rows, b));
    });
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return fold(reduce.getKind(), "r", typeOf(reduce.getX()).getSizes()[0],
                [&](Value r) { return scalar(reduce.getX(), rows, {r}); });
  auto cumsum = cast<CumsumOp>(op);
  return fold(ReduceKind::Sum, "r", typeOf(cumsum.getX()).getSizes()[0], [&](Value r) {
    return select(compare(BinaryKind::Le, r, indices[0]), scalar(cumsum.getX(), rows, {r}), number(0));
  });
}

Value StageEmitter::scalar(Value v, RowIndices rows, Indices indices) {
  if (auto it = scalars.find(v); it != scalars.end()) return it->second;
  if (auto it = elements.find(v); it != elements.end())
    return at(it->second.tensor, {rows.i, index(it->second.a), index(it->second.b)});
  if (auto it = bound.find(v); it != bound.end()) {
    SmallVector<Value> all;
    if (it->second.row != None) all.push_back(it->second.row == I ? rows.i : rows.j);
    all.append(indices.begin(), indices.end());
    return at(it->second.tensor, all);
  }
  Operation *op = v.getDefiningOp();
  assert(op && "a block argument that nothing stands for");
  // An operand that broadcasts has fewer axes; it runs along the first ones.
  auto operand = [&](Value x) { return scalar(x, rows, indices.take_front(typeOf(x).getRank())); };
  if (auto c = dyn_cast<ConstantOp>(op)) return number(c.getValueAttr().getValueAsDouble());
  // Bound, so a constant, though nobody may have folded it yet.
  if (auto d = dyn_cast<DimOp>(op)) return number(static_cast<double>(*DimExpr::parse(d.getDim())->getConstant()));
  if (isa<PositionOp>(op)) {
    Value step = arith::AddIOp::create(builder, loc, position, rows.i);
    return add(NumberOp::create(builder, loc, step),
               StartOp::create(builder, loc, RealType::get(builder.getContext(), ArrayRef<int64_t>{})));
  }
  if (auto u = dyn_cast<UnaryOp>(op)) return unary(u.getKind(), operand(u.getX()));
  if (auto b = dyn_cast<BinaryOp>(op)) return binary(b.getKind(), operand(b.getA()), operand(b.getB()));
  if (auto s = dyn_cast<SelectOp>(op))
    return SelectOp::create(builder, loc, operand(s.getCondition()), operand(s.getA()), operand(s.getB()),
                            s.getGuardAttr());
  if (auto b = dyn_cast<BroadcastOp>(op)) return operand(b.getX());
  if (auto o = dyn_cast<OuterOp>(op))
    return mul(scalar(o.getA(), rows, {indices[0]}), scalar(o.getB(), rows, {indices[1]}));
  if (isReduction(op)) return reduceScalar(op, rows, indices);
  if (auto e = dyn_cast<ExtractOp>(op)) {
    SmallVector<Value> inner{index(*constantIndex(e.getIndex()))};
    inner.append(indices.begin(), indices.end());
    return scalar(e.getX(), rows, inner);
  }
  if (auto f = dyn_cast<FlattenOp>(op)) {
    Value n = index(typeOf(f.getX()).getSizes()[1]);
    return scalar(f.getX(), rows,
                  {arith::DivUIOp::create(builder, loc, indices[0], n).getResult(),
                   arith::RemUIOp::create(builder, loc, indices[0], n).getResult()});
  }
  if (auto c = dyn_cast<ConcatOp>(op)) {
    // Each part at an index clamped into it; the right one is chosen. Nothing outside a part is ever read.
    Value result;
    int64_t end = typeOf(v).getSizes()[0];
    for (Value part : llvm::reverse(c.getParts())) {
      int64_t n = typeOf(part).getRank() ? typeOf(part).getSizes()[0] : 1, begin = end - n;
      Value x;
      if (typeOf(part).getRank() == 0) x = scalar(part, rows, {});
      else {
        Value k = arith::SubIOp::create(builder, loc, indices[0], index(begin));
        if (begin > 0) k = arith::MaxSIOp::create(builder, loc, k, index(0));
        if (result) k = arith::MinSIOp::create(builder, loc, k, index(n - 1));
        x = scalar(part, rows, {k});
      }
      result = result ? select(compare(BinaryKind::Lt, indices[0], index(end)), x, result) : x;
      end = begin;
    }
    return result;
  }
  llvm_unreachable("an op of a step that has no scalar meaning here");
}

bool StageEmitter::variesWithStep(Value v) {
  if (scalars.count(v) || elements.count(v)) return true;
  if (auto it = bound.find(v); it != bound.end()) return it->second.row != None;
  Operation *op = v.getDefiningOp();
  if (!op || isa<PositionOp>(op)) return true;
  if (auto it = varying.find(v); it != varying.end()) return it->second;
  bool varies = llvm::any_of(op->getOperands(), [&](Value x) { return variesWithStep(x); });
  return varying[v] = varies;
}

bool StageEmitter::dependsOnScalar(Value v) {
  if (scalars.count(v)) return true;
  if (isKnown(v) || !v.getDefiningOp()) return false;
  if (auto it = onScalar.find(v); it != onScalar.end()) return it->second;
  bool depends = llvm::any_of(v.getDefiningOp()->getOperands(), [&](Value x) { return dependsOnScalar(x); });
  return onScalar[v] = depends;
}

/// How many ops `scalar` makes of `v`, about.
int64_t StageEmitter::writtenSize(Value v) {
  if (isKnown(v) || !v.getDefiningOp()) return 1;
  if (auto it = sizes.find(v); it != sizes.end()) return it->second;
  int64_t size = 1;
  for (Value x : v.getDefiningOp()->getOperands()) size = std::min(size + writtenSize(x), 2 * largestExpression);
  return sizes[v] = size;
}

bool StageEmitter::deservesStage(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op) return false;
  if (isReduction(op)) return true;
  // Twice of twice of twice: an expression that is not kept anywhere doubles at each level.
  if (!v.hasOneUse() && writtenSize(v) > largestExpression) return true;
  if (typeOf(v).getRank() > 1 || isa<ConstantOp>(op)) return false;
  // In a reduction over one axis with a result over another, an operand is computed again for each element of the
  // result.
  for (Operation *user : v.getUsers())
    if ((isReduction(user) || isa<OuterOp>(user)) && typeOf(v).getRank() == 1) return true;
  if (!isCostly(op)) return false;
  if (!v.hasOneUse()) return true;
  for (Operation *user : v.getUsers())
    if (user->getNumResults() == 1 && typeOf(user->getResult(0)).getRank() > typeOf(v).getRank()) return true;
  return false;
}

void StageEmitter::prepare(Value v, int64_t rows) {
  if (isKnown(v) || !v.getDefiningOp() || !prepared.insert(v).second) return;
  for (Value operand : v.getDefiningOp()->getOperands()) {
    prepare(operand, rows);
    // What hangs on a scalar, which only the stage around it has, is written out there.
    if (!isBound(operand) && !elements.count(operand) && !dependsOnScalar(operand) && deservesStage(operand))
      materialize(operand, ("x" + Twine(unnamed++)).str(), rows);
  }
}

void StageEmitter::materialize(Value v, StringRef name, int64_t rows) {
  if (isBound(v)) return;
  prepare(v, rows);
  bool varies = rows > 0 && variesWithStep(v);
  SmallVector<int64_t> sizes;
  SmallVector<StringRef> axes;
  if (varies) sizes.push_back(rows), axes.push_back("i");
  static const StringRef names[2] = {"c", "e"};
  for (auto [d, n] : llvm::enumerate(typeOf(v).getSizes())) sizes.push_back(n), axes.push_back(names[d]);
  Value tensor = stage(name, axes, sizes, [&](Indices indices) {
    Value i = varies ? indices[0] : index(0);
    return scalar(v, {i, i}, varies ? indices.drop_front() : indices);
  });
  bind(v, tensor, varies ? I : None);
}

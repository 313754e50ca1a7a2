// Sums of products of bf16 pairs: r = sum_c x[i,c] y[c,e] with both factors rounded to bf16, two neighbouring c at a
// time, added up in f32. The processor's instruction takes both of a pair from one 32-bit lane, so each factor is
// packed once ("row" and "column" below), and everything else is as for sums in f32, over half as many terms.
#include "codegen/halide/StageExpressions.h"

using namespace mlir;
using namespace lintel;
namespace H = Halide;

/// What is packed should be used so often at least.
static constexpr int64_t fewestUses = 4;

static bool hasFold(StageOp stage, Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || !stage.getBody().isAncestor(op->getParentRegion())) return false;
  return isa<FoldOp>(op) || llvm::any_of(op->getOperands(), [&](Value x) { return hasFold(stage, x); });
}

/// What a triangular solve takes as its matrix: its rounding would grow from row to row.
static bool isSolved(StageOp stage) {
  return llvm::any_of(stage->getUsers(), [&](Operation *user) {
    if (auto s = dyn_cast<StageOp>(user)) return s.getSolve() == stage.getResult();
    auto in = user->getParentOfType<StageOp>(); // a stage that only gathers it
    return in && in->getBlock() == stage->getBlock() && !in.isSerial() && in.getType().getRank() == 2 && isSolved(in);
  });
}

std::optional<StageExpressions::Pairs> StageExpressions::pairsOf(FoldOp fold) const {
  StageOp op = stages[current].op;
  auto sizes = op.getType().getSizes();
  if (request.pairs == PairInstructions::None || type.bits() != 32 || nested || op.isSerial() || sizes.size() < 2)
    return std::nullopt;
  if (fold.getKind() != ReduceKind::Sum || fold.getExtent() < 2 || isSolved(op)) return std::nullopt;
  if (op.getType().getNumElements() / sizes.back() < fewestUses || sizes.back() < fewestUses) return std::nullopt;
  ValueRange axes = op.getBody().front().getArguments();
  Value inner = axes[sizes.size() - 1], along = fold.getBody().front().getArgument(0);
  Pairs pairs;
  SmallVector<Value> work{fold.getBody().front().getTerminator()->getOperand(0)};
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (auto b = v.getDefiningOp<BinaryOp>(); b && b.getKind() == BinaryKind::Mul) {
      work.append({b.getB(), b.getA()});
      continue;
    }
    if (hasFold(op, v)) return std::nullopt;
    bool column = dependsOn(op, v, inner);
    bool row = llvm::any_of(axes.take_front(sizes.size() - 1), [&](Value axis) { return dependsOn(op, v, axis); });
    if (column && row) return std::nullopt;
    (column ? pairs.column : pairs.row).push_back(v);
  }
  auto runs = [&](ArrayRef<Value> factors) {
    return llvm::any_of(factors, [&](Value v) { return dependsOn(op, v, along); });
  };
  if (!runs(pairs.row) || !runs(pairs.column)) return std::nullopt;
  return pairs;
}

/// The pairs of a factor: axes of the stage that it depends on, and the pair's number. Innermost is the axis along
/// which it lies in memory.
StageExpressions::Packed &StageExpressions::packed(FoldOp fold, ArrayRef<Value> factors, bool column) {
  StageOp op = stages[current].op;
  ValueRange axes = op.getBody().front().getArguments();
  auto sizes = op.getType().getSizes();
  Value along = fold.getBody().front().getArgument(0);
  // The same tensor at the same places, in another stage's sum.
  std::string key = (column ? "c" : "r") + std::to_string(sizes.size()) + "x" + std::to_string(fold.getExtent());
  bool plain = true;
  for (Value v : factors) {
    auto at = v.getDefiningOp<AtOp>();
    if (!at) plain = false;
    if (!plain) break;
    key += "@" + std::to_string(reinterpret_cast<uintptr_t>(at.getX().getAsOpaquePointer()));
    for (Value i : at.getIndices()) {
      auto axis = llvm::find(axes, i);
      bool inner = axis != axes.end() && size_t(axis - axes.begin()) + 1 == sizes.size();
      if (i == along) key += ",along";
      else if (axis == axes.end()) plain = false;
      else
        key += "," + std::string(inner ? "i" : std::to_string(axis - axes.begin())) + ":" +
               std::to_string(sizes[axis - axes.begin()]);
    }
  }
  if (plain)
    if (auto it = packedOf.find(key); it != packedOf.end()) return packs[it->second];
  Packed p{H::Func("pairs"), {}, {}, {}};
  int extent = static_cast<int>(fold.getExtent());
  H::Var pair("pair");
  p.axes.push_back(sizes.size()); // stands for the pair
  p.vars.push_back(pair);
  p.sizes.push_back((extent + 1) / 2);
  for (unsigned d = sizes.size(); d-- > 0;) {
    if (!llvm::any_of(factors, [&](Value v) { return dependsOn(op, v, axes[d]); })) continue;
    p.axes.push_back(d);
    p.vars.push_back(H::Var("p" + std::to_string(d)));
    p.sizes.push_back(sizes[d]);
  }
  auto first = factors.front().getDefiningOp<AtOp>();
  bool alongInner = !column && first && !first.getIndices().empty() && first.getIndices().back() == along;
  if (!alongInner && p.axes.size() > 1)
    std::swap(p.axes[0], p.axes[1]), std::swap(p.vars[0], p.vars[1]), std::swap(p.sizes[0], p.sizes[1]);
  auto value = [&](H::Expr at) {
    Scope scope;
    for (auto [d, axis] : llvm::enumerate(p.axes))
      if (axis < sizes.size()) scope.indices.push_back({axes[axis], p.vars[d]});
    scope.indices.push_back({along, at});
    H::Expr product;
    for (Value v : factors) product = product.defined() ? product * number(v, scope) : number(v, scope);
    return product;
  };
  H::Expr low = value(pair * 2), high;
  if (extent % 2)
    high = H::select(pair * 2 + 1 < extent, value(H::min(pair * 2 + 1, extent - 1)), H::Internal::make_zero(type));
  else high = value(pair * 2 + 1);
  p.func(p.vars) = H::Internal::Call::make(H::UInt(32), "lintel_pack_bf16", {low, high}, H::Internal::Call::PureExtern);
  if (plain) packedOf[key] = packs.size();
  packs.push_back(std::move(p));
  return packs.back();
}

void StageExpressions::addPairedReduction(Accumulator &acc, FoldOp fold, const Pairs &pairs,
                                          const std::vector<H::Var> &vars, Scope &scope) {
  StageOp op = stages[current].op;
  unsigned rank = op.getType().getRank();
  auto load = [&](ArrayRef<Value> factors, bool column, H::Expr pair) {
    Packed &p = packed(fold, factors, column);
    std::vector<H::Expr> at;
    // vars are innermost first, axes outermost first.
    for (unsigned axis : p.axes) at.push_back(axis == rank ? pair : H::Expr(vars[rank - 1 - axis]));
    return p.func(at);
  };
  auto dot = [&](H::Expr row, H::Expr column) {
    return H::Internal::Call::make(type, "lintel_dot_bf16", {acc.func(vars), row, column},
                                   H::Internal::Call::PureExtern);
  };
  auto whole = [&](H::Expr pair) { return dot(load(pairs.row, false, pair), load(pairs.column, true, pair)); };
  // Of the pair at the end only its first half is looked at: the other may be an infinity of a later step.
  auto upTo = [&](H::Expr pair, H::Expr last) -> H::Expr {
    auto half = [&](H::Expr bits) { return H::select(pair * 2 + 1 <= last, bits, bits & H::Expr(uint32_t(0xffff))); };
    H::Expr row = half(load(pairs.row, false, pair)), column = half(load(pairs.column, true, pair));
    return H::select(pair * 2 <= last, dot(row, column), acc.func(vars));
  };
  addUpdates(acc, fold, /*width=*/2, vars, scope, whole, upTo);
}

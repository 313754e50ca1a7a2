#include "codegen/halide/StageExpressions.h"

using namespace mlir;
using namespace lintel;
namespace H = Halide;

/// A copy with exchanged axes costs about as much as reading it so many times.
static constexpr int64_t mostReads = 4;

bool lintel::dependsOn(StageOp stage, Value v, Value axis) {
  if (v == axis) return true;
  Operation *op = v.getDefiningOp();
  return op && stage.getBody().isAncestor(op->getParentRegion()) &&
         llvm::any_of(op->getOperands(), [&](Value x) { return dependsOn(stage, x, axis); });
}

bool StageExpressions::isSumOfFolds(Value v) const {
  Operation *op = v.getDefiningOp();
  if (isa_and_present<FoldOp>(op)) return true;
  auto b = dyn_cast_if_present<BinaryOp>(op);
  auto part = [&](Value x) {
    auto f = x.getDefiningOp<FoldOp>();
    return f ? f.getKind() == ReduceKind::Sum : isa_and_present<BinaryOp>(x.getDefiningOp()) && isSumOfFolds(x);
  };
  return b && b.getKind() == BinaryKind::Add && (part(b.getA()) || part(b.getB()));
}

void StageExpressions::addReduction(Accumulator &acc, FoldOp fold, const std::vector<H::Var> &vars, Scope &scope) {
  auto term = [&](H::Expr at) {
    Scope body;
    body.indices = scope.indices;
    body.indices.push_back({fold.getBody().front().getArgument(0), at});
    return number(fold.getBody().front().getTerminator()->getOperand(0), body);
  };
  auto join = [&](H::Expr x) -> H::Expr {
    H::Expr sum = acc.func(vars);
    return fold.getKind() == ReduceKind::Max ? H::max(sum, x) : sum + x;
  };
  addUpdates(
      acc, fold, /*width=*/1, vars, scope, [&](H::Expr at) { return join(term(at)); },
      [&](H::Expr at, H::Expr last) { return join(H::select(at <= last, term(at), H::Internal::make_zero(type))); });
}

void StageExpressions::addUpdates(Accumulator &acc, FoldOp fold, int width, const std::vector<H::Var> &vars,
                                  Scope &scope, llvm::function_ref<H::Expr(H::Expr)> whole,
                                  llvm::function_ref<H::Expr(H::Expr, H::Expr)> upTo) {
  StageOp op = stages[current].op;
  std::string name = (op.getName() + "_" + fold.getAxis()).str();
  int extent = static_cast<int>(fold.getExtent()), count = (extent + width - 1) / width;
  auto finish = [&](H::RVar r, bool unrolled) {
    acc.reductions.push_back(r);
    acc.unrolled.push_back(unrolled);
  };
  if (!fold.getLast()) {
    H::RDom r(0, count, name);
    acc.func(vars) = whole(r.x);
    return finish(r.x, false);
  }
  H::Expr last = index(fold.getLast(), scope);
  // The sum's end runs with the row, as in a triangle: whole blocks in front of the tile's rows, then the block on the
  // diagonal, term by term.
  int rows = static_cast<int>(tileRows);
  bool triangle = vars.size() == 2 && rows > 1 && rows <= 8 && rows % width == 0 && extent % rows == 0 &&
                  op.getType().getSizes()[0] == extent;
  if (!triangle) {
    H::RDom r(0, count, name);
    acc.func(vars) = upTo(r.x, last);
    return finish(r.x, false);
  }
  H::Expr first = (vars[1] / rows) * (rows / width); // of the tile's rows
  if (extent > rows) {
    H::RDom before(0, count, name);
    before.where(before.x < first);
    acc.func(vars) = whole(before.x);
    finish(before.x, false);
  }
  H::RDom diagonal(0, rows / width, name + "_diagonal");
  acc.func(vars) = upTo(first + diagonal.x, last);
  finish(diagonal.x, true);
}

/// Whether vectors had better run along the reduction than along the stage's inner axis: where the term reads a matrix
/// along its rows (others would gather; a copy with exchanged axes is worth it only where it is read often), or
/// where the stage has but one element to compute.
bool StageExpressions::readsAlongRows(FoldOp fold) const {
  StageOp op = stages[current].op;
  auto sizes = op.getType().getSizes();
  if (nested || op.isSerial() || sizes.empty() || fold.getLast() || fold.getExtent() < 2) return false;
  Value inner = op.getBody().front().getArgument(sizes.size() - 1), along = fold.getBody().front().getArgument(0);
  bool rows = false, columns = false;
  int64_t reads = 1;
  fold.getBody().walk([&](Operation *inside) {
    if (isa<FoldOp>(inside)) columns = true;
    auto at = dyn_cast<AtOp>(inside);
    if (!at || !llvm::is_contained(at.getIndices(), along)) return;
    if (at.getIndices().back() != along) columns = true;
    else if (sizes.back() == 1) rows = true;
    else if (llvm::is_contained(at.getIndices(), inner)) {
      rows = true;
      // How often each of its elements is read.
      int64_t times = 1;
      for (auto [axis, n] : llvm::zip(op.getBody().front().getArguments(), sizes))
        if (axis != inner &&
            llvm::none_of(at.getIndices(), [&, axis = axis](Value i) { return dependsOn(op, i, axis); }))
          times *= n;
      reads = std::max(reads, times);
    }
  });
  return rows && !columns && reads <= mostReads;
}

/// The reduction as that of as many partial ones as a vector has lanes.
H::Expr StageExpressions::reduceAlongRow(FoldOp fold, Scope &inner, const std::vector<H::Var> &vars,
                                         const std::vector<H::Expr> &args, Scope &scope) {
  int extent = static_cast<int>(fold.getExtent());
  int lanes = std::min<int>(static_cast<int>(request.vectorBits / type.bits()), llvm::bit_floor(unsigned(extent)));
  auto term = [&](const Scope &around, H::Expr at) {
    Scope body;
    body.indices = around.indices;
    body.indices.push_back({fold.getBody().front().getArgument(0), at});
    alongRow = true;
    H::Expr e = number(fold.getBody().front().getTerminator()->getOperand(0), body);
    alongRow = false;
    return e;
  };
  auto join = [&](H::Expr a, H::Expr b) { return fold.getKind() == ReduceKind::Max ? H::max(a, b) : a + b; };
  Accumulator acc{H::Func("acc"), {}, {}, lanes};
  H::Var lane("lane");
  std::vector<H::Var> all{lane};
  all.insert(all.end(), vars.begin(), vars.end());
  H::RDom r(0, extent / lanes, (stages[current].op.getName() + "_" + fold.getAxis()).str());
  acc.func(all) = neutral(fold);
  acc.func(all) = join(acc.func(all), term(inner, r.x * lanes + lane));
  acc.reductions.push_back(r.x);
  acc.unrolled.push_back(false);
  stages[current].accumulators.push_back(acc);
  std::vector<H::Expr> parts;
  for (int l = 0; l < lanes; ++l) {
    std::vector<H::Expr> at{l};
    at.insert(at.end(), args.begin(), args.end());
    parts.push_back(acc.func(at));
  }
  for (; parts.size() > 1; parts.resize(parts.size() / 2))
    for (size_t i = 0; i < parts.size() / 2; ++i) parts[i] = join(parts[i], parts[i + parts.size() / 2]);
  for (int rest = extent / lanes * lanes; rest < extent; ++rest) parts[0] = join(parts[0], term(scope, rest));
  return parts[0];
}

H::Expr StageExpressions::neutral(FoldOp fold) const {
  if (fold.getKind() != ReduceKind::Max) return H::Internal::make_zero(type);
  return H::Internal::make_const(type, type.bits() == 64 ? -std::numeric_limits<double>::max()
                                                         : -std::numeric_limits<float>::max());
}

/// One accumulator for a sum of reductions and other terms: the terms start it, each reduction is an update.
H::Expr StageExpressions::reduce(Value v, Scope &scope) {
  SmallVector<FoldOp> folds;
  SmallVector<Value> terms, work{v};
  while (!work.empty()) {
    Value x = work.pop_back_val();
    auto fold = x.getDefiningOp<FoldOp>();
    if (fold && (fold.getKind() == ReduceKind::Sum || x == v)) folds.push_back(fold);
    else if (!fold && isSumOfFolds(x)) {
      auto b = x.getDefiningOp<BinaryOp>();
      work.push_back(b.getB());
      work.push_back(b.getA());
    } else terms.push_back(x);
  }
  SmallVector<FoldOp> alongRows;
  llvm::erase_if(folds, [&](FoldOp fold) {
    if (!readsAlongRows(fold)) return false;
    alongRows.push_back(fold);
    return true;
  });
  // The accumulator is a Func of all indices in scope.
  Scope inner;
  std::vector<H::Var> vars;
  std::vector<H::Expr> args;
  for (auto &[known, e] : scope.indices) {
    H::Var var(inner.indices.size() < stages[current].vars.size() && nested == 0
                   ? stages[current].vars[stages[current].vars.size() - 1 - inner.indices.size()].name()
                   : "n" + std::to_string(inner.indices.size()));
    inner.indices.push_back({known, var});
    vars.insert(vars.begin(), var);
    args.insert(args.begin(), e);
  }
  H::Expr sum;
  for (FoldOp fold : alongRows) {
    H::Expr part = reduceAlongRow(fold, inner, vars, args, scope);
    sum = sum.defined() ? sum + part : part;
  }
  if (folds.empty()) {
    for (Value t : terms) sum = sum + number(t, scope);
    return sum;
  }
  H::Expr start;
  for (Value t : terms) start = start.defined() ? start + number(t, inner) : number(t, inner);
  if (!start.defined()) start = neutral(folds[0]);
  Accumulator acc{H::Func("acc"), {}, {}, 0};
  acc.func(vars) = start;
  unsigned outer = nested++;
  for (FoldOp fold : folds) {
    nested = outer;
    auto pairs = pairsOf(fold);
    nested = outer + 1;
    if (pairs) addPairedReduction(acc, fold, *pairs, vars, inner);
    else addReduction(acc, fold, vars, inner);
  }
  nested = outer;
  if (nested == 0) stages[current].accumulators.push_back(acc);
  return sum.defined() ? acc.func(args) + sum : acc.func(args);
}

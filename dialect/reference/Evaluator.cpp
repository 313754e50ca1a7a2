#include "dialect/reference/Evaluator.h"
#include "dialect/Scalar.h"
#include "dialect/ShapeInference.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace lintel;

Array::Array(ArrayRef<int64_t> shape, double fill) : shape(shape) {
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  data.assign(n, fill);
}

SmallVector<int64_t> Evaluator::sizes(RealType type) const {
  SmallVector<int64_t> result;
  for (unsigned i = 0; i < type.getRank(); ++i)
    result.push_back(sequence.dimensions ? type.getDim(i).evaluate(*sequence.dimensions).value_or(0)
                                         : type.getDim(i).getConstant().value_or(0));
  return result;
}

const Array &Evaluator::value(Value v) const {
  auto it = values.find(v);
  assert(it != values.end() && "value before its definition");
  return it->second;
}

SmallVector<Array> Evaluator::run(Block &block) {
  for (Operation &op : block.without_terminator()) evaluate(&op);
  SmallVector<Array> results;
  for (Value v : block.getTerminator()->getOperands()) results.push_back(value(v));
  return results;
}

namespace {

/// Where element `i` of a result with `shape` lies in an operand that broadcasts to it.
int64_t broadcastIndex(const Array &x, ArrayRef<int64_t> shape, int64_t i) {
  if (x.shape.empty()) return 0;
  if (x.shape.size() == shape.size()) return i;
  return i / shape.back();
}

Array matmul(const Array &a, const Array &b) {
  int64_t n = a.shape.back(), rows = a.size() / n, columns = b.size() / n;
  SmallVector<int64_t> shape(a.shape.begin(), a.shape.end() - 1);
  shape.append(b.shape.begin() + 1, b.shape.end());
  Array r(shape);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t c = 0; c < n; ++c)
      for (int64_t j = 0; j < columns; ++j) r.data[i * columns + j] += a.data[i * n + c] * b.data[c * columns + j];
  return r;
}

} // namespace

void Evaluator::evaluate(Operation *op) {
  if (evaluateIndex(op)) return;
  auto set = [&](Array a) { values[op->getResult(0)] = std::move(a); };
  // Scalars are most of a kernel's values: their arrays are written in place.
  auto number = [&](double x) {
    Array &slot = values[op->getResult(0)];
    slot.shape.clear();
    slot.data.assign(1, x);
  };
  auto isScalar = [&] { return cast<RealType>(op->getResult(0).getType()).getRank() == 0; };
  auto sizesOf = [&] { return sizes(cast<RealType>(op->getResult(0).getType())); };
  if (auto c = dyn_cast<ConstantOp>(op)) return number(c.getValueAttr().getValueAsDouble());
  if (auto d = dyn_cast<DimOp>(op)) {
    auto dim = DimExpr::parse(d.getDim());
    auto n = sequence.dimensions ? dim->evaluate(*sequence.dimensions) : dim->getConstant();
    return number(static_cast<double>(n.value_or(0)));
  }
  if (isa<PositionOp>(op)) return number(static_cast<double>(sequence.position + step));
  if (isa<StartOp>(op)) return number(static_cast<double>(sequence.position));
  if (isa<GivenOp>(op)) return number(sequence.given);
  if (isa<TakenOp>(op)) return number(sequence.taken);
  if (auto u = dyn_cast<UnaryOp>(op)) {
    if (isScalar()) return number(lintel::evaluate(u.getKind(), scalar(u.getX())));
    Array r = value(u.getX());
    for (double &x : r.data) x = lintel::evaluate(u.getKind(), x);
    return set(std::move(r));
  }
  if (auto b = dyn_cast<BinaryOp>(op)) {
    if (isScalar()) return number(lintel::evaluate(b.getKind(), scalar(b.getA()), scalar(b.getB())));
    const Array &x = value(b.getA()), &y = value(b.getB());
    Array r(sizesOf());
    for (int64_t i = 0; i < r.size(); ++i)
      r.data[i] =
          lintel::evaluate(b.getKind(), x.data[broadcastIndex(x, r.shape, i)], y.data[broadcastIndex(y, r.shape, i)]);
    return set(std::move(r));
  }
  if (auto s = dyn_cast<SelectOp>(op)) {
    if (isScalar()) return number(scalar(s.getCondition()) != 0 ? scalar(s.getA()) : scalar(s.getB()));
    const Array &c = value(s.getCondition()), &x = value(s.getA()), &y = value(s.getB());
    Array r(sizesOf());
    for (int64_t i = 0; i < r.size(); ++i)
      r.data[i] = c.data[broadcastIndex(c, r.shape, i)] != 0 ? x.data[broadcastIndex(x, r.shape, i)]
                                                             : y.data[broadcastIndex(y, r.shape, i)];
    return set(std::move(r));
  }
  if (auto b = dyn_cast<BroadcastOp>(op)) {
    const Array &x = value(b.getX());
    Array r(sizesOf());
    for (int64_t i = 0; i < r.size(); ++i) r.data[i] = x.data[broadcastIndex(x, r.shape, i)];
    return set(std::move(r));
  }
  if (auto m = dyn_cast<MatmulOp>(op)) return set(matmul(value(m.getA()), value(m.getB())));
  if (auto o = dyn_cast<OuterOp>(op)) {
    const Array &a = value(o.getA()), &b = value(o.getB());
    Array r({a.size(), b.size()});
    for (int64_t i = 0; i < a.size(); ++i)
      for (int64_t j = 0; j < b.size(); ++j) r.data[i * b.size() + j] = a.data[i] * b.data[j];
    return set(std::move(r));
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    const Array &x = value(reduce.getX());
    bool sum = reduce.getKind() == ReduceKind::Sum;
    double r = sum ? 0 : -INFINITY;
    for (double e : x.data) r = lintel::evaluate(sum ? BinaryKind::Add : BinaryKind::Max, r, e);
    return number(r);
  }
  if (auto c = dyn_cast<CumsumOp>(op)) {
    Array r = value(c.getX());
    for (int64_t i = 1; i < r.size(); ++i) r.data[i] += r.data[i - 1];
    return set(std::move(r));
  }
  if (auto c = dyn_cast<ConcatOp>(op)) {
    Array r({0});
    for (Value part : c.getParts()) r.data.insert(r.data.end(), value(part).data.begin(), value(part).data.end());
    r.shape[0] = r.size();
    return set(std::move(r));
  }
  if (auto e = dyn_cast<ExtractOp>(op)) {
    const Array &x = value(e.getX());
    int64_t at = 0;
    if (e.getIndex() != "0") {
      auto dim = DimExpr::parse(e.getIndex());
      at = (sequence.dimensions ? dim->evaluate(*sequence.dimensions) : dim->getConstant()).value_or(0);
    }
    Array r(ArrayRef<int64_t>(x.shape).drop_front());
    std::copy_n(x.data.begin() + at * r.size(), r.size(), r.data.begin());
    return set(std::move(r));
  }
  if (auto f = dyn_cast<FlattenOp>(op)) {
    Array r = value(f.getX());
    r.shape = {r.size()};
    return set(std::move(r));
  }
  if (auto f = dyn_cast<FinalOp>(op)) return set(onFinal ? onFinal(f) : value(f.getX()));
  if (auto a = dyn_cast<AttendOp>(op)) return set(onAttend ? onAttend(a) : Array(sizesOf()));
  if (auto at = dyn_cast<AtOp>(op)) {
    const Array &x = value(at.getX());
    int64_t offset = 0;
    for (auto [i, index] : llvm::enumerate(at.getIndices())) {
      int64_t k = indices.lookup(index);
      assert(k >= 0 && k < x.shape[i] && "index outside its tensor");
      offset = offset * x.shape[i] + k;
    }
    return number(x.data[offset]);
  }
  if (auto n = dyn_cast<NumberOp>(op)) return number(static_cast<double>(indices.lookup(n.getIndex())));
  if (auto fold = dyn_cast<FoldOp>(op)) return number(evaluateFold(fold));
  if (auto stage = dyn_cast<StageOp>(op)) return evaluateStage(stage);
  if (auto scan = dyn_cast<ScanOp>(op)) return evaluateScan(scan);
  if (auto pairs = dyn_cast<PairsOp>(op)) return evaluatePairs(pairs);
  if (auto rows = dyn_cast<RowsOp>(op)) {
    Array r(sizesOf());
    auto input = cast<BlockArgument>(rows.getX()).getArgNumber();
    int64_t n = r.shape[0], each = r.size() / n, t = indices.lookup(rows.getT());
    for (int64_t i = 0; i < n; ++i)
      std::copy_n(sequence.input[input] + std::min(t + i, sequence.steps - 1) * sequence.stride[input], each,
                  r.data.begin() + i * each);
    return set(std::move(r));
  }
  if (auto emit = dyn_cast<EmitOp>(op)) {
    const Array &x = value(emit.getX());
    int64_t each = x.size() / x.shape[0], t = indices.lookup(emit.getT());
    for (int64_t i = 0; i < x.shape[0] && t + i < sequence.steps; ++i)
      std::copy_n(x.data.begin() + i * each, each, sequence.out[emit.getOutput()].at(t + i));
    return;
  }
  llvm_unreachable("an op that the verifier admits and the interpreter does not know");
}

bool Evaluator::evaluateIndex(Operation *op) {
  auto operand = [&](unsigned i) { return indices.lookup(op->getOperand(i)); };
  auto set = [&](int64_t x) {
    indices[op->getResult(0)] = x;
    return true;
  };
  if (isa<StepsOp>(op)) return set(sequence.steps);
  if (auto c = dyn_cast<arith::ConstantIndexOp>(op)) return set(c.value());
  if (isa<arith::AddIOp>(op)) return set(operand(0) + operand(1));
  if (isa<arith::SubIOp>(op)) return set(operand(0) - operand(1));
  if (isa<arith::MulIOp>(op)) return set(operand(0) * operand(1));
  if (isa<arith::DivUIOp>(op)) return set(operand(0) / operand(1));
  if (isa<arith::RemUIOp>(op)) return set(operand(0) % operand(1));
  if (isa<arith::MinSIOp>(op)) return set(std::min(operand(0), operand(1)));
  if (isa<arith::MaxSIOp>(op)) return set(std::max(operand(0), operand(1)));
  return false;
}

void Evaluator::evaluateStage(StageOp op) {
  Array r(sizes(op.getType()));
  Block &body = op.getBody().front();
  int64_t first = r.shape.empty() ? 1 : r.size() / r.shape[0];
  for (int64_t i = 0; i < r.size(); ++i) {
    int64_t rest = i;
    for (int d = static_cast<int>(r.shape.size()) - 1; d >= 0; --d) {
      indices[body.getArgument(d)] = rest % r.shape[d];
      rest /= r.shape[d];
    }
    if (op.getStaggered()) {
      int64_t step = i / first, column = i % first / (first / r.shape[0]);
      if (step <= column) {
        r.data[i] = step < column ? NAN : value(op.getInit()).data[i % first];
        continue;
      }
    }
    if (op.getInit())
      values[body.getArguments().back()] = Array({}, i < first ? value(op.getInit()).data[i] : r.data[i - first]);
    for (Operation &inner : body.without_terminator()) evaluate(&inner);
    r.data[i] = scalar(body.getTerminator()->getOperand(0));
    if (op.getSolve())
      for (int64_t row = i / first, h = 0; h < row; ++h)
        if (double l = value(op.getSolve()).data[row * r.shape[0] + h]; l != 0 || !op.getSparse())
          r.data[i] += l * r.data[h * first + i % first];
  }
  values[op.getResult()] = std::move(r);
}

double Evaluator::evaluateFold(FoldOp op) {
  Block &body = op.getBody().front();
  bool sum = op.getKind() == ReduceKind::Sum;
  double r = sum ? 0 : -INFINITY;
  int64_t end = op.getExtent();
  if (op.getLast()) end = std::min(end, indices.lookup(op.getLast()) + 1);
  for (int64_t i = 0; i < end; ++i) {
    indices[body.getArgument(0)] = i;
    for (Operation &inner : body.without_terminator()) evaluate(&inner);
    r = lintel::evaluate(sum ? BinaryKind::Add : BinaryKind::Max, r, scalar(body.getTerminator()->getOperand(0)));
  }
  return r;
}

namespace {
/// Runs one iteration of a loop op: binds its index and carried values, and returns the next carried values.
SmallVector<Array> iterate(Evaluator &evaluator, Block &body, int64_t t, SmallVector<Array> carried) {
  evaluator.indices[body.getArgument(0)] = t;
  for (auto [arg, v] : llvm::zip(body.getArguments().drop_front(), carried)) evaluator.values[arg] = std::move(v);
  return evaluator.run(body);
}
} // namespace

void Evaluator::evaluateScan(ScanOp op) {
  int64_t chunk = op.getChunk(), T = sequence.steps;
  int64_t begin =
      op.getMode() == ScanMode::Rest ? T / static_cast<int64_t>(op.getFrom()) * static_cast<int64_t>(op.getFrom()) : 0;
  SmallVector<Array> carried;
  for (Value v : op.getInit()) carried.push_back(value(v));
  for (int64_t t = begin; op.getMode() == ScanMode::Blocks ? t < T : t + chunk <= T; t += chunk)
    carried = iterate(*this, op.getBody().front(), t, std::move(carried));
  for (auto [result, v] : llvm::zip(op.getResults(), carried)) values[result] = std::move(v);
}

void Evaluator::evaluatePairs(PairsOp op) {
  int64_t chunk = op.getChunk(), t = indices.lookup(op.getT()), window = op.getWindow();
  int64_t end = op.getCausal() ? std::min<int64_t>(sequence.steps, t + op.getQueries()) : sequence.steps;
  if (int64_t ahead = op.getAhead(); ahead >= 0) end = std::min<int64_t>(end, t + op.getQueries() + ahead);
  int64_t first = window > 0 ? std::max<int64_t>(0, t - window + 1) / chunk : 0, last = (end + chunk - 1) / chunk;
  if (int64_t steps = op.getFirst(); steps > 0) last = std::min((steps + chunk - 1) / chunk, std::exchange(first, 0));
  // Whether all keys of block k are near enough to every query of the block.
  auto isWhole = [&](int64_t k) {
    int64_t s = k * chunk, before = (*op.getWhole())[0], after = (*op.getWhole())[1];
    return s + chunk <= sequence.steps && (before < 0 || t + chunk - 1 - s <= before) &&
           (after < 0 || s + chunk - 1 - t <= after);
  };
  SmallVector<Array> carried;
  for (Value v : op.getInit()) carried.push_back(value(v));
  for (int64_t k = first; k < last; ++k) {
    if (op.getWhole() && isWhole(k) == op.getCut()) continue;
    carried = iterate(*this, op.getBody().front(), (op.getDescending() ? first + last - 1 - k : k) * chunk,
                      std::move(carried));
  }
  for (auto [result, v] : llvm::zip(op.getResults(), carried)) values[result] = std::move(v);
}

bool Evaluator::isChosen(Value v, double none) const {
  if (auto c = v.getDefiningOp<ConstantOp>()) return c.getValueAttr().getValueAsDouble() == none;
  if (auto s = v.getDefiningOp<SelectOp>()) return isChosen(scalar(s.getCondition()) != 0 ? s.getA() : s.getB(), none);
  if (auto u = v.getDefiningOp<UnaryOp>())
    return u.getKind() == UnaryKind::Exp && none == 0 && isChosen(u.getX(), -INFINITY);
  auto b = v.getDefiningOp<BinaryOp>();
  if (!b) return false;
  switch (b.getKind()) {
  case BinaryKind::Mul:
    return none == 0 && (isChosen(b.getA(), none) || isChosen(b.getB(), none));
  case BinaryKind::Div:
    return none == 0 && isChosen(b.getA(), none);
  case BinaryKind::Add:
    return none != 0 && (isChosen(b.getA(), none) || isChosen(b.getB(), none));
  case BinaryKind::Sub:
    return none != 0 && (isChosen(b.getA(), none) || isChosen(b.getB(), -none));
  default:
    return false;
  }
}

std::pair<double, double> Evaluator::scaled(Value v) const {
  if (auto u = v.getDefiningOp<UnaryOp>(); u && u.getKind() == UnaryKind::Exp) return {1, scalar(u.getX())};
  if (auto s = v.getDefiningOp<SelectOp>()) return scaled(scalar(s.getCondition()) != 0 ? s.getA() : s.getB());
  if (auto b = v.getDefiningOp<BinaryOp>(); b && (b.getKind() == BinaryKind::Mul || b.getKind() == BinaryKind::Div)) {
    auto [a1, s1] = scaled(b.getA());
    auto [a2, s2] = scaled(b.getB());
    bool product = b.getKind() == BinaryKind::Mul;
    return {product ? a1 * a2 : a1 / a2, product ? s1 + s2 : s1 - s2};
  }
  return {scalar(v), 0};
}

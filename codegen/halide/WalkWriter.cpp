// The loops of stages marked `walk` (compiler/transforms/WalkStates.cpp): panels of columns; in each, row by row, the
// states' vectors are loaded once, go into the sums of what reads them and are stored as the next states. Halide has no
// way to compute one output inside another's reduction.
#include "codegen/halide/LoopWriter.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace lintel;

/// Rows that all panels go through before the next.
static constexpr int64_t rowBlock = 4;

namespace {

/// A vector of columns [e, e + lanes), or one column.
class Columns {
public:
  using Load = std::function<Value(AtOp, ArrayRef<Value>, int64_t)>; ///< element type of memory

  Columns(OpBuilder &b, Location loc, Type element, int64_t lanes, const Load &load,
          const DenseMap<Value, Value> &indices)
      : b(b), loc(loc), element(element), lanes(lanes), load(load), indices(indices) {}

  DenseMap<Value, Value> known;

  Value of(Value v) {
    if (auto it = known.find(v); it != known.end()) return it->second;
    Value r = compute(v.getDefiningOp());
    known[v] = r;
    return r;
  }
  /// As a vector, also where all columns have one value.
  Value wide(Value x) {
    if (lanes == 1 || isa<VectorType>(x.getType())) return x;
    return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, x.getType()), x);
  }
  Value constant(double x) { return arith::ConstantOp::create(b, loc, b.getFloatAttr(element, x)); }

private:
  Value compute(Operation *op) {
    if (auto c = dyn_cast<ConstantOp>(op)) return constant(c.getValueAttr().getValueAsDouble());
    if (auto at = dyn_cast<AtOp>(op)) {
      SmallVector<Value> place;
      bool along = false;
      for (Value i : at.getIndices()) {
        if (auto c = i.getDefiningOp<arith::ConstantIndexOp>())
          place.push_back(arith::ConstantIndexOp::create(b, loc, c.value()));
        else place.push_back(indices.lookup(i));
        along = i == column;
      }
      Value x = load(at, place, along ? lanes : 1);
      Type want = element;
      if (auto v = dyn_cast<VectorType>(x.getType())) want = VectorType::get(v.getShape(), element);
      unsigned have = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth(), need = element.getIntOrFloatBitWidth();
      if (have < need) return arith::ExtFOp::create(b, loc, want, x);
      if (have > need) return arith::TruncFOp::create(b, loc, want, x);
      return x;
    }
    if (auto u = dyn_cast<UnaryOp>(op)) return arith::NegFOp::create(b, loc, of(u.getX()));
    if (auto s = dyn_cast<SelectOp>(op); s && isIdle(s, finite)) return of(s.getB());
    if (auto s = dyn_cast<SelectOp>(op)) {
      Value c = truth(s->getOperand(0)), x = of(s->getOperand(1)), y = of(s->getOperand(2));
      bool vectors = llvm::any_of(ArrayRef<Value>{c, x, y}, [](Value v) { return isa<VectorType>(v.getType()); });
      if (vectors) c = wide(c), x = wide(x), y = wide(y);
      return arith::SelectOp::create(b, loc, c, x, y);
    }
    auto binary = cast<BinaryOp>(op);
    if (isComparison(binary.getKind())) {
      Value c = truth(binary.getResult());
      Value one = constant(1), zero = constant(0);
      if (isa<VectorType>(c.getType())) one = wide(one), zero = wide(zero);
      return arith::SelectOp::create(b, loc, c, one, zero);
    }
    auto [x, y] = both(binary);
    auto flags = arith::FastMathFlags::contract;
    switch (binary.getKind()) {
    case BinaryKind::Add:
      return arith::AddFOp::create(b, loc, x, y, flags);
    case BinaryKind::Sub:
      return arith::SubFOp::create(b, loc, x, y, flags);
    case BinaryKind::Mul:
      return arith::MulFOp::create(b, loc, x, y, flags);
    default:
      assert(binary.getKind() == BinaryKind::Div && "WalkStates lets arithmetic through only");
      return arith::DivFOp::create(b, loc, x, y, flags);
    }
  }

  static bool isComparison(BinaryKind kind) { return kind >= BinaryKind::Lt && kind <= BinaryKind::Ne; }

  std::pair<Value, Value> both(BinaryOp op) {
    Value x = of(op.getA()), y = of(op.getB());
    if (isa<VectorType>(x.getType()) || isa<VectorType>(y.getType())) x = wide(x), y = wide(y);
    return {x, y};
  }

  Value truth(Value v) {
    auto binary = v.getDefiningOp<BinaryOp>();
    if (!binary || !isComparison(binary.getKind())) {
      Value x = of(v), zero = constant(0);
      if (isa<VectorType>(x.getType())) zero = wide(zero);
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x, zero);
    }
    using P = arith::CmpFPredicate;
    static const std::pair<BinaryKind, P> predicates[] = {{BinaryKind::Lt, P::OLT}, {BinaryKind::Le, P::OLE},
                                                          {BinaryKind::Gt, P::OGT}, {BinaryKind::Ge, P::OGE},
                                                          {BinaryKind::Eq, P::OEQ}, {BinaryKind::Ne, P::UNE}};
    auto [x, y] = both(binary);
    for (auto [kind, predicate] : predicates)
      if (kind == binary.getKind()) return arith::CmpFOp::create(b, loc, predicate, x, y);
    llvm_unreachable("a comparison");
  }

  OpBuilder &b;
  Location loc;
  Type element;
  int64_t lanes;
  const Load &load;
  const DenseMap<Value, Value> &indices;

public:
  Value column;           ///< the stage's last axis
  ArrayRef<Value> finite; ///< see GroupRequest
};

} // namespace

LogicalResult LoopWriter::runWalk(ArrayRef<StageOp> stages) {
  SmallVector<StageOp> reads, updates;
  SmallVector<Buffer> results;
  for (StageOp stage : stages) {
    auto overwritten = overwrites.find(stage);
    bool update = llvm::is_contained(stage->getBlock()->getTerminator()->getOperands(), stage.getResult());
    (update ? updates : reads).push_back(stage);
    Buffer buffer;
    if (auto it = emitTargets.find(stage); it != emitTargets.end() && it->second.layout.dtype == compute)
      buffer = it->second;
    else if (update && overwritten != overwrites.end()) buffer = buffers[overwritten->second];
    else {
      emitTargets.erase(stage);
      auto made = allocate(stage.getType().getSizes(), compute);
      if (failed(made)) return failure();
      buffer = *made;
    }
    results.push_back(buffer);
    if (!emitTargets.count(stage)) buffers[stage.getResult()] = buffer;
  }
  if (reads.empty() || updates.empty() || reads.size() + updates.size() != stages.size())
    return fail("expected a walk to read states and to update them");
  // What is read has its place before any loop is written.
  DenseMap<Value, Buffer> places;
  for (StageOp stage : stages) {
    LogicalResult ok = success();
    stage.getBody().walk([&](AtOp at) {
      auto buffer = bufferOf(at.getX());
      if (failed(buffer)) ok = failure();
      else places[at.getX()] = *buffer;
    });
    if (failed(ok)) return failure();
  }
  auto schedule = scheduleOf(reads.front(), false);
  if (failed(schedule)) return failure();
  b.getContext()->loadDialect<vector::VectorDialect>();

  Type element = elementType(compute);
  auto sizes = updates.front().getType().getSizes();
  int64_t rows = sizes[0], columns = sizes[1];
  auto alignment = [](Type type) { return llvm::MaybeAlign(getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8); };
  auto loadFrom = [&](const Buffer &buffer, ArrayRef<int64_t> shape, ArrayRef<Value> at, int64_t lanes) -> Value {
    Value offset = offsetOf(buffer, shape, at);
    if (lanes == 1) return memref::LoadOp::create(b, loc, buffer.base, offset);
    Type type = cast<MemRefType>(buffer.base.getType()).getElementType();
    return vector::LoadOp::create(b, loc, VectorType::get({lanes}, type), buffer.base, ValueRange(offset), false,
                                  alignment(type));
  };
  Columns::Load load = [&](AtOp at, ArrayRef<Value> place, int64_t lanes) {
    return loadFrom(places[at.getX()], cast<RealType>(at.getX().getType()).getSizes(), place, lanes);
  };
  auto store = [&](Value x, const Buffer &buffer, ArrayRef<int64_t> shape, ArrayRef<Value> at) {
    Value offset = offsetOf(buffer, shape, at);
    if (!isa<VectorType>(x.getType())) memref::StoreOp::create(b, loc, x, buffer.base, offset);
    else vector::StoreOp::create(b, loc, x, buffer.base, ValueRange(offset), false, alignment(x.getType()));
  };
  auto resultOf = [&](StageOp stage) -> const Buffer & { return results[llvm::find(stages, stage) - stages.begin()]; };

  SmallVector<FoldOp> folds;
  for (StageOp read : reads) llvm::append_range(folds, read.getBody().getOps<FoldOp>());

  int64_t lanes = schedule->vector, panel = schedule->panel, wide = lanes * panel, done = columns / wide * wide;
  // Some rows of all panels at a time, so that memory is gone through in its order; sums wait in scratch meanwhile.
  bool inBlocks = columns > wide && rows > rowBlock;
  ArrayRef<Value> finite;
  auto columnsOf = [&](int64_t lanes, const DenseMap<Value, Value> &indices, Value column) {
    Columns c(b, loc, element, lanes, load, indices);
    c.column = column, c.finite = finite;
    return c;
  };
  auto at = [&](Value first, int64_t by) {
    return by ? arith::AddIOp::create(b, loc, first, index(by)).getResult() : first;
  };
  // Panels of a block jump from row to row, which the processor does not foresee: the same part of the next block's row
  // (behind the last one, of the next head's state).
  auto askFor = [&](Value row, Value first, int64_t n) {
    int64_t line = 64 * 8 / element.getIntOrFloatBitWidth();
    for (StageOp update : updates)
      for (int64_t e = 0; e < n; e += line) {
        const Buffer &buffer = resultOf(update);
        Value offset = offsetOf(buffer, sizes, {at(row, rowBlock), at(first, e)});
        memref::PrefetchOp::create(b, loc, buffer.base, offset, /*isWrite=*/true, /*localityHint=*/3,
                                   /*isDataCache=*/true);
      }
  };
  // Rows [from, to) of `count` vectors of `lanes` columns from `first` on: the sums, from `sums` on.
  auto walkRows = [&](Value from, Value to, Value first, int64_t count, int64_t lanes, ValueRange sums) {
    auto loop = scf::ForOp::create(b, loc, from, to, index(1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar();
    if (inBlocks) askFor(row, first, count * lanes);
    SmallVector<Value> after;
    for (int64_t p = 0; p < count; ++p) {
      Value column = at(first, p * lanes);
      SmallVector<std::pair<Value, StageOp>> next; // of these columns all are read before any is written
      for (auto [f, fold] : llvm::enumerate(folds)) {
        Block &inside = fold.getBody().front(), &around = *fold->getBlock();
        DenseMap<Value, Value> indices{
            {around.getArgument(0), index(0)}, {around.getArgument(1), column}, {inside.getArgument(0), row}};
        auto values = columnsOf(lanes, indices, around.getArgument(1));
        Value term = values.wide(values.of(inside.getTerminator()->getOperand(0)));
        after.push_back(arith::AddFOp::create(b, loc, loop.getRegionIterArg(p * folds.size() + f), term,
                                              arith::FastMathFlags::contract));
      }
      for (StageOp update : updates) {
        Block &body = update.getBody().front();
        DenseMap<Value, Value> indices{{body.getArgument(0), row}, {body.getArgument(1), column}};
        auto values = columnsOf(lanes, indices, body.getArgument(1));
        next.emplace_back(values.wide(values.of(body.getTerminator()->getOperand(0))), update);
      }
      for (auto &[x, update] : next) store(x, resultOf(update), sizes, {row, column});
    }
    scf::YieldOp::create(b, loc, after);
    return loop.getResults();
  };
  auto zeros = [&](int64_t count, int64_t lanes) {
    Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(element, 0));
    if (lanes > 1) zero = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, element), zero);
    return SmallVector<Value>(folds.size() * static_cast<size_t>(count), zero);
  };
  auto finish = [&](Value first, int64_t count, int64_t lanes, ValueRange sums) {
    for (int64_t p = 0; p < count; ++p)
      for (StageOp read : reads) {
        Block &body = read.getBody().front();
        Value column = at(first, p * lanes);
        DenseMap<Value, Value> indices{{body.getArgument(0), index(0)}, {body.getArgument(1), column}};
        auto values = columnsOf(lanes, indices, body.getArgument(1));
        for (auto [f, fold] : llvm::enumerate(folds)) values.known[fold.getResult()] = sums[p * folds.size() + f];
        Value x = values.wide(values.of(body.getTerminator()->getOperand(0)));
        store(x, resultOf(read), read.getType().getSizes(), {index(0), column});
      }
  };
  // Whole panels in a loop, then vectors of half as many lanes each time, down to one column.
  auto eachPanel = [&](llvm::function_ref<void(Value, int64_t, int64_t)> body) {
    if (done) {
      auto panels = scf::ForOp::create(b, loc, index(0), index(done), index(wide));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(panels.getBody());
      body(panels.getInductionVar(), panel, lanes);
    }
    int64_t from = done;
    for (int64_t n = lanes; from < columns; n = std::max<int64_t>(1, n / 2))
      for (; columns - from >= n; from += n) body(index(from), 1, n);
  };
  if (!inBlocks)
    return writeVersions(stages, [&](ArrayRef<Value> known) {
      finite = known;
      eachPanel([&](Value first, int64_t count, int64_t n) {
        finish(first, count, n, walkRows(index(0), index(rows), first, count, n, zeros(count, n)));
      });
      return success();
    });
  auto scratchSums = allocate({static_cast<int64_t>(folds.size()), columns}, compute);
  if (failed(scratchSums)) return failure();
  SmallVector<int64_t> shape{static_cast<int64_t>(folds.size()), columns};
  auto move = [&](Value first, int64_t count, int64_t n, SmallVectorImpl<Value> &sums, bool out) {
    for (int64_t p = 0; p < count; ++p)
      for (size_t f = 0; f < folds.size(); ++f) {
        SmallVector<Value> place{index(static_cast<int64_t>(f)), at(first, p * n)};
        Value &sum = sums[p * folds.size() + f];
        if (out) store(sum, *scratchSums, shape, place);
        else sum = loadFrom(*scratchSums, shape, place, n);
      }
  };
  auto inRowBlocks = [&] {
    eachPanel([&](Value first, int64_t count, int64_t n) {
      SmallVector<Value> sums = zeros(count, n);
      move(first, count, n, sums, true);
    });
    auto blocks = scf::ForOp::create(b, loc, index(0), index(rows), index(rowBlock));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(blocks.getBody());
      Value from = blocks.getInductionVar(), to = arith::MinSIOp::create(b, loc, at(from, rowBlock), index(rows));
      eachPanel([&](Value first, int64_t count, int64_t n) {
        SmallVector<Value> sums = zeros(count, n);
        move(first, count, n, sums, false);
        ValueRange after = walkRows(from, to, first, count, n, sums);
        sums.assign(after.begin(), after.end());
        move(first, count, n, sums, true);
      });
    }
    eachPanel([&](Value first, int64_t count, int64_t n) {
      SmallVector<Value> sums = zeros(count, n);
      move(first, count, n, sums, false);
      finish(first, count, n, sums);
    });
  };
  return writeVersions(stages, [&](ArrayRef<Value> known) {
    finite = known;
    inRowBlocks();
    return success();
  });
}

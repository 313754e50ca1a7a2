#include "compiler/analysis/WeightSupport.h"
#include "compiler/transforms/Lowering.h"
#include "dialect/OperatorUtils.h"

using namespace mlir;
using namespace lintel;

namespace {

/// A weight as a * exp(s), with null for 1 and 0: exponentials are kept apart so that the running maximum can be taken
/// out of them.
struct ScaledWeight {
  Value a, s;
};

ScaledWeight scaledWeight(StageEmitter &e, Value v, RowIndices rows) {
  if (auto u = v.getDefiningOp<UnaryOp>(); u && u.getKind() == UnaryKind::Exp)
    return {{}, e.scalar(u.getX(), rows, {})};
  if (auto select = v.getDefiningOp<SelectOp>()) {
    Value c = e.scalar(select.getCondition(), rows, {});
    ScaledWeight x = scaledWeight(e, select.getA(), rows), y = scaledWeight(e, select.getB(), rows);
    auto pick = [&](Value a, Value b, double none) -> Value {
      if (!a && !b) return {};
      return e.select(c, a ? a : e.number(none), b ? b : e.number(none));
    };
    return {pick(x.a, y.a, 1), pick(x.s, y.s, 0)};
  }
  if (auto b = v.getDefiningOp<BinaryOp>(); b && (b.getKind() == BinaryKind::Mul || b.getKind() == BinaryKind::Div)) {
    ScaledWeight x = scaledWeight(e, b.getA(), rows), y = scaledWeight(e, b.getB(), rows);
    bool product = b.getKind() == BinaryKind::Mul;
    Value a = product ? e.mul(x.a, y.a) : y.a ? e.binary(BinaryKind::Div, x.a ? x.a : e.number(1), y.a) : x.a;
    Value s = product ? e.add(x.s, y.s) : y.s ? e.binary(BinaryKind::Sub, x.s ? x.s : e.number(0), y.s) : x.s;
    return {a, s};
  }
  return {e.scalar(v, rows, {}), {}};
}

/// Where the weight `v` is `none` by a choice, `where(c, w, 0)` or `exp(where(c, s, -inf))`: 1, else 0; null where
/// never. Such a key is not there, whatever its value is; a weight that inputs make zero multiplies like any other.
Value chosenWeight(StageEmitter &e, Value v, double none, RowIndices rows) {
  auto of = [&](Value x, double n) { return chosenWeight(e, x, n, rows); };
  auto either = [&](Value a, Value b) { return !a ? b : !b ? a : e.binary(BinaryKind::Or, a, b); };
  if (auto c = v.getDefiningOp<ConstantOp>())
    return c.getValueAttr().getValueAsDouble() == none ? e.number(1) : Value();
  if (auto select = v.getDefiningOp<SelectOp>()) {
    Value a = of(select.getA(), none), b = of(select.getB(), none);
    if (!a && !b) return {};
    return e.select(e.scalar(select.getCondition(), rows, {}), a ? a : e.number(0), b ? b : e.number(0));
  }
  if (auto u = v.getDefiningOp<UnaryOp>(); u && u.getKind() == UnaryKind::Exp && none == 0)
    return of(u.getX(), -INFINITY);
  auto b = v.getDefiningOp<BinaryOp>();
  if (!b) return {};
  switch (b.getKind()) {
  case BinaryKind::Mul:
    return none == 0 ? either(of(b.getA(), none), of(b.getB(), none)) : Value();
  case BinaryKind::Div:
    return none == 0 ? of(b.getA(), none) : Value();
  case BinaryKind::Add:
    return none != 0 ? either(of(b.getA(), none), of(b.getB(), none)) : Value();
  case BinaryKind::Sub:
    return none != 0 ? either(of(b.getA(), none), of(b.getB(), -none)) : Value();
  default:
    return {};
  }
}

/// Whether an exponential's argument adds terms up, `q . k - slope * distance`. Their sum can be much larger than what
/// is left of it beside the maximum, and an absolute error of it is a relative one of the weight: it is kept in f64.
bool addsInExponent(Block &weights) {
  bool adds = false;
  weights.walk([&](UnaryOp exp) {
    if (exp.getKind() != UnaryKind::Exp) return;
    SmallVector<Value> work{exp.getX()};
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (!isa_and_present<UnaryOp, BinaryOp, SelectOp>(op) || !seen.insert(op).second) continue;
      auto b = dyn_cast<BinaryOp>(op);
      adds |= b && (b.getKind() == BinaryKind::Add || b.getKind() == BinaryKind::Sub);
      work.append(op->operand_begin(), op->operand_end());
    }
  });
  return adds;
}

} // namespace

/// Softmax and its kin, streamed (Milakov and Gimelshein 2018; Rabe and Staats 2021): carried are the maximum m, the
/// sum l and the weighted values.
KernelOp lintel::lowerStreamed(StreamedOp op) {
  OpBuilder builder(op->getContext());
  Location loc = op.getLoc();
  Block &body = op.getBody().front();
  ValueRange outputs = body.getTerminator()->getOperands();
  int64_t chunk = op.getChunk();
  KernelFrame frame = KernelFrame::create(builder, op, "parallel", chunk, op.getInputs(), body, {}, {}, outputs);
  AttendOp attend;
  body.walk([&](AttendOp a) { attend = a; });
  bool precise = addsInExponent(attend.getWeights().front());
  bool causal = attend.getCausal(), vector = attend.getType().getRank() == 1;
  WeightSupport support = supportOf(attend);
  // Whether all keys so many steps before and after any query of a block are known to have weights.
  auto reaches = [&](int64_t before, int64_t after) {
    return !support.scattered && (support.before < 0 || before <= support.before) &&
           (support.after < 0 || after <= support.after);
  };
  if (!causal) frame.kernel.setBidirectional(true);
  SmallVector<int64_t> accSizes{chunk};
  SmallVector<StringRef> accAxes{"i"};
  if (vector) accSizes.push_back(attend.getType().getSizes()[0]), accAxes.push_back("e");
  createScan(builder, loc, ScanMode::Blocks, chunk, 0, {}, [&](Value t, ValueRange) {
    StageEmitter e(builder, loc);
    frame.bindInputs(e, body, t, chunk);
    e.materialize(attend.getQ(), "q", chunk);
    // What the weights use from outside is the query's.
    attend.getWeights().walk([&](Operation *inner) {
      for (Value v : inner->getOperands())
        if (v.getParentRegion() == &op.getBody() && v.getDefiningOp()) e.materialize(v, "x", chunk);
    });
    Value m = e.stage("m", {"i"}, {chunk}, [&](StageEmitter::Indices) { return e.number(-1e30); });
    Value l = e.stage("l", {"i"}, {chunk}, [&](StageEmitter::Indices) { return e.number(0); });
    Value acc = e.stage("acc", accAxes, accSizes, [&](StageEmitter::Indices) { return e.number(0); });
    // What a query block has seen, and the keys of the block from step s to it. On the diagonal sums end at the row, so
    // that a later value, infinite or not, changes no bit of an earlier output. Where a block is `cut`, a value of no
    // weight is not looked at either; others are seen whole.
    auto absorb = [&](Value s, Value m0, Value l0, Value acc0, bool diagonal, bool cut) {
      StageEmitter keys(builder, loc); // the keys' own values
      frame.bindInputs(keys, body, s, chunk);
      keys.materialize(attend.getK(), "k", chunk);
      keys.materialize(attend.getV(), "v", chunk);
      Value kt = keys.tensorOf(attend.getK()), vt = keys.tensorOf(attend.getV());
      bool kRows = keys.hasRows(attend.getK()), vRows = keys.hasRows(attend.getV());
      Block &w = attend.getWeights().front();
      e.bind(w.getArgument(1), kt, kRows ? StageEmitter::J : StageEmitter::None);
      e.bind(w.getArgument(0), e.tensorOf(attend.getQ()),
             e.hasRows(attend.getQ()) ? StageEmitter::I : StageEmitter::None);
      // The products of queries and keys are sums of their own, in f32.
      SmallVector<std::pair<Value, Value>> dots;
      for (MatmulOp dot : w.getOps<MatmulOp>()) {
        if (!precise || dot.getType().getRank()) continue;
        e.unbindScalar(dot); // it may be an element of another block's
        dots.push_back({dot, e.stage("dot", {"i", "j"}, {chunk, chunk}, [&](StageEmitter::Indices idx) {
                          return e.scalar(dot, {idx[0], idx[1]}, {});
                        })});
      }
      Value weight = w.getTerminator()->getOperand(0);
      auto distanceAt = [&](Value i, Value j) {
        for (auto [dot, stage] : dots) e.bindScalar(dot, e.at(stage, {i, j}));
        Value query = arith::AddIOp::create(builder, loc, t, i), key = arith::AddIOp::create(builder, loc, s, j);
        e.bindScalar(w.getArgument(2), NumberOp::create(builder, loc, arith::SubIOp::create(builder, loc, query, key)));
      };
      auto weightAt = [&](Value i, Value j) {
        distanceAt(i, j);
        return scaledWeight(e, weight, {i, j});
      };
      auto ifSeen = [&](Value i, Value j, Value x, double otherwise) {
        if (causal ? !diagonal : !cut) return x;
        Value seen = causal ? e.compare(BinaryKind::Le, j, i)
                            : e.compare(BinaryKind::Lt, arith::AddIOp::create(builder, loc, s, j),
                                        StepsOp::create(builder, loc, builder.getIndexType()));
        return e.select(seen, x, e.number(otherwise));
      };
      // The exponent where the pair is seen and its weight is not zero, else far below all others.
      Value x = e.stage("s", {"i", "j"}, {chunk, chunk}, [&](StageEmitter::Indices idx) {
        ScaledWeight parts = weightAt(idx[0], idx[1]);
        Value s0 = parts.s ? parts.s : e.number(0);
        if (parts.a) s0 = e.select(e.binary(BinaryKind::Eq, parts.a, e.number(0)), e.number(-INFINITY), s0);
        return ifSeen(idx[0], idx[1], s0, -INFINITY);
      });
      if (precise) makePrecise(x);
      Value m1 = e.stage("m", {"i"}, {chunk}, [&](StageEmitter::Indices idx) {
        return e.binary(BinaryKind::Max, e.at(m0, idx), e.fold(ReduceKind::Max, "j", chunk, [&](Value j) {
          return e.at(x, {idx[0], j});
        }));
      });
      Value below = e.stage("below", {"i", "j"}, {chunk, chunk}, [&](StageEmitter::Indices idx) {
        return e.binary(BinaryKind::Sub, e.at(x, idx), e.at(m1, {idx[0]}));
      });
      if (precise) makePrecise(below);
      Value p = e.stage("p", {"i", "j"}, {chunk, chunk}, [&](StageEmitter::Indices idx) {
        Value exp = e.unary(UnaryKind::Exp, e.at(below, idx));
        ScaledWeight parts = weightAt(idx[0], idx[1]);
        return parts.a ? ifSeen(idx[0], idx[1], e.mul(exp, parts.a), 0) : exp;
      });
      Value absent = cut ? e.stage("absent", {"i", "j"}, {chunk, chunk},
                                   [&](StageEmitter::Indices idx) {
                                     distanceAt(idx[0], idx[1]);
                                     Value chosen = chosenWeight(e, weight, 0, {idx[0], idx[1]});
                                     return ifSeen(idx[0], idx[1], chosen ? chosen : e.number(0), 1);
                                   })
                         : Value();
      Value c = e.stage("rescale", {"i"}, {chunk}, [&](StageEmitter::Indices idx) {
        return e.unary(UnaryKind::Exp, e.binary(BinaryKind::Sub, e.at(m0, idx), e.at(m1, idx)));
      });
      Value l1 = e.stage("l", {"i"}, {chunk}, [&](StageEmitter::Indices idx) {
        return e.add(e.mul(e.at(l0, idx), e.at(c, idx)), e.fold(ReduceKind::Sum, "j", chunk, [&](Value j) {
          return e.at(p, {idx[0], j});
        }));
      });
      Value acc1 = e.stage("acc", accAxes, accSizes, [&](StageEmitter::Indices idx) {
        Value sum = e.fold(
            ReduceKind::Sum, "j", chunk,
            [&](Value j) {
              SmallVector<Value> at;
              if (vRows) at.push_back(j);
              if (vector) at.push_back(idx[1]);
              Value term = e.mul(e.at(p, {idx[0], j}), e.at(vt, at));
              if (!cut) return term;
              return e.select(e.at(absent, {idx[0], j}), e.number(0), term);
            },
            diagonal ? idx[0] : Value());
        return e.add(e.mul(e.at(acc0, idx), e.at(c, {idx[0]})), sum);
      });
      return SmallVector<Value>{m1, l1, acc1};
    };
    // Blocks of keys off the diagonal: the first steps' in front of the window, then the window's that are cut by a
    // mask or the sequence's end, then those that are not.
    auto visit = [&](SmallVector<Value> init, int64_t first, DenseI64ArrayAttr whole, bool cut) {
      auto pairs = PairsOp::create(builder, loc, ValueRange(init).getTypes(), t, chunk, causal ? 0 : chunk, causal,
                                   /*descending=*/false, op.getWindow(), causal ? -1 : op.getAhead(), first, whole,
                                   whole && cut, init);
      OpBuilder::InsertionGuard guard(builder);
      Block &block = pairs.getBody().emplaceBlock();
      Value s = block.addArgument(builder.getIndexType(), loc);
      for (Value v : init) block.addArgument(v.getType(), loc);
      builder.setInsertionPointToEnd(&block);
      YieldOp::create(builder, loc,
                      absorb(s, block.getArgument(1), block.getArgument(2), block.getArgument(3), false, cut));
      return SmallVector<Value>(pairs.getResults());
    };
    SmallVector<Value> seen{m, l, acc};
    if (int64_t first = op.getFirst()) seen = visit(seen, first, {}, true);
    bool any = causal ? reaches(2 * chunk - 1, 0) : reaches(chunk - 1, chunk - 1); // whether any is whole
    bool all = causal && !support.scattered && support.before < 0;
    auto whole = any && !all ? builder.getDenseI64ArrayAttr({support.before, support.after}) : DenseI64ArrayAttr();
    if (!all) seen = visit(seen, 0, whole, true);
    if (any) seen = visit(seen, 0, whole, false);
    if (causal) seen = absorb(t, seen[0], seen[1], seen[2], true, !reaches(chunk - 1, 0));
    Value m1 = seen[0], l1 = seen[1], acc1 = seen[2], divisor;
    if (!attend.getNormalizer().empty()) {
      Block &nb = attend.getNormalizer().front();
      Value result = nb.getTerminator()->getOperand(0);
      if (result == nb.getArgument(0)) divisor = l1; // the maximum cancels
      else
        divisor = e.stage("den", {"i"}, {chunk}, [&](StageEmitter::Indices idx) {
          Value scale = e.unary(UnaryKind::Exp, e.at(m1, idx));
          e.bindScalar(nb.getArgument(0), e.mul(e.at(l1, idx), scale));
          return e.binary(BinaryKind::Div, e.scalar(result, {idx[0], idx[0]}, {}), scale);
        });
    }
    Value r = e.stage("r", accAxes, accSizes, [&](StageEmitter::Indices idx) {
      Value x = e.at(acc1, idx);
      return divisor ? e.binary(BinaryKind::Div, x, e.at(divisor, {idx[0]}))
                     : e.mul(x, e.unary(UnaryKind::Exp, e.at(m1, {idx[0]})));
    });
    e.bind(attend.getResult(), r, StageEmitter::I);
    frame.emitOutputs(e, outputs, t, chunk);
    return SmallVector<Value>();
  });
  YieldOp::create(builder, loc, ValueRange());
  return frame.kernel;
}

#include "compiler/transforms/FactoredEmitter.h"

using namespace mlir;
using namespace lintel;

namespace {

/// r[i, e] = sum_c qs[i, c] S[c, e] + sum_p sum_j A_p[i, j] v_p[j, e].
Value readChunk(Tile &tile, const FactoredForm &form, const FactoredForm::Read &read, Value state, bool within) {
  const FactoredForm::State &info = form.states[read.state];
  Value qs;
  if (within) qs = tile.scaledQuery(read, info);
  else tile.emitter.materialize(read.q, "q", tile.rows);
  SmallVector<Value> scores;
  if (within && (tile.rows > 1 || read.inclusive))
    for (unsigned p = 0; p < info.pairs.size(); ++p) scores.push_back(tile.scores(read, info, p));
  StageEmitter &e = tile.emitter;
  SmallVector<int64_t> sizes{tile.rows};
  SmallVector<StringRef> axes{"i"};
  bool matrix = info.type.getRank() == 2;
  if (matrix) sizes.push_back(info.type.getSizes()[1]), axes.push_back("e");
  return e.stage("r", axes, sizes, [&](StageEmitter::Indices idx) {
    Value sum = tile.overFeature(info, [&](Value c) {
      SmallVector<Value> qi{idx[0]}, at;
      if (c) qi.push_back(c), at.push_back(c);
      if (matrix) at.push_back(idx[1]);
      Value q = qs ? e.at(qs, qi) : tile.element(read.q, idx[0], c);
      return e.mul(q, e.at(state, at));
    });
    if (within) sum = tile.sinceStart(read, info, idx[0], sum);
    // The steps behind i (or i itself, where the read is exclusive) weigh nothing and are not looked at.
    Value last;
    if (tile.rows > 1 && matrix)
      last = read.inclusive ? idx[0] : arith::SubIOp::create(e.builder, e.loc, idx[0], e.index(1)).getResult();
    for (size_t p = 0; p < scores.size(); ++p) {
      Value within = e.fold(
          ReduceKind::Sum, "j", tile.rows,
          [&](Value j) {
            Value x = e.at(scores[p], {idx[0], j});
            return matrix ? e.mul(x, tile.element(info.pairs[p].v, j, idx[1])) : x;
          },
          last);
      sum = e.add(sum, within);
    }
    return sum;
  });
}

} // namespace

KernelOp lintel::lowerChunkwise(ChunkwiseOp op) {
  OpBuilder builder(op->getContext());
  FactoredForm form = FactoredForm::of(op);
  Location loc = op.getLoc();
  SmallVector<StringRef> names;
  SmallVector<RealType> types;
  for (auto &s : form.states) names.push_back(s.name), types.push_back(s.type);
  auto outType = cast<RealType>(form.combine->getTerminator()->getOperand(0).getType());
  KernelFrame frame =
      KernelFrame::create(builder, op, "chunkwise", op.getChunk(), op.getInputs(), *form.token, names, types, outType);
  bool bidirectional = op.getBidirectional();
  if (bidirectional) frame.kernel.setBidirectional(true);
  StageEmitter top(builder, loc);
  unsigned n = form.states.size();
  SmallVector<Value> init(frame.states);
  for (unsigned s = 0; s < form.internal; ++s) init.push_back(exponentStart(top));

  // One iteration over `rows` steps; carried: the states, then the exponents.
  auto iteration = [&](Value t, ValueRange carried, int64_t rows, bool update, bool write, ArrayRef<Value> last) {
    Tile tile(form, frame, builder, loc, t, rows, carried.take_back(form.internal));
    SmallVector<Value> reads, next;
    if (write) {
      for (auto &read : form.reads)
        reads.push_back(
            readChunk(tile, form, read, last.empty() ? carried[read.state] : last[read.state], last.empty()));
      tile.emitOutput(form, frame, reads, t);
    }
    if (update)
      for (unsigned s = 0; s < n; ++s) next.push_back(tile.update(form.states[s], carried[s]));
    next.append(tile.exponentsAfter);
    return next;
  };
  auto sweep = [&](SmallVector<Value> carried, bool update, bool write, ArrayRef<Value> last) {
    return sweepChunks(builder, loc, op.getChunk(), carried,
                       [&](Value t, ValueRange c, int64_t rows) { return iteration(t, c, rows, update, write, last); });
  };
  SmallVector<Value> last = sweep(init, true, !bidirectional, {});
  // The second sweep of a bidirectional operator reads the last states; its exponents run again from the start.
  if (bidirectional)
    sweep(SmallVector<Value>(ArrayRef<Value>(init).take_back(form.internal)), false, true,
          ArrayRef<Value>(last).take_front(n));
  YieldOp::create(builder, loc, userStates(form, top, op.getScales(), last));
  return frame.kernel;
}

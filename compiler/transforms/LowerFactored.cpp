#include "compiler/transforms/LowRank.h"

using namespace mlir;
using namespace lintel;

KernelOp lintel::lowerChunkwise(ChunkwiseOp op) {
  OpBuilder builder(op->getContext());
  FactoredForm form = FactoredForm::of(op);
  Location loc = op.getLoc();
  KernelFrame frame = createFactoredKernel(builder, op, "chunkwise", op.getChunk(), form, op.getScales());
  bool bidirectional = op.getBidirectional();
  if (bidirectional) frame.kernel.setBidirectional(true);
  StageEmitter top(builder, loc);
  unsigned n = form.states.size();
  SmallVector<Value> init = startStates(form, frame, top);

  // One iteration over `rows` steps; carried: the states, then the exponents.
  auto iteration = [&](Value t, ValueRange carried, int64_t rows, bool update, bool write, ArrayRef<Value> last) {
    Tile tile(form, frame, builder, loc, t, rows, carried.take_back(form.internal));
    SmallVector<Value> reads, next;
    FactoredForm chunk = form; // of these steps: low-rank terms are pairs here
    for (unsigned s = 0; s < n; ++s)
      if (!form.states[s].lowRank.empty() && (update || last.empty()))
        chunk.states[s] = withLowRankPairs(tile, form, s, carried[s]);
    if (write) {
      for (auto &read : form.reads)
        reads.push_back(
            readChunk(tile, chunk, read, last.empty() ? carried[read.state] : last[read.state], last.empty()));
      tile.emitOutput(form, frame, reads, t);
    }
    if (update)
      for (unsigned s = 0; s < n; ++s) next.push_back(tile.update(chunk.states[s], carried[s]));
    next.append(tile.exponentsAfter);
    if (update && !bidirectional) settleExponents(tile.emitter, frame.kernel, next, /*matrices=*/true);
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
  YieldOp::create(builder, loc, finalStates(top, frame.kernel, last));
  return frame.kernel;
}

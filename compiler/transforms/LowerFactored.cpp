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
    return tile.addWithin(sum, read, info, scores, idx);
  });
}

/// Systems of more rows than this are formed and solved in f64.
constexpr int64_t longSystem = 32;

/// The state with what its low-rank terms add as pairs like any other. The reads y[i] = w[i] @ S[i-1] meet each other's
/// updates: y = r + L y, where r are the reads without them and L[i, j] = w[i] . (decays) u[j] for j < i: the WY (or
/// UT) transform of Bischof and Van Loan 1987, for delta rules Yang et al. 2024 ("Parallelizing linear transformers
/// with the delta rule"). Terms of one step do not see each other; several make a system of steps x terms rows.
FactoredForm::State solveLowRank(Tile &tile, const FactoredForm &form, unsigned s, Value before) {
  FactoredForm::State state = form.states[s], factors = state;
  StageEmitter &e = tile.emitter;
  int64_t terms = state.lowRank.size(), rows = tile.rows, all = rows * terms;
  bool matrix = state.type.getRank() == 2;
  factors.pairs.clear();
  for (auto &term : state.lowRank) factors.pairs.push_back({term.u, {}});
  SmallVector<FactoredForm::Read> reads;
  SmallVector<Value> y;
  for (auto &term : state.lowRank) {
    reads.push_back({s, false, term.w});
    y.push_back(readChunk(tile, form, reads.back(), before, true));
  }
  auto sized = [&](int64_t n) {
    SmallVector<int64_t> sizes{n};
    if (matrix) sizes.push_back(state.type.getSizes()[1]);
    return sizes;
  };
  auto axes = [&](StringRef first) {
    return matrix ? SmallVector<StringRef>{first, "e"} : SmallVector<StringRef>{first};
  };
  if (rows > 1) {
    SmallVector<SmallVector<Value>> products(terms);
    for (int64_t r = 0; r < terms; ++r)
      for (int64_t q = 0; q < terms; ++q) products[r].push_back(tile.scores(reads[r], factors, q));
    auto divide = [&](Value i) { return arith::DivUIOp::create(e.builder, e.loc, i, e.index(terms)).getResult(); };
    auto isTerm = [&](Value i, int64_t r) {
      return e.compare(BinaryKind::Eq, arith::RemUIOp::create(e.builder, e.loc, i, e.index(terms)), e.index(r));
    };
    Value matrixL = products[0][0], right = y[0];
    if (terms > 1) {
      matrixL = e.stage("L", {"i", "j"}, {all, all}, [&](StageEmitter::Indices idx) {
        Value x;
        for (int64_t r = 0; r < terms; ++r) {
          Value row;
          for (int64_t q = 0; q < terms; ++q) {
            Value p = e.at(products[r][q], {divide(idx[0]), divide(idx[1])});
            row = row ? e.select(isTerm(idx[1], q), p, row) : p;
          }
          x = x ? e.select(isTerm(idx[0], r), row, x) : row;
        }
        return x;
      });
      right = e.stage("right", axes("i"), sized(all), [&](StageEmitter::Indices idx) {
        Value x;
        for (int64_t r = 0; r < terms; ++r) {
          SmallVector<Value> at{divide(idx[0])};
          at.append(idx.begin() + 1, idx.end());
          Value term = e.at(y[r], at);
          x = x ? e.select(isTerm(idx[0], r), term, x) : term;
        }
        return x;
      });
    }
    Value solution = e.stage(
        "y", axes("i"), sized(all), [&](StageEmitter::Indices idx) { return e.at(right, idx); }, {}, matrixL);
    // The rounding of long systems adds up along their rows.
    // The rounding of long systems adds up along their rows.
    if (all > longSystem) {
      for (Value v : {solution, right, matrixL}) makePrecise(v);
      for (Value v : y) makePrecise(v);
      for (auto &row : products)
        for (Value v : row) makePrecise(v);
    }
    if (terms == 1) y[0] = solution;
    for (int64_t r = 0; terms > 1 && r < terms; ++r)
      y[r] = e.stage("y_term", axes("j"), sized(rows), [&](StageEmitter::Indices idx) {
        Value row = arith::AddIOp::create(e.builder, e.loc,
                                          arith::MulIOp::create(e.builder, e.loc, idx[0], e.index(terms)), e.index(r));
        SmallVector<Value> at{row};
        at.append(idx.begin() + 1, idx.end());
        return e.at(solution, at);
      });
  }
  for (auto [term, read] : llvm::zip(state.lowRank, y)) {
    e.bind(read, read, StageEmitter::I);
    if (matrix) {
      state.pairs.push_back({term.u, read});
      continue;
    }
    Value update = e.stage("u_read", {"j", "c"}, {rows, state.type.getSizes()[0]}, [&](StageEmitter::Indices idx) {
      return e.mul(tile.element(term.u, idx[0], idx[1]), e.at(read, {idx[0]}));
    });
    e.bind(update, update, StageEmitter::I);
    state.pairs.push_back({update, {}});
  }
  return state;
}

} // namespace

KernelOp lintel::lowerChunkwise(ChunkwiseOp op) {
  OpBuilder builder(op->getContext());
  FactoredForm form = FactoredForm::of(op);
  Location loc = op.getLoc();
  SmallVector<StringRef> names;
  SmallVector<RealType> types;
  for (auto &s : form.states) names.push_back(s.name), types.push_back(s.type);
  KernelFrame frame = KernelFrame::create(builder, op, "chunkwise", op.getChunk(), op.getInputs(), *form.token, names,
                                          types, form.combine->getTerminator()->getOperands());
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
    FactoredForm chunk = form; // of these steps: low-rank terms are pairs here
    for (unsigned s = 0; s < n; ++s)
      if (!form.states[s].lowRank.empty() && (update || last.empty()))
        chunk.states[s] = solveLowRank(tile, form, s, carried[s]);
    if (write) {
      for (auto &read : form.reads)
        reads.push_back(
            readChunk(tile, chunk, read, last.empty() ? carried[read.state] : last[read.state], last.empty()));
      tile.emitOutput(form, frame, reads, t);
    }
    if (update)
      for (unsigned s = 0; s < n; ++s) next.push_back(tile.update(chunk.states[s], carried[s]));
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

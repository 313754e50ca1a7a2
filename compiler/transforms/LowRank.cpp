#include "compiler/transforms/LowRank.h"

using namespace mlir;
using namespace lintel;

/// Systems of more rows than this are formed and solved in f64.
static constexpr int64_t longSystem = 32;

Value lintel::readChunk(Tile &tile, const FactoredForm &form, const FactoredForm::Read &read, Value state,
                        bool within) {
  const FactoredForm::State &info = form.states[read.state];
  Value qs;
  if (!state) tile.emitter.materialize(read.q, "q", tile.rows);
  else if (within) qs = tile.scaledQuery(read, info);
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
    if (!state) return tile.addWithin(e.number(0), read, info, scores, idx);
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

LowRankSystem::LowRankSystem(Tile &tile, const FactoredForm &form, unsigned s)
    : tile(tile), terms(form.states[s].lowRank.size()), rows(tile.rows) {
  StageEmitter &e = tile.emitter;
  FactoredForm::State factors = form.states[s];
  factors.pairs.clear();
  for (auto &term : form.states[s].lowRank) {
    factors.pairs.push_back({term.u, {}});
    reads.push_back({s, false, term.w});
  }
  if (rows == 1) return;
  products.resize(terms);
  for (int64_t r = 0; r < terms; ++r)
    for (int64_t q = 0; q < terms; ++q) products[r].push_back(tile.scores(reads[r], factors, q));
  matrix = products[0][0];
  if (terms == 1) return;
  matrix = e.stage("L", {"i", "j"}, {rows * terms, rows * terms}, [&](StageEmitter::Indices idx) {
    Value x;
    for (int64_t r = 0; r < terms; ++r) {
      Value row;
      for (int64_t q = 0; q < terms; ++q) {
        Value p = e.at(products[r][q], {stepOf(idx[0]), stepOf(idx[1])});
        row = row ? e.select(isTerm(idx[1], q), p, row) : p;
      }
      x = x ? e.select(isTerm(idx[0], r), row, x) : row;
    }
    return x;
  });
}

Value LowRankSystem::stepOf(Value row) {
  StageEmitter &e = tile.emitter;
  return arith::DivUIOp::create(e.builder, e.loc, row, e.index(terms));
}

Value LowRankSystem::isTerm(Value row, int64_t term) {
  StageEmitter &e = tile.emitter;
  return e.compare(BinaryKind::Eq, arith::RemUIOp::create(e.builder, e.loc, row, e.index(terms)), e.index(term));
}

SmallVector<Value> LowRankSystem::solve(SmallVector<Value> y) {
  if (rows == 1) return y;
  StageEmitter &e = tile.emitter;
  int64_t all = rows * terms;
  auto inner = cast<RealType>(y[0].getType()).getSizes();
  auto sized = [&](int64_t n) {
    SmallVector<int64_t> sizes(inner);
    sizes[0] = n;
    return sizes;
  };
  auto axes = [&](StringRef first) {
    return inner.size() == 2 ? SmallVector<StringRef>{first, "e"} : SmallVector<StringRef>{first};
  };
  Value right = y[0];
  if (terms > 1)
    right = e.stage("right", axes("i"), sized(all), [&](StageEmitter::Indices idx) {
      Value x;
      for (int64_t r = 0; r < terms; ++r) {
        SmallVector<Value> at{stepOf(idx[0])};
        at.append(idx.begin() + 1, idx.end());
        Value term = e.at(y[r], at);
        x = x ? e.select(isTerm(idx[0], r), term, x) : term;
      }
      return x;
    });
  Value solution = e.stage(
      "y", axes("i"), sized(all), [&](StageEmitter::Indices idx) { return e.at(right, idx); }, {}, matrix);
  // The rounding of long systems adds up along their rows.
  if (all > longSystem) {
    for (Value v : {solution, right, matrix}) makePrecise(v);
    for (Value v : y) makePrecise(v);
    for (auto &row : products)
      for (Value v : row) makePrecise(v);
  }
  if (terms == 1) return {solution};
  for (int64_t r = 0; r < terms; ++r)
    y[r] = e.stage("y_term", axes("j"), sized(rows), [&](StageEmitter::Indices idx) {
      Value row = arith::AddIOp::create(e.builder, e.loc,
                                        arith::MulIOp::create(e.builder, e.loc, idx[0], e.index(terms)), e.index(r));
      SmallVector<Value> at{row};
      at.append(idx.begin() + 1, idx.end());
      return e.at(solution, at);
    });
  return y;
}

FactoredForm::State lintel::withLowRankPairs(Tile &tile, const FactoredForm &form, unsigned s, Value before) {
  FactoredForm::State state = form.states[s];
  StageEmitter &e = tile.emitter;
  LowRankSystem system(tile, form, s);
  SmallVector<Value> y;
  for (unsigned r = 0; r < state.lowRank.size(); ++r)
    y.push_back(readChunk(tile, form, system.read(r), before, /*within=*/true));
  for (auto [term, read] : llvm::zip(state.lowRank, system.solve(y))) {
    e.bind(read, read, StageEmitter::I);
    if (state.type.getRank() == 2) {
      state.pairs.push_back({term.u, read});
      continue;
    }
    Value update = e.stage("u_read", {"j", "c"}, {tile.rows, state.type.getSizes()[0]}, [&](StageEmitter::Indices idx) {
      return e.mul(tile.element(term.u, idx[0], idx[1]), e.at(read, {idx[0]}));
    });
    e.bind(update, update, StageEmitter::I);
    state.pairs.push_back({update, {}});
  }
  return state;
}

Value lintel::wholeQuery(Tile &tile, const FactoredForm::Read &read, const FactoredForm::State &state) {
  StageEmitter &e = tile.emitter;
  Value scaled = tile.scaledQuery(read, state);
  if (!state.decay || cast<RealType>(state.decay.getType()).getRank()) return scaled;
  return e.stage("qs", {"i", "c"}, {tile.rows, state.type.getSizes()[0]},
                 [&](StageEmitter::Indices idx) { return tile.sinceStart(read, state, idx[0], e.at(scaled, idx)); });
}

BackwardStep BackwardStep::of(Tile &tile, const FactoredForm &form, unsigned s) {
  BackwardStep step;
  step.state = withLowRankPairs(tile, form, s, {});
  step.onto = form.states[s];
  int64_t d = step.onto.type.getSizes()[0];
  step.onto.type = RealType::get(form.token->getParentOp()->getContext(), ArrayRef<int64_t>{d, d});
  step.onto.pairs.clear();
  LowRankSystem system(tile, form, s);
  SmallVector<Value> w;
  for (unsigned r = 0; r < step.onto.lowRank.size(); ++r) w.push_back(wholeQuery(tile, system.read(r), step.onto));
  for (auto [term, passed] : llvm::zip(step.onto.lowRank, system.solve(w))) {
    tile.emitter.bind(passed, passed, StageEmitter::I);
    step.onto.pairs.push_back({term.u, passed});
  }
  return step;
}

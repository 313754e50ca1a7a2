#include "compiler/transforms/LowRank.h"

using namespace mlir;
using namespace lintel;

/// Systems of more rows than this are formed and solved in f64.
static constexpr int64_t longSystem = 32;

Value lintel::readChunk(Tile &tile, const FactoredForm &form, const FactoredForm::Read &read, Value state, bool within,
                        Value own) {
  const FactoredForm::State &info = form.states[read.state];
  Value qs;
  if (!state) tile.emitter.materialize(read.q, "q", tile.rows);
  else if (within) qs = tile.scaledQuery(read, info);
  else tile.emitter.materialize(read.q, "q", tile.rows);
  SmallVector<Value> scores;
  if (within && (tile.rows > 1 || read.inclusive))
    for (unsigned p = 0; p < info.pairs.size(); ++p) scores.push_back(tile.scores(read, info, p));
  StageEmitter &e = tile.emitter;
  SmallVector<int64_t> sizes{tile.rows * read.terms};
  SmallVector<StringRef> axes{"i"};
  bool matrix = info.type.getRank() == 2;
  if (matrix) sizes.push_back(info.type.getSizes()[1]), axes.push_back("e");
  return e.stage("r", axes, sizes, [&](StageEmitter::Indices idx) {
    auto withOwn = [&](Value x) {
      x = tile.ofCleared(read, info, tile.stepOf(idx[0], read.terms), x);
      return own ? e.add(x, tile.element(own, idx[0], idx[1])) : x;
    };
    if (!state) return withOwn(tile.addWithin(e.number(0), read, info, scores, idx));
    Value sum = tile.overFeature(info, [&](Value c) {
      SmallVector<Value> at;
      if (c) at.push_back(c);
      if (matrix) at.push_back(idx[1]);
      Value x = e.at(state, at);
      if (!qs) return e.mul(tile.element(read.q, idx[0], c), x);
      x = e.mul(tile.queryFor(read, info, qs, idx[0], c, x), x);
      return within ? tile.ofChannel(read, info, tile.stepOf(idx[0], read.terms), {}, c, x) : x;
    });
    if (within) sum = tile.sinceStart(read, info, tile.stepOf(idx[0], read.terms), sum);
    return withOwn(tile.addWithin(sum, read, info, scores, idx));
  });
}

/// The values of pairs whose keys are a term's own vectors u, for each term, and leaves the others: u, v and u, y are
/// one pair u, v + y, and z = v + y solves the same system, z = (v + r) + L z.
static SmallVector<Value> takeOwnValues(FactoredForm::State &state) {
  SmallVector<Value> values(state.lowRank.size());
  if (state.type.getRank() != 2) return values;
  llvm::erase_if(state.pairs, [&](const FactoredForm::Pair &pair) {
    for (auto [term, value] : llvm::zip(state.lowRank, values)) {
      if (value || term.u != pair.k) continue;
      value = pair.v;
      return true;
    }
    return false;
  });
  return values;
}

LowRankSystem::LowRankSystem(Tile &tile, const FactoredForm &form, unsigned s)
    : tile(tile), form(form), s(s), terms(form.states[s].lowRank.size()) {
  FactoredForm::State &others = this->form.states[s];
  SmallVector<Value> values = takeOwnValues(others), u, w;
  for (auto &term : others.lowRank) u.push_back(term.u), w.push_back(term.w);
  if (tile.rows == 1) {
    // Nothing is solved, and a single step is read and updated in one pass.
    for (auto [r, term] : llvm::enumerate(others.lowRank))
      parts.push_back({term.u, {s, false, term.w, 1, /*ofCleared=*/true}, values[r]});
    return;
  }
  Part all{u[0], {s, false, w[0], terms, /*ofCleared=*/true}, values[0]};
  if (terms > 1) {
    all.u = gather("U", "c", u);
    all.read.q = gather("W", "c", w);
    if (llvm::any_of(values, [](Value v) { return bool(v); })) all.value = gather("V", "e", values);
  }
  parts.push_back(all);
  FactoredForm::State factors = others;
  factors.pairs.assign(1, {all.u, {}, terms});
  matrix = tile.scores(all.read, factors, 0);
  if (!others.clears) return;
  StageEmitter &e = tile.emitter;
  int64_t n = tile.rows * terms;
  matrix = e.stage("L", {"i", "j"}, {n, n}, [&, a = matrix](StageEmitter::Indices idx) {
    return tile.unlessCleared(others, tile.stepOf(idx[0], terms), tile.stepOf(idx[1], terms), e.at(a, idx));
  });
}

/// The rows of all terms of a step side by side: [step * terms + term, n].
Value LowRankSystem::gather(StringRef name, StringRef axis, ArrayRef<Value> values) {
  StageEmitter &e = tile.emitter;
  SmallVector<int64_t> sizes{tile.rows * terms};
  SmallVector<StringRef> axes{"j"};
  for (Value v : values)
    if (v) e.materialize(v, name.lower(), tile.rows);
  auto type = cast<RealType>(form.states[s].type);
  if (type.getRank()) sizes.push_back(type.getSizes()[axis == "c" ? 0 : 1]), axes.push_back(axis);
  Value joint = e.stage(name, axes, sizes, [&](StageEmitter::Indices idx) {
    Value step = tile.stepOf(idx[0], terms), x;
    Value term = arith::RemUIOp::create(e.builder, e.loc, idx[0], e.index(terms));
    for (auto [r, v] : llvm::enumerate(values)) {
      Value own = v ? tile.element(v, step, type.getRank() ? idx[1] : Value()) : e.number(0);
      x = x ? e.select(e.compare(BinaryKind::Eq, term, e.index(r)), own, x) : own;
    }
    return x;
  });
  e.bind(joint, joint, StageEmitter::I);
  return joint;
}

Value LowRankSystem::solve(Value right) {
  if (tile.rows == 1) return right;
  SmallVector<int64_t> sizes(cast<RealType>(right.getType()).getSizes());
  SmallVector<StringRef> axes{"i", "e"};
  axes.truncate(sizes.size());
  StageEmitter &e = tile.emitter;
  Value solution = e.stage(
      "y", axes, sizes, [&](StageEmitter::Indices idx) { return e.at(right, idx); }, {}, matrix);
  // What was cleared, or has not begun to grow, is not to be multiplied by the 0 that says so.
  if (form.states[s].clears || tile.grows(form.states[s])) solution.getDefiningOp<StageOp>().setSparse(true);
  // The rounding of long systems adds up along their rows.
  if (sizes[0] > longSystem)
    for (Value v : {solution, right, matrix}) makePrecise(v);
  return solution;
}

FactoredForm::State LowRankSystem::withPairs(Value before) {
  FactoredForm::State state = form.states[s];
  StageEmitter &e = tile.emitter;
  for (Part &part : parts) {
    Value read = solve(readChunk(tile, form, part.read, before, /*within=*/true, part.value));
    e.bind(read, read, StageEmitter::I);
    int64_t n = part.read.terms;
    if (state.type.getRank() == 2) {
      state.pairs.push_back({part.u, read, n});
      continue;
    }
    SmallVector<int64_t> sizes{tile.rows * n, state.type.getSizes()[0]};
    Value update = e.stage("u_read", {"j", "c"}, sizes, [&](StageEmitter::Indices idx) {
      return e.mul(tile.element(part.u, idx[0], idx[1]), e.at(read, {idx[0]}));
    });
    e.bind(update, update, StageEmitter::I);
    state.pairs.push_back({update, {}, n});
  }
  return state;
}

FactoredForm::State LowRankSystem::passed() {
  FactoredForm::State onto = form.states[s];
  int64_t d = onto.type.getSizes()[0];
  onto.type = RealType::get(form.token->getParentOp()->getContext(), ArrayRef<int64_t>{d, d});
  onto.pairs.clear();
  onto.outgrown = tile.grows(onto);
  for (Part &part : parts) {
    Value w = solve(wholeQuery(tile, part.read, onto));
    tile.emitter.bind(w, w, StageEmitter::I);
    onto.pairs.push_back({part.u, w, part.read.terms});
  }
  return onto;
}

FactoredForm::State lintel::withLowRankPairs(Tile &tile, const FactoredForm &form, unsigned s, Value before) {
  return LowRankSystem(tile, form, s).withPairs(before);
}

Value lintel::wholeQuery(Tile &tile, const FactoredForm::Read &read, const FactoredForm::State &state) {
  StageEmitter &e = tile.emitter;
  Value scaled = tile.scaledQuery(read, state);
  if (!state.clears && (!state.decay || cast<RealType>(state.decay.getType()).getRank())) return scaled;
  SmallVector<int64_t> sizes{tile.rows * read.terms, state.type.getSizes()[0]};
  return e.stage("qs", {"i", "c"}, sizes, [&](StageEmitter::Indices idx) {
    Value step = tile.stepOf(idx[0], read.terms);
    return tile.ofCleared(read, state, step, tile.sinceStart(read, state, step, e.at(scaled, idx)));
  });
}

BackwardStep BackwardStep::of(Tile &tile, const FactoredForm &form, unsigned s) {
  LowRankSystem system(tile, form, s);
  FactoredForm::State state = system.withPairs({});
  return {state, system.passed()};
}

#include "compiler/transforms/LowRank.h"

using namespace mlir;
using namespace lintel;

namespace {

/// Block of queries by block of keys. The block on the diagonal is a chunk without a state; earlier ones factor at the
/// boundaries: the weight of (i, j) is (decays from the query block's start to i) x (decays of the blocks between) x
/// (decays from j to its block's end).
///
/// Scalar decays of the blocks between are applied to the sums, which grow block by block from the first; a decay for
/// each channel lies inside the sums over c, so its product is carried from the last block to the first. A
/// bidirectional operator sees every block whole, as it is after the last step.
class ParallelLowering {
public:
  explicit ParallelLowering(ParallelOp op)
      : op(op), builder(op->getContext()), loc(op.getLoc()), form(FactoredForm::of(op)), chunk(op.getChunk()),
        both(op.getBidirectional()) {}

  KernelOp run() {
    for (auto &s : form.states)
      if (isLowRank(s) || (s.decay && cast<RealType>(s.decay.getType()).getRank())) descending = true;
    frame = createFactoredKernel(builder, op, "parallel", chunk, form, op.getScales());
    if (both) frame.kernel.setBidirectional(true);
    StageEmitter top(builder, loc);
    SmallVector<Value> init = startStates(form, frame, top);
    SmallVector<Value> start(ArrayRef<Value>(init).take_back(form.internal));
    if (settles())
      for (unsigned s = 0; s < form.internal; ++s)
        start.push_back(top.stage("bound", {}, {}, [&](StageEmitter::Indices) { return top.number(1); }));
    createScan(builder, loc, ScanMode::Blocks, chunk, 0, {}, [&](Value t, ValueRange) {
      queryBlock(t, start);
      return SmallVector<Value>();
    });
    // The states after the sequence: updates alone.
    SmallVector<Value> last = sweepChunks(builder, loc, chunk, init, [&](Value t, ValueRange carried, int64_t rows) {
      Tile tile(form, frame, builder, loc, t, rows, carried.take_back(form.internal));
      SmallVector<Value> next;
      for (auto [s, state] : llvm::enumerate(form.states))
        next.push_back(tile.update(isLowRank(state) ? withLowRankPairs(tile, form, s, carried[s]) : state, carried[s]));
      next.append(tile.exponentsAfter);
      if (settles()) settleExponents(tile.emitter, frame.kernel, next, /*matrices=*/true);
      return next;
    });
    YieldOp::create(builder, loc, finalStates(top, frame.kernel, last));
    return frame.kernel;
  }

private:
  bool settles() { return frame.kernel->hasAttr("settles") && !both; }

  /// The steps from t, with the exponents (and their bounds, where they settle) that are `running` by then.
  Tile tileAt(Value t, ValueRange running) {
    return Tile(form, frame, builder, loc, t, chunk, running.take_front(form.internal),
                running.drop_front(form.internal));
  }
  static SmallVector<Value> runningAfter(const Tile &tile) {
    SmallVector<Value> running(tile.exponentsAfter);
    running.append(tile.boundsAfter);
    return running;
  }

  void queryBlock(Value t, ArrayRef<Value> start) {
    SmallVector<Value> running(start);
    if (form.internal)
      running = blocks(t, start, /*causal=*/true,
                       [&](Value s, ValueRange carried) { return runningAfter(tileAt(s, carried)); });
    Tile tile = tileAt(t, running);
    StageEmitter &e = tile.emitter;
    SmallVector<Value> queries, carried;
    auto own = backwardSteps(tile);
    for (auto &read : form.reads) {
      if (own[read.state]) queries.push_back({});
      else if (both) e.materialize(read.q, "q", chunk), queries.push_back({});
      else queries.push_back(tile.scaledQuery(read, form.states[read.state]));
    }
    auto query = [&](unsigned r, Value i, Value c, Value met) {
      auto &read = form.reads[r];
      if (!queries[r]) return tile.element(read.q, i, c);
      return tile.queryFor(read, form.states[read.state], queries[r], i, c, met);
    };
    // The initial state, as far as channel c of query i sees it.
    auto initial = [&](unsigned r, StageEmitter::Indices idx, Value all) {
      auto &read = form.reads[r];
      auto &state = form.states[read.state];
      return tile.overFeature(state, [&](Value c) {
        SmallVector<Value> at;
        if (c) at.push_back(c);
        at.append(idx.begin() + 1, idx.end());
        Value before = e.at(frame.states[read.state], at), x = e.mul(query(r, idx[0], c, before), before);
        return all ? tile.weigh(x, e.at(all, {c}), true) : x;
      });
    };
    for (auto [r, read] : llvm::enumerate(form.reads)) {
      if (own[read.state]) {
        carried.push_back(perQuery(e, r, "r", within(tile, read, own[read.state]->state)));
        continue;
      }
      carried.push_back(perQuery(e, r, descending ? "zero" : "initial", [&, r = r](StageEmitter::Indices idx) {
        return descending ? e.number(0) : initial(r, idx, {});
      }));
    }
    // Descending, the product of all decays between the key block and the query block.
    SmallVector<unsigned> between(form.states.size(), ~0u);
    if (descending)
      for (auto [s, state] : llvm::enumerate(form.states)) {
        if (!state.decay || isLowRank(state)) continue;
        between[s] = carried.size();
        carried.push_back(perDecay(e, state, [&](StageEmitter::Indices) { return e.number(1); }));
      }
    // Descending, whether no block between clears the state.
    SmallVector<unsigned> open(form.states.size(), ~0u);
    for (auto [s, state] : llvm::enumerate(form.states)) {
      if (!descending || !state.clears || isLowRank(state)) continue;
      open[s] = carried.size();
      carried.push_back(e.stage("open", {}, {}, [&](StageEmitter::Indices) { return e.number(1); }));
    }
    // What a query becomes on its way back through low-rank transitions.
    SmallVector<unsigned> moved(form.reads.size(), ~0u);
    for (auto [r, read] : llvm::enumerate(form.reads)) {
      if (!own[read.state]) continue;
      moved[r] = carried.size();
      const FactoredForm::State &onto = own[read.state]->onto;
      Value whole = wholeQuery(tile, read, onto);
      auto passed = within(tile, read, onto);
      carried.push_back(perChannel(
          e, onto, [&](StageEmitter::Indices idx) -> Value { return e.add(e.at(whole, idx), passed(idx)); }));
    }
    // Whether what lies in front of the block it has come to is left for a moved query at all.
    SmallVector<unsigned> sees(form.reads.size(), ~0u);
    for (auto [r, read] : llvm::enumerate(form.reads)) {
      auto &state = form.states[read.state];
      if (!own[read.state] || !state.clears) continue;
      sees[r] = carried.size();
      carried.push_back(
          e.stage("sees", {"i"}, {chunk}, [&](StageEmitter::Indices idx) { return tile.isOpen(read, state, idx[0]); }));
    }
    unsigned exponentsFrom = carried.size();
    carried.append(start.begin(), start.end());
    SmallVector<Value> seen = blocks(t, carried, !both, [&](Value s, ValueRange args) {
      return keyBlock(s, args, between, open, moved, sees, exponentsFrom, query);
    });

    SmallVector<Value> results;
    for (auto [r, read] : llvm::enumerate(form.reads)) {
      auto &state = form.states[read.state];
      SmallVector<Value> scores;
      if (own[read.state]) {
        results.push_back(perQuery(e, r, "r", [&, r = r, s = read.state](StageEmitter::Indices idx) {
          Value before = tile.overFeature(form.states[s], [&](Value c) {
            SmallVector<Value> at{c};
            at.append(idx.begin() + 1, idx.end());
            Value x = e.at(frame.states[s], at);
            return unlessZero(e, x, e.mul(e.at(seen[moved[r]], {idx[0], c}), x), tile.grows(form.states[s]));
          });
          if (sees[r] != ~0u) before = e.select(e.at(seen[sees[r]], {idx[0]}), before, e.number(0));
          return e.add(e.at(seen[r], idx), before);
        }));
        continue;
      }
      for (unsigned p = 0; !both && p < state.pairs.size(); ++p) scores.push_back(tile.scores(read, state, p));
      results.push_back(perQuery(e, r, "r", [&](StageEmitter::Indices idx) {
        Value sum = e.at(seen[r], idx);
        if (descending) {
          Value all = between[read.state] == ~0u ? Value() : seen[between[read.state]];
          bool vector = all && cast<RealType>(all.getType()).getRank();
          Value first = initial(r, idx, vector ? all : Value());
          if (all && !vector) first = tile.weigh(first, e.at(all, {}), true);
          if (open[read.state] != ~0u) first = e.select(e.at(seen[open[read.state]], {}), first, e.number(0));
          sum = e.add(sum, first);
        }
        if (both) return sum;
        return tile.addWithin(tile.sinceStart(read, state, idx[0], sum), read, state, scores, idx);
      }));
    }
    tile.emitOutput(form, frame, results, t);
  }

  /// `product` of a factor, or zero where that is and what grows with the decays may have left the type.
  static Value unlessZero(StageEmitter &e, Value factor, Value product, bool grows) {
    if (!grows) return product;
    return e.select(e.binary(BinaryKind::Eq, factor, e.number(0)), e.number(0), product);
  }

  static bool isLowRank(const FactoredForm::State &state) { return !state.lowRank.empty(); }

  std::vector<std::optional<BackwardStep>> backwardSteps(Tile &tile) {
    std::vector<std::optional<BackwardStep>> steps(form.states.size());
    for (auto [s, state] : llvm::enumerate(form.states))
      if (isLowRank(state)) steps[s] = BackwardStep::of(tile, form, s);
    return steps;
  }

  /// What row i of a read sees of its own block, from a state of zero.
  std::function<Value(StageEmitter::Indices)> within(Tile &tile, const FactoredForm::Read &read,
                                                     const FactoredForm::State &state) {
    SmallVector<Value> scores;
    for (unsigned p = 0; p < state.pairs.size(); ++p) scores.push_back(tile.scores(read, state, p));
    return [&tile, &read, &state, scores](StageEmitter::Indices idx) {
      return tile.addWithin(tile.emitter.number(0), read, state, scores, idx);
    };
  }

  /// A block of keys that a read's moved queries pass: what they see of it, and what they become. `sees` is null where
  /// nothing clears the state.
  std::pair<Value, Value> passBlock(Tile &keys, unsigned r, const BackwardStep &step, Value seen, Value x, Value sees) {
    StageEmitter &k = keys.emitter;
    bool grows = keys.grows(step.onto);
    std::map<void *, Value> known;
    auto scoresOf = [&](const FactoredForm::State &state) {
      SmallVector<Value> scores;
      for (unsigned pair = 0; pair < state.pairs.size(); ++pair) {
        Value scaled = keys.scaledKey(state, pair), &a = known[scaled.getAsOpaquePointer()];
        if (!a)
          a = k.stage("A", {"i", "j"}, {chunk, chunk * state.pairs[pair].terms}, [&](StageEmitter::Indices idx) {
            return keys.overFeature(state, [&](Value c) {
              Value key = k.at(scaled, {idx[1], c});
              return unlessZero(k, key, k.mul(k.at(x, {idx[0], c}), key), grows);
            });
          });
        scores.push_back(a);
      }
      return scores;
    };
    auto sum = [&](const FactoredForm::State &state, ArrayRef<Value> scores, Value first, StageEmitter::Indices idx) {
      for (auto [pair, a] : llvm::zip_equal(state.pairs, scores))
        first = k.add(first, k.fold(ReduceKind::Sum, "j", chunk * pair.terms, [&, a = a, pair = pair](Value j) {
          Value v = pair.v;
          Value weight = k.at(a, {idx[0], j}), term = v ? k.mul(weight, keys.element(v, j, idx[1])) : weight;
          term = keys.fromStep(state, keys.stepOf(j, pair.terms), unlessZero(k, weight, term, state.outgrown));
          return sees ? k.select(k.at(sees, {idx[0]}), term, k.number(0)) : term;
        }));
      return first;
    };
    SmallVector<Value> scores = scoresOf(step.state), passed = scoresOf(step.onto);
    auto p = keys.products(step.onto);
    Value nextSeen =
        perQuery(k, r, "r", [&](StageEmitter::Indices idx) { return sum(step.state, scores, k.at(seen, idx), idx); });
    Value nextX = perChannel(k, step.onto, [&](StageEmitter::Indices idx) {
      Value kept = k.at(x, idx);
      if (p) {
        SmallVector<Value> at{k.index(chunk - 1)};
        if (p->rank) at.push_back(idx[1]);
        kept = keys.weigh(kept, k.at(p->before, at), p->grows);
      }
      if (sees) kept = k.select(k.at(sees, {idx[0]}), keys.beforeChunk(step.onto, kept), k.number(0));
      return sum(step.onto, passed, kept, idx);
    });
    return {nextSeen, nextX};
  }

  SmallVector<Value> keyBlock(Value s, ValueRange carried, ArrayRef<unsigned> between, ArrayRef<unsigned> open,
                              ArrayRef<unsigned> moved, ArrayRef<unsigned> sees, unsigned exponentsFrom,
                              llvm::function_ref<Value(unsigned, Value, Value, Value)> query) {
    Tile keys = tileAt(s, carried.drop_front(exponentsFrom));
    // Only a bidirectional operator meets the last block, which may be short.
    if (both) keys.maskAfterEnd();
    StageEmitter &k = keys.emitter;
    SmallVector<Value> next, nextMoved, nextSees;
    auto steps = backwardSteps(keys);
    for (auto [r, read] : llvm::enumerate(form.reads)) {
      auto &state = form.states[read.state];
      if (steps[read.state]) {
        Value open = sees[r] == ~0u ? Value() : carried[sees[r]];
        auto [sum, x] = passBlock(keys, r, *steps[read.state], carried[r], carried[moved[r]], open);
        next.push_back(sum), nextMoved.push_back(x);
        if (open)
          nextSees.push_back(k.stage("sees", {"i"}, {chunk}, [&](StageEmitter::Indices idx) {
            return k.mul(k.at(open, idx), keys.isNeverCleared(state));
          }));
        continue;
      }
      auto ba = between[read.state];
      bool vector = ba != ~0u && cast<RealType>(state.decay.getType()).getRank();
      auto p = keys.products(state);
      SmallVector<Value> scores, values;
      for (unsigned pair = 0; pair < state.pairs.size(); ++pair) {
        Value scaled = keys.scaledKey(state, pair);
        values.push_back(state.pairs[pair].v ? keys.pairValues(state, pair) : Value());
        scores.push_back(k.stage("A", {"i", "j"}, {chunk, chunk}, [&](StageEmitter::Indices idx) {
          Value sum = keys.overFeature(state, [&](Value c) {
            SmallVector<Value> kj{idx[1]};
            if (c) kj.push_back(c);
            Value x = k.at(scaled, kj);
            if (vector) x = keys.weigh(x, k.at(carried[ba], {c}), p->grows);
            return k.mul(query(r, idx[0], c, x), x);
          });
          return ba != ~0u && !vector ? keys.weigh(sum, k.at(carried[ba], {}), p->grows) : sum;
        }));
      }
      next.push_back(perQuery(k, r, "r", [&](StageEmitter::Indices idx) {
        Value sum = k.at(carried[r], idx);
        if (p && !descending)
          sum = keys.beforeChunk(state, keys.weigh(sum, k.at(p->before, {k.index(chunk - 1)}), p->grows));
        for (auto [pair, a] : llvm::enumerate(scores))
          sum = k.add(sum, k.fold(ReduceKind::Sum, "j", chunk, [&](Value j) {
            Value x = k.at(a, {idx[0], j});
            if (values[pair]) x = k.mul(x, k.at(values[pair], {j, idx[1]}));
            if (open[read.state] != ~0u) x = k.select(k.at(carried[open[read.state]], {}), x, k.number(0));
            return keys.fromStep(state, j, x);
          }));
        return sum;
      }));
    }
    for (auto [si, state] : llvm::enumerate(form.states)) {
      if (between[si] == ~0u) continue;
      auto p = *keys.products(state);
      next.push_back(perDecay(k, state, [&](StageEmitter::Indices idx) {
        SmallVector<Value> at{k.index(chunk - 1)};
        at.append(idx.begin(), idx.end());
        return k.mul(k.at(carried[between[si]], idx), k.at(p.before, at));
      }));
    }
    for (auto [si, state] : llvm::enumerate(form.states)) {
      if (open[si] == ~0u) continue;
      next.push_back(k.stage("open", {}, {}, [&, si = si](StageEmitter::Indices) {
        return k.mul(k.at(carried[open[si]], {}), keys.isNeverCleared(state));
      }));
    }
    next.append(nextMoved);
    next.append(nextSees);
    next.append(runningAfter(keys));
    return next;
  }

  SmallVector<Value> blocks(Value t, ArrayRef<Value> init, bool causal,
                            llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    auto pairs =
        PairsOp::create(builder, loc, ValueRange(init).getTypes(), t, chunk, 0, causal, descending, /*window=*/0,
                        /*ahead=*/-1, /*first=*/0, /*whole=*/{}, /*cut=*/false, init);
    OpBuilder::InsertionGuard guard(builder);
    Block &block = pairs.getBody().emplaceBlock();
    Value s = block.addArgument(builder.getIndexType(), loc);
    for (Value v : init) block.addArgument(v.getType(), loc);
    builder.setInsertionPointToEnd(&block);
    YieldOp::create(builder, loc, body(s, block.getArguments().drop_front()));
    return SmallVector<Value>(pairs.getResults());
  }

  /// A stage over a read's rows: [i] or [i, e].
  Value perQuery(StageEmitter &e, unsigned read, StringRef name, StageEmitter::Body body) {
    RealType type = form.states[form.reads[read].state].type;
    SmallVector<int64_t> sizes{chunk};
    SmallVector<StringRef> axes{"i"};
    if (type.getRank() == 2) sizes.push_back(type.getSizes()[1]), axes.push_back("e");
    return e.stage(name, axes, sizes, body);
  }
  /// A stage over the rows and channels of a read of the state: [i, c].
  Value perChannel(StageEmitter &e, const FactoredForm::State &state, StageEmitter::Body body) {
    return e.stage("x", {"i", "c"}, {chunk, state.type.getSizes()[0]}, body);
  }
  Value perDecay(StageEmitter &e, const FactoredForm::State &state, StageEmitter::Body body) {
    SmallVector<int64_t> sizes;
    SmallVector<StringRef> axes;
    if (cast<RealType>(state.decay.getType()).getRank()) sizes.push_back(state.type.getSizes()[0]), axes.push_back("c");
    return e.stage("between", axes, sizes, body);
  }

  ParallelOp op;
  OpBuilder builder;
  Location loc;
  FactoredForm form;
  KernelFrame frame;
  int64_t chunk;
  bool both, descending = false;
};

} // namespace

KernelOp lintel::lowerParallel(ParallelOp op) { return ParallelLowering(op).run(); }

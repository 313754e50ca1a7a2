#include "compiler/transforms/FactoredEmitter.h"
#include "compiler/analysis/RangeAnalysis.h"

using namespace mlir;
using namespace lintel;

Tile::Tile(const FactoredForm &form, const KernelFrame &frame, OpBuilder &builder, Location loc, Value t, int64_t rows,
           ValueRange exponents, ValueRange bounds)
    : emitter(builder, loc), rows(rows), start(t) {
  StageEmitter prefix(builder, loc);
  if (form.internal) {
    // Each exponent is a serial recurrence of its own over the chunk.
    frame.bindInputs(prefix, *form.prefix, t, rows);
    for (unsigned s = 0; s < form.internal; ++s) {
      Value next = form.prefix->getTerminator()->getOperand(s), arg = form.prefix->getArgument(form.inputs + s);
      prefix.bindScalar(arg, arg); // keeps what depends on it out of stages of their own
      prefix.prepare(next, rows);
      Value after = prefix.stage(
          "p", {"i"}, {rows},
          [&](StageEmitter::Indices idx) {
            prefix.bindScalar(arg, idx[1]);
            return prefix.scalar(next, {idx[0], idx[0]}, {});
          },
          bounds.empty() ? exponents[s] : lowered(exponents[s], bounds[s]));
      Value before = emitter.stage("p_before", {"i"}, {rows}, [&](StageEmitter::Indices idx) {
        Value previous = arith::MaxSIOp::create(
            builder, loc, arith::SubIOp::create(builder, loc, idx[0], emitter.index(1)), emitter.index(0));
        return emitter.select(emitter.compare(BinaryKind::Gt, idx[0], emitter.index(0)), emitter.at(after, {previous}),
                              emitter.at(exponents[s], {}));
      });
      exponentsAt.push_back(before);
      exponentsNext.push_back(after);
      exponentsAfter.push_back(emitter.stage(
          "p_last", {}, {}, [&](StageEmitter::Indices) { return emitter.at(after, {emitter.index(rows - 1)}); }));
    }
  }
  frame.bindInputs(emitter, *form.token, t, rows);
  for (unsigned s = 0; s < form.internal; ++s) {
    emitter.bind(form.token->getArgument(form.inputs + s), exponentsAt[s], StageEmitter::I);
    emitter.bind(form.token->getArgument(form.inputs + form.internal + s), exponentsNext[s], StageEmitter::I);
  }
  emitter.joinDots(*form.token, rows);
  for (auto [s, state] : llvm::enumerate(form.states)) {
    if (state.clears) emitter.materialize(state.clears, "clears", rows);
    if (state.decay) emitter.materialize(state.decay, "a", rows);
    for (auto pair : state.pairs) {
      emitter.materialize(pair.k, "k", rows);
      if (pair.v) emitter.materialize(pair.v, "v", rows);
    }
    for (auto term : state.lowRank) emitter.materialize(term.u, "u", rows);
  }
  for (unsigned s = 0; s < bounds.size(); ++s) boundsAfter.push_back(boundAfter(form, frame, prefix, s, bounds[s]));
}

Value Tile::lowered(Value exponent, Value bound) {
  return emitter.stage("p_start", {}, {}, [&](StageEmitter::Indices) {
    Value p = emitter.at(exponent, {}), m = emitter.at(bound, {}), lower = p;
    for (int below : llvm::reverse(settledBelow))
      lower = emitter.select(emitter.binary(BinaryKind::Lt, m, emitter.number(std::ldexp(1.0, -below))),
                             emitter.add(p, emitter.number(-below)), lower);
    return lower;
  });
}

Value Tile::boundAfter(const FactoredForm &form, const KernelFrame &frame, StageEmitter &prefix, unsigned s,
                       Value bound) {
  Value next = form.prefix->getTerminator()->getOperand(s), arg = form.prefix->getArgument(form.inputs + s);
  ArrayRef<int64_t> scales = KernelOp(frame.kernel).getScales();
  Value steps = emitter.stage(
      "bound", {"i"}, {rows},
      [&](StageEmitter::Indices idx) {
        Value kept;
        for (auto [state, scale] : llvm::zip_first(form.states, scales)) {
          if (scale != static_cast<int64_t>(form.states.size() + s)) continue;
          Value decay = state.decay ? emitter.unary(UnaryKind::Abs, decayAt(state, idx[0], {})) : emitter.number(1);
          kept = kept ? emitter.binary(BinaryKind::Max, kept, decay) : decay;
        }
        // The exponent of what the step adds is the one that it gives nothing.
        prefix.bindScalar(arg, emitter.number(noExponent));
        Value added = prefix.scalar(next, {idx[0], idx[0]}, {});
        added = emitter.unary(UnaryKind::Exp2,
                              emitter.binary(BinaryKind::Sub, added, emitter.at(exponentsNext[s], {idx[0]})));
        return emitter.binary(BinaryKind::Max, emitter.mul(kept, idx.back()), added);
      },
      bound);
  return emitter.stage("bound_last", {}, {},
                       [&](StageEmitter::Indices) { return emitter.at(steps, {emitter.index(rows - 1)}); });
}

Value Tile::element(Value v, Value i, Value c) {
  SmallVector<Value> idx;
  if (emitter.hasRows(v)) idx.push_back(i);
  if (cast<RealType>(v.getType()).getRank()) idx.push_back(c);
  return emitter.at(emitter.tensorOf(v), idx);
}

Value Tile::beforeEnd(Value i, Value x, double behind) {
  if (!masked) return x;
  OpBuilder &b = emitter.builder;
  Value step = arith::AddIOp::create(b, emitter.loc, start, i);
  Value inside = emitter.compare(BinaryKind::Lt, step, StepsOp::create(b, emitter.loc, b.getIndexType()));
  return emitter.select(inside, x, emitter.number(behind));
}

Value Tile::pairValues(const FactoredForm::State &state, unsigned pair) {
  Value v = state.pairs[pair].v;
  if (!masked && emitter.hasRows(v)) return emitter.tensorOf(v);
  int64_t terms = state.pairs[pair].terms;
  return emitter.stage("v", {"j", "e"}, {rows * terms, state.type.getSizes()[1]}, [&](StageEmitter::Indices idx) {
    return beforeEnd(stepOf(idx[0], terms), element(v, idx[0], idx[1]), 0);
  });
}

Value Tile::overFeature(const FactoredForm::State &state, llvm::function_ref<Value(Value)> body) {
  if (state.type.getRank() == 0) return body({});
  return emitter.fold(ReduceKind::Sum, "c", state.type.getSizes()[0], body);
}

std::optional<Tile::Products> Tile::products(const FactoredForm::State &state) {
  if (!state.decay) return std::nullopt;
  if (state.clears) lastCleared(state, true); // a stage, which is not to be made in the body of another
  if (auto it = known.find(state.decay.getAsOpaquePointer()); it != known.end()) return it->second;
  Products p;
  Range range = RangeAnalysis().of(state.decay);
  p.grows = !(range.low >= -1 && range.high <= 1);
  p.rank = cast<RealType>(state.decay.getType()).getRank();
  SmallVector<int64_t> feature;
  SmallVector<StringRef> featureAxis;
  if (p.rank) feature.push_back(state.type.getSizes()[0]), featureAxis.push_back("c");
  auto with = [&](ArrayRef<StringRef> first) {
    SmallVector<StringRef> axes(first);
    axes.append(featureAxis);
    return axes;
  };
  auto sized = [&](ArrayRef<int64_t> first) {
    SmallVector<int64_t> sizes(first);
    sizes.append(feature);
    return sizes;
  };
  Value one = emitter.stage("one", featureAxis, feature, [&](StageEmitter::Indices) { return emitter.number(1); });
  p.before = emitter.stage(
      "decay", with({"i"}), sized({rows}),
      [&](StageEmitter::Indices idx) {
        return emitter.mul(idx.back(), decayAt(state, idx[0], p.rank ? idx[1] : Value()));
      },
      one);
  if (rows > 1 && !p.rank) {
    Value zero = emitter.stage("zero", {"j"}, {rows}, [&](StageEmitter::Indices) { return emitter.number(0); });
    p.w = emitter.stage(
        "w", {"i", "j"}, {rows, rows},
        [&](StageEmitter::Indices idx) {
          Value later = emitter.mul(idx.back(), decayAt(state, idx[0], {}));
          Value same =
              emitter.select(emitter.compare(BinaryKind::Eq, idx[1], idx[0]), emitter.number(1), emitter.number(0));
          return emitter.select(emitter.compare(BinaryKind::Lt, idx[1], idx[0]), later, same);
        },
        zero);
  }
  known[state.decay.getAsOpaquePointer()] = p;
  return p;
}

Value Tile::weigh(Value x, Value weight, bool grows) {
  Value product = emitter.mul(x, weight);
  if (!grows) return product;
  return emitter.guard(x, product);
}

Value Tile::atRow(const FactoredForm::Read &read, Value i, llvm::function_ref<Value(Value)> weighed, Value unweighed) {
  if (read.inclusive) return weighed(i);
  OpBuilder &b = emitter.builder;
  Value last = arith::MaxSIOp::create(b, emitter.loc, arith::SubIOp::create(b, emitter.loc, i, emitter.index(1)),
                                      emitter.index(0));
  return emitter.select(emitter.compare(BinaryKind::Gt, i, emitter.index(0)), weighed(last), unweighed);
}

void Tile::keepRows(Value v, StringRef name) {
  if (!emitter.hasRows(v) || emitter.tensorOf(v).getDefiningOp<StageOp>()) return;
  auto sizes = cast<RealType>(emitter.tensorOf(v).getType()).getSizes();
  emitter.bind(
      v, emitter.stage(name, {"i", "c"}, sizes, [&](StageEmitter::Indices idx) { return element(v, idx[0], idx[1]); }),
      StageEmitter::I);
}

Value Tile::scaledQuery(const FactoredForm::Read &read, const FactoredForm::State &state) {
  emitter.materialize(read.q, "q", rows);
  auto p = products(state);
  auto key =
      std::make_tuple(read.q.getAsOpaquePointer(), (void *)nullptr, state.decay.getAsOpaquePointer(), read.inclusive);
  if (auto it = cache.find(key); it != cache.end()) return it->second;
  bool vector = state.type.getRank() > 0, scales = p && p->rank;
  if (!scales && emitter.hasRows(read.q)) return cache[key] = emitter.tensorOf(read.q);
  SmallVector<int64_t> sizes{rows * read.terms};
  SmallVector<StringRef> axes{"i"};
  if (vector) sizes.push_back(state.type.getSizes()[0]), axes.push_back("c");
  if (scales && p->grows) keepRows(read.q, "q");
  return cache[key] = emitter.stage("qs", axes, sizes, [&](StageEmitter::Indices idx) {
    Value c = vector ? idx[1] : Value(), x = element(read.q, idx[0], c);
    if (!scales) return x;
    return atRow(
        read, stepOf(idx[0], read.terms),
        [&](Value row) {
          return weigh(x, emitter.at(p->before, {row, c}), p->grows);
        },
        x);
  });
}

Value Tile::queryFor(const FactoredForm::Read &read, const FactoredForm::State &state, Value scaled, Value i, Value c,
                     Value met) {
  SmallVector<Value> at{i};
  if (c) at.push_back(c);
  Value q = emitter.at(scaled, at);
  auto p = products(state);
  if (!p || !p->rank || !p->grows) return q;
  return emitter.guard(met, q, element(read.q, i, c));
}

Value Tile::sinceStart(const FactoredForm::Read &read, const FactoredForm::State &state, Value i, Value sum) {
  auto p = products(state);
  bool weighs = p && !p->rank;
  bool clears = state.clears && !state.clearsEach(); // else in the sum already
  if (!weighs && !clears) return sum;
  return atRow(
      read, i,
      [&](Value row) {
        Value x = weighs ? weigh(sum, emitter.at(p->before, {row}), p->grows) : sum;
        return clears ? unlessCleared(state, row, {}, x) : x;
      },
      sum);
}

Value Tile::ofCleared(const FactoredForm::Read &read, const FactoredForm::State &state, Value i, Value x) {
  if (!read.ofCleared || !state.clears) return x;
  return emitter.select(element(state.clears, i, {}), emitter.number(0), x);
}

Value Tile::isOpen(const FactoredForm::Read &read, const FactoredForm::State &state, Value i) {
  Value yes = emitter.number(1);
  auto weighed = [&](Value row) { return unlessCleared(state, row, {}, yes); };
  return atRow(read, i, weighed, yes);
}

Value Tile::lastCleared(const FactoredForm::State &state, bool wholly) {
  bool each = state.clearsEach();
  Value &last = clearings[{state.clears.getAsOpaquePointer(), wholly && each}];
  if (last) return last;
  int64_t d = each ? cast<RealType>(state.clears.getType()).getSizes()[0] : 1;
  if (wholly && each) {
    Value channels = lastCleared(state, false);
    return last = emitter.stage("cleared", {"i"}, {rows}, [&](StageEmitter::Indices idx) {
      return emitter.unary(UnaryKind::Neg, emitter.fold(ReduceKind::Max, "c", d, [&](Value c) {
        return emitter.unary(UnaryKind::Neg, emitter.at(channels, {idx[0], c}));
      }));
    });
  }
  SmallVector<StringRef> axes{"i", "c"};
  SmallVector<int64_t> sizes{rows, d};
  axes.truncate(each ? 2 : 1), sizes.truncate(each ? 2 : 1);
  Value none = emitter.stage("none", ArrayRef(axes).drop_front(), ArrayRef(sizes).drop_front(),
                             [&](StageEmitter::Indices) { return emitter.number(-1); });
  return last = emitter.stage(
             "cleared", axes, sizes,
             [&](StageEmitter::Indices idx) {
               Value clears = beforeEnd(idx[0], element(state.clears, idx[0], each ? idx[1] : Value()), 0);
               return emitter.select(clears, NumberOp::create(emitter.builder, emitter.loc, idx[0]), idx.back());
             },
             none);
}

Value Tile::unlessCleared(const FactoredForm::State &state, Value row, Value j, Value x, Value c) {
  bool each = state.clearsEach() && c;
  Value last = emitter.at(lastCleared(state, !each), each ? SmallVector<Value>{row, c} : SmallVector<Value>{row});
  Value from = j ? NumberOp::create(emitter.builder, emitter.loc, j).getResult() : emitter.number(-1);
  return emitter.select(emitter.binary(BinaryKind::Gt, last, from), emitter.number(0), x);
}

Value Tile::ofChannel(const FactoredForm::Read &read, const FactoredForm::State &state, Value i, Value j, Value c,
                      Value x) {
  if (!state.clearsEach()) return x;
  return atRow(
      read, i, [&](Value row) { return unlessCleared(state, row, j, x, c); }, x);
}

Value Tile::isNeverCleared(const FactoredForm::State &state) {
  return emitter.binary(BinaryKind::Lt, emitter.at(lastCleared(state, true), {emitter.index(rows - 1)}),
                        emitter.number(0));
}

Value Tile::scaledKey(const FactoredForm::State &state, unsigned pair) {
  Value k = state.pairs[pair].k;
  auto p = products(state);
  if (isLong(state)) afterwards(state);
  Value decayed;
  if (p && p->rank && rows > 1 && !isLong(state)) decayed = decayedKeys(state, pair);
  auto key = std::make_tuple((void *)nullptr, k.getAsOpaquePointer(), state.decay.getAsOpaquePointer(), false);
  if (auto it = cache.find(key); it != cache.end()) return it->second;
  bool vector = state.type.getRank() > 0;
  if (!masked && (!p || rows == 1) && emitter.hasRows(k)) return cache[key] = emitter.tensorOf(k);
  SmallVector<int64_t> sizes{rows * state.pairs[pair].terms};
  SmallVector<StringRef> axes{"j"};
  if (vector) sizes.push_back(state.type.getSizes()[0]), axes.push_back("c");
  return cache[key] = emitter.stage("ks", axes, sizes, [&](StageEmitter::Indices idx) {
    Value j = stepOf(idx[0], state.pairs[pair].terms);
    Value c = vector ? idx[1] : Value(), x = beforeEnd(j, element(k, idx[0], c), 0);
    if (!p || rows == 1) return x;
    if (isLong(state)) {
      x = weigh(x, emitter.at(afterwards(state), {arithmetic(j, '~', rows - 1), c}), p->grows);
      return state.clearsEach() ? fromStep(state, j, x, c) : x;
    }
    if (decayed) return emitter.at(decayed, {emitter.index(rows - 1), idx[0], c});
    return weigh(x, emitter.at(p->w, {emitter.index(rows - 1), j}), p->grows);
  });
}

Value Tile::decayedKeys(const FactoredForm::State &state, unsigned pair) {
  Value k = state.pairs[pair].k;
  Value &keys = decayed[{k.getAsOpaquePointer(), state.decay.getAsOpaquePointer()}];
  if (keys) return keys;
  auto p = products(state);
  int64_t d = state.type.getSizes()[0], terms = state.pairs[pair].terms;
  Value first = emitter.tensorOf(k);
  if (masked || !emitter.hasRows(k))
    first = emitter.stage("k", {"j", "c"}, {rows * terms, d}, [&](StageEmitter::Indices idx) {
      return beforeEnd(stepOf(idx[0], terms), element(k, idx[0], idx[1]), 0);
    });
  return keys = emitter.stage(
             "K", {"i", "j", "c"}, {rows, rows * terms, d},
             [&](StageEmitter::Indices idx) {
               Value x = weigh(idx.back(), decayAt(state, idx[0], idx[2]), p->grows);
               if (!state.clearsEach()) return x;
               return emitter.select(element(state.clears, idx[0], idx[2]), emitter.number(0), x);
             },
             first, {}, /*staggered=*/true);
}

Value Tile::scores(const FactoredForm::Read &read, const FactoredForm::State &state, unsigned pair) {
  emitter.materialize(read.q, "q", rows);
  Value k = state.pairs[pair].k;
  auto p = rows > 1 ? products(state) : std::nullopt;
  auto key = std::make_tuple(read.q.getAsOpaquePointer(), k.getAsOpaquePointer(), state.decay.getAsOpaquePointer(),
                             read.inclusive);
  if (auto it = cache.find(key); it != cache.end()) return it->second;
  if (isLong(state)) return cache[key] = subBlockScores(read, state, pair);
  Value decayed;
  if (p && p->rank) decayed = decayedKeys(state, pair);
  int64_t terms = state.pairs[pair].terms;
  return cache[key] = emitter.stage("A", {"i", "j"}, {rows * read.terms, rows * terms}, [&](StageEmitter::Indices idx) {
    Value i = stepOf(idx[0], read.terms), j = stepOf(idx[1], terms), row = i;
    // An exclusive read sees the decays up to the step before.
    if (!read.inclusive)
      row = arith::MaxSIOp::create(emitter.builder, emitter.loc,
                                   arith::SubIOp::create(emitter.builder, emitter.loc, i, emitter.index(1)),
                                   emitter.index(0));
    Value sum = overFeature(state, [&](Value c) {
      Value x = decayed ? emitter.at(decayed, {row, idx[1], c}) : element(k, idx[1], c);
      return emitter.mul(element(read.q, idx[0], c), x);
    });
    if (p && !p->rank) sum = weigh(sum, emitter.at(p->w, {row, j}), p->grows);
    return emitter.select(emitter.compare(read.inclusive ? BinaryKind::Le : BinaryKind::Lt, j, i), sum,
                          emitter.number(0));
  });
}

Value Tile::addWithin(Value sum, const FactoredForm::Read &read, const FactoredForm::State &state,
                      ArrayRef<Value> scores, StageEmitter::Indices idx) {
  bool matrix = state.type.getRank() == 2;
  for (auto [a, pair] : llvm::zip_first(scores, state.pairs)) {
    Value last;
    if (rows > 1 && matrix) {
      // The first row of the first step that is not seen.
      Value end = stepOf(idx[0], read.terms);
      if (pair.terms > 1) end = arithmetic(read.inclusive ? arithmetic(end, '+', 1) : end, '*', pair.terms);
      bool behind = pair.terms > 1 || !read.inclusive;
      last = behind ? arith::SubIOp::create(emitter.builder, emitter.loc, end, emitter.index(1)).getResult() : end;
    }
    auto product = [&, a = a, v = pair.v, terms = pair.terms](Value j) {
      Value weight = emitter.at(a, {idx[0], j}), x = matrix ? emitter.mul(weight, element(v, j, idx[1])) : weight;
      if (state.outgrown)
        x = emitter.select(emitter.binary(BinaryKind::Eq, weight, emitter.number(0)), emitter.number(0), x);
      if (!state.clears) return x;
      Value step = stepOf(j, terms);
      return atRow(
          read, stepOf(idx[0], read.terms), [&](Value row) { return unlessCleared(state, row, step, x); }, x);
    };
    sum = emitter.add(sum, emitter.fold(ReduceKind::Sum, "j", rows * pair.terms, product, last));
  }
  return sum;
}

Value Tile::update(const FactoredForm::State &state, Value before) {
  auto p = products(state);
  unsigned rank = state.type.getRank();
  // The last row of decayed keys is what is added; it need not be copied.
  bool fromDecayed = p && p->rank && rows > 1 && !isLong(state);
  SmallVector<Value> keys;
  for (unsigned pair = 0; pair < state.pairs.size(); ++pair)
    keys.push_back(fromDecayed ? decayedKeys(state, pair) : scaledKey(state, pair));
  SmallVector<StringRef> axes{"c", "e"};
  axes.truncate(rank);
  return emitter.stage(state.name, axes, state.type.getSizes(), [&](StageEmitter::Indices idx) {
    Value sum = emitter.at(before, idx);
    if (p) {
      SmallVector<Value> at{emitter.index(rows - 1)};
      if (p->rank) at.push_back(idx[0]);
      sum = beforeChunk(state, weigh(sum, emitter.at(p->before, at), p->grows), rank ? idx[0] : Value());
    }
    for (auto [pair, k] : llvm::zip(state.pairs, keys)) {
      Value added = emitter.fold(ReduceKind::Sum, "j", rows * pair.terms, [&](Value j) {
        SmallVector<Value> at;
        if (fromDecayed) at.push_back(emitter.index(rows - 1));
        at.push_back(j);
        if (rank) at.push_back(idx[0]);
        Value x = emitter.at(k, at);
        if (pair.v) x = emitter.mul(x, element(pair.v, j, idx[1]));
        return fromStep(state, stepOf(j, pair.terms), x, rank ? idx[0] : Value());
      });
      sum = emitter.add(sum, added);
    }
    return sum;
  });
}

void Tile::emitOutput(const FactoredForm &form, const KernelFrame &frame, ArrayRef<Value> reads, Value t) {
  frame.bindInputs(emitter, *form.combine, t, rows);
  unsigned at = form.inputs;
  for (Value p : exponentsAt) emitter.bind(form.combine->getArgument(at++), p, StageEmitter::I);
  for (Value p : exponentsNext) emitter.bind(form.combine->getArgument(at++), p, StageEmitter::I);
  for (Value r : reads) emitter.bind(form.combine->getArgument(at++), r, StageEmitter::I);
  frame.emitOutputs(emitter, form.combine->getTerminator()->getOperands(), t, rows);
}

SmallVector<Value> lintel::sweepChunks(OpBuilder &builder, Location loc, int64_t chunk, ValueRange carried,
                                       llvm::function_ref<SmallVector<Value>(Value, ValueRange, int64_t)> body) {
  SmallVector<Value> values(carried);
  if (chunk > 1)
    values = createScan(builder, loc, ScanMode::Whole, chunk, 0, values,
                        [&](Value t, ValueRange c) { return body(t, c, chunk); });
  return createScan(builder, loc, chunk > 1 ? ScanMode::Rest : ScanMode::Whole, 1, chunk > 1 ? chunk : 0, values,
                    [&](Value t, ValueRange c) { return body(t, c, 1); });
}

KernelFrame lintel::createFactoredKernel(OpBuilder &builder, Operation *op, StringRef formName, int64_t chunk,
                                         const FactoredForm &form, ArrayRef<int64_t> scales) {
  SmallVector<StringRef> names;
  SmallVector<RealType> types;
  for (auto &s : form.states) names.push_back(s.name), types.push_back(s.type);
  auto inputs = op->getAttrOfType<ArrayAttr>("inputs");
  SmallVector<int64_t> all(scales);
  SmallVector<std::string> exponents;
  exponents.reserve(form.internal); // names point into it
  for (unsigned i = 0; i < form.internal; ++i) {
    names.push_back(exponents.emplace_back(exponentName(inputs, names)));
    types.push_back(RealType::get(builder.getContext(), ArrayRef<int64_t>{}));
    all.push_back(-1);
  }
  return KernelFrame::create(builder, op, formName, chunk, inputs, *form.token, names, types,
                             form.combine->getTerminator()->getOperands(), all);
}

SmallVector<Value> lintel::startStates(const FactoredForm &form, const KernelFrame &frame, StageEmitter &emitter) {
  SmallVector<Value> start(frame.states);
  for (Value &p : MutableArrayRef<Value>(start).take_back(form.internal)) p = exponentStart(emitter, p);
  return start;
}

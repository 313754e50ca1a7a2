#include "compiler/transforms/FactoredEmitter.h"

using namespace mlir;
using namespace lintel;

Tile::Tile(const FactoredForm &form, const KernelFrame &frame, OpBuilder &builder, Location loc, Value t, int64_t rows,
           ValueRange exponents)
    : emitter(builder, loc), rows(rows) {
  if (form.internal) {
    // Each exponent is a serial recurrence of its own over the chunk.
    StageEmitter prefix(builder, loc);
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
          exponents[s]);
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
  for (auto [s, state] : llvm::enumerate(form.states)) {
    if (state.decay) emitter.materialize(state.decay, "a", rows);
    for (auto pair : state.pairs) {
      emitter.materialize(pair.k, "k", rows);
      if (pair.v) emitter.materialize(pair.v, "v", rows);
    }
  }
}

Value Tile::element(Value v, Value i, Value c) {
  SmallVector<Value> idx;
  if (emitter.hasRows(v)) idx.push_back(i);
  if (cast<RealType>(v.getType()).getRank()) idx.push_back(c);
  return emitter.at(emitter.tensorOf(v), idx);
}

Value Tile::overFeature(const FactoredForm::State &state, llvm::function_ref<Value(Value)> body) {
  if (state.type.getRank() == 0) return body({});
  return emitter.fold(ReduceKind::Sum, "c", state.type.getSizes()[0], body);
}

std::optional<Tile::Products> Tile::products(const FactoredForm::State &state) {
  if (!state.decay) return std::nullopt;
  if (auto it = known.find(state.decay.getAsOpaquePointer()); it != known.end()) return it->second;
  Products p;
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
        return emitter.mul(idx.back(), element(state.decay, idx[0], p.rank ? idx[1] : Value()));
      },
      one);
  if (rows > 1) {
    Value zero =
        emitter.stage("zero", with({"j"}), sized({rows}), [&](StageEmitter::Indices) { return emitter.number(0); });
    p.w = emitter.stage(
        "w", with({"i", "j"}), sized({rows, rows}),
        [&](StageEmitter::Indices idx) {
          Value later = emitter.mul(idx.back(), element(state.decay, idx[0], p.rank ? idx[2] : Value()));
          Value same =
              emitter.select(emitter.compare(BinaryKind::Eq, idx[1], idx[0]), emitter.number(1), emitter.number(0));
          return emitter.select(emitter.compare(BinaryKind::Lt, idx[1], idx[0]), later, same);
        },
        zero);
  }
  known[state.decay.getAsOpaquePointer()] = p;
  return p;
}

Value Tile::scaledQuery(const FactoredForm::Read &read, const FactoredForm::State &state) {
  emitter.materialize(read.q, "q", rows);
  auto p = products(state);
  auto key =
      std::make_tuple(read.q.getAsOpaquePointer(), (void *)nullptr, state.decay.getAsOpaquePointer(), read.inclusive);
  if (auto it = cache.find(key); it != cache.end()) return it->second;
  if (!p && emitter.hasRows(read.q)) return cache[key] = emitter.tensorOf(read.q);
  SmallVector<int64_t> sizes{rows};
  SmallVector<StringRef> axes{"i"};
  bool vector = state.type.getRank() > 0;
  if (vector) sizes.push_back(state.type.getSizes()[0]), axes.push_back("c");
  return cache[key] = emitter.stage("qs", axes, sizes, [&](StageEmitter::Indices idx) {
    Value c = vector ? idx[1] : Value(), x = element(read.q, idx[0], c);
    if (!p) return x;
    SmallVector<Value> at;
    OpBuilder &b = emitter.builder;
    if (read.inclusive) at.push_back(idx[0]);
    else
      at.push_back(arith::MaxSIOp::create(
          b, emitter.loc, arith::SubIOp::create(b, emitter.loc, idx[0], emitter.index(1)), emitter.index(0)));
    if (p->rank) at.push_back(c);
    Value scaled = emitter.mul(x, emitter.at(p->before, at));
    if (read.inclusive) return scaled;
    return emitter.select(emitter.compare(BinaryKind::Gt, idx[0], emitter.index(0)), scaled, x);
  });
}

Value Tile::scaledKey(const FactoredForm::State &state, unsigned pair) {
  Value k = state.pairs[pair].k;
  auto p = products(state);
  auto key = std::make_tuple((void *)nullptr, k.getAsOpaquePointer(), state.decay.getAsOpaquePointer(), false);
  if (auto it = cache.find(key); it != cache.end()) return it->second;
  bool vector = state.type.getRank() > 0;
  if ((!p || rows == 1) && emitter.hasRows(k)) return cache[key] = emitter.tensorOf(k);
  SmallVector<int64_t> sizes{rows};
  SmallVector<StringRef> axes{"j"};
  if (vector) sizes.push_back(state.type.getSizes()[0]), axes.push_back("c");
  return cache[key] = emitter.stage("ks", axes, sizes, [&](StageEmitter::Indices idx) {
    Value c = vector ? idx[1] : Value(), x = element(k, idx[0], c);
    if (!p || rows == 1) return x;
    SmallVector<Value> at{emitter.index(rows - 1), idx[0]};
    if (p->rank) at.push_back(c);
    return emitter.mul(x, emitter.at(p->w, at));
  });
}

Value Tile::scores(const FactoredForm::Read &read, const FactoredForm::State &state, unsigned pair) {
  emitter.materialize(read.q, "q", rows);
  Value k = state.pairs[pair].k;
  auto p = rows > 1 ? products(state) : std::nullopt;
  auto key = std::make_tuple(read.q.getAsOpaquePointer(), k.getAsOpaquePointer(), state.decay.getAsOpaquePointer(),
                             read.inclusive);
  if (auto it = cache.find(key); it != cache.end()) return it->second;
  return cache[key] = emitter.stage("A", {"i", "j"}, {rows, rows}, [&](StageEmitter::Indices idx) {
    Value i = idx[0], j = idx[1], row = i;
    // An exclusive read sees the decays up to the step before.
    if (!read.inclusive)
      row = arith::MaxSIOp::create(emitter.builder, emitter.loc,
                                   arith::SubIOp::create(emitter.builder, emitter.loc, i, emitter.index(1)),
                                   emitter.index(0));
    Value sum = overFeature(state, [&](Value c) {
      Value x = element(k, j, c);
      if (p && p->rank) x = emitter.mul(x, emitter.at(p->w, {row, j, c}));
      return emitter.mul(element(read.q, i, c), x);
    });
    if (p && !p->rank) sum = emitter.mul(sum, emitter.at(p->w, {row, j}));
    return emitter.select(emitter.compare(read.inclusive ? BinaryKind::Le : BinaryKind::Lt, j, i), sum,
                          emitter.number(0));
  });
}

Value Tile::update(const FactoredForm::State &state, Value before) {
  auto p = products(state);
  unsigned rank = state.type.getRank();
  SmallVector<Value> keys;
  for (unsigned pair = 0; pair < state.pairs.size(); ++pair) keys.push_back(scaledKey(state, pair));
  SmallVector<StringRef> axes{"c", "e"};
  axes.truncate(rank);
  return emitter.stage(state.name, axes, state.type.getSizes(), [&](StageEmitter::Indices idx) {
    Value sum = emitter.at(before, idx);
    if (p) {
      SmallVector<Value> at{emitter.index(rows - 1)};
      if (p->rank) at.push_back(idx[0]);
      sum = emitter.mul(sum, emitter.at(p->before, at));
    }
    for (auto [pair, k] : llvm::zip(state.pairs, keys)) {
      Value added = emitter.fold(ReduceKind::Sum, "j", rows, [&](Value j) {
        SmallVector<Value> at{j};
        if (rank) at.push_back(idx[0]);
        Value x = emitter.at(k, at);
        return pair.v ? emitter.mul(x, element(pair.v, j, idx[1])) : x;
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
  Value out = form.combine->getTerminator()->getOperand(0), tensor;
  if (emitter.isBound(out) && emitter.hasRows(out)) tensor = emitter.tensorOf(out);
  else {
    emitter.prepare(out, rows);
    SmallVector<int64_t> sizes{rows};
    SmallVector<StringRef> axes{"i"};
    for (int64_t n : cast<RealType>(out.getType()).getSizes()) sizes.push_back(n), axes.push_back("e");
    tensor = emitter.stage("out", axes, sizes, [&](StageEmitter::Indices idx) {
      return emitter.scalar(out, {idx[0], idx[0]}, idx.drop_front());
    });
  }
  EmitOp::create(emitter.builder, emitter.loc, tensor, t);
}

// Decays for each channel over long chunks. All products of a chunk of C steps and D channels are C * C * D numbers; by
// sub-blocks of b steps they are C * b * D, with no factor that the mathematics does not have (Yang et al. 2024,
// section 4.3, whose secondary chunks divide by the decays where here every weight is a product of them):
//
//   i and j in one sub-block:  w[i, j mod b]                                  over (j, i]
//   j in an earlier one:       within[i] * between[i / b, j / b] * rest[j]    over [start of i's, i], the sub-blocks
//                                                                             between, (j, end of j's]
#include "compiler/transforms/FactoredEmitter.h"

using namespace mlir;
using namespace lintel;

namespace {
constexpr int64_t b = Tile::subBlock;
}

Value Tile::arithmetic(Value i, char op, int64_t by) {
  OpBuilder &builder = emitter.builder;
  Value c = emitter.index(by);
  if (op == '/') return arith::DivUIOp::create(builder, emitter.loc, i, c);
  if (op == '%') return arith::RemUIOp::create(builder, emitter.loc, i, c);
  if (op == '*') return arith::MulIOp::create(builder, emitter.loc, i, c);
  if (op == '+') return arith::AddIOp::create(builder, emitter.loc, i, c);
  return arith::SubIOp::create(builder, emitter.loc, c, i); // '~': by - i
}

Value Tile::afterwards(const FactoredForm::State &state) {
  Value &after = afters[state.decay.getAsOpaquePointer()];
  if (after) return after;
  int64_t d = state.type.getSizes()[0];
  Value one = emitter.stage("one", {"c"}, {d}, [&](StageEmitter::Indices) { return emitter.number(1); });
  // Row s is of step rows - 1 - s: a product is built from its end.
  return after = emitter.stage(
             "after", {"s", "c"}, {rows, d},
             [&](StageEmitter::Indices idx) {
               Value later = arith::MinSIOp::create(emitter.builder, emitter.loc, arithmetic(idx[0], '~', rows),
                                                    emitter.index(rows - 1));
               return emitter.select(emitter.compare(BinaryKind::Eq, idx[0], emitter.index(0)), emitter.number(1),
                                     emitter.mul(idx.back(), decayAt(state, later, idx[1])));
             },
             one);
}

const Tile::SubBlocks &Tile::subBlocks(const FactoredForm::State &state) {
  SubBlocks &s = blocks[state.decay.getAsOpaquePointer()];
  if (s.w) return s;
  int64_t d = state.type.getSizes()[0], count = (rows + b - 1) / b;
  auto constant = [&](StringRef name, ArrayRef<StringRef> axes, ArrayRef<int64_t> sizes, double x) {
    return emitter.stage(name, axes, sizes, [&](StageEmitter::Indices) { return emitter.number(x); });
  };
  Value one = constant("one", {"c"}, {d}, 1);
  auto is = [&](BinaryKind kind, Value x, Value y) { return emitter.compare(kind, x, y); };
  s.w = emitter.stage(
      "w", {"i", "j", "c"}, {rows, b, d},
      [&](StageEmitter::Indices idx) {
        Value at = arithmetic(idx[0], '%', b);
        Value later = emitter.mul(idx.back(), decayAt(state, idx[0], idx[2]));
        Value same = emitter.select(is(BinaryKind::Eq, idx[1], at), emitter.number(1), emitter.number(0));
        return emitter.select(is(BinaryKind::Lt, idx[1], at), later, same);
      },
      constant("zero", {"j", "c"}, {b, d}, 0));
  s.within = emitter.stage(
      "within", {"i", "c"}, {rows, d},
      [&](StageEmitter::Indices idx) {
        Value a = decayAt(state, idx[0], idx[1]);
        return emitter.select(is(BinaryKind::Eq, arithmetic(idx[0], '%', b), emitter.index(0)), a,
                              emitter.mul(idx.back(), a));
      },
      one);
  s.rest = emitter.stage( // row s is of step rows - 1 - s
      "rest", {"s", "c"}, {rows, d},
      [&](StageEmitter::Indices idx) {
        Value later = arith::MinSIOp::create(emitter.builder, emitter.loc, arithmetic(idx[0], '~', rows),
                                             emitter.index(rows - 1));
        Value ends = is(BinaryKind::Eq, arithmetic(later, '%', b), emitter.index(0));
        Value first = is(BinaryKind::Eq, idx[0], emitter.index(0));
        return emitter.select(emitter.binary(BinaryKind::Or, ends, first), emitter.number(1),
                              emitter.mul(idx.back(), decayAt(state, later, idx[1])));
      },
      one);
  s.between = emitter.stage(
      "between", {"a", "b", "c"}, {count, count, d},
      [&](StageEmitter::Indices idx) {
        // The last step of the block before.
        Value end = arith::MaxSIOp::create(
            emitter.builder, emitter.loc,
            arith::SubIOp::create(emitter.builder, emitter.loc, arithmetic(idx[0], '*', b), emitter.index(1)),
            emitter.index(0));
        Value next = arithmetic(idx[1], '+', 1);
        Value far = emitter.mul(idx.back(), emitter.at(s.within, {end, idx[2]}));
        Value near = emitter.select(is(BinaryKind::Eq, next, idx[0]), emitter.number(1), emitter.number(0));
        return emitter.select(is(BinaryKind::Lt, next, idx[0]), far, near);
      },
      constant("zero", {"b", "c"}, {count, d}, 0));
  return s;
}

Value Tile::subBlockScores(const FactoredForm::Read &read, const FactoredForm::State &state, unsigned pair) {
  const SubBlocks &s = subBlocks(state);
  bool grows = products(state)->grows;
  int64_t d = state.type.getSizes()[0], terms = state.pairs[pair].terms;
  Value k = state.pairs[pair].k;
  auto stepI = [&](Value row) { return stepOf(row, read.terms); };
  auto stepJ = [&](Value row) { return stepOf(row, terms); };
  if (grows || state.clearsEach()) keepRows(k, "k");
  if (state.clearsEach()) keepRows(read.q, "q");
  auto blockOf = [&](Value i) { return arithmetic(i, '/', b); };
  auto same = [&](Value i, Value j) { return emitter.compare(BinaryKind::Eq, blockOf(i), blockOf(j)); };
  auto seen = [&](Value i, Value j) { return emitter.compare(read.inclusive ? BinaryKind::Le : BinaryKind::Lt, j, i); };
  auto before = [&](Value i) {
    return arith::MaxSIOp::create(emitter.builder, emitter.loc,
                                  arith::SubIOp::create(emitter.builder, emitter.loc, i, emitter.index(1)),
                                  emitter.index(0));
  };
  // An exclusive read sees the decays up to the step before: none where i is the first of its sub-block.
  Value q = emitter.stage("q_within", {"i", "c"}, {rows * read.terms, d}, [&](StageEmitter::Indices idx) {
    Value x = element(read.q, idx[0], idx[1]), i = stepI(idx[0]);
    if (read.inclusive) return weigh(x, emitter.at(s.within, {i, idx[1]}), grows);
    Value first = emitter.compare(BinaryKind::Eq, arithmetic(i, '%', b), emitter.index(0));
    return emitter.select(first, x, weigh(x, emitter.at(s.within, {before(i), idx[1]}), grows));
  });
  Value kr = emitter.stage("k_rest", {"j", "c"}, {rows * terms, d}, [&](StageEmitter::Indices idx) {
    Value later = arithmetic(stepJ(idx[0]), '~', rows - 1);
    return weigh(element(k, idx[0], idx[1]), emitter.at(s.rest, {later, idx[1]}), grows);
  });
  Value near = emitter.stage("A_near", {"i", "j"}, {rows * read.terms, b * terms}, [&](StageEmitter::Indices idx) {
    Value i = stepI(idx[0]), start = arithmetic(blockOf(i), '*', b * terms);
    Value j = arith::MinSIOp::create(emitter.builder, emitter.loc,
                                     arith::AddIOp::create(emitter.builder, emitter.loc, start, idx[1]),
                                     emitter.index(rows * terms - 1));
    Value row = read.inclusive ? i : before(i), step = stepJ(idx[1]);
    Value sum = emitter.fold(ReduceKind::Sum, "c", d, [&](Value c) {
      Value x =
          emitter.mul(element(read.q, idx[0], c), weigh(element(k, j, c), emitter.at(s.w, {row, step, c}), grows));
      return ofChannel(read, state, i, stepOf(j, terms), c, x);
    });
    return emitter.select(seen(i, stepJ(j)), sum, emitter.number(0));
  });
  // Where j's sub-block is not an earlier one nothing lies between, and the sum is not looked at.
  SmallVector<int64_t> sizes{rows * read.terms, rows * terms};
  Value far = emitter.stage("A_far", {"i", "j"}, sizes, [&](StageEmitter::Indices idx) {
    Value i = blockOf(stepI(idx[0])), j = blockOf(stepJ(idx[1]));
    return emitter.fold(ReduceKind::Sum, "c", d, [&](Value c) {
      Value x = weigh(emitter.at(kr, {idx[1], c}), emitter.at(s.between, {i, j, c}), grows);
      x = emitter.mul(queryFor(read, state, q, idx[0], c, x), x);
      return ofChannel(read, state, stepI(idx[0]), stepJ(idx[1]), c, x);
    });
  });
  return emitter.stage("A", {"i", "j"}, sizes, [&](StageEmitter::Indices idx) {
    Value i = stepI(idx[0]), j = stepJ(idx[1]);
    Value earlier = emitter.compare(BinaryKind::Lt, blockOf(j), blockOf(i));
    Value close = emitter.at(near, {idx[0], arithmetic(idx[1], '%', b * terms)});
    return emitter.select(earlier, emitter.at(far, idx), emitter.select(same(i, j), close, emitter.number(0)));
  });
}

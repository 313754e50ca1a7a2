#include "Cases.h"

using namespace Halide;
using namespace lintel::testing;

namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

ImageParam input(Type type, const char *name, std::vector<int> extents) {
  ImageParam p(type, int(extents.size()), name);
  int stride = 1;
  for (int d = 0; d < int(extents.size()); ++d) {
    p.dim(d).set_bounds(0, extents[d]).set_stride(stride);
    stride *= extents[d];
  }
  return p;
}

Program program(std::vector<ImageParam> inputs, std::vector<Func> outputs, std::vector<std::vector<int>> sizes) {
  Program p;
  p.inputs = std::move(inputs);
  p.outputs = std::move(outputs);
  p.sizes = sizes;
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    int stride = 1;
    for (int d = 0; d < int(sizes[i].size()); ++d) {
      p.outputs[i].output_buffer().dim(d).set_bounds(0, sizes[i][d]).set_stride(stride);
      stride *= sizes[i][d];
    }
  }
  return p;
}

Program elementwise() {
  ImageParam a = input(Float(32), "a", {64}), c = input(Float(32), "c", {64});
  Func f("f");
  f(x) = select(a(x) < c(x), a(x) * c(x) + 1.5f, max(a(x) - c(x), -0.5f)) / (2.0f + min(abs(a(x)), 3.0f));
  f.vectorize(x, 8);
  return program({a, c}, {f}, {{64}});
}

Program comparisons() {
  ImageParam a = input(Float(32), "a", {32}), c = input(Int(32), "c", {32});
  Func f("f");
  Expr v = a(x), n = c(x);
  f(x) = cast<int>(v == 0.5f) + 2 * cast<int>(v != 0.25f) + 4 * cast<int>(v <= 0.0f) + 8 * cast<int>(v > 0.125f) +
         16 * cast<int>(v >= 1.0f || !(n > 3)) + 32 * cast<int>(n >= -2 && n <= 5) + 64 * cast<int>(n != x);
  f.vectorize(x, 8);
  return program({a, c}, {f}, {{32}});
}

Program integerDivision() {
  ImageParam a = input(Int(32), "a", {64}), c = input(Int(32), "c", {64});
  Func f("f"), g("g");
  Expr n = a(x), m = c(x) % 8;
  f(x) = n / 7 + n % 7 * 3 + n / -5 + n % 16 * 5 + n / 8 + n / 300 + n % 300;
  // The divisor may be zero and negative.
  g(x) = n / (m - 4) + n % (m - 4) * 3;
  f.vectorize(x, 8);
  return program({a, c}, {f, g}, {{64}, {64}});
}

Program bits() {
  ImageParam a = input(UInt(32), "a", {64}), c = input(Int(32), "c", {64});
  Func f("f");
  Expr n = a(x), m = c(x);
  f(x) = (n & 0xff0f) ^ (n << 3) | (n >> 5) + popcount(n) + count_leading_zeros(n) * count_trailing_zeros(n) +
                                       cast<uint32_t>(~m >> 2) + (n << (m % 7 - 3)) + cast<uint32_t>(abs(m)) +
                                       absd(n, cast<uint32_t>(m));
  f.vectorize(x, 8);
  return program({a, c}, {f}, {{64}});
}

Program narrowIntegers() {
  ImageParam a = input(UInt(8), "a", {64}), c = input(Int(16), "c", {64});
  Func f("f"), g("g");
  Expr n = a(x), m = a(63 - x), s = c(x), t = c(63 - x);
  f(x) = saturating_add(n, m) + halving_add(n, m) + rounding_halving_add(n, m) + absd(n, m) +
         saturating_sub(n, cast<uint8_t>(7)) + cast<uint8_t>(widening_add(n, m) / 3);
  g(x) = widening_mul(s, t) + widening_sub(s, t) + mul_shift_right(s, t, 15) +
         saturating_cast<int16_t>(cast<int>(s) * 4) + rounding_shift_right(s, 3) + s / 9 + s % 9;
  f.vectorize(x, 16);
  g.vectorize(x, 8);
  return program({a, c}, {f, g}, {{64}, {64}});
}

Program casts() {
  ImageParam a = input(Float(32), "a", {32}), c = input(Int(16), "c", {32});
  Func f("f"), g("g"), h("h");
  f(x) = cast<double>(cast<int8_t>(a(x) * 30.0f)) + cast<uint8_t>(abs(a(x)) * 20.0f) + cast<double>(a(x));
  g(x) = cast<float>(c(x)) + cast<float>(cast<uint16_t>(c(x))) + cast<float>(cast<int64_t>(c(x)) * 3);
  h(x) = reinterpret<uint32_t>(a(x)) + cast<uint32_t>(cast<bool>(c(x))) * 5;
  f.vectorize(x, 8);
  g.vectorize(x, 8);
  h.vectorize(x, 8);
  return program({a, c}, {f, g, h}, {{32}, {32}, {32}});
}

Program halfFloats() {
  ImageParam a = input(Float(16), "a", {32}), c = input(BFloat(16), "c", {32});
  Func f("f"), g("g"), h("h");
  f(x) = cast<float>(a(x)) * cast<float>(c(x)) + 1.0f;
  g(x) = cast<float16_t>(cast<float>(a(x)) * 1.5f);
  h(x) = cast<bfloat16_t>(cast<float>(c(x)) * 1.5f + cast<float>(a(x)));
  f.vectorize(x, 16);
  g.vectorize(x, 16);
  h.vectorize(x, 16);
  return program({a, c}, {f, g, h}, {{32}, {32}, {32}});
}

// Register tiles: allocations of constant size, unrolled stores, a serial reduction loop.
Program matmul() {
  ImageParam a = input(Float(32), "a", {16, 32}), c = input(Float(32), "c", {32, 16});
  Func acc("acc"), f("f");
  RDom r(0, 16, "r");
  acc(x, y) = 0.0f;
  acc(x, y) += a(r, y) * c(x, r);
  f(x, y) = acc(x, y) * 0.5f;
  f.tile(x, y, xo, yo, xi, yi, 16, 4).vectorize(xi, 8).unroll(xi).unroll(yi);
  acc.compute_at(f, xo).vectorize(x, 8).unroll(x).unroll(y);
  acc.update().reorder(x, y, r).vectorize(x, 8).unroll(x).unroll(y);
  return program({a, c}, {f}, {{32, 32}});
}

Program transposedStore() {
  ImageParam a = input(Float(32), "a", {16, 32});
  Func t("t"), f("f");
  t(y, x) = a(x, y) * 2.0f;
  f(y, x) = t(y, x) + 1.0f;
  f.vectorize(y, 8);
  t.compute_root().split(x, xo, xi, 8).split(y, yo, yi, 8).reorder(xi, yi, xo, yo).vectorize(xi).unroll(yi);
  return program({a}, {f}, {{32, 16}});
}

// Four rows of eight lanes: two 4 x 4 blocks.
Program transposedStorePart() {
  ImageParam a = input(Float(32), "a", {16, 8});
  Func f("f");
  f(y, x) = a(x, y);
  f.split(x, xo, xi, 8).split(y, yo, yi, 4).reorder(xi, yi, xo, yo).vectorize(xi).unroll(yi);
  return program({a}, {f}, {{8, 16}});
}

Program transposedLoad() {
  ImageParam a = input(Float(32), "a", {16, 32});
  Func f("f");
  f(y, x) = a(x, y) * 2.0f;
  f.split(x, xo, xi, 8).split(y, yo, yi, 8).reorder(yi, xi, xo, yo).vectorize(yi).unroll(xi);
  return program({a}, {f}, {{32, 16}});
}

// Partial sums along vectors, of eight rows that fill one vector: the store that adds them up stands in no loop.
Program transposedSums() {
  ImageParam a = input(Float(32), "a", {32, 8});
  Func acc("acc"), f("f");
  Var lane("lane");
  RDom r(0, 4, "r");
  acc(lane, x) = 0.0f;
  acc(lane, x) += a(r * 8 + lane, x);
  Expr sum = acc(0, x);
  for (int l = 1; l < 8; ++l) sum += acc(l, x);
  f(x) = sum;
  f.bound(x, 0, 8).vectorize(x, 8);
  acc.compute_root().vectorize(lane, 8);
  acc.update().reorder(lane, r, x).vectorize(lane, 8);
  acc.bound_extent(lane, 8);
  return program({a}, {f}, {{8}});
}

Program stridedAccess() {
  ImageParam a = input(Float(32), "a", {96});
  Func even("even"), third("third"), scattered("scattered");
  even(x) = a(2 * x) + a(2 * x + 1);
  third(x) = a(3 * x) - a(3 * x + 2);
  RDom r(0, 32, "r");
  scattered(x) = 0.0f;
  scattered(3 * r) = a(r);
  even.vectorize(x, 8);
  third.vectorize(x, 8);
  scattered.vectorize(x, 8);
  scattered.update().vectorize(r, 8);
  return program({a}, {even, third, scattered}, {{32}, {32}, {96}});
}

Program reversed() {
  ImageParam a = input(Float(32), "a", {32});
  Func f("f"), g("g");
  RDom r(0, 32, "r");
  f(x) = a(31 - x);
  g(x) = 0.0f;
  g(31 - r) = a(r) * 2.0f;
  f.vectorize(x, 8);
  g.update().vectorize(r, 8);
  return program({a}, {f, g}, {{32}, {32}});
}

Program gatherScatter() {
  ImageParam a = input(Float(32), "a", {64});
  Func f("f"), g("g");
  f(x) = a((x * 7) % 64) + a(clamp(cast<int>(a(x) * 10.0f), 0, 63));
  RDom r(0, 64, "r");
  g(x) = 0.0f;
  g((r * 5) % 64) = a(r);
  f.vectorize(x, 8);
  g.update().allow_race_conditions().vectorize(r, 8);
  return program({a}, {f, g}, {{64}, {64}});
}

Program interleave() {
  ImageParam a = input(Float(32), "a", {32});
  Func f("f");
  f(x) = select(x % 2 == 0, a(x / 2), a(x / 2 + 16) * 3.0f);
  f.vectorize(x, 16);
  return program({a}, {f}, {{32}});
}

Program predicated() {
  ImageParam a = input(Float(32), "a", {61});
  Func f("f"), g("g");
  f(x) = a(x) * 2.0f;
  f.vectorize(x, 8, TailStrategy::Predicate);
  g(x) = a(x) * a(x);
  g.vectorize(x, 8, TailStrategy::GuardWithIf);
  return program({a}, {f, g}, {{61}, {61}});
}

Program triangular() {
  ImageParam a = input(Float(32), "a", {16, 16}), v = input(Float(32), "v", {16, 16});
  Func acc("acc"), f("f");
  RDom r(0, 16, "r");
  r.where(r <= y);
  acc(x, y) = 0.0f;
  acc(x, y) += a(r, y) * v(x, r);
  f(x, y) = acc(x, y);
  f.vectorize(x, 8);
  acc.compute_at(f, y).vectorize(x, 8);
  acc.update().reorder(x, r).vectorize(x, 8);
  return program({a, v}, {f}, {{16, 16}});
}

Program vectorReduce() {
  ImageParam a = input(Int(32), "a", {32, 8}), c = input(Float(32), "c", {32, 8});
  RDom r(0, 32, "r");
  Func sum("sum"), product("product"), least("least"), most("most"), all("all"), any("any"), saturated("saturated");
  sum(y) += a(r, y);
  product(y) = 1;
  product(y) *= a(r, y) | 1;
  least(y) = c(0, y);
  least(y) = min(least(y), c(r, y));
  most(y) = c(0, y);
  most(y) = max(most(y), c(r, y));
  all(y) = cast<bool>(true);
  all(y) = all(y) && c(r, y) < 1.9f;
  any(y) = cast<bool>(false);
  any(y) = any(y) || c(r, y) > 1.9f;
  saturated(y) = cast<uint8_t>(0);
  saturated(y) = saturating_add(saturated(y), cast<uint8_t>(a(r, y)));
  Func flags("flags");
  flags(y) = cast<int>(all(y)) + 2 * cast<int>(any(y)) + 4 * cast<int>(saturated(y));
  for (Func f : {sum, product, least, most, all, any, saturated}) {
    f.compute_root();
    f.update().atomic().vectorize(r, 32);
  }
  Program p = program({a, c}, {sum, product, least, most, flags}, {{8}, {8}, {8}, {8}, {8}});
  p.strict = false;
  return p;
}

Program vectorReducePart() {
  ImageParam a = input(Float(32), "a", {4, 32});
  Func f("f");
  RDom r(0, 4, "r");
  f(x) = 0.0f;
  f(x) += a(r, x) * 2.0f;
  f.vectorize(x, 8);
  f.update().atomic().vectorize(r, 4).vectorize(x, 8);
  Program p = program({a}, {f}, {{32}});
  p.strict = false;
  p.tolerance = 1e-6;
  return p;
}

Program runningSum() {
  ImageParam a = input(Float(32), "a", {8, 32});
  Func f("f");
  RDom r(1, 31, "r");
  f(x, y) = a(x, y);
  f(x, r) = f(x, r - 1) * 0.5f + a(x, r);
  f.vectorize(x, 8);
  f.update().vectorize(x, 8);
  return program({a}, {f}, {{8, 32}});
}

Program storageFolding() {
  ImageParam a = input(Float(32), "a", {32, 36});
  Func blur("blur"), f("f");
  blur(x, y) = a(x, y) + a(x, y + 1);
  f(x, y) = blur(x, y) + blur(x, y + 2);
  f.vectorize(x, 8);
  blur.store_root().compute_at(f, y).vectorize(x, 8);
  return program({a}, {f}, {{32, 32}});
}

Program scalarParameter() {
  ImageParam a = input(Int(32), "a", {32});
  Param<int32_t> n("n"), m("m");
  Func f("f");
  f(x) = select(x < n, a(x), a(x) * m + x / max(m, 1));
  f.vectorize(x, 8);
  Program p = program({a}, {f}, {{32}});
  p.counts = {n, m};
  p.countValues = {11, 3};
  return p;
}

// What must survive: a gate of -inf, 0 times inf, inf less inf, comparisons with NaN.
Program specialFloats() {
  ImageParam a = input(Float(32), "a", {32});
  Func f("f"), g("g");
  Expr inf = Float(32).max() * 2.0f, v = a(x);
  Expr gate = select(x % 3 == 0, -inf, x % 3 == 1, inf - inf, v);
  f(x) = gate * 0.0f + max(gate, v) - min(v, gate);
  g(x) = cast<int>(is_nan(gate)) + 2 * cast<int>(is_inf(gate)) + 4 * cast<int>(is_finite(gate)) +
         8 * cast<int>(gate < v) + 16 * cast<int>(!(gate < v)) + 32 * cast<int>(gate != gate);
  f.vectorize(x, 8);
  g.vectorize(x, 8);
  return program({a}, {f, g}, {{32}, {32}});
}

Program rounding() {
  ImageParam a = input(Float(32), "a", {32});
  Func f("f");
  Expr v = a(x) * 4.0f;
  f(x) = floor(v) + 10.0f * ceil(v) + 100.0f * round(v) + 1000.0f * trunc(v) + sqrt(abs(v)) + v % 1.5f;
  f.vectorize(x, 8);
  return program({a}, {f}, {{32}});
}

Program mathFunctions() {
  ImageParam a = input(Float(32), "a", {32});
  Func f("f"), g("g"), h("h");
  Expr v = a(x), p = abs(v) + 0.5f;
  f(x) = exp(v) + log(p) + pow(p, v) + fast_inverse_sqrt(p) * 0.0f + 1.0f / sqrt(p);
  g(x) = sin(v) + cos(v) + tanh(v) + atan2(v, p);
  h(x) = exp(cast<double>(v)) + sinh(cast<double>(v));
  f.vectorize(x, 8);
  g.vectorize(x, 8);
  Program out = program({a}, {f, g, h}, {{32}, {32}, {32}});
  out.tolerance = 2e-6;
  return out;
}

Program prefetched() {
  ImageParam a = input(Float(32), "a", {32, 32});
  Func f("f");
  f(x, y) = a(x, y) + 1.0f;
  f.prefetch(a, y, y, 2).vectorize(x, 8);
  return program({a}, {f}, {{32, 32}});
}

Program choices() {
  ImageParam a = input(Int(32), "a", {32});
  Func f("f"), g("g");
  f(x) = mux(a(x) % 4, {a(x), a(x) * 2, a(x) - 7, 9});
  g(x) = lerp(cast<uint8_t>(a(x)), cast<uint8_t>(a(31 - x)), cast<uint8_t>(x * 8));
  f.vectorize(x, 8);
  g.vectorize(x, 8);
  return program({a}, {f, g}, {{32}, {32}});
}

// Both dimensions of a tile in one vector: nested ramps and broadcasts.
Program nestedVectors() {
  ImageParam a = input(Float(32), "a", {16}), c = input(Float(32), "c", {16});
  Func f("f");
  f(x, y) = a(x) * c(y) + cast<float>(x + y * 3);
  f.tile(x, y, xo, yo, xi, yi, 4, 4).vectorize(xi).vectorize(yi);
  return program({a, c}, {f}, {{16, 16}});
}

Program hoistedStorage() {
  ImageParam a = input(Float(32), "a", {16, 16});
  Func s("s"), f("f");
  s(x, y) = a(x, y) * 3.0f;
  f(x, y) = s(x, y) + s(15 - x, y);
  f.vectorize(x, 8);
  s.hoist_storage_root().compute_at(f, y).vectorize(x, 8);
  return program({a}, {f}, {{16, 16}});
}

Program doubles() {
  ImageParam a = input(Float(64), "a", {32});
  Func f("f");
  Expr quarter = cast<double>(0.25f), one = cast<double>(1.0f);
  f(x) = max(a(x) * a(31 - x) - quarter, quarter - one) / (one + abs(a(x)));
  f.vectorize(x, 4);
  return program({a}, {f}, {{32}});
}

} // namespace

const std::vector<ProgramCase> &lintel::testing::programs() {
  static const std::vector<ProgramCase> cases = {
      {"bits", bits},
      {"casts", casts},
      {"choices", choices},
      {"comparisons", comparisons},
      {"doubles", doubles},
      {"elementwise", elementwise},
      {"gather-scatter", gatherScatter},
      {"half-floats", halfFloats},
      {"hoisted-storage", hoistedStorage},
      {"integer-division", integerDivision},
      {"interleave", interleave},
      {"math", mathFunctions},
      {"matmul", matmul},
      {"narrow-integers", narrowIntegers},
      {"nested-vectors", nestedVectors},
      {"predicated", predicated},
      {"prefetch", prefetched},
      {"reversed", reversed},
      {"rounding", rounding},
      {"running-sum", runningSum},
      {"scalar-parameter", scalarParameter},
      {"special-floats", specialFloats},
      {"storage-folding", storageFolding},
      {"strided", stridedAccess},
      {"transposed-load", transposedLoad},
      {"transposed-store", transposedStore},
      {"transposed-sums", transposedSums},
      {"transposed-store-part", transposedStorePart},
      {"triangular", triangular},
      {"vector-reduce", vectorReduce},
      {"vector-reduce-part", vectorReducePart},
  };
  return cases;
}

Target lintel::testing::importTarget(Target base, bool strict) {
  Target t = base.with_feature(Target::NoAsserts).with_feature(Target::NoBoundsQuery).with_feature(Target::NoRuntime);
  return strict ? t.with_feature(Target::StrictFloat) : t;
}

Target lintel::testing::fixedTarget() { return Target("x86-64-linux-sse41-avx-f16c-fma-avx2"); }

Module lintel::testing::lower(const Program &p, const Target &base) {
  std::vector<Argument> arguments;
  for (const ImageParam &in : p.inputs) arguments.push_back(in);
  for (const Param<int32_t> &n : p.counts) arguments.push_back(n);
  return Pipeline(p.outputs).compile_to_module(arguments, "stage", importTarget(base, p.strict));
}

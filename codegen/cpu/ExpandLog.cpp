// log, log2, log10 and log1p: x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), and log(1 + f) by s = f / (2 + f).
#include "codegen/cpu/MathBuilder.h"

using namespace mlir;
using namespace lintel;

// (log(1+f) - 2s) / s^3 in s^2 (relative error of the logarithm 2^-34 and 2^-65.5).
static const double logSingle[] = {0.666666627, 0.400008529, 0.285099, 0.240339205};
static const double logDouble[] = {0.66666666666666663, 0.40000000000004937, 0.28571428569402257, 0.22222222608927952,
                                   0.1818177815449033,  0.15386999314935898, 0.13251879276746442, 0.13237481767246215};

static constexpr double ln2DoubleHigh = 0.6931471805599453, ln2DoubleLow = 2.3190468138462996e-17;
static constexpr double ln2SingleHigh = 0.693147182464599609375, ln2SingleLow = -1.90465421e-09;

namespace {
/// x = 2^k (1 + f)
struct Decomposed {
  Value k; // as a float
  Value f;
};
} // namespace

static Decomposed decompose(MathBuilder &m, Value x, bool denormals) {
  Value shift;
  if (denormals) {
    double smallest = m.pick(0x1p-126, 0x1p-1022), up = m.pick(0x1p25, 0x1p54);
    Value small = m.less(x, m.constant(smallest));
    x = m.select(small, m.mul(x, m.constant(up)), x);
    shift = m.select(small, m.integer(m.pick(-25, -54)), m.integer(0));
  }
  int64_t sqrtHalf = m.pick<int64_t>(0x3f3504f3, 0x3fe6a09e667f3bcd);
  Value ix = m.bits(x);
  Value k = m.shiftRight(m.subInt(ix, m.integer(sqrtHalf)), m.mantissaBits());
  Value mantissa = m.fromBits(m.subInt(ix, m.shiftLeft(k, m.mantissaBits())));
  if (denormals) k = m.addInt(k, shift);
  return {m.toFloat(k), m.sub(mantissa, m.constant(1.0))};
}

/// k ln2 + log(1 + f) + correction.
static Value logOf(MathBuilder &m, Decomposed x, Value correction) {
  Value s = m.div(x.f, m.add(x.f, m.constant(2.0)));
  Value z = m.mul(s, s);
  Value r = m.mul(z, m.isDouble ? m.polynomial(z, logDouble) : m.polynomial(z, logSingle));
  Value halfSquare = m.mul(m.mul(m.constant(0.5), x.f), x.f);
  Value low = m.mul(x.k, m.constant(m.pick(ln2SingleLow, ln2DoubleLow)));
  if (correction) low = m.add(low, correction);
  // f - (f^2/2 - s (f^2/2 + R)): the large terms are added last.
  Value tail = m.fma(s, m.add(halfSquare, r), low);
  Value fraction = m.sub(x.f, m.sub(halfSquare, tail));
  return m.fma(x.k, m.pick(ln2SingleHigh, ln2DoubleHigh), fraction);
}

/// -inf at `pole`, NaN below it, x itself where that is inf or NaN.
static Value withSpecials(MathBuilder &m, Value x, double pole, Value result) {
  Value bound = m.constant(pole);
  result = m.select(m.less(x, m.infinity()), result, x);
  result = m.select(m.less(x, bound), m.nan(), result);
  return m.select(m.equal(x, bound), m.neg(m.infinity()), result);
}

Value lintel::expandLog(MathBuilder &m, Value x) {
  return withSpecials(m, x, 0.0, logOf(m, decompose(m, x, /*denormals=*/true), Value()));
}

/// log(x) in f64 of f32, then one rounding: these two are rare, and need no code of their own.
static Value viaDouble(MathBuilder &m, Value x, Value (*function)(MathBuilder &, Value)) {
  MathBuilder wide = m.asDouble();
  Value result = function(wide, arith::ExtFOp::create(m.builder, m.loc, wide.type, x));
  return arith::TruncFOp::create(m.builder, m.loc, m.type, result);
}

Value lintel::expandLog2(MathBuilder &m, Value x) {
  if (!m.isDouble) return viaDouble(m, x, expandLog2);
  DoubleValue log = buildPreciseLog2(m, x);
  return withSpecials(m, x, 0.0, m.add(log.high, log.low));
}

Value lintel::expandLog10(MathBuilder &m, Value x) {
  if (!m.isDouble) return viaDouble(m, x, expandLog10);
  DoubleValue log = buildPreciseLog2(m, x);
  // log10(2) as a sum of two doubles.
  constexpr double high = 0.30102999566398120, low = -2.8037281277851704e-18;
  Value product = m.mul(log.high, m.constant(high));
  Value error = m.fma(log.high, high, m.neg(product));
  error = m.fma(log.high, low, m.fma(log.low, high, error));
  return withSpecials(m, x, 0.0, m.add(product, error));
}

Value lintel::expandLog1p(MathBuilder &m, Value x) {
  Value one = m.constant(1.0);
  Value u = m.add(one, x);
  Decomposed parts = decompose(m, u, /*denormals=*/false);
  // What rounding 1 + x lost (the smaller less the part of it in u), over u; where k is 0 the sum is not needed at all,
  // f is x.
  Value lost = m.select(m.less(one, x), m.sub(one, m.sub(u, x)), m.sub(x, m.sub(u, one)));
  Value near = m.equal(parts.k, m.constant(0.0));
  Value correction = m.select(near, m.constant(0.0), m.div(lost, u));
  parts.f = m.select(near, x, parts.f);
  Value result = logOf(m, parts, correction);
  result = m.select(m.less(m.abs(x), m.constant(m.pick(0x1p-25, 0x1p-54))), x, result);
  return withSpecials(m, x, -1.0, result);
}

DoubleValue lintel::buildPreciseLog2(MathBuilder &m, Value x) {
  Decomposed parts = decompose(m, x, /*denormals=*/true);
  Value f = parts.f;
  // s = f / (2 + f) as a sum of two: the divisor is not exact, nor is the quotient.
  Value two = m.constant(2.0);
  Value divisor = m.add(f, two);
  Value divisorLow = m.sub(f, m.sub(divisor, two));
  Value s = m.div(f, divisor);
  Value remainder = m.fma(m.neg(s), divisor, f);
  Value sLow = m.div(m.fma(m.neg(s), divisorLow, remainder), divisor);
  // z = s^2 as a sum of two.
  Value z = m.mul(s, s);
  Value zLow = m.fma(m.add(s, s), sLow, m.fma(s, s, m.neg(z)));
  // log(1+f) = 2s (1 + z/3 + z^2 T(z)): the first two terms carry low parts, the rest is below 2^-12.
  static const double third = 0.33333333333333331, thirdLow = 1.8503717077085943e-17;
  // (atanh(s)/s - 1 - z/3) / z^2 : 1/5, 1/7, ...; z <= 0.0295.
  static const double rest[] = {1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
  Value tail = m.mul(m.mul(z, z), m.polynomial(z, rest));
  Value linear = m.mul(z, m.constant(third));
  Value linearLow = m.fma(z, third, m.neg(linear));
  linearLow = m.fma(zLow, third, m.fma(z, thirdLow, linearLow));
  // g = z/3 + tail
  Value g = m.add(linear, tail);
  Value gLow = m.add(m.sub(tail, m.sub(g, linear)), linearLow);
  // w = s + s g (half of the logarithm)
  Value sg = m.mul(s, g);
  Value sgLow = m.fma(s, g, m.neg(sg));
  sgLow = m.fma(sLow, g, m.fma(s, gLow, sgLow));
  Value w = m.add(s, sg);
  Value wLow = m.add(m.sub(sg, m.sub(w, s)), m.add(sgLow, sLow));
  // times 2 log2(e)
  constexpr double scaleHigh = 2 * 1.4426950408889634, scaleLow = 2 * 2.0355273740931033e-17;
  Value product = m.mul(w, m.constant(scaleHigh));
  Value productLow = m.fma(w, scaleHigh, m.neg(product));
  productLow = m.fma(w, scaleLow, m.fma(wLow, scaleHigh, productLow));
  // + k; |k| >= 1 exceeds the product, and k = 0 leaves it exact.
  Value high = m.add(parts.k, product);
  Value isZero = m.equal(parts.k, m.constant(0.0));
  Value low = m.select(isZero, m.constant(0.0), m.sub(product, m.sub(high, parts.k)));
  low = m.add(low, productLow);
  Value sum = m.add(high, low);
  return {sum, m.sub(low, m.sub(sum, high))};
}

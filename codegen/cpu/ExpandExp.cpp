// exp, exp2, expm1 and tanh: x = n ln2 + r, a minimax polynomial in r, and 2^n put in by exponent arithmetic.
#include "codegen/cpu/MathBuilder.h"

using namespace mlir;
using namespace lintel;

// (e^r - 1 - r) / r^2 on |r| <= ln2/2, weighted for exp (relative error 2^-32.5 and 2^-63.8).
static const double expSingle[] = {0.5, 0.166666627, 0.0416664518, 0.00833420735, 0.00139361084, 0.000194124004};
static const double expDouble[] = {0.5,
                                   0.16666666666666682,
                                   0.041666666666666512,
                                   0.0083333333333176166,
                                   0.0013888888888977462,
                                   0.00019841269895237365,
                                   2.4801587134129244e-05,
                                   2.7557235805173412e-06,
                                   2.7557436859305768e-07,
                                   2.5111759829574324e-08,
                                   2.086496028142633e-09};
// The same, weighted for expm1 (2^-30.5 and 2^-64.7).
static const double expM1Single[] = {0.5, 0.166666642, 0.0416664742, 0.00833391026, 0.00139340432, 0.000195565066};
static const double expM1Double[] = {0.5,
                                     0.16666666666666666,
                                     0.041666666666666671,
                                     0.008333333333334185,
                                     0.0013888888888881549,
                                     0.00019841269838502613,
                                     2.4801587332236345e-05,
                                     2.7557323340140547e-06,
                                     2.7557266355147154e-07,
                                     2.5049236232287146e-08,
                                     2.0917321022692451e-09,
                                     1.6831284035680968e-10};
// (2^r - 1) / r on |r| <= 1/2 (2^-32.4 and 2^-59.2).
static const double exp2Single[] = {0.693147182,   0.240226507,    0.0555040576, 0.00961807836,
                                    0.00133372727, 0.000154559588, 1.4477976e-05};
static const double exp2Double[] = {0.69314718055994529,    0.24022650695910064,    0.055504108664822915,
                                    0.0096181291076320521,  0.0013333558146169705,  0.00015403530387396477,
                                    1.5252734032084253e-05, 1.321549130515296e-06,  1.0177987428061789e-07,
                                    7.0533336188736725e-09, 4.4652931380023321e-10, 2.7774944841320369e-11};

// (tanh(x)/x - 1) / x^2 in x^2 on |x| <= 0.7 (2^-30.4 and 2^-57.3).
static const double tanhSingle[] = {-0.333333254, 0.133330002,    -0.0539222509,
                                    0.0215755496, -0.00789046008, 0.00189992401};
static const double tanhDouble[] = {-0.33333333333333082,   0.13333333333298295,     -0.053968253951184285,
                                    0.021869488117833593,   -0.0088632295020352036,  0.0035920725014223151,
                                    -0.0014554911804327056, 0.00058856730881808278,  -0.00023481154010626537,
                                    8.8085781912870058e-05, -2.7034906690059084e-05, 4.788460210407341e-06};

static constexpr double log2E = 1.4426950408889634;

/// x - n ln2 in two steps; ln2 is the sum of two floats of the type.
static Value reduceByLn2(MathBuilder &m, Value x, Value n) {
  Value r = m.fma(n, -m.pick(0.693147182464599609375, 0.6931471805599453), x);
  return m.fma(n, -m.pick(-1.90465421e-09, 2.3190468138462996e-17), r);
}

Value lintel::buildExp(MathBuilder &m, Value x, Value low) {
  // Beyond these bounds the result is 0 or inf in any case, and n stays within what scale() takes.
  Value clamped = m.atMost(m.atLeast(x, m.pick(-104.0, -746.0)), m.pick(89.0, 710.0));
  MathBuilder::Exponent exponent = m.roundExponent(clamped, log2E);
  Value r = reduceByLn2(m, clamped, exponent.n);
  if (low) r = m.add(r, low);
  Value one = m.constant(1.0);
  Value q = m.isDouble ? m.polynomial(r, expDouble) : m.polynomial(r, expSingle);
  return m.scale(m.fma(r, m.fma(r, q, one), one), exponent);
}

Value lintel::buildExp2(MathBuilder &m, Value x, Value low) {
  Value clamped = m.atMost(m.atLeast(x, m.pick(-151.0, -1076.0)), m.pick(129.0, 1025.0));
  MathBuilder::Exponent exponent = m.roundExponent(clamped, 1.0);
  Value r = m.sub(clamped, exponent.n);
  if (low) r = m.add(r, low);
  Value q = m.isDouble ? m.polynomial(r, exp2Double) : m.polynomial(r, exp2Single);
  return m.scale(m.fma(r, q, m.constant(1.0)), exponent);
}

Value lintel::expandExp(MathBuilder &m, Value x) { return buildExp(m, x, Value()); }
Value lintel::expandExp2(MathBuilder &m, Value x) { return buildExp2(m, x, Value()); }

Value lintel::expandExpM1(MathBuilder &m, Value x) {
  Value clamped = m.atMost(m.atLeast(x, m.pick(-20.0, -40.0)), m.pick(89.0, 710.0));
  Value exponent;
  Value n = m.roundProduct(clamped, log2E, exponent);
  Value r = reduceByLn2(m, clamped, n);
  Value q = m.isDouble ? m.polynomial(r, expM1Double) : m.polynomial(r, expM1Single);
  Value p = m.fma(m.mul(r, r), q, r);
  // 2 (p 2^(n-1) + (2^(n-1) - 1/2)): half the result, so that 2^n does not overflow before the result does.
  Value s = m.powerOfTwo(m.subInt(exponent, m.integer(1)));
  Value half = m.fma(p, s, m.sub(s, m.constant(0.5)));
  Value result = m.add(half, half);
  // Tiny arguments are their own result; this also keeps the sign of zero and denormals exact.
  return m.select(m.less(m.abs(x), m.constant(m.pick(0x1p-25, 0x1p-54))), x, result);
}

Value lintel::expandTanh(MathBuilder &m, Value x) {
  // Near zero x + x^3 P(x^2); further out 1 - 2 / (e^(2|x|) + 1), where the quotient is small enough for its errors not
  // to count.
  Value magnitude = m.atMost(m.abs(x), m.pick(10.0, 22.0)); // the result is 1 to the last bit from there on
  Value twice = m.add(magnitude, magnitude);
  Value exponent;
  Value n = m.roundProduct(twice, log2E, exponent);
  Value r = reduceByLn2(m, twice, n);
  Value q = m.isDouble ? m.polynomial(r, expM1Double) : m.polynomial(r, expM1Single);
  Value p = m.fma(m.mul(r, r), q, r);
  Value s = m.powerOfTwo(exponent);
  Value one = m.constant(1.0);
  Value divisor = m.fma(p, s, m.add(s, one));
  Value far = m.sub(one, m.div(m.constant(2.0), divisor));
  Value z = m.mul(magnitude, magnitude);
  Value near = m.isDouble ? m.polynomial(z, tanhDouble) : m.polynomial(z, tanhSingle);
  near = m.fma(m.mul(magnitude, z), near, magnitude);
  return m.copySign(m.select(m.less(magnitude, m.constant(0.7)), near, far), x);
}

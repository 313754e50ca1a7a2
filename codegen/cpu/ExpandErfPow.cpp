// erf by two polynomials, powf by a logarithm with twice the precision.
#include "codegen/cpu/MathBuilder.h"

using namespace mlir;
using namespace lintel;

// erf(x)/x - 1 in x^2 on |x| <= 1.
static const double erfNearDouble[] = {0.12837916709551259,     -0.37612638903183876,    0.1128379167095875,
                                       -0.02686617064562101,    0.0052239776291087541,   -0.00085483271902392008,
                                       0.00012055337795923954,  -1.4925738815988311e-05, 1.646309009748232e-06,
                                       -1.6370648963840367e-07, 1.4786479011118768e-08,  -1.1829783629248241e-09,
                                       6.6825712671162985e-11};
static const double erfNearSingle[] = {0.128379166,   -0.37612626,     0.112835824,   -0.0268536378,
                                       0.00518793985, -0.000800648588, 7.84092481e-05};
// log(erfc(x)) on 1 <= x <= 6 (f32: 4).
static const double erfFarSingle[] = {0.000189533268, -1.12958503,    -0.633207619,   -0.108430997,
                                      0.0252156388,   -0.00420713704, 0.000441823882, -2.17254164e-05};
static const double erfFarDouble[] = {
    3.5034626525474824e-08, -1.1283796010921987,     -0.63661722524175524,   -0.10278202674010392,
    0.019153111637583209,   0.00016061393204175428,  -0.001621448960096612,  0.00049806636712946878,
    6.6228466843127202e-05, -0.00013998680483960047, 8.0489096076580456e-05, -3.1203590723267766e-05,
    9.2724380242705248e-06, -2.1966843716677654e-06, 4.1938662307312343e-07, -6.4302454141600346e-08,
    7.8081742727263717e-09, -7.3241813764577493e-10, 5.0983083137655569e-11, -2.4645013433681083e-12,
    7.3165300334000974e-14, -9.9004422791236307e-16};

Value lintel::expandErf(MathBuilder &m, Value x) {
  Value magnitude = m.atMost(m.abs(x), m.pick(4.0, 6.0)); // the result is 1 to the last bit from there on
  Value z = m.mul(x, x);
  Value near = m.fma(x, m.isDouble ? m.polynomial(z, erfNearDouble) : m.polynomial(z, erfNearSingle), x);
  Value log = m.isDouble ? m.polynomial(magnitude, erfFarDouble) : m.polynomial(magnitude, erfFarSingle);
  Value far = m.copySign(m.sub(m.constant(1.0), buildExp(m, log, Value())), x);
  return m.select(m.less(magnitude, m.constant(1.0)), near, far);
}

Value lintel::expandPow(MathBuilder &m, Value x, Value y) {
  if (!m.isDouble) {
    MathBuilder wide = m.asDouble();
    Value result = expandPow(wide, arith::ExtFOp::create(m.builder, m.loc, wide.type, x),
                             arith::ExtFOp::create(m.builder, m.loc, wide.type, y));
    return arith::TruncFOp::create(m.builder, m.loc, m.type, result);
  }
  Value zero = m.constant(0.0), one = m.constant(1.0), infinity = m.infinity();
  Value magnitude = m.abs(x);
  DoubleValue log = buildPreciseLog2(m, magnitude);
  // y log2|x| as a sum of two, clamped where the result is 0 or inf in any case.
  Value product = m.mul(y, log.high);
  Value low = m.fma(y, log.low, m.fma(y, log.high, m.neg(product)));
  Value inRange = m.less(m.abs(product), m.constant(1100.0));
  low = m.select(inRange, low, zero);
  Value result = buildExp2(m, product, low);

  // |x| = 0 or inf: 0 or inf by the signs of log and y.
  Value isZero = m.equal(magnitude, zero), isInfinite = m.equal(magnitude, infinity);
  Value yNegative = m.less(y, zero);
  Value atZero = m.select(yNegative, infinity, zero), atInfinity = m.select(yNegative, zero, infinity);
  result = m.select(isZero, atZero, result);
  result = m.select(isInfinite, atInfinity, result);

  // Negative x: the sign by the parity of y, NaN where y is no integer.
  Value floorY = math::FloorOp::create(m.builder, m.loc, y);
  Value halfY = m.mul(y, m.constant(0.5));
  Value floorHalf = math::FloorOp::create(m.builder, m.loc, halfY);
  Value isInteger = m.equal(floorY, y);
  Value notEven = m.compare(arith::CmpFPredicate::UNE, floorHalf, halfY);
  Value isOdd = m.both(isInteger, notEven);
  result = m.select(isOdd, m.copySign(result, x), result);
  Value negativeFinite = m.both(m.less(x, zero), m.less(magnitude, infinity));
  Value notInteger = m.compare(arith::CmpFPredicate::UNE, floorY, y);
  result = m.select(m.both(negativeFinite, notInteger), m.nan(), result);
  // NaN operands, then the cases that beat them.
  Value unordered = m.compare(arith::CmpFPredicate::UNO, x, y);
  result = m.select(unordered, m.add(x, y), result);
  Value minusOneToInfinity = m.both(m.equal(x, m.constant(-1.0)), m.equal(m.abs(y), infinity));
  Value isOne = m.either(m.either(m.equal(x, one), m.equal(y, zero)), minusOneToInfinity);
  return m.select(isOne, one, result);
}

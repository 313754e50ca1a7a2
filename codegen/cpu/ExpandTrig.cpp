// sin and cos: x = n pi/2 + r, then two polynomials of which n picks one and its sign.
//
// Up to a bound r comes from three parts of pi/2 by fused multiply-add. Beyond it (rare: one branch for the whole
// vector) each lane takes the reduction of Payne and Hanek: x = M 2^e, and as only n modulo 4 matters, just the 192
// bits of 2/pi around 2^-e take part in the product. A double comes no nearer to a multiple of pi/2 than 2^-61, so 64
// good bits remain.
#include "codegen/cpu/MathBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace lintel;

// (sin r - r) / r^3 and (cos r - 1 + r^2/2) / r^4 in r^2 on |r| <= pi/4.
static const double sinSingle[] = {-0.166666672, 0.00833337288, -0.000198502879, 2.80423887e-06};
static const double sinDouble[] = {-0.1666666666666663,    0.0083333333333218927,   -0.00019841269829429654,
                                   2.7557313570456583e-06, -2.5050740222848731e-08, 1.5895808243929756e-10};
static const double cosSingle[] = {0.0416666679, -0.0013888973, 2.48192591e-05, -2.86142722e-07};
static const double cosDouble[] = {0.041666666666666595,    -0.0013888888888873361, 2.4801587289018969e-05,
                                   -2.7557314222010198e-07, 2.0875705987221572e-09, -1.1358772691319196e-11};

namespace {
/// r + low, and n modulo 4 as an integer.
struct Reduced {
  Value r, low, n;
};
} // namespace

static const char reductionName[] = "lintel_reduce_half_pi";
static const char reductionText[] = R"mlir(
memref.global "private" constant @lintel_two_over_pi : memref<20xi64> = dense<[
  0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
  0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41,
  0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7,
  0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB]>
func.func private @lintel_reduce_half_pi(%x: f64) -> (f64, f64, i64)
    attributes {no_inline, passthrough = ["cold", "noinline"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c6 = arith.constant 6 : i64
  %c11 = arith.constant 11 : i64
  %c22 = arith.constant 22 : i64
  %c42 = arith.constant 42 : i64
  %c52 = arith.constant 52 : i64
  %c62 = arith.constant 62 : i64
  %c63 = arith.constant 63 : i64
  %i1 = arith.constant 1 : index
  %bits = arith.bitcast %x : f64 to i64
  %expShifted = arith.shrui %bits, %c52 : i64
  %expMask = arith.constant 2047 : i64
  %exp = arith.andi %expShifted, %expMask : i64
  %mantissaMask = arith.constant 0x000FFFFFFFFFFFFF : i64
  %mantissaBits = arith.andi %bits, %mantissaMask : i64
  %hidden = arith.constant 0x0010000000000000 : i64
  %M = arith.ori %mantissaBits, %hidden : i64

  // The bit of 2/pi (after 64 bits of zeros) whose product with M's last bit weighs 2.
  %bias = arith.constant 1013 : i64
  %startAny = arith.subi %exp, %bias : i64
  %start = arith.maxsi %startAny, %c0 : i64
  %word64 = arith.shrui %start, %c6 : i64
  %s = arith.andi %start, %c63 : i64
  %t = arith.subi %c63, %s : i64
  %table = memref.get_global @lintel_two_over_pi : memref<20xi64>
  %i = arith.index_cast %word64 : i64 to index
  %j = arith.addi %i, %i1 : index
  %k = arith.addi %j, %i1 : index
  %l = arith.addi %k, %i1 : index
  %w0 = memref.load %table[%i] : memref<20xi64>
  %w1 = memref.load %table[%j] : memref<20xi64>
  %w2 = memref.load %table[%k] : memref<20xi64>
  %w3 = memref.load %table[%l] : memref<20xi64>
  %w0s = arith.shli %w0, %s : i64
  %w1s = arith.shli %w1, %s : i64
  %w2s = arith.shli %w2, %s : i64
  %w1h = arith.shrui %w1, %c1 : i64
  %w2h = arith.shrui %w2, %c1 : i64
  %w3h = arith.shrui %w3, %c1 : i64
  %w1t = arith.shrui %w1h, %t : i64
  %w2t = arith.shrui %w2h, %t : i64
  %w3t = arith.shrui %w3h, %t : i64
  %g0 = arith.ori %w0s, %w1t : i64
  %g1 = arith.ori %w1s, %w2t : i64
  %g2 = arith.ori %w2s, %w3t : i64

  // M times the 192-bit window, modulo 2^192.
  %p2, %m2 = arith.mului_extended %M, %g2 : i64
  %l1, %m1 = arith.mului_extended %M, %g1 : i64
  %l0 = arith.muli %M, %g0 : i64
  %p1, %carry = arith.addui_extended %l1, %m2 : i64, i1
  %carry64 = arith.extui %carry : i1 to i64
  %sum0 = arith.addi %l0, %m1 : i64
  %p0 = arith.addi %sum0, %carry64 : i64

  // The nearest integer, and the signed fraction as sign and magnitude (to one unit of 2^-190).
  %halfUnit = arith.constant 0x2000000000000000 : i64
  %rounded = arith.addi %p0, %halfUnit : i64
  %n = arith.shrui %rounded, %c62 : i64
  %whole = arith.shli %n, %c62 : i64
  %fraction = arith.subi %p0, %whole : i64
  %sign = arith.shrsi %fraction, %c63 : i64
  %f0 = arith.xori %fraction, %sign : i64
  %f1 = arith.xori %p1, %sign : i64
  %f2 = arith.xori %p2, %sign : i64
  %zeros = math.ctlz %f0 : i64
  %z = arith.andi %zeros, %c63 : i64
  %zt = arith.subi %c63, %z : i64
  %f0s = arith.shli %f0, %z : i64
  %f1s = arith.shli %f1, %z : i64
  %f1h = arith.shrui %f1, %c1 : i64
  %f2h = arith.shrui %f2, %c1 : i64
  %f1t = arith.shrui %f1h, %zt : i64
  %f2t = arith.shrui %f2h, %zt : i64
  %h0 = arith.ori %f0s, %f1t : i64
  %h1 = arith.ori %f1s, %f2t : i64

  // 53 bits and 53 more as doubles.
  %high64 = arith.shrui %h0, %c11 : i64
  %restMask = arith.constant 0x7FF : i64
  %rest = arith.andi %h0, %restMask : i64
  %restShifted = arith.shli %rest, %c42 : i64
  %h1t = arith.shrui %h1, %c22 : i64
  %low64 = arith.ori %restShifted, %h1t : i64
  %highFloat = arith.sitofp %high64 : i64 to f64
  %lowFloat = arith.sitofp %low64 : i64 to f64
  %scaleBias = arith.constant 972 : i64
  %scaleExp = arith.subi %scaleBias, %z : i64
  %scaleBits = arith.shli %scaleExp, %c52 : i64
  %scale = arith.bitcast %scaleBits : i64 to f64
  %lowUnit = arith.constant 0x3CA0000000000000 : f64
  %high = arith.mulf %highFloat, %scale : f64
  %lowScaled = arith.mulf %lowFloat, %lowUnit : f64
  %low = arith.mulf %lowScaled, %scale : f64

  // Times pi/2, and the signs.
  %halfPi = arith.constant 0x3FF921FB54442D18 : f64
  %halfPiLow = arith.constant 0x3C91A62633145C07 : f64
  %r0 = arith.mulf %high, %halfPi : f64
  %r0neg = arith.negf %r0 : f64
  %e0 = math.fma %high, %halfPi, %r0neg : f64
  %e1 = math.fma %high, %halfPiLow, %e0 : f64
  %e = math.fma %low, %halfPi, %e1 : f64
  %r = arith.addf %r0, %e : f64
  %d = arith.subf %r, %r0 : f64
  %rLow = arith.subf %e, %d : f64
  %xNegative = arith.cmpi slt, %bits, %c0 : i64
  %fNegative = arith.cmpi slt, %sign, %c0 : i64
  %negative = arith.xori %xNegative, %fNegative : i1
  %rNeg = arith.negf %r : f64
  %rLowNeg = arith.negf %rLow : f64
  %nNeg = arith.subi %c0, %n : i64
  %rSigned = arith.select %negative, %rNeg, %r : f64
  %rLowSigned = arith.select %negative, %rLowNeg, %rLow : f64
  %nSigned = arith.select %xNegative, %nNeg, %n : i64
  // inf and NaN
  %finite = arith.cmpi ne, %exp, %expMask : i64
  %nan = arith.subf %x, %x : f64
  %rResult = arith.select %finite, %rSigned, %nan : f64
  func.return %rResult, %rLowSigned, %nSigned : f64, f64, i64
}
)mlir";

StringRef lintel::getHalfPiReduction(Operation *module) {
  if (SymbolTable::lookupSymbolIn(module, reductionName)) return reductionName;
  OwningOpRef<ModuleOp> parsed =
      parseSourceString<ModuleOp>(reductionText, ParserConfig(module->getContext(), /*verifyAfterParse=*/false));
  assert(parsed && "the reduction's text does not parse");
  Block &body = module->getRegion(0).front();
  body.getOperations().splice(body.end(), parsed->getBody()->getOperations());
  return reductionName;
}

/// The result of the exact reduction of one lane, as the builder's element types.
static void reduceLane(OpBuilder &b, Location loc, StringRef function, Value x, bool isDouble, Value &r, Value &low,
                       Value &n) {
  Type f32 = b.getF32Type(), f64 = b.getF64Type(), i64 = b.getI64Type();
  if (!isDouble) x = arith::ExtFOp::create(b, loc, f64, x);
  auto call = func::CallOp::create(b, loc, function, TypeRange{f64, f64, i64}, ValueRange{x});
  r = call.getResult(0), low = call.getResult(1), n = call.getResult(2);
  if (isDouble) return;
  Value narrow = arith::TruncFOp::create(b, loc, f32, r);
  Value back = arith::ExtFOp::create(b, loc, f64, narrow);
  low = arith::TruncFOp::create(b, loc, f32, arith::SubFOp::create(b, loc, r, back).getResult());
  n = arith::TruncIOp::create(b, loc, b.getI32Type(), n);
  r = narrow;
}

/// Every lane by the exact reduction.
static Reduced reduceExactly(MathBuilder &m, Value x, StringRef function) {
  OpBuilder &b = m.builder;
  Location loc = m.loc;
  Reduced result;
  auto vector = m.vectorType();
  if (!vector) {
    reduceLane(b, loc, function, x, m.isDouble, result.r, result.low, result.n);
    return result;
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  Value count = arith::ConstantIndexOp::create(b, loc, vector.getNumElements());
  auto loop = scf::ForOp::create(b, loc, zero, count, one, ValueRange{m.constant(0.0), m.constant(0.0), m.integer(0)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value lane = loop.getInductionVar();
    Value element = vector::ExtractOp::create(b, loc, x, lane);
    Value parts[3];
    reduceLane(b, loc, function, element, m.isDouble, parts[0], parts[1], parts[2]);
    SmallVector<Value> next;
    for (unsigned i = 0; i < 3; ++i)
      next.push_back(vector::InsertOp::create(b, loc, parts[i], loop.getRegionIterArg(i), lane));
    scf::YieldOp::create(b, loc, next);
  }
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

static Reduced reduce(MathBuilder &m, Value x, StringRef function) {
  // n times the first part of pi/2 is exact, and so is the difference (both lie on the part's grid); the later parts
  // leave a rounding error, which `low` keeps.
  Value n;
  Value count = m.roundProduct(x, 0.63661977236758134, n);
  Value minusCount = m.neg(count);
  Value r1 = m.fma(minusCount, m.pick(1.57079637050628662109375, 1.5707963267948966), x);
  double second = m.pick(-4.37113882867379e-08, 6.123233995736766e-17);
  double third = m.pick(-1.7151245100059e-15, -1.4973849048591698e-33);
  Value product = m.mul(minusCount, m.constant(second));
  Value productLow = m.fma(minusCount, second, m.neg(product));
  Value r2 = m.add(r1, product);
  // Two-sum without a condition: r1 may be the smaller one next to a multiple of pi/2.
  Value r1Part = m.sub(r2, product);
  Value error = m.add(m.sub(r1, r1Part), m.sub(product, m.sub(r2, r1Part)));
  Value low = m.fma(minusCount, third, m.add(error, productLow));
  Reduced fast;
  fast.r = m.add(r2, low);
  fast.low = m.sub(low, m.sub(fast.r, r2));
  fast.n = n;

  Value large = m.notLessEqual(m.abs(x), m.constant(m.pick(0x1p16, 0x1p23)));
  OpBuilder &b = m.builder;
  Value any = large;
  if (m.vectorType()) any = vector::ReductionOp::create(b, m.loc, vector::CombiningKind::OR, large);
  auto branch = scf::IfOp::create(b, m.loc, TypeRange{m.type, m.type, m.intType}, any, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Reduced exact = reduceExactly(m, x, function);
    scf::YieldOp::create(b, m.loc,
                         ValueRange{m.select(large, exact.r, fast.r), m.select(large, exact.low, fast.low),
                                    m.select(large, exact.n, fast.n)});
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, m.loc, ValueRange{fast.r, fast.low, fast.n});
  }
  return {branch.getResult(0), branch.getResult(1), branch.getResult(2)};
}

/// sin(r pi-multiple n): cosine where n is odd, negative where its second bit is set.
static Value sineOf(MathBuilder &m, Reduced x, Value quadrant) {
  Value z = m.mul(x.r, x.r);
  Value halfZ = m.mul(z, m.constant(0.5));
  // r + (r^3 S(z) + low (1 - z/2))
  Value sine = m.isDouble ? m.polynomial(z, sinDouble) : m.polynomial(z, sinSingle);
  Value cube = m.mul(z, x.r);
  sine = m.add(x.r, m.fma(cube, sine, m.fma(m.neg(halfZ), x.low, x.low)));
  // 1 - z/2, what that lost, z^2 C(z) and -r low
  Value cosine = m.isDouble ? m.polynomial(z, cosDouble) : m.polynomial(z, cosSingle);
  Value one = m.constant(1.0);
  Value w = m.sub(one, halfZ);
  Value lost = m.sub(m.sub(one, w), halfZ);
  Value rest = m.fma(m.neg(x.r), x.low, m.fma(m.mul(z, z), cosine, lost));
  cosine = m.add(w, rest);
  Value result = m.select(m.notZero(m.andInt(quadrant, 1)), cosine, sine);
  Value sign = m.shiftLeft(m.andInt(quadrant, 2), m.pick(30, 62));
  return m.fromBits(arith::XOrIOp::create(m.builder, m.loc, m.bits(result), sign));
}

Value lintel::expandSin(MathBuilder &m, Value x, StringRef reduction) {
  Reduced reduced = reduce(m, x, reduction);
  Value result = sineOf(m, reduced, reduced.n);
  // Keeps the sign of zero.
  return m.select(m.less(m.abs(x), m.constant(m.pick(0x1p-13, 0x1p-27))), x, result);
}

Value lintel::expandCos(MathBuilder &m, Value x, StringRef reduction) {
  Reduced reduced = reduce(m, x, reduction);
  return sineOf(m, reduced, m.addInt(reduced.n, m.integer(1)));
}

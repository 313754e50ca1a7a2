// A small vocabulary to write vector math in: one value type (f32 or f64, scalar or 1-D vector), constants are
// splatted.
#ifndef LINTEL_CODEGEN_CPU_MATHBUILDER_H
#define LINTEL_CODEGEN_CPU_MATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace lintel {

/// Builds unflagged float operations: the error-free transformations of these functions break if the compiler fuses or
/// reorders them, so every fused multiply-add is written as one.
class MathBuilder {
public:
  using Value = mlir::Value;

  /// `type`: f32, f64 or a 1-D fixed-length vector of these.
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : builder(builder), loc(loc), type(type), isDouble(mlir::getElementTypeOrSelf(type).isF64()) {
    intType = withElement(builder.getIntegerType(isDouble ? 64 : 32));
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type type, intType;
  bool isDouble;

  /// The builder for the same number of lanes of f64 or f32.
  MathBuilder asDouble() { return MathBuilder(builder, loc, withElement(builder.getF64Type())); }
  mlir::VectorType vectorType() const { return mlir::dyn_cast<mlir::VectorType>(type); }
  mlir::Type withElement(mlir::Type element) const {
    if (auto vector = vectorType()) return mlir::VectorType::get(vector.getShape(), element);
    return element;
  }

  int mantissaBits() const { return isDouble ? 52 : 23; }
  int exponentBias() const { return isDouble ? 1023 : 127; }
  /// 1.5 * 2^mantissaBits: adding it rounds to an integer, which then stands in the low bits.
  double roundingMagic() const { return isDouble ? 0x1.8p52 : 0x1.8p23; }
  int64_t roundingMagicBits() const { return isDouble ? 0x4338000000000000 : 0x4B400000; }
  /// The constant for f32 or f64.
  template <typename T> T pick(T single, T forDouble) const { return isDouble ? forDouble : single; }

  Value constant(double value);
  Value integer(int64_t value);
  Value infinity();
  Value nan();

  Value add(Value a, Value b) { return mlir::arith::AddFOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return mlir::arith::SubFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return mlir::arith::MulFOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) { return mlir::arith::DivFOp::create(builder, loc, a, b); }
  Value neg(Value a) { return mlir::arith::NegFOp::create(builder, loc, a); }
  Value fma(Value a, Value b, Value c) { return mlir::math::FmaOp::create(builder, loc, a, b, c); }
  Value fma(Value a, double b, Value c) { return fma(a, constant(b), c); }
  Value abs(Value a) { return mlir::math::AbsFOp::create(builder, loc, a); }
  Value copySign(Value magnitude, Value sign) { return mlir::math::CopySignOp::create(builder, loc, magnitude, sign); }
  Value select(Value condition, Value a, Value b) {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }

  /// Ordered comparisons: false where an operand is NaN.
  Value less(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OLT, a, b); }
  Value equal(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OEQ, a, b); }
  Value notLessEqual(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::UGT, a, b); }
  Value both(Value a, Value b) { return mlir::arith::AndIOp::create(builder, loc, a, b); }
  Value either(Value a, Value b) { return mlir::arith::OrIOp::create(builder, loc, a, b); }

  /// Clamps; NaN passes through.
  Value atMost(Value a, double limit) {
    Value bound = constant(limit);
    return select(less(bound, a), bound, a);
  }
  Value atLeast(Value a, double limit) {
    Value bound = constant(limit);
    return select(less(a, bound), bound, a);
  }

  Value bits(Value a) { return mlir::arith::BitcastOp::create(builder, loc, intType, a); }
  Value fromBits(Value a) { return mlir::arith::BitcastOp::create(builder, loc, type, a); }
  Value addInt(Value a, Value b) { return mlir::arith::AddIOp::create(builder, loc, a, b); }
  Value subInt(Value a, Value b) { return mlir::arith::SubIOp::create(builder, loc, a, b); }
  Value andInt(Value a, int64_t b) { return mlir::arith::AndIOp::create(builder, loc, a, integer(b)); }
  Value shiftLeft(Value a, int by) { return mlir::arith::ShLIOp::create(builder, loc, a, integer(by)); }
  Value shiftRightLogical(Value a, int by) { return mlir::arith::ShRUIOp::create(builder, loc, a, integer(by)); }
  Value shiftRight(Value a, int by) { return mlir::arith::ShRSIOp::create(builder, loc, a, integer(by)); }
  Value notZero(Value a) {
    return mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::ne, a, integer(0));
  }

  /// 2^n for an integer n in the range of normal numbers.
  Value powerOfTwo(Value n) { return fromBits(shiftLeft(addInt(n, integer(exponentBias())), mantissaBits())); }
  /// A small integer as a float, without the conversion that AVX2 lacks for 64 bits.
  Value toFloat(Value n);
  /// Nearest integer to a*b as a float, and as an integer in `asInt`; |a*b| < 2^(mantissaBits-1).
  Value roundProduct(Value a, double b, Value &asInt);

  /// An integer n ready to scale by: n = round(a*b) as a float, and bits from which 2^n is made in two factors, as n
  /// may lie outside the range of exponents by as much again.
  struct Exponent {
    Value n, bits;
  };
  Exponent roundExponent(Value a, double b);
  /// a * 2^n with one rounding (the first of the two factors is exact), so that denormal results come out right.
  Value scale(Value a, const Exponent &exponent);

  /// c[0] + c[1] x + ... by Horner's rule.
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients);

  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
};

/// An unevaluated sum, |low| at most half an ulp of high.
struct DoubleValue {
  mlir::Value high, low;
};

// One function for each op; `x` has the builder's type.
mlir::Value expandExp(MathBuilder &m, mlir::Value x);
mlir::Value expandExp2(MathBuilder &m, mlir::Value x);
mlir::Value expandExpM1(MathBuilder &m, mlir::Value x);
mlir::Value expandTanh(MathBuilder &m, mlir::Value x);
mlir::Value expandLog(MathBuilder &m, mlir::Value x);
mlir::Value expandLog2(MathBuilder &m, mlir::Value x);
mlir::Value expandLog10(MathBuilder &m, mlir::Value x);
mlir::Value expandLog1p(MathBuilder &m, mlir::Value x);
mlir::Value expandErf(MathBuilder &m, mlir::Value x);
mlir::Value expandPow(MathBuilder &m, mlir::Value x, mlir::Value y);
/// `reduction`: the function of getHalfPiReduction in the op's module.
mlir::Value expandSin(MathBuilder &m, mlir::Value x, llvm::StringRef reduction);
mlir::Value expandCos(MathBuilder &m, mlir::Value x, llvm::StringRef reduction);

/// Finds or adds the private function (f64 x) -> (r, rLow, n) with x = n pi/2 + r + rLow, |r| <= pi/4, n modulo 4,
/// exact enough for every finite x of at least 2^15; returns its name.
llvm::StringRef getHalfPiReduction(mlir::Operation *module);

// Building blocks shared between the families.
/// exp(x + low) for |low| far below |x|.
mlir::Value buildExp(MathBuilder &m, mlir::Value x, mlir::Value low);
/// 2^(x + low), x clamped by the caller or not.
mlir::Value buildExp2(MathBuilder &m, mlir::Value x, mlir::Value low);
/// log2(x) for positive finite x (f64 only), to about 2^-62.
DoubleValue buildPreciseLog2(MathBuilder &m, mlir::Value x);

} // namespace lintel

#endif

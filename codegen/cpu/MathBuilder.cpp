#include "codegen/cpu/MathBuilder.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <limits>

using namespace mlir;
using namespace lintel;

static Value splat(MathBuilder &m, Type type, TypedAttr element) {
  TypedAttr attr = element;
  if (auto vector = dyn_cast<VectorType>(type)) attr = DenseElementsAttr::get(vector, ArrayRef<Attribute>(element));
  return arith::ConstantOp::create(m.builder, m.loc, attr);
}

Value MathBuilder::constant(double value) {
  return splat(*this, type, FloatAttr::get(getElementTypeOrSelf(type), value));
}
Value MathBuilder::integer(int64_t value) {
  unsigned width = isDouble ? 64 : 32;
  return splat(*this, intType,
               IntegerAttr::get(getElementTypeOrSelf(intType),
                                llvm::APInt(width, static_cast<uint64_t>(value), true, /*implicitTrunc=*/true)));
}
Value MathBuilder::infinity() { return constant(std::numeric_limits<double>::infinity()); }
Value MathBuilder::nan() { return constant(std::numeric_limits<double>::quiet_NaN()); }

// Twice the bias goes into the rounding constant, so that the low bits hold n + 2 bias. Half of that, rounded down, is
// the biased exponent of one factor, and the rest that of the other; the constant's own bits lie where the shift drops
// them.
MathBuilder::Exponent MathBuilder::roundExponent(Value a, double b) {
  Value magic = constant(roundingMagic() + 2 * exponentBias());
  Value shifted = fma(a, b, magic);
  return {sub(shifted, magic), bits(shifted)};
}

Value MathBuilder::scale(Value a, const Exponent &exponent) {
  Value half = shiftRightLogical(exponent.bits, 1);
  Value rest = subInt(exponent.bits, half);
  return mul(mul(a, fromBits(shiftLeft(half, mantissaBits()))), fromBits(shiftLeft(rest, mantissaBits())));
}

Value MathBuilder::toFloat(Value n) {
  return sub(fromBits(addInt(n, integer(roundingMagicBits()))), constant(roundingMagic()));
}

Value MathBuilder::roundProduct(Value a, double b, Value &asInt) {
  Value magic = constant(roundingMagic());
  Value shifted = fma(a, b, magic);
  asInt = subInt(bits(shifted), integer(roundingMagicBits()));
  return sub(shifted, magic);
}

Value MathBuilder::polynomial(Value x, llvm::ArrayRef<double> coefficients) {
  Value result = constant(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back())) result = fma(result, x, constant(c));
  return result;
}

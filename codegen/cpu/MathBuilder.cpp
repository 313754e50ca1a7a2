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

Value MathBuilder::scale(Value a, Value n) {
  Value half = shiftRight(n, 1);
  return mul(mul(a, powerOfTwo(half)), powerOfTwo(subInt(n, half)));
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

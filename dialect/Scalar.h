//===- Scalar.h - the elementwise functions on doubles --------------------===//
// What each kind means, once: constant folding, the interpreter and the tests call these.
#ifndef LINTEL_DIALECT_SCALAR_H
#define LINTEL_DIALECT_SCALAR_H

#include "dialect/AttnDialect.h"
#include <cmath>

namespace lintel {

inline double evaluate(UnaryKind kind, double x) {
  switch (kind) {
  case UnaryKind::Neg:
    return -x;
  case UnaryKind::Exp:
    return std::exp(x);
  case UnaryKind::Log:
    return std::log(x);
  case UnaryKind::Log1p:
    return std::log1p(x);
  case UnaryKind::Expm1:
    return std::expm1(x);
  case UnaryKind::Sqrt:
    return std::sqrt(x);
  case UnaryKind::Rsqrt:
    return 1 / std::sqrt(x);
  case UnaryKind::Sin:
    return std::sin(x);
  case UnaryKind::Cos:
    return std::cos(x);
  case UnaryKind::Tanh:
    return std::tanh(x);
  case UnaryKind::Sigmoid:
    return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
  case UnaryKind::Softplus:
    return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))) + (std::isnan(x) ? x : 0);
  case UnaryKind::Silu:
    return x == -INFINITY ? 0 : x * evaluate(UnaryKind::Sigmoid, x);
  case UnaryKind::Gelu:
    return x == -INFINITY ? 0 : 0.5 * x * std::erfc(-x * M_SQRT1_2);
  case UnaryKind::Relu:
    return x > 0 || std::isnan(x) ? x : 0;
  case UnaryKind::Elu:
    return x > 0 ? x : std::expm1(x);
  case UnaryKind::Abs:
    return std::fabs(x);
  case UnaryKind::Not:
    return x == 0;
  case UnaryKind::Exp2:
    return std::exp2(x);
  case UnaryKind::Ceil:
    return std::ceil(x);
  }
  return NAN;
}

inline double evaluate(BinaryKind kind, double a, double b) {
  switch (kind) {
  case BinaryKind::Add:
    return a + b;
  case BinaryKind::Sub:
    return a - b;
  case BinaryKind::Mul:
    return a * b;
  case BinaryKind::Div:
    return a / b;
  case BinaryKind::Pow:
    return std::pow(a, b);
  case BinaryKind::Min:
    return a < b || std::isnan(a) ? a : b; // a NaN on either side is kept, as NumPy does
  case BinaryKind::Max:
    return a > b || std::isnan(a) ? a : b;
  case BinaryKind::Lt:
    return a < b;
  case BinaryKind::Le:
    return a <= b;
  case BinaryKind::Gt:
    return a > b;
  case BinaryKind::Ge:
    return a >= b;
  case BinaryKind::Eq:
    return a == b;
  case BinaryKind::Ne:
    return a != b;
  case BinaryKind::And:
    return a != 0 && b != 0;
  case BinaryKind::Or:
    return a != 0 || b != 0;
  }
  return NAN;
}

} // namespace lintel
#endif

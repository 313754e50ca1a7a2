// The functions and the constant names of the language, in one table.
#ifndef LINTEL_FRONTEND_BUILTINS_H
#define LINTEL_FRONTEND_BUILTINS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace lintel::frontend {

enum class Function : uint8_t {
  // element by element, one argument
  Exp,
  Log,
  Log1p,
  Expm1,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Tanh,
  Sigmoid,
  Softplus,
  Silu,
  Gelu,
  Relu,
  Elu,
  Abs,
  // over a vector with one argument, element by element with more
  Min,
  Max,
  // over vectors and matrices
  Dot,
  Sum,
  Mean,
  Norm,
  Softmax,
  Cumsum,
  Concat,
  Outer,
  Flatten,
  Where,
};

struct Builtin {
  const char *name;
  Function function;
  unsigned least, most; // arguments

  bool isElementwise() const { return function <= Function::Abs; }
  /// A linear function of its argument: of a value affine in the states it makes another.
  bool isLinear() const;
};

llvm::ArrayRef<Builtin> builtins();
/// The function of that name, or null.
const Builtin *findBuiltin(llvm::StringRef name);

/// What a reserved name means, or an empty string for a name that is free.
llvm::StringRef reservedMeaning(llvm::StringRef name);

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_BUILTINS_H

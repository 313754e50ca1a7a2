#include "compiler/frontend/Builtins.h"

#include "llvm/ADT/StringSwitch.h"
#include <climits>

using namespace lintel::frontend;

static constexpr unsigned any = UINT_MAX;

static constexpr Builtin table[] = {
    {"exp", Function::Exp, 1, 1},         {"log", Function::Log, 1, 1},           {"log1p", Function::Log1p, 1, 1},
    {"expm1", Function::Expm1, 1, 1},     {"sqrt", Function::Sqrt, 1, 1},         {"rsqrt", Function::Rsqrt, 1, 1},
    {"sin", Function::Sin, 1, 1},         {"cos", Function::Cos, 1, 1},           {"tanh", Function::Tanh, 1, 1},
    {"sigmoid", Function::Sigmoid, 1, 1}, {"softplus", Function::Softplus, 1, 1}, {"silu", Function::Silu, 1, 1},
    {"gelu", Function::Gelu, 1, 1},       {"relu", Function::Relu, 1, 1},         {"elu", Function::Elu, 1, 1},
    {"abs", Function::Abs, 1, 1},         {"min", Function::Min, 1, any},         {"max", Function::Max, 1, any},
    {"dot", Function::Dot, 2, 2},         {"sum", Function::Sum, 1, 1},           {"mean", Function::Mean, 1, 1},
    {"norm", Function::Norm, 1, 1},       {"softmax", Function::Softmax, 1, 1},   {"cumsum", Function::Cumsum, 1, 1},
    {"concat", Function::Concat, 1, any}, {"outer", Function::Outer, 2, 2},       {"flatten", Function::Flatten, 1, 1},
    {"where", Function::Where, 3, 3},
};

llvm::ArrayRef<Builtin> lintel::frontend::builtins() { return table; }

const Builtin *lintel::frontend::findBuiltin(llvm::StringRef name) {
  for (const Builtin &builtin : table)
    if (name == builtin.name) return &builtin;
  return nullptr;
}

bool Builtin::isLinear() const {
  switch (function) {
  case Function::Sum:
  case Function::Mean:
  case Function::Cumsum:
  case Function::Concat:
  case Function::Flatten:
    return true;
  default:
    return false;
  }
}

llvm::StringRef lintel::frontend::reservedMeaning(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("out", "it is the output")
      .Case("pi", "it is the circle's constant")
      .Case("inf", "it is infinity")
      .Case("position", "it is the step's index in its sequence")
      .Case("distance", "in 'weights' it is the query's position less the key's")
      .Cases({"and", "or", "not"}, "it is an operator")
      .Case("attention", "it starts an operator")
      .Cases({"token", "head", "shared", "state", "let"}, "it starts a declaration")
      .Default("");
}

//===- Passes.h - the passes of the middle --------------------------------===//
#ifndef LINTEL_COMPILER_TRANSFORMS_PASSES_H
#define LINTEL_COMPILER_TRANSFORMS_PASSES_H

#include "dialect/AttnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace lintel {
/// What AssignPrecision said of a spec goes to all that is derived from it.
inline void inheritPrecision(mlir::Operation *to, mlir::Operation *from) {
  if (mlir::Attribute precision = from->getAttr("precision")) to->setAttr("precision", precision);
}
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

#endif

//===- Passes.h - the passes of the middle --------------------------------===//
#ifndef LINTEL_COMPILER_TRANSFORMS_PASSES_H
#define LINTEL_COMPILER_TRANSFORMS_PASSES_H

#include "dialect/AttnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace lintel {
/// What goes from a spec to all that is derived from it: its precision and the names of its outputs.
inline void inheritAttributes(mlir::Operation *to, mlir::Operation *from) {
  for (llvm::StringRef name : {"precision", "outputs", "settles"})
    if (mlir::Attribute attr = from->getAttr(name)) to->setAttr(name, attr);
}
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

#endif

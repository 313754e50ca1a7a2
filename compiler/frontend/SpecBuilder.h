// A checked file as MLIR: one `attn.spec` for each operator.
//
// This is the one place where the short form becomes its recurrence; everything below sees states and updates alone.
#ifndef LINTEL_FRONTEND_SPECBUILDER_H
#define LINTEL_FRONTEND_SPECBUILDER_H

#include "compiler/frontend/Ast.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace lintel::frontend {

/// Builds the module; `file` must have passed check(). Operations carry the places they come from. Null, after an MLIR
/// diagnostic, only if the result does not verify, which is a fault of the compiler.
mlir::OwningOpRef<mlir::ModuleOp> buildSpecs(const File &file, mlir::MLIRContext &context);

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_SPECBUILDER_H

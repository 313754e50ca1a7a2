//===- AttnDialect.h - the attn dialect's C++ classes ---------------------===//
#ifndef LINTEL_DIALECT_ATTNDIALECT_H
#define LINTEL_DIALECT_ATTNDIALECT_H

#include "dialect/DimExpr.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace lintel {
mlir::LogicalResult verifyInOrder(mlir::Operation *op);
/// Trait of ops that stand in a block with an order (not at a module's top level, whose ops may use each other in
/// circles).
template <class ConcreteType> class InOrder : public mlir::OpTrait::TraitBase<ConcreteType, InOrder> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyInOrder(op); }
};
} // namespace lintel

#include "dialect/AttnDialect.h.inc"
#include "dialect/AttnEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/AttnTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialect/AttnOps.h.inc"

#endif

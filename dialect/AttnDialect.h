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

#include "dialect/AttnDialect.h.inc"
#include "dialect/AttnEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/AttnTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialect/AttnOps.h.inc"

#endif

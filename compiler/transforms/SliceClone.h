//===- SliceClone.h - copy what a value needs into another region ---------===//
#ifndef LINTEL_COMPILER_TRANSFORMS_SLICECLONE_H
#define LINTEL_COMPILER_TRANSFORMS_SLICECLONE_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace lintel {

/// Clones the ops that `v` depends on at the builder's place, stopping at values that `mapping` knows; returns the copy
/// of `v`.
inline mlir::Value cloneSlice(mlir::Value v, mlir::IRMapping &mapping, mlir::OpBuilder &builder) {
  if (mlir::Value known = mapping.lookupOrNull(v)) return known;
  mlir::Operation *op = v.getDefiningOp();
  assert(op && "a block argument that nothing stands for");
  for (mlir::Value operand : op->getOperands()) cloneSlice(operand, mapping, builder);
  builder.clone(*op, mapping);
  return mapping.lookup(v);
}

} // namespace lintel
#endif

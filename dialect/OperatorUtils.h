//===- OperatorUtils.h - what the operator ops of all phases share --------===//
#ifndef LINTEL_DIALECT_OPERATORUTILS_H
#define LINTEL_DIALECT_OPERATORUTILS_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringSet.h"

namespace lintel {

mlir::LogicalResult verifyOperatorHeader(mlir::Operation *op, mlir::ArrayAttr inputs,
                                         llvm::ArrayRef<llvm::StringRef> states);
mlir::LogicalResult verifyBlockArguments(mlir::Operation *op, mlir::Region &region, unsigned expected, bool bound);
/// A region of a step holds ops on values alone; `attn.final` and `attn.attend` only where they are admitted.
mlir::LogicalResult verifyStepOps(mlir::Operation *op, mlir::Region &region, bool bound, bool final, bool attend);
/// A body that maps inputs and states to the output and the states.
mlir::LogicalResult verifyStepBody(mlir::Operation *op, mlir::Region &body, mlir::ArrayAttr inputs,
                                   mlir::ArrayAttr states, bool bound, bool attend = false);
void nameArguments(mlir::Block &block, mlir::ArrayAttr inputs, llvm::ArrayRef<llvm::StringRef> rest,
                   mlir::OpAsmSetValueNameFn set);
/// Names from an array of strings or of #attn.state.
llvm::SmallVector<llvm::StringRef> stateNames(mlir::ArrayAttr states);

} // namespace lintel
#endif

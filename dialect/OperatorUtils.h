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
/// Steps a chunk may have: blocks of pairs of steps of any admitted width stay countable in 64 bits.
constexpr int64_t maxChunk = 4096;
/// Elements of a value of one step. Nothing a kernel could hold is anywhere near; beyond it, sizes in bytes overflow.
constexpr int64_t maxStepElements = int64_t(1) << 31;
/// Elements of a kernel's stage, which has up to two axes of steps more.
constexpr int64_t maxStageElements = int64_t(1) << 56;

/// What of the keys a query sees, as attn.streamed and attn.pairs say it.
mlir::LogicalResult verifySeen(mlir::Operation *op, int64_t window, int64_t ahead, int64_t first);
mlir::LogicalResult verifyChunk(mlir::Operation *op, int64_t chunk);
/// All dimensions are integers, and there are at most `most` elements.
mlir::LogicalResult verifyBound(mlir::Operation *op, RealType type, int64_t most = maxStepElements);
/// Whether `values` of the block can become expressions, in which what is used twice is written twice. The second:
/// whether what the region yields can.
bool canBeWrittenOut(mlir::Block &block, mlir::ValueRange values);
mlir::LogicalResult verifyWrittenSize(mlir::Operation *op, mlir::Region &region);
/// Whether `v`, of a block whose first arguments are `inputs` inputs, needs no argument behind them but the one of
/// `state`.
bool dependsOnlyOn(mlir::Value v, unsigned inputs, unsigned state);
/// Whether all dimensions of a spec are bound, else an error: what passes ask for before they derive from it.
mlir::LogicalResult verifyBoundSpec(SpecOp spec);
/// Whether another operator may be called so, else an error at `from`, which it is derived from.
mlir::LogicalResult verifyFreshName(mlir::Operation *from, llvm::StringRef name);
/// A region of a step holds ops on values alone; `attn.final` and `attn.attend` only where they are admitted.
mlir::LogicalResult verifyStepOps(mlir::Operation *op, mlir::Region &region, bool bound, bool final, bool attend);
/// The names of an operator's outputs: "out", then those of its attribute `outputs`, where it has more.
llvm::SmallVector<llvm::StringRef> outputNames(mlir::Operation *op);
inline unsigned numOutputs(mlir::Operation *op) {
  auto names = op->getAttrOfType<mlir::ArrayAttr>("outputs");
  return names ? names.size() : 1;
}
/// The outputs that a region yields first must be scalars or vectors.
mlir::LogicalResult verifyOutputs(mlir::Operation *op, mlir::TypeRange types);
/// A body that maps inputs and states to the outputs and the states.
mlir::LogicalResult verifyStepBody(mlir::Operation *op, mlir::Region &body, mlir::ArrayAttr inputs,
                                   mlir::ArrayAttr states, bool bound, bool attend = false);
void nameArguments(mlir::Block &block, mlir::ArrayAttr inputs, llvm::ArrayRef<llvm::StringRef> rest,
                   mlir::OpAsmSetValueNameFn set);
/// Whether an op (a stage, a kernel, an operator) must be computed in f64: see attn-assign-precision.
inline bool isPrecise(mlir::Operation *op) {
  auto precision = op->getAttrOfType<mlir::StringAttr>("precision");
  return precision && precision.getValue() == "f64";
}
/// A zero of any shape.
inline bool isConstantZero(mlir::Value v) {
  if (auto b = v.getDefiningOp<BroadcastOp>()) return isConstantZero(b.getX());
  auto c = v.getDefiningOp<ConstantOp>();
  return c && c.getValueAttr().getValueAsDouble() == 0;
}

/// The tensors whose elements, all finite, make a `guard` idle: those that its second value reads and its condition
/// does not. Empty for other selects, and where a value is not read from tensors.
llvm::SmallVector<mlir::Value> guardedFactors(SelectOp select);
/// Of all guards of a stage, where looking at them costs little beside the stage: in front of it code may ask whether
/// they are finite.
llvm::SmallVector<mlir::Value> guardedFactors(StageOp stage);

/// The exponent of a state that holds nothing yet (LINTEL_EXPONENT_NONE of lintel/kernel.h).
constexpr double noExponent = -1e30;
/// Where a state with an exponent has no element as large as 2^-below, all are multiplied by 2^below. The larger first.
constexpr int settledBelow[] = {100, 40};

/// Names from an array of strings or of #attn.state.
llvm::SmallVector<llvm::StringRef> stateNames(mlir::ArrayAttr states);

} // namespace lintel
#endif

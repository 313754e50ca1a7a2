//===- Lowering.h - the parts of LowerFormToStages ------------------------===//
#ifndef LINTEL_COMPILER_TRANSFORMS_LOWERING_H
#define LINTEL_COMPILER_TRANSFORMS_LOWERING_H

#include "compiler/transforms/StageEmitter.h"

namespace lintel {

/// A kernel being built: the op, and its arguments by input and state.
struct KernelFrame {
  KernelOp kernel;
  llvm::SmallVector<mlir::Value> inputs, states;

  /// Makes the kernel behind `form`, with builder at the end of its body; `outputs` are of the outputs' types.
  static KernelFrame create(mlir::OpBuilder &builder, mlir::Operation *form, llvm::StringRef formName, int64_t chunk,
                            mlir::ArrayAttr inputs, mlir::Block &inputTypes, llvm::ArrayRef<llvm::StringRef> stateNames,
                            llvm::ArrayRef<RealType> stateTypes, mlir::ValueRange outputs,
                            llvm::ArrayRef<int64_t> scales = {});
  /// Binds the inputs of `block` to the rows of a chunk that starts at `t`.
  void bindInputs(StageEmitter &emitter, mlir::Block &block, mlir::Value t, int64_t rows,
                  StageEmitter::Row row = StageEmitter::I) const;
  /// Emits the values of a step that are the operator's outputs, for the rows from `t`.
  void emitOutputs(StageEmitter &emitter, mlir::ValueRange outputs, mlir::Value t, int64_t rows) const;
};

/// A scan at the builder's place; `body` gets the first step and the carried values and returns the next ones.
llvm::SmallVector<mlir::Value>
createScan(mlir::OpBuilder &builder, mlir::Location loc, ScanMode mode, int64_t chunk, int64_t from,
           mlir::ValueRange init,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

/// Where a stabiliser's exponent starts: at `initial`, the kernel's own, where the caller gave states, else at -1e30
/// (nothing yet).
mlir::Value exponentStart(StageEmitter &emitter, mlir::Value initial);
/// The states that the caller gets: all of the kernel's in their order. One with an exponent leaves as it is held where
/// the exponent is taken, else as state * 2^exponent.
llvm::SmallVector<mlir::Value> finalStates(StageEmitter &emitter, KernelOp kernel, mlir::ValueRange last);
/// States and exponents carried on, where a form says that states shrink (`settles`): the exponent is only a bound of
/// their size, and what is added later must not vanish beside one that is out of date. Elements below 2^-40 are brought
/// back by a power of two, and zeros have no exponent. Each is the same number as before. `matrices`: also where a
/// matrix has the exponent, which takes a second one for a while (a step has no memory for it: see startOfStep there).
void settleExponents(StageEmitter &emitter, KernelOp kernel, llvm::SmallVectorImpl<mlir::Value> &next, bool matrices);
/// A name for an exponent, unlike any of the inputs and of `states`.
std::string exponentName(mlir::ArrayAttr inputs, llvm::ArrayRef<llvm::StringRef> states);

KernelOp lowerStepwise(mlir::Operation *form);
KernelOp lowerChunkwise(ChunkwiseOp form);
KernelOp lowerParallel(ParallelOp form);
KernelOp lowerStreamed(StreamedOp form);

} // namespace lintel
#endif

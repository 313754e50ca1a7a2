//===- StageBuilder.h - a group of stages as one Halide pipeline ----------===//
//
// Stages become Funcs of the same names, their reductions accumulator Funcs in the tiles of the stage they belong to.
// Tensors that a reduction reads along the wrong axis are transposed once, in registers, before it. The result is
// imported as a func.func of the loops module.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_HALIDE_STAGEBUILDER_H
#define LINTEL_CODEGEN_HALIDE_STAGEBUILDER_H

#include "codegen/halide/StmtImport.h"
#include "codegen/schedule/StageSchedule.h"
#include "dialect/OperatorUtils.h"
#include "runtime/include/lintel/kernel.h"

namespace lintel {

/// How a tensor from outside the group lies in memory.
struct TensorLayout {
  lintel_dtype dtype = LINTEL_F32;
  bool openStrides = false; ///< strides of all axes but the innermost are arguments; else dense
  bool aligned = false;     ///< base aligned to 64 bytes
};

/// A result that others use: written to memory with this layout.
struct GroupOutput {
  StageOp stage;
  TensorLayout layout;
  bool inPlace = false; ///< overwrites a tensor that the stage reads
};

struct GroupRequest {
  std::string name;
  llvm::SmallVector<StageOp> stages; ///< in order
  llvm::SmallVector<GroupOutput> outputs;
  std::function<TensorLayout(mlir::Value)> layoutOf; ///< of captured tensors
  lintel_dtype compute = LINTEL_F32;                 ///< f32 or f64
  unsigned vectorBits = 256;
  std::string triple, features;          ///< LLVM's, to choose Halide's target
  llvm::SmallVector<mlir::Value> finite; ///< tensors without NaN and infinity: guards against them are left out
  /// Where not None, sums of products may round their factors to bf16, which are then multiplied so, in pairs.
  PairInstructions pairs = PairInstructions::None;
  std::string autoscheduler; ///< of Halide's, in place of the stages' schedules; empty: none
};

/// Whether a guard (attn.select) chooses nothing, as all that it guards against is known to be finite.
bool isIdle(SelectOp select, llvm::ArrayRef<mlir::Value> finite);

/// The imported function and the order of its arguments: tensors, indices, outputs, strides.
struct BuiltGroup {
  mlir::func::FuncOp fn;
  llvm::SmallVector<mlir::Value> tensors;
  llvm::SmallVector<mlir::Value>
      indices;                          ///< index values, and results of attn.steps, attn.start, attn.given, attn.taken
  llvm::SmallVector<StrideArg> strides; ///< buffer numbers count tensors, then indices, then outputs
  std::string text;                     ///< the algorithm and schedule
};

/// Values of enclosing blocks that the stages read, in order of first use: tensors and, apart, indices and run-time
/// scalars.
void collectCaptures(llvm::ArrayRef<StageOp> stages, llvm::SmallVectorImpl<mlir::Value> &tensors,
                     llvm::SmallVectorImpl<mlir::Value> &indices);

mlir::FailureOr<BuiltGroup> buildGroup(mlir::ModuleOp loops, const GroupRequest &request);

} // namespace lintel
#endif

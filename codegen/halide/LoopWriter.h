//===- LoopWriter.h - the loops around the stages -------------------------===//
// Private to codegen/halide: turns the body of an attn.kernel into one func.func of scf loops, copies and calls of
// imported groups.
#ifndef LINTEL_CODEGEN_HALIDE_LOOPWRITER_H
#define LINTEL_CODEGEN_HALIDE_LOOPWRITER_H

#include "codegen/halide/KernelToLoops.h"
#include "codegen/halide/MemoryPlan.h"
#include "dialect/OperatorUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace lintel {

class LoopWriter {
public:
  LoopWriter(const LoopsRequest &request, LoopsResult &result);
  mlir::LogicalResult run();

private:
  /// A tensor in memory: 1-D memref, elements row-major with `strides` for all axes but the innermost (empty: dense).
  struct Buffer {
    mlir::Value base;
    TensorLayout layout;
    llvm::SmallVector<mlir::Value> strides;
    bool ours = false; ///< in scratch, of the compute type, dense
  };
  struct Input {
    mlir::Value base, step, row;
  };
  struct State {
    mlir::Value in, out, hasIn, hasOut;
    lintel_dtype dtype;
  };

  void createFunction();
  mlir::LogicalResult writeBlock(mlir::Block &block,
                                 llvm::function_ref<mlir::LogicalResult(llvm::ArrayRef<mlir::Value>)> atEnd,
                                 llvm::ArrayRef<Buffer> carried);
  mlir::LogicalResult writeLoop(mlir::Operation *loop);
  mlir::LogicalResult runGroup(llvm::ArrayRef<StageOp> stages);
  mlir::LogicalResult callGroup(const struct GroupRequest &group, llvm::ArrayRef<Buffer> results);
  /// `write`, and where the stages' guards can be idle once more without them, for tensors that are finite.
  mlir::LogicalResult writeVersions(llvm::ArrayRef<StageOp> stages,
                                    llvm::function_ref<mlir::LogicalResult(llvm::ArrayRef<mlir::Value> finite)> write);
  /// Whether no element is NaN or infinite.
  mlir::Value isFinite(const Buffer &buffer, int64_t elements);
  /// WalkWriter.cpp: stages marked `walk`.
  mlir::LogicalResult runWalk(llvm::ArrayRef<StageOp> stages);
  mlir::LogicalResult writeRows(RowsOp rows);
  void prepareEmit(EmitOp emit);
  mlir::LogicalResult finishEmit(EmitOp emit);
  mlir::FailureOr<Buffer> bufferOf(mlir::Value v);
  mlir::FailureOr<Buffer> allocate(llvm::ArrayRef<int64_t> sizes, lintel_dtype dtype);
  /// Of the element at `at`, from the buffer's base: strides where it has some, else dense.
  mlir::Value offsetOf(const Buffer &buffer, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<mlir::Value> at);
  void copy(const Buffer &to, const Buffer &from, llvm::ArrayRef<int64_t> sizes);
  void copyRows(mlir::Value to, mlir::Value toStride, mlir::Value from, mlir::Value fromStride, mlir::Value count,
                mlir::Value clamp, llvm::ArrayRef<int64_t> rowSizes, mlir::Value fromRow);
  void packRows(const Buffer &to, mlir::Value from, const Input &input, mlir::Value count, mlir::Value clamp,
                llvm::ArrayRef<int64_t> rowSizes);
  mlir::Value slice(mlir::Value base, mlir::Value offset);
  mlir::Value index(int64_t x) { return mlir::arith::ConstantIndexOp::create(b, loc, x); }
  mlir::Type elementType(lintel_dtype dtype);
  mlir::MemRefType memrefType(lintel_dtype dtype);
  void prefetchRows(mlir::Value base, mlir::Value step, int64_t rows, int64_t elements, bool write, int64_t ahead = 1);
  bool isPartial(mlir::Value t);
  /// States are updated in the caller's memory, where that is what they are computed in (docs/abi.md).
  bool isInPlaceState(size_t state) { return request.state == compute && !isExponent(state); }
  bool isExponent(size_t state) { return llvm::is_contained(kernel.getScales(), static_cast<int64_t>(state)); }
  mlir::LogicalResult fail(const llvm::Twine &message) { return emitError(loc, message); }

  const LoopsRequest &request;
  LoopsResult &result;
  KernelOp kernel;
  mlir::Location loc;
  mlir::OpBuilder b;
  lintel_dtype compute; ///< what the kernel computes in
  mlir::func::FuncOp body;
  llvm::SmallVector<Input> inputs;
  llvm::SmallVector<State> states;
  struct Output {
    mlir::Value base, step;
  };
  llvm::SmallVector<Output> outputs;
  mlir::Value steps, position, scratch, given;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, mlir::Value> indices;
  llvm::DenseMap<mlir::Operation *, Buffer> emitTargets;     ///< stage -> where its rows go
  llvm::DenseMap<mlir::Operation *, mlir::Value> overwrites; ///< stage -> whose memory it takes
  ScratchPlan plan;
  /// Where the region that groups share begins; known at the end.
  llvm::SmallVector<mlir::arith::ConstantIndexOp> sharedBegins;
  int64_t sharedBytes = 0;
  unsigned groups = 0;
};

} // namespace lintel
#endif

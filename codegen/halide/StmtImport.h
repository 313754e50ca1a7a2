#ifndef LINTEL_CODEGEN_HALIDE_STMTIMPORT_H
#define LINTEL_CODEGEN_HALIDE_STMTIMPORT_H

#include "codegen/cpu/CpuTarget.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>

namespace Halide::Internal {
struct LoweredFunc;
} // namespace Halide::Internal

namespace lintel {

/// From Halide's lowered statement to MLIR (func, scf, arith, math, vector, memref).
///
/// Lower the pipeline with `Pipeline::compile_to_module` for a target with the features `no_asserts`,
/// `no_bounds_query`, `no_runtime`, and give `module.functions()[0]`. Every dimension of every buffer must have its
/// bounds set (`dim(d).set_bounds`), so that nothing is left to ask the buffers for at run time but strides.
///
/// What a node means here:
/// * Scalar offsets, loop bounds and int32 comparisons are emitted in `index` with nsw, so offsets are 64-bit; data of
///   type int32 stay i32. Vectors of offsets are i32 unless a stride argument enters them; then they are `index` too.
/// * `min(a, b)` of floats is `a < b ? a : b`, `max(a, b)` is `a > b ? a : b`, as in Halide's own back end: where an
///   operand is NaN the result is the second one. In a VectorReduce the operands' order is not defined, so a NaN may be
///   lost there.
/// * integer division and modulus are Euclidean, and zero where the divisor is zero.
/// * exp, log, tanh and the like stay `math` operations, on vectors too; a later pass expands them. Pure extern calls
///   named `lintel_<fn>_<f16|f32|f64>` become `math.<fn>` (log1p, expm1, erf, ...).
/// * A float VectorReduce is a balanced tree of fixed shape: the same bits on every target.
/// * Constant allocations become `memref.alloca` of 64-byte alignment at the function's entry, so the caller must hoist
///   them out of its own loops after inlining. Others are refused: the usual cause is a select that made bounds
///   inference shrink a producer; `bound_extent` on it is the way out.
/// * L strided stores side by side become one in-register transpose and dense stores, loads likewise (see the options).
///   Both move accesses only where buffers of different names do not overlap, or overlap as an in-place update does
///   (each element read before it is written).
///
/// Numbers. The import adds no rewriting of its own: IEEE operations, one rounding each, except that `fastMath`
/// (default: contract) lets mul and add fuse. inf and NaN behave as IEEE says. But Halide's simplifier runs before and
/// takes floats for reals: x * 0 and 0 / x become 0, x - x becomes 0, x == x becomes true, x / c becomes x * (1/c),
/// sums are reassociated with constants, comparisons are turned around (!(a < b) into b <= a). Where inf or NaN
/// matters, lower with `Target::StrictFloat` (or wrap the expression in `strict_float`): arithmetic, min/max and
/// comparisons then reach this import as intrinsics that the simplifier does not look into, and are imported as the
/// very same operations, contract included, so a strict reduction still compiles to fused multiply-adds. Casts and
/// selects are not protected, but their simplifications are exact. The price: Halide cannot prove strict updates
/// associative, so `atomic().vectorize` of a float reduction and `rfactor` are not available under StrictFloat;
/// vectorize a pure dimension instead.
struct ImportOptions {
  /// Flags on every float operation. nnan or ninf would break -inf gates and 0/0.
  mlir::arith::FastMathFlags fastMath = mlir::arith::FastMathFlags::contract;
  /// Turn groups of strided stores (loads) whose bases follow each other into in-register transposes.
  bool transposeStores = true;
  bool transposeLoads = true;
  /// How the calls lintel_pack_bf16 and lintel_dot_bf16 are written (StmtImportPairs.cpp).
  PairInstructions pairs = PairInstructions::None;
  /// The most stack that the function's allocations may take together, in bytes.
  int64_t maxScratchBytes = int64_t(4) << 20;
};

/// A stride that the pipeline left open: of dimension `dim` of the buffer that is argument number `buffer`.
struct StrideArg {
  unsigned buffer;
  unsigned dim;
};

struct ImportedStage {
  mlir::func::FuncOp fn;
  /// One for each of the function's last arguments, in order.
  llvm::SmallVector<StrideArg> strides;
};

/// Makes a private func.func named `name` at the end of `module`. Arguments: one for each of `fn`'s, in order (a buffer
/// is `memref<?xT, strided<[1], offset: ?>>` with its base at the element of least coordinates; an int32 parameter is
/// `index`, of a value that fits in 32 bits; other scalars have their own type), then one `index` for each stride (in
/// elements) that the pipeline reads and `set_stride` did not fix, in order of buffers, then dimensions. Buffers do not
/// outlive the call and are not freed by it.
///
/// Fails with a diagnostic at `loc` (Halide's node or Func is named) and leaves no function behind. Loads the dialects
/// it needs.
mlir::FailureOr<ImportedStage> importStmt(mlir::ModuleOp module, const Halide::Internal::LoweredFunc &fn,
                                          llvm::StringRef name, const ImportOptions &options, mlir::Location loc);

} // namespace lintel

#endif

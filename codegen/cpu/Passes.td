// The passes between loops and the LLVM dialect, in the order that buildCpuPipeline runs them. One pass is one file of the
// same name.
#ifndef LINTEL_CODEGEN_CPU_PASSES_TD
#define LINTEL_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckEntry : Pass<"lintel-check-entry", "::mlir::ModuleOp"> {
  let summary = "verify the contract of kernel entries";
  let description = [{
    Before: func.func ops, some with `lintel.entry`. After: each of these has the arguments that codegen/cpu/CpuLowering.h lists, and is public, so that
    the inliner does not drop it as dead. Anything else is an error that names the argument, what was expected and what was found.
  }];
}

def HoistAllocas : Pass<"lintel-hoist-allocas"> {
  let summary = "move stack allocations of fixed size to the function's entry";
  let description = [{
    Before: any functions, usually just inlined. After: every memref.alloca stands in the entry block; left in a loop it would grow the stack in each
    iteration. One of dynamic size inside a loop or branch, and any memref.alloc, is an error: kernels have a fixed scratch.
  }];
}

def SpreadPrefetch : Pass<"lintel-spread-prefetch"> {
  let summary = "ask for the next chunk's rows between parts of this chunk's work";
  let description = [{
    Before: loops over rows, marked `lintel.prefetch`, that ask memory for the rows of the next chunk, in front of the loops that compute this one. After: in
    each iteration of the computing loops stand the prefetches of some rows, in proportion to the loop's work. A processor has a few dozen lines
    under way, and what is asked for at once is waited for. Without such loops behind them the marked loops stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def RelaxFloat : Pass<"lintel-relax-float"> {
  let summary = "fuse products into sums, and leave no other freedom to the float ops";
  let description = [{
    Before: arith, math and vector ops with any flags. After: a product of f32 or f64 whose uses are all terms of sums is one `math.fma` with each, and no
    flag is left (vector reductions keep `reassoc`): infinities and NaN stay what the spec says, and which products fuse follows from the expression
    alone, whatever is unrolled or merged later, so that the same expression gives the same bits in every kernel. `%m = arith.mulf %a, %b`,
    `arith.addf %m, %c` becomes `math.fma %a, %b, %c`, and `arith.subf %c, %m` one of `-%a`.
  }];
  let dependentDialects = ["::mlir::math::MathDialect"];
}

def ExpandMath : Pass<"lintel-expand-math", "::mlir::ModuleOp"> {
  let summary = "replace transcendental math ops by code that calls no libm";
  let description = [{
    Replaces math.exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tanh, erf, powf and rsqrt on f32 and f64 scalars and fixed-length vectors of any rank; on
    f16 and bf16 every math op is done in f32 and rounded once.

    Before: any module. After: the only math ops left are those that LLVM makes instructions of (fma, sqrt, absf, copysign, floor, ceil, trunc, roundeven,
    integer ones). Any other math op is an error that names it.

    Accuracy over the whole range, denormals included, and special values: docs/numerics.md. Assumes the default floating-point environment. The new ops carry no
    fast-math flags.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ExpandArith : Pass<"lintel-expand-arith", "::mlir::ModuleOp"> {
  let summary = "do half-precision arithmetic in f32 and expand what has no instruction";
  let description = [{
    Before: arith and vector ops on any float type. After: bf16 and f16 arithmetic is done in f32; conversions to and from bf16, and f64 to half, are integer or
    f32 code (nearest even, one rounding, NaN kept), so that no call to the compiler's runtime is left. Ceiling and floor divisions are expanded too.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def EmulateInstructions : Pass<"lintel-emulate-instructions", "::mlir::ModuleOp"> {
  let summary = "write what the plainest x86-64 has no instruction for in operations that it has";
  let description = [{
    For processors without fused multiply-add, roundings to integers (SSE4.1) and conversions of f16.

    Before: math.fma, floor, ceil, trunc and roundeven, and conversions between f16 and f32. After: none of these on floats; the operations in their place give the same
    bits, so that all functions of lintel-expand-math do. A fused multiply-add of f32 is one of f64, rounded to odd and then to f32; of f64, an exact
    product by halves and a sum rounded to odd (right to the last bit but where a factor is beyond 2^995). On the other processors this pass is not run.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def BuildEntry : Pass<"lintel-build-entry", "::mlir::ModuleOp"> {
  let summary = "build the exported C functions around kernel bodies";
  let description = [{
    Before: the LLVM dialect, bodies with `lintel.entry`. After: behind each body stands `void symbol(ptr)` that reads a lintel_item (lintel/kernel.h) and
    calls it; the body's arguments carry the alias facts; every other function is internal, but for those with `lintel.export`. An op of another dialect that is
    still there is an error.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif

// Kernels call no libm: what math.* op a kernel holds becomes arith, vector and bit operations here.
#ifndef LINTEL_CODEGEN_CPU_EXPANDMATH_H
#define LINTEL_CODEGEN_CPU_EXPANDMATH_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace lintel {

/// `--lintel-expand-math`, on a module. Replaces math.{exp,exp2,expm1,log,log2,log10,log1p,sin,cos,tanh,erf,powf,rsqrt}
/// on f32 and f64 scalars and fixed-length vectors of any rank; on f16 and bf16 every math op is done in f32 and
/// rounded once.
///
/// Before: any module. After: the only math ops left are those that LLVM makes instructions of (fma, sqrt, absf,
/// copysign, floor, ceil, trunc, roundeven, integer ones). Any other math op is an error that names it.
///
/// Accuracy over the whole range, denormal arguments and results included, with infinities, NaN and signed zeros as in
/// C's Annex F: docs/numerics.md. Assumes the default floating-point environment and a processor with fused
/// multiply-add.
std::unique_ptr<mlir::Pass> createExpandMathPass();

/// `--lintel-expand-arith`, on a module. bf16 and f16 arithmetic is done in f32; conversions to and from bf16, and f64
/// to half, become integer or f32 code (nearest even, one rounding, NaN kept), so that no compiler-rt call is left.
/// Also expands the ceiling and floor divisions, which have no LLVM instruction.
std::unique_ptr<mlir::Pass> createExpandArithPass();

} // namespace lintel

#endif

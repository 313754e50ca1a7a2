// The passes of this folder (create* functions; see Passes.td).
#ifndef LINTEL_CODEGEN_CPU_PASSES_H
#define LINTEL_CODEGEN_CPU_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace lintel {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/cpu/Passes.h.inc"
} // namespace lintel

#endif

// From loops (func, scf, arith, math, vector, memref, affine, index) to machine code.
//
// The contract of a kernel's entry. A func.func with the attribute `lintel.entry = "symbol"` becomes an exported
// function `void symbol(const lintel_item *)` (lintel/kernel.h) that reads the item's fields and calls the func.func
// with them:
//
//   func.func private @body(<arguments>) attributes {lintel.entry = "symbol", lintel.inputs = 3 : i64,
//                                                    lintel.states = 1 : i64, lintel.outputs = 1 : i64}
//
// with no results, and the arguments in this order:
//
//   for each of lintel.inputs:   memref<..xT>   the input's base (any rank-1 memref of unit stride, identity or
//                                               strided<[1], offset: ?>, static or dynamic size)
//                                index          elements from one step to the next
//                                index          elements from one row to the next
//   for each of lintel.states:   memref<..xT>   state_in; must not be read unless has_in
//                                memref<..xT>   state_out; must not be written unless has_out; may be state_in. With
//                                               a size in lintel.in_place it is always memory to work in: the
//                                               caller's, or scratch from which the entry copies at the end
//                                i1             has_in
//                                i1             has_out
//                                (the last lintel.exponents of the states are exponents: exponent_in, exponent_out)
//   for each of lintel.outputs (1 where it is not given):
//                                memref<..xT>   out
//                                index          out_step
//   index          steps
//   index          position
//   memref<..xi8>  scratch, aligned to 64
//
// A dynamic size tells nothing (do not use memref.dim): it is only large. Facts given to LLVM: inputs, outputs and
// scratch alias nothing that is written through another argument; inputs are not written; scratch is aligned to 64.
// Nothing is said of the states, whose in and out may be the same memory. These facts stand on the body's arguments,
// and the body stays a function of its own behind the entry: inlined, they would turn into alias scopes, which later
// passes drop more readily.
//
// All other functions become internal, but for those with the attribute `lintel.export`, which keep their name and
// MLIR's calling convention (for tests). What a kernel may call: nothing but memcpy, memmove, memset.
#ifndef LINTEL_CODEGEN_CPU_CPULOWERING_H
#define LINTEL_CODEGEN_CPU_CPULOWERING_H

#include "codegen/cpu/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace lintel {

/// Registers what buildCpuPipeline and translateToLLVM need: dialects, the inliner's interfaces, translations. Call it
/// on the registry (or context) before the module is built.
void registerCpuDialects(mlir::DialectRegistry &registry);

/// Loops to the LLVM dialect; an op that cannot be lowered, an allocation on the heap, or a bad entry is a diagnostic.
void buildCpuPipeline(mlir::OpPassManager &passes, const CpuTarget &target);
/// Runs it over a module.
llvm::LogicalResult runCpuPipeline(mlir::ModuleOp module, const CpuTarget &target);

/// The module (in the LLVM dialect) as LLVM IR for the target, not optimised. Null on failure, with a diagnostic.
llvm::Expected<std::unique_ptr<llvm::Module>> translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                              const CpuTarget &target);

/// LLVM's O3 for the target; loops stay as the schedule made them (no unrolling or vectorisation).
llvm::Error optimise(llvm::Module &module, const CpuTarget &target);

enum class CpuOutput { Object, Assembly, LLVMText };

/// Emits the module's code. For an object, a call to anything but memcpy, memmove or memset is an error that names it
/// (except `allowedSymbols`, for a descriptor's reference to entries in other objects).
llvm::Error emitCode(llvm::Module &module, const CpuTarget &target, CpuOutput output,
                     llvm::SmallVectorImpl<char> &result, llvm::ArrayRef<std::string> allowedSymbols = {});

/// All of the above on a loops module, which is lowered in place: the pipeline, translation, O3, code.
llvm::Error compileForCpu(mlir::ModuleOp module, const CpuTarget &target, CpuOutput output,
                          llvm::SmallVectorImpl<char> &result);

/// Registers this folder's passes for lintel-opt, and the pipeline `--lintel-cpu`.
void registerCpuPasses();

} // namespace lintel

#endif

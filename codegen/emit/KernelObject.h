// All variants of a kernel and its descriptor in one object.
#ifndef LINTEL_CODEGEN_EMIT_KERNELOBJECT_H
#define LINTEL_CODEGEN_EMIT_KERNELOBJECT_H

#include "codegen/cpu/CpuLowering.h"
#include "codegen/emit/KernelDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>

namespace lintel {

/// The loops module of one or more variants (entries as codegen/cpu/CpuLowering.h says) and what it is compiled for.
/// Several variants for different targets of one architecture go into one object.
struct VariantCode {
  mlir::ModuleOp loops; // lowered in place
  CpuTarget target;
};

/// Lowers, optimises and merges the modules, adds the descriptor and emits (the bytes of an object, or text). Every
/// variant's symbol in the description must be an entry of one of the modules.
llvm::Expected<std::string> buildKernelObject(llvm::ArrayRef<VariantCode> code, const KernelDescription &description,
                                              CpuOutput output = CpuOutput::Object);

} // namespace lintel

#endif

// The lintel_kernel constant of an object.
#ifndef LINTEL_CODEGEN_EMIT_KERNELDESCRIPTOR_H
#define LINTEL_CODEGEN_EMIT_KERNELDESCRIPTOR_H

#include "codegen/emit/KernelDescription.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace lintel {

/// Adds the constant `description.symbol` with all it points to (private). Entries that the module does not define are
/// declared, to be found in another object of the same artifact. The module's target must be 64-bit little-endian.
/// Errors: a name that holds a zero byte, more than two dimensions, no variant, a symbol defined as something else.
llvm::Error addKernelDescriptor(llvm::Module &module, const KernelDescription &description);

} // namespace lintel

#endif

// Compiled kernels in this process.
#ifndef LINTEL_CODEGEN_CPU_JIT_H
#define LINTEL_CODEGEN_CPU_JIT_H

#include "runtime/include/lintel/kernel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
}

namespace lintel {

/// Owns the code and data of one loaded kernel; everything its descriptor points to lives as long as this object.
/// Several may exist at once, also with equal symbols.
class JitKernel {
public:
  /// Links the objects (the bytes of relocatable files for this machine; copied) with each other and looks up `symbol`,
  /// a lintel_kernel. Errors: an object that is not for this machine, a missing symbol, another ABI version.
  static llvm::Expected<std::unique_ptr<JitKernel>> load(llvm::ArrayRef<llvm::StringRef> objects,
                                                         llvm::StringRef symbol);
  ~JitKernel();

  const lintel_kernel *kernel() const { return descriptor; }
  /// The address of another exported symbol, for tests and tools.
  llvm::Expected<void *> address(llvm::StringRef symbol) const;

  /// As load, without a descriptor: kernel() is null.
  static llvm::Expected<std::unique_ptr<JitKernel>> loadCode(llvm::ArrayRef<llvm::StringRef> objects);

private:
  JitKernel(std::unique_ptr<llvm::orc::LLJIT> jit, std::unique_ptr<std::string> reports);
  std::unique_ptr<std::string> reports; // outlives the session, which writes to it
  std::unique_ptr<llvm::orc::LLJIT> jit;
  const lintel_kernel *descriptor = nullptr;
};

} // namespace lintel

#endif

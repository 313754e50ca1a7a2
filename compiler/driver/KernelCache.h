// Compiled operators kept in a folder, so that one is compiled once and loaded after that.
//
// An entry's name is a hash of all that the code depends on: the operator's canonical text, every option, the targets
// as they are resolved on this machine, and the build of each library in the process (GNU build identifiers), so that
// another compiler never finds it. An entry carries a checksum; one that is damaged is as good as none, and is written
// anew. Entries are renamed into place: processes may share a folder. It is kept below 1 GiB, the oldest go first.
#ifndef LINTEL_COMPILER_DRIVER_KERNELCACHE_H
#define LINTEL_COMPILER_DRIVER_KERNELCACHE_H

#include "codegen/cpu/CpuTarget.h"
#include "compiler/driver/Compilation.h"

namespace lintel {

class KernelCache {
public:
  /// Of the folder, which is made when the first entry is written; an empty name is a cache that holds nothing.
  explicit KernelCache(std::string folder) : folder(std::move(folder)) {}

  /// Nothing if there is no folder, or if the process has a library without a build identifier.
  std::optional<std::string> key(const OperatorInfo &op, const CompileOptions &options,
                                 llvm::ArrayRef<CpuTarget> targets) const;
  /// Nothing if it is not there or not whole.
  std::optional<CompiledOperator> find(llvm::StringRef key) const;
  /// A folder that cannot be written is no error: the next process compiles again.
  void insert(llvm::StringRef key, const CompiledOperator &compiled) const;

private:
  std::string path(llvm::StringRef key) const;
  std::string folder;
};

} // namespace lintel

#endif

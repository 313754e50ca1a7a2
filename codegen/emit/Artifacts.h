// What `lintel compile` leaves in a folder: header, object, static and shared library, manifest.
#ifndef LINTEL_CODEGEN_EMIT_ARTIFACTS_H
#define LINTEL_CODEGEN_EMIT_ARTIFACTS_H

#include "codegen/emit/KernelDescription.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace lintel {

struct ArtifactRequest {
  KernelDescription kernel;
  std::string object;    // bytes of the relocatable object that defines kernel.symbol (buildKernelObject)
  std::string triple;    // LLVM's, of the object
  std::string directory; // made if it does not exist
  std::string name;      // of the files: name.h, name.o, libname.a, libname.so, name.json; a plain file name
  bool header = true, objectFile = true, staticLibrary = true, sharedLibrary = true, manifest = true;
};

/// Writes what is asked for, of one kernel or several: all or nothing. Each file is written beside its place and all
/// are renamed at the end; if anything fails, no new file or folder is left, and what was there before is as it was.
/// Errors: a folder that cannot be written, no linker for the shared library, the linker's own message.
llvm::Error emitArtifacts(llvm::ArrayRef<ArtifactRequest> requests);

/// The text of the C header (clean in C99 and C++ under -Wall -Wextra -Werror): documents every array's shape and
/// declares `extern const lintel_kernel <symbol>;`, `<symbol>_dim_<name>` for each dimension, and the positions of
/// inputs and states as `<symbol>_input_<name>`, `<symbol>_state_<name>`.
std::string headerText(const KernelDescription &kernel);

/// The manifest: JSON with operator, symbol, dimensions, dtype, arrays, variants (form, chunk, target, cpu, features,
/// scratch_bytes, symbol, schedule), spec hash, files and ABI version.
std::string manifestText(const ArtifactRequest &request);

/// Makes a shared library of an object by the first of ld.lld, ld and cc on PATH (for another architecture than this
/// machine's by ld.lld alone). `soname`: what the loader calls it.
llvm::Error linkSharedLibrary(llvm::StringRef object, llvm::StringRef output, llvm::StringRef soname,
                              llvm::StringRef triple);

} // namespace lintel

#endif

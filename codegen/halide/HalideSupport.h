#ifndef LINTEL_CODEGEN_HALIDE_HALIDESUPPORT_H
#define LINTEL_CODEGEN_HALIDE_HALIDESUPPORT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace lintel {

/// The border to Halide. Runs `body`, in which Halide may throw, and returns nothing if all went well, otherwise the
/// message. Halide's warnings count as errors: without its run-time asserts they are often the only sign of a wrong
/// result (a violated bound(), a schedule that was dropped). Errors come first, warnings follow, one a line.
///
/// The body runs on the calling thread; guards nest, and several threads may be inside guards of their own. The first
/// use installs a process-wide Halide error reporter, which outside of guards prints warnings to stderr and throws
/// errors as Halide does by itself.
std::optional<std::string> guardHalide(llvm::function_ref<void()> body);

/// Within a guard: runs `body`, whose warnings do not count, and returns them. What it throws goes on to the guard.
std::string withoutWarnings(llvm::function_ref<void()> body);

} // namespace lintel

#endif

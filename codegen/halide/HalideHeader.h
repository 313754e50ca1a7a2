#ifndef LINTEL_CODEGEN_HALIDE_HALIDEHEADER_H
#define LINTEL_CODEGEN_HALIDE_HALIDEHEADER_H

// The one file that includes Halide.h. Halide defines short macros that clash with LLVM's and MLIR's names (`debug`,
// `user_assert`, ...), so they go again right here; a file that needs both includes this one before MLIR's headers.
// What includes this file is compiled with -fexceptions, because Halide reports errors by throwing.
#include "Halide.h"

#undef debug
#undef debug_is_active
#undef user_warning
#undef user_error
#undef user_assert
#undef internal_error
#undef internal_assert
#undef halide_runtime_error

#endif

// libFuzzer target: any text through the whole frontend, down to attn.spec.
#include "ParserProperties.h"
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A fresh context now and then, for it keeps every name it has seen.
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned runs = 0;
  if (runs++ % 10000 == 0) context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  std::string violated =
      lintel::frontend::violatedProperty({reinterpret_cast<const char *>(data), size}, context.get());
  if (violated.empty()) return 0;
  std::fprintf(stderr, "%s\n", violated.c_str());
  std::abort();
}

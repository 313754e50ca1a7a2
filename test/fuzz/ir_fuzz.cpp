// Any text is either IR of the attn dialect that prints and parses back to itself, or refused with a reason.
#include "dialect/AttnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <cstdlib>

using namespace mlir;

namespace {

std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registry.insert<lintel::AttnDialect, arith::ArithDialect>();
    auto *made = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    return made;
  }();
  bool reported = false;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    reported |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  // MLIR's lexer wants the text to end in a zero byte, and stops at one inside.
  std::string text(reinterpret_cast<const char *>(data), size);
  auto module = parseSourceString<ModuleOp>(text, context);
  if (!module) {
    if (!reported) std::abort();
    return 0;
  }
  std::string once = printed(*module);
  auto again = parseSourceString<ModuleOp>(once, context);
  if (!again || printed(*again) != once) std::abort();
  return 0;
}

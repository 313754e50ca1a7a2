// What must hold for any text at all; used by the libFuzzer target and by the seeded test.
#ifndef LINTEL_TEST_FUZZ_PARSERPROPERTIES_H
#define LINTEL_TEST_FUZZ_PARSERPROPERTIES_H

#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/SpecBuilder.h"
#include "mlir/IR/MLIRContext.h"
#include <string>

namespace lintel::frontend {

/// Parses, checks, prints and builds `text`. An empty string, or which property does not hold. `context` may be null:
/// then nothing is built.
inline std::string violatedProperty(llvm::StringRef text, mlir::MLIRContext *context) {
  std::unique_ptr<File> file = parse(text, "fuzz.attn");
  bool parsed = !file->diagnostics.hasErrors();
  std::string canonical = parsed ? print(*file) : "";
  bool valid = check(*file);
  std::string messages = file->diagnostics.str();
  if (!valid && messages.empty()) return "an invalid file has no message";
  if (valid && !parsed) return "a file with syntax errors is valid";
  if (parsed) {
    std::unique_ptr<File> again = parse(canonical, "canonical.attn");
    if (again->diagnostics.hasErrors())
      return "the canonical text does not parse: " + again->diagnostics.str() + canonical;
    std::string twice = print(*again);
    if (twice != canonical) return "the canonical text is not stable:\n" + canonical + twice;
    if (check(*again) != valid) return "the canonical text is judged otherwise:\n" + canonical;
  }
  if (valid && context) {
    mlir::OwningOpRef<mlir::ModuleOp> module = buildSpecs(*file, *context);
    if (!module) return "the specs do not verify:\n" + canonical;
  }
  return "";
}

} // namespace lintel::frontend

#endif // LINTEL_TEST_FUZZ_PARSERPROPERTIES_H

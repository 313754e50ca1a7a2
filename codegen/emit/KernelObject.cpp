#include "codegen/emit/KernelObject.h"
#include "codegen/emit/KernelDescriptor.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace lintel;

Expected<std::string> lintel::buildKernelObject(ArrayRef<VariantCode> code, const KernelDescription &description,
                                                CpuOutput output) {
  if (code.empty()) return createStringError("kernel '%s' has no code", description.name.c_str());
  LLVMContext context;
  std::unique_ptr<Module> merged;
  for (VariantCode variant : code) { // copies: an op is a handle, and its methods are not const
    if (Triple(variant.target.triple).getArch() != Triple(code.front().target.triple).getArch())
      return createStringError("expected variants for one architecture in an object, found %s and %s",
                               code.front().target.name.c_str(), variant.target.name.c_str());
    if (failed(runCpuPipeline(variant.loops, variant.target)))
      return createStringError("lowering to the LLVM dialect failed");
    auto module = translateToLLVM(variant.loops, context, variant.target);
    if (!module) return module.takeError();
    if (Error error = optimise(**module, variant.target)) return std::move(error);
    if (!merged) merged = std::move(*module);
    else if (Linker::linkModules(*merged, std::move(*module)))
      return createStringError("variants of kernel '%s' define the same symbol", description.name.c_str());
  }
  for (const VariantDescription &variant : description.variants)
    for (const std::string &symbol : {variant.symbol, variant.parts.symbol}) {
      if (symbol.empty()) continue; // no parts
      Function *entry = merged->getFunction(symbol);
      if (!entry || entry->isDeclaration())
        return createStringError("no module defines the entry '%s'", symbol.c_str());
      // Callers go through the descriptor, and a hidden symbol needs no relocation by name in a shared library.
      entry->setVisibility(GlobalValue::HiddenVisibility);
    }
  if (Error error = addKernelDescriptor(*merged, description)) return std::move(error);

  // Each function carries its own processor; the machine around them is the plainest of the architecture.
  CpuTarget plain = code.front().target;
  plain.cpu = Triple(plain.triple).isX86() ? "x86-64" : "generic";
  plain.features.clear();
  SmallVector<char> bytes;
  if (Error error = emitCode(*merged, plain, output, bytes)) return std::move(error);
  return std::string(bytes.begin(), bytes.end());
}

#include "codegen/cpu/Jit.h"
#include "codegen/cpu/CpuTarget.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include <cstring>

using namespace llvm;
using namespace lintel;

JitKernel::JitKernel(std::unique_ptr<orc::LLJIT> jit, std::unique_ptr<std::string> reports)
    : reports(std::move(reports)), jit(std::move(jit)) {}
JitKernel::~JitKernel() = default;

Expected<std::unique_ptr<JitKernel>> JitKernel::loadCode(ArrayRef<StringRef> objects) {
  auto native = resolveTarget("native"); // also registers LLVM's targets, which LLJIT needs
  if (!native) return native.takeError();
  auto machine = createTargetMachine(*native);
  if (!machine) return machine.takeError();
  orc::JITTargetMachineBuilder builder{Triple(native->triple)};
  builder.setRelocationModel(Reloc::PIC_);
  auto jit = orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create();
  if (!jit) return jit.takeError();

  // The session's report names what is missing, the error of a lookup only what was asked for.
  auto reports = std::make_unique<std::string>();
  (*jit)->getExecutionSession().setErrorReporter(
      [text = reports.get()](Error error) { *text += (text->empty() ? "" : "; ") + toString(std::move(error)); });

  // All that a kernel may call; nothing else of this process is visible to it.
  orc::SymbolMap memory;
  auto define = [&](StringRef name, auto *function) {
    memory[(*jit)->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                             JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  define("memcpy", static_cast<void *(*)(void *, const void *, size_t)>(std::memcpy));
  define("memmove", static_cast<void *(*)(void *, const void *, size_t)>(std::memmove));
  define("memset", static_cast<void *(*)(void *, int, size_t)>(std::memset));
  if (Error error = (*jit)->getMainJITDylib().define(orc::absoluteSymbols(std::move(memory)))) return std::move(error);

  for (StringRef object : objects)
    if (Error error = (*jit)->addObjectFile(MemoryBuffer::getMemBufferCopy(object, "kernel"))) return std::move(error);
  return std::unique_ptr<JitKernel>(new JitKernel(std::move(*jit), std::move(reports)));
}

Expected<void *> JitKernel::address(StringRef symbol) const {
  auto found = jit->lookup(symbol);
  if (!found) {
    std::string message = toString(found.takeError());
    if (!reports->empty()) message += ": " + *reports;
    return createStringError(message);
  }
  return found->toPtr<void *>();
}

Expected<std::unique_ptr<JitKernel>> JitKernel::load(ArrayRef<StringRef> objects, StringRef symbol) {
  auto result = loadCode(objects);
  if (!result) return result.takeError();
  auto found = (*result)->address(symbol);
  if (!found) return found.takeError();
  auto *descriptor = static_cast<const lintel_kernel *>(*found);
  if (descriptor->abi_version != LINTEL_ABI_VERSION || descriptor->struct_bytes != sizeof(lintel_kernel))
    return createStringError("expected a kernel of ABI version %u, found version %u", LINTEL_ABI_VERSION,
                             descriptor->abi_version);
  (*result)->descriptor = descriptor;
  return std::move(*result);
}

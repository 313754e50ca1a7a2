#include "codegen/emit/Artifacts.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace lintel;

/// The first of the names on PATH, or empty.
static std::string findProgram(ArrayRef<StringRef> names) {
  for (StringRef name : names)
    if (ErrorOr<std::string> path = sys::findProgramByName(name)) return *path;
  return {};
}

Error lintel::linkSharedLibrary(StringRef object, StringRef output, StringRef soname, StringRef triple) {
  bool cross = Triple(triple).getArch() != Triple(sys::getProcessTriple()).getArch();
  std::string linker = findProgram({"ld.lld", "ld.lld-22", "ld.lld-21", "ld.lld-20", "ld.lld-19"});
  bool driver = false;
  if (linker.empty() && !cross) linker = findProgram({"ld"});
  if (linker.empty() && !cross) {
    linker = findProgram({"cc", "gcc", "clang"});
    driver = true;
  }
  if (linker.empty())
    return createStringError("no linker for the shared library: expected %s on PATH; install lld, or leave the shared "
                             "library out",
                             cross ? "ld.lld (the target is not this machine's)" : "ld.lld, ld or cc");

  SmallString<128> log;
  int descriptor;
  if (std::error_code code = sys::fs::createTemporaryFile("lintel-link", "log", descriptor, log))
    return createStringError(code, "cannot make a temporary file: %s", code.message().c_str());
  sys::Process::SafelyCloseFileDescriptor(descriptor);
  std::string soOption = driver ? ("-Wl,-soname," + soname).str() : "";
  SmallVector<StringRef> arguments{linker};
  if (driver) arguments.append({"-shared", "-nostdlib", "-Wl,-z,noexecstack", soOption});
  else arguments.append({"-shared", "-z", "noexecstack", "-soname", soname});
  arguments.append({"-o", output, object});
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  std::string message;
  int status = sys::ExecuteAndWait(linker, arguments, std::nullopt, redirects, /*SecondsToWait=*/120,
                                   /*MemoryLimit=*/0, &message);
  if (status != 0)
    if (auto text = MemoryBuffer::getFile(log)) message += (*text)->getBuffer().rtrim().str();
  sys::fs::remove(log);
  if (status == 0) return Error::success();
  return createStringError("%s could not make the shared library (status %d): %s", linker.c_str(), status,
                           message.c_str());
}

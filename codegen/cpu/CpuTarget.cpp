#include "codegen/cpu/CpuTarget.h"
#include "runtime/include/lintel/kernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>
#include <mutex>
#include <vector>

using namespace llvm;
using namespace lintel;

static bool hasAll(const StringMap<bool> &features, std::initializer_list<StringRef> names) {
  return llvm::all_of(names, [&](StringRef name) { return features.lookup(name); });
}

const char lintel::targetNames[] = "native, x86-64, x86-64-v3, x86-64-v4, x86-64-v4-bf16 or aarch64";

/// The LINTEL_CPU_X86_64* that a machine with these features has, by the definition of the psABI.
static uint64_t x86Levels(const StringMap<bool> &f) {
  uint64_t bits = LINTEL_CPU_X86_64;
  if (!hasAll(f, {"cx16", "sahf", "popcnt", "sse4.2", "ssse3"})) return bits;
  bits |= LINTEL_CPU_X86_64_V2;
  if (!hasAll(f, {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"})) return bits;
  bits |= LINTEL_CPU_X86_64_V3;
  if (!hasAll(f, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) return bits;
  bits |= LINTEL_CPU_X86_64_V4;
  return f.lookup("avx512bf16") ? bits | LINTEL_CPU_AVX512_BF16 : bits;
}

static uint64_t hostLevels() {
  Triple host(sys::getProcessTriple());
  if (host.isAArch64()) return LINTEL_CPU_AARCH64;
  if (host.getArch() == Triple::x86_64) return x86Levels(sys::getHostCPUFeatures());
  return 0;
}

static Expected<CpuTarget> nativeTarget() {
  uint64_t levels = hostLevels();
  if (!(levels & (LINTEL_CPU_X86_64_V3 | LINTEL_CPU_AARCH64)))
    return createStringError("this machine's processor (%s) lacks AVX2 and FMA, which native kernels need; give "
                             "--target x86-64",
                             sys::getHostCPUName().str().c_str());
  StringMap<bool> map = sys::getHostCPUFeatures();
  std::vector<std::string> sorted; // a StringMap's order varies, and equal input must give equal output
  for (const auto &entry : map) sorted.push_back((entry.second ? "+" : "-") + entry.first().str());
  std::sort(sorted.begin(), sorted.end(), [](const std::string &a, const std::string &b) {
    return StringRef(a).drop_front() < StringRef(b).drop_front();
  });
  unsigned bits = levels & LINTEL_CPU_X86_64_V4 ? 512 : levels & LINTEL_CPU_X86_64_V3 ? 256 : 128;
  return CpuTarget{"native",
                   sys::getProcessTriple(),
                   sys::getHostCPUName().str(),
                   llvm::join(sorted, ","),
                   (levels & ~LINTEL_CPU_X86_64) | LINTEL_CPU_NATIVE,
                   bits,
                   levels & LINTEL_CPU_AVX512_BF16 ? PairInstructions::Avx512 : PairInstructions::None};
}

Expected<CpuTarget> lintel::resolveTarget(StringRef name) {
  constexpr uint64_t v2 = LINTEL_CPU_X86_64_V2, v3 = v2 | LINTEL_CPU_X86_64_V3, v4 = v3 | LINTEL_CPU_X86_64_V4;
  const char *linuxX86 = "x86_64-unknown-linux-gnu";
  if (name == "native") return nativeTarget();
  if (name == "x86-64")
    return CpuTarget{name.str(),       linuxX86, name.str(), "", LINTEL_CPU_X86_64, 128, PairInstructions::None,
                     /*emulates=*/true};
  if (name == "x86-64-v3") return CpuTarget{name.str(), linuxX86, name.str(), "", v3, 256};
  // Without the hint LLVM keeps to 256 bits on this level.
  if (name == "x86-64-v4") return CpuTarget{name.str(), linuxX86, name.str(), "-prefer-256-bit", v4, 512};
  if (name == "x86-64-v4-bf16")
    return CpuTarget{name.str(),
                     linuxX86,
                     "x86-64-v4",
                     "+avx512bf16,-prefer-256-bit",
                     v4 | LINTEL_CPU_AVX512_BF16,
                     512,
                     PairInstructions::Avx512};
  // Kernels shaped for AVX-512, each vector in two registers of AVX2: for tests where there is no AVX-512.
  if (name == "x86-64-v3-wide") return CpuTarget{name.str(), linuxX86, "x86-64-v3", "", v3, 512};
  if (name == "x86-64-v3-pairs")
    return CpuTarget{name.str(), linuxX86, "x86-64-v3", "", v3, 512, PairInstructions::Arithmetic};
  if (name == "aarch64")
    return CpuTarget{name.str(), "aarch64-unknown-linux-gnu", "generic", "+neon", LINTEL_CPU_AARCH64, 128};
  return createStringError("expected a target of %s, found '%s'", targetNames, name.str().c_str());
}

bool lintel::canRunHere(const CpuTarget &target) {
  if (target.abiFeatures & LINTEL_CPU_NATIVE) return true;
  return (target.abiFeatures & ~hostLevels()) == 0;
}

Expected<std::unique_ptr<TargetMachine>> lintel::createTargetMachine(const CpuTarget &target) {
  static std::once_flag once; // LLVM's registry of targets is per process
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo(), LLVMInitializeX86Target(), LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter(), LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo(), LLVMInitializeAArch64Target(), LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter(), LLVMInitializeAArch64AsmParser();
  });
  std::string message;
  Triple triple(target.triple);
  const Target *entry = TargetRegistry::lookupTarget(triple, message);
  if (!entry) return createStringError("LLVM has no code generator for %s: %s", target.triple.c_str(), message.c_str());
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Standard;
  std::unique_ptr<TargetMachine> machine(entry->createTargetMachine(
      triple, target.cpu, target.features, options, Reloc::PIC_, std::nullopt, CodeGenOptLevel::Aggressive));
  if (!machine) return createStringError("LLVM cannot generate code for %s", target.triple.c_str());
  return std::move(machine);
}

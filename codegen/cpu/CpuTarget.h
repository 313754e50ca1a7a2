// The processors that kernels are compiled for.
#ifndef LINTEL_CODEGEN_CPU_CPUTARGET_H
#define LINTEL_CODEGEN_CPU_CPUTARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
}

namespace lintel {

/// How acc + a0 b0 + a1 b1 of bf16 pairs is computed.
enum class PairInstructions {
  None,       // not at all
  Arithmetic, // in f32, as the instruction rounds: for tests
  Avx512      // vdpbf16ps
};

struct CpuTarget {
  std::string name;     // as the user writes it: "native", "x86-64-v3", ...
  std::string triple;   // LLVM's
  std::string cpu;      // LLVM's name of the processor
  std::string features; // LLVM's, "+avx2,-sse4a,..."; what `cpu` implies need not be repeated
  uint64_t abiFeatures; // LINTEL_CPU_* of lintel/kernel.h: what a machine must have to run the code
  unsigned vectorBits;  // widest vector register that pays
  PairInstructions pairs = PairInstructions::None;
  /// Fused multiply-adds, roundings and conversions of f16 are written in plainer operations.
  bool emulates = false;
};

/// What the command line says of --target: every name that users may give, with "native" as the default.
extern const char targetNames[];

/// One of targetNames; any other name is an error that lists them.
llvm::Expected<CpuTarget> resolveTarget(llvm::StringRef name);

/// True if this process can run code for the target (always so for "native").
bool canRunHere(const CpuTarget &target);

/// LLVM's code generator for the target: position-independent, contracting only what carries the `contract` flag.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const CpuTarget &target);

} // namespace lintel

#endif

//===- KernelToLoops.h - an attn.kernel as loops --------------------------===//
//
// The door of codegen/halide: plans the kernel's memory, builds each group of stages as a Halide pipeline, schedules
// and lowers it, imports the statements, and writes the scans around them. What comes out obeys
// codegen/cpu/CpuLowering.h.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_HALIDE_KERNELTOLOOPS_H
#define LINTEL_CODEGEN_HALIDE_KERNELTOLOOPS_H

#include "codegen/cpu/CpuTarget.h"
#include "codegen/schedule/StageSchedule.h"
#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/include/lintel/kernel.h"

namespace lintel {

struct LoopsRequest {
  KernelOp kernel;                         ///< after attn-fuse-stages
  llvm::SmallVector<lintel_dtype> inputs;  ///< of the kernel's inputs
  llvm::SmallVector<lintel_dtype> outputs; ///< of its outputs
  lintel_dtype state = LINTEL_F32;
  /// LINTEL_BF16: sums of products may round their factors, where the target multiplies pairs of bf16.
  lintel_dtype products = LINTEL_F32;
  CpuTarget target;
  std::string entry;                  ///< symbol of the C entry
  std::string schedule, scheduleName; ///< text and name of a .sched file; empty: the heuristic's
  std::string autoscheduler;          ///< set from the schedule (codegen/schedule/Autoscheduler.h)
};

struct LoopsResult {
  mlir::OwningOpRef<mlir::ModuleOp> loops;
  uint64_t scratchBytes = 0;
  std::string halide;   ///< the algorithms and schedules as text
  std::string schedule; ///< the schedule that was obeyed
};

/// What schedules of the kernel are chosen for, where its states are of type `state`.
ScheduleTarget scheduleTarget(KernelOp kernel, const CpuTarget &target, lintel_dtype state);

/// Fails with diagnostics on the kernel's location.
mlir::FailureOr<LoopsResult> lowerKernelToLoops(const LoopsRequest &request);

} // namespace lintel
#endif

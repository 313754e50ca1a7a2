//===- AssignSchedule.h - schedules onto kernels --------------------------===//
//
// A .sched file has a line for each stage name: `NAME: DIRECTIVES` (StageSchedule.h), and for the rows of an input
// `rows NAME: packed` or `direct`; `//` starts a comment. A line applies to the first stage (rows) of that name in the
// kernel, where it must be legal, and to others of the name where it is; a name that the kernel does not have is an
// error.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_SCHEDULE_ASSIGNSCHEDULE_H
#define LINTEL_CODEGEN_SCHEDULE_ASSIGNSCHEDULE_H

#include "codegen/schedule/StageSchedule.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringMap.h"

namespace lintel {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/schedule/Passes.h.inc"

/// Stage name to schedule. On failure nothing, and `error` has file, line, what was expected and found.
std::optional<llvm::StringMap<StageSchedule>> parseScheduleFile(llvm::StringRef text, llvm::StringRef name,
                                                                std::string &error);

/// Gives each stage and each input's rows without a schedule the one of `given` or else the heuristic's. Errors:
/// illegal schedules, names in `given` that no stage has.
mlir::LogicalResult assignSchedules(KernelOp kernel, const ScheduleTarget &target,
                                    const llvm::StringMap<StageSchedule> &given);

/// The schedules of a kernel as a .sched file.
std::string scheduleText(KernelOp kernel);

} // namespace lintel
#endif

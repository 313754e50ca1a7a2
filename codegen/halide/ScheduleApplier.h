//===- ScheduleApplier.h - schedules onto Halide Funcs --------------------===//
// Private to codegen/halide.
#ifndef LINTEL_CODEGEN_HALIDE_SCHEDULEAPPLIER_H
#define LINTEL_CODEGEN_HALIDE_SCHEDULEAPPLIER_H

#include "codegen/halide/StageExpressions.h"

namespace lintel {

/// Applies `schedule` to `func` with the stage's variables (innermost first) and sizes, and puts `accumulators` into
/// its tiles. Adds what it did to `text`.
void applySchedule(Halide::Func func, const StageExpressions::Stage &stage, const StageSchedule &schedule,
                   const std::vector<StageExpressions::Accumulator> &accumulators, bool serial, std::string &text);
/// A stored condition.
void scheduleMask(Halide::Func func, const StageExpressions::Stage &stage, int64_t lanes);
/// A transposed copy, by whole squares of vectors in registers where the sizes allow.
void scheduleTransposed(const StageExpressions::Transposed &t, int64_t lanes, std::string &text);
/// A factor packed in pairs, along its innermost axis.
void schedulePacked(const StageExpressions::Packed &p, int64_t lanes, std::string &text);

} // namespace lintel
#endif

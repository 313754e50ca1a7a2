//===- StageSchedule.h - how one stage is computed ------------------------===//
//
// A stage is an element-by-element definition; its schedule says in which order and where. One grammar, in the IR (the
// `schedule` attribute of attn.stage and attn.rows) and in .sched files: directives separated by blanks.
//
// Of a stage:
//
//   inline        written into its one user; nothing else may be given. Illegal where more than one stage, a reduction
//   over another axis or a loop uses it. vector N      the innermost axis in vectors of N lanes. Illegal above the
//   axis's size, or below 1. panel N       N vectors side by side in registers. Illegal where N * vector is more than
//   the axis's size. rows N        N rows of the next axis in registers. Illegal above that axis's size. transpose
//   (tensors read along the wrong axis) always derived, never given.
//
// Of a chunk's rows of an input (in .sched files `rows NAME: ...`):
//
//   packed   copied into scratch, one behind the other, before any stage reads them. Illegal for one row, and for rows
//            of one number (which lie together already).
//   direct   read where the caller's array has them.
//   ahead N  behind either: during a chunk the rows of the chunk N later are asked for (prefetched); 0: none are.
//            1 where nothing is said. Illegal above 64, and for one row, which nobody asks for.
//
// Sizes that do not divide an axis are legal: the last tile then overlaps the one before, which only a stage that
// overwrites what it reads cannot have.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_SCHEDULE_STAGESCHEDULE_H
#define LINTEL_CODEGEN_SCHEDULE_STAGESCHEDULE_H

#include "dialect/AttnDialect.h"
#include <optional>
#include <string>

namespace lintel {

struct StageSchedule {
  bool inlined = false;
  int64_t vector = 1, panel = 1, rows = 1;
  std::optional<bool> packed; ///< of rows: nothing else but `ahead` is given then
  int64_t ahead = 1;

  std::string str() const;
  /// Reads what str() writes; on failure nothing, and `error` says what was expected and found.
  static std::optional<StageSchedule> parse(llvm::StringRef text, std::string &error);
};

/// What a heuristic must know of the processor.
struct ScheduleTarget {
  unsigned vectorBits = 256;
  unsigned registers = 16; ///< vector registers
  unsigned elementBits = 32;
};

/// Whether `schedule` can be applied to `stage`; if not, `reason` says why.
bool isLegal(StageOp stage, const StageSchedule &schedule, bool inPlace, std::string &reason);
bool isLegal(RowsOp rows, const StageSchedule &schedule, std::string &reason);
/// Whether a stage may be written into its user.
bool canInline(StageOp stage, std::string &reason);
/// The schedule chosen without measurement. `inPlace`: the stage overwrites a tensor that it reads, so its tiles must
/// divide its axes.
StageSchedule chooseSchedule(StageOp stage, const ScheduleTarget &target, bool inPlace);
/// Rows of a chunk of some steps that sums read again and again are packed: where the caller's rows lie a power of two
/// apart they fall into the same few places of the first cache (docs/rationale/packing.md).
StageSchedule chooseSchedule(RowsOp rows);
/// The schedule that the stage's attribute says; a missing, malformed or illegal one is a diagnostic.
mlir::FailureOr<StageSchedule> scheduleOf(StageOp stage, bool inPlace);
mlir::FailureOr<StageSchedule> scheduleOf(RowsOp rows);
/// What a .sched file calls them: `rows`, and the input's name.
std::string scheduleName(RowsOp rows);

} // namespace lintel
#endif

//===- StageUse.h - who uses a stage's result, and what it may overwrite --===//
#ifndef LINTEL_CODEGEN_SCHEDULE_STAGEUSE_H
#define LINTEL_CODEGEN_SCHEDULE_STAGEUSE_H

#include "dialect/AttnDialect.h"

namespace lintel {

/// Whether the stage is one of those that read and update states in one pass over their rows (attn-walk-states).
inline bool isWalked(StageOp stage) { return stage->hasAttr("walk"); }

/// Whether anything outside its group uses the stage's result, so that it needs memory.
bool isUsedOutside(StageOp stage);

/// Whether `stage` may write over `old`: every other reader runs in an earlier group, and the stage itself reads each
/// element before it writes it, outside of any reduction.
bool canOverwrite(StageOp stage, mlir::Value old);

/// The value whose memory the stage's result takes: in a loop the carried argument that the result is the next value
/// of, behind the loops a loop's result that the stage is the last to read. Null where it takes none.
mlir::Value overwrittenBy(StageOp stage);

/// Whether the stage overwrites what it reads itself: its tiles must then divide its axes, since the overlap of a last
/// tile would be added twice.
bool isInPlace(StageOp stage);

} // namespace lintel
#endif

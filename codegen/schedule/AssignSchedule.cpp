#include "codegen/schedule/AssignSchedule.h"
#include "codegen/schedule/StageUse.h"
#include "dialect/OperatorUtils.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

namespace lintel {
#define GEN_PASS_DEF_ASSIGNSCHEDULE
#include "codegen/schedule/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

std::optional<llvm::StringMap<StageSchedule>> lintel::parseScheduleFile(StringRef text, StringRef name,
                                                                        std::string &error) {
  llvm::StringMap<StageSchedule> schedules;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (size_t n = 0; n < lines.size(); ++n) {
    StringRef content = lines[n].split("//").first.trim();
    if (content.empty()) continue;
    auto fail = [&](const Twine &what) {
      error = (name + ":" + Twine(n + 1) + ": " + what).str();
      return std::nullopt;
    };
    auto [stage, directives] = content.split(':');
    stage = stage.trim();
    if (stage.empty() || directives.trim().empty())
      return fail("expected 'STAGE: DIRECTIVES', found '" + content + "'");
    std::string why;
    auto schedule = StageSchedule::parse(directives, why);
    if (!schedule) return fail(why);
    if (!schedules.try_emplace(stage, *schedule).second)
      return fail("expected each stage once, found '" + stage + "' again");
  }
  return schedules;
}

/// The schedule of `op` (a stage or rows): its own, the given one, or the chosen one.
template <typename OpT, typename Choose, typename Legal>
static void assign(OpT op, StringRef name, const llvm::StringMap<StageSchedule> &given, llvm::StringSet<> &used,
                   Choose choose, Legal legal) {
  if (op.getScheduleAttr()) return;
  auto set = [&](const StageSchedule &s) { op.setScheduleAttr(ScheduleAttr::get(op.getContext(), s.str())); };
  auto it = given.find(name);
  // The first of the name is meant; its smaller twins (of the steps left over) take what is legal for them.
  if (it != given.end() && (used.insert(name).second || legal(it->second))) return set(it->second);
  set(choose());
}

LogicalResult lintel::assignSchedules(KernelOp kernel, const ScheduleTarget &target,
                                      const llvm::StringMap<StageSchedule> &given) {
  llvm::StringSet<> used;
  SmallVector<std::string> names;
  auto walked = kernel.walk([&](Operation *op) {
    std::string why;
    if (auto rows = dyn_cast<RowsOp>(op)) {
      names.push_back(scheduleName(rows));
      assign(
          rows, names.back(), given, used, [&] { return chooseSchedule(rows); },
          [&](const StageSchedule &s) { return isLegal(rows, s, why); });
      if (failed(scheduleOf(rows))) return WalkResult::interrupt();
    }
    if (auto stage = dyn_cast<StageOp>(op)) {
      names.push_back(stage.getName().str());
      ScheduleTarget own = target;
      if (isPrecise(stage)) own.elementBits = 64;
      bool inPlace = isInPlace(stage);
      assign(
          stage, names.back(), given, used, [&] { return chooseSchedule(stage, own, inPlace); },
          [&](const StageSchedule &s) { return isLegal(stage, s, inPlace, why); });
      if (failed(scheduleOf(stage, inPlace))) return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (walked.wasInterrupted()) return failure();
  for (auto &entry : given)
    if (!used.contains(entry.getKey())) {
      bool isRows = entry.getKey().starts_with("rows ");
      InFlightDiagnostic diag = kernel.emitError("the schedule names ")
                                << (isRows ? "" : "a stage ") << "'" << entry.getKey()
                                << "' that the kernel does not have; it has";
      llvm::StringSet<> seen;
      StringRef between = " ";
      for (StringRef name : names)
        if (name.starts_with("rows ") == isRows && seen.insert(name).second) {
          diag << between << name;
          between = isRows ? ", " : " ";
        }
      if (seen.empty()) diag << (isRows ? " no rows of inputs" : " none");
      return failure();
    }
  return success();
}

std::string lintel::scheduleText(KernelOp kernel) {
  std::string text;
  llvm::StringSet<> seen;
  // Stages of one name (the chunk's, the rest's) have schedules of their own; the first is shown.
  auto add = [&](StringRef name, ScheduleAttr schedule) {
    if (seen.insert(name).second) text += (name + ": " + (schedule ? schedule.getDirectives() : "?") + "\n").str();
  };
  kernel.walk([&](Operation *op) {
    if (auto rows = dyn_cast<RowsOp>(op)) add(scheduleName(rows), rows.getScheduleAttr());
    if (auto stage = dyn_cast<StageOp>(op)) add(stage.getName(), stage.getScheduleAttr());
  });
  return text;
}

namespace {
struct Pass : lintel::impl::AssignScheduleBase<Pass> {
  using AssignScheduleBase::AssignScheduleBase;
  void runOnOperation() override {
    llvm::StringMap<StageSchedule> given;
    if (!llvm::is_contained({16u, 32u, 64u}, static_cast<unsigned>(elementBits))) {
      getOperation().emitError("expected element-bits of 16, 32 or 64, found ") << static_cast<unsigned>(elementBits);
      return signalPassFailure();
    }
    if (!file.empty()) {
      auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
      if (!buffer) {
        getOperation().emitError("cannot read '") << file << "': " << buffer.getError().message();
        return signalPassFailure();
      }
      std::string why;
      auto parsed = parseScheduleFile((*buffer)->getBuffer(), file, why);
      if (!parsed) {
        getOperation().emitError(why);
        return signalPassFailure();
      }
      given = *parsed;
    }
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(assignSchedules(kernel, {vectorBits, registers, elementBits}, given))) return signalPassFailure();
  }
};
} // namespace

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

LogicalResult lintel::assignSchedules(KernelOp kernel, const ScheduleTarget &target,
                                      const llvm::StringMap<StageSchedule> &given) {
  llvm::StringSet<> used;
  SmallVector<StageOp> stages;
  kernel.walk([&](StageOp stage) { stages.push_back(stage); });
  for (StageOp stage : stages) {
    ScheduleTarget own = target;
    if (isPrecise(stage)) own.elementBits = 64;
    bool inPlace = isInPlace(stage);
    auto it = given.find(stage.getName());
    if (it != given.end() && !stage.getScheduleAttr()) {
      // The first stage of the name is meant; its smaller twins (of the steps left over) take what is legal for them.
      std::string why;
      if (used.insert(stage.getName()).second || isLegal(stage, it->second, inPlace, why))
        stage.setScheduleAttr(ScheduleAttr::get(kernel.getContext(), it->second.str()));
    }
    if (!stage.getScheduleAttr())
      stage.setScheduleAttr(ScheduleAttr::get(kernel.getContext(), chooseSchedule(stage, own, inPlace).str()));
    if (failed(scheduleOf(stage, inPlace))) return failure();
  }
  for (auto &entry : given)
    if (!used.contains(entry.getKey())) {
      InFlightDiagnostic diag = kernel.emitError("the schedule names a stage '")
                                << entry.getKey() << "' that the kernel does not have; it has";
      llvm::StringSet<> seen;
      for (StageOp stage : stages)
        if (seen.insert(stage.getName()).second) diag << " " << stage.getName();
      return failure();
    }
  return success();
}

std::string lintel::scheduleText(KernelOp kernel) {
  std::string text;
  llvm::StringSet<> seen;
  kernel.walk([&](StageOp stage) {
    std::string line =
        (stage.getName() + ": " + (stage.getScheduleAttr() ? stage.getScheduleAttr().getDirectives() : StringRef("?")))
            .str();
    // Stages of one name (the chunk's, the rest's) have schedules of their own; the first is shown.
    if (seen.insert(stage.getName()).second) text += line + "\n";
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

//===- Autoschedule.h - Halide's auto-schedulers on a group ---------------===//
// Private to codegen/halide.
#ifndef LINTEL_CODEGEN_HALIDE_AUTOSCHEDULE_H
#define LINTEL_CODEGEN_HALIDE_AUTOSCHEDULE_H

#include "codegen/halide/HalideHeader.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace lintel {

struct AutoscheduledOutput {
  Halide::Func func;
  std::vector<int64_t> sizes; ///< innermost first
  bool inPlace = false;       ///< overwrites what it reads: no element may be computed twice
};

/// Lets the auto-scheduler `name` ("adams2019") schedule the outputs and all that they call, none of which may have a
/// schedule yet. Loops that it would run on threads become serial, as threads are not a group's business. Its schedule
/// goes to `text`, as C++. Throws as Halide does.
void autoschedule(const std::vector<AutoscheduledOutput> &outputs, const std::string &name,
                  const Halide::Target &target, std::string &text);

/// Runs `body`, which lowers what was scheduled so. Of warnings that are about the schedule's style alone it makes
/// nothing; others it throws.
void lowerAutoscheduled(llvm::function_ref<void()> body);

} // namespace lintel
#endif

//===- Autoscheduler.h - schedules that Halide chooses --------------------===//
//
// In place of lines for stages a .sched file may have the one line `*: halide:NAME`: an auto-scheduler of Halide's then
// schedules all groups of stages that are Halide's (not the walks over states). There is nothing to refuse beforehand;
// what cannot be built or imported is an error of the compiler that says why.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_SCHEDULE_AUTOSCHEDULER_H
#define LINTEL_CODEGEN_SCHEDULE_AUTOSCHEDULER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace lintel {

/// "mullapudi2016", "adams2019"
llvm::ArrayRef<llvm::StringLiteral> autoschedulers();

/// The .sched file that names one.
std::string autoschedulerText(llvm::StringRef name);

/// Whom a .sched file's text names; "" where it has no such line. Nothing, and `error` says why, where it names none
/// that there is or has other lines too.
std::optional<std::string> autoschedulerOf(llvm::StringRef text, llvm::StringRef file, std::string &error);

} // namespace lintel
#endif

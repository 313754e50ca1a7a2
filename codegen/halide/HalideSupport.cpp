#include "codegen/halide/HalideHeader.h"

#include "codegen/halide/HalideSupport.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace lintel;

namespace {

// Warnings of the innermost guard of this thread. Halide lowers on a stack of its own, but on the same thread.
thread_local llvm::SmallVector<std::string> *warningSink = nullptr;

std::string trimmed(llvm::StringRef message) { return message.trim().str(); }

class Reporter : public Halide::CompileTimeErrorReporter {
public:
  void warning(const char *message) override {
    if (warningSink) warningSink->push_back(trimmed(message));
    else llvm::errs() << message;
  }
  [[noreturn]] void error(const char *message) override { throw Halide::CompileError(message); }
};

void installReporter() {
  // Never destroyed: Halide keeps the pointer until the process ends.
  static Reporter *reporter = [] {
    auto *made = new Reporter;
    Halide::set_custom_compile_time_error_reporter(made);
    return made;
  }();
  (void)reporter;
}

} // namespace

std::optional<std::string> lintel::guardHalide(llvm::function_ref<void()> body) {
  installReporter();
  llvm::SmallVector<std::string> messages;
  llvm::SmallVector<std::string> *outer = warningSink;
  warningSink = &messages;
  auto fail = [&](std::string message) { messages.insert(messages.begin(), std::move(message)); };
  try {
    body();
  } catch (const Halide::Error &e) {
    fail(trimmed(e.what()));
  } catch (const std::exception &e) {
    fail(e.what());
  } catch (...) {
    fail("unknown exception while running Halide");
  }
  warningSink = outer;
  if (messages.empty()) return std::nullopt;
  return llvm::join(messages, "\n");
}

std::string lintel::withoutWarnings(llvm::function_ref<void()> body) {
  llvm::SmallVector<std::string> messages;
  llvm::SmallVector<std::string> *outer = warningSink;
  warningSink = &messages;
  try {
    body();
  } catch (...) {
    warningSink = outer;
    throw;
  }
  warningSink = outer;
  return llvm::join(messages, "\n");
}

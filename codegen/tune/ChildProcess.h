//===- ChildProcess.h - work that may crash or never end ------------------===//
//
// A copy of this process, made by fork(), that answers messages. Whatever becomes of it, the parent goes on: a crash,
// an exit and silence are errors that say so. POSIX only, and the parent must have one thread.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_TUNE_CHILDPROCESS_H
#define LINTEL_CODEGEN_TUNE_CHILDPROCESS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

namespace lintel {

class ChildProcess {
public:
  /// The child's end of the line.
  class Line {
  public:
    /// The next message; nothing once the parent is gone.
    std::optional<std::string> receive();
    void send(llvm::StringRef message);

  private:
    friend class ChildProcess;
    explicit Line(int socket) : socket(socket) {}
    int socket;
  };

  /// Starts a child that runs `body` and ends when that returns. It dies with the parent, prints nothing when it
  /// crashes and leaves an interrupt of the terminal to the parent.
  static llvm::Expected<std::unique_ptr<ChildProcess>> start(llvm::function_ref<void(Line &)> body);
  ~ChildProcess(); // ends the child
  ChildProcess(const ChildProcess &) = delete;

  llvm::Error send(llvm::StringRef message);
  /// The child's next message. An error, and the child is ended, where it crashes, ends or says nothing for so many
  /// seconds.
  llvm::Expected<std::string> receive(double seconds);

private:
  ChildProcess(pid_t pid, int socket) : pid(pid), socket(socket) {}
  /// Waits for its end; what that was.
  std::string reap();
  pid_t pid; // 0: it has ended
  int socket;
  std::string ended; // how
};

} // namespace lintel
#endif

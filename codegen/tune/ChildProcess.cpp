#include "codegen/tune/ChildProcess.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using namespace llvm;
using namespace lintel;

using Clock = std::chrono::steady_clock;

/// Longer ones are from a process that writes where it should not.
static constexpr uint32_t longestMessage = 1 << 24;

/// False where the other end is gone.
static bool sendAll(int socket, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.drop_front(static_cast<size_t>(n));
  }
  return true;
}

static bool sendMessage(int socket, StringRef message) {
  auto size = static_cast<uint32_t>(message.size());
  std::string bytes(reinterpret_cast<const char *>(&size), sizeof size);
  return sendAll(socket, bytes + message.str());
}

enum class Got { All, Nothing, Late };

/// `deadline`: none waits for ever.
static Got receiveAll(int socket, char *to, size_t size, std::optional<Clock::time_point> deadline) {
  while (size) {
    if (deadline) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      if (left < 0) return Got::Late;
      pollfd one{socket, POLLIN, 0};
      int ready = poll(&one, 1, static_cast<int>(std::min<int64_t>(left + 1, 60000)));
      if (ready <= 0) continue; // an interrupt, or time to look at the clock
    }
    ssize_t n = ::recv(socket, to, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Got::Nothing;
    to += n, size -= static_cast<size_t>(n);
  }
  return Got::All;
}

static Got receiveMessage(int socket, std::string &message, std::optional<Clock::time_point> deadline) {
  uint32_t size = 0;
  Got got = receiveAll(socket, reinterpret_cast<char *>(&size), sizeof size, deadline);
  if (got != Got::All) return got;
  if (size > longestMessage) return Got::Nothing;
  message.resize(size);
  return receiveAll(socket, message.data(), size, deadline);
}

std::optional<std::string> ChildProcess::Line::receive() {
  std::string message;
  if (receiveMessage(socket, message, std::nullopt) != Got::All) return std::nullopt;
  return message;
}

void ChildProcess::Line::send(StringRef message) {
  if (!sendMessage(socket, message)) _exit(0);
}

Expected<std::unique_ptr<ChildProcess>> ChildProcess::start(function_ref<void(Line &)> body) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
    return createStringError("cannot make a socket for a child process: %s", std::strerror(errno));
  pid_t parent = getpid(), pid = fork();
  if (pid < 0) {
    std::string why = std::strerror(errno);
    close(ends[0]), close(ends[1]);
    return createStringError("cannot start a child process: %s", why.c_str());
  }
  if (pid) {
    close(ends[1]);
    return std::unique_ptr<ChildProcess>(new ChildProcess(pid, ends[0]));
  }
  close(ends[0]);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0); // it went before that was said
#else
  (void)parent;
#endif
  // LLVM's handlers print a trace; a crash here is a result like others.
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS}) ::signal(signal, SIG_DFL);
  for (int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_IGN);
  Line line(ends[1]);
  body(line);
  _exit(0); // no destructors of the parent's objects, and no output of it twice
}

ChildProcess::~ChildProcess() {
  if (pid) {
    kill(pid, SIGKILL);
    reap();
  }
  close(socket);
}

std::string ChildProcess::reap() {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  pid = 0;
  if (WIFSIGNALED(status))
    return formatv("it crashed: signal {0} ({1})", WTERMSIG(status), strsignal(WTERMSIG(status))).str();
  return formatv("its process ended with status {0}", WEXITSTATUS(status)).str();
}

Error ChildProcess::send(StringRef message) {
  if (pid && sendMessage(socket, message)) return Error::success();
  if (pid) ended = reap();
  return createStringError(ended);
}

Expected<std::string> ChildProcess::receive(double seconds) {
  if (!pid) return createStringError(ended);
  std::string message;
  auto wait = std::chrono::duration<double>(std::min(seconds, 1e9));
  switch (receiveMessage(socket, message, Clock::now() + std::chrono::duration_cast<Clock::duration>(wait))) {
  case Got::All:
    return message;
  case Got::Late:
    kill(pid, SIGKILL);
    reap();
    ended = formatv("it took more than {0:f1} s", seconds).str();
    return createStringError(ended);
  case Got::Nothing:
    break;
  }
  kill(pid, SIGKILL); // where it closed or broke the line, and lives
  ended = reap();
  return createStringError(ended);
}

#include "codegen/tune/ChildMeasurer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace llvm;
using namespace lintel;

/// Numbers go as their bytes: both ends are one program.
template <typename T> static void put(std::string &message, T value) {
  message.append(reinterpret_cast<const char *>(&value), sizeof value);
}
template <typename T> static bool take(StringRef &message, T &value) {
  if (message.size() < sizeof value) return false;
  std::memcpy(&value, message.data(), sizeof value);
  message = message.drop_front(sizeof value);
  return true;
}

/// The child: prepares, then answers every message with a time.
static void serve(Measurer &inner, const Candidate &candidate, ChildProcess::Line &line) {
  Prepared prepared = inner.prepare(candidate);
  std::string message;
  put(message, static_cast<int32_t>(prepared.outcome));
  put(message, prepared.error);
  line.send(message + prepared.reason);
  if (prepared.outcome != Outcome::Ok) return;
  while (line.receive()) {
    message.clear();
    auto time = inner.time(prepared.id);
    put(message, static_cast<int32_t>(bool(time)));
    if (time) put(message, *time);
    else message += toString(time.takeError());
    line.send(message);
  }
}

static constexpr double unlimited = 1e9, farAbove = 10;

Prepared ChildMeasurer::prepare(const Candidate &candidate) {
  Prepared result;
  result.outcome = Outcome::Failed;
  double start = now();
  auto child = ChildProcess::start([&](ChildProcess::Line &line) { serve(inner, candidate, line); });
  if (!child) {
    result.reason = toString(child.takeError());
    return result;
  }
  auto message = (*child)->receive(longestPrepare > 0 ? std::max(patience, farAbove * longestPrepare) : unlimited);
  if (!message) {
    result.reason = toString(message.takeError());
    return result;
  }
  StringRef rest = *message;
  int32_t outcome = 0;
  if (!take(rest, outcome) || !take(rest, result.error) || outcome < 0 || outcome > int32_t(Outcome::Failed)) {
    result.reason = "its process sent what is no answer";
    return result;
  }
  result.outcome = static_cast<Outcome>(outcome), result.reason = rest.str();
  if (result.outcome != Outcome::Ok) return result;
  if (longestPrepare == 0) longestPrepare = std::max(now() - start, 1e-9);
  auto free = llvm::find(children, nullptr);
  result.id = static_cast<unsigned>(free - children.begin());
  if (free == children.end()) children.push_back(std::move(*child));
  else *free = std::move(*child);
  return result;
}

Expected<double> ChildMeasurer::time(unsigned id) {
  double start = now();
  if (Error e = children[id]->send("time")) return std::move(e);
  auto message = children[id]->receive(longestTime > 0 ? std::max(patience, farAbove * longestTime) : unlimited);
  if (!message) return message.takeError();
  StringRef rest = *message;
  int32_t ok = 0;
  double seconds = 0;
  if (!take(rest, ok) || (ok && !take(rest, seconds))) return createStringError("its process sent what is no answer");
  if (!ok) return createStringError(rest);
  if (longestTime == 0) longestTime = std::max(now() - start, 1e-9);
  return seconds;
}

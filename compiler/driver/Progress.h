// What a long run is doing, for whoever shows it.
#ifndef LINTEL_COMPILER_DRIVER_PROGRESS_H
#define LINTEL_COMPILER_DRIVER_PROGRESS_H

#include "llvm/ADT/Twine.h"

namespace lintel {

/// Told by the work as it goes, from one thread at a time. Where options hold a pointer to one, null tells nobody.
class Progress {
public:
  virtual ~Progress() = default;
  /// What begins now: "compiling retnet".
  virtual void phase(const llvm::Twine &text) = 0;
  /// How far it is: `done` of `all` things called `what` ("heads").
  virtual void count(int64_t done, int64_t all, llvm::StringRef what) = 0;
};

} // namespace lintel

#endif

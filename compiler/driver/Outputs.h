// The files of one run: all of them appear, or none.
#ifndef LINTEL_COMPILER_DRIVER_OUTPUTS_H
#define LINTEL_COMPILER_DRIVER_OUTPUTS_H

#include "compiler/driver/Npy.h"
#include <string>
#include <vector>

namespace lintel {

/// Usage: plan() every path before the work, so that a place that cannot be written is found at once; write() each;
/// then commit(). What was not committed leaves no trace.
class Outputs {
public:
  Outputs() = default;
  Outputs(const Outputs &) = delete;
  ~Outputs();

  /// Errors: the folder is missing or cannot be written, the path is a folder, or it is planned already.
  llvm::Error plan(llvm::StringRef path);
  /// Content for a planned path, written beside it.
  llvm::Error write(llvm::StringRef path, const NpyArray &array);
  llvm::Error write(llvm::StringRef path, llvm::StringRef text);
  llvm::Error write(llvm::StringRef path, llvm::StringRef name, const NpyState &state);
  /// Puts every file in its place.
  llvm::Error commit();

private:
  struct File {
    std::string path;      // as given
    std::string target;    // links followed
    std::string temporary; // empty for a device, which is written at commit
    std::string text;      // of a device
    bool written = false;
  };
  llvm::Expected<File *> find(llvm::StringRef path);
  std::vector<File> files;
};

} // namespace lintel

#endif

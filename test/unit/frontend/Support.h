// What the frontend's tests share.
#ifndef LINTEL_TEST_UNIT_FRONTEND_SUPPORT_H
#define LINTEL_TEST_UNIT_FRONTEND_SUPPORT_H

#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/Printer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <string>
#include <vector>

namespace lintel::frontend {

/// The paths of the `.attn` files of a folder of the project, sorted.
inline std::vector<std::string> attnFiles(llvm::StringRef folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(std::string(LINTEL_SOURCE_DIR "/") + folder.str(), error), end;
       it != end && !error; it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".attn") paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline std::string readText(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// An expression in the body of an operator that declares what the tests use.
inline std::string withExpr(llvm::StringRef expr) {
  return ("attention t {\n  token q[dk], k[dk], v[dv], g\n  shared M[dk, dv], N[dv, dv]\n  state S[dk, dv], z[dk], n\n"
          "  let y = " +
          expr + "\n  out = v\n}\n")
      .str();
}

} // namespace lintel::frontend

#endif // LINTEL_TEST_UNIT_FRONTEND_SUPPORT_H

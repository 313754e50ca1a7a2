#include "compiler/driver/Outputs.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lintel;

static Error cannotWrite(StringRef path, const Twine &why) {
  return createStringError("cannot write '" + path + "': " + why);
}

Outputs::~Outputs() {
  for (const File &file : files)
    if (!file.temporary.empty()) sys::fs::remove(file.temporary);
}

Error Outputs::plan(StringRef path) {
  if (path.empty()) return createStringError("expected the name of a file to write, found an empty one");
  File file;
  file.path = path.str();
  SmallString<256> real;
  if (sys::fs::real_path(path, real)) { // not there yet: its folder's name will do
    StringRef folder = sys::path::parent_path(path);
    if (std::error_code code = sys::fs::real_path(folder.empty() ? "." : folder, real))
      return cannotWrite(path, code.message());
    sys::path::append(real, sys::path::filename(path));
  }
  file.target = real.str().str();
  sys::fs::file_status status;
  bool exists = !sys::fs::status(file.target, status) && sys::fs::exists(status);
  if (exists && sys::fs::is_directory(status)) return cannotWrite(path, "it is a folder");
  for (const File &other : files)
    if (other.target == file.target && (!exists || sys::fs::is_regular_file(status)))
      return createStringError("expected each output in a file of its own, found '%s' twice", file.path.c_str());
  if (!exists || sys::fs::is_regular_file(status)) {
    int fd = -1;
    std::error_code code;
    // Not LLVM's unique names, which give '%' in a path a meaning.
    for (unsigned attempt = 0; attempt < 100; ++attempt) {
      file.temporary =
          file.target + "." + std::to_string(sys::Process::getProcessId()) + "." + std::to_string(attempt) + ".tmp";
      code = sys::fs::openFileForWrite(file.temporary, fd, sys::fs::CD_CreateNew);
      if (code != std::errc::file_exists) break;
    }
    if (code) return cannotWrite(path, code.message());
    raw_fd_ostream(fd, /*shouldClose=*/true);
  }
  files.push_back(std::move(file));
  return Error::success();
}

Expected<Outputs::File *> Outputs::find(StringRef path) {
  for (File &file : files)
    if (file.path == path) {
      file.written = true;
      return &file;
    }
  return createStringError("output '%s' was not planned", path.str().c_str());
}

Error Outputs::write(StringRef path, const NpyArray &array) {
  auto file = find(path);
  if (!file) return file.takeError();
  // A temporary file first for a device too: its content must be complete before anything is sent.
  if (!(*file)->temporary.empty()) return writeNpy((*file)->temporary, array);
  return writeNpy((*file)->target, array);
}

Error Outputs::write(StringRef path, StringRef name, const NpyState &state) {
  auto file = find(path);
  if (!file) return file.takeError();
  return writeNpyState((*file)->temporary.empty() ? (*file)->target : (*file)->temporary, name, state);
}

Error Outputs::write(StringRef path, StringRef text) {
  auto file = find(path);
  if (!file) return file.takeError();
  if ((*file)->temporary.empty()) {
    (*file)->text = text.str();
    return Error::success();
  }
  std::error_code code;
  raw_fd_ostream os((*file)->temporary, code);
  if (code) return cannotWrite(path, code.message());
  os << text;
  os.close();
  if (!os.has_error()) return Error::success();
  code = os.error();
  os.clear_error();
  return cannotWrite(path, code.message());
}

Error Outputs::commit() {
  for (File &file : files) {
    if (!file.written || !file.temporary.empty()) continue;
    if (file.text.empty()) continue;
    std::error_code code;
    raw_fd_ostream os(file.target, code, sys::fs::OF_Append);
    if (code) return cannotWrite(file.path, code.message());
    os << file.text;
    os.close();
    if (os.has_error()) {
      code = os.error();
      os.clear_error();
      return cannotWrite(file.path, code.message());
    }
  }
  for (File &file : files) {
    if (!file.written || file.temporary.empty()) continue;
    // A new file gets the usual permissions, not a temporary file's.
    sys::fs::file_status old;
    bool exists = !sys::fs::status(file.target, old) && sys::fs::exists(old);
    sys::fs::setPermissions(file.temporary,
                            exists ? old.permissions() : static_cast<sys::fs::perms>(0666 & ~sys::fs::getUmask()));
    if (std::error_code code = sys::fs::rename(file.temporary, file.target))
      return cannotWrite(file.path, code.message());
    file.temporary.clear();
  }
  return Error::success();
}

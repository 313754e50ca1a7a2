#include "codegen/emit/Artifacts.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lintel;

namespace {

/// Files that become visible together: all are written under temporary names and renamed by commit(). What was not
/// committed is removed, with the folders made for it, and what lay in its place before is as it was.
class FileSet {
public:
  FileSet() = default;
  FileSet(const FileSet &) = delete;
  ~FileSet() {
    for (const Entry &entry : entries) remove(entry.temporary);
    for (const std::string &folder : llvm::reverse(folders)) sys::fs::remove(folder); // unless something is in it
  }

  Error makeFolder(const std::string &folder) {
    std::vector<std::string> missing;
    for (StringRef at = folder; !at.empty() && !sys::fs::exists(at); at = sys::path::parent_path(at))
      missing.push_back(at.str());
    std::error_code code = sys::fs::create_directories(folder);
    folders.insert(folders.end(), missing.rbegin(), missing.rend());
    if (!code) return Error::success();
    return createStringError(code, "cannot make the folder '%s': %s", folder.c_str(), code.message().c_str());
  }

  /// Reserves a file; returns the temporary path to write it to.
  Expected<std::string> reserve(const std::string &folder, const std::string &name) {
    SmallString<256> final(folder);
    sys::path::append(final, name);
    auto temporary = beside(folder, name);
    if (!temporary) return temporary.takeError();
    entries.push_back({*temporary, final.str().str(), {}});
    return *temporary;
  }

  Error write(const std::string &folder, const std::string &name, StringRef content) {
    auto path = reserve(folder, name);
    if (!path) return path.takeError();
    std::error_code code;
    raw_fd_ostream os(*path, code);
    if (!code) {
      os << content;
      os.close();
      code = os.error();
      os.clear_error();
    }
    if (code) return createStringError(code, "cannot write '%s': %s", name.c_str(), code.message().c_str());
    return Error::success();
  }

  /// The temporary path of the file written last.
  StringRef last() const { return entries.back().temporary; }

  Error commit() {
    for (size_t i = 0; i < entries.size(); ++i) {
      std::error_code code = keepOld(entries[i]);
      if (!code) code = sys::fs::rename(entries[i].temporary, entries[i].final);
      if (!code) continue;
      std::string final = entries[i].final;
      for (size_t j = 0; j <= i; ++j) {
        Entry &entry = entries[j];
        if (!entry.old.empty()) sys::fs::rename(entry.old, entry.final);
        else if (j < i) sys::fs::remove(entry.final);
      }
      return createStringError(code, "cannot write '%s': %s", final.c_str(), code.message().c_str());
    }
    for (const Entry &entry : entries) {
      sys::DontRemoveFileOnSignal(entry.temporary);
      if (!entry.old.empty()) sys::fs::remove(entry.old);
    }
    entries.clear();
    folders.clear();
    return Error::success();
  }

private:
  struct Entry {
    std::string temporary, final;
    std::string old; // where what lay in its place is kept until all are in theirs; empty: nothing did
  };

  static void remove(const std::string &path) {
    sys::fs::remove(path);
    sys::DontRemoveFileOnSignal(path);
  }

  static Expected<std::string> beside(const std::string &folder, const std::string &name) {
    SmallString<256> model(folder), path;
    sys::path::append(model, "." + name + ".%%%%%%%%");
    int descriptor;
    if (std::error_code code = sys::fs::createUniqueFile(model, descriptor, path))
      return createStringError(code, "cannot write in '%s': %s", folder.c_str(), code.message().c_str());
    raw_fd_ostream(descriptor, /*shouldClose=*/true).flush();
    sys::RemoveFileOnSignal(path);
    return path.str().str();
  }

  /// A second name where the file system has those, so that the first never goes; else another name.
  static std::error_code keepOld(Entry &entry) {
    sys::fs::file_status status;
    if (sys::fs::status(entry.final, status, /*follow=*/false) || !sys::fs::exists(status)) return {};
    if (sys::fs::is_directory(status)) return std::make_error_code(std::errc::is_a_directory);
    std::string old = entry.temporary + ".old";
    std::error_code code = sys::fs::create_hard_link(entry.final, old);
    if (code) code = sys::fs::rename(entry.final, old);
    if (!code) entry.old = old;
    return code;
  }

  std::vector<std::string> folders; // made here, outermost first
  std::vector<Entry> entries;
};

} // namespace

static Error writeAll(const ArtifactRequest &request, FileSet &files) {
  if (request.header)
    if (Error error = files.write(request.directory, request.name + ".h", headerText(request.kernel))) return error;
  if (request.objectFile)
    if (Error error = files.write(request.directory, request.name + ".o", request.object)) return error;
  if (request.manifest)
    if (Error error = files.write(request.directory, request.name + ".json", manifestText(request))) return error;
  if (request.staticLibrary) {
    std::string memberName = request.name + ".o"; // the member refers to it
    NewArchiveMember member(MemoryBufferRef(request.object, memberName));
    auto archive = writeArchiveToBuffer({std::move(member)}, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
                                        /*Deterministic=*/true, /*Thin=*/false);
    if (!archive) return archive.takeError();
    if (Error error = files.write(request.directory, "lib" + request.name + ".a", (*archive)->getBuffer()))
      return error;
  }
  if (request.sharedLibrary) {
    // The linker reads a file; it goes when this ends, whatever happens.
    FileSet scratch;
    if (Error error = scratch.write(request.directory, request.name + ".link.o", request.object)) return error;
    StringRef input = scratch.last();
    auto output = files.reserve(request.directory, "lib" + request.name + ".so");
    if (!output) return output.takeError();
    if (Error error = linkSharedLibrary(input, *output, "lib" + request.name + ".so", request.triple)) return error;
  }
  return Error::success();
}

Error lintel::emitArtifacts(ArrayRef<ArtifactRequest> requests) {
  FileSet files;
  for (const ArtifactRequest &request : requests) {
    if (request.name.empty() || StringRef(request.name).find_first_of(StringRef("/\0", 2)) != StringRef::npos ||
        request.name == "." || request.name == "..")
      return createStringError("expected a plain name for the files, found '%s'", request.name.c_str());
    if (Error error = files.makeFolder(request.directory)) return error;
    if (Error error = writeAll(request, files)) return error;
  }
  return files.commit();
}

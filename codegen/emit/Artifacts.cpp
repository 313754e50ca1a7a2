#include "codegen/emit/Artifacts.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lintel;

namespace {

/// Files that become visible together: all are written under temporary names and renamed by commit(); what was not
/// committed is removed.
class FileSet {
public:
  explicit FileSet(StringRef directory) : directory(directory) {}
  ~FileSet() {
    for (const Entry &entry : entries) sys::fs::remove(entry.temporary);
  }

  /// Reserves a file; returns the temporary path to write it to.
  Expected<std::string> reserve(const std::string &name) {
    SmallString<256> model(directory), path;
    sys::path::append(model, "." + name + ".%%%%%%%%");
    int descriptor;
    if (std::error_code code = sys::fs::createUniqueFile(model, descriptor, path))
      return createStringError(code, "cannot write in '%s': %s", directory.c_str(), code.message().c_str());
    raw_fd_ostream(descriptor, /*shouldClose=*/true).flush();
    SmallString<256> final(directory);
    sys::path::append(final, name);
    entries.push_back({path.str().str(), final.str().str()});
    return entries.back().temporary;
  }

  Error write(const std::string &name, StringRef content) {
    auto path = reserve(name);
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
      std::error_code code = sys::fs::rename(entries[i].temporary, entries[i].final);
      if (!code) continue;
      for (size_t j = 0; j < i; ++j) sys::fs::remove(entries[j].final);
      return createStringError(code, "cannot write '%s': %s", entries[i].final.c_str(), code.message().c_str());
    }
    entries.clear();
    return Error::success();
  }

private:
  struct Entry {
    std::string temporary, final;
  };
  std::string directory;
  std::vector<Entry> entries;
};

} // namespace

static Error writeAll(const ArtifactRequest &request, FileSet &files) {
  if (request.header)
    if (Error error = files.write(request.name + ".h", headerText(request.kernel))) return error;
  if (request.objectFile)
    if (Error error = files.write(request.name + ".o", request.object)) return error;
  if (request.manifest)
    if (Error error = files.write(request.name + ".json", manifestText(request))) return error;
  if (request.staticLibrary) {
    std::string memberName = request.name + ".o"; // the member refers to it
    NewArchiveMember member(MemoryBufferRef(request.object, memberName));
    auto archive = writeArchiveToBuffer({std::move(member)}, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
                                        /*Deterministic=*/true, /*Thin=*/false);
    if (!archive) return archive.takeError();
    if (Error error = files.write("lib" + request.name + ".a", (*archive)->getBuffer())) return error;
  }
  if (request.sharedLibrary) {
    // The linker reads a file; it goes when this ends, whatever happens.
    FileSet scratch(request.directory);
    if (Error error = scratch.write(request.name + ".link.o", request.object)) return error;
    StringRef input = scratch.last();
    auto output = files.reserve("lib" + request.name + ".so");
    if (!output) return output.takeError();
    if (Error error = linkSharedLibrary(input, *output, "lib" + request.name + ".so", request.triple)) return error;
  }
  return Error::success();
}

Error lintel::emitArtifacts(const ArtifactRequest &request) {
  if (request.name.empty() || StringRef(request.name).find_first_of(StringRef("/\0", 2)) != StringRef::npos ||
      request.name == "." || request.name == "..")
    return createStringError("expected a plain name for the files, found '%s'", request.name.c_str());
  if (std::error_code code = sys::fs::create_directories(request.directory))
    return createStringError(code, "cannot make the folder '%s': %s", request.directory.c_str(),
                             code.message().c_str());
  FileSet files(request.directory);
  if (Error error = writeAll(request, files)) return error;
  return files.commit();
}

#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/Parser.h"
#include "compiler/frontend/Printer.h"
#include "compiler/frontend/Sema.h"

using namespace lintel::frontend;

std::unique_ptr<File> lintel::frontend::parse(llvm::StringRef text, llvm::StringRef name) {
  auto file = std::make_unique<File>(text.str(), name.str());
  parseInto(*file);
  return file;
}

bool lintel::frontend::check(File &file) {
  checkFile(file);
  return !file.diagnostics.hasErrors();
}

std::string lintel::frontend::print(const File &file) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printFile(file, os);
  return text;
}

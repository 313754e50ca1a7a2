// The door of the frontend: text in, a checked file or diagnostics out.
//
//   std::unique_ptr<File> file = parse(text, "retnet.attn");
//   if (!check(*file)) { file->diagnostics.print(llvm::errs()); return; }
//   mlir::OwningOpRef<mlir::ModuleOp> module = buildSpecs(*file, context);   // SpecBuilder.h
//
// Nothing here fails otherwise than by diagnostics, whatever the text is.
#ifndef LINTEL_FRONTEND_FRONTEND_H
#define LINTEL_FRONTEND_FRONTEND_H

#include "compiler/frontend/Ast.h"

namespace lintel::frontend {

/// Reads a file. The result is never null; errors are in its diagnostics.
std::unique_ptr<File> parse(llvm::StringRef text, llvm::StringRef name);

/// Finds out what it means. Call it once, also after syntax errors: it reports what else is wrong. True if there is no
/// error at all, of syntax or meaning; warnings do not count.
bool check(File &file);

/// The canonical text, which parses to the same tree. Only for a file without syntax errors.
std::string print(const File &file);

} // namespace lintel::frontend

#endif // LINTEL_FRONTEND_FRONTEND_H

// A .attn file, read, checked and built as attn.spec operations: where every command starts.
#ifndef LINTEL_COMPILER_DRIVER_SPECFILE_H
#define LINTEL_COMPILER_DRIVER_SPECFILE_H

#include "compiler/frontend/Frontend.h"
#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lintel {

/// Diagnostics of the frontend or of a pass, as complete lines (`file:line:col: error: ...`), each ended.
class DiagnosticError : public llvm::ErrorInfo<DiagnosticError> {
public:
  static char ID;
  explicit DiagnosticError(std::string text) : text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

/// An array of an operator without its batch, time and head axes.
struct ArrayInfo {
  std::string name;
  InputKind kind = InputKind::Token; // of an input
  llvm::SmallVector<DimExpr, 2> dims;
};

struct OperatorInfo {
  std::string name;
  std::vector<ArrayInfo> inputs, states;
  ArrayInfo out;
  std::vector<ArrayInfo> others;       // outputs after `out`
  std::vector<std::string> dimensions; // names, in the order of the text
  bool bidirectional = false;
  bool attends = false; // weights that do not factor: all earlier steps are read again
  SpecOp spec;
  const frontend::Operator *syntax = nullptr;

  /// Whether a sequence may be run piece by piece, its states handed over.
  bool splits() const { return !bidirectional && !attends; }
};

using Dimensions = std::vector<std::pair<std::string, int64_t>>;

class SpecFile {
public:
  /// Reads `path` ("-" is the standard input). Errors: the file cannot be read, DiagnosticError for its text.
  static llvm::Expected<std::unique_ptr<SpecFile>> open(llvm::StringRef path);
  /// The same for text; `name` stands for the file in diagnostics.
  static llvm::Expected<std::unique_ptr<SpecFile>> parse(llvm::StringRef text, llvm::StringRef name);

  const std::vector<OperatorInfo> &operators() const { return infos; }
  /// The operator of that name; an empty name means the only one. Errors list the names there are.
  llvm::Expected<const OperatorInfo *> find(llvm::StringRef name) const;
  /// Warnings about the text, as complete lines.
  const std::string &warnings() const { return warningText; }
  /// Those about one operator.
  std::string warnings(const OperatorInfo &op) const;
  llvm::StringRef name() const { return file->source.name(); }
  mlir::MLIRContext &context() const { return *ownContext; }
  mlir::ModuleOp specs() const { return *module; }
  /// The canonical text of one operator.
  static std::string canonicalText(const OperatorInfo &op);

private:
  SpecFile() = default;
  std::unique_ptr<mlir::MLIRContext> ownContext;
  std::unique_ptr<frontend::File> file;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<OperatorInfo> infos;
  std::string warningText;
};

/// Collects a context's diagnostics as lines `file:line:col: error: message` while it lives.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);
  ~DiagnosticCollector();
  /// What was collected, as an error; `otherwise` where nothing was.
  llvm::Error takeError(const llvm::Twine &otherwise);
  const std::string &warnings() const { return warningText; }

private:
  mlir::MLIRContext &context;
  uint64_t id;
  std::string errorText, warningText;
};

/// "NAME=VALUE" with an integer of at least 1; a name that comes twice is an error.
llvm::Expected<Dimensions> parseDimensions(llvm::ArrayRef<std::string> texts);

/// `expected ..., found 'name'` and, where one is near, `; did you mean '...'?`.
std::string unknownName(const llvm::Twine &expected, llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);

} // namespace lintel

#endif

// From an operator to its artifacts: the arrows of the compiler in order, each hand-over open to be looked at.
//
//   spec -> forms -> kernel -> loops -> object, and from the object a kernel that runs in this process.
#ifndef LINTEL_COMPILER_DRIVER_COMPILATION_H
#define LINTEL_COMPILER_DRIVER_COMPILATION_H

#include "codegen/cpu/Jit.h"
#include "codegen/emit/KernelDescription.h"
#include "compiler/driver/ElementTypes.h"
#include <optional>

namespace lintel {

struct FormRequest {
  std::string form = "auto";     // auto, recurrent, chunkwise, parallel
  int64_t chunk = 0;             // steps a chunk; 0 chooses
  std::string schedule = {};     // text of a .sched file; empty: the heuristic's
  std::string scheduleName = {}; // of the file, for messages
  std::string origin = {};       // of form, chunk and schedule, for the manifest; empty: asked for, or the heuristic's
};

/// Parts of value columns, so that few heads occupy many threads (Parts.h).
struct PartsRequest {
  int64_t number = 1; // 1: none; 0: `usual` of them, or the next smaller number that there can be
  int64_t usual = 2;
};

struct CompileOptions {
  Dimensions dimensions; // every name of the operator (bindDimensions)
  ElementTypes types;
  FormRequest form;
  /// Beside the form chosen, the recurrent one where it differs, for decoding a step at a time.
  bool decode = true;
  /// Instead of `form` and `decode`: exactly these.
  std::vector<FormRequest> variants;
  std::vector<std::string> targets{"native"}; // of one architecture
  int64_t steps = 4096;                       // T that forms are compared at
  PartsRequest parts;
  std::string cache = {}; // folder of compiled operators (KernelCache.h); empty: none
};

enum class Level { Attn, Spec, Form, Kernel, Halide, Loops, Llvm, Asm, Object };
/// "spec", "form", ...; nothing for another name.
std::optional<Level> parseLevel(llvm::StringRef name);

/// All forms of the operator in one module, behind its bound spec; a form that does not exist has left its reason as
/// `not_chunkwise` on the recurrent form.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> deriveForms(const SpecFile &file, const OperatorInfo &op,
                                                              const Dimensions &dimensions, int64_t chunk = 0);
/// The one form that is asked for.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> buildForm(const SpecFile &file, const OperatorInfo &op,
                                                            const CompileOptions &options, const FormRequest &request);
/// Its kernel, stages in groups.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildKernel(const SpecFile &file, const OperatorInfo &op, const CompileOptions &options, const FormRequest &request);

/// "recurrent", "chunkwise", "parallel", "step" of a form op; "" for any other.
llvm::StringRef formName(mlir::Operation *op);

struct CompiledOperator {
  KernelDescription description;
  std::string code;   // an object, or its text
  std::string triple; // LLVM's
  std::string reason; // why the first variant's form was chosen
};

/// The whole way. Errors: DiagnosticError of a pass, an unknown target, targets of two architectures.
llvm::Expected<CompiledOperator> compileOperator(const SpecFile &file, const OperatorInfo &op,
                                                 const CompileOptions &options, Level level = Level::Object);

/// Any level as text (an object as bytes); up to the loops of the first variant alone.
llvm::Expected<std::string> emitLevel(const SpecFile &file, const OperatorInfo &op, const CompileOptions &options,
                                      Level level);

/// Loads what compileOperator made for this machine.
llvm::Expected<std::unique_ptr<JitKernel>> loadOperator(const CompiledOperator &compiled);

/// Header, object, libraries and manifest of all in a folder, which is made if it does not exist; the files carry the
/// kernel's symbol as their name. On an error none is left, and files of an earlier run are as they were.
llvm::Error writeArtifacts(llvm::ArrayRef<CompiledOperator> compiled, llvm::StringRef directory);

/// "native, x86-64, ... or aarch64"
llvm::StringRef knownTargets();
/// An error that lists the known targets if one is unknown, or if they are of two architectures.
llvm::Error checkTargets(llvm::ArrayRef<std::string> names);

/// Hexadecimal SHA-256 of the canonical text, the dimensions and the types.
std::string specHash(const OperatorInfo &op, const Dimensions &dimensions, const ElementTypes &types);

} // namespace lintel

#endif

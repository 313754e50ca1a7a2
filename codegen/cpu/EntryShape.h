// The attributes of a kernel's entry, read the same way before and after lowering.
#ifndef LINTEL_CODEGEN_CPU_ENTRYSHAPE_H
#define LINTEL_CODEGEN_CPU_ENTRYSHAPE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace lintel {

inline constexpr llvm::StringLiteral entryName = "lintel.entry", inputsName = "lintel.inputs",
                                     statesName = "lintel.states", outputsName = "lintel.outputs",
                                     exportName = "lintel.export";

/// The numbers of inputs, states and outputs of an entry; failure with a diagnostic if an attribute is bad.
struct EntryShape {
  int64_t inputs = 0, states = 0, outputs = 1;
  int64_t arguments() const { return 3 * inputs + 4 * states + 2 * outputs + 3; }
};

inline mlir::FailureOr<EntryShape> readEntryShape(mlir::Operation *op) {
  EntryShape shape;
  if (!op->getAttrOfType<mlir::StringAttr>(entryName) ||
      op->getAttrOfType<mlir::StringAttr>(entryName).getValue().empty())
    return op->emitOpError() << "expected the symbol's name as string in `" << entryName << "`";
  for (auto [name, value] : {std::pair<llvm::StringRef, int64_t *>{inputsName, &shape.inputs},
                             {statesName, &shape.states},
                             {outputsName, &shape.outputs}}) {
    if (name == outputsName && !op->hasAttr(name)) continue; // one
    auto attr = op->getAttrOfType<mlir::IntegerAttr>(name);
    if (!attr || !attr.getType().isSignlessInteger(64) || attr.getInt() < 0 || attr.getInt() > 1000)
      return op->emitOpError() << "an entry needs `" << name << "`, an i64 from 0 to 1000";
    *value = attr.getInt();
  }
  return shape;
}

} // namespace lintel

#endif

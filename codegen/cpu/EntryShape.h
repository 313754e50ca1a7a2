// The attributes of a kernel's entry, read the same way before and after lowering.
#ifndef LINTEL_CODEGEN_CPU_ENTRYSHAPE_H
#define LINTEL_CODEGEN_CPU_ENTRYSHAPE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace lintel {

inline constexpr llvm::StringLiteral entryName = "lintel.entry", inputsName = "lintel.inputs",
                                     statesName = "lintel.states", exponentsName = "lintel.exponents",
                                     outputsName = "lintel.outputs", exportName = "lintel.export",
                                     inPlaceName = "lintel.in_place";

/// A state that the body updates where it lies: its bytes, and where in scratch it lies if the caller does not want it.
struct InPlace {
  int64_t offset = 0, bytes = 0; ///< no bytes: not this state
};

/// The numbers of inputs, states and outputs of an entry; failure with a diagnostic if an attribute is bad.
struct EntryShape {
  int64_t inputs = 0, states = 0, exponents = 0, outputs = 1; ///< `states` counts the exponents, which are the last
  llvm::SmallVector<InPlace> inPlace;                         ///< one for each state
  int64_t arguments() const { return 3 * inputs + 4 * states + 2 * outputs + 3; }
};

inline mlir::FailureOr<EntryShape> readEntryShape(mlir::Operation *op) {
  EntryShape shape;
  if (!op->getAttrOfType<mlir::StringAttr>(entryName) ||
      op->getAttrOfType<mlir::StringAttr>(entryName).getValue().empty())
    return op->emitOpError() << "expected the symbol's name as string in `" << entryName << "`";
  for (auto [name, value] : {std::pair<llvm::StringRef, int64_t *>{inputsName, &shape.inputs},
                             {statesName, &shape.states},
                             {exponentsName, &shape.exponents},
                             {outputsName, &shape.outputs}}) {
    if ((name == outputsName || name == exponentsName) && !op->hasAttr(name)) continue; // one, and none
    auto attr = op->getAttrOfType<mlir::IntegerAttr>(name);
    if (!attr || !attr.getType().isSignlessInteger(64) || attr.getInt() < 0 || attr.getInt() > 1000)
      return op->emitOpError() << "an entry needs `" << name << "`, an i64 from 0 to 1000";
    *value = attr.getInt();
  }
  if (shape.exponents > shape.states)
    return op->emitOpError() << "expected at most " << shape.states << ", the number of states, in `" << exponentsName
                             << "`, found " << shape.exponents;
  shape.inPlace.resize(shape.states);
  if (mlir::Attribute attr = op->getAttr(inPlaceName)) {
    auto numbers = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(attr);
    if (!numbers || numbers.size() != 2 * shape.states ||
        llvm::any_of(numbers.asArrayRef(), [](int64_t n) { return n < 0; }))
      return op->emitOpError() << "expected `" << inPlaceName << "` to be an offset and a size from 0 for each of "
                               << shape.states << " states, found " << attr;
    for (int64_t i = 0; i < shape.states; ++i) shape.inPlace[i] = {numbers[2 * i], numbers[2 * i + 1]};
  }
  return shape;
}

} // namespace lintel

#endif

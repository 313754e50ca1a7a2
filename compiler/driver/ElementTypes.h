// Element types of an operator's arrays. Each input and the output has its own; the type that the kernel computes in,
// and that of its states, follows from them.
#ifndef LINTEL_COMPILER_DRIVER_ELEMENTTYPES_H
#define LINTEL_COMPILER_DRIVER_ELEMENTTYPES_H

#include "compiler/driver/SpecFile.h"
#include "runtime/include/lintel/kernel.h"
#include <optional>

namespace lintel {

using NamedTypes = std::vector<std::pair<std::string, lintel_dtype>>;

/// What a user asks for: one type for all arrays, and others for some of them.
struct TypeRequest {
  std::optional<lintel_dtype> common;
  NamedTypes named; // inputs and outputs
  lintel_dtype products = LINTEL_F32;

  bool empty() const { return !common && named.empty(); }
  /// What is asked for this array, if anything.
  std::optional<lintel_dtype> of(llvm::StringRef name) const;
};

/// The type of every array of an operator: `common`, but for those that are named.
struct ElementTypes {
  lintel_dtype common = LINTEL_F32;
  NamedTypes named;
  /// LINTEL_BF16: the factors of sums of products may be rounded to bf16, where the target multiplies pairs of them
  /// (docs/numerics.md). Nothing changes on other targets.
  lintel_dtype products = LINTEL_F32;

  ElementTypes(lintel_dtype common = LINTEL_F32, NamedTypes named = {}) : common(common), named(std::move(named)) {}
  lintel_dtype of(llvm::StringRef name) const;
  lintel_dtype out() const { return of("out"); }
  /// What the operator computes and hands over its states in: f64 if any input or output is f64, else f32.
  lintel_dtype state(const OperatorInfo &op) const;
  /// "bf16", "bf16 g=f32", "bf16 g=f32 products bf16".
  std::string text() const;
};

/// "f32" sets the common type, "g=f32" that of one array; products are "f32" or "bf16". Errors: unknown types, two for
/// one array.
llvm::Expected<TypeRequest> parseTypes(llvm::ArrayRef<std::string> texts, llvm::StringRef products = "f32");

/// An error where the request names what is no input or output of any of these operators.
llvm::Error checkTypes(llvm::ArrayRef<const OperatorInfo *> operators, const TypeRequest &request);

/// The types of one operator: what the request says of it, in the operator's order, and f32 for the rest. Names of
/// other operators are left out.
ElementTypes bindTypes(const OperatorInfo &op, const TypeRequest &request);

} // namespace lintel

#endif

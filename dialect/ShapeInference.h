//===- ShapeInference.h - shapes of values, once --------------------------===//
//
// Inference, verification and interpretation share these rules. Each returns the result type, or failure after an error
// at `loc` (where there is one) that names both shapes.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_DIALECT_SHAPEINFERENCE_H
#define LINTEL_DIALECT_SHAPEINFERENCE_H

#include "dialect/AttnDialect.h"

namespace lintel {

using MaybeLoc = std::optional<mlir::Location>;

/// Equal shapes; a scalar with anything; a vector with a matrix whose first axis it runs along.
mlir::FailureOr<RealType> inferBroadcast(MaybeLoc loc, RealType a, RealType b);
mlir::FailureOr<RealType> inferMatmul(MaybeLoc loc, RealType a, RealType b);
mlir::FailureOr<RealType> inferOuter(MaybeLoc loc, RealType a, RealType b);
mlir::FailureOr<RealType> inferReduce(MaybeLoc loc, RealType x);
mlir::FailureOr<RealType> inferConcat(MaybeLoc loc, llvm::ArrayRef<RealType> parts);
mlir::FailureOr<RealType> inferExtract(MaybeLoc loc, RealType x, llvm::StringRef index);
mlir::FailureOr<RealType> inferFlatten(MaybeLoc loc, RealType x);

/// The index of `attn.extract`, once dimensions are bound; nothing while it is symbolic or where it is malformed.
std::optional<int64_t> constantIndex(llvm::StringRef index);

} // namespace lintel
#endif

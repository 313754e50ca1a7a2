#include "dialect/ShapeInference.h"

using namespace mlir;
using namespace lintel;

namespace {
RealType make(RealType like, ArrayRef<StringAttr> dims) { return RealType::get(like.getContext(), dims); }
} // namespace

FailureOr<RealType> lintel::inferBroadcast(MaybeLoc loc, RealType a, RealType b) {
  if (a == b || b.getRank() == 0) return a;
  if (a.getRank() == 0) return b;
  if (a.getRank() == 1 && b.getRank() == 2 && a.getDims()[0] == b.getDims()[0]) return b;
  if (b.getRank() == 1 && a.getRank() == 2 && a.getDims()[0] == b.getDims()[0]) return a;
  return emitOptionalError(loc, "expected equal shapes, a scalar, or a vector along the first axis of a matrix; found ",
                           a, " and ", b);
}

FailureOr<RealType> lintel::inferMatmul(MaybeLoc loc, RealType a, RealType b) {
  if (a.getRank() < 1 || a.getRank() > 2 || b.getRank() < 1 || b.getRank() > 2)
    return emitOptionalError(loc, "expected vectors or matrices to contract, found ", a, " and ", b);
  if (a.getDims().back() != b.getDims().front())
    return emitOptionalError(loc, "expected the last axis of the first to match the first axis of the second, found ",
                             a, " and ", b);
  SmallVector<StringAttr> dims(a.getDims().drop_back());
  dims.append(b.getDims().begin() + 1, b.getDims().end());
  return make(a, dims);
}

FailureOr<RealType> lintel::inferOuter(MaybeLoc loc, RealType a, RealType b) {
  if (a.getRank() != 1 || b.getRank() != 1)
    return emitOptionalError(loc, "expected two vectors, found ", a, " and ", b);
  return make(a, {a.getDims()[0], b.getDims()[0]});
}

FailureOr<RealType> lintel::inferReduce(MaybeLoc loc, RealType x) {
  if (x.getRank() != 1) return emitOptionalError(loc, "expected a vector, found ", x);
  return make(x, {});
}

FailureOr<RealType> lintel::inferConcat(MaybeLoc loc, ArrayRef<RealType> parts) {
  if (parts.empty()) return emitOptionalError(loc, "expected at least one part");
  std::optional<DimExpr> total;
  for (RealType part : parts) {
    if (part.getRank() > 1) return emitOptionalError(loc, "expected vectors and scalars, found ", part);
    DimExpr size = part.getRank() ? part.getDim(0) : DimExpr::constant(1);
    total = total ? *total + size : size;
  }
  if (!total->isValid()) return emitOptionalError(loc, "expected parts whose sizes have a sum in 64 bits");
  return RealType::get(parts[0].getContext(), {*total});
}

std::optional<int64_t> lintel::constantIndex(StringRef index) {
  if (index == "0") return 0;
  auto dim = DimExpr::parse(index);
  return dim ? dim->getConstant() : std::nullopt;
}

FailureOr<RealType> lintel::inferExtract(MaybeLoc loc, RealType x, StringRef index) {
  if (x.getRank() < 1 || x.getRank() > 2) return emitOptionalError(loc, "expected a vector or a matrix, found ", x);
  if (index != "0" && !DimExpr::parse(index))
    return emitOptionalError(loc, "expected an index of 0 or a polynomial over dimension names, found \"", index, "\"");
  auto at = constantIndex(index);
  auto size = x.getDim(0).getConstant();
  if (at && size && *at >= *size) return emitOptionalError(loc, "expected an index below ", *size, ", found ", *at);
  return make(x, x.getDims().drop_front());
}

FailureOr<RealType> lintel::inferFlatten(MaybeLoc loc, RealType x) {
  if (x.getRank() != 2) return emitOptionalError(loc, "expected a matrix, found ", x);
  DimExpr size = x.getDim(0) * x.getDim(1);
  if (!size.isValid()) return emitOptionalError(loc, "expected a matrix whose size fits in 64 bits, found ", x);
  return RealType::get(x.getContext(), {size});
}

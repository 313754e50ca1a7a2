//===- StageEmitter.h - from values of a step to stages over a chunk ------===//
//
// The idea. A value of one step, of shape [n...], is over a chunk a tensor [i, n...]. Each op of a step has an
// element-by-element meaning, so any value can be written as one scalar expression over its indices, wherever it is
// used. What should not be computed again at each use becomes a stage of its own (`materialize`); the rest is written
// into its use (`scalar`).
//
// Example: phi(x) = exp(W @ x): W @ x is a reduction, so it becomes stage p[i, m] = sum_c W[m, c] x[i, c]; exp is
// written into the stage that phi is.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_TRANSFORMS_STAGEEMITTER_H
#define LINTEL_COMPILER_TRANSFORMS_STAGEEMITTER_H

#include "dialect/AttnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace lintel {

/// The positions that a scalar expression is at: i of the query (or only) chunk, j of the key chunk.
struct RowIndices {
  mlir::Value i, j;
};

class StageEmitter {
public:
  using Indices = llvm::ArrayRef<mlir::Value>;
  using Body = llvm::function_ref<mlir::Value(Indices)>;
  enum Row { None, I, J };

  StageEmitter(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// `v` is from now on `tensor`, with a leading position axis unless `row` is None.
  void bind(mlir::Value v, mlir::Value tensor, Row row) {
    bound[v] = {tensor, row};
    varying.clear();
  }
  /// `v` is from now on the scalar `s`.
  void bindScalar(mlir::Value v, mlir::Value s) {
    if (!scalars.count(v)) varying.clear(), onScalar.clear();
    scalars[v] = s;
  }
  void unbindScalar(mlir::Value v) {
    if (scalars.erase(v)) varying.clear(), onScalar.clear();
  }
  bool isBound(mlir::Value v) const { return bound.count(v); }
  /// The tensor of a bound value, and whether it has a position axis.
  mlir::Value tensorOf(mlir::Value v) const { return bound.lookup(v).tensor; }
  bool hasRows(mlir::Value v) const { return bound.lookup(v).row != None; }
  /// Many products of few vectors of a step with few others (updates that read what those before them wrote) are one
  /// stage, not one each: see JoinDots.cpp.
  void joinDots(mlir::Block &step, int64_t rows);
  /// First step of the chunk (index) and what attn.position adds to it.
  void setPosition(mlir::Value first) { position = first; }

  /// A stage over `sizes`; `body` gives the scalar at the indices. With `init`, serial along the first axis; the last
  /// index given is then the value before. With `solve`, the right side of a triangular system.
  mlir::Value stage(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> axes, llvm::ArrayRef<int64_t> sizes,
                    Body body, mlir::Value init = {}, mlir::Value solve = {}, bool staggered = false);
  mlir::Value fold(ReduceKind kind, llvm::StringRef axis, int64_t extent,
                   llvm::function_ref<mlir::Value(mlir::Value)> body, mlir::Value last = {});
  /// `v` at `indices`, written out at the builder's place.
  mlir::Value scalar(mlir::Value v, RowIndices rows, Indices indices);
  /// Makes `v` a stage over [rows, n...] (or [n...] where rows is 0 or v is the same for all steps), and what it needs
  /// before it.
  void materialize(mlir::Value v, llvm::StringRef name, int64_t rows);
  /// Makes stages of what `v` needs and should not recompute, but not of `v`.
  void prepare(mlir::Value v, int64_t rows);

  // Scalar helpers.
  mlir::Value number(double x);
  mlir::Value index(int64_t x);
  mlir::Value at(mlir::Value tensor, Indices indices) { return AtOp::create(builder, loc, tensor, indices); }
  mlir::Value binary(BinaryKind kind, mlir::Value a, mlir::Value b) {
    return BinaryOp::create(builder, loc, kind, a, b);
  }
  mlir::Value unary(UnaryKind kind, mlir::Value a) { return UnaryOp::create(builder, loc, kind, a); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return !a ? b : !b ? a : binary(BinaryKind::Mul, a, b); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return !a ? b : !b ? a : binary(BinaryKind::Add, a, b); }
  mlir::Value select(mlir::Value c, mlir::Value a, mlir::Value b) { return SelectOp::create(builder, loc, c, a, b); }
  /// `product`, but 0 (or `otherwise`) where `x` is: attn.select's `guard`.
  mlir::Value guard(mlir::Value x, mlir::Value product, mlir::Value otherwise = {}) {
    mlir::Value zero = number(0), isZero = binary(BinaryKind::Eq, x, zero);
    return SelectOp::create(builder, loc, isZero, otherwise ? otherwise : zero, product, builder.getUnitAttr());
  }
  /// a < b and so on for indices, as 1 or 0.
  mlir::Value compare(BinaryKind kind, mlir::Value a, mlir::Value b) {
    return binary(kind, NumberOp::create(builder, loc, a), NumberOp::create(builder, loc, b));
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  struct Binding {
    mlir::Value tensor;
    Row row;
  };
  /// Whether something stands for `v`, so that what it is made of does not matter.
  bool isKnown(mlir::Value v) const { return bound.count(v) || scalars.count(v) || elements.count(v); }
  mlir::Value reduceScalar(mlir::Operation *op, RowIndices rows, Indices indices);
  bool variesWithStep(mlir::Value v);
  bool dependsOnScalar(mlir::Value v);
  int64_t writtenSize(mlir::Value v);
  bool deservesStage(mlir::Value v);

  llvm::DenseMap<mlir::Value, Binding> bound;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  struct Element {
    mlir::Value tensor;
    int64_t a, b;
  };
  llvm::DenseMap<mlir::Value, Element> elements; ///< [i, a, b] of a tensor
  // What has been found out. A step may use a value many times over; without these each use would be followed again.
  llvm::DenseMap<mlir::Value, bool> varying, onScalar;
  llvm::DenseMap<mlir::Value, int64_t> sizes;
  llvm::DenseSet<mlir::Value> prepared;
  mlir::Value position;
  unsigned unnamed = 0;
};

/// The stage that gives `v` is computed in f64.
inline void makePrecise(mlir::Value v) {
  if (auto op = v.getDefiningOp<StageOp>()) op->setAttr("precision", mlir::StringAttr::get(op.getContext(), "f64"));
}

} // namespace lintel
#endif

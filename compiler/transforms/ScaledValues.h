//===- ScaledValues.h - values as mantissa and power of two ---------------===//
//
// The idea. An unbounded exponential is held as `x * 2^e` with an integer e, so that x stays near 1. Products add
// exponents, sums are brought to the larger one, and a ratio subtracts them: what cancels in the mathematics cancels
// here before it can overflow. Exponents are sums of values of the program (`Exponent`), kept symbolic so that equal
// ones vanish.
//
// An exponent of a vector is a scalar, common to its elements, or a vector with one for each: then it stands beside
// vectors and matrices along their first axis, and no axis that carries one is summed over (see `conflicts`).
//
// Example: with s = sum_j exp(k_j) v_j = x * 2^p, the new sum is s + exp(k) v = (x 2^(p-m) + exp(k - e ln 2) v 2^(e-m))
// * 2^m, where e = ceil(k log2(e)) and m = max(p, e). With z = sum_j exp(k_j) held over the same m, (s / z) has no
// exponent left.
//
// exp(n y) has n times the exponent of exp(y), for whole n: exp(y)^2 in one state and exp(2 y) in another cancel.
//
// Pitfalls. e * ln 2 is subtracted in two parts, the first of which is exact; in one part its rounding alone would cost
// three digits at k = 1000 in f32. log-decays of -inf have e = -1e30, not -inf, so that differences of exponents stay
// numbers.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_TRANSFORMS_SCALEDVALUES_H
#define LINTEL_COMPILER_TRANSFORMS_SCALEDVALUES_H

#include "compiler/analysis/RangeAnalysis.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace lintel {

/// A sum of integer multiples of symbols (see ScaledValues::symbol); empty is zero.
using Exponent = std::map<unsigned, int>;
Exponent plus(const Exponent &a, const Exponent &b, int times = 1);

/// x * 2^e. A `zero` fits every exponent.
struct Scaled {
  mlir::Value x;
  Exponent e;
  bool zero = false;
};

/// Rewrites the ops of a step, one by one in order, into scaled values at the builder's place. `isScaled`: which
/// exponentials get an exponent; `keepsEach`: which vectors of them one for each element; `readsStates`: what depends
/// on states, which no exponent may; `isFollowed`: which products of a
/// state are followed by its exponent, see `factor`.
class ScaledValues {
public:
  ScaledValues(mlir::OpBuilder &builder, mlir::Location loc, RangeAnalysis &ranges,
               llvm::function_ref<bool(UnaryOp)> isScaled, llvm::function_ref<bool(UnaryOp)> keepsEach,
               llvm::function_ref<bool(mlir::Value)> readsStates, llvm::function_ref<bool(BinaryOp)> isFollowed)
      : builder(builder), loc(loc), ranges(ranges), isScaled(isScaled), keepsEach(keepsEach), readsStates(readsStates),
        isFollowed(isFollowed) {}

  /// `v` of the old body is from now on `s`.
  void bind(mlir::Value v, Scaled s) { known[v] = std::move(s); }
  void visit(mlir::Operation *op);
  const Scaled &of(mlir::Value v) const { return known.find(v)->second; }

  unsigned symbol(mlir::Value v);
  /// The exponent as a scalar or vector.
  mlir::Value value(const Exponent &e);
  /// Whether it is a vector.
  bool isForEach(const Exponent &e) const;
  /// Where `e`, a vector, comes from: exponentials of the old body, and values that symbols were made of.
  void leaves(const Exponent &e, llvm::SetVector<mlir::Operation *> &exponentials,
              llvm::SetVector<mlir::Value> &values) const;
  /// Exponents that are vectors along an axis which some op sums over or takes apart: they must be scalars.
  llvm::ArrayRef<Exponent> conflicts() const { return summed; }
  mlir::Value timesPower(mlir::Value x, const Exponent &e);
  /// Whether e <= 0 follows from what the maxima in it are maxima of, and from factors of at most one.
  bool isNonPositive(const Exponent &e) const {
    unsigned patience = 20000; // what takes longer to show counts as not shown
    return isNonPositive(e, 6, patience);
  }

private:
  bool isNonPositive(const Exponent &e, unsigned depth, unsigned &patience) const;
  Scaled rewrite(mlir::Operation *op);
  Scaled exponential(UnaryOp op);
  /// Whether each element of the exponential has an exponent.
  bool hasEach(UnaryOp exp);
  /// `where(c, a, exp(x))` with the exponent of the elements that it takes, so that an exponential that is small for
  /// all of them does not vanish beside an `a` that none of them is.
  std::optional<Scaled> chosenExponential(SelectOp op);
  std::optional<Scaled> cleared(SelectOp op);
  /// A factor on a state with exponents `of`: where it can be next to zero the exponent follows the state down, so that
  /// what the step adds does not vanish beside one that is out of date.
  Scaled factor(mlir::Value v, const Exponent &of);
  /// The exponent that the largest element of exp(a) has, or the one of each.
  mlir::Value exponentOf(mlir::Value a, bool each);
  /// The largest element of `x`, or `x` where each has an exponent of its own.
  mlir::Value largest(mlir::Value x, bool each);
  /// exp(a) / 2^e
  mlir::Value exponentialOver(mlir::Value a, mlir::Value e);
  Scaled cloneWith(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);
  /// The value with no exponent.
  mlir::Value plain(mlir::Value v);
  /// Brings all to one exponent, which is returned; `xs` are then to be multiplied by 2 to it.
  Exponent align(llvm::ArrayRef<Scaled> parts, llvm::SmallVectorImpl<mlir::Value> &xs);
  Exponent maximum(const Exponent &a, const Exponent &b);
  mlir::Value number(double x);
  mlir::Value binary(BinaryKind kind, mlir::Value a, mlir::Value b) {
    return BinaryOp::create(builder, loc, kind, a, b);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  RangeAnalysis &ranges;
  llvm::function_ref<bool(UnaryOp)> isScaled, keepsEach;
  llvm::function_ref<bool(mlir::Value)> readsStates;
  llvm::function_ref<bool(BinaryOp)> isFollowed;
  llvm::SmallVector<Exponent> summed;
  std::map<unsigned, llvm::SmallVector<mlir::Operation *, 1>> exponentialsOf; // by symbol
  std::map<std::tuple<const void *, bool, bool>, unsigned> basic;             // of exp(y) by y, its sign and `each`
  std::map<std::pair<const void *, bool>, Scaled> factors;                    // by value and `each`
  llvm::DenseSet<unsigned> ofFractions;                                       // symbols that are never above zero
  llvm::DenseMap<mlir::Value, Scaled> known;
  llvm::DenseMap<mlir::Value, mlir::Value> plains;
  llvm::SmallVector<mlir::Value> symbols;
  llvm::DenseMap<mlir::Value, unsigned> symbolOf;
  std::map<std::pair<Exponent, Exponent>, unsigned> maxima;
  std::map<unsigned, std::pair<Exponent, Exponent>> maximumOf;
  std::map<Exponent, mlir::Value> sums, powers;
  std::map<Exponent, unsigned> finals;
  std::map<std::tuple<const void *, bool, Exponent>, unsigned> clearedOf; // condition, which branch, exponent
  std::map<unsigned, Exponent> clearedFrom;                               // by symbol
};

} // namespace lintel
#endif

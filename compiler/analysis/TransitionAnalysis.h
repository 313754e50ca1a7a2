//===- TransitionAnalysis.h - how the states of a recurrence move ---------===//
//
// The idea. Every state obeys S_t = M_t S_{t-1} + U_t. What the compiler can do with an operator depends only on the
// class of M_t: chunks can be taken where M_t is the identity, a scalar or a diagonal; low rank needs a triangular
// solve; anything affine can run step by step. Values of a step are followed from the states to the results as sums of
// terms linear in a state plus a rest; each op of the body acts on that form. So the answer does not depend on how the
// user wrote the step.
//
// Example: `S1 = a * S; S2 = S1 + b * outer(k, v - k @ S1)` gives for S2: elementwise a, low rank (-b k)(a k)^T, pair
// (b k, v).
//
// Pitfalls. New values (products of decays, scaled keys) are made at the end of the analysed block, which must
// therefore be a copy. A state that only scales others (a stabiliser's exponent) is not affine; it is listed as a
// prefix state and counts as known.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_ANALYSIS_TRANSITIONANALYSIS_H
#define LINTEL_COMPILER_ANALYSIS_TRANSITIONANALYSIS_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/Builders.h"
#include <map>
#include <set>

namespace lintel {

enum class TransitionClass { Identity, Scalar, Diagonal, LowRank, DecayLowRank, Affine };
llvm::StringRef toString(TransitionClass c);

/// A term linear in one state. `elementwise`: factor * S (a null factor is 1). `read`: left @ S, one axis less.
/// `outer`: outer(up, left @ S). `opaque`: linear, in a way that is not followed further.
struct LinearTerm {
  enum Kind { Elementwise, Read, Outer, Opaque } kind;
  unsigned state;
  bool after;         ///< of the state after the step (or after the last step, where bidirectional), not before it
  mlir::Value factor; ///< Elementwise
  mlir::Value left;   ///< Read, Outer: contracted with the feature axis; null means 1 (a state of rank 0)
  mlir::Value up;     ///< Outer
  /// Scalars: where one of them is not zero, another value was chosen (`where`) and the term is not there, whatever the
  /// state holds. The factors say the same as a product, which NaN and infinity survive. Of Elementwise, vectors too:
  /// for each channel.
  llvm::SmallVector<mlir::Value, 1> cleared = {};
};

struct OuterPair {
  mlir::Value k, v; ///< outer(k, v)
};

/// terms + sum of outer(pairs) + rest.
struct AffineValue {
  llvm::SmallVector<LinearTerm> terms;
  llvm::SmallVector<OuterPair> pairs;
  mlir::Value rest;
};

/// On the attn.select that a decay is: where its condition holds, the state before (or the channel, where the condition
/// is a vector) is not decayed but gone.
constexpr llvm::StringLiteral clearsName = "clears";

struct StateTransition {
  TransitionClass kind = TransitionClass::Affine;
  mlir::Value decay;                  ///< null: identity; see clearsName
  llvm::SmallVector<OuterPair> pairs; ///< what is added; for a state of rank below 2 only k
  llvm::SmallVector<LinearTerm> lowRank;
  bool structured = false; ///< what is added is a sum of outer products
  std::string reason;      ///< why it is affine only
};

class TransitionAnalysis {
public:
  /// `block` maps inputs and states to out and states (a body of attn.recurrent); a copy that may be added to. `prefix`
  /// lists states that count as known.
  TransitionAnalysis(mlir::Block &block, unsigned inputs, llvm::ArrayRef<unsigned> prefix);

  unsigned numStates() const { return states.size(); }
  const StateTransition &transition(unsigned state) const { return states[state]; }
  bool isPrefix(unsigned state) const { return llvm::is_contained(prefix, state); }
  /// Whether `v` depends on a state that is not a prefix state.
  bool dependsOnState(mlir::Value v);
  /// `v` in terms of the states after the step where `v` uses them, else of those before it.
  AffineValue decompose(mlir::Value v) { return decompose(v, true); }
  mlir::Value stateBefore(unsigned s) const { return block.getArgument(inputs + s); }
  mlir::Value stateAfter(unsigned s) const { return block.getTerminator()->getOperands().take_back(numStates())[s]; }

  /// Builds `a * b`, `-a` and so on at the end of the block; a null value is one.
  mlir::Value times(mlir::Value a, mlir::Value b);
  mlir::OpBuilder &getBuilder() { return builder; }

private:
  AffineValue decompose(mlir::Value v, bool cutAfter);
  OuterPair pair(mlir::Value k, mlir::Value v);
  AffineValue scale(AffineValue x, mlir::Value factor, mlir::Value divisor, unsigned rank);
  AffineValue add(AffineValue x, AffineValue y, bool subtract, RealType type);
  AffineValue opaque(llvm::ArrayRef<AffineValue> parts);
  void joinReads(AffineValue &x);
  AffineValue decomposeOp(mlir::Operation *op, bool cutAfter);
  AffineValue contract(mlir::Value q, AffineValue x);
  void classify(unsigned state);
  mlir::Value binary(BinaryKind kind, mlir::Value a, mlir::Value b);
  mlir::Value negate(mlir::Value a, mlir::Location loc);

  mlir::Block &block;
  unsigned inputs;
  llvm::SmallVector<unsigned> prefix;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, bool> dependence;
  std::map<std::pair<void *, bool>, AffineValue> known;
  llvm::SmallVector<StateTransition> states;
};

} // namespace lintel
#endif

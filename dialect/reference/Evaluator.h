//===- Evaluator.h - values of single ops and regions ---------------------===//
#ifndef LINTEL_DIALECT_REFERENCE_EVALUATOR_H
#define LINTEL_DIALECT_REFERENCE_EVALUATOR_H

#include "dialect/reference/Interpreter.h"

namespace lintel {

/// What one head of one sequence knows: its inputs, and where its outputs go.
struct Sequence {
  int64_t steps = 0, position = 0;
  bool given = false; ///< whether the caller gave initial states
  bool taken = false; ///< whether the caller takes exponents
  const llvm::StringMap<int64_t> *dimensions = nullptr;
  llvm::SmallVector<const double *> input; ///< base pointer of each input for this head
  llvm::SmallVector<int64_t> stride;       ///< elements from one step to the next
  struct Output {
    double *base = nullptr;
    int64_t stride = 0;
    double *at(int64_t t) const { return base + t * stride; }
  };
  llvm::SmallVector<Output> out; ///< for this head
};

/// Evaluates regions. Values live in an environment; an unsupported op is an internal error, since verifiers ran
/// before.
class Evaluator {
public:
  explicit Evaluator(const Sequence &sequence) : sequence(sequence) {}

  llvm::DenseMap<mlir::Value, Array> values;
  llvm::DenseMap<mlir::Value, int64_t> indices;
  int64_t step = 0; ///< of attn.position
  /// How attn.final and attn.attend get their value; set by who runs several sweeps.
  std::function<Array(FinalOp)> onFinal;
  std::function<Array(AttendOp)> onAttend;

  /// Runs a block and returns the values of its terminator.
  llvm::SmallVector<Array> run(mlir::Block &block);
  llvm::SmallVector<int64_t> sizes(RealType type) const;
  /// `value` as a * 2^0 * exp(s), so that exponentials beyond the range of a double still compare; see attn.attend.
  std::pair<double, double> scaled(mlir::Value value) const;
  /// Whether a weight is `none` by a choice, not by what its inputs come to: such a key is not there.
  bool isChosen(mlir::Value value, double none) const;

private:
  void evaluate(mlir::Operation *op);
  bool evaluateIndex(mlir::Operation *op);
  void evaluateScan(ScanOp op);
  void evaluatePairs(PairsOp op);
  void evaluateStage(StageOp op);
  double evaluateFold(FoldOp op);
  const Array &value(mlir::Value v) const;
  double scalar(mlir::Value v) const { return value(v).data[0]; }

  const Sequence &sequence;
};

} // namespace lintel
#endif

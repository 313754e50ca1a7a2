//===- StageExpressions.h - scalar expressions of stages as Halide's ------===//
// Private to codegen/halide.
#ifndef LINTEL_CODEGEN_HALIDE_STAGEEXPRESSIONS_H
#define LINTEL_CODEGEN_HALIDE_STAGEEXPRESSIONS_H

#include "codegen/halide/HalideHeader.h"
#include "codegen/halide/StageBuilder.h"

namespace lintel {

/// Whether a value inside `stage` depends on an index of one of its blocks.
bool dependsOn(StageOp stage, mlir::Value v, mlir::Value axis);

/// Builds the Funcs of a group; scheduling is apart (ScheduleApplier.h).
class StageExpressions {
public:
  StageExpressions(const GroupRequest &request)
      : request(request), type(request.compute == LINTEL_F64 ? Halide::Float(64) : Halide::Float(32)) {}

  /// A reduction of a stage, computed in the stage's tiles.
  struct Accumulator {
    Halide::Func func;
    std::vector<Halide::RVar> reductions; ///< of each update
    std::vector<bool> unrolled;           ///< whether its reduction is short and unrolled
    int lanes;                            ///< partial sums along the innermost axis; 0: the stage's own axes alone
  };
  struct Stage {
    StageOp op;
    Halide::Func func;
    std::vector<Halide::Var> vars; ///< innermost first
    Halide::RVar serial;           ///< where the stage is serial
    Halide::RVar solved;           ///< where it solves: the earlier rows
    std::vector<Accumulator> accumulators;
    std::vector<Halide::Func> masks; ///< conditions on positions, stored
  };
  /// A copy of a tensor with another axis innermost.
  struct Transposed {
    Halide::Func func;
    std::vector<Halide::Var> vars;
    std::vector<int64_t> sizes; ///< innermost first
    unsigned oldInner;          ///< which of vars was innermost
  };

  /// A factor of sums of products, rounded to bf16, two elements in each 32 bits (StagePairs.cpp).
  struct Packed {
    Halide::Func func;
    std::vector<Halide::Var> vars; ///< innermost first
    std::vector<int64_t> sizes;
    std::vector<unsigned> axes; ///< of the stage, its rank stands for the pair's number
  };

  void addImages(llvm::ArrayRef<mlir::Value> tensors, llvm::ArrayRef<mlir::Value> indices);
  /// `rows`: of the tile that the stage's accumulators end up in.
  void build(StageOp op, int64_t rows);

  std::vector<Stage> stages;
  std::vector<Transposed> transposes;
  std::vector<Packed> packs;
  llvm::DenseMap<mlir::Value, size_t> stageOf;
  std::vector<Halide::Argument> arguments;

  static Halide::Type halideType(lintel_dtype dtype);
  /// What the stage is computed in, and stored in for other stages.
  Halide::Type stageType(StageOp stage) const {
    return request.compute == LINTEL_F64 || isPrecise(stage) ? Halide::Float(64) : Halide::Float(32);
  }

private:
  struct Scope {
    llvm::SmallVector<std::pair<mlir::Value, Halide::Expr>>
        indices; ///< outermost first: the stage's axes, then those of folds around
    mlir::Value before;
    Halide::Expr beforeExpr;
    llvm::DenseMap<mlir::Value, Halide::Expr> known;
  };
  Halide::Expr expression(mlir::Value v, Scope &scope);
  Halide::Expr compute(mlir::Operation *op, Scope &scope);
  Halide::Expr index(mlir::Value v, Scope &scope);
  Halide::Expr number(mlir::Value v, Scope &scope); ///< as the compute type
  Halide::Expr truth(mlir::Value v, Scope &scope);  ///< as a condition
  Halide::Expr element(AtOp at, Scope &scope);
  Halide::Expr unary(UnaryKind kind, Halide::Expr x);
  Halide::Expr binary(BinaryOp op, Scope &scope);
  Halide::Expr reduce(mlir::Value v, Scope &scope);
  bool isSumOfFolds(mlir::Value v) const;
  bool readsAlongRows(FoldOp fold) const;
  Halide::Expr reduceAlongRow(FoldOp fold, Scope &inner, const std::vector<Halide::Var> &vars,
                              const std::vector<Halide::Expr> &args, Scope &scope);
  /// The factors of a sum of products: those of the stage's inner axis, and those of the others.
  struct Pairs {
    llvm::SmallVector<mlir::Value> row, column;
  };
  std::optional<Pairs> pairsOf(FoldOp fold) const;
  Packed &packed(FoldOp fold, llvm::ArrayRef<mlir::Value> factors, bool column);
  /// The sum's updates: `width` of the fold's terms at a time, `whole(at)` is the accumulator with those numbered at,
  /// `upTo(at, last)` with those of them that are not behind the term `last`.
  void addUpdates(Accumulator &acc, FoldOp fold, int width, const std::vector<Halide::Var> &vars, Scope &scope,
                  llvm::function_ref<Halide::Expr(Halide::Expr)> whole,
                  llvm::function_ref<Halide::Expr(Halide::Expr, Halide::Expr)> upTo);
  void addPairedReduction(Accumulator &acc, FoldOp fold, const Pairs &pairs, const std::vector<Halide::Var> &vars,
                          Scope &scope);
  Halide::Expr neutral(FoldOp fold) const;
  Halide::Expr condition(SelectOp op, Scope &scope);
  Halide::Func transposed(mlir::Value tensor, unsigned axis);
  Halide::Expr callTensor(mlir::Value tensor, std::vector<Halide::Expr> args);

  const GroupRequest &request;
  Halide::Type type; ///< of the stage being built
  llvm::DenseMap<mlir::Value, Halide::ImageParam> images;
  llvm::DenseMap<mlir::Value, Halide::Expr> scalars;
  std::map<std::tuple<void *, unsigned, int>, size_t> transposeOf;
  std::map<std::string, size_t> packedOf;
  size_t current = 0; ///< stage being built
  int64_t tileRows = 1;
  void addReduction(Accumulator &acc, FoldOp fold, const std::vector<Halide::Var> &vars, Scope &scope);
  unsigned nested = 0;
  bool alongRow = false; ///< vectors run along the reduction, not along the stage's inner axis
};

} // namespace lintel
#endif

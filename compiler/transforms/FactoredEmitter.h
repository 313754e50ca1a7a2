//===- FactoredEmitter.h - stages of chunkwise and parallel forms ---------===//
//
// What one chunk of a factored form is made of, shared by the chunkwise and the parallel lowering: the values of its
// steps (`Tile`), the running products of its decays, the masked products A of queries and keys, and the sums over
// them.
//
// Weights are running products of the decays themselves, W[i, j] = prod_{j < l <= i} a_l. They need no logarithm of a
// factor, never exceed what the mathematics has, never form inf - inf, and a zero clears exactly; the error is one
// rounding a step of a chunk.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_TRANSFORMS_FACTOREDEMITTER_H
#define LINTEL_COMPILER_TRANSFORMS_FACTOREDEMITTER_H

#include "compiler/analysis/TransitionAnalysis.h"
#include "compiler/transforms/Lowering.h"
#include "dialect/OperatorUtils.h"

namespace lintel {

/// What the regions of a chunkwise or parallel form say, by name.
struct FactoredForm {
  struct Pair {
    mlir::Value k, v;
    int64_t terms = 1; ///< rows of k and v for each step
  };
  struct State {
    llvm::StringRef name;
    RealType type;
    mlir::Value decay;
    mlir::Value clears; ///< where not zero, nothing is left of the state (channel) before the step; null: never
    llvm::SmallVector<Pair> pairs;
    struct LowRank {
      mlir::Value u, w;
    };
    llvm::SmallVector<LowRank> lowRank;
    /// Whether the state is cleared channel by channel.
    bool clearsEach() const { return clears && mlir::cast<RealType>(clears.getType()).getRank(); }
    bool outgrown = false; ///< values of pairs may be infinite where their weight of 0 says that nothing has grown yet
  };
  struct Read {
    unsigned state;
    bool inclusive;
    mlir::Value q;
    int64_t terms = 1;      ///< rows of q for each step
    bool ofCleared = false; ///< of the state before the step, or zero where the step clears it
  };
  llvm::SmallVector<State> states;
  llvm::SmallVector<Read> reads;
  mlir::Block *prefix = nullptr, *token, *combine;
  unsigned inputs, internal;

  template <class OpT> static FactoredForm of(OpT op) {
    FactoredForm f;
    f.internal = op.internalStates();
    f.inputs = op.getInputs().size();
    if (f.internal) f.prefix = &op.getPrefix().front();
    f.token = &op.getToken().front();
    f.combine = &op.getCombine().front();
    auto values = f.token->getTerminator()->getOperands();
    unsigned at = 0;
    for (auto [s, attr] : llvm::enumerate(op.getStates())) {
      auto info = mlir::cast<StateInfoAttr>(attr);
      State state{info.getName(), op.stateType(s), {}, {}, {}, {}};
      if (info.getDecay() >= 0) state.decay = values[at++];
      if (auto select = state.decay ? state.decay.getDefiningOp<SelectOp>() : SelectOp();
          select && select->hasAttr(clearsName))
        state.clears = select.getCondition();
      for (int64_t p = 0; p < info.getPairs(); ++p) {
        state.pairs.push_back({values[at++], {}});
        if (info.getRank() == 2) state.pairs.back().v = values[at++];
      }
      for (int64_t r = 0; r < info.getLowRank(); ++r, at += 2) state.lowRank.push_back({values[at], values[at + 1]});
      f.states.push_back(state);
    }
    for (mlir::Attribute attr : op.getReads()) {
      auto info = mlir::cast<ReadAttr>(attr);
      f.reads.push_back({static_cast<unsigned>(info.getState()), info.getInclusive(), values[at++]});
    }
    return f;
  }
};

/// The values of one chunk's steps as tensors over its positions.
class Tile {
public:
  /// `bounds`: where exponents are brought down by what the decays leave of the states that have them, how large those
  /// are at most beside what a step adds. (A state that is at hand can be looked at instead: settleExponents.)
  Tile(const FactoredForm &form, const KernelFrame &frame, mlir::OpBuilder &builder, mlir::Location loc, mlir::Value t,
       int64_t rows, mlir::ValueRange exponents, mlir::ValueRange bounds = {});

  StageEmitter emitter;
  int64_t rows;
  llvm::SmallVector<mlir::Value> exponentsAfter, boundsAfter; ///< carried on to the next chunk

  /// Running products of a state's decay: W [i, j] over (j, i], `before` [i(, c)] over [0, i], nothing where the
  /// state does not decay.
  struct Products {
    mlir::Value w, before; ///< no w where decays differ by channel: see decayedKeys and SubBlocks
    unsigned rank;
    bool grows; ///< a factor may exceed one
  };
  std::optional<Products> products(const FactoredForm::State &state);
  /// Whether a decay of the state may exceed one.
  bool grows(const FactoredForm::State &state) {
    auto p = products(state);
    return p && p->grows;
  }
  /// The step of a row of a tensor that has `terms` rows for each step.
  mlir::Value stepOf(mlir::Value row, int64_t terms) { return terms == 1 ? row : arithmetic(row, '/', terms); }
  /// The element of a token value; `c` is left out where it has no axis.
  mlir::Value element(mlir::Value v, mlir::Value i, mlir::Value c);
  /// x times a weight of the state, where zero times infinity is zero.
  mlir::Value weigh(mlir::Value x, mlir::Value weight, bool grows);
  /// What meets the state: q, scaled by the decays of each channel since the chunk's start (up to the step before,
  /// where the read is exclusive).
  mlir::Value scaledQuery(const FactoredForm::Read &read, const FactoredForm::State &state);
  /// Row i of `scaled`, a scaledQuery, for the product with `met`, an element of the state or of a key before the
  /// chunk: as long as that is zero no growth has met it, and an overflown factor must not.
  mlir::Value queryFor(const FactoredForm::Read &read, const FactoredForm::State &state, mlir::Value scaled,
                       mlir::Value i, mlir::Value c, mlir::Value met);
  /// `sum`, a product of row i of scaledQuery with what lies before the chunk, times the decays that are not in
  /// scaledQuery already: those of a scalar; zero where the state was cleared since.
  mlir::Value sinceStart(const FactoredForm::Read &read, const FactoredForm::State &state, mlir::Value i,
                         mlir::Value sum);
  /// `x`, which step i of a read sees, or zero where it is a read `ofCleared` and the step clears.
  mlir::Value ofCleared(const FactoredForm::Read &read, const FactoredForm::State &state, mlir::Value i, mlir::Value x);
  /// Whether step i of a read sees what lies before the chunk, as 1 or 0.
  mlir::Value isOpen(const FactoredForm::Read &read, const FactoredForm::State &state, mlir::Value i);
  /// Where decays differ by channel: K[i, j, c], the key of row j with the decays over (j, i].
  mlir::Value decayedKeys(const FactoredForm::State &state, unsigned pair);
  /// k scaled by the decays up to the chunk's end: what is added to the state.
  mlir::Value scaledKey(const FactoredForm::State &state, unsigned pair);
  /// `x`, which comes from before the chunk, or zero where the state (its channel c) is cleared in it.
  mlir::Value beforeChunk(const FactoredForm::State &state, mlir::Value x, mlir::Value c = {}) {
    return state.clears ? unlessCleared(state, emitter.index(rows - 1), {}, x, c) : x;
  }
  /// `x`, which comes from step j, or zero where the state (its channel c) is cleared after it in the chunk.
  mlir::Value fromStep(const FactoredForm::State &state, mlir::Value j, mlir::Value x, mlir::Value c = {}) {
    return state.clears ? unlessCleared(state, emitter.index(rows - 1), j, x, c) : x;
  }
  /// `x`, or zero where a step up to `row` clears what x comes from: step j, or before the chunk where j is null. Of a
  /// state that is cleared channel by channel, `x` is of channel c, or of all that none is left of where c is null.
  mlir::Value unlessCleared(const FactoredForm::State &state, mlir::Value row, mlir::Value j, mlir::Value x,
                            mlir::Value c = {});
  /// The part of channel c in what step i of a read sees of step j, or of what lies before the chunk.
  mlir::Value ofChannel(const FactoredForm::Read &read, const FactoredForm::State &state, mlir::Value i, mlir::Value j,
                        mlir::Value c, mlir::Value x);
  /// Whether the state is left alone in the whole chunk, as 1 or 0.
  mlir::Value isNeverCleared(const FactoredForm::State &state);
  /// A[i, j]: masked products within the chunk, for the rows of the read and of the pair.
  mlir::Value scores(const FactoredForm::Read &read, const FactoredForm::State &state, unsigned pair);
  /// `sum` and what row i of a read sees of the chunk's own steps, by `scores` of each pair: the steps behind i (or i
  /// itself, where the read is exclusive) weigh nothing and are not looked at. `idx` is i, or i and e.
  mlir::Value addWithin(mlir::Value sum, const FactoredForm::Read &read, const FactoredForm::State &state,
                        llvm::ArrayRef<mlir::Value> scores, StageEmitter::Indices idx);
  /// The state after the chunk.
  mlir::Value update(const FactoredForm::State &state, mlir::Value before);
  /// Applies the combine region to the reads' tensors and emits the output.
  void emitOutput(const FactoredForm &form, const KernelFrame &frame, llvm::ArrayRef<mlir::Value> reads, mlir::Value t);
  /// From here on steps behind the sequence's end add nothing and decay nothing.
  void maskAfterEnd() { masked = true; }
  /// The values of a pair, zero behind the end.
  mlir::Value pairValues(const FactoredForm::State &state, unsigned pair);
  /// The sum over the feature axis of body(c), or body(null) where there is none.
  mlir::Value overFeature(const FactoredForm::State &state, llvm::function_ref<mlir::Value(mlir::Value)> body);

  /// Chunks of more steps than this keep a channel's products by sub-blocks of as many.
  static constexpr int64_t subBlock = 8;

private:
  /// See SubBlocks.cpp.
  struct SubBlocks {
    mlir::Value w, within, rest, between;
  };
  const SubBlocks &subBlocks(const FactoredForm::State &state);
  mlir::Value subBlockScores(const FactoredForm::Read &read, const FactoredForm::State &state, unsigned pair);
  /// The products over (rows - 1 - s, rows), [s, c].
  mlir::Value afterwards(const FactoredForm::State &state);
  /// i `op` by for / % * + and, as '~', by - i.
  mlir::Value arithmetic(mlir::Value i, char op, int64_t by);
  bool isLong(const FactoredForm::State &state) {
    return rows > subBlock && state.decay && mlir::cast<RealType>(state.decay.getType()).getRank();
  }
  /// A step's decay, 1 behind the end.
  mlir::Value decayAt(const FactoredForm::State &state, mlir::Value i, mlir::Value c) {
    return beforeEnd(i, element(state.decay, i, c), 1);
  }
  /// Makes a stage of an input's rows, which may have any stride: some loops have no way to step through those.
  void keepRows(mlir::Value v, llvm::StringRef name);
  /// By row (and channel), the last step up to it that clears the state; -1: none in the chunk. With `wholly`, the last
  /// one behind which no channel is left of before.
  mlir::Value lastCleared(const FactoredForm::State &state, bool wholly);
  /// `weighed` at the last row whose decays row i of the read has seen, `unweighed` where there is none.
  mlir::Value atRow(const FactoredForm::Read &read, mlir::Value i, llvm::function_ref<mlir::Value(mlir::Value)> weighed,
                    mlir::Value unweighed);

  /// The exponent that a chunk starts from.
  mlir::Value lowered(mlir::Value exponent, mlir::Value bound);
  mlir::Value boundAfter(const FactoredForm &form, const KernelFrame &frame, StageEmitter &prefix, unsigned exponent,
                         mlir::Value bound);
  /// `x` where row i is before the sequence's end, else `behind`.
  mlir::Value beforeEnd(mlir::Value i, mlir::Value x, double behind);

  mlir::Value start; ///< the chunk's first step
  bool masked = false;
  std::map<void *, Products> known;
  std::map<void *, SubBlocks> blocks;
  std::map<void *, mlir::Value> afters;
  std::map<std::pair<void *, bool>, mlir::Value> clearings;
  std::map<std::pair<void *, void *>, mlir::Value> decayed; ///< by key and decay
  std::map<std::tuple<void *, void *, void *, bool>, mlir::Value> cache;
  llvm::SmallVector<mlir::Value> exponentsAt, exponentsNext;
};

/// Whole chunks, then the steps left over one by one. `body` gets the first step, what is carried and how many rows,
/// and returns what is carried on.
llvm::SmallVector<mlir::Value>
sweepChunks(mlir::OpBuilder &builder, mlir::Location loc, int64_t chunk, mlir::ValueRange carried,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange, int64_t)> body);
/// The kernel of a factored form, whose internal states are exponents behind the form's states.
KernelFrame createFactoredKernel(mlir::OpBuilder &builder, mlir::Operation *op, llvm::StringRef formName, int64_t chunk,
                                 const FactoredForm &form, llvm::ArrayRef<int64_t> scales);
/// What the states and the exponents start from.
llvm::SmallVector<mlir::Value> startStates(const FactoredForm &form, const KernelFrame &frame, StageEmitter &emitter);

} // namespace lintel
#endif

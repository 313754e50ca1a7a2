// The chunkwise form of Yang et al. 2024 ("Gated linear attention transformers with hardware-efficient training",
// section 4) and Dao and Gu 2024
// ("Transformers are SSMs", section 6), for any operator whose transition and reads have the structure; weights are
// running products of the decays.
#include "compiler/analysis/TransitionAnalysis.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/SliceClone.h"
#include "dialect/OperatorUtils.h"

namespace lintel {
#define GEN_PASS_DEF_DERIVECHUNKWISE
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

/// One operator on its way from recurrent to chunkwise; `reason` says why it has no such form.
struct Derivation {
  RecurrentOp recurrent;
  RecurrentOp copy; // analysed, and added to
  int64_t chunk;
  std::string name; // of the chunkwise form
  std::string reason;

  struct ReadOf {
    unsigned state;
    bool after;
    Value left;
    bool operator==(const ReadOf &o) const { return state == o.state && after == o.after && left == o.left; }
  };
  SmallVector<ReadOf> reads;
  struct Leaf {
    SmallVector<unsigned> reads;
    SmallVector<SmallVector<Value, 1>> cleared; // of each read, see LinearTerm
    Value rest;
  };
  llvm::MapVector<Value, Leaf> leaves;
  DenseSet<Value> followed;

  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }

  bool checkStates(TransitionAnalysis &analysis) {
    Block &body = copy.getBody().front();
    for (unsigned s = 0; s < analysis.numStates(); ++s) {
      if (!analysis.isPrefix(s)) continue;
      std::string name = "exponent '" + stateNames(recurrent.getStates())[s].str() + "'";
      Value after = analysis.stateAfter(s);
      if (cast<RealType>(after.getType()).getRank()) return refuse(name + " is one for each channel");
      if (!dependsOnlyOn(after, recurrent.getInputs().size(), s))
        return refuse(name + " depends on more than itself and the inputs");
      if (!canBeWrittenOut(body, after)) return refuse(name + " is too large an expression");
      auto readsLast = [&](FinalOp final) {
        return final.getX() == after ? WalkResult::interrupt() : WalkResult::advance();
      };
      if (body.walk(readsLast).wasInterrupted()) return refuse(name + " is read after the last step");
    }
    for (unsigned s = 0; s < analysis.numStates(); ++s) {
      if (analysis.isPrefix(s)) continue;
      const StateTransition &t = analysis.transition(s);
      std::string name = "state '" + stateNames(recurrent.getStates())[s].str() + "'";
      if (t.kind == TransitionClass::Affine) return refuse(name + " is affine only: " + t.reason);
      if (!t.structured) return refuse(name + " adds a matrix that is not a sum of outer products");
      if (t.pairs.empty()) return refuse(name + " is never added to");
    }
    return true;
  }

  /// Finds the largest values on the way to the output that are sums of reads.
  bool findReads(TransitionAnalysis &analysis, Value v) {
    if (!analysis.dependsOnState(v) || leaves.count(v) || !followed.insert(v).second) return true;
    AffineValue x = analysis.decompose(v);
    auto isRead = [&](const LinearTerm &t) {
      auto rank = cast<RealType>(analysis.stateBefore(t.state).getType()).getRank();
      return t.kind == LinearTerm::Read || (t.kind == LinearTerm::Elementwise && rank == 0);
    };
    if (!x.terms.empty() && x.pairs.empty() && llvm::all_of(x.terms, isRead)) {
      Leaf leaf{{}, {}, x.rest};
      for (const LinearTerm &t : x.terms) {
        ReadOf read{t.state, t.after, t.kind == LinearTerm::Read ? t.left : t.factor};
        auto it = llvm::find(reads, read);
        leaf.reads.push_back(it - reads.begin());
        leaf.cleared.push_back(t.cleared);
        if (it == reads.end()) reads.push_back(read);
      }
      leaves[v] = leaf;
      return true;
    }
    Operation *op = v.getDefiningOp();
    bool whole = !op || llvm::any_of(x.terms, [&](const LinearTerm &t) {
      return t.kind == LinearTerm::Elementwise && cast<RealType>(analysis.stateBefore(t.state).getType()).getRank() > 0;
    });
    if (whole) return refuse("the output uses a whole state, not a contraction with it");
    if (isa<FinalOp>(op)) return refuse("the output uses a whole state, not a contraction with it");
    return llvm::all_of(op->getOperands(), [&](Value x) { return findReads(analysis, x); });
  }

  Operation *build(TransitionAnalysis &analysis, OpBuilder &builder, bool bidirectional) {
    Location loc = recurrent.getLoc();
    MLIRContext *context = builder.getContext();
    Block &body = copy.getBody().front();
    unsigned inputs = recurrent.getInputs().size(), n = analysis.numStates();
    SmallVector<unsigned> user, internal;
    for (unsigned s = 0; s < n; ++s) (analysis.isPrefix(s) ? internal : user).push_back(s);
    SmallVector<Attribute> states, readAttrs;
    SmallVector<int64_t> scales, indexOf(n, -1);
    for (auto [i, s] : llvm::enumerate(user)) indexOf[s] = i;
    for (auto [i, s] : llvm::enumerate(internal)) indexOf[s] = user.size() + i;
    SmallVector<Value> tokenValues;
    Value one = ConstantOp::create(analysis.getBuilder(), loc, builder.getF64FloatAttr(1));
    for (unsigned s : user) {
      const StateTransition &t = analysis.transition(s);
      auto rank = cast<RealType>(analysis.stateBefore(s).getType()).getRank();
      int64_t decay = t.decay ? static_cast<int64_t>(cast<RealType>(t.decay.getType()).getRank()) : -1;
      states.push_back(StateInfoAttr::get(context, stateNames(recurrent.getStates())[s], rank, decay, t.pairs.size(),
                                          t.lowRank.size()));
      if (t.decay) tokenValues.push_back(t.decay);
      for (const OuterPair &p : t.pairs) {
        tokenValues.push_back(p.k);
        if (rank == 2) tokenValues.push_back(p.v);
      }
      for (const LinearTerm &term : t.lowRank) {
        tokenValues.push_back(term.up);
        tokenValues.push_back(term.left);
      }
      if (!internal.empty()) {
        int64_t scale = recurrent.getScales().empty() ? -1 : recurrent.getScales()[s];
        scales.push_back(scale < 0 ? -1 : indexOf[scale]);
      }
    }
    for (const ReadOf &read : reads) {
      readAttrs.push_back(ReadAttr::get(context, indexOf[read.state], read.after));
      tokenValues.push_back(read.left ? read.left : one);
    }
    auto form = ChunkwiseOp::create(
        builder, loc, builder.getStringAttr(name), recurrent.getInputs(), builder.getArrayAttr(states),
        builder.getArrayAttr(readAttrs), builder.getI64IntegerAttr(chunk),
        bidirectional ? builder.getUnitAttr() : UnitAttr(), builder.getDenseI64ArrayAttr(scales));
    inheritAttributes(form, recurrent);
    auto enter = [&](Region &region, bool afterToo, IRMapping &mapping) {
      Block &block = region.emplaceBlock();
      for (unsigned i = 0; i < inputs; ++i)
        mapping.map(body.getArgument(i), block.addArgument(body.getArgument(i).getType(), loc));
      for (unsigned s : internal)
        mapping.map(analysis.stateBefore(s), block.addArgument(analysis.stateBefore(s).getType(), loc));
      if (afterToo)
        for (unsigned s : internal)
          mapping.map(analysis.stateAfter(s), block.addArgument(analysis.stateAfter(s).getType(), loc));
      builder.setInsertionPointToEnd(&block);
      return &block;
    };
    OpBuilder::InsertionGuard guard(builder);
    if (!internal.empty()) {
      IRMapping mapping;
      enter(form.getPrefix(), false, mapping);
      SmallVector<Value> next;
      for (unsigned s : internal) next.push_back(cloneSlice(analysis.stateAfter(s), mapping, builder));
      YieldOp::create(builder, loc, next);
    }
    {
      IRMapping mapping;
      enter(form.getToken(), true, mapping);
      SmallVector<Value> values;
      for (Value v : tokenValues) values.push_back(cloneSlice(v, mapping, builder));
      YieldOp::create(builder, loc, values);
    }
    IRMapping mapping;
    Block *block = enter(form.getCombine(), true, mapping);
    SmallVector<Value> readArgs;
    for (const ReadOf &read : reads) {
      auto state = cast<RealType>(analysis.stateBefore(read.state).getType());
      auto type = RealType::get(context, state.getRank() == 2 ? state.getDims().drop_front() : ArrayRef<StringAttr>{});
      readArgs.push_back(block->addArgument(type, loc));
    }
    for (auto &[v, leaf] : leaves) {
      Value sum = leaf.rest ? cloneSlice(leaf.rest, mapping, builder) : Value();
      for (auto [r, cleared] : llvm::zip_equal(leaf.reads, leaf.cleared)) {
        Value read = readArgs[r];
        for (Value c : cleared) {
          Value zero = ConstantOp::create(builder, loc, builder.getF64FloatAttr(0));
          read = SelectOp::create(builder, loc, cloneSlice(c, mapping, builder), zero, read);
        }
        sum = sum ? BinaryOp::create(builder, loc, BinaryKind::Add, read, sum).getResult() : read;
      }
      mapping.map(v, sum);
    }
    SmallVector<Value> outputs;
    for (Value v : body.getTerminator()->getOperands().drop_back(n)) outputs.push_back(cloneSlice(v, mapping, builder));
    YieldOp::create(builder, loc, outputs);
    return form;
  }
};

struct Pass : lintel::impl::DeriveChunkwiseBase<Pass> {
  using DeriveChunkwiseBase::DeriveChunkwiseBase;

  void runOnOperation() override {
    if (chunk && failed(verifyChunk(getOperation(), chunk))) return signalPassFailure();
    for (RecurrentOp recurrent : llvm::make_early_inc_range(getOperation().getOps<RecurrentOp>())) {
      StringRef base = recurrent.getSymName();
      base.consume_back("_recurrent");
      std::string name = (base + "_chunkwise").str();
      if (failed(verifyFreshName(recurrent, name))) return signalPassFailure();
      OpBuilder builder(recurrent->getContext());
      builder.setInsertionPointAfter(recurrent);
      Derivation d{recurrent, cast<RecurrentOp>(recurrent->clone()), chunk, name, {}, {}, {}, {}};
      SmallVector<unsigned> prefix;
      for (int64_t s : recurrent.getScales())
        if (s >= 0 && !llvm::is_contained(prefix, static_cast<unsigned>(s))) prefix.push_back(s);
      bool bidirectional = recurrent.getBody().walk([](FinalOp) { return WalkResult::interrupt(); }).wasInterrupted();
      {
        TransitionAnalysis analysis(d.copy.getBody().front(), recurrent.getInputs().size(), prefix);
        auto outputs = d.copy.getBody().front().getTerminator()->getOperands().drop_back(analysis.numStates());
        if (d.checkStates(analysis) && llvm::all_of(outputs, [&](Value v) { return d.findReads(analysis, v); }) &&
            !(d.leaves.empty() && d.refuse("the output reads no state"))) {
          if (chunk == 0) d.chunk = defaultChunk(analysis);
          d.build(analysis, builder, bidirectional);
        }
      }
      if (!d.reason.empty()) recurrent->setAttr("not_chunkwise", builder.getStringAttr(d.reason));
      d.copy->erase();
    }
  }

  /// Small chunks win on CPUs, whose L1 holds the state; a decay for each channel costs its running products for each
  /// pair of steps, a low-rank transition a system of as many rows as it has terms in the chunk. (Measured in
  /// docs/rationale/low-rank.md.)
  static int64_t defaultChunk(TransitionAnalysis &analysis) {
    int64_t chunk = 8;
    for (unsigned s = 0; s < analysis.numStates(); ++s) {
      const StateTransition &t = analysis.transition(s);
      if (analysis.isPrefix(s) || t.kind == TransitionClass::Identity || t.kind == TransitionClass::Scalar) continue;
      bool channels = t.decay && cast<RealType>(t.decay.getType()).getRank() > 0;
      chunk = std::min<int64_t>(chunk, channels || t.lowRank.size() > 1 ? 4 : 8);
    }
    return chunk;
  }
};

} // namespace

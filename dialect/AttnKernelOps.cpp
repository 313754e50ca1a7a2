// Verifiers of the kernel phase.
#include "dialect/OperatorUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace lintel;

/// Exponents are scalars, or vectors along the rows of what they scale, without one of their own, behind all other
/// states.
static LogicalResult verifyScales(KernelOp op, unsigned states) {
  ArrayRef<int64_t> scales = op.getScales();
  if (scales.empty()) return success();
  if (scales.size() != states)
    return op.emitOpError("expected a scale for each of ") << states << " states, found " << scales.size();
  int64_t first = states;
  for (int64_t s : scales)
    if (s >= 0) first = std::min(first, s);
  auto typeOf = [&](int64_t s) {
    return cast<RealType>(op.getBody().getArgument(op.getInputs().size() + s).getType());
  };
  for (auto [i, s] : llvm::enumerate(scales)) {
    if (s < -1 || s >= static_cast<int64_t>(states))
      return op.emitOpError("expected a scale to be the index of a state or -1, found ") << s;
    if (static_cast<int64_t>(i) < first) {
      if (s >= 0 &&
          (typeOf(s).getRank() > 1 || typeOf(i).getDims().take_front(typeOf(s).getRank()) != typeOf(s).getDims()))
        return op.emitOpError("expected state ")
               << s << ", an exponent, to be a scalar or a vector along the rows of state " << i;
      continue;
    }
    if (s >= 0 || !llvm::is_contained(scales, static_cast<int64_t>(i)))
      return op.emitOpError("expected exponents, which have none of their own, behind all other states, found state ")
             << i;
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  SmallVector<StringRef> names = stateNames(getStates());
  if (failed(verifyOperatorHeader(*this, getInputs(), names))) return failure();
  Block &body = getBody().front();
  unsigned inputs = getInputs().size();
  if (body.getNumArguments() != inputs + names.size())
    return emitOpError("expected ") << inputs + names.size() << " block arguments, found " << body.getNumArguments();
  for (auto [arg, attr] : llvm::zip(body.getArguments(), getInputs())) {
    bool token = cast<ParamAttr>(attr).getKind() == InputKind::Token;
    if (token ? !isa<SequenceType>(arg.getType()) : !isa<RealType>(arg.getType()))
      return emitOpError("expected a sequence for a token input and a tensor for any other, found ") << arg.getType();
  }
  if (failed(verifyScales(*this, names.size()))) return failure();
  if (failed(verifyChunk(*this, getChunk()))) return failure();
  SmallVector<RealType> outputs = outputTypes();
  if (outputs.size() != numOutputs(*this))
    return emitOpError("expected a type for each of ") << numOutputs(*this) << " outputs, found " << outputs.size();
  if (failed(verifyOutputs(*this, SmallVector<Type>(outputs.begin(), outputs.end())))) return failure();
  for (RealType type : outputs)
    if (failed(verifyBound(*this, type))) return failure();
  auto fits = [](Operation *op, Type type) {
    if (auto sequence = dyn_cast<SequenceType>(type)) type = RealType::get(op->getContext(), sequence.getSizes());
    auto real = dyn_cast<RealType>(type);
    return !real || succeeded(verifyBound(op, real, maxStageElements));
  };
  for (BlockArgument arg : body.getArguments())
    if (!fits(*this, arg.getType())) return failure();
  auto result = getBody().walk([&](Operation *op) {
    if (isa<ScanOp, PairsOp, RowsOp, EmitOp, StageOp>(op) && op->getParentOfType<StageOp>()) {
      op->emitOpError("does not belong into a stage");
      return WalkResult::interrupt();
    }
    if (auto emit = dyn_cast<EmitOp>(op)) {
      int64_t n = emit.getOutput();
      auto rows = emit.getX().getType().getDims().drop_front();
      if (n < 0 || n >= static_cast<int64_t>(outputs.size()) || rows != outputs[n].getDims()) {
        InFlightDiagnostic diag = emit.emitOpError("expected rows of one of the outputs (");
        llvm::interleaveComma(outputs, diag);
        diag << "), found " << emit.getX().getType() << " for output " << n;
        return WalkResult::interrupt();
      }
    }
    if (auto taken = dyn_cast<TakenOp>(op))
      if (taken.getState() >= names.size()) {
        taken.emitOpError("expected the index of one of ") << names.size() << " states, found " << taken.getState();
        return WalkResult::interrupt();
      }
    for (Type type : op->getResultTypes())
      if (!fits(op, type)) return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted()) return failure();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().size() != names.size())
    return emitOpError("expected attn.yield of ") << names.size() << " states";
  for (auto [i, v] : llvm::enumerate(yield.getValues()))
    if (v.getType() != body.getArgument(inputs + i).getType())
      return emitOpError("expected state '") << names[i] << "' to keep its shape "
                                             << body.getArgument(inputs + i).getType() << ", found " << v.getType();
  return success();
}

SmallVector<RealType> KernelOp::outputTypes() {
  SmallVector<RealType> types{dyn_cast<RealType>(getOut())};
  if (auto others = getOthers())
    for (Type type : others->getAsValueRange<TypeAttr>()) types.push_back(dyn_cast<RealType>(type));
  return types;
}

namespace {
template <class OpT> LogicalResult verifyLoop(OpT op) {
  if (failed(verifyChunk(op, op.getChunk()))) return failure();
  Block &body = op.getBody().front();
  if (body.getNumArguments() != op.getInit().size() + 1 || !body.getArgument(0).getType().isIndex())
    return op.emitOpError("expected block arguments of an index and ") << op.getInit().size() << " carried values";
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().size() != op.getInit().size())
    return op.emitOpError("expected attn.yield of ") << op.getInit().size() << " carried values";
  for (auto [i, init] : llvm::enumerate(op.getInit())) {
    Type type = init.getType();
    if (body.getArgument(i + 1).getType() != type || yield.getValues()[i].getType() != type ||
        op.getResult(i).getType() != type)
      return op.emitOpError("expected carried value ") << i << " to keep its type " << type;
  }
  return success();
}

} // namespace

LogicalResult ScanOp::verify() {
  if ((getMode() == ScanMode::Rest) != (static_cast<int64_t>(getFrom()) > 0))
    return emitOpError("expected `from` exactly on a scan of the rest");
  if (getResults().size() != getInit().size()) return emitOpError("expected a result for each carried value");
  return verifyLoop(*this);
}

LogicalResult PairsOp::verify() {
  if (static_cast<int64_t>(getQueries()) < 0 || static_cast<int64_t>(getWindow()) < 0)
    return emitOpError("expected a number of queries and a window of 0 or more");
  if (failed(verifySeen(*this, getWindow(), getAhead(), getFirst()))) return failure();
  if (getCausal() && static_cast<int64_t>(getAhead()) >= 0)
    return emitOpError("expected keys ahead only where it is not causal");
  auto whole = getWhole();
  if (whole && (whole->size() != 2 || llvm::any_of(*whole, [](int64_t n) { return n < -1; })))
    return emitOpError("expected `whole` to have two numbers of steps, each 0 or more, or -1 for no bound");
  if (whole && (getFirst() || getDescending())) return emitOpError("expected `whole` without `first` and `descending`");
  if (getCut() && !whole) return emitOpError("expected `cut` only beside `whole`");
  if (getResults().size() != getInit().size()) return emitOpError("expected a result for each carried value");
  return verifyLoop(*this);
}

void ScanOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  if (!region.empty() && region.front().getNumArguments()) set(region.front().getArgument(0), "t");
}
void PairsOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  if (!region.empty() && region.front().getNumArguments()) set(region.front().getArgument(0), "s");
}

LogicalResult RowsOp::verify() {
  auto sizes = getX().getType().getSizes();
  RealType type = getType();
  if (type.getRank() != sizes.size() + 1)
    return emitOpError("expected one axis more than ") << getX().getType() << ", found " << type;
  for (auto [i, n] : llvm::enumerate(sizes))
    if (type.getDim(i + 1).getConstant() != n)
      return emitOpError("expected rows of ") << getX().getType() << ", found " << type;
  return success();
}

LogicalResult StageOp::verify() {
  unsigned rank = getType().getRank();
  if (getAxes().size() != rank) return emitOpError("expected ") << rank << " axis names, found " << getAxes().size();
  llvm::StringSet<> names;
  for (Attribute axis : getAxes())
    if (!names.insert(cast<StringAttr>(axis).getValue()).second)
      return emitOpError("expected distinct axes, found ") << axis << " twice";
  Block &body = getBody().front();
  unsigned extra = getInit() ? 1 : 0;
  if (body.getNumArguments() != rank + extra)
    return emitOpError("expected ") << rank + extra << " block arguments, found " << body.getNumArguments();
  for (unsigned i = 0; i < rank; ++i)
    if (!body.getArgument(i).getType().isIndex()) return emitOpError("expected an index for each axis");
  if (extra) {
    auto before = dyn_cast<RealType>(body.getArguments().back().getType());
    if (!before || before.getRank() != 0)
      return emitOpError("expected the element before as a scalar, found ") << body.getArguments().back().getType();
    if (!rank) return emitOpError("expected a serial stage to have an axis");
    auto want = RealType::get(getContext(), getType().getDims().drop_front());
    if (getInit().getType() != want)
      return emitOpError("expected an initial value of ") << want << ", found " << getInit().getType();
  }
  if (getStaggered() &&
      (!getInit() || rank < 2 || !getType().isStatic() || getType().getSizes()[1] % getType().getSizes()[0]))
    return emitOpError("expected `staggered` on a serial stage whose first axis divides the second, found ")
           << getType();
  if (getSparse() && !getSolve()) return emitOpError("expected `sparse` only beside `solve`");
  if (getSolve()) {
    if (getInit()) return emitOpError("expected `serial` or `solve`, found both");
    if (!rank) return emitOpError("expected a stage that solves to have an axis");
    StringAttr n = getType().getDims()[0];
    auto want = RealType::get(getContext(), ArrayRef<StringAttr>{n, n});
    if (getSolve().getType() != want)
      return emitOpError("expected a matrix of ") << want << " to solve with, found " << getSolve().getType();
  }
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().size() != 1 || !isa<RealType>(yield.getValues()[0].getType()) ||
      cast<RealType>(yield.getValues()[0].getType()).getRank() != 0)
    return emitOpError("expected the body to yield one scalar");
  return success();
}

void StageOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  if (region.empty()) return;
  for (auto [arg, axis] : llvm::zip(region.front().getArguments(), getAxes()))
    set(arg, cast<StringAttr>(axis).getValue());
  if (getInit() && region.front().getNumArguments() == getAxes().size() + 1)
    set(region.front().getArguments().back(), "before");
}
void StageOp::getAsmResultNames(OpAsmSetValueNameFn set) { set(getResult(), getName()); }

LogicalResult FoldOp::verify() {
  if (static_cast<int64_t>(getExtent()) < 1)
    return emitOpError("expected an extent of at least 1, found ") << static_cast<int64_t>(getExtent());
  if (getLast() && getKind() != ReduceKind::Sum) return emitOpError("expected `upto` on a sum alone");
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isIndex())
    return emitOpError("expected one block argument, an index");
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  auto type = yield && yield.getValues().size() == 1 ? dyn_cast<RealType>(yield.getValues()[0].getType()) : RealType();
  if (!type || type.getRank() != 0) return emitOpError("expected the body to yield one scalar");
  return success();
}

namespace {
/// One term is no sum: it is written where the sum was.
struct InlineOneTerm : OpRewritePattern<FoldOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(FoldOp fold, PatternRewriter &rewriter) const override {
    if (static_cast<int64_t>(fold.getExtent()) != 1 || fold.getLast()) return failure();
    Block &body = fold.getBody().front();
    Value zero = arith::ConstantIndexOp::create(rewriter, fold.getLoc(), 0);
    Value term = cast<YieldOp>(body.getTerminator()).getValues()[0];
    if (term.getType() != fold.getType()) return failure();
    rewriter.eraseOp(body.getTerminator());
    rewriter.inlineBlockBefore(&body, fold, zero);
    rewriter.replaceOp(fold, term);
    return success();
  }
};
} // namespace

void FoldOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<InlineOneTerm>(context);
}

LogicalResult EmitOp::verify() {
  if (getX().getType().getRank() < 1) return emitOpError("expected rows, found ") << getX().getType();
  return success();
}

void FoldOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  if (!region.empty() && region.front().getNumArguments()) set(region.front().getArgument(0), getAxis());
}

LogicalResult AtOp::verify() {
  if (getIndices().size() != getX().getType().getRank())
    return emitOpError("expected ") << getX().getType().getRank() << " indices, found " << getIndices().size();
  return success();
}

void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  if (!region.empty()) nameArguments(region.front(), getInputs(), stateNames(getStates()), set);
}

SmallVector<Value> lintel::guardedFactors(SelectOp select) {
  SmallVector<Value> factors;
  if (!select.getGuard()) return factors;
  // What a value reads, down to tensors; false where something else is behind it.
  auto read = [](Value v, SmallVectorImpl<Value> &tensors) {
    SmallVector<Value> work{v};
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (auto at = dyn_cast_if_present<AtOp>(op)) {
        if (!llvm::is_contained(tensors, at.getX())) tensors.push_back(at.getX());
      } else if (isa_and_present<UnaryOp, BinaryOp, SelectOp>(op)) {
        work.append(op->operand_begin(), op->operand_end());
      } else if (!isa_and_present<ConstantOp>(op)) {
        return false;
      }
    }
    return true;
  };
  SmallVector<Value> known, all;
  if (!read(select.getCondition(), known) || !read(select.getB(), all)) return factors;
  for (Value v : all)
    if (!llvm::is_contained(known, v)) factors.push_back(v);
  return factors;
}

/// Of what a stage computes, to what of it looks at its guards.
static constexpr double worthALook = 8;

SmallVector<Value> lintel::guardedFactors(StageOp stage) {
  SmallVector<Value> factors;
  double most = 1;
  stage.getBody().walk([&](Operation *op) {
    if (auto fold = dyn_cast<FoldOp>(op)) most = std::max(most, static_cast<double>(fold.getExtent()));
    if (auto select = dyn_cast<SelectOp>(op))
      for (Value v : guardedFactors(select))
        if (!llvm::is_contained(factors, v)) factors.push_back(v);
  });
  double elements = 0;
  for (Value v : factors) elements += static_cast<double>(cast<RealType>(v.getType()).getNumElements());
  if (static_cast<double>(stage.getType().getNumElements()) * most < worthALook * elements) factors.clear();
  return factors;
}

// Verifiers of the form phase.
#include "dialect/OperatorUtils.h"

using namespace mlir;
using namespace lintel;

namespace {

template <class OpT> LogicalResult verifyStepwise(OpT op) {
  if (failed(verifyStepBody(op, op.getBody(), op.getInputs(), op.getStates(), true))) return failure();
  int64_t states = op.getStates().size();
  if (op.getScales().empty()) return success();
  if (static_cast<int64_t>(op.getScales().size()) != states)
    return op.emitOpError("expected a scale for each of ") << states << " states, found " << op.getScales().size();
  auto typeOf = [&](int64_t s) {
    return cast<RealType>(op.getBody().getArgument(op.getInputs().size() + s).getType());
  };
  for (auto [of, s] : llvm::enumerate(op.getScales())) {
    if (s < -1 || s >= states) return op.emitOpError("expected a scale to be the index of a state or -1, found ") << s;
    if (s < 0) continue;
    if (op.getScales()[s] >= 0 || typeOf(of).getDims().take_front(typeOf(s).getRank()) != typeOf(s).getDims() ||
        typeOf(s).getRank() > 1)
      return op.emitOpError("expected state ")
             << s << ", an exponent, to be a scalar or a vector along the rows of state " << of
             << ", without an exponent of its own";
    for (int64_t behind = s; behind < states; ++behind)
      if (!llvm::is_contained(op.getScales(), behind))
        return op.emitOpError("expected exponents behind all other states, found state ") << behind << " behind " << s;
  }
  return success();
}

/// The regions take the inputs in the same shapes, and internal states (with `pairs` before and after the step) as
/// scalars.
template <class OpT> LogicalResult verifyFactoredRegions(OpT op, unsigned internal) {
  unsigned inputs = op.getInputs().size();
  if (failed(verifyBlockArguments(op, op.getToken(), inputs + 2 * internal, true)) ||
      failed(verifyBlockArguments(op, op.getCombine(), inputs + 2 * internal + op.getReads().size(), true)))
    return failure();
  Type scalar = RealType::get(op.getContext(), ArrayRef<int64_t>{});
  for (Region *region : {&op.getPrefix(), &op.getToken(), &op.getCombine()}) {
    if (region->empty()) continue;
    if (failed(verifyStepOps(op, *region, /*bound=*/true, /*final=*/false, /*attend=*/false))) return failure();
    unsigned scalars = region == &op.getPrefix() ? internal : 2 * internal;
    for (unsigned i = 0; i < inputs + scalars; ++i) {
      Type want = i < inputs ? op.getToken().front().getArgument(i).getType() : scalar;
      Type found = region->front().getArgument(i).getType();
      if (found != want)
        return op.emitOpError("expected argument ") << i << " of each region to be " << want << ", found " << found;
    }
  }
  return success();
}

/// Internal states: scalars, each a recurrence over itself and the inputs.
template <class OpT> LogicalResult verifyPrefix(OpT op, unsigned &internal) {
  internal = 0;
  if (op.getPrefix().empty()) return success();
  unsigned inputs = op.getInputs().size();
  Block &prefix = op.getPrefix().front();
  internal = prefix.getNumArguments() - inputs;
  if (prefix.getNumArguments() < inputs || failed(verifyBlockArguments(op, op.getPrefix(), inputs + internal, true)))
    return op.emitOpError("expected the prefix to take the inputs and the internal states");
  auto yield = cast<YieldOp>(prefix.getTerminator());
  if (yield.getValues().size() != internal)
    return op.emitOpError("expected the prefix to yield ") << internal << " internal states";
  for (Value v : yield.getValues())
    if (auto type = dyn_cast<RealType>(v.getType()); !type || type.getRank() != 0)
      return op.emitOpError("expected internal states to be scalars");
  for (auto [i, v] : llvm::enumerate(yield.getValues()))
    if (!dependsOnlyOn(v, inputs, i))
      return op.emitOpError("expected internal state ") << i << " to depend on itself and the inputs alone";
  return verifyWrittenSize(op, op.getPrefix());
}

/// What the token region gives, in its order: for each state its decay and pairs, then the queries.
template <class OpT> LogicalResult verifyTokenValues(OpT op) {
  auto values = cast<YieldOp>(op.getToken().front().getTerminator()).getValues();
  unsigned next = 0;
  auto take = [&](ArrayRef<StringAttr> dims) {
    if (next >= values.size()) return false;
    auto type = dyn_cast<RealType>(values[next++].getType());
    return type && type.getDims() == dims;
  };
  // A state of rank 2 has pairs (k, v); of rank 1 or 0, k alone: k's shape is then the state's.
  SmallVector<RealType> shapes;
  for (Attribute attr : op.getStates()) {
    auto info = cast<StateInfoAttr>(attr);
    auto shape = info.getPairs() > 0 ? op.stateType(shapes.size()) : RealType();
    if (!shape) return op.emitOpError("expected a state's pairs to be given by the token region");
    if (static_cast<int64_t>(shape.getRank()) != info.getRank())
      return op.emitOpError("expected state '")
             << info.getName() << "' of rank " << info.getRank() << ", found pairs of " << shape;
    if (failed(verifyBound(op, shape))) return failure();
    shapes.push_back(shape);
    auto feature = shape.getDims().take_front(1);
    if (info.getDecay() >= 0 && !take(feature.take_front(info.getDecay())))
      return op.emitOpError("expected a decay of rank ") << info.getDecay() << " for state '" << info.getName() << "'";
    for (int64_t p = 0; p < info.getPairs(); ++p)
      if (!take(feature) || (shape.getRank() == 2 && !take(shape.getDims().drop_front())))
        return op.emitOpError("expected a pair of keys and values for state '") << info.getName() << "'";
    int64_t terms = info.getLowRank(), most = values.size();
    if (terms < 0 || terms > most || (terms && feature.empty()))
      return op.emitOpError("expected 0 to ") << most << " low-rank terms, and none for a state of one number, found "
                                              << terms << " for state '" << info.getName() << "'";
    for (int64_t r = 0; r < 2 * terms; ++r)
      if (!take(feature))
        return op.emitOpError("expected two vectors along the features for each low-rank term of state '")
               << info.getName() << "'";
  }
  auto results = op.getCombine().front().getArguments().take_back(op.getReads().size());
  for (auto [attr, result] : llvm::zip(op.getReads(), results)) {
    auto read = dyn_cast<ReadAttr>(attr);
    if (!read || read.getState() < 0 || read.getState() >= static_cast<int64_t>(shapes.size()))
      return op.emitOpError("expected a read of one of the states, found ") << attr;
    auto dims = shapes[read.getState()].getDims();
    if (!take(dims.take_front(1))) return op.emitOpError("expected a query for each read");
    auto want = RealType::get(op.getContext(), dims.size() == 2 ? dims.drop_front() : ArrayRef<StringAttr>());
    if (result.getType() != want)
      return op.emitOpError("expected ") << attr << " to give " << want << ", found " << result.getType();
  }
  if (next != values.size())
    return op.emitOpError("expected the token region to yield ") << next << " values, found " << values.size();
  return success();
}

/// What the regions of a chunkwise or parallel form must take and give.
template <class OpT> LogicalResult verifyFactored(OpT op) {
  if (failed(verifyChunk(op, op.getChunk()))) return failure();
  for (Attribute attr : op.getStates()) {
    auto info = dyn_cast<StateInfoAttr>(attr);
    if (!info) return op.emitOpError("expected states as #attn.state, found ") << attr;
    if (info.getRank() < 0 || info.getRank() > 2 || info.getDecay() < -1 || info.getDecay() > 1 ||
        info.getDecay() > info.getRank())
      return op.emitOpError("expected a rank of 0 to 2 and a decay of rank -1, 0 or 1 that is not above it, found ")
             << attr;
  }
  SmallVector<StringRef> names = stateNames(op.getStates());
  unsigned internal;
  if (failed(verifyOperatorHeader(op, op.getInputs(), names)) || failed(verifyPrefix(op, internal)) ||
      failed(verifyFactoredRegions(op, internal)))
    return failure();
  int64_t states = op.getStates().size();
  if (!op.getScales().empty() && static_cast<int64_t>(op.getScales().size()) != states)
    return op.emitOpError("expected a scale for each of ") << states << " states, found " << op.getScales().size();
  for (int64_t s : op.getScales())
    if (s != -1 && (s < states || s >= states + internal))
      return op.emitOpError("expected a scale to be the index of an internal state or -1, found ") << s;
  for (int64_t s = states; s < states + internal; ++s)
    if (!llvm::is_contained(op.getScales(), s))
      return op.emitOpError("expected internal state ") << s << " to be the exponent of a state";
  if (failed(verifyTokenValues(op))) return failure();
  auto out = cast<YieldOp>(op.getCombine().front().getTerminator()).getValues();
  if (unsigned outputs = numOutputs(op); out.size() != outputs) {
    if (outputs == 1) return op.emitOpError("expected the combine region to yield the output");
    return op.emitOpError("expected the combine region to yield ") << outputs << " outputs, found " << out.size();
  }
  return verifyOutputs(op, out.getTypes());
}

template <class OpT> void nameFactored(OpT op, Region &region, OpAsmSetValueNameFn set) {
  if (!region.empty()) nameArguments(region.front(), op.getInputs(), {}, set);
}

// The shape of state `index`, which no block argument has: k and v of its first pair give it.
template <class OpT> RealType factoredStateType(OpT op, unsigned index) {
  auto values = cast<YieldOp>(op.getToken().front().getTerminator()).getValues();
  unsigned at = 0;
  for (unsigned i = 0; i <= index && i < op.getStates().size(); ++i) {
    auto info = cast<StateInfoAttr>(op.getStates()[i]);
    if (info.getDecay() >= 0) ++at;
    auto rank = [&](unsigned k) { return k < values.size() ? cast<RealType>(values[k].getType()).getRank() : 9; };
    unsigned each = info.getPairs() && op.stateRank(i) == 2 ? 2 : 1;
    if (i == index) {
      if (!info.getPairs() || rank(at) > 1) return {};
      if (each == 1) return cast<RealType>(values[at].getType());
      if (rank(at + 1) != 1) return {};
      return RealType::get(op.getContext(),
                           ArrayRef<StringAttr>{cast<RealType>(values[at].getType()).getDims()[0],
                                                cast<RealType>(values[at + 1].getType()).getDims()[0]});
    }
    at += each * info.getPairs() + 2 * info.getLowRank();
  }
  return {};
}

} // namespace

LogicalResult RecurrentOp::verifyRegions() { return verifyStepwise(*this); }
LogicalResult StepOp::verifyRegions() { return verifyStepwise(*this); }
LogicalResult ChunkwiseOp::verifyRegions() { return verifyFactored(*this); }
LogicalResult ParallelOp::verifyRegions() {
  if (failed(verifyFactored(*this))) return failure();
  bool byChannel = llvm::any_of(getStates(), [](Attribute s) { return cast<StateInfoAttr>(s).getDecay() > 0; });
  bool lowRank = llvm::any_of(getStates(), [](Attribute s) { return cast<StateInfoAttr>(s).getLowRank() > 0; });
  if (byChannel && internalStates()) return emitOpError("expected no decay for each channel beside internal states");
  if (lowRank && (internalStates() || getBidirectional()))
    return emitOpError("expected no low-rank transition beside internal states or reads of the last state");
  return success();
}
RealType ChunkwiseOp::stateType(unsigned i) { return factoredStateType(*this, i); }
RealType ParallelOp::stateType(unsigned i) { return factoredStateType(*this, i); }
int64_t ChunkwiseOp::stateRank(unsigned i) { return cast<StateInfoAttr>(getStates()[i]).getRank(); }
int64_t ParallelOp::stateRank(unsigned i) { return cast<StateInfoAttr>(getStates()[i]).getRank(); }

LogicalResult StreamedOp::verifyRegions() {
  if (failed(verifyChunk(*this, getChunk()))) return failure();
  if (static_cast<int64_t>(getWindow()) < 0)
    return emitOpError("expected a window of 0 or more, found ") << static_cast<int64_t>(getWindow());
  if (failed(verifySeen(*this, getWindow(), getAhead(), getFirst()))) return failure();
  unsigned attends = 0;
  getBody().walk([&](AttendOp) { ++attends; });
  if (attends != 1) return emitOpError("expected one attn.attend, found ") << attends;
  return verifyStepBody(*this, getBody(), getInputs(), ArrayAttr::get(getContext(), {}), true, /*attend=*/true);
}

void RecurrentOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  if (!region.empty()) nameArguments(region.front(), getInputs(), stateNames(getStates()), set);
}
void StepOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  if (!region.empty()) nameArguments(region.front(), getInputs(), stateNames(getStates()), set);
}
void StreamedOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  if (!region.empty()) nameArguments(region.front(), getInputs(), {}, set);
}
void ChunkwiseOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  nameFactored(*this, region, set);
}
void ParallelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) { nameFactored(*this, region, set); }

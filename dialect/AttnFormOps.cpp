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
  for (int64_t s : op.getScales()) {
    if (s < -1 || s >= states) return op.emitOpError("expected a scale to be the index of a state or -1, found ") << s;
    if (s < 0) continue;
    auto type = cast<RealType>(op.getBody().getArgument(op.getInputs().size() + s).getType());
    if (type.getRank() != 0 || op.getScales()[s] >= 0)
      return op.emitOpError("expected state ") << s << ", an exponent, to be a scalar without an exponent of its own";
  }
  return success();
}

/// What the regions of a chunkwise or parallel form must take and give.
template <class OpT> LogicalResult verifyFactored(OpT op) {
  if (static_cast<int64_t>(op.getChunk()) < 1)
    return op.emitOpError("expected a chunk of at least 1, found ") << static_cast<int64_t>(op.getChunk());
  SmallVector<StringRef> names = stateNames(op.getStates());
  if (names.size() != op.getStates().size()) return op.emitOpError("expected states as #attn.state");
  if (failed(verifyOperatorHeader(op, op.getInputs(), names))) return failure();
  unsigned inputs = op.getInputs().size(), internal = 0;
  if (!op.getPrefix().empty()) {
    Block &prefix = op.getPrefix().front();
    internal = prefix.getNumArguments() - inputs;
    if (prefix.getNumArguments() < inputs || failed(verifyBlockArguments(op, op.getPrefix(), inputs + internal, true)))
      return op.emitOpError("expected the prefix to take the inputs and the internal states");
    auto yield = cast<YieldOp>(prefix.getTerminator());
    if (yield.getValues().size() != internal)
      return op.emitOpError("expected the prefix to yield ") << internal << " internal states";
    for (Value v : yield.getValues())
      if (cast<RealType>(v.getType()).getRank() != 0) return op.emitOpError("expected internal states to be scalars");
  }
  if (failed(verifyBlockArguments(op, op.getToken(), inputs + 2 * internal, true)) ||
      failed(verifyBlockArguments(op, op.getCombine(), inputs + 2 * internal + op.getReads().size(), true)))
    return failure();
  for (Region *region : {&op.getPrefix(), &op.getToken(), &op.getCombine()})
    if (failed(verifyStepOps(op, *region, /*bound=*/true, /*final=*/false, /*attend=*/false))) return failure();
  int64_t states = op.getStates().size();
  if (!op.getScales().empty() && static_cast<int64_t>(op.getScales().size()) != states)
    return op.emitOpError("expected a scale for each of ") << states << " states, found " << op.getScales().size();
  for (int64_t s : op.getScales())
    if (s != -1 && (s < states || s >= states + internal))
      return op.emitOpError("expected a scale to be the index of an internal state or -1, found ") << s;
  auto values = cast<YieldOp>(op.getToken().front().getTerminator()).getValues();
  unsigned next = 0;
  auto take = [&](int64_t rank) -> RealType {
    if (next >= values.size()) return {};
    auto type = dyn_cast<RealType>(values[next++].getType());
    return type && static_cast<int64_t>(type.getRank()) == rank ? type : RealType();
  };
  // A state of rank 2 has pairs (k, v); of rank 1 or 0, k alone: k's rank is then the state's.
  SmallVector<unsigned> featureRank;
  for (Attribute attr : op.getStates()) {
    auto info = cast<StateInfoAttr>(attr);
    auto shape = op.stateType(featureRank.size());
    if (!shape) return op.emitOpError("expected a state's pairs to be given by the token region");
    featureRank.push_back(shape.getRank() ? 1 : 0);
    if (info.getDecay() >= 0 && !take(info.getDecay()))
      return op.emitOpError("expected a decay of rank ") << info.getDecay() << " for state '" << info.getName() << "'";
    for (int64_t p = 0; p < info.getPairs(); ++p)
      if (!take(featureRank.back()) || (shape.getRank() == 2 && !take(1)))
        return op.emitOpError("expected a pair of keys and values for state '") << info.getName() << "'";
  }
  for (Attribute attr : op.getReads()) {
    auto read = dyn_cast<ReadAttr>(attr);
    if (!read || read.getState() < 0 || read.getState() >= static_cast<int64_t>(featureRank.size()))
      return op.emitOpError("expected a read of one of the states, found ") << attr;
    if (!take(featureRank[read.getState()])) return op.emitOpError("expected a query for each read");
  }
  if (next != values.size())
    return op.emitOpError("expected the token region to yield ") << next << " values, found " << values.size();
  if (cast<YieldOp>(op.getCombine().front().getTerminator()).getValues().size() != 1)
    return op.emitOpError("expected the combine region to yield the output");
  return success();
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
    at += each * info.getPairs();
  }
  return {};
}

} // namespace

LogicalResult RecurrentOp::verifyRegions() { return verifyStepwise(*this); }
LogicalResult StepOp::verifyRegions() { return verifyStepwise(*this); }
LogicalResult ChunkwiseOp::verifyRegions() { return verifyFactored(*this); }
LogicalResult ParallelOp::verifyRegions() { return verifyFactored(*this); }
RealType ChunkwiseOp::stateType(unsigned i) { return factoredStateType(*this, i); }
RealType ParallelOp::stateType(unsigned i) { return factoredStateType(*this, i); }
int64_t ChunkwiseOp::stateRank(unsigned i) { return cast<StateInfoAttr>(getStates()[i]).getRank(); }
int64_t ParallelOp::stateRank(unsigned i) { return cast<StateInfoAttr>(getStates()[i]).getRank(); }

LogicalResult StreamedOp::verifyRegions() {
  if (static_cast<int64_t>(getChunk()) < 1)
    return emitOpError("expected a chunk of at least 1, found ") << static_cast<int64_t>(getChunk());
  if (static_cast<int64_t>(getWindow()) < 0)
    return emitOpError("expected a window of 0 or more, found ") << static_cast<int64_t>(getWindow());
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

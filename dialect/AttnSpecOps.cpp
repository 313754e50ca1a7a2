// Verifiers of the spec phase, and what spec and form ops share.
#include "dialect/OperatorUtils.h"

using namespace mlir;
using namespace lintel;

LogicalResult lintel::verifyOperatorHeader(Operation *op, ArrayAttr inputs, ArrayRef<StringRef> states) {
  llvm::StringSet<> seen;
  for (Attribute attr : inputs) {
    auto param = dyn_cast<ParamAttr>(attr);
    if (!param) return op->emitOpError("expected each input to be an #attn.param, found ") << attr;
    if (!seen.insert(param.getName()).second)
      return op->emitOpError("expected distinct names, found '") << param.getName() << "' twice";
  }
  for (StringRef state : states)
    if (!seen.insert(state).second) return op->emitOpError("expected distinct names, found '") << state << "' twice";
  return success();
}

LogicalResult lintel::verifyBlockArguments(Operation *op, Region &region, unsigned expected, bool bound) {
  Block &block = region.front();
  if (block.getNumArguments() != expected)
    return op->emitOpError("expected ") << expected << " block arguments, found " << block.getNumArguments();
  for (BlockArgument arg : block.getArguments()) {
    auto type = dyn_cast<RealType>(arg.getType());
    if (!type) return op->emitOpError("expected tensors as block arguments, found ") << arg.getType();
    if (type.getRank() > 2) return op->emitOpError("expected a scalar, a vector or a matrix, found ") << type;
    if (bound && !type.isStatic())
      return op->emitOpError("expected bound dimensions, found ") << type << "; run attn-bind-dimensions first";
  }
  if (!isa<YieldOp>(block.getTerminator())) return op->emitOpError("expected the body to end in attn.yield");
  return success();
}

LogicalResult lintel::verifyStepOps(Operation *op, Region &region, bool bound, bool final, bool attend) {
  auto result = region.walk([&](Operation *inner) {
    bool known = isa<ConstantOp, DimOp, PositionOp, UnaryOp, BinaryOp, SelectOp, BroadcastOp, MatmulOp, OuterOp,
                     ReduceOp, CumsumOp, ConcatOp, ExtractOp, FlattenOp, YieldOp>(inner);
    if (!known && !(final && isa<FinalOp>(inner)) && !(attend && isa<AttendOp>(inner))) {
      inner->emitOpError("does not belong into this region of ") << op->getName();
      return WalkResult::interrupt();
    }
    for (Type type : inner->getResultTypes()) {
      auto t = cast<RealType>(type);
      if (t.getRank() > 2)
        return inner->emitOpError("expected a scalar, a vector or a matrix, found ") << t, WalkResult::interrupt();
      if (bound && !t.isStatic())
        return inner->emitOpError("expected bound dimensions, found ") << t, WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult lintel::verifyStepBody(Operation *op, Region &body, ArrayAttr inputs, ArrayAttr states, bool bound,
                                     bool attend) {
  SmallVector<StringRef> names;
  for (Attribute s : states) names.push_back(cast<StringAttr>(s).getValue());
  if (failed(verifyOperatorHeader(op, inputs, names)) ||
      failed(verifyBlockArguments(op, body, inputs.size() + states.size(), bound)) ||
      failed(verifyStepOps(op, body, bound, /*final=*/true, attend)))
    return failure();
  auto yield = cast<YieldOp>(body.front().getTerminator());
  if (yield.getValues().size() != states.size() + 1)
    return op->emitOpError("expected attn.yield of the output and ")
           << states.size() << " states, found " << yield.getValues().size() << " values";
  auto out = dyn_cast<RealType>(yield.getValues()[0].getType());
  if (!out || out.getRank() > 1)
    return op->emitOpError("expected the output to be a scalar or a vector, found ") << yield.getValues()[0].getType();
  for (auto [i, name] : llvm::enumerate(names)) {
    Type before = body.front().getArgument(inputs.size() + i).getType(), after = yield.getValues()[i + 1].getType();
    if (before != after)
      return op->emitOpError("expected state '") << name << "' to keep its shape " << before << ", found " << after;
  }
  auto result = body.walk([&](FinalOp final) {
    if (llvm::is_contained(yield.getValues().drop_front(), final.getX())) return WalkResult::advance();
    final.emitOpError("expected a value that is yielded as a state");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void lintel::nameArguments(Block &block, ArrayAttr inputs, ArrayRef<StringRef> rest, OpAsmSetValueNameFn set) {
  unsigned i = 0, n = block.getNumArguments();
  for (Attribute attr : inputs)
    if (auto param = dyn_cast<ParamAttr>(attr); param && i < n) set(block.getArgument(i++), param.getName());
  for (StringRef name : rest)
    if (i < n) set(block.getArgument(i++), name);
}

SmallVector<StringRef> lintel::stateNames(ArrayAttr states) {
  SmallVector<StringRef> names;
  for (Attribute s : states) {
    if (auto name = dyn_cast<StringAttr>(s)) names.push_back(name.getValue());
    if (auto info = dyn_cast<StateInfoAttr>(s)) names.push_back(info.getName());
  }
  return names;
}

LogicalResult SpecOp::verifyRegions() {
  return verifyStepBody(*this, getBody(), getInputs(), getStates(), /*bound=*/false, /*attend=*/true);
}

void SpecOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  if (!region.empty()) nameArguments(region.front(), getInputs(), stateNames(getStates()), set);
}

LogicalResult AttendOp::verifyRegions() {
  Block &weights = getWeights().front();
  Type scalar = RealType::get(getContext(), ArrayRef<int64_t>{});
  if (weights.getNumArguments() != 3 || weights.getArgument(0).getType() != getQ().getType() ||
      weights.getArgument(1).getType() != getK().getType() || weights.getArgument(2).getType() != scalar)
    return emitOpError("expected weights to take the query, the key and the distance");
  auto yields = [&](Block &block) {
    auto yield = dyn_cast<YieldOp>(block.getTerminator());
    return yield && yield.getValues().size() == 1 && yield.getValues()[0].getType() == scalar;
  };
  if (!yields(weights)) return emitOpError("expected weights to yield one scalar");
  if (!getNormalizer().empty()) {
    Block &n = getNormalizer().front();
    if (n.getNumArguments() != 1 || n.getArgument(0).getType() != scalar || !yields(n))
      return emitOpError("expected the normalizer to map one scalar to one scalar");
  }
  if (getV().getType() != getType())
    return emitOpError("expected a result of the values' shape ") << getV().getType() << ", found " << getType();
  return success();
}

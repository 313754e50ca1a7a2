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
  Attribute outputs = op->getAttr("outputs");
  if (!outputs) return success();
  auto names = dyn_cast<ArrayAttr>(outputs);
  if (!names || names.size() < 2 || !llvm::all_of(names, llvm::IsaPred<StringAttr>) ||
      cast<StringAttr>(names[0]).getValue() != "out")
    return op->emitOpError("expected `outputs` to be the names of two outputs or more, \"out\" the first, found ")
           << outputs;
  for (StringRef name : stateNames(names))
    if (!seen.insert(name).second) return op->emitOpError("expected distinct names, found '") << name << "' twice";
  return success();
}

SmallVector<StringRef> lintel::outputNames(Operation *op) {
  if (auto names = op->getAttrOfType<ArrayAttr>("outputs")) return stateNames(names);
  return {"out"};
}

LogicalResult lintel::verifyOutputs(Operation *op, TypeRange types) {
  for (auto [name, type] : llvm::zip(outputNames(op), types)) {
    auto out = dyn_cast<RealType>(type);
    if (out && out.getRank() <= 1) continue;
    if (types.size() == 1) return op->emitOpError("expected the output to be a scalar or a vector, found ") << type;
    return op->emitOpError("expected output '") << name << "' to be a scalar or a vector, found " << type;
  }
  return success();
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
  unsigned outputs = numOutputs(op);
  if (yield.getValues().size() != states.size() + outputs) {
    InFlightDiagnostic diag = op->emitOpError("expected attn.yield of ");
    if (outputs == 1) diag << "the output";
    else diag << outputs << " outputs";
    return diag << " and " << states.size() << " states, found " << yield.getValues().size() << " values";
  }
  if (failed(verifyOutputs(op, yield.getValues().take_front(outputs).getTypes()))) return failure();
  ValueRange finals = yield.getValues().drop_front(outputs);
  for (auto [i, name] : llvm::enumerate(names)) {
    Type before = body.front().getArgument(inputs.size() + i).getType(), after = finals[i].getType();
    if (before != after)
      return op->emitOpError("expected state '") << name << "' to keep its shape " << before << ", found " << after;
  }
  auto result = body.walk([&](FinalOp final) {
    if (llvm::is_contained(finals, final.getX())) return WalkResult::advance();
    final.emitOpError("expected a value that is yielded as a state");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted()) return failure();
  // All steps update the states before the first output is computed.
  llvm::DenseSet<Value> late;
  for (Operation &inner : body.front().without_terminator())
    if (isa<FinalOp>(inner) || llvm::any_of(inner.getOperands(), [&](Value v) { return late.contains(v); }))
      late.insert(inner.result_begin(), inner.result_end());
  for (auto [name, v] : llvm::zip(names, finals))
    if (late.contains(v)) return op->emitOpError("expected state '") << name << "' not to depend on attn.final";
  return success();
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
  if (failed(verifyStepBody(*this, getBody(), getInputs(), getStates(), /*bound=*/false, /*attend=*/true)))
    return failure();
  auto attends = getBody().getOps<AttendOp>();
  unsigned count = std::distance(attends.begin(), attends.end());
  if (count > 1) return emitOpError("expected one attn.attend at most, found ") << count;
  if (count && !getStates().empty()) return emitOpError("expected no states beside attn.attend");
  return success();
}

LogicalResult lintel::verifyBoundSpec(SpecOp spec) {
  return verifyStepBody(spec, spec.getBody(), spec.getInputs(), spec.getStates(), /*bound=*/true, /*attend=*/true);
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
  if (getType().getRank() > 1) return emitOpError("expected values that are scalars or vectors, found ") << getType();
  if (failed(verifyWrittenSize(*this, getWeights()))) return failure();
  return getNormalizer().empty() ? success() : verifyWrittenSize(*this, getNormalizer());
}

#include "compiler/analysis/CostAnalysis.h"
#include "compiler/analysis/TransitionAnalysis.h"
#include "compiler/analysis/WeightSupport.h"
#include "dialect/OperatorUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace lintel;

namespace {

int64_t elements(Type type) {
  auto t = dyn_cast<RealType>(type);
  return t && t.isStatic() ? t.getNumElements() : 1;
}

double flopsOf(Operation *op) {
  if (auto u = dyn_cast<UnaryOp>(op)) {
    bool cheap = llvm::is_contained({UnaryKind::Neg, UnaryKind::Relu, UnaryKind::Abs, UnaryKind::Not, UnaryKind::Ceil},
                                    u.getKind());
    return (cheap ? 1.0 : 16.0) * elements(u.getType());
  }
  if (auto m = dyn_cast<MatmulOp>(op)) return 2.0 * elements(m.getType()) * m.getA().getType().getSizes().back();
  if (auto b = dyn_cast<BinaryOp>(op)) return (b.getKind() == BinaryKind::Pow ? 32.0 : 1.0) * elements(b.getType());
  if (isa<OuterOp, SelectOp>(op)) return elements(op->getResult(0).getType());
  if (isa<ReduceOp, CumsumOp>(op)) return elements(op->getOperand(0).getType());
  return 0;
}

double flopsOf(Region &region) {
  double flops = 0;
  region.walk([&](Operation *op) { flops += flopsOf(op); });
  return flops;
}

double arrayBytes(Block &block, ArrayAttr inputs, TypeRange outputs) {
  double n = 0;
  for (Type type : outputs) n += elements(type);
  for (auto [i, attr] : llvm::enumerate(inputs))
    if (cast<ParamAttr>(attr).getKind() == InputKind::Token) n += elements(block.getArgument(i).getType());
  return 4 * n;
}

/// Whether `v` is a sum that holds a state and outer products, as one update among several leaves it.
bool isUpdate(Value v, Block &block, size_t inputs) {
  auto sum = dyn_cast_if_present<BinaryOp>(v.getDefiningOp());
  if (!sum || !llvm::is_contained({BinaryKind::Add, BinaryKind::Sub}, sum.getKind()) || sum.getType().getRank() != 2)
    return false;
  SmallVector<Value> work{v};
  DenseSet<Value> seen;
  bool state = false, outer = false;
  while (!work.empty()) {
    Value x = work.pop_back_val();
    if (cast<RealType>(x.getType()).getRank() != 2 || !seen.insert(x).second) continue;
    Operation *op = x.getDefiningOp();
    state |= !op && cast<BlockArgument>(x).getOwner() == &block && cast<BlockArgument>(x).getArgNumber() >= inputs;
    outer |= isa_and_present<OuterOp>(op);
    if (op && !isa<OuterOp>(op)) work.append(op->operand_begin(), op->operand_end());
  }
  return state && outer;
}

template <class OpT> Cost factored(OpT op, int64_t steps) {
  Cost cost;
  cost.flops =
      flopsOf(op.getToken()) + flopsOf(op.getCombine()) + (op.getPrefix().empty() ? 0 : flopsOf(op.getPrefix()));
  bool parallel = isa<ParallelOp>(op.getOperation());
  double chunk = op.getChunk(), seen = parallel ? steps / 2.0 + chunk : chunk;
  auto sizes = [&](unsigned s) {
    RealType t = op.stateType(s);
    return std::make_pair(t.getRank() ? t.getSizes()[0] : 1, t.getRank() == 2 ? t.getSizes()[1] : 1);
  };
  for (Attribute attr : op.getReads()) {
    auto [d, e] = sizes(cast<ReadAttr>(attr).getState());
    if (!parallel) cost.flops += 2.0 * d * e, cost.traffic += double(d) * e / chunk;
    cost.flops += seen * (d + e);
  }
  auto values = op.getToken().front().getTerminator()->getOperands();
  for (unsigned s = 0; s < op.getStates().size(); ++s) {
    auto info = cast<StateInfoAttr>(op.getStates()[s]);
    auto [d, e] = sizes(s);
    values = values.drop_front(info.getDecay() >= 0 ? 1 : 0);
    int64_t width = info.getRank() == 2 ? 2 : 1, pairs = info.getPairs();
    auto keys = values.take_front(pairs * width), terms = values.drop_front(pairs * width);
    values = terms.drop_front(2 * info.getLowRank());
    // A pair whose key is a term's own vector is part of what is solved.
    for (int64_t p = 0; width == 2 && p < info.getPairs(); ++p)
      for (int64_t r = 0; r < info.getLowRank(); ++r)
        if (keys[p * width] == terms[2 * r]) {
          --pairs;
          break;
        }
    cost.flops += 2.0 * d * e * pairs;
    // A low-rank term is a read and a pair; its products among themselves and the solution of the system.
    // In pairs of blocks every block solves its system anew for each block of queries.
    double solved = parallel ? seen / chunk : 1;
    cost.flops += info.getLowRank() * (4.0 * d * e + solved * chunk * info.getLowRank() * (d + e));
    if (parallel) cost.flops += seen * info.getLowRank() * (4.0 * d + 2 * e);
    cost.traffic += info.getLowRank() * double(d) * e / chunk;
    if (info.getDecay() == 1) cost.flops += seen * d;
    cost.traffic += 2.0 * d * e / chunk;
  }
  cost.bytes =
      arrayBytes(op.getToken().front(), op.getInputs(), op.getCombine().front().getTerminator()->getOperandTypes());
  return cost;
}

/// Keys that a query computes with: those of whole blocks, also where a window or the query's own step ends within one.
double visitedKeys(AttendOp attend, int64_t steps, int64_t chunk) {
  WeightSupport support = supportOf(attend);
  auto blocks = [&](int64_t n) { return n / chunk + (n % chunk != 0); };
  auto N = static_cast<double>(blocks(std::max<int64_t>(steps, 1)));
  // Of n blocks beside the query's own, those inside of the sequence.
  auto beside = [&](double n) { return n < N ? n - n * (n + 1) / (2 * N) : (N - 1) / 2; };
  double all = attend.getCausal() ? (N + 1) / 2 : N;
  double seen = 1 + beside(support.window ? static_cast<double>(blocks(support.window - 1)) : N);
  if (!attend.getCausal())
    seen += beside(support.ahead >= 0 ? static_cast<double>((support.ahead + chunk - 1) / chunk) : N);
  return static_cast<double>(chunk) * std::min(all, seen + static_cast<double>(blocks(support.first)));
}

} // namespace

Cost lintel::costOf(Operation *form, int64_t steps) {
  if (auto c = dyn_cast<ChunkwiseOp>(form)) return factored(c, steps);
  if (auto p = dyn_cast<ParallelOp>(form)) return factored(p, steps);
  Cost cost;
  Block &block = form->getRegion(0).front();
  auto inputs = form->getAttrOfType<ArrayAttr>("inputs");
  cost.flops = flopsOf(form->getRegion(0));
  form->walk([&](AttendOp attend) {
    auto streamed = dyn_cast<StreamedOp>(form);
    double seen = streamed ? visitedKeys(attend, steps, streamed.getChunk()) : seenKeys(attend, steps);
    double each = flopsOf(attend.getWeights()) + 2.0 * elements(attend.getType()) + 4;
    cost.flops += seen * each - flopsOf(attend.getWeights());
  });
  // Each op on a whole state is a pass over it.
  form->walk([&](Operation *op) {
    for (Value v : op->getOperands())
      if (auto arg = dyn_cast<BlockArgument>(v); arg && arg.getOwner() == &block && arg.getArgNumber() >= inputs.size())
        cost.traffic += elements(v.getType());
  });
  for (BlockArgument arg : block.getArguments().drop_front(inputs.size())) cost.traffic += elements(arg.getType());
  // A state that is read between two of its updates is stored and read again.
  auto finals = block.getTerminator()->getOperands().take_back(block.getNumArguments() - inputs.size());
  llvm::SmallPtrSet<Operation *, 8> between;
  form->walk([&](MatmulOp read) {
    for (Value v : read->getOperands())
      if (isUpdate(v, block, inputs.size()) && !llvm::is_contained(finals, v) &&
          between.insert(v.getDefiningOp()).second)
        cost.traffic += 2.0 * elements(v.getType());
  });
  cost.bytes = arrayBytes(block, inputs, block.getTerminator()->getOperands().take_front(numOutputs(form)).getTypes());
  return cost;
}

int64_t lintel::stateElements(Operation *form) {
  int64_t n = 0;
  auto inputs = form->getAttrOfType<ArrayAttr>("inputs");
  auto factoredStates = [&](auto op) {
    for (unsigned s = 0; s < op.getStates().size(); ++s) n += elements(op.stateType(s));
  };
  if (auto c = dyn_cast<ChunkwiseOp>(form)) return factoredStates(c), n;
  if (auto p = dyn_cast<ParallelOp>(form)) return factoredStates(p), n;
  auto scales = form->getAttrOfType<DenseI64ArrayAttr>("scales");
  for (auto [s, arg] : llvm::enumerate(form->getRegion(0).front().getArguments().drop_front(inputs.size())))
    if (!scales || !llvm::is_contained(scales.asArrayRef(), static_cast<int64_t>(s))) n += elements(arg.getType());
  return n;
}

namespace {

/// The token inputs that `roots` depend on, in their order.
SmallVector<unsigned> tokensBehind(Block &body, ArrayAttr inputs, SmallVector<Value> roots) {
  llvm::SmallBitVector found(inputs.size());
  DenseSet<Value> seen;
  while (!roots.empty()) {
    Value v = roots.pop_back_val();
    if (!v || !seen.insert(v).second) continue;
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      if (arg.getOwner() == &body && arg.getArgNumber() < inputs.size() &&
          cast<ParamAttr>(inputs[arg.getArgNumber()]).getKind() == InputKind::Token)
        found.set(arg.getArgNumber());
    } else {
      v.getDefiningOp()->walk([&](Operation *op) { roots.append(op->operand_begin(), op->operand_end()); });
    }
  }
  return SmallVector<unsigned>(found.set_bits());
}

/// Whether a product or a sum goes over `state`, as it is or scaled and added to.
bool isContracted(Value state) {
  SmallVector<Value> work{state};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (!seen.insert(v).second) continue;
    for (Operation *user : v.getUsers()) {
      if (isa<MatmulOp, ReduceOp>(user)) return true;
      if (user->getNumResults() == 1 && user->getResult(0).getType() == state.getType())
        work.push_back(user->getResult(0));
    }
  }
  return false;
}

} // namespace

StepWork lintel::workOf(SpecOp spec, int64_t steps) {
  StepWork work;
  work.keptSteps = steps;
  ArrayAttr inputs = spec.getInputs();
  auto copy = cast<SpecOp>(spec->clone()); // the analysis adds values
  Block &body = copy.getBody().front();
  SmallVector<Value> keeps, writes;
  auto arguments = body.getArguments().drop_front(inputs.size());
  for (Value state : body.getTerminator()->getOperands().take_back(arguments.size())) keeps.push_back(state);
  for (AttendOp attend : body.getOps<AttendOp>()) {
    keeps.push_back(attend.getV());
    // A weight may look at no key: 0.9^distance.
    if (!attend.getWeights().getArgument(1).use_empty()) keeps.push_back(attend.getK());
    double each = 2.0 * elements(attend.getType());
    attend.getWeights().walk([&](MatmulOp product) { each += flopsOf(product); });
    work.flops = seenKeys(attend, steps) * each;
    if (WeightSupport support = supportOf(attend); attend.getCausal() && support.window)
      work.keptSteps = std::min(steps, support.window + support.first);
  }
  {
    TransitionAnalysis analysis(body, inputs.size(), {});
    for (auto [s, state] : llvm::enumerate(arguments)) {
      if (cast<RealType>(state.getType()).getRank() != 2) continue;
      if (isContracted(state)) work.flops = work.flops.value_or(0) + 4.0 * elements(state.getType());
      for (const OuterPair &pair : analysis.transition(s).pairs) writes.append({pair.k, pair.v});
    }
    for (unsigned i : tokensBehind(body, inputs, writes))
      if (Type type = body.getArgument(i).getType(); cast<RealType>(type).getRank()) work.written += elements(type);
  }
  work.kept = tokensBehind(body, inputs, keeps);
  for (unsigned i : work.kept) work.keptElements += elements(body.getArgument(i).getType());
  copy->erase();
  return work;
}

#include "compiler/analysis/StateDependence.h"

using namespace mlir;
using namespace lintel;

bool StateDependence::of(Value v) {
  if (auto arg = dyn_cast<BlockArgument>(v)) return arg.getOwner() == &body && arg.getArgNumber() >= inputs;
  auto [it, added] = known.try_emplace(v, false);
  if (!added) return it->second;
  bool any = false;
  v.getDefiningOp()->walk([&](Operation *op) { // what its regions use from outside counts too
    for (Value x : op->getOperands())
      if (x.getParentBlock() == &body) any |= of(x);
  });
  return known[v] = any;
}

#include "compiler/driver/Parts.h"
#include "lintel/runtime.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace lintel;

Expected<PartsPlan> lintel::planParts(const OperatorInfo &op, const CompileOptions &options,
                                      ArrayRef<CpuTarget> targets) {
  PartsPlan plan;
  const PartsRequest &asked = options.parts;
  if (asked.number == 1) return std::move(plan);
  plan.split = columnSplitOf(op.spec);
  const std::string &name = plan.split.dimension;
  if (!plan.split.whyNot.empty()) {
    plan.whyNot = (name.empty() ? "" : name + ": ") + plan.split.whyNot;
    if (asked.number) return notInParts(op, asked.number, plan.whyNot);
    return std::move(plan);
  }
  if (!asked.number && options.form.form == "parallel") {
    plan.whyNot = "the parts of a parallel form would share most of its work, the weights; --column-parts N makes them";
    return std::move(plan);
  }
  int64_t lanes = 1, numberBits = options.types.state(op) == LINTEL_F64 ? 64 : 32;
  for (const CpuTarget &target : targets) lanes = std::max<int64_t>(lanes, target.vectorBits / numberBits);
  auto entry = llvm::find_if(options.dimensions, [&](const auto &d) { return d.first == name; });
  int64_t parts = asked.number ? asked.number : asked.usual;
  while (!asked.number && parts > 2 && entry->second % (parts * lanes)) --parts;
  if (entry->second % (parts * lanes)) {
    plan.whyNot = name + " = " + std::to_string(entry->second) + " is no " + std::to_string(parts) +
                  " parts of whole vectors of " + std::to_string(lanes);
    if (asked.number) return notInParts(op, asked.number, plan.whyNot);
    return std::move(plan);
  }
  plan.parts = parts;
  plan.dimensions = options.dimensions;
  plan.dimensions[entry - options.dimensions.begin()].second /= parts;
  return std::move(plan);
}

Error lintel::notInParts(const OperatorInfo &op, int64_t asked, const std::string &whyNot) {
  return createStringError("operator '%s' cannot be computed in %lld parts: %s", op.name.c_str(),
                           static_cast<long long>(asked), whyNot.c_str());
}

/// One exponent for each row goes with the rows, one for the whole with a state that is no part's own.
static bool goesAlong(int axis, bool eachRow) { return axis < 0 || (axis == 0 && eachRow); }

std::string lintel::sharedExponent(const PartsPlan &plan, const OperatorInfo &op, ArrayRef<StateExponent> exponents) {
  DenseMap<int, bool> divided;
  for (auto [state, axis, exponent] : llvm::zip_equal(op.states, plan.split.states, exponents)) {
    if (!exponent) continue;
    bool isNew = divided.try_emplace(exponent.index, axis >= 0).second;
    if (!goesAlong(axis, exponent.channels > 0) || (!isNew && divided[exponent.index] != (axis >= 0)))
      return plan.split.dimension + ": all of '" + state.name + "' has one exponent";
  }
  return "";
}

void lintel::describeParts(const PartsPlan &plan, KernelDescription &k) {
  auto set = [](MutableArrayRef<ParameterDescription> list, ArrayRef<int> axes) {
    for (auto [parameter, axis] : llvm::zip_equal(list, axes)) parameter.columns = axis;
  };
  set(k.inputs, plan.split.inputs);
  set(k.states, plan.split.states);
  set(k.out, ArrayRef(plan.split.outputs).take_front());
  set(k.others, ArrayRef(plan.split.outputs).drop_front());
  for (const ParameterDescription &state : k.states)
    if (state.exponent >= 0) k.exponents[state.exponent].columns = state.columns;
  k.columns = plan.split.dimension;
}

int64_t lintel::partCost(double part, double whole) {
  return std::clamp<int64_t>(std::llround(1000 * part / whole), 1, 1000);
}

PartsRequest lintel::partsFor(int64_t heads, int threads) {
  PartsRequest result;
  if (heads == 0 || heads % threads == 0 || heads > LINTEL_PARTS_ITEMS * threads) return result;
  result.number = 0;
  while (heads * result.usual < threads && result.usual < 64) result.usual *= 2;
  return result;
}

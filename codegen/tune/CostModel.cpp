#include "codegen/tune/CostModel.h"
#include "llvm/ADT/STLExtras.h"

using namespace lintel;

double lintel::tileFactor(const StageSpace &stage, const StageSchedule &s, const ScheduleTarget &target) {
  // Neither stored nor read again: a little better than any tile.
  if (s.inlined) return 0.9;
  if (s.packed) return 1;
  int64_t lanes = std::max(1u, target.vectorBits / target.elementBits);
  int64_t inner = stage.sizes.empty() ? 1 : stage.sizes.back();
  int64_t next = stage.sizes.size() > 1 ? stage.sizes[stage.sizes.size() - 2] : 1;
  auto covered = [](int64_t size, int64_t tile) {
    return static_cast<double>((size + tile - 1) / tile * tile) / static_cast<double>(std::max<int64_t>(size, 1));
  };
  double factor = covered(inner, s.vector * s.panel) * covered(next, s.rows);
  factor *= std::max(1.0, static_cast<double>(std::min(lanes, inner)) / static_cast<double>(s.vector));
  if (!stage.folds) return factor;
  double across = static_cast<double>((s.vector + lanes - 1) / lanes * s.panel), down = static_cast<double>(s.rows);
  double sums = across * down, registers = target.registers;
  // Two multiply-adds a cycle of four cycles each: eight at a time. Short of that the units wait.
  factor *= std::max(1.0, 8 / std::max(sums, 1.0) * 0.5 + 0.5);
  // A load for each vector across and a broadcast for each row, against as many multiply-adds as there are sums.
  factor *= 1 + 0.5 * std::max(0.0, (across + down) / sums - 0.75);
  double needed = sums + across + 1;
  if (needed > registers) factor *= 1 + 2 * (needed - registers) / registers;
  return factor;
}

double lintel::predictedCost(const SearchSpace &space, const Candidate &candidate) {
  const VariantSpace &variant = space.variants[candidate.variant];
  double standard = 0, mine = 0;
  for (auto [stage, choice] : llvm::zip_equal(variant.stages, candidate.choices)) {
    standard += stage.work * tileFactor(stage, stage.choices[stage.standard], space.target);
    mine += stage.work * tileFactor(stage, stage.choices[choice], space.target);
  }
  return standard > 0 ? variant.cost * mine / standard : variant.cost;
}

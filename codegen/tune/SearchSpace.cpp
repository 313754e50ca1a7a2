#include "codegen/tune/SearchSpace.h"
#include "codegen/schedule/AssignSchedule.h"
#include "codegen/schedule/StageUse.h"
#include "dialect/OperatorUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace lintel;

Candidate SearchSpace::standardOf(unsigned variant) const {
  Candidate result{variant, {}};
  for (const StageSpace &stage : variants[variant].stages) result.choices.push_back(stage.standard);
  return result;
}

std::string SearchSpace::schedule(const Candidate &candidate) const {
  std::string text = variants[candidate.variant].whole;
  for (auto [stage, choice] : zip_equal(variants[candidate.variant].stages, candidate.choices))
    text += stage.name + ": " + stage.choices[choice].str() + "\n";
  return text;
}

std::optional<Candidate> SearchSpace::find(StringRef form, int64_t chunk, StringRef schedule) const {
  for (auto [v, variant] : enumerate(variants))
    if (!variant.whole.empty() && variant.form == form && variant.chunk == chunk && variant.whole == schedule)
      return standardOf(v);
  std::string error;
  auto given = parseScheduleFile(schedule, "", error);
  if (!given) return std::nullopt;
  for (auto [v, variant] : enumerate(variants)) {
    if (variant.form != form || variant.chunk != chunk || !variant.whyNot.empty() || !variant.whole.empty()) continue;
    Candidate result = standardOf(v);
    size_t used = 0;
    for (auto [stage, choice] : zip_equal(variant.stages, result.choices)) {
      auto it = given->find(stage.name);
      if (it == given->end()) continue;
      ++used;
      auto at = llvm::find_if(stage.choices, [&](const StageSchedule &s) { return s.str() == it->second.str(); });
      if (at == stage.choices.end()) return std::nullopt;
      choice = at - stage.choices.begin();
    }
    if (used == given->size()) return result;
  }
  return std::nullopt;
}

double SearchSpace::size() const {
  double all = 0;
  for (const VariantSpace &variant : variants) {
    double n = variant.whyNot.empty();
    for (const StageSpace &stage : variant.stages) n *= static_cast<double>(stage.choices.size());
    all += n;
  }
  return all;
}

json::Value SearchSpace::json() const {
  json::Array all;
  for (auto [v, variant] : enumerate(variants)) {
    if (!variant.whyNot.empty()) {
      all.push_back(json::Object{{"form", variant.form}, {"chunk", variant.chunk}, {"why_not", variant.whyNot}});
      continue;
    }
    json::Array stages;
    for (const StageSpace &stage : variant.stages) {
      json::Array choices;
      std::vector<int64_t> vectors, panels, rows;
      bool inlines = false, isRows = false;
      auto add = [](std::vector<int64_t> &list, int64_t value) {
        if (!is_contained(list, value)) list.push_back(value);
      };
      for (const StageSchedule &s : stage.choices) {
        choices.push_back(s.str());
        inlines |= s.inlined;
        isRows |= s.packed.has_value();
        if (!s.inlined && !s.packed) add(vectors, s.vector), add(panels, s.panel), add(rows, s.rows);
      }
      for (auto *list : {&vectors, &panels, &rows}) llvm::sort(*list);
      json::Object directives{{"inline", inlines}, {"vector", vectors}, {"panel", panels}, {"rows", rows}};
      if (isRows) directives = json::Object{{"packed", true}, {"direct", true}, {"ahead", json::Array{0, 1, 2, 4}}};
      stages.push_back(json::Object{{"name", stage.name},
                                    {"sizes", stage.sizes},
                                    {"sums", stage.folds},
                                    {"default", stage.choices[stage.standard].str()},
                                    {"directives", std::move(directives)},
                                    {"choices", std::move(choices)}});
    }
    all.push_back(json::Object{{"form", variant.form},
                               {"chunk", variant.chunk},
                               {"default", v == standard},
                               {"cost", variant.cost},
                               {"stages", std::move(stages)}});
  }
  return json::Object{{"candidates", size()},
                      {"vector_bits", static_cast<int64_t>(target.vectorBits)},
                      {"registers", static_cast<int64_t>(target.registers)},
                      {"variants", std::move(all)}};
}

//===-- From a kernel ---------------------------------------------------------------------------------------------===//

/// Operations of one element, those of a fold as often as it runs.
static double operations(mlir::Block &block) {
  double n = 0;
  for (mlir::Operation &op : block) {
    double inner = 0;
    for (mlir::Region &region : op.getRegions())
      for (mlir::Block &nested : region) inner += operations(nested);
    auto fold = mlir::dyn_cast<FoldOp>(op);
    n += fold ? static_cast<double>(fold.getExtent()) * (inner + 1) : inner + 1;
  }
  return n;
}

static StageSpace spaceOf(StageOp stage, const ScheduleTarget &target, const StageSchedule &standard, bool inPlace) {
  StageSpace result;
  result.name = stage.getName().str();
  auto sizes = stage.getType().getSizes();
  result.sizes.assign(sizes.begin(), sizes.end());
  double elements = 1;
  for (int64_t n : sizes) elements *= static_cast<double>(n);
  result.work = elements * operations(stage.getBody().front());
  result.folds = stage.getBody().walk([](FoldOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();

  int64_t lanes = std::max(1u, target.vectorBits / target.elementBits);
  int64_t inner = sizes.empty() ? 1 : sizes.back();
  SmallVector<int64_t> vectors{1, lanes / 2, lanes, 2 * lanes}, panels{1, 2, 3, 4, 6, 8},
      rows{1, 2, 3, 4, 6, 8, 12, 16};
  if (inner < lanes) vectors.push_back(inner);
  // A walk has rows of its own; a serial stage has no tiles, and along one axis no vectors.
  if (isWalked(stage) || stage.isSerial()) rows = {1};
  if (stage.isSerial()) panels = {1};
  if (stage.isSerial() && sizes.size() < 2) vectors = {1};
  std::string why;
  auto add = [&](const StageSchedule &s) {
    auto same = [&](const StageSchedule &other) { return other.str() == s.str(); };
    if (!any_of(result.choices, same) && isLegal(stage, s, inPlace, why)) result.choices.push_back(s);
  };
  // Sorted by directive, so that neighbours in the list differ little.
  StageSchedule s;
  s.inlined = true;
  add(s);
  s.inlined = false;
  for (int64_t vector : vectors)
    for (int64_t panel : panels)
      for (int64_t row : rows) {
        s.vector = vector, s.panel = panel, s.rows = row;
        int64_t registers = (vector + lanes - 1) / lanes * panel * row;
        // One lane at a time pays where nothing else fits: no tiles of such.
        if (vector < 1 || registers > 2 * target.registers ||
            (vector == 1 && lanes > 1 && inner > 1 && panel * row > 1))
          continue;
        add(s);
      }
  add(standard);
  result.standard = find_if(result.choices, [&](const StageSchedule &x) { return x.str() == standard.str(); }) -
                    result.choices.begin();
  return result;
}

/// Of rows: packed or direct, asked for so many chunks ahead, where that is legal.
static void addRows(RowsOp rows, std::vector<StageSpace> &result) {
  StageSpace space;
  space.name = scheduleName(rows);
  auto sizes = rows.getType().getSizes();
  space.sizes.assign(sizes.begin(), sizes.end());
  for (bool packed : {false, true})
    for (int64_t ahead : {0, 1, 2, 4}) {
      StageSchedule s;
      s.packed = packed, s.ahead = ahead;
      std::string why;
      if (isLegal(rows, s, why)) space.choices.push_back(s);
    }
  if (space.choices.size() < 2) return;
  auto standard = scheduleOf(rows);
  assert(succeeded(standard) && "expected assigned schedules");
  space.standard = find_if(space.choices, [&](const StageSchedule &s) { return s.str() == standard->str(); }) -
                   space.choices.begin();
  result.push_back(std::move(space));
}

std::vector<StageSpace> lintel::stageSpaces(KernelOp kernel, const ScheduleTarget &target) {
  std::vector<StageSpace> result;
  StringSet<> seen;
  kernel.walk([&](mlir::Operation *op) {
    if (auto rows = mlir::dyn_cast<RowsOp>(op); rows && seen.insert(scheduleName(rows)).second) addRows(rows, result);
    auto stage = mlir::dyn_cast<StageOp>(op);
    if (!stage) return;
    if (!seen.insert(stage.getName()).second) return;
    ScheduleTarget own = target;
    if (isPrecise(stage)) own.elementBits = 64;
    bool inPlace = isInPlace(stage);
    auto standard = scheduleOf(stage, inPlace);
    assert(succeeded(standard) && "expected assigned schedules");
    result.push_back(spaceOf(stage, own, *standard, inPlace));
  });
  return result;
}

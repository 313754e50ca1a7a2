//===- SearchSpace.h - what a search may choose from ----------------------===//
//
// The problem object of a search, free of IR. A variant is a form and a chunk; it has stages, each with a list of
// schedules that are legal for it (isLegal of codegen/schedule, asked once, when the space is made). A candidate is a
// variant and an index into each of its stages' lists; written out it is a form, a chunk and the text of a .sched file.
//
//   variant chunkwise, chunk 8          candidate {variant 0, choices {2, 0}}
//     scores  [vector 8 | vector 8 panel 2 | vector 8 rows 4]     -> "scores: vector 8 rows 4"
//     out     [vector 8 | ...]                                     -> "out: vector 8"
//===----------------------------------------------------------------------===//
#ifndef LINTEL_CODEGEN_TUNE_SEARCHSPACE_H
#define LINTEL_CODEGEN_TUNE_SEARCHSPACE_H

#include "codegen/schedule/StageSchedule.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace lintel {

struct StageSpace {
  std::string name;
  std::vector<int64_t> sizes; ///< of its axes, outermost first
  bool folds = false;         ///< its tiles hold sums
  double work = 0;            ///< operations of all its elements
  std::vector<StageSchedule> choices;
  unsigned standard = 0; ///< the heuristic's, in `choices`
};

struct VariantSpace {
  std::string form;
  int64_t chunk = 0;
  double cost = 0;    ///< a step and head by the analysis of forms (compiler/analysis/CostAnalysis.h)
  std::string whyNot; ///< not empty: the kernel cannot be built
  std::vector<StageSpace> stages;
  std::string whole; ///< not empty: a schedule of all stages at once (Autoscheduler.h), and no stages
};

struct Candidate {
  unsigned variant = 0;
  std::vector<unsigned> choices; ///< one for each stage
  bool operator==(const Candidate &other) const { return variant == other.variant && choices == other.choices; }
  bool operator<(const Candidate &other) const {
    return std::tie(variant, choices) < std::tie(other.variant, other.choices);
  }
};

struct SearchSpace {
  std::vector<VariantSpace> variants;
  unsigned standard = 0; ///< the variant that is chosen without a search
  ScheduleTarget target;

  /// The heuristic's candidate of a variant.
  Candidate standardOf(unsigned variant) const;
  Candidate standardCandidate() const { return standardOf(standard); }
  /// As the text of a .sched file.
  std::string schedule(const Candidate &candidate) const;
  /// The candidate of a form, a chunk and a .sched file's text; nothing if the space does not have it.
  std::optional<Candidate> find(llvm::StringRef form, int64_t chunk, llvm::StringRef schedule) const;
  /// Candidates in all, which may be more than fits a number of 64 bits.
  double size() const;
  llvm::json::Value json() const;
};

/// The schedules of a kernel's stages that are worth a measurement: powers of two and what the heuristic chose, within
/// what is legal and about two register files of tiles. The kernel's stages have their schedules (assignSchedules): the
/// standard ones. Of stages of one name the first counts, as in .sched files.
std::vector<StageSpace> stageSpaces(KernelOp kernel, const ScheduleTarget &target);

} // namespace lintel
#endif

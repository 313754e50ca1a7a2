// The HTML report of a search: one file, its plots inline SVG, nothing loaded from elsewhere, no scripts.
#ifndef LINTEL_CODEGEN_TUNE_REPORT_H
#define LINTEL_CODEGEN_TUNE_REPORT_H

#include "codegen/tune/TuningDatabase.h"
#include <string>
#include <vector>

namespace lintel {

struct ReportContent {
  TuningKey key;
  std::string strategy;
  std::vector<StoredTrial> trials;
  StoredBest best;
  std::string standardForm, standardSchedule;
  int64_t standardChunk = 0;
  double standardPredicted = 0;
  double flops = 0, bytes = 0; ///< by the operator's mathematics, 0: not counted; of inputs and outputs
  double limit = 0;            ///< gflops of these threads at most, measured
  double bandwidth = 0;        ///< GB a second that one core reads, measured
};

std::string reportText(const ReportContent &content);

} // namespace lintel

#endif

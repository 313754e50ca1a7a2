// A guess at a candidate's cost, for the order in which a search looks at them; measurements decide.
//
// The cost of the variant by the analysis of forms, shared out over its stages by their operations, each times how much
// worse its tiles are than a full vector's: lanes left empty, elements computed twice at the ends of an axis, sums too
// few to fill the multiply-add units' latency, loads that no register row shares, registers that do not fit.
#ifndef LINTEL_CODEGEN_TUNE_COSTMODEL_H
#define LINTEL_CODEGEN_TUNE_COSTMODEL_H

#include "codegen/tune/SearchSpace.h"

namespace lintel {

/// In the units of VariantSpace::cost. Of a variant's standard candidate it is the variant's cost.
double predictedCost(const SearchSpace &space, const Candidate &candidate);
/// How much worse than full vectors in registers a stage's schedule is: about 1 and above.
double tileFactor(const StageSpace &stage, const StageSchedule &schedule, const ScheduleTarget &target);

} // namespace lintel

#endif

//===- WeightSupport.h - where the weights of attention can be other than zero
//
// The idea. Weights of `where(c, w, 0)` are zero wherever c is false. As far as c compares the distance (or the key's
// position, `position - distance`) with numbers, it bounds the keys that a query has to visit. Conditions are followed
// as unions of boxes of distances and key positions; `and` intersects, `or` unites, and what is not understood bounds
// nothing: the answer may be too wide, never too narrow.
//
// Example: `where(distance < 64 or position - distance < 4, w, 0)`: window 64, first 4.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_ANALYSIS_WEIGHTSUPPORT_H
#define LINTEL_COMPILER_ANALYSIS_WEIGHTSUPPORT_H

#include "dialect/AttnDialect.h"

namespace lintel {

/// As attn.streamed says it.
struct WeightSupport {
  int64_t window = 0; ///< weights are zero from this distance on; 0: from none
  int64_t ahead = -1; ///< weights of keys more steps after the query are zero; -1: of none
  int64_t first = 0;  ///< the sequence's first steps, which the window does not end for
};

/// Of weights whose dimensions are bound.
WeightSupport supportOf(AttendOp attend);
/// Keys that a query of a sequence of `steps` meets on average.
double seenKeys(AttendOp attend, int64_t steps);

} // namespace lintel
#endif

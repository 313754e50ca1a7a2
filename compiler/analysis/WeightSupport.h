//===- WeightSupport.h - where the weights of attention can be other than zero
//
// The idea. Weights of `where(c, w, 0)` are zero wherever c is false. As far as c compares the distance (or the key's
// position, `position - distance`) with numbers, it bounds the keys that a query has to visit. Conditions are followed
// as unions of boxes of distances and key positions; `and` intersects, `or` unites, and what is not understood bounds
// nothing: the answer may be too wide, never too narrow.
//
// Where a condition can be false is followed in the same way: keys at no such distance surely have a weight, and blocks
// of them need no mask. That answer may be too narrow.
//
// Example: `where(distance < 64 or position - distance < 4, w, 0)`: window 64, first 4, weights up to 63 steps before.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_COMPILER_ANALYSIS_WEIGHTSUPPORT_H
#define LINTEL_COMPILER_ANALYSIS_WEIGHTSUPPORT_H

#include "dialect/AttnDialect.h"

namespace lintel {

/// As attn.streamed says it.
struct WeightSupport {
  int64_t window = 0;              ///< weights are zero from this distance on; 0: from none
  int64_t ahead = -1;              ///< weights of keys more steps after the query are zero; -1: of none
  int64_t first = 0;               ///< the sequence's first steps, which the window does not end for
  bool scattered = false;          ///< no key is known to have a weight; else those have one that are
  int64_t before = -1, after = -1; ///< so many steps before and after the query; -1: any number
};

/// Of weights whose dimensions are bound.
WeightSupport supportOf(AttendOp attend);
/// Keys that a query of a sequence of `steps` meets on average.
double seenKeys(AttendOp attend, int64_t steps);

} // namespace lintel
#endif

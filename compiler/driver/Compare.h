// How far a kernel's result may be from the interpreter's, and how far it is.
//
// The bound, element by element, is the sum of
//   8 eps sqrt(T + 1) rms          rounding of sums of T terms, as a random walk; rms is that of the whole array
//   16 eps w / delta               what the operator itself makes of rounded inputs: w is by how much the exact result
//   moves
//                                  when every input moves by a random relative delta (three draws, the largest)
//   eps_out |value|                the one rounding on store
// where eps is the unit roundoff that is accumulated in (f64's for f64, else f32's) and eps_out that of the array. So
// the test is one of backward stability: ill-conditioned operators get the room that their mathematics asks for.
#ifndef LINTEL_COMPILER_DRIVER_COMPARE_H
#define LINTEL_COMPILER_DRIVER_COMPARE_H

#include "compiler/driver/RandomArrays.h"

namespace lintel {

/// The exact result on some arrays with the room that each element has.
struct Reference {
  RunResult exact;                        // f64
  std::vector<std::vector<double>> bound; // of out, then of each state
};
llvm::Expected<Reference> makeReference(mlir::Operation *op, const OperatorInfo &info, const BoundArrays &arrays);

struct Difference {
  double error = 0; // largest, over the array's rms
  double bound = 0; // of that element, over the rms
  bool ok = true;
  std::string failure; // the first element outside its bound: array, index, both values
};
/// Compares a result in the run's dtypes with the reference.
Difference compareResults(const OperatorInfo &info, const Reference &reference, const RunResult &got);

} // namespace lintel

#endif

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
/// The spec's, but for elements where that is not finite: these are what `wide` comes to, the form that carries
/// exponents (interpretedForm), as kernels do.
llvm::Expected<Reference> makeReference(mlir::Operation *spec, mlir::Operation *wide, const OperatorInfo &info,
                                        const BoundArrays &arrays);

struct Difference {
  double error = 0; // over the array's rms, of the element nearest to its bound or farthest past it
  double bound = 0; // of that element, over the rms
  bool ok = true;
  /// The first element outside its bound: "out[b=0, t=3, h=1, e=2] is nan, expected 1.5 (bound 1e-6)".
  std::string failure;

  /// How much of its room the element takes; above 1 it fails.
  double used() const { return error > 0 ? error / bound : 0; }
};
/// Compares a result in the run's dtypes with the reference.
Difference compareResults(const OperatorInfo &info, const Reference &reference, const RunResult &got);

/// For results that must be the same bits: the first element that is not, like a Difference's failure; else nothing.
/// NaNs are all the same.
std::optional<std::string> firstOtherBits(const OperatorInfo &info, const RunResult &want, const RunResult &got);

} // namespace lintel

#endif

// The user's arrays matched with an operator: sizes of axes and dimensions, element type, initial states.
//
// Layout, row-major: token inputs [B, T, G, n...] with G dividing H, head inputs [H, n...], shared inputs [n...],
// states [sequences, H, n...], out [B, T, H, n]. H is the largest number of heads found. With `lengths` the batch is 1
// and sequences of these lengths follow each other on the time axis.
#ifndef LINTEL_COMPILER_DRIVER_ARRAYS_H
#define LINTEL_COMPILER_DRIVER_ARRAYS_H

#include "compiler/driver/Npy.h"
#include "compiler/driver/SpecFile.h"
#include <optional>

namespace lintel {

struct NamedArray {
  std::string name;
  NpyArray array;
};

struct ArraysRequest {
  std::vector<NamedArray> inputs;
  std::vector<NamedArray> initial;
  Dimensions dimensions;             // given by the user; must agree with the arrays
  std::optional<lintel_dtype> dtype; // else inferDtype()
  std::optional<std::vector<int64_t>> lengths;
  int64_t position = 0; // of every sequence's first step
};

/// All that a run needs, checked.
struct BoundArrays {
  int64_t batch = 0, steps = 0, heads = 0;
  Dimensions dimensions; // every name of the operator, in its order
  lintel_dtype dtype = LINTEL_F32;
  std::vector<NpyArray> inputs;                 // in the operator's order, of `dtype`
  std::vector<std::optional<NpyArray>> initial; // in the operator's order, of stateDtype()
  std::optional<std::vector<int64_t>> lengths;
  int64_t position = 0;

  int64_t sequences() const { return lengths ? static_cast<int64_t>(lengths->size()) : batch; }
};

llvm::StringMap<int64_t> dimensionMap(const Dimensions &dimensions);

/// A run's result.
struct RunResult {
  NpyArray out;
  std::vector<NpyArray> states; // after the last step, in the operator's order
};

/// f64 for an f64 operator, else f32: a state is never rounded to half.
inline lintel_dtype stateDtype(lintel_dtype dtype) { return dtype == LINTEL_F64 ? LINTEL_F64 : LINTEL_F32; }

/// f64 if any input is f64; a half type if all token inputs are of it; else f32.
lintel_dtype inferDtype(const OperatorInfo &op, llvm::ArrayRef<NamedArray> inputs);

/// Errors name the arrays that do not fit and what was expected: unknown, missing or repeated names, ranks,
/// contradictory sizes, heads that do not divide, lengths that do not add up.
llvm::Expected<BoundArrays> bindArrays(const OperatorInfo &op, ArraysRequest request);

/// The dimensions of `op` in its order, all from `given`. Errors: one that is missing or not the operator's.
llvm::Expected<Dimensions> bindDimensions(const OperatorInfo &op, const Dimensions &given);

/// Sizes of an array's inner axes.
llvm::SmallVector<int64_t, 2> innerShape(const ArrayInfo &info, const Dimensions &dimensions);
llvm::SmallVector<int64_t, 5> outShape(const OperatorInfo &op, const BoundArrays &arrays);
llvm::SmallVector<int64_t, 5> stateShape(const OperatorInfo &op, unsigned state, const BoundArrays &arrays);

/// "[2, 64]"
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// The elements as doubles, and doubles as an array.
std::vector<double> toDoubles(const NpyArray &array);
llvm::Expected<NpyArray> fromDoubles(llvm::ArrayRef<double> values, llvm::ArrayRef<int64_t> shape, lintel_dtype dtype);

} // namespace lintel

#endif

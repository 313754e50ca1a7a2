// The user's arrays matched with an operator: sizes of axes and dimensions, element type, initial states.
//
// Layout, row-major: token inputs [B, T, G, n...] with G dividing H, head inputs [H, n...], shared inputs [n...],
// states [sequences, H, n...], out [B, T, H, n]. H is the largest number of heads found. With `lengths` the batch is 1
// and sequences of these lengths follow each other on the time axis.
#ifndef LINTEL_COMPILER_DRIVER_ARRAYS_H
#define LINTEL_COMPILER_DRIVER_ARRAYS_H

#include "compiler/driver/ElementTypes.h"
#include "compiler/driver/Npy.h"

namespace lintel {

struct NamedArray {
  std::string name;
  NpyArray array;
  std::optional<NpyArray> exponents = std::nullopt; // of a state, see NpyState
};

struct ArraysRequest {
  std::vector<NamedArray> inputs;
  std::vector<NamedArray> initial;
  Dimensions dimensions; // given by the user; must agree with the arrays
  TypeRequest types;     // what it says nothing of: an input stays as it is, the output is inferOutType()
  std::optional<std::vector<int64_t>> lengths;
  int64_t position = 0; // of every sequence's first step
};

/// All that a run needs, checked.
struct BoundArrays {
  int64_t batch = 0, steps = 0, heads = 0;
  Dimensions dimensions; // every name of the operator, in its order
  ElementTypes types;
  std::vector<NpyArray> inputs;                 // in the operator's order, of their type
  std::vector<std::optional<NpyArray>> initial; // in the operator's order, of types.state()
  /// Of initial states, f64 [sequences, H] or [sequences, H, n], in the operator's order; may be empty. See
  /// settleExponents.
  std::vector<std::optional<NpyArray>> exponents;
  std::optional<std::vector<int64_t>> lengths;
  int64_t position = 0;

  int64_t sequences() const { return lengths ? static_cast<int64_t>(lengths->size()) : batch; }
};

llvm::StringMap<int64_t> dimensionMap(const Dimensions &dimensions);

/// A run's result.
struct RunResult {
  NpyArray out;
  std::vector<NpyArray> states; // after the last step, in the operator's order
  std::vector<NpyArray> others; // outputs after `out`, in the operator's order
  /// Of the states that are held with one, where exponents were asked for; else empty.
  std::vector<std::optional<NpyArray>> exponents;
};

/// Of the output, from those of the inputs: f64 if any input is f64; a half type if all token inputs are of it; else
/// f32.
lintel_dtype inferOutType(const OperatorInfo &op, const NamedTypes &inputs);

/// Errors name the arrays that do not fit and what was expected: unknown, missing or repeated names, ranks,
/// contradictory sizes, heads that do not divide, lengths that do not add up.
llvm::Expected<BoundArrays> bindArrays(const OperatorInfo &op, ArraysRequest request);

/// The dimensions of `op` in its order, all from `given`. Errors: one that is missing or not the operator's.
llvm::Expected<Dimensions> bindDimensions(const OperatorInfo &op, const Dimensions &given);

/// Sizes of an array's inner axes.
llvm::SmallVector<int64_t, 2> innerShape(const ArrayInfo &info, const Dimensions &dimensions);
llvm::SmallVector<int64_t, 5> outShape(const OperatorInfo &op, const BoundArrays &arrays);
/// The same of an output after `out`.
llvm::SmallVector<int64_t, 5> otherShape(const OperatorInfo &op, unsigned output, const BoundArrays &arrays);
llvm::SmallVector<int64_t, 5> stateShape(const OperatorInfo &op, unsigned state, const BoundArrays &arrays);

/// "[2, 64]"
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// The elements as doubles, and doubles as an array.
std::vector<double> toDoubles(const NpyArray &array);
llvm::Expected<NpyArray> fromDoubles(llvm::ArrayRef<double> values, llvm::ArrayRef<int64_t> shape, lintel_dtype dtype);

} // namespace lintel

#endif

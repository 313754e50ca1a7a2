//===- Interpreter.h - what every phase means, in float64 -----------------===//
//
// Runs an operator of any phase (attn.spec, the form ops, attn.kernel) on arrays, one head of one sequence after
// another, one step or one element at a time: readable, with no speed. It is the oracle that every pass and every
// compiled kernel is tested against.
//
// Layout: token inputs [B, T, G, n...] with G dividing H, head inputs [H, n...], shared inputs [n...], states [B, H,
// n...], out [B, T, H, n]; row-major. Thread-safe: it reads the op only and keeps no state of its own.
//===----------------------------------------------------------------------===//
#ifndef LINTEL_DIALECT_REFERENCE_INTERPRETER_H
#define LINTEL_DIALECT_REFERENCE_INTERPRETER_H

#include "dialect/AttnDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace lintel {

/// A dense row-major array.
struct Array {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> data;
  Array() = default;
  explicit Array(llvm::ArrayRef<int64_t> shape, double fill = 0);
  int64_t size() const { return static_cast<int64_t>(data.size()); }
};

struct Arguments {
  int64_t batch = 1, steps = 0, heads = 1;
  int64_t position = 0;                ///< of the first step
  llvm::StringMap<int64_t> dimensions; ///< values of the dimension names; needed where dimensions are still symbolic
  llvm::StringMap<Array> inputs;
  llvm::StringMap<Array> initial; ///< states that do not start at zero
  llvm::StringMap<Array>
      exponents;               ///< by state, [B, H]: it starts at initial * 2^p; states that share one have the same
  bool takesExponents = false; ///< final states leave as they are held, beside their exponents
  std::function<void(int64_t done, int64_t all)> progress; ///< called after each head; may be empty
};

struct Results {
  Array out;
  std::vector<Array> others; ///< outputs after `out`, in the operator's order
  llvm::StringMap<Array> final;
  llvm::StringMap<Array> exponents; ///< of the final states that have one, where they are taken
};

/// The operator's value. Errors: an input or a state that is missing, of the wrong shape, or not the operator's; an
/// unbound dimension.
llvm::Expected<Results> interpret(mlir::Operation *op, const Arguments &arguments);

} // namespace lintel
#endif

// NumPy's .npy files: reading, writing, and conversion between the element types that kernels take.
//
// A .npy file is the magic "\x93NUMPY", a version (1, 2 or 3), the length of its header, the header (a Python
// dictionary as text, such as {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }), and the elements.
//
// Read are f8, f4, f2 and bfloat16, little-endian, in either order. bfloat16 has no NumPy type of its own: ml_dtypes
// stores it as '<V2' (or 'bfloat16'), and without ml_dtypes its bits travel as '<u2', which counts as bfloat16 only
// where the caller says so. It is written as '<u2', which plain NumPy reads. All else is refused with what to do about
// it.
#ifndef LINTEL_COMPILER_DRIVER_NPY_H
#define LINTEL_COMPILER_DRIVER_NPY_H
#include "lintel/kernel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdlib>
#include <memory>
#include <optional>

namespace lintel {

/// A row-major array that owns its elements.
struct NpyArray {
  lintel_dtype dtype = LINTEL_F32;
  llvm::SmallVector<int64_t, 5> shape;

  /// Elements unset. Fails when a size is negative, the bytes do not fit in 63 bits or there is no memory.
  static llvm::Expected<NpyArray> create(lintel_dtype dtype, llvm::ArrayRef<int64_t> shape);

  int64_t elements() const;
  size_t bytes() const;
  /// Aligned to 64 bytes; never null, also when empty.
  void *data() { return memory.get(); }
  const void *data() const { return memory.get(); }
  template <typename T> T *dataAs() { return static_cast<T *>(memory.get()); }
  template <typename T> const T *dataAs() const { return static_cast<const T *>(memory.get()); }

  /// The same numbers in another type, rounded to nearest, ties to even; too large becomes infinite, NaN stays NaN.
  llvm::Expected<NpyArray> convertedTo(lintel_dtype to) const;

private:
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory;
};

struct NpyReadOptions {
  /// Take '<u2' as the bits of bfloat16.
  bool uint16IsBf16 = false;
};

/// Every error names the file, what was expected and what was found.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path, const NpyReadOptions &options = {});

/// The same for bytes in memory; `name` stands for the file in errors.
llvm::Expected<NpyArray> parseNpy(llvm::StringRef bytes, llvm::StringRef name, const NpyReadOptions &options = {});

/// Writes a temporary file beside `path` and renames it, so that `path` holds the old content or the whole new one.
/// A symbolic link is followed; a device (/dev/null, /dev/stdout) is written to directly.
llvm::Error writeNpy(llvm::StringRef path, const NpyArray &array);

/// A state, values * 2^exponents, where the numbers themselves may lie outside of their type. With exponents (f64, of
/// the values' first two axes [B, H]; whole numbers) its file is a structured array of shape (B, H) with two fields,
/// one named after the state and 'exponent':
///
///     [('S', '<f4', (dk, dv)), ('exponent', '<f4')]
///
/// or with one exponent for each row, ('exponent', '<f4', (dk,)), where that is how it is held.
/// An exponent is written in the type of the numbers, or as '<f8' where it has more digits; read are i4, i8, f4 and f8.
struct NpyState {
  NpyArray values;
  std::optional<NpyArray> exponents; // none: a plain array
};

llvm::Expected<NpyState> readNpyState(llvm::StringRef path, llvm::StringRef state, const NpyReadOptions &options = {});
llvm::Expected<NpyState> parseNpyState(llvm::StringRef bytes, llvm::StringRef name, llvm::StringRef state,
                                       const NpyReadOptions &options = {});
/// As writeNpy.
llvm::Error writeNpyState(llvm::StringRef path, llvm::StringRef name, const NpyState &state);

/// One element: to and from the bits of a half type, in double so that nothing is rounded twice.
uint16_t roundToF16(double value);
uint16_t roundToBf16(double value);
double widenF16(uint16_t bits);
double widenBf16(uint16_t bits);

} // namespace lintel

#endif

#include "compiler/driver/Compare.h"
#include "compiler/driver/Reference.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace llvm;
using namespace lintel;

static double roundoff(lintel_dtype dtype) {
  switch (dtype) {
  case LINTEL_F64:
    return 0x1p-53;
  case LINTEL_F32:
    return 0x1p-24;
  case LINTEL_F16:
    return 0x1p-11;
  case LINTEL_BF16:
    return 0x1p-8;
  }
  return 0;
}

static double largest(lintel_dtype dtype) {
  switch (dtype) {
  case LINTEL_F64:
    return 0x1.fffffffffffffp1023;
  case LINTEL_F32:
    return 0x1.fffffep127;
  case LINTEL_F16:
    return 65504;
  case LINTEL_BF16:
    return 0x1.fep127;
  }
  return 0;
}

/// Of the factors of products of bf16 pairs.
constexpr double pairRoundoff = 0x1p-9;

/// Half of the distance between the smallest numbers of the type.
static double underflow(lintel_dtype dtype) {
  return dtype == LINTEL_F16 ? 0x1p-25 : dtype == LINTEL_F64 ? 0x1p-1022 : 0x1p-126;
}

static double rmsOf(ArrayRef<double> values) {
  double sum = 0, n = 0;
  for (double x : values)
    if (std::isfinite(x)) sum += x * x, n += 1;
  return n > 0 ? std::sqrt(sum / n) : 0;
}

static Expected<BoundArrays> moved(const OperatorInfo &info, const BoundArrays &arrays, double delta, uint64_t seed) {
  auto copy = cutArrays(info, arrays, 0, arrays.steps, {});
  if (!copy) return copy.takeError();
  Random random(seed);
  auto move = [&](NpyArray &array) -> Error {
    auto wide = array.convertedTo(LINTEL_F64);
    if (!wide) return wide.takeError();
    for (double &x : MutableArrayRef(wide->dataAs<double>(), static_cast<size_t>(wide->elements())))
      x *= random.uniform() < 0.5 ? 1 + delta : 1 - delta;
    array = std::move(*wide);
    return Error::success();
  };
  for (NpyArray &array : copy->inputs)
    if (Error e = move(array)) return std::move(e);
  for (std::optional<NpyArray> &array : copy->initial)
    if (array)
      if (Error e = move(*array)) return std::move(e);
  copy->lengths = arrays.lengths;
  copy->position = arrays.position;
  return copy;
}

Expected<Reference> lintel::makeReference(mlir::Operation *op, const OperatorInfo &info, const BoundArrays &arrays) {
  Reference result;
  auto exact = interpretArrays(op, info, arrays);
  if (!exact) return exact.takeError();
  result.exact = std::move(*exact);
  auto each = [&](const RunResult &run, auto use) {
    size_t i = 0;
    use(i++, run.out, arrays.types.out());
    for (auto [output, array] : llvm::zip_equal(info.others, run.others)) use(i++, array, arrays.types.of(output.name));
    for (const NpyArray &state : run.states) use(i++, state, arrays.types.state(info));
  };
  std::vector<std::vector<double>> wiggle(1 + info.others.size() + info.states.size());
  each(result.exact, [&](size_t i, const NpyArray &a, lintel_dtype) { wiggle[i].assign(a.elements(), 0); });
  constexpr double delta = 1e-6; // far above f64's rounding, small enough to be linear
  for (uint64_t draw = 0; draw < 3; ++draw) {
    auto near = moved(info, arrays, delta, 77 + draw);
    if (!near) return near.takeError();
    auto run = interpretArrays(op, info, *near);
    if (!run) return run.takeError();
    std::vector<const NpyArray *> exacts;
    each(result.exact, [&](size_t, const NpyArray &a, lintel_dtype) { exacts.push_back(&a); });
    each(*run, [&](size_t i, const NpyArray &a, lintel_dtype) {
      for (int64_t n = 0; n < a.elements(); ++n) {
        double x = exacts[i]->dataAs<double>()[n], y = a.dataAs<double>()[n];
        double d = x == y || (std::isnan(x) && std::isnan(y)) ? 0 : std::fabs(x - y);
        wiggle[i][n] = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(wiggle[i][n], d);
      }
    });
  }
  double eps = roundoff(arrays.types.state(info));
  double walk = 8 * eps * std::sqrt(static_cast<double>(arrays.steps) + 1), moves = 16 * eps;
  // Factors are rounded anew in each product, and their errors add up as the products do.
  if (arrays.types.products == LINTEL_BF16) walk += 8 * pairRoundoff, moves += 8 * pairRoundoff;
  each(result.exact, [&](size_t i, const NpyArray &a, lintel_dtype dtype) {
    ArrayRef<double> values(a.dataAs<double>(), static_cast<size_t>(a.elements()));
    double rms = rmsOf(values);
    std::vector<double> bound(values.size());
    for (auto [n, x] : llvm::enumerate(values))
      bound[n] = walk * rms + moves * wiggle[i][n] / delta + (std::isfinite(x) ? roundoff(dtype) * std::fabs(x) : 0) +
                 underflow(dtype);
    result.bound.push_back(std::move(bound));
  });
  return std::move(result);
}

static std::vector<NpyArray *> arraysOf(RunResult &run) {
  std::vector<NpyArray *> all{&run.out};
  for (NpyArray &other : run.others) all.push_back(&other);
  for (NpyArray &state : run.states) all.push_back(&state);
  return all;
}

Expected<Reference> lintel::makeReference(mlir::Operation *spec, mlir::Operation *wide, const OperatorInfo &info,
                                          const BoundArrays &arrays) {
  auto result = makeReference(spec, info, arrays);
  if (!result || wide == spec) return result;
  auto values = [](NpyArray *array) {
    return MutableArrayRef(array->dataAs<double>(), static_cast<size_t>(array->elements()));
  };
  auto isFinite = [&](NpyArray *array) { return all_of(values(array), [](double x) { return std::isfinite(x); }); };
  if (all_of(arraysOf(result->exact), isFinite)) return result;
  auto beyond = makeReference(wide, info, arrays);
  if (!beyond) return beyond;
  for (auto [to, from, bound, other] :
       zip_equal(arraysOf(result->exact), arraysOf(beyond->exact), result->bound, beyond->bound))
    for (auto [x, y, room, wider] : zip_equal(values(to), values(from), bound, other))
      if (!std::isfinite(x)) x = y, room = wider;
  return result;
}

/// Whether `got` is what `want` comes to where one of them is not finite.
static bool agreeAtInfinity(double want, double got, double most) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  // Beyond the type's range, with some room for the rounding of sums.
  return std::isinf(got) && std::fabs(want) > most * 0.999 && std::signbit(got) == std::signbit(want);
}

/// "out[b=0, t=3, h=1, e=2]", "state S[b=0, h=1, d=5, e=2]": e is the last axis of out and of matrices, d the one
/// before.
static std::string elementText(StringRef name, bool isState, const NpyArray &array, int64_t at) {
  size_t rank = array.shape.size();
  SmallVector<int64_t> index(rank);
  for (size_t axis = rank; axis-- > 0;) {
    index[axis] = at % array.shape[axis];
    at /= array.shape[axis];
  }
  SmallVector<const char *> axes =
      isState ? SmallVector<const char *>{"b", "h"} : SmallVector<const char *>{"b", "t", "h"};
  size_t inner = rank - axes.size();
  if (inner == 2 || (inner == 1 && isState)) axes.push_back("d");
  if (axes.size() < rank) axes.push_back("e");
  std::string text = (isState ? "state " : "") + name.str() + "[";
  for (size_t axis = 0; axis < rank; ++axis)
    text += (axis ? ", " : "") + std::string(axes[axis]) + "=" + std::to_string(index[axis]);
  return text + "]";
}

Difference lintel::compareResults(const OperatorInfo &info, const Reference &reference, const RunResult &got) {
  Difference result;
  size_t which = 0;
  auto compare = [&](bool isState, const std::string &name, const NpyArray &want, const NpyArray &have) {
    std::vector<double> values = toDoubles(have);
    ArrayRef<double> wanted(want.dataAs<double>(), static_cast<size_t>(want.elements()));
    double rms = rmsOf(wanted), unit = rms > 0 ? rms : 1;
    for (size_t n = 0; n < values.size(); ++n) {
      double x = wanted[n], y = values[n], bound = reference.bound[which][n], error = 0;
      bool ok = true;
      if (std::isfinite(x) && std::isfinite(y)) {
        error = std::fabs(x - y);
        ok = error <= bound;
      } else {
        ok = std::isinf(bound) || agreeAtInfinity(x, y, largest(have.dtype));
        if (!ok) error = std::numeric_limits<double>::infinity();
      }
      // As fractions of the bound; the products need no division by a bound of 0.
      if (error / unit * result.bound > result.error * (bound / unit) || (error > 0 && result.error == 0)) {
        result.error = error / unit;
        result.bound = bound / unit;
      }
      if (ok || !result.ok) continue;
      result.ok = false;
      result.failure = formatv("{0} is {1:e7}, expected {2:e7} (bound {3:e2})",
                               elementText(name, isState, want, static_cast<int64_t>(n)), y, x, bound)
                           .str();
    }
    ++which;
  };
  compare(false, "out", reference.exact.out, got.out);
  for (auto [o, output] : llvm::enumerate(info.others))
    compare(false, output.name, reference.exact.others[o], got.others[o]);
  for (auto [s, state] : llvm::enumerate(info.states))
    compare(true, state.name, reference.exact.states[s], got.states[s]);
  return result;
}

std::optional<std::string> lintel::firstOtherBits(const OperatorInfo &info, const RunResult &want,
                                                  const RunResult &got) {
  auto compare = [](StringRef name, bool isState, const NpyArray &x, const NpyArray &y) -> std::optional<std::string> {
    if (std::memcmp(x.data(), y.data(), x.bytes()) == 0) return std::nullopt;
    std::vector<double> wanted = toDoubles(x), values = toDoubles(y);
    for (size_t n = 0; n < values.size(); ++n) {
      bool same = wanted[n] == values[n] && std::signbit(wanted[n]) == std::signbit(values[n]);
      if (same || (std::isnan(wanted[n]) && std::isnan(values[n]))) continue;
      return formatv("{0} is {1:e9}, expected the same bits as {2:e9}",
                     elementText(name, isState, x, static_cast<int64_t>(n)), values[n], wanted[n])
          .str();
    }
    return std::nullopt;
  };
  if (auto text = compare("out", false, want.out, got.out)) return text;
  for (auto [o, output] : llvm::enumerate(info.others))
    if (auto text = compare(output.name, false, want.others[o], got.others[o])) return text;
  for (auto [s, state] : llvm::enumerate(info.states))
    if (auto text = compare(state.name, true, want.states[s], got.states[s])) return text;
  return std::nullopt;
}

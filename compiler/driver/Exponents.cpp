#include "compiler/driver/Exponents.h"
#include "codegen/emit/KernelDescription.h"
#include "dialect/OperatorUtils.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace lintel;

SmallVector<int64_t, 5> StateExponent::shape(const BoundArrays &arrays) const {
  SmallVector<int64_t, 5> result = {arrays.sequences(), arrays.heads};
  if (channels) result.push_back(channels);
  return result;
}

std::vector<StateExponent> lintel::exponentsOf(const lintel_kernel &kernel) {
  std::vector<StateExponent> result;
  for (const lintel_parameter &state : ArrayRef(kernel.states, kernel.num_states)) {
    StateExponent &one = result.emplace_back();
    one.index = state.exponent - 1;
    if (one && kernel.exponents[one.index].rank) one.channels = kernel.exponents[one.index].dim[0];
  }
  return result;
}

std::vector<StateExponent> lintel::exponentsOf(mlir::Operation *form) {
  std::vector<StateExponent> result;
  auto scales = form->getAttrOfType<mlir::DenseI64ArrayAttr>("scales");
  auto names = form->getAttrOfType<mlir::ArrayAttr>("states");
  if (!scales || scales.empty()) return std::vector<StateExponent>(names ? names.size() : 0);
  int64_t first = std::numeric_limits<int64_t>::max(); // exponents stand behind all other states
  for (int64_t scale : scales.asArrayRef())
    if (scale >= 0) first = std::min(first, scale);
  const size_t inputs = form->getAttrOfType<mlir::ArrayAttr>("inputs").size();
  for (auto [s, scale] : llvm::enumerate(scales.asArrayRef())) {
    if (static_cast<int64_t>(s) >= first) continue;
    StateExponent &one = result.emplace_back();
    if (scale < 0) continue;
    one.index = static_cast<int>(scale - first);
    if (isa<ChunkwiseOp, ParallelOp>(form)) continue; // theirs are for the head
    auto type = cast<RealType>(form->getRegion(0).front().getArgument(inputs + scale).getType());
    if (type.getRank()) one.channels = type.getSizes()[0];
  }
  return result;
}

/// x * 2^p for any p.
static double timesPower(double x, double p) { return std::ldexp(x, static_cast<int>(std::clamp(p, -9999.0, 9999.0))); }

static double rounded(double x, lintel_dtype dtype) { return dtype == LINTEL_F64 ? x : static_cast<float>(x); }

/// States are f32 or f64; `i` counts all elements.
static double element(const NpyArray &array, int64_t i) {
  return array.dtype == LINTEL_F64 ? array.dataAs<double>()[i] : array.dataAs<float>()[i];
}

static void setElement(NpyArray &array, int64_t i, double x) {
  if (array.dtype == LINTEL_F64) array.dataAs<double>()[i] = x;
  else array.dataAs<float>()[i] = static_cast<float>(x);
}

static bool isZero(const NpyArray &array, int64_t part, int64_t each) {
  for (int64_t i = part * each; i < (part + 1) * each; ++i)
    if (element(array, i) != 0) return false;
  return true;
}

/// How many elements of `values` one of `count` exponents is for: those of a head, or of a row of one.
static int64_t elementsOfEach(const NpyArray &values, int64_t count) { return count ? values.elements() / count : 0; }

/// Multiplies part by part; the first element that did not stay in its type's range.
static std::optional<int64_t> multiply(NpyArray &values, ArrayRef<double> powers) {
  int64_t each = elementsOfEach(values, static_cast<int64_t>(powers.size()));
  std::optional<int64_t> lost;
  for (int64_t i = 0, n = each * static_cast<int64_t>(powers.size()); i < n; ++i) {
    double x = element(values, i), y = rounded(timesPower(x, powers[i / each]), values.dtype);
    if ((std::isinf(y) && !std::isinf(x)) || (y == 0 && x != 0)) lost = lost.value_or(i);
    setElement(values, i, y);
  }
  return lost;
}

Error lintel::settleExponents(const OperatorInfo &op, BoundArrays &arrays, ArrayRef<StateExponent> with) {
  const int64_t heads = arrays.sequences() * arrays.heads;
  arrays.exponents.resize(op.states.size());
  auto given = [&](unsigned s) {
    return ArrayRef(arrays.exponents[s]->dataAs<double>(), static_cast<size_t>(arrays.exponents[s]->elements()));
  };
  // Of element i of a state, by what was given beside it.
  auto exponent = [&](unsigned s, int64_t i) {
    if (!arrays.exponents[s]) return 0.0;
    return given(s)[i / elementsOfEach(*arrays.initial[s], arrays.exponents[s]->elements())];
  };
  int groups = 0;
  for (auto [s, held] : llvm::enumerate(with)) {
    groups = std::max(groups, held.index + 1);
    if (held || !arrays.exponents[s]) continue;
    if (auto lost = multiply(*arrays.initial[s], given(s))) {
      const int64_t head = *lost / (arrays.initial[s]->elements() / heads);
      return createStringError(
          "expected initial state '%s' of numbers that fit %s, as operator '%s' holds it without an exponent, found %s "
          "* 2^%.0f at [%lld, %lld]; give numbers within that range",
          op.states[s].name.c_str(), dtypeName(arrays.types.state(op)), op.name.c_str(), op.states[s].name.c_str(),
          exponent(s, *lost), static_cast<long long>(head / arrays.heads), static_cast<long long>(head % arrays.heads));
    }
    arrays.exponents[s].reset();
  }
  for (int group = 0; group < groups; ++group) {
    SmallVector<unsigned> members;
    for (auto [s, held] : llvm::enumerate(with))
      if (held.index == group && arrays.initial[s]) members.push_back(s);
    if (members.empty()) continue;
    auto common = NpyArray::create(LINTEL_F64, with[members[0]].shape(arrays));
    if (!common) return common.takeError();
    const int64_t parts = common->elements();
    for (int64_t part = 0; part < parts; ++part) {
      std::optional<double> top, ofZeros;
      for (unsigned s : members) {
        const NpyArray &values = *arrays.initial[s];
        const int64_t each = elementsOfEach(values, parts);
        for (int64_t i = part * each; i < (part + 1) * each; ++i) {
          double p = exponent(s, i);
          if (element(values, i) != 0) top = std::max(top.value_or(p), p);
          else if (arrays.exponents[s]) ofZeros = std::max(ofZeros.value_or(p), p);
        }
      }
      common->dataAs<double>()[part] = top ? *top : ofZeros.value_or(LINTEL_EXPONENT_NONE);
    }
    for (unsigned s : members) {
      NpyArray &values = *arrays.initial[s];
      const int64_t each = elementsOfEach(values, parts);
      // What vanishes beside the other numbers of its exponent has no part in any sum with them.
      for (int64_t i = 0, n = each * parts; i < n; ++i)
        setElement(values, i, timesPower(element(values, i), exponent(s, i) - common->dataAs<double>()[i / each]));
      auto copy = common->convertedTo(LINTEL_F64);
      if (!copy) return copy.takeError();
      arrays.exponents[s] = std::move(*copy);
    }
  }
  return Error::success();
}

Expected<NpyState> lintel::stateForFile(const NpyArray &values, const NpyArray *exponents, lintel_dtype dtype) {
  auto held = values.convertedTo(dtype);
  if (!held) return held.takeError();
  if (!exponents) return NpyState{std::move(*held), std::nullopt};
  auto product = held->convertedTo(dtype);
  if (!product) return product.takeError();
  ArrayRef<double> powers(exponents->dataAs<double>(), static_cast<size_t>(exponents->elements()));
  multiply(*product, powers);
  bool exact = true;
  const int64_t each = elementsOfEach(*held, exponents->elements());
  for (int64_t i = 0, n = held->elements(); i < n && exact; ++i) {
    double x = element(*held, i), p = powers[i / each];
    exact = !std::isfinite(x) || x == 0 || timesPower(element(*product, i), -p) == x;
  }
  if (exact) return NpyState{std::move(*product), std::nullopt};
  auto copy = exponents->convertedTo(LINTEL_F64);
  if (!copy) return copy.takeError();
  return NpyState{std::move(*held), std::move(*copy)};
}

std::pair<double, double> lintel::exponentRange(const NpyState &state) {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  int64_t parts = state.exponents->elements();
  for (int64_t part = 0; part < parts; ++part) {
    double p = state.exponents->dataAs<double>()[part];
    if (isZero(state.values, part, elementsOfEach(state.values, parts))) continue;
    least = std::min(least, p), largest = std::max(largest, p);
  }
  return {least, largest};
}

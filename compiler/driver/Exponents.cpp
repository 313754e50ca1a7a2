#include "compiler/driver/Exponents.h"
#include "codegen/emit/KernelDescription.h"
#include "dialect/OperatorUtils.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace lintel;

std::vector<int> lintel::exponentsOf(const lintel_kernel &kernel) {
  std::vector<int> result;
  for (const lintel_parameter &state : ArrayRef(kernel.states, kernel.num_states)) result.push_back(state.exponent - 1);
  return result;
}

std::vector<int> lintel::exponentsOf(mlir::Operation *form) {
  std::vector<int> result;
  auto scales = form->getAttrOfType<mlir::DenseI64ArrayAttr>("scales");
  auto names = form->getAttrOfType<mlir::ArrayAttr>("states");
  if (!scales || scales.empty()) return std::vector<int>(names ? names.size() : 0, -1);
  int64_t first = std::numeric_limits<int64_t>::max(); // exponents stand behind all other states
  for (int64_t scale : scales.asArrayRef())
    if (scale >= 0) first = std::min(first, scale);
  for (auto [s, scale] : llvm::enumerate(scales.asArrayRef()))
    if (static_cast<int64_t>(s) < first) result.push_back(scale < 0 ? -1 : static_cast<int>(scale - first));
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

static bool isZero(const NpyArray &array, int64_t head, int64_t each) {
  for (int64_t i = head * each; i < (head + 1) * each; ++i)
    if (element(array, i) != 0) return false;
  return true;
}

/// Multiplies head by head; whether every number stayed in its type's range.
static std::optional<int64_t> multiply(NpyArray &values, ArrayRef<double> powers) {
  int64_t each = powers.empty() ? 0 : values.elements() / static_cast<int64_t>(powers.size());
  std::optional<int64_t> lost;
  for (int64_t i = 0, n = each * static_cast<int64_t>(powers.size()); i < n; ++i) {
    double x = element(values, i), y = rounded(timesPower(x, powers[i / each]), values.dtype);
    if ((std::isinf(y) && !std::isinf(x)) || (y == 0 && x != 0)) lost = lost.value_or(i / each);
    setElement(values, i, y);
  }
  return lost;
}

Error lintel::settleExponents(const OperatorInfo &op, BoundArrays &arrays, ArrayRef<int> with) {
  const int64_t heads = arrays.sequences() * arrays.heads;
  arrays.exponents.resize(op.states.size());
  auto exponent = [&](unsigned s, int64_t head) { return arrays.exponents[s]->dataAs<double>()[head]; };
  int groups = 0;
  for (auto [s, group] : llvm::enumerate(with)) {
    groups = std::max(groups, group + 1);
    std::optional<NpyArray> &given = arrays.exponents[s];
    if (group >= 0 || !given) continue;
    if (auto head = multiply(*arrays.initial[s], ArrayRef(given->dataAs<double>(), heads)))
      return createStringError(
          "expected initial state '%s' of numbers that fit %s, as operator '%s' holds it without an exponent, found %s "
          "* 2^%.0f at [%lld, %lld]; give numbers within that range",
          op.states[s].name.c_str(), dtypeName(arrays.types.state(op)), op.name.c_str(), op.states[s].name.c_str(),
          exponent(s, *head), static_cast<long long>(*head / arrays.heads),
          static_cast<long long>(*head % arrays.heads));
    given.reset();
  }
  for (int group = 0; group < groups; ++group) {
    SmallVector<unsigned> members;
    for (auto [s, of] : llvm::enumerate(with))
      if (of == group && arrays.initial[s]) members.push_back(s);
    if (members.empty()) continue;
    auto common = NpyArray::create(LINTEL_F64, {arrays.sequences(), arrays.heads});
    if (!common) return common.takeError();
    for (int64_t head = 0; head < heads; ++head) {
      std::optional<double> top, ofZeros;
      for (unsigned s : members) {
        const NpyArray &values = *arrays.initial[s];
        bool zero = isZero(values, head, values.elements() / heads), has = arrays.exponents[s].has_value();
        double p = has ? exponent(s, head) : 0;
        if (!zero) top = std::max(top.value_or(p), p);
        else if (has) ofZeros = std::max(ofZeros.value_or(p), p);
      }
      common->dataAs<double>()[head] = top ? *top : ofZeros.value_or(LINTEL_EXPONENT_NONE);
    }
    for (unsigned s : members) {
      std::vector<double> powers;
      for (int64_t head = 0; head < heads; ++head)
        powers.push_back((arrays.exponents[s] ? exponent(s, head) : 0) - common->dataAs<double>()[head]);
      // What vanishes beside the other states' numbers has no part in any sum with them.
      multiply(*arrays.initial[s], powers);
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
  for (int64_t i = 0, n = held->elements(); i < n && exact; ++i) {
    double x = element(*held, i), p = powers[i / (n / static_cast<int64_t>(powers.size()))];
    exact = !std::isfinite(x) || x == 0 || timesPower(element(*product, i), -p) == x;
  }
  if (exact) return NpyState{std::move(*product), std::nullopt};
  auto copy = exponents->convertedTo(LINTEL_F64);
  if (!copy) return copy.takeError();
  return NpyState{std::move(*held), std::move(*copy)};
}

std::pair<double, double> lintel::exponentRange(const NpyState &state) {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  int64_t heads = state.exponents->elements();
  for (int64_t head = 0; head < heads; ++head) {
    double p = state.exponents->dataAs<double>()[head];
    if (isZero(state.values, head, state.values.elements() / heads)) continue;
    least = std::min(least, p), largest = std::max(largest, p);
  }
  return {least, largest};
}

#include "compiler/driver/Arrays.h"
#include "codegen/emit/KernelDescription.h"
#include <cstring>

using namespace llvm;
using namespace lintel;

std::string lintel::shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, n] : llvm::enumerate(shape)) text += (i ? ", " : "") + std::to_string(n);
  return text + "]";
}

StringMap<int64_t> lintel::dimensionMap(const Dimensions &dimensions) {
  StringMap<int64_t> map;
  for (const auto &[name, value] : dimensions) map[name] = value;
  return map;
}

SmallVector<int64_t, 2> lintel::innerShape(const ArrayInfo &info, const Dimensions &dimensions) {
  StringMap<int64_t> map = dimensionMap(dimensions);
  SmallVector<int64_t, 2> shape;
  for (const DimExpr &dim : info.dims) shape.push_back(dim.evaluate(map).value_or(0));
  return shape;
}

SmallVector<int64_t, 5> lintel::outShape(const OperatorInfo &op, const BoundArrays &arrays) {
  SmallVector<int64_t, 5> shape{arrays.batch, arrays.steps, arrays.heads};
  shape.append(innerShape(op.out, arrays.dimensions));
  return shape;
}

SmallVector<int64_t, 5> lintel::otherShape(const OperatorInfo &op, unsigned output, const BoundArrays &arrays) {
  SmallVector<int64_t, 5> shape{arrays.batch, arrays.steps, arrays.heads};
  shape.append(innerShape(op.others[output], arrays.dimensions));
  return shape;
}

SmallVector<int64_t, 5> lintel::stateShape(const OperatorInfo &op, unsigned state, const BoundArrays &arrays) {
  SmallVector<int64_t, 5> shape{arrays.sequences(), arrays.heads};
  shape.append(innerShape(op.states[state], arrays.dimensions));
  return shape;
}

std::vector<double> lintel::toDoubles(const NpyArray &array) {
  std::vector<double> result(array.elements());
  size_t n = result.size();
  switch (array.dtype) {
  case LINTEL_F64:
    std::copy_n(array.dataAs<double>(), n, result.begin());
    break;
  case LINTEL_F32:
    std::copy_n(array.dataAs<float>(), n, result.begin());
    break;
  case LINTEL_F16:
    std::transform(array.dataAs<uint16_t>(), array.dataAs<uint16_t>() + n, result.begin(), widenF16);
    break;
  case LINTEL_BF16:
    std::transform(array.dataAs<uint16_t>(), array.dataAs<uint16_t>() + n, result.begin(), widenBf16);
    break;
  }
  return result;
}

Expected<NpyArray> lintel::fromDoubles(ArrayRef<double> values, ArrayRef<int64_t> shape, lintel_dtype dtype) {
  auto array = NpyArray::create(LINTEL_F64, shape);
  if (!array) return array.takeError();
  std::copy(values.begin(), values.end(), array->dataAs<double>());
  return dtype == LINTEL_F64 ? std::move(array) : array->convertedTo(dtype);
}

lintel_dtype lintel::inferOutType(const OperatorInfo &op, const NamedTypes &inputs) {
  std::optional<lintel_dtype> half;
  bool allHalf = true;
  for (const auto &[name, dtype] : inputs) {
    if (dtype == LINTEL_F64) return LINTEL_F64;
    for (const ArrayInfo &info : op.inputs) {
      if (info.name != name || info.kind != InputKind::Token) continue;
      allHalf &= dtype != LINTEL_F32 && half.value_or(dtype) == dtype;
      half = dtype;
    }
  }
  return half && allHalf ? *half : LINTEL_F32;
}

namespace {

/// One array of the request with what the operator says of it.
struct Subject {
  const ArrayInfo *info;
  const NpyArray *array;
  bool isState;
  unsigned outer() const {
    if (isState) return 2;
    return info->kind == InputKind::Token ? 3 : info->kind == InputKind::Head ? 1 : 0;
  }
  std::string text() const { return (isState ? "initial state '" : "input '") + info->name + "'"; }
  /// "[B, T, H, dk]"
  std::string expectedShape() const {
    static const char *const axes[] = {"", "H", "B, H", "B, T, H"};
    std::string text = std::string("[") + axes[outer()];
    for (const DimExpr &dim : info->dims) text += (text.size() > 1 ? ", " : "") + dim.str();
    return text + "]";
  }
};

/// A size and which array set it.
struct Size {
  int64_t value = -1;
  std::string from;
};

class Binder {
public:
  Binder(const OperatorInfo &op, ArraysRequest &request) : op(op), request(request) {}

  Expected<BoundArrays> run() {
    if (Error e = match(op.inputs, request.inputs, false)) return std::move(e);
    if (Error e = match(op.states, request.initial, true)) return std::move(e);
    for (const auto &[name, value] : request.dimensions) {
      SmallVector<StringRef> known(op.dimensions.begin(), op.dimensions.end());
      if (!is_contained(op.dimensions, name))
        return createStringError(unknownName("a dimension of operator '" + op.name + "' for --dim", name, known));
      dims[name] = {value, "--dim"};
    }
    if (!request.initial.empty() && !op.splits())
      return createStringError("operator '%s' is bidirectional, so it takes no initial state", op.name.c_str());
    for (const Subject &s : subjects)
      if (Error e = checkRank(s)) return std::move(e);
    if (Error e = sizeAxes()) return std::move(e);
    // Names first, so that products of them can be checked against what they come to.
    for (bool symbols : {true, false})
      for (const Subject &s : subjects)
        for (auto [i, dim] : llvm::enumerate(s.info->dims))
          if (dim.isSymbol() == symbols)
            if (Error e = sizeDimension(s, dim, s.array->shape[s.outer() + i])) return std::move(e);
    return finish();
  }

private:
  Error match(ArrayRef<ArrayInfo> infos, ArrayRef<NamedArray> arrays, bool states) {
    const char *option = states ? "--initial" : "--in";
    const char *what = states ? "a state" : "an input";
    SmallVector<StringRef> known;
    for (const ArrayInfo &info : infos) known.push_back(info.name);
    std::string list = llvm::join(known, ", ");
    for (auto [i, array] : llvm::enumerate(arrays)) {
      if (!is_contained(known, array.name))
        return createStringError(unknownName(Twine(what) + " of operator '" + op.name + "' (" +
                                                 (list.empty() ? "it has none" : list) + ") for " + option,
                                             array.name, known));
      for (size_t j = 0; j < i; ++j)
        if (arrays[j].name == array.name)
          return createStringError("expected %s once, found '%s' twice", what, array.name.c_str());
    }
    for (const ArrayInfo &info : infos) {
      const NamedArray *found = nullptr;
      for (const NamedArray &array : arrays)
        if (array.name == info.name) found = &array;
      if (found) subjects.push_back({&info, &found->array, states});
      else if (!states)
        return createStringError("expected an array for input '%s' of operator '%s', found none; add --in %s=FILE",
                                 info.name.c_str(), op.name.c_str(), info.name.c_str());
    }
    return Error::success();
  }

  Error checkRank(const Subject &s) {
    size_t rank = s.outer() + s.info->dims.size();
    if (s.array->shape.size() == rank) return Error::success();
    return createStringError("expected %s of %zu axes %s, found %zu: %s", s.text().c_str(), rank,
                             s.expectedShape().c_str(), s.array->shape.size(), shapeText(s.array->shape).c_str());
  }

  Error agree(Size &size, const Subject &s, const Twine &axis, int64_t found) {
    if (size.value < 0) size = {found, s.text()};
    if (size.value == found) return Error::success();
    return createStringError(s.text() + ": expected " + axis + " to be " + Twine(size.value) + " as in " + size.from +
                             ", found " + Twine(found) + " in " + shapeText(s.array->shape));
  }

  Error sizeAxes() {
    bool packed = request.lengths.has_value();
    for (const Subject &s : subjects) {
      if (s.isState || s.info->kind == InputKind::Shared) continue;
      int64_t count = s.array->shape[s.info->kind == InputKind::Token ? 2 : 0];
      if (count > heads.value) heads = {count, s.text()};
      if (s.info->kind != InputKind::Token) continue;
      if (Error e = agree(batch, s, "the batch axis B", s.array->shape[0])) return e;
      if (Error e = agree(steps, s, "the time axis T", s.array->shape[1])) return e;
    }
    if (packed) {
      if (batch.value != 1)
        return createStringError("expected a batch of 1 with --lengths, found %lld in %s",
                                 static_cast<long long>(batch.value), batch.from.c_str());
      int64_t sum = 0;
      for (int64_t length : *request.lengths) {
        if (length < 0) return createStringError("expected lengths of 0 or more, found %lld", (long long)length);
        if (__builtin_add_overflow(sum, length, &sum)) return createStringError("the lengths do not fit in 63 bits");
      }
      if (sum != steps.value)
        return createStringError("expected lengths that add up to the time axis T = %lld of %s, found %lld",
                                 static_cast<long long>(steps.value), steps.from.c_str(), static_cast<long long>(sum));
    }
    int64_t sequences = packed ? static_cast<int64_t>(request.lengths->size()) : batch.value;
    for (const Subject &s : subjects) {
      if (s.isState) {
        Size count{sequences, packed ? "--lengths" : batch.from};
        if (Error e = agree(count, s, packed ? "the sequence axis" : "the batch axis B", s.array->shape[0])) return e;
        if (Error e = agree(heads, s, "the head axis H", s.array->shape[1])) return e;
      } else if (s.info->kind == InputKind::Head) {
        if (Error e = agree(heads, s, "the head axis H", s.array->shape[0])) return e;
      } else if (s.info->kind == InputKind::Token) {
        int64_t groups = s.array->shape[2];
        if (groups == heads.value || (groups > 0 && heads.value % groups == 0)) continue;
        return createStringError("expected the heads of %s to divide the %lld heads of %s, found %lld",
                                 s.text().c_str(), static_cast<long long>(heads.value), heads.from.c_str(),
                                 static_cast<long long>(groups));
      }
    }
    constexpr int64_t most = int64_t(1) << 53; // positions are exact as doubles
    if (request.position < 0 || request.position > most - std::min(steps.value, most))
      return createStringError("expected a position from 0 to 2^53 - T, found %lld", (long long)request.position);
    return Error::success();
  }

  Error sizeDimension(const Subject &s, const DimExpr &dim, int64_t found) {
    if (dim.isSymbol()) {
      if (found < 1)
        return createStringError("%s: expected dimension '%s' to be at least 1, found %lld in %s", s.text().c_str(),
                                 dim.str().c_str(), (long long)found, shapeText(s.array->shape).c_str());
      return agree(dims[dim.str()], s, "dimension '" + dim.str() + "'", found);
    }
    StringMap<int64_t> values;
    for (const auto &entry : dims) values[entry.getKey()] = entry.getValue().value;
    auto value = dim.evaluate(values);
    if (!value) return Error::success(); // a name that no array gives; reported later
    Size size{*value, "the operator"};
    return agree(size, s, "dimension '" + dim.str() + "'", found);
  }

  Expected<BoundArrays> finish() {
    BoundArrays result;
    result.batch = batch.value, result.steps = steps.value, result.heads = heads.value;
    result.lengths = request.lengths;
    result.position = request.position;
    for (const std::string &name : op.dimensions) {
      auto it = dims.find(name);
      if (it == dims.end() || it->second.value < 0)
        return createStringError("expected a value for dimension '%s', which no array gives; add --dim %s=N",
                                 name.c_str(), name.c_str());
      result.dimensions.emplace_back(name, it->second.value);
    }
    if (Error e = checkTypes(&op, request.types)) return std::move(e);
    TypeRequest types;
    types.products = request.types.products;
    for (const NamedArray &input : request.inputs)
      types.named.emplace_back(input.name, request.types.of(input.name).value_or(input.array.dtype));
    for (const ArrayInfo &output : op.others)
      if (auto type = request.types.of(output.name)) types.named.emplace_back(output.name, *type);
    types.common = request.types.of("out").value_or(inferOutType(op, types.named));
    result.types = bindTypes(op, types);
    auto take = [&](ArrayRef<ArrayInfo> infos, std::vector<NamedArray> &arrays, auto typeOf, auto add) -> Error {
      for (const ArrayInfo &info : infos) {
        auto it = llvm::find_if(arrays, [&](const NamedArray &a) { return a.name == info.name; });
        if (it == arrays.end()) {
          add(std::nullopt);
          continue;
        }
        lintel_dtype dtype = typeOf(info);
        if (it->array.dtype == dtype) {
          add(std::move(it->array));
          continue;
        }
        auto converted = it->array.convertedTo(dtype);
        if (!converted) return converted.takeError();
        add(std::move(*converted));
      }
      return Error::success();
    };
    if (Error e = take(
            op.inputs, request.inputs, [&](const ArrayInfo &info) { return result.types.of(info.name); },
            [&](std::optional<NpyArray> a) { result.inputs.push_back(std::move(*a)); }))
      return std::move(e);
    if (Error e = take(
            op.states, request.initial, [&](const ArrayInfo &) { return result.types.state(op); },
            [&](std::optional<NpyArray> a) { result.initial.push_back(std::move(a)); }))
      return std::move(e);
    for (const ArrayInfo &info : op.states) {
      auto it = llvm::find_if(request.initial, [&](const NamedArray &a) { return a.name == info.name; });
      result.exponents.push_back(it == request.initial.end() ? std::nullopt : std::move(it->exponents));
    }
    return std::move(result);
  }

  const OperatorInfo &op;
  ArraysRequest &request;
  std::vector<Subject> subjects;
  StringMap<Size> dims;
  Size batch, steps, heads;
};

} // namespace

Expected<BoundArrays> lintel::bindArrays(const OperatorInfo &op, ArraysRequest request) {
  return Binder(op, request).run();
}

Expected<Dimensions> lintel::bindDimensions(const OperatorInfo &op, const Dimensions &given) {
  Dimensions result;
  SmallVector<StringRef> known(op.dimensions.begin(), op.dimensions.end());
  for (const auto &[name, value] : given)
    if (!is_contained(op.dimensions, name))
      return createStringError(unknownName("a dimension of operator '" + op.name + "' (" +
                                               (known.empty() ? "it has none" : llvm::join(known, ", ")) + ")",
                                           name, known));
  std::string missing;
  for (const std::string &name : op.dimensions) {
    auto it = llvm::find_if(given, [&](const auto &entry) { return entry.first == name; });
    if (it == given.end()) missing += " --dim " + name + "=N";
    else result.push_back(*it);
  }
  if (!missing.empty())
    return createStringError("expected a value for every dimension of operator '%s'; add%s", op.name.c_str(),
                             missing.c_str());
  return result;
}

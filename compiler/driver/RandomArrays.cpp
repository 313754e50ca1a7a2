#include "compiler/driver/RandomArrays.h"
#include <cstring>

using namespace llvm;
using namespace lintel;

uint64_t Random::next() { // splitmix64
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double Random::uniform() { return (static_cast<double>(next() >> 12) + 0.5) / static_cast<double>(uint64_t(1) << 52); }

double Random::normal() {
  double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(6.283185307179586 * uniform());
}

static constexpr std::pair<Hardness, const char *> hardnessNames[] = {{Hardness::Usual, "usual"},
                                                                      {Hardness::StrongDecay, "strong-decay"},
                                                                      {Hardness::WeakDecay, "weak-decay"},
                                                                      {Hardness::MixedDecay, "mixed-decay"},
                                                                      {Hardness::Resets, "resets"},
                                                                      {Hardness::Gates, "gates"},
                                                                      {Hardness::Exponents, "exponents"},
                                                                      {Hardness::Zeros, "zeros"},
                                                                      {Hardness::AllZero, "all-zero"},
                                                                      {Hardness::Large, "large"},
                                                                      {Hardness::Huge, "huge"}};

StringRef lintel::toString(Hardness hardness) {
  for (auto [known, name] : hardnessNames)
    if (known == hardness) return name;
  return "";
}

std::optional<Hardness> lintel::parseHardness(StringRef name) {
  for (auto [hardness, known] : hardnessNames)
    if (known == name) return hardness;
  return std::nullopt;
}

namespace {

double logDecay(Random &random, Hardness hardness) {
  double usual = -std::log1p(std::exp(random.normal()));
  switch (hardness) {
  case Hardness::StrongDecay:
    return random.uniform() < 0.5 ? -6 : -100 * random.uniform();
  case Hardness::WeakDecay:
    return random.uniform() < 0.5 ? 0 : 1e-8 * usual;
  case Hardness::MixedDecay: {
    double kind = random.uniform(), size = -std::pow(10, 12 * random.uniform() - 8);
    return kind < 0.05 ? -std::numeric_limits<double>::infinity() : kind < 0.1 ? 0 : size;
  }
  case Hardness::Resets:
    return random.uniform() < 0.15 ? -std::numeric_limits<double>::infinity() : usual;
  default:
    return usual;
  }
}

double decayFactor(Random &random, Hardness hardness, double usual) {
  switch (hardness) {
  case Hardness::StrongDecay:
    return random.uniform() * 1e-3;
  case Hardness::WeakDecay:
    return random.uniform() < 0.5 ? 1 : 1 - 1e-6 * random.uniform();
  case Hardness::MixedDecay:
    return std::exp(logDecay(random, hardness));
  case Hardness::Resets:
    return random.uniform() < 0.15 ? 0 : usual;
  case Hardness::Gates:
    return random.uniform() < 0.5 ? (random.uniform() < 0.5 ? 0 : 1) : usual;
  default:
    return usual;
  }
}

/// What is no decay: gates, exponents, and plain values.
double ordinary(Random &random, const ArrayInfo &info, InputUse use, InputTraits traits, Hardness hardness,
                double scale, double offset) {
  if (hardness == Hardness::Gates && (use == InputUse::Gate || traits.squashed) && random.uniform() < 0.7) {
    double side = random.uniform() < 0.5 ? 0 : 1;
    return traits.squashed ? 1e4 * (2 * side - 1) : side;
  }
  if (use == InputUse::Gate) return random.uniform();
  if (hardness == Hardness::Exponents && traits.exponent) return offset + random.normal();
  return scale * random.normal();
}

void fill(Random &random, MutableArrayRef<double> values, int64_t row, const ArrayInfo &info, InputUse use,
          InputTraits traits, Hardness hardness) {
  double scale = hardness == Hardness::Large ? 4 : 1;
  if (info.dims.size() == 1) scale /= std::sqrt(static_cast<double>(row));
  double offset = 0;
  for (size_t first = 0; first < values.size(); first += row) {
    bool zero = hardness == Hardness::AllZero ||
                (hardness == Hardness::Zeros && info.kind == InputKind::Token && random.uniform() < 0.3);
    // Sixteen rows share an offset: a step that outweighs all others makes the result one of its own terms over
    // another, whose rounding no change of inputs shows.
    if (hardness == Hardness::Exponents && traits.exponent && first / row % 16 == 0)
      offset = (2 * random.uniform() - 1) * (info.dims.empty() ? 1e4 : 300);
    for (int64_t i = 0; i < row; ++i) {
      double &x = values[first + i];
      switch (use) {
      case InputUse::LogDecay:
        x = logDecay(random, hardness);
        break;
      case InputUse::DecayRate:
        x = -logDecay(random, hardness);
        break;
      case InputUse::DecayFactor: {
        double head = 1 - std::exp2(-5 - static_cast<double>(first / row));
        x = decayFactor(random, hardness, info.kind == InputKind::Head ? head : random.uniform());
        break;
      }
      case InputUse::Gate:
      case InputUse::Plain:
        x = zero ? 0 : ordinary(random, info, use, traits, hardness, scale, offset);
        break;
      }
    }
  }
}

} // namespace

Expected<BoundArrays> lintel::randomArrays(const OperatorInfo &op, ArrayRef<InputUse> uses,
                                           const RandomRequest &request) {
  BoundArrays result;
  result.batch = request.batch, result.steps = request.steps, result.heads = request.heads;
  result.dimensions = request.dimensions, result.types = request.types;
  result.lengths = request.lengths;
  Random random(request.seed);
  auto make = [&](ArrayRef<int64_t> shape, int64_t row, const ArrayInfo &info, InputUse use, InputTraits traits,
                  lintel_dtype dtype, bool isHuge) -> Expected<NpyArray> {
    auto array = NpyArray::create(LINTEL_F64, shape);
    if (!array) return array.takeError();
    MutableArrayRef<double> values(array->dataAs<double>(), static_cast<size_t>(array->elements()));
    fill(random, values, row, info, use, traits, request.hardness);
    if (isHuge && !values.empty())
      values[static_cast<size_t>(random.uniform() * static_cast<double>(values.size()))] =
          dtype == LINTEL_F16 ? 1e4 : 1e6;
    return array->convertedTo(dtype);
  };
  // One token input takes the huge value, by the seed; never an exponent, see Hardness::Exponents for those.
  SmallVector<size_t> huge;
  if (request.hardness == Hardness::Huge) {
    for (auto [i, info, use] : llvm::enumerate(op.inputs, uses))
      if (info.kind == InputKind::Token && use == InputUse::Plain &&
          (request.traits.empty() || !request.traits[i].exponent))
        huge.push_back(i);
    if (!huge.empty()) huge = {huge[request.seed % huge.size()]};
  }
  unsigned tokens = 0;
  for (auto [i, info, use] : llvm::enumerate(op.inputs, uses)) {
    SmallVector<int64_t, 5> shape;
    if (info.kind == InputKind::Token) {
      bool grouped = tokens > 0 && request.groups;
      int64_t groups = request.mixedGroups && tokens % 2 == 0 ? 1 : request.groups;
      shape = {request.batch, request.steps, grouped ? groups : request.heads};
      ++tokens;
    }
    if (info.kind == InputKind::Head) shape = {request.heads};
    SmallVector<int64_t, 2> inner = innerShape(info, request.dimensions);
    int64_t row = 1;
    for (int64_t n : inner) row *= n;
    shape.append(inner);
    InputTraits traits = request.traits.empty() ? InputTraits() : request.traits[i];
    bool isHuge = llvm::is_contained(huge, i);
    auto array = make(shape, row, info, use, traits, request.types.of(info.name), isHuge);
    if (!array) return array.takeError();
    result.inputs.push_back(std::move(*array));
  }
  for (unsigned s = 0; s < op.states.size(); ++s) {
    result.initial.emplace_back();
    if (!request.initial) continue;
    SmallVector<int64_t, 5> shape = stateShape(op, s, result);
    // Positive, so that a normaliser's state is one that steps could have led to.
    auto array = NpyArray::create(LINTEL_F64, shape);
    if (!array) return array.takeError();
    for (double &x : MutableArrayRef(array->dataAs<double>(), static_cast<size_t>(array->elements())))
      x = 0.1 + random.uniform();
    auto converted = array->convertedTo(request.types.state(op));
    if (!converted) return converted.takeError();
    result.initial[s] = std::move(*converted);
  }
  return std::move(result);
}

static size_t elementBytes(lintel_dtype dtype) { return dtype == LINTEL_F64 ? 8 : dtype == LINTEL_F32 ? 4 : 2; }

static Expected<NpyArray> copyOf(const NpyArray &array) {
  auto result = NpyArray::create(array.dtype, array.shape);
  if (result) std::memcpy(result->data(), array.data(), array.bytes());
  return result;
}

Expected<BoundArrays> lintel::cutArrays(const OperatorInfo &op, const BoundArrays &arrays, int64_t begin, int64_t end,
                                        std::vector<NpyArray> states) {
  BoundArrays result;
  result.batch = arrays.batch, result.steps = end - begin, result.heads = arrays.heads;
  result.dimensions = arrays.dimensions, result.types = arrays.types;
  result.position = arrays.position + begin;
  for (auto [info, array] : llvm::zip_equal(op.inputs, arrays.inputs)) {
    if (info.kind != InputKind::Token) {
      auto copy = copyOf(array);
      if (!copy) return copy.takeError();
      result.inputs.push_back(std::move(*copy));
      continue;
    }
    SmallVector<int64_t, 5> shape = array.shape;
    shape[1] = end - begin;
    auto piece = NpyArray::create(array.dtype, shape);
    if (!piece) return piece.takeError();
    size_t row = elementBytes(array.dtype);
    for (int64_t n : ArrayRef(shape).drop_front(2)) row *= n;
    for (int64_t b = 0; b < arrays.batch; ++b)
      std::memcpy(piece->dataAs<char>() + b * shape[1] * row, array.dataAs<char>() + (b * arrays.steps + begin) * row,
                  shape[1] * row);
    result.inputs.push_back(std::move(*piece));
  }
  for (unsigned s = 0; s < op.states.size(); ++s) {
    result.initial.emplace_back();
    if (!states.empty()) {
      result.initial[s] = std::move(states[s]);
    } else if (arrays.initial[s]) {
      auto copy = copyOf(*arrays.initial[s]);
      if (!copy) return copy.takeError();
      result.initial[s] = std::move(*copy);
    }
    result.exponents.emplace_back();
    if (!states.empty() || s >= arrays.exponents.size() || !arrays.exponents[s]) continue;
    auto copy = copyOf(*arrays.exponents[s]);
    if (!copy) return copy.takeError();
    result.exponents[s] = std::move(*copy);
  }
  return std::move(result);
}

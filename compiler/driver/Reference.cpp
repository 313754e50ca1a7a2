#include "compiler/driver/Reference.h"
#include "compiler/driver/Exponents.h"
#include "dialect/reference/Interpreter.h"

using namespace llvm;
using namespace lintel;

/// Steps [begin, begin + length) of a batch of one.
static Array cutSteps(const Array &a, int64_t begin, int64_t length) {
  SmallVector<int64_t> shape(a.shape);
  int64_t row = a.shape[1] ? a.size() / a.shape[1] : 0;
  shape[1] = length;
  Array result(shape);
  std::copy_n(a.data.begin() + begin * row, length * row, result.data.begin());
  return result;
}

static Array cutSequence(const Array &a, int64_t index) {
  SmallVector<int64_t> shape(a.shape);
  int64_t row = a.shape[0] ? a.size() / a.shape[0] : 0;
  shape[0] = 1;
  Array result(shape);
  std::copy_n(a.data.begin() + index * row, row, result.data.begin());
  return result;
}

mlir::Operation *lintel::interpretedForm(mlir::ModuleOp forms) {
  for (RecurrentOp form : forms.getOps<RecurrentOp>())
    if (!form.getScales().empty()) return form;
  return *forms.getOps<SpecOp>().begin();
}

Expected<RunResult> lintel::interpretArrays(mlir::Operation *op, const OperatorInfo &info, const BoundArrays &arrays,
                                            Progress *progress, bool takeExponents) {
  Arguments all;
  if (progress) all.progress = [progress](int64_t done, int64_t of) { progress->count(done, of, "heads"); };
  all.batch = arrays.batch, all.steps = arrays.steps, all.heads = arrays.heads;
  all.position = arrays.position;
  all.dimensions = dimensionMap(arrays.dimensions);
  auto wide = [](const NpyArray &array) {
    Array result;
    result.shape.assign(array.shape.begin(), array.shape.end());
    result.data = toDoubles(array);
    return result;
  };
  for (auto [param, array] : llvm::zip_equal(info.inputs, arrays.inputs)) all.inputs[param.name] = wide(array);
  for (auto [state, array] : llvm::zip_equal(info.states, arrays.initial))
    if (array) all.initial[state.name] = wide(*array);
  for (auto [state, array] : llvm::zip(info.states, arrays.exponents))
    if (array) all.exponents[state.name] = wide(*array);
  all.takesExponents = takeExponents;

  std::vector<StateExponent> with = exponentsOf(op);
  // Reserved first, so that sizes beyond the memory are an error.
  RunResult result;
  auto out = NpyArray::create(LINTEL_F64, outShape(info, arrays));
  if (!out) return out.takeError();
  result.out = std::move(*out);
  for (unsigned o = 0; o < info.others.size(); ++o) {
    auto other = NpyArray::create(LINTEL_F64, otherShape(info, o, arrays));
    if (!other) return other.takeError();
    result.others.push_back(std::move(*other));
  }
  for (unsigned s = 0; s < info.states.size(); ++s) {
    auto state = NpyArray::create(LINTEL_F64, stateShape(info, s, arrays));
    if (!state) return state.takeError();
    result.states.push_back(std::move(*state));
    if (!takeExponents) continue;
    result.exponents.emplace_back();
    if (!with[s]) continue;
    auto exponent = NpyArray::create(LINTEL_F64, with[s].shape(arrays));
    if (!exponent) return exponent.takeError();
    result.exponents.back() = std::move(*exponent);
  }
  if (arrays.heads == 0) return std::move(result); // nothing in them
  auto store = [&](const Results &from, int64_t step, int64_t sequence) {
    auto storeOutput = [&](const Array &output, NpyArray &to) {
      int64_t row = arrays.steps ? to.elements() / arrays.steps : 0;
      std::copy(output.data.begin(), output.data.end(), to.dataAs<double>() + step * row);
    };
    storeOutput(from.out, result.out);
    for (auto [output, to] : llvm::zip_equal(from.others, result.others)) storeOutput(output, to);
    for (unsigned s = 0; s < info.states.size(); ++s) {
      const Array &state = from.final.find(info.states[s].name)->second;
      std::copy(state.data.begin(), state.data.end(), result.states[s].dataAs<double>() + sequence * state.size());
    }
    for (auto [info, to] : llvm::zip(info.states, result.exponents)) {
      if (!to) continue;
      const Array &exponent = from.exponents.find(info.name)->second;
      std::copy(exponent.data.begin(), exponent.data.end(), to->dataAs<double>() + sequence * exponent.size());
    }
  };
  if (!arrays.lengths) {
    auto results = interpret(op, all);
    if (!results) return results.takeError();
    store(*results, 0, 0);
    return std::move(result);
  }
  int64_t begin = 0;
  for (auto [sequence, length] : llvm::enumerate(*arrays.lengths)) {
    Arguments one = all;
    one.steps = length;
    for (const ArrayInfo &param : info.inputs)
      if (param.kind == InputKind::Token) one.inputs[param.name] = cutSteps(all.inputs[param.name], begin, length);
    for (auto &entry : one.initial) entry.second = cutSequence(all.initial[entry.getKey()], sequence);
    for (auto &entry : one.exponents) entry.second = cutSequence(all.exponents[entry.getKey()], sequence);
    auto results = interpret(op, one);
    if (!results) return results.takeError();
    store(*results, begin, sequence);
    begin += length;
  }
  return std::move(result);
}

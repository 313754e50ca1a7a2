#include "compiler/driver/Execution.h"
#include "compiler/driver/Exponents.h"
#include <atomic>
#include <cstring>

using namespace llvm;
using namespace lintel;

static lintel_array view(const NpyArray &array) {
  return lintel_array_contiguous(const_cast<void *>(array.data()), array.dtype,
                                 static_cast<int32_t>(array.shape.size()), array.shape.data());
}

/// The elements with the time and the head axis exchanged.
static Expected<NpyArray> exchanged(const NpyArray &array) {
  SmallVector<int64_t, 5> shape = array.shape;
  std::swap(shape[1], shape[2]);
  auto result = NpyArray::create(array.dtype, shape);
  if (!result) return result.takeError();
  size_t rows = static_cast<size_t>(shape[0] * shape[1] * shape[2]), row = rows ? array.bytes() / rows : 0;
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t i = 0; i < shape[1]; ++i)
      for (int64_t j = 0; j < shape[2]; ++j)
        std::memcpy(result->dataAs<char>() + ((b * shape[1] + i) * shape[2] + j) * row,
                    array.dataAs<char>() + ((b * shape[2] + j) * shape[1] + i) * row, row);
  return result;
}

/// What was exchanged, seen in the usual order.
static lintel_array exchangedView(const NpyArray &array) {
  lintel_array result = view(array);
  std::swap(result.shape[1], result.shape[2]);
  std::swap(result.stride[1], result.stride[2]);
  return result;
}

/// All bits set is a NaN in every element type.
static void poisonArray(NpyArray &array) { std::memset(array.data(), 0xff, array.bytes()); }

/// An executor that hands the work to another, one item after the other, and counts what is done.
class PreparedCall::Counter {
public:
  Counter(const lintel_executor *inner, Progress &progress)
      : executor{this, inner ? inner->threads : 1, run}, inner(inner), progress(progress) {}
  const lintel_executor executor;

private:
  static void run(void *context, int64_t count, lintel_task task, void *data) {
    auto &self = *static_cast<Counter *>(context);
    self.task = task, self.data = data, self.all = count, self.done = 0;
    if (self.inner) self.inner->run(self.inner->context, count, each, &self);
    else each(&self, 0, count, 0);
  }
  static void each(void *context, int64_t begin, int64_t end, int thread) {
    auto &self = *static_cast<Counter *>(context);
    for (int64_t i = begin; i < end; ++i) {
      self.task(self.data, i, i + 1, thread);
      int64_t done = ++self.done;
      // One thread tells, as the others must not wait for a terminal.
      if (thread == 0) self.progress.count(done, self.all, "heads");
    }
  }

  const lintel_executor *inner;
  Progress &progress;
  lintel_task task = nullptr;
  void *data = nullptr;
  int64_t all = 0;
  std::atomic<int64_t> done{0};
};

PreparedCall::~PreparedCall() { lintel_pool_destroy(pool); }

Expected<std::unique_ptr<PreparedCall>> PreparedCall::create(const lintel_kernel *kernel, const OperatorInfo &op,
                                                             const BoundArrays &arrays, const ExecuteOptions &options) {
  std::unique_ptr<PreparedCall> self(new PreparedCall);
  lintel_error error;
  self->headsFirst = options.headsFirst;
  for (auto [info, input] : llvm::zip_equal(op.inputs, arrays.inputs)) {
    if (!options.headsFirst || info.kind != InputKind::Token) {
      self->inputs.push_back(view(input));
      continue;
    }
    auto copy = exchanged(input);
    if (!copy) return copy.takeError();
    self->copies.push_back(std::move(*copy));
    self->inputs.push_back(exchangedView(self->copies.back()));
  }
  SmallVector<int64_t, 5> outAxes = outShape(op, arrays);
  if (options.headsFirst) std::swap(outAxes[1], outAxes[2]);
  auto out = NpyArray::create(arrays.types.out(), outAxes);
  if (!out) return out.takeError();
  self->result.out = std::move(*out);
  for (unsigned o = 0; o < op.others.size(); ++o) {
    SmallVector<int64_t, 5> axes = otherShape(op, o, arrays);
    if (options.headsFirst) std::swap(axes[1], axes[2]);
    auto other = NpyArray::create(arrays.types.of(op.others[o].name), axes);
    if (!other) return other.takeError();
    self->result.others.push_back(std::move(*other));
  }
  for (unsigned s = 0; s < op.states.size(); ++s) {
    auto state = NpyArray::create(arrays.types.state(op), stateShape(op, s, arrays));
    if (!state) return state.takeError();
    self->result.states.push_back(std::move(*state));
    self->statesIn.push_back(arrays.initial[s] ? view(*arrays.initial[s]) : lintel_array{});
  }
  for (StateExponent held : exponentsOf(*kernel)) self->exponentOf.push_back(held.index);
  self->exponentsIn.resize(kernel->num_exponents), self->exponentsOut.resize(kernel->num_exponents);
  for (auto [given, e] : llvm::zip(arrays.exponents, self->exponentOf))
    if (given && e >= 0) self->exponentsIn[e] = view(*given);
  for (uint32_t e = 0; options.takeExponents && e < kernel->num_exponents; ++e) {
    SmallVector<int64_t, 5> axes = {arrays.sequences(), arrays.heads};
    axes.append(kernel->exponents[e].dim, kernel->exponents[e].dim + kernel->exponents[e].rank);
    auto exponent = NpyArray::create(LINTEL_F64, axes);
    if (!exponent) return exponent.takeError();
    if (options.poison) poisonArray(*exponent);
    self->exponentsOut[e] = view(*exponent);
    self->exponents.push_back(std::move(*exponent));
  }
  if (options.poison) {
    poisonArray(self->result.out);
    for (NpyArray &other : self->result.others) poisonArray(other);
    for (NpyArray &state : self->result.states) poisonArray(state);
  }
  for (NpyArray &state : self->result.states) self->statesOut.push_back(view(state));
  auto outputView = [&](const NpyArray &array) { return options.headsFirst ? exchangedView(array) : view(array); };
  self->outputs.push_back(outputView(self->result.out));
  for (NpyArray &other : self->result.others) self->outputs.push_back(outputView(other));
  self->form = options.form;

  lintel_call &call = self->call;
  call.kernel = kernel;
  call.inputs = self->inputs.data();
  call.states_in = op.states.empty() ? nullptr : self->statesIn.data();
  call.states_out = op.states.empty() ? nullptr : self->statesOut.data();
  call.exponents_in = self->exponentsIn.data();
  call.exponents_out = self->exponentsOut.data();
  call.out = self->outputs.data();
  call.position = arrays.position;
  if (arrays.lengths) {
    self->lengths = *arrays.lengths;
    self->lengths.reserve(1); // never null
    call.lengths = self->lengths.data();
    call.num_lengths = static_cast<int64_t>(self->lengths.size());
  }
  call.form = self->form.empty() ? nullptr : self->form.c_str();
  call.chunk = options.chunk;
  call.parts = options.parts;
  if (options.threads > 1) {
    self->pool = lintel_pool_create(options.threads, &error);
    if (!self->pool) return createStringError(Twine(error.message));
    call.executor = lintel_pool_executor(self->pool);
  }
  if (options.progress) {
    self->counter = std::make_unique<Counter>(call.executor, *options.progress);
    call.executor = &self->counter->executor;
  }
  uint64_t bytes = lintel_scratch_bytes(kernel, call.form, call.chunk, std::max(options.threads, 1));
  auto scratch = NpyArray::create(LINTEL_F64, {static_cast<int64_t>(bytes / 8 + 8)});
  if (!scratch) return scratch.takeError();
  self->scratch = std::make_unique<NpyArray>(std::move(*scratch));
  if (options.poison) poisonArray(*self->scratch);
  call.scratch = self->scratch->data();
  call.scratch_bytes = self->scratch->bytes();
  return std::move(self);
}

Error PreparedCall::run() {
  lintel_error error;
  if (lintel_run(&call, &error) == LINTEL_OK) return Error::success();
  return createStringError(Twine(error.message));
}

Expected<RunResult> PreparedCall::takeResult() {
  if (headsFirst) {
    auto restore = [](NpyArray &array) -> Error {
      auto usual = exchanged(array);
      if (!usual) return usual.takeError();
      array = std::move(*usual);
      return Error::success();
    };
    if (Error e = restore(result.out)) return std::move(e);
    for (NpyArray &other : result.others)
      if (Error e = restore(other)) return std::move(e);
  }
  for (int e : exponentOf) {
    if (exponents.empty()) break;
    result.exponents.emplace_back();
    if (e < 0) continue;
    auto copy = exponents[e].convertedTo(LINTEL_F64); // states may share one
    if (!copy) return copy.takeError();
    result.exponents.back() = std::move(*copy);
  }
  return std::move(result);
}

Expected<RunResult> lintel::executeKernel(const lintel_kernel *kernel, const OperatorInfo &op,
                                          const BoundArrays &arrays, const ExecuteOptions &options) {
  auto call = PreparedCall::create(kernel, op, arrays, options);
  if (!call) return call.takeError();
  if (Error e = (*call)->run()) return std::move(e);
  return (*call)->takeResult();
}

#include "compiler/driver/Workbench.h"
#include "compiler/analysis/CostAnalysis.h"
#include "compiler/analysis/InputUse.h"
#include "compiler/driver/NpyHeader.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cstring>

using namespace llvm;
using namespace lintel;

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The first head of the first sequence, its first steps.
static Expected<BoundArrays> firstHead(const OperatorInfo &op, const BoundArrays &arrays, int64_t steps) {
  BoundArrays result;
  result.batch = 1, result.steps = steps, result.heads = 1;
  result.dimensions = arrays.dimensions, result.types = arrays.types;
  for (auto [info, array] : llvm::zip_equal(op.inputs, arrays.inputs)) {
    SmallVector<int64_t, 5> shape = array.shape;
    int64_t inner = 1, outer = info.kind == InputKind::Token ? 3 : info.kind == InputKind::Head ? 1 : 0;
    for (int64_t n : ArrayRef(shape).drop_front(outer)) inner *= n;
    int64_t stride = info.kind == InputKind::Token ? shape[2] * inner : 0, rows = 1;
    if (info.kind == InputKind::Token) shape[0] = 1, shape[1] = rows = steps, shape[2] = 1;
    if (info.kind == InputKind::Head) shape[0] = 1;
    auto piece = NpyArray::create(array.dtype, shape);
    if (!piece) return piece.takeError();
    size_t size = array.elements() ? array.bytes() / array.elements() : 0;
    for (int64_t t = 0; t < rows; ++t)
      std::memcpy(piece->dataAs<char>() + t * inner * size, array.dataAs<char>() + t * stride * size, inner * size);
    result.inputs.push_back(std::move(*piece));
  }
  result.initial.resize(op.states.size());
  return std::move(result);
}

/// The first head's first steps of an output.
static Expected<NpyArray> firstHeadOut(const NpyArray &out, const NpyArray &like) {
  auto piece = NpyArray::create(out.dtype, like.shape);
  if (!piece) return piece.takeError();
  size_t size = out.elements() ? out.bytes() / out.elements() : 0;
  int64_t inner = 1;
  for (int64_t n : ArrayRef(out.shape).drop_front(3)) inner *= n;
  for (int64_t t = 0; t < like.shape[1]; ++t)
    std::memcpy(piece->dataAs<char>() + t * inner * size, out.dataAs<char>() + t * out.shape[2] * inner * size,
                inner * size);
  return piece;
}

static double bytesOf(const OperatorInfo &op, const BoundArrays &arrays) {
  double bytes = 0;
  for (const NpyArray &array : arrays.inputs) bytes += static_cast<double>(array.bytes());
  auto add = [&](StringRef name, ArrayRef<int64_t> shape) {
    double n = static_cast<double>(npy::bytesOf(arrays.types.of(name)));
    for (int64_t size : shape) n *= static_cast<double>(size);
    bytes += n;
  };
  add(op.out.name, outShape(op, arrays));
  for (auto [i, info] : llvm::enumerate(op.others)) add(info.name, otherShape(op, i, arrays));
  return bytes;
}

/// Steps of one head that the interpreter does in about a second.
static int64_t affordableSteps(const OperatorInfo &op, const BoundArrays &arrays) {
  double work = 1;
  for (unsigned s = 0; s < op.states.size(); ++s) {
    double n = 1;
    for (int64_t size : innerShape(op.states[s], arrays.dimensions)) n *= static_cast<double>(size);
    work += n;
  }
  double linear = 2e6 / work;
  return std::clamp<int64_t>(static_cast<int64_t>(op.attends ? 400 : linear), 64, 1024);
}

Error Workbench::makeArrays() {
  if (arrays) return Error::success();
  auto forms = deriveForms(file, op, request.compile.dimensions);
  if (!forms) return forms.takeError();
  SmallVector<InputUse> uses;
  for (SpecOp spec : (*forms)->getOps<SpecOp>()) {
    uses = inputUses(spec);
    work = workOf(spec, request.steps).flops;
  }
  RandomRequest shape;
  shape.batch = request.batch, shape.steps = request.steps, shape.heads = request.heads, shape.groups = request.groups;
  shape.dimensions = request.compile.dimensions, shape.types = request.compile.types;
  auto all = randomArrays(op, uses, shape);
  if (!all) return all.takeError();
  bytes = bytesOf(op, *all);
  if (all->batch * all->heads == 0) {
    checked = "nothing to compute";
  } else {
    int64_t steps = std::min(all->steps, affordableSteps(op, *all));
    auto first = firstHead(op, *all, steps);
    if (!first) return first.takeError();
    auto exact = makeReference(op.spec, op, *first);
    if (!exact) return exact.takeError();
    checked = steps == all->steps && all->heads == 1 && all->batch == 1
                  ? "all of it"
                  : formatv("first head, first {0} of {1} steps", steps, all->steps).str();
    piece = std::make_unique<BoundArrays>(std::move(*first));
    reference = std::make_unique<Reference>(std::move(*exact));
  }
  arrays = std::make_unique<BoundArrays>(std::move(*all));
  return Error::success();
}

/// The big run's first head, where later steps cannot have changed it; before that, a run of the same kernel on the
/// piece.
Error Workbench::check(Contender &contender) {
  contender.checked = checked;
  if (!piece) return Error::success();
  const lintel_kernel *kernel = contender.jit->kernel();
  ExecuteOptions single;
  single.poison = true;
  auto small = executeKernel(kernel, op, *piece, single);
  if (!small) return small.takeError();
  contender.difference = compareResults(op, *reference, *small);
  if (!contender.difference.ok || (op.bidirectional && piece->steps != arrays->steps)) return Error::success();
  ExecuteOptions poisoned;
  poisoned.threads = request.threads, poisoned.poison = true;
  auto whole = executeKernel(kernel, op, *arrays, poisoned);
  if (!whole) return whole.takeError();
  auto out = firstHeadOut(whole->out, small->out);
  if (!out) return out.takeError();
  small->out = std::move(*out);
  for (size_t o = 0; o < small->others.size(); ++o) {
    auto other = firstHeadOut(whole->others[o], small->others[o]);
    if (!other) return other.takeError();
    small->others[o] = std::move(*other);
  }
  contender.difference = compareResults(op, *reference, *small);
  return Error::success();
}

Expected<std::unique_ptr<Contender>> Workbench::prepare(const FormRequest &form) {
  auto phase = [&](const char *doing) {
    if (request.progress) request.progress->phase(Twine(doing) + " " + op.name);
  };
  phase("compiling");
  auto start = Clock::now();
  CompileOptions options = request.compile;
  options.form = form, options.decode = false;
  auto compiled = compileOperator(file, op, options);
  if (!compiled) return compiled.takeError();
  auto result = std::make_unique<Contender>();
  result->compiled = std::move(*compiled);
  auto jit = loadOperator(result->compiled);
  if (!jit) return jit.takeError();
  result->jit = std::move(*jit);
  result->compileSeconds = since(start);
  phase("checking");
  if (Error e = makeArrays()) return std::move(e);
  if (Error e = check(*result)) return std::move(e);
  if (!result->difference.ok) return std::move(result);
  ExecuteOptions execute;
  execute.threads = request.threads;
  auto call = PreparedCall::create(result->jit->kernel(), op, *arrays, execute);
  if (!call) return call.takeError();
  result->call = std::move(*call);
  if (Error e = result->call->run()) return std::move(e); // pages and caches
  return std::move(result);
}

Expected<double> Contender::time(unsigned runs) {
  assert(difference.ok && call && "only what was checked is timed");
  auto start = Clock::now();
  for (unsigned i = 0; i < runs; ++i)
    if (Error e = call->run()) return std::move(e);
  return since(start);
}

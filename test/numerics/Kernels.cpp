#include "Kernels.h"
#include "compiler/analysis/InputUse.h"
#include "compiler/driver/Exponents.h"
#include "compiler/driver/Reference.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace lintel;
using namespace lintel::test;

GuardedMemory::GuardedMemory(size_t bytes, size_t alignment) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t room = (bytes + page - 1) / page * page;
  mapped = room + page;
  void *p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) report_fatal_error("mmap failed");
  base = static_cast<char *>(p);
  std::memset(base, 0xff, room);
  mprotect(base + room, page, PROT_NONE);
  start = base + (room - bytes) / alignment * alignment;
}

GuardedMemory::GuardedMemory(GuardedMemory &&other) noexcept
    : base(other.base), start(other.start), mapped(other.mapped) {
  other.base = nullptr;
}

GuardedMemory::~GuardedMemory() {
  if (base) munmap(base, mapped);
}

bool GuardedMemory::isFrontIntact() const {
  return std::all_of(base, start, [](char c) { return c == '\xff'; });
}

std::string lintel::test::text(const FormRequest &variant) {
  return variant.form + (variant.chunk ? " at " + std::to_string(variant.chunk) : "");
}

static std::vector<FormRequest> formsIn(mlir::ModuleOp forms, ArrayRef<int64_t> chunks, ArrayRef<int64_t> blocks) {
  std::vector<FormRequest> result;
  for (mlir::Operation &op : *forms.getBody()) {
    std::string name = formName(&op).str();
    if (name == "recurrent") result.push_back(form(name));
    else if (name == "chunkwise" || name == "parallel")
      for (int64_t chunk : name == "parallel" ? blocks : chunks) result.push_back(form(name, chunk));
  }
  return result;
}

const Kernel &lintel::test::compiledText(const std::string &name, const std::string &source, Dimensions dimensions,
                                         ElementTypes types, std::vector<FormRequest> variants) {
  static std::map<std::string, Kernel> kernels;
  std::string key = source + "\n" + types.text();
  for (const auto &[dim, value] : dimensions) key += " " + dim + "=" + std::to_string(value);
  for (const FormRequest &variant : variants) key += ", " + test::text(variant) + variant.schedule;
  auto [place, fresh] = kernels.try_emplace(key);
  Kernel &kernel = place->second;
  if (!fresh) return kernel;
  kernel.specFile = cantFail(SpecFile::parse(source, name + ".attn"));
  kernel.info = cantFail(kernel.specFile->find(""));
  kernel.options.dimensions = std::move(dimensions);
  // Pairs of bf16 as AVX-512 multiplies them, on every machine that runs AVX2.
  if (types.products == LINTEL_BF16) kernel.options.targets = {"x86-64-v3-pairs"};
  kernel.options.types = std::move(types);
  kernel.options.cache = sys::Process::GetEnv("LINTEL_CACHE").value_or("");
  kernel.forms = cantFail(deriveForms(*kernel.specFile, *kernel.info, kernel.options.dimensions));
  kernel.options.variants = variants.empty() ? formsIn(*kernel.forms, {4, 16}, {4}) : std::move(variants);
  for (SpecOp spec : kernel.forms->getOps<SpecOp>()) kernel.bound = spec;
  CompiledOperator code = cantFail(compileOperator(*kernel.specFile, *kernel.info, kernel.options));
  kernel.jit = cantFail(loadOperator(code));
  return kernel;
}

static std::string exampleText(const std::string &name) {
  std::string path = std::string(LINTEL_SOURCE_DIR) + "/examples/specs/" + name + ".attn";
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer) report_fatal_error(Twine("cannot read ") + path);
  return (*buffer)->getBuffer().str();
}

const Kernel &lintel::test::compiled(const std::string &name, Dimensions dimensions, ElementTypes types,
                                     std::vector<FormRequest> variants) {
  return compiledText(name, exampleText(name), std::move(dimensions), std::move(types), std::move(variants));
}

std::vector<FormRequest> lintel::test::allForms(const std::string &name, const Dimensions &dimensions,
                                                std::vector<int64_t> chunks) {
  auto file = cantFail(SpecFile::parse(exampleText(name), name + ".attn"));
  auto forms = cantFail(deriveForms(*file, *cantFail(file->find("")), dimensions));
  return formsIn(*forms, chunks, chunks);
}

BoundArrays Kernel::arrays(std::vector<NamedArray> inputs, std::vector<NamedArray> initial) const {
  ArraysRequest request;
  request.inputs = std::move(inputs), request.initial = std::move(initial);
  request.dimensions = options.dimensions;
  request.types.common = options.types.common, request.types.named = options.types.named;
  request.types.products = options.types.products;
  return cantFail(bindArrays(*info, std::move(request)));
}

BoundArrays Kernel::random(RandomRequest request) const {
  request.dimensions = options.dimensions, request.types = options.types;
  SpecOp spec = bound;
  return cantFail(randomArrays(*info, inputUses(spec), request));
}

RunResult Kernel::run(const BoundArrays &arrays, const FormRequest &variant, int threads, bool takeExponents) const {
  std::vector<GuardedMemory> memory;
  memory.reserve(arrays.inputs.size() + 4 * info->states.size() + info->others.size() + 2);
  size_t firstWritten = 0;
  auto guard = [&](const NpyArray &array, bool copy) {
    memory.emplace_back(array.bytes(), lintel_dtype_bytes(array.dtype));
    if (copy) std::memcpy(memory.back().data(), array.data(), array.bytes());
    return lintel_array_contiguous(memory.back().data(), array.dtype, static_cast<int32_t>(array.shape.size()),
                                   array.shape.data());
  };
  RunResult result;
  std::vector<lintel_array> inputs, statesIn, statesOut;
  for (const NpyArray &input : arrays.inputs) inputs.push_back(guard(input, true));
  for (const auto &state : arrays.initial) statesIn.push_back(state ? guard(*state, true) : lintel_array{});
  const std::vector<StateExponent> held = exponentsOf(*kernel());
  std::vector<lintel_array> exponentsIn(kernel()->num_exponents), exponentsOut(kernel()->num_exponents);
  for (auto [given, e] : llvm::zip(arrays.exponents, held))
    if (given && e) exponentsIn[e.index] = guard(*given, true);
  firstWritten = memory.size();
  for (StateExponent e : held)
    if (e && takeExponents && !exponentsOut[e.index].data)
      exponentsOut[e.index] = guard(cantFail(NpyArray::create(LINTEL_F64, e.shape(arrays))), false);
  for (unsigned s = 0; s < info->states.size(); ++s) {
    result.states.push_back(cantFail(NpyArray::create(arrays.types.state(*info), stateShape(*info, s, arrays))));
    statesOut.push_back(guard(result.states.back(), false));
  }
  result.out = cantFail(NpyArray::create(arrays.types.out(), outShape(*info, arrays)));
  std::vector<lintel_array> outputs{guard(result.out, false)};
  for (unsigned o = 0; o < info->others.size(); ++o) {
    result.others.push_back(
        cantFail(NpyArray::create(arrays.types.of(info->others[o].name), otherShape(*info, o, arrays))));
    outputs.push_back(guard(result.others.back(), false));
  }
  lintel_call call{};
  call.kernel = kernel();
  call.inputs = inputs.data();
  call.states_in = statesIn.empty() ? nullptr : statesIn.data();
  call.states_out = statesOut.empty() ? nullptr : statesOut.data();
  call.exponents_in = exponentsIn.data(), call.exponents_out = exponentsOut.data();
  call.out = outputs.data();
  call.position = arrays.position;
  std::vector<int64_t> lengths = arrays.lengths.value_or(std::vector<int64_t>{});
  lengths.reserve(1);
  if (arrays.lengths) call.lengths = lengths.data(), call.num_lengths = static_cast<int64_t>(lengths.size());
  call.form = variant.form == "auto" ? nullptr : variant.form.c_str();
  call.chunk = variant.chunk;
  call.scratch_bytes = lintel_scratch_bytes(call.kernel, call.form, call.chunk, threads);
  memory.emplace_back(call.scratch_bytes);
  call.scratch = memory.back().data();
  lintel_pool *pool = threads > 1 ? lintel_pool_create(threads, nullptr) : nullptr;
  if (pool) call.executor = lintel_pool_executor(pool);
  lintel_error error;
  EXPECT_EQ(lintel_run(&call, &error), LINTEL_OK)
      << error.message << " (" << info->name << ", " << text(variant) << ")";
  lintel_pool_destroy(pool);
  for (size_t i = firstWritten; i < memory.size(); ++i)
    EXPECT_TRUE(memory[i].isFrontIntact()) << "written before the start of an array, " << text(variant);
  for (auto [state, view] : zip_equal(result.states, statesOut)) std::memcpy(state.data(), view.data, state.bytes());
  for (StateExponent e : held) {
    if (!takeExponents) break;
    result.exponents.emplace_back();
    if (!e) continue;
    result.exponents.back() = cantFail(NpyArray::create(LINTEL_F64, e.shape(arrays)));
    std::memcpy(result.exponents.back()->data(), exponentsOut[e.index].data, result.exponents.back()->bytes());
  }
  std::memcpy(result.out.data(), outputs[0].data, result.out.bytes());
  for (unsigned o = 0; o < result.others.size(); ++o)
    std::memcpy(result.others[o].data(), outputs[o + 1].data, result.others[o].bytes());
  return result;
}

RunResult Kernel::interpret(const BoundArrays &arrays) const {
  return cantFail(interpretArrays(SpecOp(bound), *info, arrays));
}

Reference Kernel::reference(const BoundArrays &arrays) const {
  return cantFail(makeReference(SpecOp(bound), *info, arrays));
}

NamedArray lintel::test::filled(const std::string &name, ArrayRef<int64_t> shape, std::vector<double> values,
                                lintel_dtype dtype) {
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  std::vector<double> all(static_cast<size_t>(n));
  for (size_t i = 0; i < all.size(); ++i) all[i] = values[i % values.size()];
  return {name, cantFail(fromDoubles(all, shape, dtype))};
}

NamedArray lintel::test::normal(const std::string &name, ArrayRef<int64_t> shape, double scale, uint64_t seed,
                                lintel_dtype dtype) {
  Random random(seed);
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  std::vector<double> values(static_cast<size_t>(n));
  for (double &x : values) x = scale * random.normal();
  return {name, cantFail(fromDoubles(values, shape, dtype))};
}

bool lintel::test::sameBits(const NpyArray &a, const NpyArray &b) {
  return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

bool lintel::test::sameBits(const RunResult &a, const RunResult &b) {
  for (auto [x, y] : zip_equal(a.states, b.states))
    if (!sameBits(x, y)) return false;
  for (auto [x, y] : zip_equal(a.others, b.others))
    if (!sameBits(x, y)) return false;
  for (auto [x, y] : zip_equal(a.exponents, b.exponents))
    if (x.has_value() != y.has_value() || (x && !sameBits(*x, *y))) return false;
  return sameBits(a.out, b.out);
}

static void expectWithin(const Kernel &kernel, const Reference &reference, const BoundArrays &arrays,
                         const FormRequest &variant, int threads) {
  Difference difference = compareResults(kernel.op(), reference, kernel.run(arrays, variant, threads));
  EXPECT_TRUE(difference.ok) << kernel.op().name << " " << text(variant) << " T=" << arrays.steps << ": "
                             << difference.failure;
}

void lintel::test::expectReference(const Kernel &kernel, const BoundArrays &arrays, const FormRequest &variant,
                                   int threads) {
  expectWithin(kernel, kernel.reference(arrays), arrays, variant, threads);
}

void lintel::test::expectReference(const Kernel &kernel, const BoundArrays &arrays) {
  Reference reference = kernel.reference(arrays);
  for (const FormRequest &variant : kernel.variants()) expectWithin(kernel, reference, arrays, variant, 1);
}

testing::AssertionResult lintel::test::near(const std::vector<double> &got, const std::vector<double> &want,
                                            double tolerance) {
  if (got.size() != want.size())
    return testing::AssertionFailure() << got.size() << " elements, expected " << want.size();
  for (size_t i = 0; i < got.size(); ++i) {
    double x = want[i], y = got[i];
    bool ok = std::isfinite(x) ? std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(x))
              : std::isnan(x)  ? std::isnan(y)
                               : x == y;
    if (!ok) return testing::AssertionFailure() << "element " << i << " is " << y << ", expected " << x;
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult lintel::test::near(const NpyArray &got, const std::vector<double> &want, double tolerance) {
  return near(toDoubles(got), want, tolerance);
}

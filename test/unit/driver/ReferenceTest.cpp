// Whole runs through the interpreter, against values worked out by hand.
#include "compiler/driver/Reference.h"
#include "Support.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/RandomArrays.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace lintel;
using namespace lintel::test;

namespace {

/// A sum over time of scalars, one for each head.
const char *const sumText = "attention total {\n  token x\n  state S\n  S = S + x\n  out = S\n}";

RunResult run(const OperatorInfo &op, ArraysRequest r) {
  BoundArrays arrays = llvm::cantFail(bindArrays(op, std::move(r)));
  return llvm::cantFail(interpretArrays(op.spec, op, arrays));
}

TEST(Reference, GroupedHeadsReadTheirGroup) {
  auto file = spec("attention a { token q[n], k[n], v[n] }");
  const OperatorInfo &op = file->operators().front();
  // One step: out = (q . k) v, and heads 0, 1 read group 0 and heads 2, 3 group 1.
  RunResult r =
      run(op, request(NamedArray{"q", array({1, 1, 4, 1}, {1, 2, 3, 4})},
                      NamedArray{"k", array({1, 1, 2, 1}, {10, 100})}, NamedArray{"v", array({1, 1, 1, 1}, {1})}));
  EXPECT_EQ(toDoubles(r.out), (std::vector<double>{10, 20, 300, 400}));
}

TEST(Reference, PackedSequencesKeepApart) {
  auto file = spec(sumText);
  const OperatorInfo &op = file->operators().front();
  ArraysRequest r = request(NamedArray{"x", array({1, 4, 1}, {1, 2, 3, 4})});
  r.lengths = std::vector<int64_t>{0, 3, 0, 1};
  r.initial.push_back({"S", array({4, 1}, {10, 20, 30, 40})});
  RunResult result = run(op, std::move(r));
  EXPECT_EQ(toDoubles(result.out), (std::vector<double>{21, 23, 26, 44}));
  EXPECT_EQ(toDoubles(result.states[0]), (std::vector<double>{10, 26, 30, 44}));
}

TEST(Reference, EmptySequencesPassTheirState) {
  auto file = spec(sumText);
  const OperatorInfo &op = file->operators().front();
  ArraysRequest r = request(NamedArray{"x", array({2, 0, 3})});
  r.initial.push_back({"S", array({2, 3}, {1, 2, 3, 4, 5, 6})});
  RunResult result = run(op, std::move(r));
  EXPECT_EQ(result.out.elements(), 0);
  EXPECT_EQ(toDoubles(result.states[0]), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Reference, PositionsContinue) {
  auto file = spec("attention a {\n  token x\n  state S\n  S = S + x\n  out = position\n}");
  const OperatorInfo &op = file->operators().front();
  ArraysRequest r = request(NamedArray{"x", array({1, 3, 1})});
  r.position = 7;
  EXPECT_EQ(toDoubles(run(op, std::move(r)).out), (std::vector<double>{7, 8, 9}));
}

TEST(Reference, HalfInputsAreWidenedExactly) {
  auto file = spec(sumText);
  const OperatorInfo &op = file->operators().front();
  RunResult r = run(op, request(NamedArray{"x", array({1, 3, 1}, {0.1}, LINTEL_F16)}));
  double x = widenF16(roundToF16(0.1));
  EXPECT_EQ(toDoubles(r.out), (std::vector<double>{x, 2 * x, x + x + x}));
}

/// Both ways of interpreting an operator: as its text says, and by the form that `lintel run --interpret` takes.
struct TwoWays {
  std::unique_ptr<SpecFile> file;
  mlir::OwningOpRef<mlir::ModuleOp> forms;
  Dimensions dimensions;
  const OperatorInfo &op() const { return file->operators().front(); }
  bool carriesExponents() const { return mlir::isa<RecurrentOp>(interpretedForm(*forms)); }
  RunResult asWritten(const BoundArrays &arrays) const {
    return llvm::cantFail(interpretArrays(op().spec, op(), arrays));
  }
  RunResult robust(const BoundArrays &arrays) const {
    return llvm::cantFail(interpretArrays(interpretedForm(*forms), op(), arrays));
  }
};

TwoWays open(const std::string &path) {
  TwoWays result;
  result.file = llvm::cantFail(SpecFile::open(path));
  const int64_t sizes[] = {6, 5, 4, 3};
  for (auto [i, name] : llvm::enumerate(result.op().dimensions)) result.dimensions.push_back({name, sizes[i % 4]});
  result.forms = llvm::cantFail(deriveForms(*result.file, result.op(), result.dimensions));
  return result;
}

const std::string examples = LINTEL_SOURCE_DIR "/examples/specs/";

bool allFinite(const NpyArray &array) {
  return llvm::all_of(toDoubles(array), [](double x) { return std::isfinite(x); });
}

/// Largest difference over the root mean square of `want`.
double relative(const NpyArray &want, const NpyArray &got) {
  std::vector<double> x = toDoubles(want), y = toDoubles(got);
  double sum = 0, worst = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * x[i], worst = std::max(worst, std::fabs(x[i] - y[i]));
  return sum > 0 ? worst / std::sqrt(sum / static_cast<double>(x.size())) : worst;
}

TEST(Reference, ExponentsChangeNothingOfUsualSize) {
  unsigned carrying = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(examples, error), end; it != end && !error; it.increment(error)) {
    if (llvm::sys::path::extension(it->path()) != ".attn") continue;
    TwoWays two = open(it->path());
    if (!two.carriesExponents()) continue;
    ++carrying;
    RandomRequest request;
    request.batch = 2, request.steps = 23, request.heads = 2, request.dimensions = two.dimensions;
    request.types = LINTEL_F64;
    for (bool initial : {false, true}) {
      request.initial = initial && two.op().splits();
      BoundArrays arrays = llvm::cantFail(randomArrays(two.op(), inputUses(two.op().spec), request));
      RunResult want = two.asWritten(arrays), got = two.robust(arrays);
      EXPECT_LE(relative(want.out, got.out), 1e-10) << it->path();
      for (auto [x, y] : llvm::zip_equal(want.states, got.states)) EXPECT_LE(relative(x, y), 1e-10) << it->path();
    }
  }
  EXPECT_GE(carrying, 4u);
}

TEST(Reference, KeysOfAnySize) {
  // A constant added to all keys cancels; 1e4 is far beyond the argument of 709 at which a double overflows.
  TwoWays rwkv4 = open(examples + "rwkv4.attn");
  auto arrays = [&](double shift) {
    std::vector<double> keys{1, -2, 0.5, 3, -1};
    for (double &k : keys) k += shift;
    return llvm::cantFail(bindArrays(rwkv4.op(), request(NamedArray{"k", array({1, 5, 1}, keys, LINTEL_F64)},
                                                         NamedArray{"v", array({1, 5, 1}, {1, 2, 3, 4, 5}, LINTEL_F64)},
                                                         NamedArray{"w", array({1}, {0.5}, LINTEL_F64)},
                                                         NamedArray{"u", array({1}, {0.25}, LINTEL_F64)})));
  };
  RunResult want = rwkv4.asWritten(arrays(0));
  for (double shift : {1e4, -1e4}) {
    EXPECT_FALSE(allFinite(rwkv4.asWritten(arrays(shift)).out)) << shift; // else there is nothing to see here
    EXPECT_LE(relative(want.out, rwkv4.robust(arrays(shift)).out), 1e-10) << shift;
  }
}

TEST(Reference, QueriesAndKeysOfLargeNorm) {
  // The third key is so much longer than the others, along the features, that it decides alone from its step on.
  TwoWays favor = open(examples + "favor.attn");
  Dimensions &d = favor.dimensions;
  auto size = [&](const char *name) { return dimensionMap(d).lookup(name); };
  int64_t dk = size("dk"), dv = size("dv"), m = size("m"), T = 5;
  std::vector<double> q(T * dk, -300), k(T * dk, -300), v(T * dv), omega(m * dk, 1);
  for (int64_t c = 0; c < dk; ++c) k[2 * dk + c] = 0;
  for (int64_t i = 0; i < T * dv; ++i) v[i] = static_cast<double>(i);
  BoundArrays arrays =
      llvm::cantFail(bindArrays(favor.op(), request(NamedArray{"q", array({1, T, 1, dk}, q, LINTEL_F64)},
                                                    NamedArray{"k", array({1, T, 1, dk}, k, LINTEL_F64)},
                                                    NamedArray{"v", array({1, T, 1, dv}, v, LINTEL_F64)},
                                                    NamedArray{"omega", array({m, dk}, omega, LINTEL_F64)})));
  EXPECT_FALSE(allFinite(favor.asWritten(arrays).out));
  std::vector<double> out = toDoubles(favor.robust(arrays).out);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t e = 0; e < dv; ++e) {
      // Before it, equal keys: the mean of the values so far.
      double want = t < 2 ? static_cast<double>(e) + static_cast<double>(t * dv) / 2 : static_cast<double>(2 * dv + e);
      EXPECT_NEAR(out[t * dv + e], want, 1e-10 * std::max(1.0, want)) << t << " " << e;
    }
}

TEST(Reference, InputGatesThatGrow) {
  // Gates of e^(200 t) and no decay: the newest outweighs the sum of all earlier ones by e^200, so out = v.
  TwoWays mlstm = open(examples + "mlstm.attn");
  int64_t dk = dimensionMap(mlstm.dimensions).lookup("dk"), dv = dimensionMap(mlstm.dimensions).lookup("dv"), T = 8;
  std::vector<double> i, v(T * dv);
  for (int64_t t = 0; t < T; ++t) i.push_back(200.0 * static_cast<double>(t));
  for (int64_t n = 0; n < T * dv; ++n) v[n] = 1 + static_cast<double>(n % 7);
  BoundArrays arrays =
      llvm::cantFail(bindArrays(mlstm.op(), request(NamedArray{"q", array({1, T, 1, dk}, {1}, LINTEL_F64)},
                                                    NamedArray{"k", array({1, T, 1, dk}, {1}, LINTEL_F64)},
                                                    NamedArray{"v", array({1, T, 1, dv}, v, LINTEL_F64)},
                                                    NamedArray{"i", array({1, T, 1}, i, LINTEL_F64)},
                                                    NamedArray{"f", array({1, T, 1}, {40}, LINTEL_F64)})));
  EXPECT_FALSE(allFinite(mlstm.asWritten(arrays).out));
  EXPECT_LE(relative(array({1, T, 1, dv}, v, LINTEL_F64), mlstm.robust(arrays).out), 1e-10);
}

TEST(RandomArrays, EqualSeedsGiveEqualArraysAndCutsFit) {
  auto file = spec(identityText);
  const OperatorInfo &op = file->operators().front();
  RandomRequest request;
  request.batch = 2, request.steps = 5, request.heads = 2, request.dimensions = {{"dk", 3}, {"dv", 2}};
  std::vector<InputUse> uses(3, InputUse::Plain);
  BoundArrays a = llvm::cantFail(randomArrays(op, uses, request)), b = llvm::cantFail(randomArrays(op, uses, request));
  EXPECT_EQ(toDoubles(a.inputs[0]), toDoubles(b.inputs[0]));
  BoundArrays cut = llvm::cantFail(cutArrays(op, a, 2, 5, {}));
  EXPECT_EQ(cut.steps, 3);
  EXPECT_EQ(cut.position, 2);
  RunResult whole = llvm::cantFail(interpretArrays(op.spec, op, a));
  BoundArrays head = llvm::cantFail(cutArrays(op, a, 0, 2, {}));
  RunResult first = llvm::cantFail(interpretArrays(op.spec, op, head));
  BoundArrays tail = llvm::cantFail(cutArrays(op, a, 2, 5, std::move(first.states)));
  RunResult second = llvm::cantFail(interpretArrays(op.spec, op, tail));
  EXPECT_EQ(toDoubles(whole.states[0]), toDoubles(second.states[0]));
}

} // namespace

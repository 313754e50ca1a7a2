// States: handed from piece to piece, laid out, kept apart; and runs that repeat.
#include "Kernels.h"
#include "compiler/analysis/InputUse.h"
#include "compiler/driver/Checks.h"
#include "compiler/driver/Explanation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <array>
#include <cstring>

using namespace lintel;
using namespace lintel::test;

namespace {

/// One head of scalar_gate (dk = dv = 2) whose pieces are run in place.
struct Gated {
  static constexpr int64_t most = 130, dk = 2, dv = 2;
  const Kernel &kernel =
      compiled("scalar_gate", {{"dk", dk}, {"dv", dv}}, LINTEL_F32, {form("recurrent"), form("chunkwise", 16)});
  BoundArrays arrays = [&] {
    RandomRequest request;
    request.steps = most, request.seed = 5;
    return kernel.random(request);
  }();
  std::vector<double> outs;                        // of all steps
  std::vector<std::array<double, dk * dv>> states; // before each step, and the last

  Gated() {
    const auto *q = arrays.inputs[0].dataAs<float>(), *k = arrays.inputs[1].dataAs<float>(),
               *v = arrays.inputs[2].dataAs<float>(), *g = arrays.inputs[3].dataAs<float>();
    std::array<double, dk * dv> s{};
    states.push_back(s);
    for (int64_t t = 0; t < most; ++t) {
      for (int64_t c = 0; c < dk; ++c)
        for (int64_t e = 0; e < dv; ++e)
          s[c * dv + e] = std::exp(double(g[t])) * s[c * dv + e] + double(k[t * dk + c]) * v[t * dv + e];
      for (int64_t e = 0; e < dv; ++e) outs.push_back(q[t * dk] * s[e] + q[t * dk + 1] * s[dv + e]);
      states.push_back(s);
    }
  }

  /// Steps [begin, end) onto `out`, the state updated in place.
  void run(int64_t begin, int64_t end, const FormRequest &variant, float *out, float *state) {
    int64_t steps = end - begin, vectors[] = {1, steps, 1, 2}, scalars[] = {1, steps, 1}, matrix[] = {1, 1, dk, dv};
    lintel_array inputs[4];
    for (int i = 0; i < 4; ++i)
      inputs[i] = lintel_array_contiguous(arrays.inputs[i].dataAs<float>() + begin * (i < 3 ? 2 : 1), LINTEL_F32,
                                          i < 3 ? 4 : 3, i < 3 ? vectors : scalars);
    lintel_array s = lintel_array_contiguous(state, LINTEL_F32, 4, matrix);
    lintel_array o = lintel_array_contiguous(out + begin * dv, LINTEL_F32, 4, vectors);
    lintel_call call{};
    call.kernel = kernel.kernel(), call.inputs = inputs, call.states_in = &s, call.states_out = &s, call.out = &o;
    call.form = variant.form.c_str(), call.chunk = variant.chunk, call.position = begin;
    lintel_error error;
    ASSERT_EQ(lintel_run(&call, &error), LINTEL_OK) << error.message;
  }
};

TEST(State, EverySplitIsOneRun) {
  Gated gated;
  for (const FormRequest &variant : gated.kernel.variants()) {
    std::vector<float> whole(Gated::most * 2), pieces(Gated::most * 2);
    for (int64_t steps = 1; steps <= Gated::most; ++steps) {
      float state[4] = {};
      std::fill(whole.begin(), whole.end(), NAN);
      gated.run(0, steps, variant, whole.data(), state);
      for (int64_t i = 0; i < 2 * steps; ++i) ASSERT_NEAR(whole[i], gated.outs[i], 2e-6) << text(variant) << steps;
      for (int i = 0; i < 4; ++i) ASSERT_NEAR(state[i], gated.states[steps][i], 2e-6) << text(variant) << steps;
      for (int64_t at = 0; at <= steps; ++at) {
        float handed[4] = {};
        std::fill(pieces.begin(), pieces.end(), NAN);
        gated.run(0, at, variant, pieces.data(), handed);
        for (int i = 0; i < 4; ++i) ASSERT_NEAR(handed[i], gated.states[at][i], 2e-6) << text(variant) << at;
        gated.run(at, steps, variant, pieces.data(), handed);
        size_t bytes = static_cast<size_t>(steps) * 2 * sizeof(float);
        if (variant.chunk == 0 || at % variant.chunk == 0) { // at chunk boundaries to the bit
          ASSERT_EQ(std::memcmp(whole.data(), pieces.data(), bytes), 0) << text(variant) << at << "+" << steps - at;
          ASSERT_EQ(std::memcmp(state, handed, sizeof state), 0) << text(variant) << at << "+" << steps - at;
        } else {
          for (int64_t i = 0; i < 2 * steps; ++i) ASSERT_NEAR(pieces[i], gated.outs[i], 2e-6) << text(variant) << at;
          for (int i = 0; i < 4; ++i) ASSERT_NEAR(handed[i], gated.states[steps][i], 2e-6) << text(variant) << at;
        }
      }
    }
  }
}

TEST(State, DecodingStepByStepContinuesAnyForm) {
  // Prefill in one form, then one step at a time with the recurrent one: normalisers, bonuses, positions, delta rules.
  for (const char *name : {"elu", "gla", "rwkv6", "rwkv4", "gated_delta", "favor", "cosformer", "mlstm"}) {
    Dimensions sizes;
    auto file = llvm::cantFail(SpecFile::open(std::string(LINTEL_SOURCE_DIR) + "/examples/specs/" + name + ".attn"));
    int64_t size = 4; // dk and dv as in the other tests, which compile the same kernels
    for (const std::string &dimension : file->operators().front().dimensions) sizes.emplace_back(dimension, size--);
    const Kernel &kernel = compiled(name, sizes);
    RandomRequest request;
    request.steps = 23, request.heads = 2, request.initial = true;
    BoundArrays whole = kernel.random(request);
    Reference reference = kernel.reference(whole);
    for (const FormRequest &variant : kernel.variants())
      for (int64_t prefill : {0, 7, 16}) {
        RunResult joined = kernel.run(whole, variant);
        BoundArrays head = llvm::cantFail(cutArrays(kernel.op(), whole, 0, prefill, {}));
        RunResult piece = kernel.run(head, variant);
        size_t row = joined.out.bytes() / 23;
        std::memcpy(joined.out.data(), piece.out.data(), row * prefill);
        for (int64_t t = prefill; t < 23; ++t) {
          BoundArrays step = llvm::cantFail(cutArrays(kernel.op(), whole, t, t + 1, std::move(piece.states)));
          piece = kernel.run(step, form("recurrent"));
          std::memcpy(joined.out.dataAs<char>() + row * t, piece.out.data(), row);
        }
        joined.states = std::move(piece.states);
        Difference difference = compareResults(kernel.op(), reference, joined);
        EXPECT_TRUE(difference.ok) << name << " " << text(variant) << " prefill " << prefill << ": "
                                   << difference.failure;
      }
  }
}

TEST(State, AnInitialStateIsRead) {
  // S0 = 2 I: out = q @ (2 I + outer(k, v)) = 2 q + (q . k) v.
  const Kernel &kernel = compiled("identity", {{"dk", 2}, {"dv", 2}});
  BoundArrays arrays = kernel.arrays(
      list(filled("q", {1, 1, 1, 2}, {3, 5}), filled("k", {1, 1, 1, 2}, {1, 2}), filled("v", {1, 1, 1, 2}, {10, 100})),
      list(filled("S", {1, 1, 2, 2}, {2, 0, 0, 2})));
  for (const FormRequest &variant : kernel.variants()) {
    RunResult result = kernel.run(arrays, variant);
    EXPECT_TRUE(near(result.out, {136, 1310}, 0)) << text(variant);
    EXPECT_TRUE(near(result.states[0], {12, 100, 20, 202}, 0)) << text(variant);
  }
}

TEST(State, UnknownNamesAreErrors) {
  const Kernel &kernel = compiled("identity", {{"dk", 2}, {"dv", 2}});
  ArraysRequest request;
  request.inputs = list(filled("q", {1, 1, 1, 2}, {1}), filled("k", {1, 1, 1, 2}, {1}), filled("v", {1, 1, 1, 2}, {1}));
  request.initial = list(filled("Z", {1, 1, 2, 2}, {1}));
  auto bound = bindArrays(kernel.op(), std::move(request));
  ASSERT_FALSE(bool(bound));
  std::string message = llvm::toString(bound.takeError());
  EXPECT_NE(message.find("'Z'"), std::string::npos) << message;
  EXPECT_EQ(lintel_state_index(kernel.kernel(), "Z"), -1);
  EXPECT_EQ(lintel_state_index(kernel.kernel(), "S"), 0);
}

TEST(State, EmptySequencesInAPack) {
  Dimensions sizes = {{"dk", 1}, {"dv", 1}};
  for (const char *name : {"identity", "elu"}) {
    const Kernel &kernel = compiled(name, sizes);
    bool normalized = name == std::string("elu");
    ArraysRequest request;
    // elu(0) + 1 = 1, so that both have features of one.
    double x = normalized ? 0 : 1;
    request.inputs =
        list(filled("q", {1, 4, 1, 1}, {x}), filled("k", {1, 4, 1, 1}, {x}), filled("v", {1, 4, 1, 1}, {1, 2, 3, 4}));
    request.initial = list(filled("S", {4, 1, 1, 1}, {10, 20, 30, 40}));
    if (normalized) request.initial.push_back(filled("z", {4, 1, 1}, {1, 3, 5, 7}));
    request.lengths = std::vector<int64_t>{0, 3, 0, 1};
    request.types.common = LINTEL_F32;
    BoundArrays arrays = llvm::cantFail(bindArrays(kernel.op(), std::move(request)));
    for (const FormRequest &variant : kernel.variants())
      for (int threads : {1, 3}) {
        RunResult result = kernel.run(arrays, variant, threads);
        EXPECT_TRUE(near(result.out,
                         normalized ? std::vector<double>{21 / 4., 23 / 5., 26 / 6., 44 / 8.}
                                    : std::vector<double>{21, 23, 26, 44},
                         3e-7))
            << name << " " << text(variant);
        EXPECT_TRUE(near(result.states[0], {10, 26, 30, 44}, 3e-7)) << name << " " << text(variant);
        if (normalized) EXPECT_TRUE(near(result.states[1], {1, 6, 5, 8}, 3e-7)) << text(variant);
      }
  }
}

TEST(State, RowsAreFeaturesAndColumnsAreValues) {
  const Kernel &kernel = compiled("identity", {{"dk", 2}, {"dv", 3}});
  BoundArrays arrays = kernel.arrays(
      list(filled("q", {1, 1, 1, 2}, {1}), filled("k", {1, 1, 1, 2}, {1, 2}), filled("v", {1, 1, 1, 3}, {10, 20, 30})));
  for (const FormRequest &variant : kernel.variants())
    EXPECT_TRUE(near(kernel.run(arrays, variant).states[0], {10, 20, 30, 20, 40, 60}, 0)) << text(variant);
}

TEST(State, DecaysAreShownAndFactorsOutsideTheirRangeWarn) {
  auto useOf = [](const Kernel &kernel, const std::string &input) {
    Explanation explanation = llvm::cantFail(explainOperator(kernel.file(), kernel.op(), kernel.dimensions(), 100));
    for (const Explanation::Input &i : explanation.inputs)
      if (i.name == input) return i.use;
    return std::string("none");
  };
  const Kernel &retnet = compiled("retnet", {{"dk", 1}, {"dv", 1}}),
               &gate = compiled("scalar_gate", {{"dk", 1}, {"dv", 1}});
  EXPECT_NE(useOf(retnet, "gamma").find("factor"), std::string::npos) << useOf(retnet, "gamma");
  EXPECT_NE(useOf(gate, "g").find("log"), std::string::npos) << useOf(gate, "g");
  for (auto [gamma, warnings] : {std::pair{0.5, 0u}, {1.0, 0u}, {0.0, 0u}, {-0.7, 1u}, {1.01, 1u}}) {
    BoundArrays arrays = retnet.arrays(list(filled("q", {1, 1, 1, 1}, {1}), filled("k", {1, 1, 1, 1}, {1}),
                                            filled("v", {1, 1, 1, 1}, {1}), filled("gamma", {1}, {gamma})));
    EXPECT_EQ(decayWarnings(retnet.op(), inputUses(retnet.spec()), arrays).size(), warnings) << gamma;
  }
}

TEST(State, RunsLeaveNothingBehind) {
  Dimensions sizes = {{"dk", 4}, {"dv", 3}};
  for (const char *name : {"elu", "gla", "softmax", "gated_delta"}) {
    // The same operator twice, as two kernels with symbols of the same names, and another between their runs.
    const Kernel &one = compiled(name, sizes), &other = compiled("retnet", sizes);
    RandomRequest request;
    request.steps = 37, request.heads = 2;
    BoundArrays arrays = one.random(request), between = other.random(request);
    CompileOptions options;
    options.dimensions = sizes, options.variants = one.variants();
    auto twin = llvm::cantFail(loadOperator(llvm::cantFail(compileOperator(one.file(), one.op(), options))));
    for (const FormRequest &variant : one.variants()) {
      RunResult first = one.run(arrays, variant);
      other.run(between, other.variants().back());
      EXPECT_TRUE(sameBits(first, one.run(arrays, variant))) << name << " " << text(variant);
    }
    EXPECT_NE(twin->kernel(), one.kernel());
    EXPECT_STREQ(twin->kernel()->spec_hash, one.kernel()->spec_hash);
  }
}

size_t executableMappings() {
  auto maps = llvm::MemoryBuffer::getFileAsStream("/proc/self/maps");
  return maps ? (*maps)->getBuffer().count("r-xp") : 0;
}

TEST(State, ANewLengthCompilesNothing) {
  const Kernel &kernel = compiled("retnet", {{"dk", 1}, {"dv", 1}});
  size_t before = executableMappings();
  ASSERT_GT(before, 0u);
  for (int64_t steps = 1000; steps < 1100; ++steps) {
    BoundArrays arrays = kernel.arrays(list(filled("q", {1, steps, 1, 1}, {1}), filled("k", {1, steps, 1, 1}, {1}),
                                            filled("v", {1, steps, 1, 1}, {1}), filled("gamma", {1}, {0.5})));
    for (const FormRequest &variant : kernel.variants()) {
      std::vector<double> out = toDoubles(kernel.run(arrays, variant).out);
      EXPECT_NEAR(out.front(), 1, 1e-6);
      EXPECT_NEAR(out.back(), 2, 1e-6) << text(variant) << " T=" << steps;
    }
  }
  EXPECT_EQ(executableMappings(), before); // all code was there before the first run
}

TEST(State, BitsDoNotDependOnThreads) {
  Dimensions sizes = {{"dk", 4}, {"dv", 3}};
  for (const char *name : {"elu", "gla", "softmax", "gated_delta", "retnet"}) {
    const Kernel &kernel = compiled(name, sizes);
    RandomRequest request;
    request.batch = 3, request.steps = 37, request.heads = 5, request.initial = kernel.op().splits();
    BoundArrays arrays = kernel.random(request);
    for (const FormRequest &variant : kernel.variants()) {
      RunResult one = kernel.run(arrays, variant, 1);
      for (int threads : {2, 3, 7})
        EXPECT_TRUE(sameBits(one, kernel.run(arrays, variant, threads))) << name << " " << text(variant) << threads;
    }
  }
}

// Memory of any alignment, read and written in place or not, wide rows in blocks and columns that fill no vector.
TEST(State, LiesWhereItIs) {
  for (const char *name : {"retnet", "gla", "delta", "second_order"}) {
    Dimensions sizes{{"dk", 9}, {"dv", 150}};
    std::vector<FormRequest> forms{form("recurrent")};
    if (name != std::string("second_order")) forms.push_back(form("chunkwise", 4));
    const Kernel &kernel = compiled(name, sizes, LINTEL_F32, forms);
    for (int64_t steps : {1, 3, 9}) {
      RandomRequest request;
      request.steps = steps, request.heads = 2, request.initial = true, request.seed = 11;
      BoundArrays arrays = kernel.random(request);
      for (const FormRequest &variant : kernel.variants()) {
        expectReference(kernel, arrays, variant);
        RunResult want = kernel.run(arrays, variant);
        for (int shift : {0, 1, 5})
          for (bool inPlace : {true, false}) {
            std::vector<lintel_array> inputs, in, out;
            for (NpyArray &x : arrays.inputs)
              inputs.push_back(
                  lintel_array_contiguous(x.data(), x.dtype, static_cast<int32_t>(x.shape.size()), x.shape.data()));
            std::vector<std::vector<float>> memory;
            for (const auto &x : arrays.initial) {
              int64_t n = x->elements();
              auto *given = const_cast<float *>(x->dataAs<float>());
              memory.emplace_back(static_cast<size_t>(n) + 32, NAN);
              // From a multiple of 64 bytes on.
              float *place = memory.back().data();
              while (reinterpret_cast<uintptr_t>(place) % 64) ++place;
              place += shift;
              if (inPlace) std::copy_n(given, n, place);
              auto view = [&](float *data) {
                return lintel_array_contiguous(data, LINTEL_F32, static_cast<int32_t>(x->shape.size()),
                                               x->shape.data());
              };
              in.push_back(view(inPlace ? place : given));
              out.push_back(view(place));
            }
            NpyArray got = llvm::cantFail(NpyArray::create(want.out.dtype, want.out.shape));
            lintel_array o = lintel_array_contiguous(got.data(), got.dtype, static_cast<int32_t>(got.shape.size()),
                                                     got.shape.data());
            lintel_call call{};
            call.kernel = kernel.kernel(), call.inputs = inputs.data(), call.out = &o;
            call.states_in = in.data(), call.states_out = out.data();
            call.form = variant.form.c_str(), call.chunk = variant.chunk;
            lintel_error error;
            ASSERT_EQ(lintel_run(&call, &error), LINTEL_OK) << error.message;
            auto where = [&] {
              return std::string(name) + " " + text(variant) + ", " + std::to_string(steps) + " steps, shift " +
                     std::to_string(shift) + (inPlace ? ", in place" : "");
            };
            EXPECT_TRUE(sameBits(got, want.out)) << where();
            for (size_t s = 0; s < out.size(); ++s) {
              const auto *place = static_cast<const float *>(out[s].data);
              EXPECT_EQ(std::memcmp(place, want.states[s].data(), want.states[s].bytes()), 0) << where();
              const float *end = memory[s].data() + memory[s].size();
              for (const float *x = memory[s].data(); x < end; ++x)
                if (x < place || x >= place + want.states[s].elements()) ASSERT_TRUE(std::isnan(*x)) << where();
            }
          }
      }
    }
  }
}

} // namespace

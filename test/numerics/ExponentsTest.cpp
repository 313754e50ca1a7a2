// States outside of any float, handed over beside their exponents: a split sequence continues as a whole one does.
#include "compiler/driver/Exponents.h"
#include "Kernels.h"
#include "lintel/state.h"
#include <cstring>

using namespace lintel;
using namespace lintel::test;
using llvm::cantFail;

namespace {

constexpr int64_t B = 2, T = 21, H = 2;

/// Normal numbers times `scale`, the steps from `t` to `end` moved by `by`.
NamedArray moved(NamedArray array, int64_t t, int64_t end, float by) {
  float *x = array.array.dataAs<float>();
  const int64_t row = array.array.elements() / (B * T);
  for (int64_t b = 0; b < B; ++b)
    for (int64_t i = t * row; i < end * row; ++i) x[b * T * row + i] += by;
  return array;
}

struct Case {
  std::string name;
  const Kernel *kernel;
  BoundArrays arrays;
};

/// Operators whose states pass the range of f32 on both sides, from step to step.
std::vector<Case> cases() {
  std::vector<Case> result;
  const Kernel &rwkv4 = compiled("rwkv4", {});
  for (float far : {1e4F, -1e4F, 100.0F}) {
    auto k = moved(moved(normal("k", {B, T, H}, 30, 1), 3, 9, far), 9, 13, -far);
    result.push_back({"rwkv4 k " + std::to_string(far), &rwkv4,
                      rwkv4.arrays(list(std::move(k), normal("v", {B, T, H}, 1, 2), filled("w", {H}, {0.5, 3}),
                                        filled("u", {H}, {0.25, -2})))});
  }
  // An exponent for each channel, which are far apart and change places.
  const Kernel &channels = compiled("rwkv4_channels", {{"d", 5}});
  for (float far : {1e4F, 100.0F}) {
    NamedArray k = normal("k", {B, T, H, 5}, 30, 12);
    for (int64_t i = 0; i < k.array.elements(); ++i)
      k.array.dataAs<float>()[i] += far * static_cast<float>((i % 5 - 2) * (i / (5 * H) % T < 9 ? 1 : -1));
    result.push_back({"rwkv4_channels k " + std::to_string(far), &channels,
                      channels.arrays(list(std::move(k), normal("v", {B, T, H, 5}, 1, 13),
                                           filled("w", {H, 5}, {0.5, 3, 0, 1}), filled("u", {H, 5}, {0.25, -2, 1})))});
  }
  const Kernel &mlstm = compiled("mlstm", {{"dk", 3}, {"dv", 2}});
  for (float gate : {200.0F, -200.0F}) {
    auto i = moved(normal("i", {B, T, H}, 5, 3), gate > 0 ? 2 : 0, 12, gate);
    result.push_back({"mlstm i " + std::to_string(gate), &mlstm,
                      mlstm.arrays(list(normal("q", {B, T, H, 3}, 1, 4), normal("k", {B, T, H, 3}, 1, 5),
                                        normal("v", {B, T, H, 2}, 1, 6), std::move(i), normal("f", {B, T, H}, 3, 7)))});
  }
  const Kernel &favor = compiled("favor", {{"dk", 4}, {"dv", 3}, {"m", 8}});
  result.push_back({"favor", &favor,
                    favor.arrays(list(normal("q", {B, T, H, 4}, 30, 8), normal("k", {B, T, H, 4}, 30, 9),
                                      normal("v", {B, T, H, 3}, 1, 10), normal("omega", {8, 4}, 1, 11)))});
  return result;
}

BoundArrays piece(const Case &one, int64_t begin, int64_t end, RunResult *before) {
  BoundArrays result = cantFail(cutArrays(one.kernel->op(), one.arrays, begin, end,
                                          before ? std::move(before->states) : std::vector<NpyArray>()));
  if (before) result.exponents = std::move(before->exponents);
  return result;
}

/// The outputs of steps [begin, end) of all sequences.
NpyArray rows(const Case &one, const NpyArray &out, int64_t begin, int64_t end) {
  llvm::SmallVector<int64_t, 5> shape = out.shape;
  shape[1] = end - begin;
  NpyArray result = cantFail(NpyArray::create(out.dtype, shape));
  const size_t row = out.bytes() / (B * T);
  for (int64_t b = 0; b < B; ++b)
    std::memcpy(result.dataAs<char>() + b * (end - begin) * row, out.dataAs<char>() + (b * T + begin) * row,
                (end - begin) * row);
  return result;
}

/// An exponent of size x is rounded by eps x / 2, and so is the logarithm of its weight.
double tolerance(const Case &one) { return one.name == "favor" ? 4 * 0x1p-24 * (16 + 4 * 30 * 30) : 2e-5; }

/// Whether some state could not be handed over as it is.
bool isBeyond(const RunResult &result, lintel_dtype dtype) {
  for (unsigned s = 0; s < result.states.size(); ++s)
    if (result.exponents[s] && cantFail(stateForFile(result.states[s], &*result.exponents[s], dtype)).exponents)
      return true;
  return false;
}

TEST(Exponents, EverySplitIsOneRun) {
  for (const Case &one : cases()) {
    bool beyond = false;
    for (const FormRequest &variant : one.kernel->variants()) {
      const int64_t chunk = std::max<int64_t>(variant.chunk, 1);
      RunResult whole = one.kernel->run(one.arrays, variant, 1, true);
      for (int64_t at = 0; at <= T; ++at) {
        RunResult first = one.kernel->run(piece(one, 0, at, nullptr), variant, 1, true);
        beyond |= isBeyond(first, LINTEL_F32);
        NpyArray out = at ? std::move(first.out) : NpyArray();
        RunResult rest = one.kernel->run(piece(one, at, T, &first), variant, 1, true);
        std::string name = one.name + ", " + text(variant) + " split at " + std::to_string(at);
        if (at) EXPECT_TRUE(near(out, toDoubles(rows(one, whole.out, 0, at)), tolerance(one))) << name;
        EXPECT_TRUE(near(rest.out, toDoubles(rows(one, whole.out, at, T)), tolerance(one))) << name;
        if (variant.form == "parallel" || at % chunk) continue;
        if (at) EXPECT_TRUE(sameBits(out, rows(one, whole.out, 0, at))) << name;
        rest.out = at < T ? std::move(rest.out) : NpyArray();
        if (at < T) EXPECT_TRUE(sameBits(rest.out, rows(one, whole.out, at, T))) << name;
        for (unsigned s = 0; s < whole.states.size(); ++s) {
          EXPECT_TRUE(sameBits(rest.states[s], whole.states[s])) << name;
          EXPECT_EQ(rest.exponents[s].has_value(), whole.exponents[s].has_value());
          if (whole.exponents[s]) EXPECT_TRUE(sameBits(*rest.exponents[s], *whole.exponents[s])) << name;
        }
      }
    }
    EXPECT_TRUE(beyond) << one.name << ": no state passed the range of f32, so that nothing was tested";
  }
}

TEST(Exponents, PrefillThenDecodeIsOneRun) {
  for (const Case &one : cases())
    for (const FormRequest &variant : one.kernel->variants()) {
      const int64_t prompt = 16;
      RunResult whole = one.kernel->run(one.arrays, variant, 1, true);
      RunResult steps = one.kernel->run(one.arrays, form("recurrent"), 1, true);
      RunResult state = one.kernel->run(piece(one, 0, prompt, nullptr), variant, 1, true);
      for (int64_t t = prompt; t < T; ++t) {
        state = one.kernel->run(piece(one, t, t + 1, &state), form("recurrent"), 1, true);
        EXPECT_TRUE(near(state.out, toDoubles(rows(one, whole.out, t, t + 1)), tolerance(one)))
            << one.name << ", " << text(variant) << " step " << t;
        if (variant.form == "recurrent") EXPECT_TRUE(sameBits(state.out, rows(one, steps.out, t, t + 1))) << one.name;
      }
    }
}

TEST(Exponents, WithoutThemStatesAreTheProduct) {
  // Who takes no exponents has what there always was, from the same run.
  for (const Case &one : cases())
    for (const FormRequest &variant : one.kernel->variants()) {
      RunResult held = one.kernel->run(one.arrays, variant, 1, true), plain = one.kernel->run(one.arrays, variant);
      EXPECT_TRUE(sameBits(held.out, plain.out));
      std::vector<std::vector<double>> products;
      for (unsigned s = 0; s < held.states.size(); ++s) {
        std::vector<double> x = toDoubles(held.states[s]), product;
        const int64_t each =
            static_cast<int64_t>(x.size()) / (held.exponents[s] ? held.exponents[s]->elements() : B * H);
        for (size_t i = 0; i < x.size(); ++i) {
          double p = held.exponents[s] ? held.exponents[s]->dataAs<double>()[i / each] : 0;
          product.push_back(static_cast<float>(std::ldexp(x[i], static_cast<int>(std::clamp(p, -9999.0, 9999.0)))));
        }
        EXPECT_TRUE(near(plain.states[s], product, 1e-6)) << one.name << ", " << text(variant);
        products.push_back(std::move(product));
      }
      // A run of no steps does the same with what it was given.
      RunResult none = one.kernel->run(piece(one, T, T, &held), variant);
      for (unsigned s = 0; s < products.size(); ++s)
        EXPECT_TRUE(near(none.states[s], products[s], 1e-6)) << one.name << ", " << text(variant);
    }
}

TEST(Exponents, PackedSequencesAndPools) {
  // Lengths 0 and 1 among them; each sequence's states and exponents in a slot of its own, stepped in place. Both
  // sequences are the first of the batch.
  for (const Case &one : cases()) {
    const Kernel &kernel = *one.kernel;
    const lintel_kernel *k = kernel.kernel();
    ASSERT_GT(k->num_exponents, 0u);
    std::vector<int64_t> of(1); // where each exponent's slots begin, and the end
    for (uint32_t e = 0; e < k->num_exponents; ++e)
      of.push_back(of.back() + 4 * H * (k->exponents[e].rank ? k->exponents[e].dim[0] : 1));
    std::vector<double> exponents(of.back(), LINTEL_EXPONENT_NONE);
    std::vector<std::vector<float>> states;
    for (uint32_t s = 0; s < k->num_states; ++s)
      states.emplace_back(4 * H * (k->states[s].rank > 0 ? k->states[s].dim[0] : 1) *
                              (k->states[s].rank > 1 ? k->states[s].dim[1] : 1),
                          0.0F);
    const FormRequest &variant = kernel.variants().back();
    RunResult whole = kernel.run(one.arrays, form("recurrent"), 1, true);
    std::vector<float> out(whole.out.elements()); // more than any of the calls has
    int64_t at[2] = {0, 0};                       // both go on where they stood
    for (std::vector<int64_t> lengths : {std::vector<int64_t>{0, 4}, {1, 0}, {7, 4}, {13, 13}}) {
      const int64_t steps = lengths[0] + lengths[1];
      std::vector<lintel_array> inputs;
      std::vector<NpyArray> memory;
      for (auto [info, input] : llvm::zip_equal(kernel.op().inputs, one.arrays.inputs)) {
        llvm::SmallVector<int64_t, 5> shape = input.shape;
        if (info.kind == InputKind::Token) shape[0] = 1, shape[1] = steps;
        memory.push_back(cantFail(NpyArray::create(input.dtype, shape)));
        const size_t row = info.kind == InputKind::Token ? input.bytes() / (B * T) : 0;
        if (info.kind != InputKind::Token) std::memcpy(memory.back().data(), input.data(), input.bytes());
        for (int64_t i = 0, to = 0; i < 2; to += lengths[i], ++i)
          std::memcpy(memory.back().dataAs<char>() + to * row, input.dataAs<char>() + at[i] * row, lengths[i] * row);
        inputs.push_back(lintel_array_contiguous(memory.back().data(), input.dtype, static_cast<int32_t>(shape.size()),
                                                 shape.data()));
      }
      llvm::SmallVector<int64_t, 5> shape = whole.out.shape;
      shape[0] = 1, shape[1] = steps;
      lintel_array to =
          lintel_array_contiguous(out.data(), LINTEL_F32, static_cast<int32_t>(shape.size()), shape.data());
      const int slot[2] = {3, 1};
      std::vector<lintel_array> stateViews, exponentViews;
      std::vector<std::vector<void *>> addresses;
      for (uint32_t s = 0; s < k->num_states; ++s) {
        int64_t sizes[4] = {2, H, k->states[s].dim[0], k->states[s].dim[1]};
        stateViews.push_back(lintel_array_contiguous(nullptr, LINTEL_F32, 2 + k->states[s].rank, sizes));
        const size_t each = states[s].size() / 4;
        addresses.push_back({states[s].data() + slot[0] * each, states[s].data() + slot[1] * each});
      }
      for (uint32_t e = 0; e < k->num_exponents; ++e) {
        const int64_t sizes[3] = {2, H, k->exponents[e].dim[0]}, each = (of[e + 1] - of[e]) / 4;
        exponentViews.push_back(lintel_array_contiguous(nullptr, LINTEL_F64, 2 + k->exponents[e].rank, sizes));
        addresses.push_back({&exponents[of[e] + slot[0] * each], &exponents[of[e] + slot[1] * each]});
      }
      std::vector<void *const *> lists;
      for (auto &list : addresses) lists.push_back(list.data());
      lintel_call call{};
      call.kernel = k, call.inputs = inputs.data(), call.out = &to;
      call.form = variant.form.c_str(), call.chunk = variant.chunk;
      call.lengths = lengths.data(), call.num_lengths = 2, call.positions = at;
      call.states_in = call.states_out = stateViews.data();
      call.states_in_at = call.states_out_at = lists.data();
      call.exponents_in = call.exponents_out = exponentViews.data();
      call.exponents_in_at = call.exponents_out_at = lists.data() + k->num_states;
      lintel_error error;
      ASSERT_EQ(lintel_run(&call, &error), LINTEL_OK) << error.message;
      for (int64_t i = 0, from = 0; i < 2; from += lengths[i], ++i) {
        const size_t row = static_cast<size_t>(whole.out.elements() / (B * T));
        std::vector<double> got, want;
        for (size_t n = 0; n < lengths[i] * row; ++n) {
          got.push_back(out[from * row + n]);
          want.push_back(whole.out.dataAs<float>()[at[i] * row + n]);
        }
        EXPECT_TRUE(near(got, want, tolerance(one))) << one.name << " sequence " << i << " from " << at[i];
      }
      at[0] += lengths[0], at[1] += lengths[1];
    }
    // Slots of nobody are as they were.
    for (double p : llvm::ArrayRef(exponents).slice(0, of[1] / 4)) EXPECT_EQ(p, LINTEL_EXPONENT_NONE);
  }
}

TEST(Exponents, AStateKeepsThem) {
  for (const Case &one : cases()) {
    const lintel_kernel *k = one.kernel->kernel();
    RunResult whole = one.kernel->run(one.arrays, form("recurrent"), 1, true);
    lintel_error error;
    lintel_state *state = lintel_state_create_with_exponents(k, B, H, nullptr, &error);
    ASSERT_NE(state, nullptr) << error.message;
    ASSERT_NE(state->exponents, nullptr);
    for (bool again : {false, true}) {
      if (again) lintel_state_clear(state);
      for (int64_t t = 0, next; t < T; t = next) {
        next = t ? t + 1 : 16;
        BoundArrays arrays = piece(one, t, next, nullptr);
        std::vector<lintel_array> inputs;
        for (NpyArray &input : arrays.inputs)
          inputs.push_back(lintel_array_contiguous(input.data(), input.dtype, static_cast<int32_t>(input.shape.size()),
                                                   input.shape.data()));
        NpyArray want = rows(one, whole.out, t, next), got = cantFail(NpyArray::create(want.dtype, want.shape));
        lintel_array out =
            lintel_array_contiguous(got.data(), got.dtype, static_cast<int32_t>(got.shape.size()), got.shape.data());
        ASSERT_EQ(t ? lintel_step(state, inputs.data(), &out, &error)
                    : lintel_advance(state, inputs.data(), &out, &error),
                  LINTEL_OK)
            << error.message;
        EXPECT_TRUE(near(got, toDoubles(want), tolerance(one))) << one.name << " step " << t;
      }
    }
    for (unsigned s = 0; s < k->num_states; ++s) {
      const int32_t e = k->states[s].exponent - 1;
      if (e < 0) continue;
      for (int64_t i = 0; i < whole.exponents[s]->elements(); ++i)
        EXPECT_EQ(static_cast<double *>(state->exponents[e].data)[i], whole.exponents[s]->dataAs<double>()[i]);
    }
    lintel_state_destroy(state);
  }
}

// A state that is a number although its power of two is none: 2^135 times 1e-3, 2^-158 times 1e38.
TEST(Exponents, AProductIsANumberWhereItsPowerIsNone) {
  const Kernel &kernel = compiled("mlstm", {{"dk", 1}, {"dv", 1}}, LINTEL_F32, {form("recurrent")});
  for (auto [gate, key] : {std::pair{93.575, 0.002}, {130.0, 1e-20}, {150.0, 1e-30}, {-110.0, 1e38}, {-104.0, 1e10}}) {
    const int64_t shape[] = {1, 1, 1, 1}, number[] = {1, 1, 1};
    BoundArrays arrays = kernel.arrays(list(filled("q", shape, {1}), filled("k", shape, {key}), filled("v", shape, {1}),
                                            filled("i", number, {gate}), filled("f", number, {1})));
    RunResult result = kernel.run(arrays, form("recurrent"));
    const double want = std::exp(double(float(gate))) * double(float(key));
    for (const NpyArray &state : result.states) EXPECT_NEAR(*state.dataAs<float>() / want, 1, 1e-5) << gate;
  }
}

// A state that shrinks leaves its exponent behind: terms that come after it, e^-200 times as large as what was there,
// count once the state has decayed below them, whatever the decay is written as, and at once after a reset.
struct Shrinking {
  const char *name, *decay;
  double rate; // the decay a step, as a logarithm
};

TEST(Exponents, FollowTheirStatesDown) {
  constexpr int64_t steps = 500;
  for (const char *shape : {"", "[d]"})
    for (auto [name, decay, rate] : {Shrinking{"exponential", "exp(-w)", -0.5},
                                     {"constant", "0.5", std::log(0.5)},
                                     {"sigmoid", "sigmoid(w)", 0}}) {
      std::string state = shape, text = std::string("attention shrinking_") + name + (*shape ? "_each" : "") + " {\n";
      text += " token k" + state + ", v" + state + "\n head w\n state num" + state + ", den" + state + "\n";
      text += " num = " + std::string(decay) + " * num + exp(k) * v\n den = " + decay + " * den + exp(k)\n";
      text += " out = num / den\n}";
      Dimensions dimensions;
      if (*shape) dimensions = {{"d", 1}};
      const Kernel &kernel = compiledText("shrinking_" + std::string(name) + (*shape ? "_each" : ""), text, dimensions);
      std::vector<double> k(steps, -100), v(steps, 2), want;
      k[0] = 100, v[0] = 1;
      double each = rate ? rate : -std::log1p(std::exp(-0.5)), old = 0, sum = 0; // of the first term; of the others
      for (int64_t t = 0; t < steps; ++t) {
        if (t) sum = sum * std::exp(each) + 1, old = 200 + each * double(t);
        double first = t ? std::exp(std::min(old, 700.0)) : 1;
        want.push_back((first + 2 * sum) / (first + sum));
      }
      std::vector<int64_t> sizes{1, steps, 1};
      if (*shape) sizes.push_back(1);
      BoundArrays arrays = kernel.arrays(list(filled("k", sizes, k), filled("v", sizes, v), filled("w", {1}, {0.5})));
      EXPECT_GT(want.back(), 1.99);
      EXPECT_TRUE(near(kernel.interpret(arrays).out, want, 1e-9)) << text;
      for (const FormRequest &variant : kernel.variants())
        EXPECT_TRUE(near(kernel.run(arrays, variant).out, want, 1e-4)) << text << test::text(variant);
    }
}

// A step of a matrix has no memory for a second one: its exponent follows the vector beside it.
TEST(Exponents, OfMatricesFollowThemDown) {
  constexpr int64_t steps = 500, d = 3;
  const std::string name = "shrinking_matrix";
  for (const char *decay : {"0.5", "sigmoid(w)", "exp(-w)"}) {
    std::string text = "attention " + name +
                       " {\n token q[d], k[d], v[n]\n head w\n state S[d, n], z[d]\n S = " + decay +
                       " * S + outer(exp(k), v)\n z = " + decay + " * z + exp(k)\n out = q @ S / (q . z)\n}";
    const Kernel &kernel = compiledText(name + decay, text, {{"d", d}, {"n", 1}});
    const double f = *decay == '0' ? 0.5 : *decay == 's' ? 1 / (1 + std::exp(-0.5)) : std::exp(-0.5);
    std::vector<double> k(steps * d, -100), v(steps, 2), want;
    for (int64_t c = 0; c < d; ++c) k[c] = 100;
    v[0] = 1;
    double sum = 0;
    for (int64_t t = 0; t < steps; ++t) {
      if (t) sum = sum * f + 1;
      double first = t ? std::exp(std::min(200 + std::log(f) * double(t), 700.0)) : 1;
      want.push_back((first + 2 * sum) / (first + sum));
    }
    BoundArrays arrays =
        kernel.arrays(list(filled("q", {1, steps, 1, d}, {1, 2, 0.5}), filled("k", {1, steps, 1, d}, k),
                           filled("v", {1, steps, 1, 1}, v), filled("w", {1}, {0.5})));
    EXPECT_GT(want.back(), 1.99);
    for (const FormRequest &variant : kernel.variants())
      EXPECT_TRUE(near(kernel.run(arrays, variant).out, want, 1e-4)) << text << test::text(variant);
  }
}

// A factor that is nearly zero counts in its own step, also where it is zero to the type and the state is not.
TEST(Exponents, FollowFactorsThatVanish) {
  const std::string text =
      "attention vanishing {\n token k, v, c\n state num, den\n num = sigmoid(c) * num + exp(k) * v\n"
      " den = sigmoid(c) * den + exp(k)\n out = num / den\n}";
  const Kernel &kernel = compiledText("vanishing", text, {});
  // e^1000 e^-2000 beside e^-1000, then beside e^-1000 / 2.
  BoundArrays arrays = kernel.arrays(list(filled("k", {1, 3, 1}, {1000, -1000, -1000}),
                                          filled("v", {1, 3, 1}, {1, 2, 4}), filled("c", {1, 3, 1}, {0, -2000, 0})));
  for (const FormRequest &variant : kernel.variants())
    EXPECT_TRUE(near(kernel.run(arrays, variant).out, {1, 1.5, (1.5 + 4) / 2}, 1e-4)) << test::text(variant);
}

TEST(Exponents, PowersOfOneExponentialShareIt) {
  struct Powers {
    const char *name, *a, *b;
  };
  for (Powers p : {Powers{"square", "exp(k)^2", "exp(2 * k)"},
                   {"product", "exp(k) * exp(k)", "exp(k * 2)"},
                   {"cube", "exp(-k)^3", "exp(-3 * k)"},
                   {"sixth", "exp(2 * k)^3", "exp(3 * k)^2"}}) {
    const Kernel &scalar =
        compiledText(std::string(p.name),
                     std::string("attention ") + p.name + " {\n token k, v\n state num, den\n num = num + " + p.a +
                         " * v\n den = den + " + p.b + "\n out = num / den\n}",
                     {});
    BoundArrays few =
        scalar.arrays(list(filled("k", {1, 4, 1}, {900, 900, -900, -900}), filled("v", {1, 4, 1}, {1, 2, 4, 8})));
    std::vector<double> want = {1, 1.5, 1.5, 1.5};
    if (p.a[4] == '-') want = {1, 1.5, 4, 6};
    for (const FormRequest &variant : scalar.variants())
      EXPECT_TRUE(near(scalar.run(few, variant).out, want, 1e-3)) << p.name << " " << test::text(variant);
    const Kernel &matrix = compiledText(std::string(p.name) + "_matrix",
                                        std::string("attention ") + p.name +
                                            " {\n token q[d], k[d], v[n]\n state S[d, n], z[d]\n S = S + outer(" + p.a +
                                            ", v)\n z = z + " + p.b + "\n out = q @ S / (q . z)\n}",
                                        {{"d", 3}, {"n", 2}});
    BoundArrays some = matrix.arrays(list(filled("q", {1, 4, 1, 3}, {1, 2, 3}),
                                          filled("k", {1, 4, 1, 3}, {900, 900, 900, 900, 900, 900, -900}),
                                          filled("v", {1, 4, 1, 2}, {1, -1, 2, -2, 4, -4, 8, -8})));
    for (const FormRequest &variant : matrix.variants()) {
      std::vector<double> out = toDoubles(matrix.run(some, variant).out);
      for (double x : out) EXPECT_TRUE(std::isfinite(x)) << p.name << " " << test::text(variant);
      EXPECT_NEAR(out[0], 1, 1e-3) << p.name << " " << test::text(variant);
      EXPECT_NEAR(out[2], 1.5, 1e-3) << p.name << " " << test::text(variant);
    }
  }
}

TEST(Exponents, AreGoneAfterAReset) {
  for (const char *decay : {"where(c > 0, 0, NUM)", "where(c < 0, NUM, 0)", "where(c > 0, 0, exp(-0.5) * NUM)",
                            "where(c > 0, 0, 1) * NUM", "sigmoid(-3000 * c) * NUM", "relu(-c) * NUM"}) {
    auto of = [&](const std::string &state) {
      std::string one = decay;
      return one.replace(one.find("NUM"), 3, state);
    };
    std::string text = "attention cleared {\n token k, v, c\n state num, den\n num = " + of("num") +
                       " + exp(k) * v\n den = " + of("den") + " + exp(k)\n out = num / den\n}";
    const Kernel &kernel = compiledText("cleared" + std::string(decay), text, {});
    BoundArrays arrays =
        kernel.arrays(list(filled("k", {1, 4, 1}, {1, -1000, -1000, 5000}), filled("v", {1, 4, 1}, {1, 2, 4, 8}),
                           filled("c", {1, 4, 1}, {-1, 1, -1, -1})));
    double d = std::string(decay).find("0.5") != std::string::npos ? std::exp(-0.5) : 1; // a decay beside the reset
    for (const FormRequest &variant : kernel.variants())
      EXPECT_TRUE(near(kernel.run(arrays, variant).out, {1, 2, (2 * d + 4) / (d + 1), 8}, 1e-5))
          << text << test::text(variant);
  }
}

} // namespace

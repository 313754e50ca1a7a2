// Sequences of different lengths in one call, batches that go on, and states that lie where the caller wants them: all
// to the bit what each sequence alone gives.
#include "Kernels.h"
#include <cstring>

using namespace lintel;
using namespace lintel::test;

namespace {

size_t elementSize(const NpyArray &array) { return lintel_dtype_bytes(array.dtype); }

/// Entries [begin, begin + count) along an axis whose outer axes are all 1.
NpyArray entries(const NpyArray &array, size_t axis, int64_t begin, int64_t count) {
  llvm::SmallVector<int64_t, 5> shape(array.shape.begin(), array.shape.end());
  size_t row = elementSize(array);
  for (size_t i = axis + 1; i < shape.size(); ++i) row *= shape[i];
  shape[axis] = count;
  NpyArray result = llvm::cantFail(NpyArray::create(array.dtype, shape));
  std::memcpy(result.data(), static_cast<const char *>(array.data()) + begin * row, count * row);
  return result;
}

/// Steps [begin, begin + count) of a batch of one as a run of their own, starting from one entry of these states.
BoundArrays alone(const Kernel &kernel, const BoundArrays &pack, int64_t sequence, int64_t begin, int64_t count) {
  std::vector<NpyArray> states;
  for (const auto &state : pack.initial)
    if (state) states.push_back(entries(*state, 0, sequence, 1));
  BoundArrays result = llvm::cantFail(cutArrays(kernel.op(), pack, begin, begin + count, std::move(states)));
  result.position = pack.position;
  return result;
}

std::vector<NpyArray> copies(const std::vector<NpyArray> &arrays) {
  std::vector<NpyArray> result;
  for (const NpyArray &array : arrays) result.push_back(entries(array, 0, 0, array.shape[0]));
  return result;
}

struct Named {
  const char *name;
  Dimensions dimensions;
};

const std::vector<Named> &operators() {
  static const Dimensions sizes = {{"dk", 4}, {"dv", 3}};
  static const std::vector<Named> all = {{"elu", sizes},       {"gla", sizes},
                                         {"rwkv6", sizes},     {"gated_delta", sizes},
                                         {"softmax", sizes},   {"rwkv4", {}},
                                         {"cosformer", sizes}, {"mlstm", sizes},
                                         {"retnet", sizes},    {"favor", {{"dk", 4}, {"dv", 3}, {"m", 2}}}};
  return all;
}

TEST(Sequences, APackIsEachAlone) {
  const std::vector<int64_t> lengths = {0, 1, 7, 0, 16, 33, 1, 20, 0};
  for (const Named &op : operators()) {
    const Kernel &kernel = compiled(op.name, op.dimensions);
    for (bool initial : {false, true}) {
      if (initial && !kernel.op().splits()) continue;
      RandomRequest request;
      request.steps = 78, request.heads = 2, request.initial = initial, request.lengths = lengths;
      BoundArrays pack = kernel.random(request);
      pack.position = 3; // of every sequence's first step
      for (const FormRequest &variant : kernel.variants())
        for (int threads : {1, 3}) {
          RunResult all = kernel.run(pack, variant, threads);
          int64_t begin = 0;
          for (auto [sequence, length] : llvm::enumerate(lengths)) {
            RunResult one = kernel.run(alone(kernel, pack, sequence, begin, length), variant);
            RunResult part{entries(all.out, 1, begin, length), {}, {}, {}};
            for (const NpyArray &state : all.states) part.states.push_back(entries(state, 0, sequence, 1));
            EXPECT_TRUE(sameBits(part, one)) << op.name << " " << text(variant) << ", sequence " << sequence << " of "
                                             << length << " steps, " << threads << " threads, initial " << initial;
            begin += length;
          }
        }
    }
  }
}

TEST(Sequences, ABatchGoesOnFromItsStates) {
  // As packs whose sequences stand at different places: whole chunks first, then the rest from what was saved.
  const std::vector<int64_t> first = {16, 0, 32, 16}, rest = {5, 17, 0, 1};
  std::vector<int64_t> whole;
  for (size_t i = 0; i < first.size(); ++i) whole.push_back(first[i] + rest[i]);
  for (const char *name : {"elu", "gla", "rwkv6", "gated_delta"}) {
    const Kernel &kernel = compiled(name, {{"dk", 4}, {"dv", 3}});
    RandomRequest request;
    request.steps = 87, request.heads = 2, request.initial = true, request.lengths = whole;
    BoundArrays all = kernel.random(request);
    // The steps of each sequence, gathered into two packs.
    auto gather = [&](bool later, std::vector<NpyArray> states) {
      BoundArrays pack = llvm::cantFail(cutArrays(kernel.op(), all, 0, later ? 23 : 64, std::move(states)));
      pack.lengths = later ? rest : first;
      for (auto [info, from, to] : llvm::zip_equal(kernel.op().inputs, all.inputs, pack.inputs)) {
        if (info.kind != InputKind::Token) continue;
        size_t row = from.bytes() / 87;
        char *at = to.dataAs<char>();
        int64_t begin = 0;
        for (size_t i = 0; i < whole.size(); begin += whole[i++]) {
          const char *source = from.dataAs<char>() + (begin + (later ? first[i] : 0)) * row;
          at = std::copy_n(source, (later ? rest : first)[i] * row, at);
        }
      }
      return pack;
    };
    for (const FormRequest &variant : kernel.variants()) {
      if (variant.form == "parallel") continue; // whose rounding depends on where a sequence is split
      RunResult want = kernel.run(all, variant, 2);
      RunResult one = kernel.run(gather(false, {}), variant, 2);
      RunResult two = kernel.run(gather(true, copies(one.states)), variant, 2);
      for (auto [got, state] : llvm::zip_equal(two.states, want.states))
        EXPECT_TRUE(sameBits(got, state)) << name << " " << text(variant);
      int64_t begin = 0, inOne = 0, inTwo = 0;
      for (size_t i = 0; i < whole.size(); ++i) {
        EXPECT_TRUE(sameBits(entries(want.out, 1, begin, first[i]), entries(one.out, 1, inOne, first[i])));
        EXPECT_TRUE(sameBits(entries(want.out, 1, begin + first[i], rest[i]), entries(two.out, 1, inTwo, rest[i])))
            << name << " " << text(variant) << ", sequence " << i;
        begin += whole[i], inOne += first[i], inTwo += rest[i];
      }
    }
  }
}

TEST(Sequences, OneTokenForStatesInAPool) {
  constexpr int64_t B = 5, H = 3, steps = 4;
  for (const char *name : {"elu", "gla", "rwkv6", "gated_delta"}) {
    const Kernel &kernel = compiled(name, {{"dk", 4}, {"dv", 3}});
    const lintel_kernel *k = kernel.kernel();
    RandomRequest request;
    request.batch = B, request.steps = steps, request.heads = H, request.initial = true;
    BoundArrays all = kernel.random(request);
    int64_t perHead = 0;
    std::vector<int64_t> offset; // of a state among those of one head
    for (uint32_t s = 0; s < k->num_states; ++s) {
      offset.push_back(perHead);
      perHead += k->states[s].dim[0] * (k->states[s].rank > 1 ? k->states[s].dim[1] : 1);
    }
    // A slot for each sequence; in it a record for each head, or the states one after another with their heads inside.
    for (bool records : {true, false})
      for (int threads : {1, 3}) {
        const int64_t slots[B] = {6, 0, 3, 7, 1};
        std::vector<float> pool(8 * H * perHead, NAN);
        std::vector<lintel_array> states;
        std::vector<std::vector<void *>> at(k->num_states);
        std::vector<void *const *> lists;
        for (uint32_t s = 0; s < k->num_states; ++s) {
          const NpyArray &state = *all.initial[s];
          int64_t size = state.elements() / (B * H);
          lintel_array view = lintel_array_contiguous(nullptr, state.dtype, static_cast<int32_t>(state.shape.size()),
                                                      state.shape.data());
          if (records) view.stride[1] = perHead;
          view.stride[0] = 12345; // means nothing
          for (int64_t b = 0; b < B; ++b) {
            float *place = pool.data() + slots[b] * H * perHead + offset[s] * (records ? 1 : H);
            for (int64_t h = 0; h < H; ++h)
              std::memcpy(place + h * view.stride[1], state.dataAs<float>() + (b * H + h) * size, size * 4);
            at[s].push_back(place);
          }
          states.push_back(view);
          lists.push_back(at[s].data());
        }
        lintel_pool *workers = lintel_pool_create(threads, nullptr);
        std::vector<NpyArray> handed;
        for (const auto &state : all.initial) handed.push_back(entries(*state, 0, 0, B));
        for (int64_t t = 0; t < steps; ++t) {
          BoundArrays token = llvm::cantFail(cutArrays(kernel.op(), all, t, t + 1, std::move(handed)));
          RunResult want = kernel.run(token, form("recurrent"));
          std::vector<lintel_array> inputs;
          for (NpyArray &input : token.inputs)
            inputs.push_back(lintel_array_contiguous(input.data(), input.dtype,
                                                     static_cast<int32_t>(input.shape.size()), input.shape.data()));
          NpyArray got = llvm::cantFail(NpyArray::create(want.out.dtype, want.out.shape));
          lintel_array out =
              lintel_array_contiguous(got.data(), got.dtype, static_cast<int32_t>(got.shape.size()), got.shape.data());
          lintel_call call{};
          call.kernel = k, call.inputs = inputs.data(), call.out = &out, call.position = t, call.form = "recurrent";
          call.states_in = call.states_out = states.data();
          call.states_in_at = call.states_out_at = lists.data();
          call.executor = lintel_pool_executor(workers);
          lintel_error error;
          ASSERT_EQ(lintel_run(&call, &error), LINTEL_OK) << error.message;
          EXPECT_TRUE(sameBits(got, want.out)) << name << " step " << t << " records " << records;
          handed = std::move(want.states);
        }
        lintel_pool_destroy(workers);
        for (uint32_t s = 0; s < k->num_states; ++s)
          for (int64_t b = 0; b < B; ++b)
            for (int64_t h = 0; h < H; ++h) {
              int64_t size = handed[s].elements() / (B * H);
              EXPECT_EQ(std::memcmp(static_cast<float *>(at[s][b]) + h * states[s].stride[1],
                                    handed[s].dataAs<float>() + (b * H + h) * size, size * 4),
                        0)
                  << name << " state " << s << " sequence " << b << " head " << h << " records " << records;
            }
        // Slots of nobody are as they were.
        for (int64_t slot : {2, 4, 5})
          for (int64_t i = 0; i < H * perHead; ++i) EXPECT_TRUE(std::isnan(pool[slot * H * perHead + i]));
      }
  }
}

TEST(Sequences, StatesThatDoNotFitAreRefused) {
  const Kernel &kernel = compiled("elu", {{"dk", 4}, {"dv", 3}});
  auto refusal = [&](std::vector<NamedArray> initial, std::optional<std::vector<int64_t>> lengths = std::nullopt) {
    ArraysRequest request;
    request.inputs =
        list(filled("q", {1, 6, 2, 4}, {1}), filled("k", {1, 6, 2, 4}, {1}), filled("v", {1, 6, 2, 3}, {1}));
    request.initial = std::move(initial), request.lengths = std::move(lengths);
    auto bound = bindArrays(kernel.op(), std::move(request));
    return bound ? std::string() : llvm::toString(bound.takeError());
  };
  EXPECT_EQ(refusal(list(filled("S", {1, 2, 4, 3}, {1}))), "");
  EXPECT_EQ(refusal(list(filled("S", {1, 2, 3, 4}, {1}))),
            "initial state 'S': expected dimension 'dk' to be 4 as in input 'q', found 3 in [1, 2, 3, 4]");
  EXPECT_EQ(refusal(list(filled("z", {1, 2, 4, 3}, {1}))),
            "expected initial state 'z' of 3 axes [B, H, dk], found 4: [1, 2, 4, 3]");
  EXPECT_EQ(refusal(list(filled("z", {3, 2, 4}, {1})), std::vector<int64_t>{2, 4}),
            "initial state 'z': expected the sequence axis to be 2 as in --lengths, found 3 in [3, 2, 4]");
  EXPECT_EQ(refusal({}, std::vector<int64_t>{2, 3}),
            "expected lengths that add up to the time axis T = 6 of input 'q', found 5");
  EXPECT_EQ(refusal({}, std::vector<int64_t>{7, -1}), "expected lengths of 0 or more, found -1");
  // The runtime, which converts nothing.
  RandomRequest request;
  request.steps = 6, request.heads = 2, request.initial = true;
  BoundArrays arrays = kernel.random(request);
  std::vector<lintel_array> inputs, states;
  for (NpyArray &input : arrays.inputs)
    inputs.push_back(lintel_array_contiguous(input.data(), input.dtype, 4, input.shape.data()));
  for (auto &state : arrays.initial)
    states.push_back(
        lintel_array_contiguous(state->data(), state->dtype, int32_t(state->shape.size()), state->shape.data()));
  NpyArray result = llvm::cantFail(NpyArray::create(LINTEL_F32, outShape(kernel.op(), arrays)));
  lintel_array out = lintel_array_contiguous(result.data(), LINTEL_F32, 4, result.shape.data());
  lintel_call call{};
  call.kernel = kernel.kernel(), call.inputs = inputs.data(), call.states_in = states.data(), call.out = &out;
  lintel_error error;
  ASSERT_EQ(lintel_run(&call, &error), LINTEL_OK) << error.message;
  states[0].dtype = LINTEL_F16;
  EXPECT_EQ(lintel_run(&call, &error), LINTEL_ERROR_DTYPE);
  EXPECT_STREQ(error.message, "initial state 'S': expected f32 elements, found f16");
  states[0].dtype = LINTEL_F32, std::swap(states[0].shape[2], states[0].shape[3]);
  EXPECT_EQ(lintel_run(&call, &error), LINTEL_ERROR_SHAPE);
  EXPECT_STREQ(error.message, "initial state 'S': row axis: expected 4 as the operator was compiled for, found 3");
}

} // namespace

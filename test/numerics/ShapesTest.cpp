// Lengths, head sizes, strides and heads that are not the usual ones.
#include "Kernels.h"
#include <cstring>
#include <sys/mman.h>

using namespace lintel;
using namespace lintel::test;

namespace {

/// Numbers in [-1, 1) without a pattern, from the bits of the element's place.
struct Bits {
  uint64_t seed;
  float operator()(int64_t i) const {
    uint64_t x = (static_cast<uint64_t>(i) + 1) * 0x9e3779b97f4a7c15 + seed * 0xd1b54a32d192ed03;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
    return static_cast<float>(static_cast<double>(x >> 40) / (1 << 23) - 1);
  }
};

BoundArrays firstSteps(const Kernel &kernel, const BoundArrays &arrays, int64_t steps) {
  return llvm::cantFail(cutArrays(kernel.op(), arrays, 0, steps, {}));
}

TEST(Shapes, TailsOfEveryForm) {
  Dimensions sizes = {{"dk", 4}, {"dv", 3}};
  for (const char *name : {"elu", "retnet", "gla", "softmax", "delta"}) {
    const Kernel &kernel = compiled(name, sizes, LINTEL_F32, allForms(name, sizes, {16, 64}));
    RandomRequest request;
    request.steps = 913;
    BoundArrays whole = kernel.random(request);
    // Causal, so that the outputs of a shorter run are the first ones of the longest.
    std::vector<double> want = toDoubles(kernel.interpret(whole).out);
    double largest = 0;
    for (double x : want) largest = std::max(largest, std::fabs(x));
    for (int64_t steps : {1, 63, 65, 129, 300, 513, 913}) {
      BoundArrays arrays = firstSteps(kernel, whole, steps);
      for (const FormRequest &variant : kernel.variants()) {
        std::vector<double> got = toDoubles(kernel.run(arrays, variant).out);
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_NEAR(got[i], want[i], 3e-6 * largest)
              << name << " " << text(variant) << " T=" << steps << " t=" << i / 3;
      }
    }
  }
}

TEST(Shapes, FinalStatesOfTails) {
  // Padding to whole chunks would decay the state once for each step that does not exist.
  const Kernel &kernel = compiled("retnet", {{"dk", 1}, {"dv", 1}});
  for (int64_t steps = 0; steps <= 36; ++steps) {
    BoundArrays arrays = kernel.arrays(list(filled("q", {1, steps, 1, 1}, {1}), filled("k", {1, steps, 1, 1}, {1}),
                                            filled("v", {1, steps, 1, 1}, {1}), filled("gamma", {1}, {0.5})));
    for (const FormRequest &variant : kernel.variants())
      EXPECT_TRUE(near(kernel.run(arrays, variant).states[0], {2 - std::exp2(1.0 - static_cast<double>(steps))}, 2e-7))
          << text(variant) << " T=" << steps;
  }
}

TEST(Shapes, HeadSizesThatAreNoPowersOfTwo) {
  struct Case {
    const char *name;
    int64_t dk, dv;
  };
  // Every dk and every dv with operators of every class.
  for (Case c : {Case{"retnet", 1, 64}, Case{"gla", 3, 1}, Case{"elu", 16, 5}, Case{"softmax", 31, 192},
                 Case{"gla", 60, 64}, Case{"retnet", 96, 5}, Case{"elu", 192, 1}, Case{"retnet", 257, 5},
                 Case{"softmax", 257, 1}, Case{"delta", 31, 5}, Case{"elu", 1, 192}, Case{"gla", 257, 1},
                 Case{"identity", 192, 192}, Case{"rwkv6", 31, 5}, Case{"softmax", 1, 5}}) {
    Dimensions sizes = {{"dk", c.dk}, {"dv", c.dv}};
    const Kernel &kernel = compiled(c.name, sizes, LINTEL_F32, allForms(c.name, sizes, {8}));
    RandomRequest request;
    request.steps = 19, request.heads = c.dk * c.dv > 4096 ? 1 : 2, request.initial = kernel.op().splits();
    BoundArrays arrays = kernel.random(request);
    EXPECT_EQ(outShape(kernel.op(), arrays).back(), c.dv);
    expectReference(kernel, arrays);
  }
}

TEST(Shapes, BatchStridesAbove31Bits) {
  constexpr int64_t stride = (int64_t(1) << 31) + 64, row = 4;
  const Kernel &kernel = compiled("identity", {{"dk", 4}, {"dv", 4}});
  // Two sequences of two steps, so far apart that only their pages exist.
  std::vector<lintel_array> arrays;
  std::vector<void *> maps;
  size_t bytes = static_cast<size_t>(stride + 2 * row) * sizeof(float);
  for (int i = 0; i < 4; ++i) {
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) GTEST_SKIP() << "this machine gives no " << bytes << " bytes of address space";
    maps.push_back(p);
    int64_t shape[] = {2, 2, 1, row};
    arrays.push_back(lintel_array_contiguous(p, LINTEL_F32, 4, shape));
    arrays.back().stride[0] = stride;
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t e = 0; e < 2 * row; ++e)
        static_cast<float *>(p)[b * stride + e] = i == 3 ? NAN : Bits{static_cast<uint64_t>(i)}(b * 8 + e);
  }
  for (const FormRequest &variant : kernel.variants()) {
    lintel_call call{};
    call.kernel = kernel.kernel(), call.inputs = arrays.data(), call.out = &arrays[3];
    call.form = variant.form.c_str(), call.chunk = variant.chunk;
    lintel_error error;
    ASSERT_EQ(lintel_run(&call, &error), LINTEL_OK) << error.message;
    auto at = [&](int i, int64_t b, int64_t t, int64_t e) {
      return double(static_cast<float *>(maps[i])[b * stride + t * row + e]);
    };
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t t = 0; t < 2; ++t)
        for (int64_t e = 0; e < row; ++e) {
          double want = 0;
          for (int64_t j = 0; j <= t; ++j)
            for (int64_t c = 0; c < row; ++c) want += at(0, b, t, c) * at(1, b, j, c) * at(2, b, j, e);
          EXPECT_NEAR(at(3, b, t, e), want, 1e-6) << text(variant) << " b=" << b << " t=" << t;
        }
  }
  for (void *p : maps) munmap(p, bytes);
}

TEST(Shapes, MoreHeadsAndSequencesThan16Bits) {
  const Kernel &kernel = compiled("identity", {{"dk", 1}, {"dv", 1}});
  constexpr int64_t many = 70000;
  std::vector<double> values, want;
  for (int64_t i = 0; i < many; ++i) values.push_back(i % 1000), want.push_back(3 * values.back());
  for (bool heads : {true, false}) {
    llvm::SmallVector<int64_t> shape = {heads ? 1 : many, 1, heads ? many : 1, 1};
    BoundArrays arrays =
        kernel.arrays(list(filled("q", shape, {1}), filled("k", shape, {3}), filled("v", shape, values)));
    for (const FormRequest &variant : kernel.variants())
      for (int threads : {1, 2})
        EXPECT_TRUE(near(kernel.run(arrays, variant, threads).out, want, 0)) << text(variant) << heads << threads;
  }
}

TEST(Shapes, TimeAndHeadsAreNotSwapped) {
  const Kernel &kernel = compiled("identity", {{"dk", 1}, {"dv", 1}});
  // [t][h]: head 0 sums 1, 2, 4 and head 1 sums 10, 20, 40.
  BoundArrays arrays = kernel.arrays(list(filled("q", {1, 3, 2, 1}, {1}), filled("k", {1, 3, 2, 1}, {1}),
                                          filled("v", {1, 3, 2, 1}, {1, 10, 2, 20, 4, 40})));
  // And T = H, where a swap would go unseen by shapes.
  BoundArrays square = kernel.arrays(
      list(filled("q", {1, 2, 2, 1}, {1}), filled("k", {1, 2, 2, 1}, {1}), filled("v", {1, 2, 2, 1}, {1, 10, 2, 20})));
  for (const FormRequest &variant : kernel.variants()) {
    EXPECT_TRUE(near(kernel.run(arrays, variant).out, {1, 10, 3, 30, 7, 70}, 0)) << text(variant);
    EXPECT_TRUE(near(kernel.run(square, variant).out, {1, 10, 3, 30}, 0)) << text(variant);
  }
}

TEST(Shapes, HeadsThatDoNotDivideAreRefused) {
  const Kernel &kernel = compiled("identity", {{"dk", 1}, {"dv", 1}});
  for (auto [heads, groups] : {std::pair<int64_t, int64_t>{33, 2}, {3, 2}}) {
    ArraysRequest request;
    request.inputs = list(filled("q", {1, 2, heads, 1}, {1}), filled("k", {1, 2, groups, 1}, {1}),
                          filled("v", {1, 2, groups, 1}, {1}));
    auto bound = bindArrays(kernel.op(), std::move(request));
    ASSERT_FALSE(bool(bound));
    std::string message = llvm::toString(bound.takeError());
    EXPECT_NE(message.find(std::to_string(heads)), std::string::npos) << message;
    EXPECT_NE(message.find("found " + std::to_string(groups)), std::string::npos) << message;
    // The runtime on its own: nothing is written.
    std::vector<float> memory(4 * 66, NAN);
    int64_t many[] = {1, 2, heads, 1}, few[] = {1, 2, groups, 1};
    lintel_array inputs[] = {lintel_array_contiguous(memory.data(), LINTEL_F32, 4, many),
                             lintel_array_contiguous(memory.data() + 66, LINTEL_F32, 4, few),
                             lintel_array_contiguous(memory.data() + 132, LINTEL_F32, 4, few)};
    lintel_array out = lintel_array_contiguous(memory.data() + 198, LINTEL_F32, 4, many);
    lintel_call call{};
    call.kernel = kernel.kernel(), call.inputs = inputs, call.out = &out;
    lintel_error error;
    EXPECT_EQ(lintel_run(&call, &error), LINTEL_ERROR_HEADS);
    EXPECT_NE(std::strstr(error.message, std::to_string(heads).c_str()), nullptr) << error.message;
    EXPECT_NE(std::strstr(error.message, std::to_string(groups).c_str()), nullptr) << error.message;
    EXPECT_TRUE(std::isnan(memory[198]));
  }
}

TEST(Shapes, GroupedHeads) {
  const Kernel &kernel =
      compiled("identity", {{"dk", 3}, {"dv", 2}}, LINTEL_F32, {form("recurrent"), form("chunkwise", 4)});
  // 32 heads of values over 16 of keys and 1 of queries.
  llvm::SmallVector<int64_t> q = {2, 7, 1, 3}, k = {2, 7, 16, 3}, v = {2, 7, 32, 2};
  expectReference(kernel, kernel.arrays(list(normal("q", q, 1, 1), normal("k", k, 1, 2), normal("v", v, 1, 3))));
}

/// The same array with its heads (axis 2) before its steps (axis 1), in memory of its own.
NpyArray headsFirst(const NpyArray &array) {
  llvm::SmallVector<int64_t, 5> shape(array.shape.begin(), array.shape.end());
  std::swap(shape[1], shape[2]);
  NpyArray result = llvm::cantFail(NpyArray::create(array.dtype, shape));
  size_t row = lintel_dtype_bytes(array.dtype);
  for (size_t i = 3; i < shape.size(); ++i) row *= shape[i];
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t h = 0; h < shape[1]; ++h)
      for (int64_t t = 0; t < shape[2]; ++t)
        std::memcpy(result.dataAs<char>() + ((b * shape[1] + h) * shape[2] + t) * row,
                    static_cast<const char *>(array.data()) + ((b * shape[2] + t) * shape[1] + h) * row, row);
  return result;
}

TEST(Shapes, HeadsBeforeStepsAreTheSameBits) {
  Dimensions sizes = {{"dk", 4}, {"dv", 3}};
  for (auto [name, dimensions] : {std::pair<const char *, Dimensions>{"identity", sizes},
                                  {"elu", sizes},
                                  {"retnet", sizes},
                                  {"gla", sizes},
                                  {"gated_delta", sizes},
                                  {"rwkv6", sizes},
                                  {"softmax", sizes},
                                  {"rwkv4", {}}}) {
    const Kernel &kernel = compiled(name, dimensions);
    RandomRequest request;
    request.batch = 2, request.steps = 37, request.heads = 3;
    BoundArrays arrays = kernel.random(request);
    // [B, H, T, ...] in memory, seen as [B, T, H, ...].
    std::vector<NpyArray> memory;
    std::vector<lintel_array> inputs;
    for (auto [info, input] : llvm::zip_equal(kernel.op().inputs, arrays.inputs)) {
      bool token = info.kind == InputKind::Token;
      auto rank = static_cast<int32_t>(input.shape.size());
      if (token) memory.push_back(headsFirst(input));
      NpyArray &from = token ? memory.back() : input;
      inputs.push_back(lintel_array_contiguous(from.data(), from.dtype, rank, from.shape.data()));
      if (!token) continue;
      std::swap(inputs.back().shape[1], inputs.back().shape[2]);
      std::swap(inputs.back().stride[1], inputs.back().stride[2]);
    }
    for (const FormRequest &variant : kernel.variants()) {
      NpyArray want = headsFirst(kernel.run(arrays, variant).out);
      NpyArray got = llvm::cantFail(NpyArray::create(want.dtype, want.shape));
      lintel_array out =
          lintel_array_contiguous(got.data(), got.dtype, static_cast<int32_t>(got.shape.size()), got.shape.data());
      std::swap(out.shape[1], out.shape[2]);
      std::swap(out.stride[1], out.stride[2]);
      lintel_call call{};
      call.kernel = kernel.kernel(), call.inputs = inputs.data(), call.out = &out;
      call.form = variant.form.c_str(), call.chunk = variant.chunk;
      lintel_error error;
      ASSERT_EQ(lintel_run(&call, &error), LINTEL_OK) << error.message;
      EXPECT_TRUE(sameBits(got, want)) << name << " " << text(variant);
    }
  }
}

TEST(Shapes, MoreThan1024) {
  // Primes; both far longer than a tile, a vector and a page.
  for (auto [dk, dv] : {std::pair<int64_t, int64_t>{1031, 3}, {2, 1031}}) {
    Dimensions sizes = {{"dk", dk}, {"dv", dv}};
    const Kernel &kernel = compiled("retnet", sizes, LINTEL_F32, {form("recurrent"), form("chunkwise", 4)});
    RandomRequest request;
    request.steps = 11, request.initial = true;
    expectReference(kernel, kernel.random(request));
  }
}

TEST(Shapes, EveryInputHasItsGroups) {
  // The same bits as with the heads written out.
  Dimensions sizes = {{"dk", 4}, {"dv", 3}};
  constexpr int64_t H = 12, groups[] = {4, 12, 1, 3, 6};
  for (const char *name : {"elu", "gla", "gated_delta", "rwkv6", "softmax"}) {
    const Kernel &kernel = compiled(name, sizes);
    RandomRequest request;
    request.batch = 2, request.steps = 19, request.heads = H;
    BoundArrays grouped = kernel.random(request), all = kernel.random(request);
    size_t which = 0;
    for (auto [info, few, many] : llvm::zip_equal(kernel.op().inputs, grouped.inputs, all.inputs)) {
      if (info.kind != InputKind::Token) continue;
      int64_t g = groups[which++ % std::size(groups)];
      llvm::SmallVector<int64_t, 5> shape(many.shape.begin(), many.shape.end());
      shape[2] = g;
      few = llvm::cantFail(NpyArray::create(many.dtype, shape));
      size_t row = many.bytes() / (2 * 19 * H);
      for (int64_t at = 0; at < 2 * 19; ++at)
        for (int64_t h = 0; h < H; ++h) {
          char *head = many.dataAs<char>() + (at * H + h) * row;
          char *group = few.dataAs<char>() + (at * g + h / (H / g)) * row;
          if (h % (H / g) == 0) std::memcpy(group, head, row);
          else std::memcpy(head, group, row);
        }
    }
    for (const FormRequest &variant : kernel.variants())
      EXPECT_TRUE(sameBits(kernel.run(grouped, variant, 2), kernel.run(all, variant))) << name << " " << text(variant);
  }
}

TEST(Shapes, EmptyAxes) {
  const Kernel &kernel = compiled("retnet", {{"dk", 4}, {"dv", 3}});
  for (auto [b, t, h] : {std::tuple{0, 3, 2}, {2, 0, 2}, {2, 3, 0}, {0, 0, 0}}) {
    RandomRequest request;
    request.batch = b, request.steps = t, request.heads = h, request.initial = true;
    BoundArrays arrays = kernel.random(request);
    for (const FormRequest &variant : kernel.variants()) {
      RunResult result = kernel.run(arrays, variant);
      EXPECT_EQ(result.out.elements(), 0);
      EXPECT_TRUE(sameBits(result.states[0], *arrays.initial[0])) << text(variant);
    }
  }
}

TEST(Shapes, StridesAreFree) {
  // Rows far apart, heads before steps, a batch that repeats, values that run backwards in time.
  constexpr int64_t B = 2, T = 19, H = 2, d = 5, gap = 7;
  const Kernel &kernel =
      compiled("identity", {{"dk", d}, {"dv", d}}, LINTEL_F32, {form("recurrent"), form("chunkwise", 4)});
  std::vector<float> memory(4 * B * T * H * (d + gap));
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = Bits{9}(static_cast<int64_t>(i));
  int64_t size = B * T * H * (d + gap), shape[] = {B, T, H, d};
  lintel_array arrays[4];
  for (int i = 0; i < 4; ++i) {
    arrays[i] = lintel_array_contiguous(memory.data() + i * size, LINTEL_F32, 4, shape);
    int64_t stride[] = {T * H * (d + gap), d + gap, T * (d + gap), 1};
    std::memcpy(arrays[i].stride, stride, sizeof stride);
  }
  arrays[1].stride[0] = 0;
  arrays[2].data = static_cast<float *>(arrays[2].data) + (T - 1) * (d + gap);
  arrays[2].stride[1] = -(d + gap);
  auto at = [&](int i, int64_t b, int64_t t, int64_t h, int64_t e) -> float & {
    const int64_t *s = arrays[i].stride;
    return static_cast<float *>(arrays[i].data)[b * s[0] + t * s[1] + h * s[2] + e];
  };
  for (const FormRequest &variant : kernel.variants()) {
    std::vector<float> before = memory;
    lintel_call call{};
    call.kernel = kernel.kernel(), call.inputs = arrays, call.out = &arrays[3];
    call.form = variant.form.c_str(), call.chunk = variant.chunk;
    lintel_error error;
    ASSERT_EQ(lintel_run(&call, &error), LINTEL_OK) << error.message;
    for (int64_t b = 0; b < B; ++b)
      for (int64_t h = 0; h < H; ++h)
        for (int64_t t = 0; t < T; ++t)
          for (int64_t e = 0; e < d; ++e) {
            double want = 0;
            for (int64_t j = 0; j <= t; ++j)
              for (int64_t c = 0; c < d; ++c) want += double(at(0, b, t, h, c)) * at(1, b, j, h, c) * at(2, b, j, h, e);
            ASSERT_NEAR(at(3, b, t, h, e), want, 1e-5) << text(variant);
            before[&at(3, b, t, h, e) - memory.data()] = at(3, b, t, h, e);
          }
    EXPECT_EQ(std::memcmp(before.data(), memory.data(), memory.size() * sizeof(float)), 0)
        << "something between the rows was written, " << text(variant);
  }
}

} // namespace

#include "test/unit/runtime/Problem.h"
#include "gtest/gtest.h"

namespace {

TEST(Cpu, FeaturesAreConsistent) {
  const uint64_t found = lintel_cpu_features();
  EXPECT_EQ(found, lintel_cpu_features());
  EXPECT_TRUE(found & LINTEL_CPU_NATIVE);
#if defined(__x86_64__)
  EXPECT_TRUE(found & LINTEL_CPU_X86_64);
  EXPECT_TRUE(found & LINTEL_CPU_X86_64_V2);
  EXPECT_EQ(bool(found & LINTEL_CPU_X86_64_V3), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ(bool(found & LINTEL_CPU_X86_64_V4), __builtin_cpu_supports("avx512f") &&
                                                    __builtin_cpu_supports("avx512bw") &&
                                                    __builtin_cpu_supports("avx512vl"));
  EXPECT_EQ(bool(found & LINTEL_CPU_AVX512_BF16), bool(__builtin_cpu_supports("avx512bf16")));
  EXPECT_EQ(bool(found & LINTEL_CPU_AVX512_ICL), bool(__builtin_cpu_supports("avx512vbmi2")));
  EXPECT_FALSE(found & LINTEL_CPU_AARCH64);
#elif defined(__aarch64__)
  EXPECT_TRUE(found & LINTEL_CPU_AARCH64);
#endif
}

TEST(Cpu, TheFirstUsableVariantIsTaken) {
  const uint64_t base = fake_blend.variants[1].features;
  lintel_error error;
  EXPECT_EQ(lintel_select(&fake_blend, nullptr, 0, &error), &fake_blend.variants[1]);
  EXPECT_EQ(error.code, LINTEL_OK);
  EXPECT_EQ(lintel_select_for(&fake_blend, nullptr, 0, base | FAKE_FEATURE, &error), &fake_blend.variants[0]);
  EXPECT_EQ(lintel_select_for(&fake_blend, "recurrent", 0, base | FAKE_FEATURE, &error), &fake_blend.variants[2]);
  EXPECT_EQ(lintel_select_for(&fake_blend, nullptr, 4, base | FAKE_FEATURE, &error), &fake_blend.variants[1]);
  EXPECT_EQ(lintel_select_for(&fake_blend, nullptr, 0, 0, &error), nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_CPU);
  EXPECT_EQ(lintel_select_for(&fake_blend, "", 0, base, &error), nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_FORM);
}

TEST(Cpu, NativeCodeIsRefusedElsewhere) {
  const uint64_t level4 = LINTEL_CPU_X86_64_V2 | LINTEL_CPU_X86_64_V3 | LINTEL_CPU_X86_64_V4;
  lintel_variant variant = fake_bare.variants[0];
  lintel_kernel kernel = fake_bare;
  kernel.variants = &variant;
  variant.target = "native";
  variant.cpu = "sapphirerapids";
  variant.features = LINTEL_CPU_NATIVE | level4 | LINTEL_CPU_AVX512_BF16;
  lintel_error error;
  EXPECT_EQ(lintel_select_for(&kernel, nullptr, 0, level4 | LINTEL_CPU_AVX512_BF16, &error), &variant);
  EXPECT_EQ(lintel_select_for(&kernel, nullptr, 0, level4 | LINTEL_CPU_NATIVE, &error), nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_CPU);
  EXPECT_NE(std::string(error.message).find("lacks avx512-bf16"), std::string::npos) << error.message;
  variant.features = LINTEL_CPU_NATIVE;
  EXPECT_EQ(lintel_select(&kernel, nullptr, 0, &error), nullptr);
  EXPECT_EQ(error.code, LINTEL_ERROR_KERNEL);
}

TEST(Cpu, ScratchBytes) {
  const uint64_t one = lintel_scratch_bytes(&fake_blend, nullptr, 0, 1);
  const uint64_t two = lintel_scratch_bytes(&fake_blend, nullptr, 0, 2);
  const uint64_t seven = lintel_scratch_bytes(&fake_blend, nullptr, 0, 7);
  EXPECT_GT(one, 1000u);
  EXPECT_EQ(seven - two, 5 * (two - one));
  EXPECT_LT(lintel_scratch_bytes(&fake_blend, "recurrent", 0, 1), one);
  EXPECT_EQ(lintel_scratch_bytes(&fake_blend, nullptr, 0, 0), 0u);
  EXPECT_EQ(lintel_scratch_bytes(&fake_blend, nullptr, 0, -3), 0u);
  EXPECT_EQ(lintel_scratch_bytes(&fake_blend, "parallel", 0, 1), 0u);
  EXPECT_EQ(lintel_scratch_bytes(nullptr, nullptr, 0, 1), 0u);
  lintel_variant large = fake_bare.variants[0];
  lintel_kernel kernel = fake_bare;
  kernel.variants = &large;
  large.scratch_bytes = UINT64_MAX - 3;
  EXPECT_EQ(lintel_scratch_bytes(&kernel, nullptr, 0, 1), 0u);
  large.scratch_bytes = UINT64_C(1) << 60;
  EXPECT_EQ(lintel_scratch_bytes(&kernel, nullptr, 0, 1000), 0u);
}

} // namespace

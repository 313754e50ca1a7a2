/* What this processor can run, and which variant of a kernel that is. */
#include "internal.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* State components the operating system saves (XCR0): a processor may have AVX-512 that the system does not enable. */
__attribute__((target("xsave"))) static uint64_t enabledState(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static int all(uint32_t word, uint32_t bits) { return (word & bits) == bits; }
#define BIT(n) (1u << (n))

static uint64_t detect(void) {
  uint32_t a = 0, b = 0, c = 0, d = 0, b7 = 0, c7 = 0, d7 = 0, a71 = 0, c81 = 0;
  uint64_t found = LINTEL_CPU_NATIVE | LINTEL_CPU_X86_64;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return found;
  uint32_t c1 = c;
  uint32_t leaves = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    leaves = a;
    b7 = b;
    c7 = c;
    d7 = d;
  }
  if (leaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) a71 = a;
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) c81 = c;

  /* SSE3 SSSE3 CX16 SSE4.1 SSE4.2 POPCNT; LAHF */
  if (!all(c1, BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23)) || !all(c81, BIT(0))) return found;
  found |= LINTEL_CPU_X86_64_V2;

  uint64_t state = all(c1, BIT(27)) ? enabledState() : 0; /* OSXSAVE */
  /* FMA MOVBE AVX F16C; BMI1 AVX2 BMI2; LZCNT; XMM and YMM saved */
  if (!all(c1, BIT(12) | BIT(22) | BIT(28) | BIT(29)) || !all(b7, BIT(3) | BIT(5) | BIT(8)) || !all(c81, BIT(5)) ||
      (state & 0x6) != 0x6)
    return found;
  found |= LINTEL_CPU_X86_64_V3;

  /* AVX-512 F DQ CD BW VL; opmask and ZMM saved */
  if (!all(b7, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31)) || (state & 0xe6) != 0xe6) return found;
  found |= LINTEL_CPU_X86_64_V4;
  /* IFMA; VBMI VBMI2 VNNI BITALG VPOPCNTDQ */
  if (all(b7, BIT(21)) && all(c7, BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14))) found |= LINTEL_CPU_AVX512_ICL;
  if (all(a71, BIT(5))) found |= LINTEL_CPU_AVX512_BF16;
  if (all(d7, BIT(23))) found |= LINTEL_CPU_AVX512_FP16;
  return found;
}

#elif defined(__aarch64__)
static uint64_t detect(void) { return LINTEL_CPU_NATIVE | LINTEL_CPU_AARCH64; }
#else
static uint64_t detect(void) { return LINTEL_CPU_NATIVE; }
#endif

/* What the environment may limit a processor to, under the names that --target has. */
static const struct {
  const char *name;
  uint64_t features;
} limits[] = {
#if defined(__x86_64__)
#define LEVEL2 (LINTEL_CPU_X86_64 | LINTEL_CPU_X86_64_V2)
#define LEVEL4 (LEVEL2 | LINTEL_CPU_X86_64_V3 | LINTEL_CPU_X86_64_V4)
    {"x86-64", LINTEL_CPU_X86_64},
    {"x86-64-v2", LEVEL2},
    {"x86-64-v3", LEVEL2 | LINTEL_CPU_X86_64_V3},
    {"x86-64-v4", LEVEL4},
    {"x86-64-v4-bf16", LEVEL4 | LINTEL_CPU_AVX512_BF16},
#elif defined(__aarch64__)
    {"aarch64", LINTEL_CPU_AARCH64},
#else
    {"native", LINTEL_CPU_NATIVE},
#endif
};

/* The features that LINTEL_MAX_CPU leaves of all; none where it is no name. */
static uint64_t limitOf(const char *name) {
  if (!name || !*name) return ~UINT64_C(0);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i)
    if (strcmp(name, limits[i].name) == 0) return limits[i].features;
  return 0;
}

uint64_t lintel_cpu_features(void) {
  static _Atomic uint64_t known;
  uint64_t features = atomic_load_explicit(&known, memory_order_relaxed);
  if (!features) {
    /* Two threads may both detect: they find the same. */
    features = (detect() & limitOf(getenv("LINTEL_MAX_CPU"))) | LINTEL_CPU_NATIVE;
    atomic_store_explicit(&known, features, memory_order_relaxed);
  }
  return features;
}

/* The names of those bits, as far as they fit. */
static void describeFeatures(uint64_t features, char *text, size_t size) {
  static const struct {
    uint64_t bit;
    const char *name;
  } names[] = {{LINTEL_CPU_X86_64_V2, "x86-64-v2"},     {LINTEL_CPU_X86_64_V3, "x86-64-v3"},
               {LINTEL_CPU_X86_64_V4, "x86-64-v4"},     {LINTEL_CPU_AVX512_ICL, "avx512-vbmi2"},
               {LINTEL_CPU_AVX512_BF16, "avx512-bf16"}, {LINTEL_CPU_AVX512_FP16, "avx512-fp16"},
               {LINTEL_CPU_X86_64, "x86-64"},           {LINTEL_CPU_AARCH64, "aarch64"}};
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (!(features & names[i].bit)) continue;
    features &= ~names[i].bit;
    int n = snprintf(text + used, size - used, "%s%s", used ? ", " : "", names[i].name);
    if (n < 0 || (size_t)n >= size - used) return;
    used += (size_t)n;
  }
  if (features & ~LINTEL_CPU_NATIVE)
    snprintf(text + used, size - used, "%sfeatures unknown to this runtime", used ? ", " : "");
}

static const char *orAny(const char *text) { return text ? text : "any"; }

/* "recurrent chunk 1, chunkwise chunk 16, ..." as far as it fits. */
static void listVariants(const lintel_kernel *kernel, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < kernel->num_variants; ++i) {
    const lintel_variant *variant = &kernel->variants[i];
    int n = snprintf(text + used, size - used, "%s%s chunk %lld", used ? ", " : "", variant->form,
                     (long long)variant->chunk);
    if (n < 0 || (size_t)n >= size - used) {
      if (size > 4) memcpy(text + size - 4, "...", 4);
      return;
    }
    used += (size_t)n;
  }
}

const lintel_variant *lintel_select_for(const lintel_kernel *kernel, const char *form, int64_t chunk, uint64_t features,
                                        lintel_error *error) {
  if (lintel_internal_check_kernel(kernel, error)) return NULL;
  if (chunk < 0) {
    lintel_internal_fail(error, LINTEL_ERROR_ARGUMENT, "chunk: expected 1 or more, or 0 for any, found %lld",
                         (long long)chunk);
    return NULL;
  }
  const lintel_variant *refused = NULL;
  for (uint32_t i = 0; i < kernel->num_variants; ++i) {
    const lintel_variant *variant = &kernel->variants[i];
    if (form && strcmp(form, variant->form) != 0) continue;
    if (chunk && chunk != variant->chunk) continue;
    if (!((variant->features & ~LINTEL_CPU_NATIVE) == 0 && variant->features) &&
        (variant->features & ~(features | LINTEL_CPU_NATIVE)) == 0) {
      lintel_internal_ok(error);
      return variant;
    }
    refused = variant;
  }
  if (!refused) {
    char have[140];
    listVariants(kernel, have, sizeof have);
    if (chunk)
      lintel_internal_fail(error, LINTEL_ERROR_FORM, "'%.32s' has no form '%.16s' of chunk %lld; it has %s",
                           kernel->name, orAny(form), (long long)chunk, have);
    else
      lintel_internal_fail(error, LINTEL_ERROR_FORM, "'%.32s' has no form '%.16s'; it has %s", kernel->name,
                           orAny(form), have);
    return NULL;
  }
  if (refused->features == LINTEL_CPU_NATIVE) {
    lintel_internal_fail(error, LINTEL_ERROR_KERNEL,
                         "'%.32s': its native variant does not say which instructions it uses; compile it again",
                         kernel->name);
    return NULL;
  }
  char lacking[120];
  describeFeatures(refused->features & ~features, lacking, sizeof lacking);
  lintel_internal_fail(error, LINTEL_ERROR_CPU,
                       "'%.32s' was compiled for %.24s, but this processor lacks %s; compile for a lower target",
                       kernel->name, refused->target, lacking);
  return NULL;
}

/* An error about the processor owes the reader that the environment has a part in it. */
static void mentionLimit(lintel_error *error) {
  const char *limit = getenv("LINTEL_MAX_CPU");
  if (!error || !limit || !*limit) return;
  if (limitOf(limit)) {
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, " (LINTEL_MAX_CPU is %s)", limit);
    return;
  }
  char names[120];
  size_t used = 0;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", limits[i].name);
  lintel_internal_fail(error, LINTEL_ERROR_CPU, "the environment's LINTEL_MAX_CPU: expected one of %s, found '%.32s'",
                       names, limit);
}

const lintel_variant *lintel_select(const lintel_kernel *kernel, const char *form, int64_t chunk, lintel_error *error) {
  lintel_error own;
  if (!error) error = &own;
  const lintel_variant *variant = lintel_select_for(kernel, form, chunk, lintel_cpu_features(), error);
  if (!variant && error->code == LINTEL_ERROR_CPU) mentionLimit(error);
  return variant;
}

#include "compiler/driver/MachineLimit.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>
#include <chrono>
#include <vector>

using namespace lintel;

namespace {

template <typename T, int Bytes> struct Vector { typedef T Type __attribute__((vector_size(Bytes))); };

/// Enough independent chains to hide the latency of a multiply-add on two units.
constexpr int chains = 12;

// A macro, as a target attribute does not reach into templates.
#define LINTEL_FMA_LOOP(NAME, TYPE, BYTES, TARGET)                                                                     \
  TARGET double NAME(long repetitions) {                                                                               \
    using V = Vector<TYPE, BYTES>::Type;                                                                               \
    V sum[chains], factor = {}, step = {};                                                                             \
    for (int i = 0; i < int(BYTES / sizeof(TYPE)); ++i) factor[i] = TYPE(0.5), step[i] = TYPE(0.25);                   \
    for (V & s : sum) s = step;                                                                                        \
    for (long r = 0; r < repetitions; ++r) {                                                                           \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < chains; ++i) sum[i] = sum[i] * factor + step;             \
      __asm__ volatile("" : "+m"(factor));                                                                             \
    }                                                                                                                  \
    double total = 0;                                                                                                  \
    for (V & s : sum) total += double(s[0]);                                                                           \
    return total;                                                                                                      \
  }

#if defined(__x86_64__)
LINTEL_FMA_LOOP(fma512f, float, 64, __attribute__((noinline, target("avx512f,fma"), min_vector_width(512))))
LINTEL_FMA_LOOP(fma512d, double, 64, __attribute__((noinline, target("avx512f,fma"), min_vector_width(512))))
LINTEL_FMA_LOOP(fma256f, float, 32, __attribute__((noinline, target("avx2,fma"))))
LINTEL_FMA_LOOP(fma256d, double, 32, __attribute__((noinline, target("avx2,fma"))))
#else
LINTEL_FMA_LOOP(fma128f, float, 16, __attribute__((noinline)))
LINTEL_FMA_LOOP(fma128d, double, 16, __attribute__((noinline)))
#endif

double rateOf(double (*loop)(long), int lanes) {
  using Clock = std::chrono::steady_clock;
  constexpr long repetitions = 200000;
  double best = 0;
  volatile double sink = 0;
  auto begin = Clock::now();
  do {
    auto start = Clock::now();
    sink = sink + loop(repetitions);
    double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, 2.0 * chains * lanes * repetitions / seconds);
  } while (Clock::now() - begin < std::chrono::milliseconds(60));
  return best;
}

} // namespace

double lintel::measurePeakFlops(lintel_dtype dtype) {
  bool wide = dtype == LINTEL_F64;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return wide ? rateOf(fma512d, 8) : rateOf(fma512f, 16);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return wide ? rateOf(fma256d, 4) : rateOf(fma256f, 8);
  return 0;
#else
  return wide ? rateOf(fma128d, 2) : rateOf(fma128f, 4);
#endif
}

std::string lintel::machineName() {
  std::string cpu = llvm::sys::getHostCPUName().str();
  auto info = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!info) return cpu;
  llvm::StringRef text = (*info)->getBuffer();
  size_t at = text.find("model name");
  if (at == llvm::StringRef::npos) return cpu;
  return text.substr(at).split(':').second.split('\n').first.trim().str() + " (" + cpu + ")";
}

double lintel::measureBandwidth() {
  using Clock = std::chrono::steady_clock;
  // Beyond every cache but the largest servers'.
  std::vector<uint64_t> memory(size_t(128) << 17, 1); // 128 MiB
  double best = 0;
  volatile uint64_t sink = 0;
  for (int run = 0; run < 3; ++run) {
    auto start = Clock::now();
    uint64_t sums[8] = {};
    for (size_t i = 0; i < memory.size(); i += 8)
      for (size_t k = 0; k < 8; ++k) sums[k] += memory[i + k];
    for (uint64_t sum : sums) sink = sink + sum;
    double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, static_cast<double>(memory.size() * sizeof(uint64_t)) / seconds);
  }
  return best;
}

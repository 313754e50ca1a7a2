// Lesson 4: two operators, and one of them at two sizes, in one C++ program.
//
//     lintel compile ../specs/retnet.attn --dim dk=64 --dim dv=64 -o kernels
//     lintel compile ../specs/retnet.attn --dim dk=16 --dim dv=32 -o kernels
//     lintel compile ../specs/elu.attn --dim dk=64 --dim dv=64 -o kernels
//
// Each kernel is a constant that describes itself, so that one function can serve them all: it makes the arrays a
// kernel asks for, runs it, and the result is compared with the operator written as plain loops.
#include "lintel_elu_dk64_dv64_f32.h"
#include "lintel_retnet_dk16_dv32_f32.h"
#include "lintel_retnet_dk64_dv64_f32.h"
#include <cmath>
#include <cstdio>
#include <functional>
#include <lintel/runtime.h>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int64_t B = 1, T = 130, H = 3;

/// Everything one run needs, by name.
struct Run {
  explicit Run(const lintel_kernel &kernel) : kernel(kernel) {
    std::mt19937 random(1);
    for (uint32_t i = 0; i < kernel.num_inputs; ++i) inputs.push_back(make(kernel.inputs[i]));
    out = make(*kernel.out);
    for (uint32_t i = 0; i < kernel.num_inputs; ++i)
      for (float &x : data[kernel.inputs[i].name])
        x = kernel.inputs[i].kind == LINTEL_HEAD ? 0.9f : float(random()) / 2147483648.0f - 1.0f;
  }

  bool go() {
    lintel_call call = lintel_call();
    call.kernel = &kernel;
    call.inputs = inputs.data();
    call.out = &out;
    lintel_error error;
    if (lintel_run(&call, &error) == LINTEL_OK) return true;
    std::fprintf(stderr, "%s: %s\n", kernel.name, error.message);
    return false;
  }

  /// Row of an array [B = 1, T, H, n].
  const float *row(const char *name, int64_t t, int64_t h, int64_t n) { return &data[name][size_t((t * H + h) * n)]; }

  const lintel_kernel &kernel;
  std::vector<lintel_array> inputs;
  lintel_array out;
  std::map<std::string, std::vector<float>> data;

private:
  lintel_array make(const lintel_parameter &p) {
    std::vector<int64_t> shape;
    if (p.kind == LINTEL_TOKEN || p.kind == LINTEL_OUT) shape = {B, T, H};
    if (p.kind == LINTEL_HEAD) shape = {H};
    shape.insert(shape.end(), p.dim, p.dim + p.rank);
    size_t size = 1;
    for (int64_t n : shape) size *= size_t(n);
    std::vector<float> &values = data[p.name];
    values.resize(size);
    return lintel_array_contiguous(values.data(), p.dtype, int32_t(shape.size()), shape.data());
  }
};

/// A linear attention as plain loops; returns the largest difference from what the kernel gave.
double differenceFrom(Run &run, double decay, double scale, bool normalize, const std::function<double(double)> &phi) {
  const int64_t dk = run.kernel.inputs[0].dim[0], dv = run.kernel.out->dim[0];
  double largest = 0;
  for (int64_t h = 0; h < H; ++h) {
    std::vector<double> S(size_t(dk * dv)), z(static_cast<size_t>(dk));
    for (int64_t t = 0; t < T; ++t) {
      const float *q = run.row("q", t, h, dk), *k = run.row("k", t, h, dk), *v = run.row("v", t, h, dv);
      const float *found = run.row("out", t, h, dv);
      double den = 0;
      for (int64_t c = 0; c < dk; ++c) {
        z[size_t(c)] = decay * z[size_t(c)] + phi(k[c]);
        den += phi(scale * q[c]) * z[size_t(c)];
      }
      for (int64_t e = 0; e < dv; ++e) {
        double sum = 0;
        for (int64_t c = 0; c < dk; ++c) {
          double &s = S[size_t(c * dv + e)];
          s = decay * s + phi(k[c]) * v[e];
          sum += phi(scale * q[c]) * s;
        }
        const double difference = std::fabs((normalize ? sum / den : sum) - found[e]);
        if (!(difference <= largest)) largest = difference; // also when it is not a number
      }
    }
  }
  return largest;
}

} // namespace

int main() {
  bool good = true;
  const auto report = [&](const lintel_kernel &kernel, double difference) {
    std::printf("%s, dk = %lld, dv = %lld: largest difference %.1e\n", kernel.name,
                static_cast<long long>(kernel.inputs[0].dim[0]), static_cast<long long>(kernel.out->dim[0]),
                difference);
    good = good && difference < 1e-3;
  };
  for (const lintel_kernel *kernel : {&lintel_retnet_dk64_dv64_f32, &lintel_retnet_dk16_dv32_f32}) {
    Run run(*kernel);
    if (!run.go()) return 1;
    const double dk = double(kernel->inputs[0].dim[0]);
    report(*kernel, differenceFrom(run, 0.9f, 1 / std::sqrt(dk), false, [](double x) { return x; }));
  }
  Run run(lintel_elu_dk64_dv64_f32);
  if (!run.go()) return 1;
  const auto eluPlusOne = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  report(run.kernel, differenceFrom(run, 1, 1, true, eluPlusOne));
  return good ? 0 : 1;
}

// What the kernels compute: one head of causal linear attention,
//   S_t = decay_t S_{t-1} + phi(k_t) v_t^T,   o_t = scale phi(q_t) S_t   (elu: divided by phi(q_t) . sum phi(k)).
#pragma once
#include <cstdint>

namespace expert {

enum class Mode : int32_t { Elu, Identity, Retnet, ScalarGate, Gla };

/// One decay a step, the same for all channels.
constexpr bool hasScalarDecay(Mode mode) { return mode == Mode::Retnet || mode == Mode::ScalarGate; }

struct Head {
  int64_t steps;
  const float *q, *k, *v;
  const float *gate; // log-decays: a number a step (ScalarGate), a row a step (Gla)
  float *out;
  int64_t step;     // floats from one row of q, k, v, out to the next
  int64_t gateStep; // the same for the gate
  float logDecay;   // Retnet
  float scale;
};

} // namespace expert

"""The operators of the benchmark: inputs, and what is right, computed step by step in float64.

Arrays have the shapes of compiled operators: token inputs [B, T, H, n] (or [B, T, H]), head inputs [H, n] (or [H]),
the state [B, H, dk, dv], the output [B, T, H, dv]; B is 1. Names are those of the specs in examples/specs.
"""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


def elu_plus_one(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


class Operator:
    """make(random, T, H, d) gives the inputs; steps(inputs) what of them each step needs, in float64; step(S, x) one
    step for some heads at once: S [h, dk, dv] is changed in place, the output [h, dv] returned."""

    def __init__(self, name, make, step, dimensions=("dk", "dv"), scaled=False):
        self.name, self.make, self.step, self.dimensions, self.scaled = name, make, step, dimensions, scaled


def tokens(random, T, H, d, names):
    return {name: random.standard_normal((1, T, H, d)) for name in names}


def qkv(random, T, H, d):
    return tokens(random, T, H, d, "qkv")


def with_gamma(random, T, H, d):
    return dict(qkv(random, T, H, d), gamma=1 - 2.0 ** (-5 - np.arange(H) % 8))


def with_gate(random, T, H, d):
    return dict(qkv(random, T, H, d), g=np.log(sigmoid(random.standard_normal((1, T, H)) + 3)))


def with_channel_gates(random, T, H, d):
    return dict(qkv(random, T, H, d), g=np.log(sigmoid(random.standard_normal((1, T, H, d)) + 1)) / 16)


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def for_delta(random, T, H, d):
    x = qkv(random, T, H, d)
    return dict(x, k=unit(x["k"]), beta=sigmoid(random.standard_normal((1, T, H))))


def for_gated_delta(random, T, H, d):
    return dict(for_delta(random, T, H, d), g=np.log(sigmoid(random.standard_normal((1, T, H)) + 3)))


def for_rwkv6(random, T, H, d):
    x = tokens(random, T, H, d, "qkvw")
    return dict(x, w=-np.exp(0.5 * x["w"] - 3), u=random.standard_normal((H, d)))


def for_rwkv7(random, T, H, d):
    x = tokens(random, T, H, d, ("q", "w", "k", "v", "kappa", "a"))
    return dict(x, w=-np.exp(-0.5) * sigmoid(x["w"]), k=x["k"] * d ** -0.5, a=sigmoid(x["a"]))


def for_mamba2(random, T, H, d):
    # D is 0: the operators that this is compared with have no skip.
    return dict(tokens(random, T, H, d, "CBx"), dt=random.standard_normal((1, T, H)) - 3,
                A=np.log(1 + np.arange(H) % 16), D=np.zeros(H), bias=0.1 * random.standard_normal(H))


def outer(k, v):
    return k[:, :, None] * v[:, None, :]


def read(q, S):
    return np.einsum("hk,hkv->hv", q, S)


def elu_step(S, x):
    # The sum of the features of keys is one more column of the state, whose values are 1.
    k, q = elu_plus_one(x["k"]), elu_plus_one(x["q"])
    S += outer(k, np.concatenate([x["v"], np.ones_like(x["v"][:, :1])], axis=1))
    out = read(q, S)
    return out[:, :-1] / out[:, -1:]


def decayed(decay, scale=lambda d: 1.0):
    def step(S, x):
        S *= decay(x)
        S += outer(x["k"], x["v"])
        return read(x["q"], S) * scale(S.shape[1])
    return step


def delta_step(S, x):
    S += outer(x["k"], x["beta"][:, None] * (x["v"] - read(x["k"], S)))
    return read(x["q"], S)


def gated_delta_step(S, x):
    S *= np.exp(x["g"])[:, None, None]
    return delta_step(S, x)


def rwkv6_step(S, x):
    new = outer(x["k"], x["v"])
    out = read(x["q"], S + x["u"][:, :, None] * new)
    S *= np.exp(x["w"])[:, :, None]
    S += new
    return out


def rwkv7_step(S, x):
    direction = x["kappa"] / np.maximum(np.linalg.norm(x["kappa"], axis=1, keepdims=True), 1e-12)
    forget = outer(x["a"] * direction, read(direction, S))
    S *= np.exp(x["w"])[:, :, None]
    S += outer(x["k"], x["v"]) - forget
    return read(x["q"], S)


def mamba2_step(S, x):
    dt = softplus(x["dt"] + x["bias"])[:, None]
    S *= np.exp(-np.exp(x["A"])[:, None] * dt)[:, :, None]
    S += outer(x["B"], dt * x["x"])
    return read(x["C"], S) + x["D"][:, None] * x["x"]


def rsqrt(d):
    return d ** -0.5


OPERATORS = {operator.name: operator for operator in [
    Operator("elu", qkv, elu_step),
    Operator("identity", qkv, decayed(lambda x: 1.0)),
    Operator("retnet", with_gamma, decayed(lambda x: x["gamma"][:, None, None], rsqrt), scaled=True),
    Operator("scalar_gate", with_gate, decayed(lambda x: np.exp(x["g"])[:, None, None])),
    Operator("gla", with_channel_gates, decayed(lambda x: np.exp(x["g"])[:, :, None], rsqrt), scaled=True),
    Operator("delta", for_delta, delta_step),
    Operator("gated_delta", for_gated_delta, gated_delta_step),
    Operator("rwkv6", for_rwkv6, rwkv6_step),
    Operator("rwkv7", for_rwkv7, rwkv7_step),
    Operator("mamba2", for_mamba2, mamba2_step, dimensions=("n", "p")),
    Operator("softmax", qkv, None, scaled=True),
]}


def inputs(name, T, H, d, seed=1):
    """The inputs of an operator as float32, the same for the same arguments."""
    made = OPERATORS[name].make(np.random.default_rng(seed), T, H, d)
    return {key: np.ascontiguousarray(value, dtype=np.float32) for key, value in made.items()}


def initial_state(name, H, d, seed=2):
    return np.random.default_rng(seed).standard_normal((1, H, d, d)).astype(np.float32)


def reference(name, arrays, state=None):
    """(heads, steps, values): values[i, j] is the output of head heads[i] at step steps[j], in float64.

    Short sequences are computed for all heads, long ones (more than 1024 steps) for the first and the last from the
    first step to the last; softmax is computed at 128 steps, among them the last."""
    first = next(iter(arrays.values()))
    T, H, d = first.shape[1], first.shape[2], first.shape[3]
    heads = np.arange(H) if T <= 1024 else np.array([0, H - 1])
    wide = {}
    for key, value in arrays.items():
        of_heads = value[0][:, heads] if value.ndim > 2 else value[heads]
        wide[key] = np.asarray(of_heads, dtype=np.float64)
    if name == "softmax":
        return heads, *softmax_reference(wide, T, d)
    S = np.zeros((len(heads), d, d + (name == "elu")))
    if state is not None:
        S[:, :, :d] = state[0][heads]
    token = {key for key, value in arrays.items() if value.ndim > 2}
    values = np.empty((len(heads), T, d))
    for t in range(T):
        values[:, t] = OPERATORS[name].step(S, {key: value[t] if key in token else value for key, value in wide.items()})
    return heads, np.arange(T), values


def softmax_reference(wide, T, d):
    steps = np.unique(np.append(np.random.default_rng(3).integers(0, T, 127), T - 1))
    values = np.empty((wide["q"].shape[1], len(steps), d))
    for i, t in enumerate(steps):
        scores = np.einsum("hd,thd->ht", wide["q"][t], wide["k"][:t + 1]) * d ** -0.5
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        values[:, i] = np.einsum("ht,thd->hd", weights, wide["v"][:t + 1]) / weights.sum(axis=1, keepdims=True)
    return steps, values


def error(out, checked):
    """The largest difference of an output [1, T, H, dv] from the reference, relative to its largest value."""
    heads, steps, values = checked
    found = np.asarray(out[0], dtype=np.float64)[steps][:, heads].transpose(1, 0, 2)
    if not np.isfinite(found).all():
        return float("inf")
    return float(np.abs(found - values).max() / np.abs(values).max())

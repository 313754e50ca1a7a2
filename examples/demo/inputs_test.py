"""The demo's inputs: normal, causal, and the direct sums right where the answer is known."""

import numpy as np

import inputs
import plot

numbers = inputs.normal(7, (200, 200))
assert abs(numbers.mean()) < 0.02 and abs(numbers.std() - 1) < 0.02

x = inputs.tokens_of(b"the same text, then another end")
y = inputs.tokens_of(b"the same text, then an other one")
assert np.array_equal(x[:22], y[:22]) and not np.array_equal(x[-1], y[-1]), "a token depends on later ones"
assert np.allclose((x * x).mean(axis=1), 1)

arrays = inputs.project(x, 2)
assert arrays["q"].shape == (1, len(x), 2, inputs.WIDTH) and arrays["q"].dtype == np.float32
arrays["gamma"], arrays["omega"] = np.array([0.0, 1.0], np.float32), inputs.random_features(128, 0)
for name in inputs.WEIGHTS:
    first = inputs.direct(name, arrays, [0])[0, 0]
    if name != "retnet":  # one key has all the weight
        assert np.allclose(first, arrays["v"][0, 0]), name
memory = np.einsum("thc,the->hce", arrays["k"][0].astype(float), arrays["v"][0].astype(float))
last = inputs.direct("retnet", arrays, [len(x) - 1])[0, 0]
assert np.allclose(last[1], arrays["q"][0, -1, 1].astype(float) @ memory[1] / 8), "gamma = 1 keeps everything"

omega = inputs.random_features(128, 3).astype(float)
gram = omega[:64] @ omega[:64].T
assert np.allclose(gram, np.diag(np.diag(gram)), atol=1e-3)
assert plot.draw({"a & b": [(1, 1e-3), (10, 1e-2)]}, [(64, 0.5), (256, 0.2)], "x").count("&amp;") == 1
print("demo inputs: ok")

#!/usr/bin/env bash
# Lesson 1: from a spec and arrays to a result. Needs lintel and a python with NumPy on PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# Any program that writes .npy files will do. Tokens are [batch, time, head, n], what each head has is [head].
python - <<'PYTHON'
import numpy as np
random = np.random.default_rng(1)
for name, shape in (("q", (1, 100, 2, 8)), ("k", (1, 100, 2, 8)), ("v", (1, 100, 2, 4))):
    np.save(name + ".npy", random.standard_normal(shape, dtype=np.float32))
np.save("gamma.npy", np.array([0.9, 0.99], dtype=np.float32))
PYTHON
arrays="--in q=q.npy --in k=k.npy --in v=v.npy --in gamma=gamma.npy"

# Dimensions come from the arrays; the kernel is compiled on the spot. S is the memory after the last step.
lintel run "$here/first.attn" $arrays --out out.npy --final S=memory.npy

# The same by the interpreter, which is slow and exact.
lintel run "$here/first.attn" $arrays --out exact.npy --interpret

# And the same by hand: this is all that the operator does.
python - <<'PYTHON'
import numpy as np
q, k, v, gamma = (np.load(name + ".npy").astype(np.float64) for name in ("q", "k", "v", "gamma"))
S = np.zeros((2, 8, 4))
out = np.zeros((1, 100, 2, 4))
for t in range(100):
    for h in range(2):
        S[h] = gamma[h] * S[h] + np.outer(k[0, t, h], v[0, t, h])
        out[0, t, h] = q[0, t, h] @ S[h]
for name, want in (("out", out), ("exact", out), ("memory", S[None])):
    error = np.abs(np.load(name + ".npy") - want).max()
    print("%-6s differs by at most %.1e" % (name, error))
    assert error < 1e-3, name
PYTHON

"""Queries, keys and values of a text, and the operators written as direct sums over all earlier tokens.

The embedding is fixed by the formulas below and downloads nothing:

  1. Every byte value has a vector of 64 standard normal numbers.
  2. A token is its own vector plus those of the three bytes before it, each turned by a fixed random matrix and weighted
     by 1, 0.7, 0.5, 0.35; scaled to a root mean square of 1. So a token knows its context, and equal bytes differ.
  3. Each head projects tokens by three fixed matrices. Its key matrix is 0.8 times its query matrix plus 0.6 times
     another, so that tokens of like context attend to each other; queries and keys are scaled by 0.7, which keeps
     softmax far from both uniform and one-hot (the demo prints how many keys share the weight).

Normal numbers come from SplitMix64 and Box-Muller, which are the same on every machine.
"""

import numpy as np

WIDTH = 64


def uniform(seed, shape):
    count = int(np.prod(shape))
    with np.errstate(over="ignore"):
        x = (np.arange(1, count + 1, dtype=np.uint64) + (np.uint64(seed) << np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return (((x >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53).reshape(shape)


def normal(seed, shape):
    u, v = uniform(2 * seed, shape), uniform(2 * seed + 1, shape)
    return np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)


def tokens_of(text):
    """[T, WIDTH] from bytes."""
    codes = np.frombuffer(text, dtype=np.uint8)
    table = normal(1, (256, WIDTH))
    x = np.zeros((len(codes), WIDTH))
    for back, weight in enumerate((1.0, 0.7, 0.5, 0.35)):
        turned = table @ (normal(2 + back, (WIDTH, WIDTH)) / np.sqrt(WIDTH))
        x[back:] += weight * turned[codes][: len(codes) - back]
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True))


def project(x, heads):
    """q, k, v as f32 [1, T, heads, WIDTH]."""
    q, k, v = [], [], []
    for head in range(heads):
        a, b, c = (normal(100 + 3 * head + i, (WIDTH, WIDTH)) / np.sqrt(WIDTH) for i in range(3))
        q.append(0.7 * (x @ a))
        k.append(0.7 * (x @ (0.8 * a + 0.6 * b)))
        v.append(x @ c)
    return {name: np.ascontiguousarray(np.stack(parts, axis=1)[None], dtype=np.float32)
            for name, parts in (("q", q), ("k", k), ("v", v))}


def random_features(m, draw):
    """omega [m, WIDTH]: in each group of WIDTH rows orthogonal, of the lengths that normal rows have."""
    rows = []
    for start in range(0, m, WIDTH):
        g = normal(10000 + 100 * m + 1000000 * draw + start // WIDTH, (WIDTH, WIDTH))
        rows.append(np.linalg.qr(g.T)[0].T * np.linalg.norm(g, axis=1, keepdims=True))
    return np.ascontiguousarray(np.concatenate(rows)[:m], dtype=np.float32)


def decays(heads):
    """RetNet's: 1 - 2^-5, 1 - 2^-6, ..."""
    return (1 - 2.0 ** -(5 + np.arange(heads))).astype(np.float32)


# ---- The operators in float64, for single rows: nothing of them is shared with the compiler ----

def direct(operator, arrays, rows):
    """out [1, rows, heads, WIDTH] at the given steps, as sums over all steps up to each."""
    q, k, v = (arrays[name][0].astype(np.float64) for name in ("q", "k", "v"))
    rows = np.asarray(rows)
    seen = np.arange(len(k)) <= rows[:, None]
    out = np.zeros((1, len(rows)) + v.shape[1:])
    for head in range(v.shape[1]):
        weight = np.where(seen, WEIGHTS[operator](q[rows, head], k[:, head], rows, arrays, head), 0)
        if operator != "retnet":
            weight /= weight.sum(axis=1, keepdims=True)
        out[0, :, head] = weight @ v[:, head]
    return out


# Each gives the weights [rows, T] of all keys, also of later ones.
def _softmax(q, k, rows, arrays, head):
    return np.exp(q @ k.T / np.sqrt(WIDTH))


def _elu(q, k, rows, arrays, head):
    phi = lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
    return phi(q) @ phi(k).T


def _favor(q, k, rows, arrays, head):
    weight = 0
    for omega in np.array_split(arrays["omega"].astype(np.float64), max(1, len(arrays["omega"]) // 128)):
        phi = lambda x: np.exp((x * WIDTH**-0.25) @ omega.T - (x * x).sum(axis=-1, keepdims=True) / np.sqrt(WIDTH) / 2)
        weight = weight + phi(q) @ phi(k).T
    return weight


def _retnet(q, k, rows, arrays, head):
    age = np.maximum(rows[:, None] - np.arange(len(k)), 0)
    return (q @ k.T) / np.sqrt(WIDTH) * arrays["gamma"].astype(np.float64)[head] ** age


WEIGHTS = {"softmax": _softmax, "elu": _elu, "favor": _favor, "retnet": _retnet}


def keys_that_share(arrays, t, head=0):
    """How many keys share softmax's weight at step t: the exponential of its entropy."""
    q, k = (arrays[name][0, : t + 1, head].astype(np.float64) for name in ("q", "k"))
    weight = _softmax(q[t:], k, None, arrays, head)
    weight /= weight.sum()
    return float(np.exp(-(weight * np.log(weight)).sum()))

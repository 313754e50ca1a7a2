"""exponents.py DIR: inputs whose states pass the range of f32, whole (k) and in two pieces (k1, k2).
exponents.py check FILE...: the structured arrays that lintel writes, read with NumPy alone; prints type and exponents.
exponents.py same A B: fails unless both files hold the same numbers, bit for bit.
exponents.py close A B BOUND: the same within BOUND, relative, with the exponents multiplied in where that can be.
"""

import pathlib
import sys

import numpy as np


def fill(folder, split):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    normal = lambda scale, *shape: (scale * rng.standard_normal(shape)).astype("float32")
    B, T, H = 2, 24, 3
    k = normal(20, B, T, H)
    k[:, 3:9] += 1e4
    k[:, 20:] -= 1e4
    i = normal(5, B, T, H)
    i[:, 2:14] += 200
    arrays = {
        "rk": k, "rv": normal(1, B, T, H), "mq": normal(1, B, T, H, 4), "mk": normal(1, B, T, H, 4), "mi": i,
        "mv": normal(1, B, T, H, 3), "mf": normal(2, B, T, H), "fq": normal(30, B, T, H, 4), "fk": normal(30, B, T, H, 4),
    }
    np.save(folder / "rw.npy", np.float32([0.5, 3, 0.01]))
    np.save(folder / "ru.npy", np.float32([0.25, -2, 1]))
    np.save(folder / "omega.npy", normal(1, 8, 4))
    # Channels of one vector, far apart from each other; two of them change places.
    places = np.where(np.arange(T) < 13, 1, -1)[:, None, None] * np.float32([1e4, 0, -1e4, 0]) + np.float32([0, 0, 0, -1e4])
    arrays["ck"] = (normal(20, B, T, H, 4) + places).astype("float32")
    arrays["cv"] = normal(1, B, T, H, 4)
    np.save(folder / "cw.npy", np.float32([[0.5, 3, 0.01, 1]] * H))
    np.save(folder / "cu.npy", np.float32([[0.25, -2, 1, 0]] * H))
    # One state in three ways: with an exponent for each channel, the same for all of a head, and one for the head.
    for name, shape in {"each": (4,), "common": (4,), "head": ()}.items():
        for state in ("num", "den"):
            x = np.zeros((B, H), [(state, "<f4", (4,)), ("exponent", "<i4", shape)])
            x[state] = np.float32([1, 2, 0, 3])
            x["exponent"] = 300
            if name == "each":
                x[state], x["exponent"] = [8, 1, 0, 24], [297, 301, -5, 297]
            np.save(folder / f"{name}_{state}.npy", x)
    for name, x in arrays.items():
        np.save(folder / f"{name}.npy", x)
        np.save(folder / f"{name}_1.npy", x[:, :split])
        np.save(folder / f"{name}_2.npy", x[:, split:])
        # Packed: the second sequence's first steps, all of the first.
        np.save(folder / f"{name}_p1.npy", np.concatenate([x[0, :split], x[1, :1]])[None])
        np.save(folder / f"{name}_p2.npy", np.concatenate([x[0, split:], x[1, 1:]])[None])


def describe(path):
    x = np.load(path)
    if x.dtype.names is None:
        print(pathlib.Path(path).name, x.dtype, x.shape, "plain")
        return
    state, exponent = x.dtype.names
    p = x[exponent]
    assert np.isfinite(x[state]).all() and (p == np.trunc(p)).all()
    print(pathlib.Path(path).name, x.dtype.descr, x.shape, "exponents", "up to" if p.max() > 0 else "down to",
          int(p.max() if p.max() > 0 else p.min()))


def main():
    command, *rest = sys.argv[1:]
    if command == "check":
        for path in rest:
            describe(path)
    elif command == "same":
        a, b = np.load(rest[0]), np.load(rest[1])
        if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
            sys.exit(f"{rest[0]} and {rest[1]} differ: {a.dtype} {a.shape} and {b.dtype} {b.shape}")
    elif command == "close":
        a, b = np.load(rest[0]), np.load(rest[1])
        if a.dtype.names is None and b.dtype.names is None:
            top, error = np.abs(b).max(), np.abs(a.astype("f8") - b).max()
        else:
            (s, e), (t, f) = a.dtype.names, b.dtype.names
            assert s == t and e == f
            by = np.exp2(a[e] - b[f]).astype("f8")
            by = by.reshape(by.shape + (1,) * (a[s].ndim - by.ndim))
            top, error = np.abs(b[t]).max(), np.abs(a[s] * by - b[t]).max()
        if not error <= float(rest[2]) * top:
            sys.exit(f"{rest[0]} and {rest[1]} differ by {error} where the largest is {top}")
    else:
        fill(pathlib.Path(command), 16)


main()

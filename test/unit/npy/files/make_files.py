#!/usr/bin/env python3
"""Wrote the .npy files of this folder, once, with NumPy 2.4; their contents are what NpyTest.cpp expects.

a[i, j, k] = 100 i + 10 j + k - 50.5 for shape (2, 3, 4), in each type and order.
"""
import pathlib
import numpy as np
from numpy.lib import format

at = pathlib.Path(__file__).parent
i, j, k = np.ogrid[0:2, 0:3, 0:4]
a = 100.0 * i + 10.0 * j + k - 50.5
for name in ("f8", "f4", "f2"):
    np.save(at / f"{name}.npy", a.astype("<" + name))
    np.save(at / f"{name}_fortran.npy", np.asfortranarray(a.astype("<" + name)))
for version in ((2, 0), (3, 0)):
    with open(at / f"version{version[0]}.npy", "wb") as f:
        format.write_array(f, a.astype("<f4"), version=version)
bits = (a.astype("<f4").view("<u4") >> 16).astype("<u2")  # exact: few digits
np.save(at / "bf16_uint16.npy", bits)
np.save(at / "bf16_void.npy", bits.view("V2"))  # as ml_dtypes.bfloat16 is saved
np.save(at / "scalar.npy", np.float32(2.5))
np.save(at / "vector.npy", np.arange(3, dtype="<f4"))
np.save(at / "empty.npy", np.zeros((2, 0, 3), "<f4"))
np.save(at / "sliced.npy", np.arange(12, dtype="<f4").reshape(3, 4)[::-1, ::2])
np.save(at / "special.npy", np.array([np.inf, -np.inf, np.nan, -0.0, 5e-324, 1e308]))
np.save(at / "big_endian.npy", a.astype(">f4"))
np.save(at / "int64.npy", np.arange(3))
np.save(at / "bool.npy", np.array([True, False]))
np.save(at / "complex.npy", np.array([1 + 2j]))
np.save(at / "text.npy", np.array(["ab", "c"]))
np.save(at / "pickled.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
np.save(at / "structured.npy", np.zeros(2, dtype=[("x", "<f4"), ("y", "<i4")]))
np.savez(at / "archive.npz", a=a.astype("<f2"))

# States beside exponents: S[b, h, i, j] = 100 b + 10 h + 3 i + j, exponent[b, h] = 1000 b - 7 h.
b, h, i, j = np.ogrid[0:2, 0:3, 0:2, 0:3]
for name, order, fields in (
    ("state_f4", "C", [("S", "<f4", (2, 3)), ("exponent", "<f4")]),
    ("state_f8_i8", "C", [("S", "<f8", (2, 3)), ("exponent", "<i8")]),
    ("state_i4_first", "C", [("exponent", "<i4"), ("S", "<f4", (2, 3))]),
    ("state_fortran", "F", [("S", "<f4", (2, 3)), ("exponent", "<f4")]),
):
    state = np.zeros((2, 3), dtype=fields, order=order)
    state["S"] = 100 * b + 10 * h + 3 * i + j
    state["exponent"] = (1000 * b - 7 * h)[:, :, 0, 0]
    np.save(at / f"{name}.npy", state)

"""arrays.py DIR NAME=SHAPE[:DTYPE]...: random .npy arrays, the same on every run; a shape is 1x4x2x8, or `s` for a scalar."""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(1)
for item in sys.argv[2:]:
    name, shape = item.split("=")
    shape, _, dtype = shape.partition(":")
    shape = () if shape == "s" else tuple(int(n) for n in shape.split("x"))
    np.save(folder / f"{name}.npy", rng.standard_normal(shape).astype(dtype or "float32"))

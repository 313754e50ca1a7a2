"""overflow.py DIR: keys whose sum passes f32's range at step 1 of head 2, for queries that bring the result back into it."""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
shape = (1, 4, 4, 4)
large = np.ones(shape, np.float32)
large[0, :2, 2] = 2e38
small = np.full(shape, 0.25, np.float32)
small[0, :, 2] = 2.5e-10
np.save(folder / "large.npy", large)
np.save(folder / "small.npy", small)
np.save(folder / "ones.npy", np.ones(shape, np.float32))

"""compare.py A B BOUND: fails unless the arrays have one shape and differ by at most BOUND; prints A's dtype and shape."""

import sys

import numpy as np

a, b = np.load(sys.argv[1]), np.load(sys.argv[2])
print(a.dtype, a.shape)
difference = np.abs(a.astype(np.float64) - b.astype(np.float64)).max() if a.size else 0.0
if a.shape != b.shape or not difference <= float(sys.argv[3]):
    sys.exit(f"{a.shape} and {b.shape} differ by {difference}")

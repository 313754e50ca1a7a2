"""The library of hand-written kernels, which also has the loop that calls others."""

import ctypes
import os

from suite.candidate import Missing


def library(settings):
    path = settings["expert"]
    if not os.path.exists(path):
        raise Missing("no library at %s; build the target lintel_bench_expert" % path)
    return ctypes.CDLL(path)


def load(settings):
    """expert_repeat(function, a, b, count)."""
    repeat = library(settings).expert_repeat
    repeat.restype = ctypes.c_int64
    repeat.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    return repeat


def peak_gflops(settings):
    peak = library(settings).expert_peak_gflops
    peak.restype = ctypes.c_double
    return peak()

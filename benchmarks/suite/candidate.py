"""One way in which a rival computes a case."""

import ctypes

import numpy as np

INT_OF_TWO_POINTERS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class Missing(Exception):
    """The rival has no such operator, or what it needs is not installed."""


def aligned(array, dtype=np.float32):
    """A copy that starts at a multiple of 64 bytes, where rivals may demand it."""
    array = np.asarray(array, dtype=dtype)
    memory = np.empty(array.nbytes + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start:start + array.nbytes].view(dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Candidate:
    """run(count) computes `count` times; out() gives the last output as [1, T, H, dv]. A state that runs update stands
    in `state`, so that it can be set back; keep holds what must live as long."""

    def __init__(self, label, run, out, state=None, keep=None):
        self.label, self.run, self.out, self.state, self.keep = label, run, out, state, keep
        self.first = None if state is None else state.copy()

    def begin(self):
        if self.state is not None:
            self.state[...] = self.first


def repeated(function):
    """run(count) of a Python function."""
    def run(count):
        for _ in range(count):
            function()
    return run


def native(repeat, function, a, b):
    """run(count) of an int (*)(void *, void *) whose loop is native, too: a call from Python costs as much as a short
    decode."""
    def run(count):
        status = repeat(function, a, b, count)
        if status:
            raise RuntimeError("a call failed (status %d)" % status)
    return run

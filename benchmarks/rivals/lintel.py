"""Lintel: `lintel compile` writes a library, which is called through the C interface as any program would."""

import ctypes
import glob
import json
import os
import subprocess

import numpy as np

from suite.candidate import Candidate, Missing, aligned, native
from suite.cases import is_decode
from suite.operators import OPERATORS

from . import native_loop

MAX_RANK = 5
F32 = 1


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * MAX_RANK), ("stride", ctypes.c_int64 * MAX_RANK),
                ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32)]


class Executor(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("threads", ctypes.c_int), ("run", ctypes.c_void_p)]


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 256)]


class Call(ctypes.Structure):
    """lintel_call of lintel/runtime.h."""
    _fields_ = [("kernel", ctypes.c_void_p), ("inputs", ctypes.POINTER(Array)), ("states_in", ctypes.POINTER(Array)),
                ("states_out", ctypes.POINTER(Array)), ("out", ctypes.POINTER(Array)), ("position", ctypes.c_int64),
                ("positions", ctypes.c_void_p), ("lengths", ctypes.c_void_p), ("num_lengths", ctypes.c_int64),
                ("form", ctypes.c_char_p), ("chunk", ctypes.c_int64), ("scratch", ctypes.c_void_p),
                ("scratch_bytes", ctypes.c_uint64), ("executor", ctypes.c_void_p), ("states_in_at", ctypes.c_void_p),
                ("states_out_at", ctypes.c_void_p), ("exponents_in", ctypes.c_void_p), ("exponents_out", ctypes.c_void_p),
                ("exponents_in_at", ctypes.c_void_p), ("exponents_out_at", ctypes.c_void_p), ("parts", ctypes.c_int32)]


def described(array):
    result = Array(data=array.ctypes.data, rank=array.ndim, dtype=F32)
    for axis in range(array.ndim):
        result.shape[axis], result.stride[axis] = array.shape[axis], array.strides[axis] // array.itemsize
    return result


def compiled(case, settings):
    """(folder, manifest) of the operator, compiled unless this compiler has done so before."""
    binary = settings["lintel"]
    if not os.access(binary, os.X_OK):
        raise Missing("no compiler at %s; build it with `make`" % binary)
    stamp = os.stat(binary)
    spec = os.path.join(settings["specs"], case.operator + ".attn")
    folder = os.path.join(settings["cache"], "%s-%d-%d-%d" % (case.operator, case.d, stamp.st_mtime_ns, os.stat(spec).st_mtime_ns))
    if not glob.glob(os.path.join(folder, "*.json")):
        dims = [option for name in OPERATORS[case.operator].dimensions for option in ("--dim", "%s=%d" % (name, case.d))]
        done = subprocess.run([binary, "compile", spec, *dims, "-o", folder], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError("lintel compile failed: %s" % done.stderr.strip())
    with open(glob.glob(os.path.join(folder, "*.json"))[0], encoding="utf-8") as file:
        return folder, json.load(file)


def libraries(folder, manifest, settings):
    runtime = ctypes.CDLL(settings["runtime"], mode=ctypes.RTLD_GLOBAL)
    runtime.lintel_pool_create.restype = runtime.lintel_pool_executor.restype = ctypes.c_void_p
    runtime.lintel_pool_executor.argtypes = [ctypes.c_void_p]
    runtime.lintel_scratch_bytes.restype = ctypes.c_uint64
    runtime.lintel_scratch_bytes.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int]
    library = ctypes.CDLL(os.path.join(folder, next(name for name in manifest["files"] if name.endswith(".so"))))
    return runtime, library


def candidates(case, inputs, state, settings):
    folder, manifest = compiled(case, settings)
    runtime, library = libraries(folder, manifest, settings)
    kernel = ctypes.addressof(ctypes.c_char.in_dll(library, manifest["symbol"]))
    error = Error()
    heads_first = settings.get("heads_first", False)

    def laid(array):
        """Token inputs in the layout that is asked for; the axes stay [B, T, H, ...]."""
        if heads_first and array.ndim > 2:
            return aligned(np.swapaxes(array, 1, 2)).swapaxes(1, 2)
        return aligned(array)

    arrays = [laid(inputs[parameter["name"]]) for parameter in manifest["inputs"]]
    out = laid(np.zeros((1, case.T, case.H, case.d), dtype=np.float32))
    described_inputs = (Array * len(arrays))(*map(described, arrays))
    described_out = (Array * 1)(described(out))
    call = Call(kernel=kernel, inputs=described_inputs, out=described_out)
    if is_decode(case):
        call.form = b"recurrent"
    own_state = None
    described_state = None
    if state is not None:
        own_state = aligned(state)
        described_state = (Array * 1)(described(own_state))
        call.states_in = call.states_out = described_state
    if case.threads > 1:
        pool = runtime.lintel_pool_create(case.threads, ctypes.byref(error))
        call.executor = runtime.lintel_pool_executor(pool)
    scratch_bytes = runtime.lintel_scratch_bytes(kernel, call.form, 0, case.threads)
    scratch = aligned(np.zeros(scratch_bytes, dtype=np.uint8), np.uint8)
    call.scratch, call.scratch_bytes = scratch.ctypes.data, scratch_bytes
    if runtime.lintel_check(ctypes.byref(call), ctypes.byref(error)):
        raise RuntimeError("lintel_check: %s" % error.message.decode())
    repeat = native_loop.load(settings)
    run = native(repeat, ctypes.cast(runtime.lintel_run, ctypes.c_void_p), ctypes.addressof(call), ctypes.addressof(error))
    variants = [v for v in manifest["variants"] if not is_decode(case) or v["form"] == "recurrent"]
    chosen = "%s, chunk %d" % (variants[0]["form"], variants[0]["chunk"])
    return [Candidate(chosen, run, lambda: out, own_state,
                      keep=(arrays, described_inputs, described_out, described_state, call, error, scratch, runtime, library))]

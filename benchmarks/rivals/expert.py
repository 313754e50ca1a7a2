"""Kernels written by hand (benchmarks/expert), in the fastest of their variants."""

import ctypes

import numpy as np

from suite.candidate import Candidate, Missing, aligned, native
from suite.cases import is_decode
from suite.operators import OPERATORS

from . import native_loop

MODES = {"elu": 0, "identity": 1, "retnet": 2, "scalar_gate": 3, "gla": 4}
FLOATS = ctypes.c_void_p


class Call(ctypes.Structure):
    """expert_call of expert/expert.h."""
    _fields_ = ([(name, ctypes.c_int32) for name in ("mode", "size", "variant", "threads")]
                + [(name, ctypes.c_int64) for name in ("steps", "heads")]
                + [(name, FLOATS) for name in ("q", "k", "v", "gate", "log_decay", "out", "state")]
                + [(name, ctypes.c_int64) for name in ("step", "head", "gate_step", "gate_head")]
                + [("scale", ctypes.c_float)])


def candidates(case, inputs, state, settings):
    if case.operator not in MODES or (is_decode(case) and MODES[case.operator] < 2):
        raise Missing("nobody wrote this one by hand")
    library = native_loop.library(settings)
    library.expert_variant_name.restype = ctypes.c_char_p
    repeat = native_loop.load(settings)
    heads_first = settings.get("heads_first", False)

    def laid(array):
        return aligned(np.swapaxes(array, 1, 2) if heads_first else array)

    arrays = {name: laid(inputs[name]) for name in inputs if name != "gamma"}
    out = laid(np.zeros((1, case.T, case.H, case.d), dtype=np.float32))
    rows = case.T if heads_first else case.H  # how many lie between two of the outer axis

    def made(variant):
        call = Call(mode=MODES[case.operator], size=case.d, variant=variant, threads=case.threads, steps=case.T, heads=case.H)
        for name in "qkv":
            setattr(call, name, arrays[name].ctypes.data)
        call.out = out.ctypes.data
        call.step, call.head = (case.d, rows * case.d) if heads_first else (rows * case.d, case.d)
        call.scale = case.d ** -0.5 if OPERATORS[case.operator].scaled else 1
        width = case.d if case.operator == "gla" else 1
        call.gate_step, call.gate_head = (width, rows * width) if heads_first else (rows * width, width)
        return call

    def last_out():
        return out.swapaxes(1, 2) if heads_first else out

    kept = [library, arrays, out]
    if "gamma" in inputs:
        kept.append(aligned(np.log(inputs["gamma"].astype(np.float64))))
    result = []
    if is_decode(case):
        decay = aligned(inputs["gamma"] if "gamma" in inputs else np.exp(inputs["g"].astype(np.float64)))
        for variant, label in enumerate(("tiles of columns", "whole rows")):
            call, own_state = made(variant), aligned(state)
            call.gate, call.gate_head, call.state = decay.ctypes.data, call.gate_head if "g" in inputs else 1, own_state.ctypes.data
            result.append(Candidate(label, native(repeat, ctypes.cast(library.expert_decode, FLOATS), ctypes.addressof(call), None),
                                    last_out, own_state, keep=(kept, decay, call)))
        return result
    for variant in range(library.expert_variants()):
        call = made(variant)
        if "g" in arrays:
            call.gate = arrays["g"].ctypes.data
        if "gamma" in inputs:
            call.log_decay = kept[-1].ctypes.data
        result.append(Candidate(library.expert_variant_name(variant).decode(),
                                native(repeat, ctypes.cast(library.expert_run, FLOATS), ctypes.addressof(call), None),
                                last_out, keep=(kept, call)))
    return result

"""ggml's operators on CPU, through the library that ggml-py carries: GATED_LINEAR_ATTN, RWKV_WKV6, RWKV_WKV7, SSM_SCAN and
GATED_DELTA_NET. Shapes are ggml's, fastest axis first; rows [S, H, T] lie as our [T, H, S]."""

import ctypes
import glob
import os

import numpy as np

from suite.candidate import Candidate, Missing, native
from suite.cases import is_decode

from . import native_loop

P = ctypes.c_void_p
F32, I32 = 0, 26


class InitParameters(ctypes.Structure):
    _fields_ = [("mem_size", ctypes.c_size_t), ("mem_buffer", P), ("no_alloc", ctypes.c_bool)]


class Plan(ctypes.Structure):
    """ggml_cplan of ggml-cpu.h."""
    _fields_ = [("work_size", ctypes.c_size_t), ("work_data", P), ("n_threads", ctypes.c_int), ("threadpool", P),
                ("abort_callback", P), ("abort_callback_data", P), ("use_ref", ctypes.c_bool)]


class Library:
    """Functions of all of ggml's libraries by name: each has pointers for arguments unless said otherwise."""

    def __init__(self):
        import importlib.util
        found = importlib.util.find_spec("ggml")
        if found is None:
            raise Missing("ggml-py is not installed")
        folder = os.path.join(os.path.dirname(found.origin), "lib")
        files = [path for name in ("libggml-base", "libggml-cpu", "libggml") for path in sorted(glob.glob(os.path.join(folder, name + ".so*")))[:1]]
        self.libraries = [ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL) for path in files]

    def function(self, name, result, *arguments):
        for library in self.libraries:
            if hasattr(library, name):
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
                return function
        raise Missing("its ggml has no %s" % name)


class Graph:
    """A context with tensors and the graph of one operator."""

    def __init__(self, library, megabytes):
        self.library = library
        init = library.function("ggml_init", P, InitParameters)
        self.free = library.function("ggml_free", None, P)
        self.context = init(InitParameters(megabytes << 20, None, False))
        if not self.context:
            raise Missing("ggml got no memory")
        self.data = library.function("ggml_get_data", P, P)
        self.new = library.function("ggml_new_tensor_4d", P, P, ctypes.c_int, *[ctypes.c_int64] * 4)

    def tensor(self, array, *shape, kind=F32):
        """A tensor of `shape` (fastest axis first) with the numbers of `array`."""
        tensor = self.new(self.context, kind, *(shape + (1,) * (4 - len(shape))))
        array = np.ascontiguousarray(array, dtype=np.float32 if kind == F32 else np.int32)
        ctypes.memmove(self.data(tensor), array.ctypes.data, array.nbytes)
        return tensor

    def apply(self, name, *arguments):
        kinds = [ctypes.c_float if isinstance(argument, float) else P for argument in arguments]
        return self.library.function(name, P, P, *kinds)(self.context, *arguments)

    def finish(self, tensor, threads):
        self.graph = self.library.function("ggml_new_graph", P, P)(self.context)
        self.library.function("ggml_build_forward_expand", None, P, P)(self.graph, tensor)
        self.plan = self.library.function("ggml_graph_plan", Plan, P, ctypes.c_int, P)(self.graph, threads, None)
        self.work = np.zeros(self.plan.work_size + 64, dtype=np.uint8)
        self.plan.work_data = self.work.ctypes.data

    def __del__(self):
        if getattr(self, "context", None):
            self.free(self.context)


def built(graph, case, x, state):
    """The tensor of the operator; what its output is multiplied by to be ours."""
    S, H, T = case.d, case.H, case.T
    # Its states are [S, S] a head: rows of keys for GLA and RWKV-6, of values for the others.
    keys_first = state
    values_first = np.swapaxes(state, 2, 3)

    def row(name, array=None):
        return graph.tensor(x[name] if array is None else array, S, H, T)

    if case.operator == "gla":
        return graph.apply("ggml_gated_linear_attn", row("k"), row("v"), row("q"), row("g", np.exp(x["g"])),
                           graph.tensor(keys_first, S * S * H, 1), float(S ** -0.5)), 1.0
    if case.operator == "rwkv6":
        return graph.apply("ggml_rwkv_wkv6", row("k"), row("v"), row("q"), graph.tensor(x["u"], S, H), row("w", np.exp(x["w"])),
                           graph.tensor(keys_first, S * S * H, 1)), 1.0
    if case.operator == "rwkv7":
        direction = x["kappa"] / np.maximum(np.linalg.norm(x["kappa"], axis=-1, keepdims=True), 1e-12)
        return graph.apply("ggml_rwkv_wkv7", row("q"), row("w", np.exp(x["w"])), row("k"), row("v"), row("kappa", direction),
                           row("a", -x["a"] * direction), graph.tensor(values_first, S * S * H, 1)), 1.0
    if case.operator == "mamba2":
        return graph.apply("ggml_ssm_scan", graph.tensor(values_first, S, S, H), row("x"), graph.tensor(x["dt"] + x["bias"], H, T),
                           graph.tensor(-np.exp(x["A"]), 1, H), row("B"), row("C"), graph.tensor(np.zeros(1), 1, kind=I32)), 1.0
    if case.operator in ("delta", "gated_delta"):
        g = x["g"] if "g" in x else np.zeros((1, T, H))
        # It scales by 1 / sqrt(d), which our specs leave to the query.
        return graph.apply("ggml_gated_delta_net", row("q"), row("k"), row("v"), graph.tensor(g, 1, H, T), graph.tensor(x["beta"], 1, H, T),
                           graph.tensor(values_first, S * S * H, 1)), S ** 0.5
    raise Missing("ggml has no such operator")


def candidates(case, inputs, state, settings):
    library = Library()
    library.function("ggml_cpu_init", None)()
    if state is None:
        state = np.zeros((1, case.H, case.d, case.d), dtype=np.float32)
    floats = sum(array.size for array in inputs.values()) + 2 * case.T * case.H * case.d + 3 * state.size
    graph = Graph(library, (4 * floats >> 20) + 64)
    tensor, factor = built(graph, case, inputs, state)
    graph.finish(tensor, case.threads)
    compute = library.function("ggml_graph_compute", ctypes.c_int, P, P)
    run = native(native_loop.load(settings), ctypes.cast(compute, P), graph.graph, ctypes.addressof(graph.plan))
    count = case.T * case.H * case.d
    out = np.ctypeslib.as_array(ctypes.cast(graph.data(tensor), ctypes.POINTER(ctypes.c_float)), shape=(count,))
    # The new state stands behind the outputs and is not taken over for the next token: that would only cost more.
    label = "one graph of one node" + (", state not carried over" if is_decode(case) else "")
    return [Candidate(label, run, lambda: factor * out.reshape(1, case.T, case.H, case.d), keep=(graph, library))]

"""PyTorch on CPU, as one would write each operator with it: batched matrix products over chunks (torch_chunkwise.py,
torch_delta.py), and its own kernel for softmax. Arrays are [H, T, ...], contiguous."""

import numpy as np
import torch

from suite.candidate import Candidate, Missing, repeated
from suite.cases import is_decode

from . import torch_chunkwise, torch_delta

CHUNKS = (16, 32, 64, 128, 256)
MOST_STATES = 1 << 30  # bytes of the states of all chunks at once


def heads_first(array):
    return torch.from_numpy(np.ascontiguousarray(np.swapaxes(array[0], 0, 1)))


def softmax(x, scale):
    q, k, v = (x[name][None] for name in "qkv")
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)[0]


def candidates(case, inputs, state, settings):
    torch.set_num_threads(case.threads)
    x = {name: heads_first(value) if value.ndim > 2 else torch.from_numpy(value.copy()) for name, value in inputs.items()}
    scale = case.d ** -0.5
    if is_decode(case):
        raise Missing("not written with PyTorch")
    if case.operator == "softmax":
        ways = {"scaled_dot_product_attention": lambda: softmax(x, scale)}
    else:
        ways = {}
        for module in (torch_chunkwise, torch_delta):
            for label, function in module.FUNCTIONS.get(case.operator, {}).items():
                for chunk in CHUNKS:
                    if chunk <= case.T and 4 * case.H * case.T // chunk * case.d * case.d <= MOST_STATES:
                        ways["%s, chunks of %d" % (label, chunk)] = lambda function=function, chunk=chunk: function(x, chunk, scale)
    if not ways:
        raise Missing("not written with PyTorch")

    def made(label, function):
        last = [None]

        def once():
            with torch.inference_mode():
                last[0] = function()
        return Candidate(label, repeated(once), lambda: last[0].numpy().swapaxes(0, 1)[None])

    return [made(label, function) for label, function in ways.items()]

"""pytorch-fast-transformers' C++ causal product (Katharopoulos et al. 2020): the sums of identity and elu. Its normaliser is left
to the caller, and is here done as its own CausalLinearAttention does it."""

import numpy as np
import torch
from fast_transformers.causal_product.causal_product_cpu import causal_dot_product

from suite.candidate import Candidate, Missing, repeated
from suite.cases import is_decode

from .torch_cpu import heads_first


def candidates(case, inputs, state, settings):
    if case.operator not in ("elu", "identity") or is_decode(case):
        raise Missing("it computes elu and identity only")
    torch.set_num_threads(case.threads)
    q, k, v = (heads_first(inputs[name])[None] for name in "qkv")
    out = torch.zeros_like(v)

    def once():
        with torch.inference_mode():
            a, b = q, k
            out.zero_()
            if case.operator == "elu":
                a, b = torch.nn.functional.elu(q) + 1, torch.nn.functional.elu(k) + 1
            causal_dot_product(a, b, v, out)
            if case.operator == "elu":
                out.mul_(1 / (torch.einsum("nhli,nhli->nhl", a, b.cumsum(2)) + 1e-6)[..., None])

    return [Candidate("causal_dot_product", repeated(once), lambda: np.swapaxes(out.numpy(), 1, 2))]

"""The delta rule in chunks, as Yang et al. 2024 (arXiv:2406.06484, section 3, and arXiv:2412.06464, section 3.3) derive it.

Within a chunk, with b_i the running sum of log-decays, (I + L) U = diag(beta) (V - diag(e^b) K S) where
L_ij = beta_i e^{b_i - b_j} k_i . k_j for j < i; outputs are e^{b_i} q_i S + sum_{j <= i} e^{b_i - b_j} (q_i . k_j) U_j. The system
is solved once for both right sides, by the rows one after the other (as naive code does) or by a triangular solver."""

import torch

from .torch_chunkwise import joined, split


def inverse_by_rows(lower):
    """(I + lower)^-1, a row from the rows above it."""
    result = -lower
    for i in range(1, lower.shape[-1]):
        row = result[..., i, :i].clone()
        result[..., i, :i] = row + (row[..., None] * result[..., :i, :i].clone()).sum(-2)
    return result + torch.eye(lower.shape[-1])


def inverse_by_solver(lower):
    unit = torch.eye(lower.shape[-1])
    return torch.linalg.solve_triangular(lower + unit, unit.expand_as(lower), upper=False, unitriangular=True)


def delta(inverse):
    def run(x, chunk, scale):
        q, k, v = (split(x[name], chunk) for name in "qkv")
        beta = split(x["beta"], chunk)[..., None]
        past = torch.ones(chunk, chunk, dtype=torch.bool).tril()
        keys = k * beta
        lower = (keys @ k.transpose(-1, -2)).tril_(-1)
        pairs = (q @ k.transpose(-1, -2)).tril_()
        factor = to_end = None
        if "g" in x:
            sums = split(x["g"], chunk).cumsum(dim=-1)
            decays = (sums[..., :, None] - sums[..., None, :]).masked_fill(~past, float("-inf")).exp_()
            lower, pairs = lower * decays, pairs * decays
            factor = sums.exp()[..., None]
            keys, q = keys * factor, q * factor
            to_end = (sums[..., -1:] - sums).exp()[..., None]
            k = k * to_end
        solved = inverse(lower)
        from_state, values = solved @ keys, solved @ (v * beta)
        state = torch.zeros(q.shape[0], q.shape[-1], v.shape[-1])
        out = torch.empty_like(v)
        for n in range(q.shape[1]):
            new = torch.baddbmm(values[:, n], from_state[:, n], state, alpha=-1)
            out[:, n] = torch.baddbmm(torch.bmm(q[:, n], state), pairs[:, n], new)
            if factor is not None:
                state = state * factor[:, n, -1:]
            state = torch.baddbmm(state, k[:, n].transpose(-1, -2), new)
        return joined(out)
    return run


FUNCTIONS = {name: {"solver": delta(inverse_by_solver), "naive rows": delta(inverse_by_rows)} for name in ("delta", "gated_delta")}

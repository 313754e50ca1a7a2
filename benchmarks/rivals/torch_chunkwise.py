"""Linear attention in chunks by batched matrix products, all chunks at once; only the states go from chunk to chunk.

For each operator a function of the inputs (q, k, v: [H, T, d]), the chunk and the scale of its spec."""

import torch


def split(x, chunk):
    return x.view(x.shape[0], x.shape[1] // chunk, chunk, *x.shape[2:])


def joined(x):
    return x.reshape(x.shape[0], x.shape[1] * x.shape[2], x.shape[3])


def before(updates, decay=None):
    """The state before each chunk: [H, N, dk, dv] from what each chunk adds, and what it multiplies the state by."""
    if decay is None:
        return torch.cumsum(updates, dim=1) - updates
    states = torch.empty_like(updates)
    state = torch.zeros_like(updates[:, 0])
    for n in range(updates.shape[1]):
        states[:, n] = state
        state = torch.addcmul(updates[:, n], state, decay[:, n])
    return states


def identity(x, chunk, scale):
    q, k, v = (split(x[name], chunk) for name in "qkv")
    states = before(k.transpose(-1, -2) @ v)
    return joined((q @ k.transpose(-1, -2)).tril_() @ v + q @ states)


def elu(x, chunk, scale):
    q, k = (split(torch.nn.functional.elu(x[name]) + 1, chunk) for name in "qk")
    v = split(x["v"], chunk)
    weights = (q @ k.transpose(-1, -2)).tril_()
    keys = k.sum(dim=2, keepdim=True)
    keys = torch.cumsum(keys, dim=1) - keys
    divisor = weights.sum(dim=-1, keepdim=True) + q @ keys.transpose(-1, -2)
    states = before(k.transpose(-1, -2) @ v)
    return joined((weights @ v + q @ states) / divisor)


def scalar(x, log_decays, chunk, scale):
    """log_decays: [H, N or 1, C], summed over the chunk."""
    q, k, v = (split(x[name], chunk) for name in "qkv")
    past = torch.ones(chunk, chunk, dtype=torch.bool).tril()
    pairs = (log_decays[..., :, None] - log_decays[..., None, :]).masked_fill(~past, float("-inf")).exp_()
    last = log_decays[..., -1:]
    updates = (k * (last - log_decays).exp()[..., None]).transpose(-1, -2) @ v
    states = before(updates, last.exp()[..., None].expand(-1, q.shape[1], -1, -1))
    within = (q @ k.transpose(-1, -2)).mul_(pairs) @ v
    return joined(within.add_((q * log_decays.exp()[..., None]) @ states).mul_(scale))


def retnet(x, chunk, scale):
    steps = torch.arange(1, chunk + 1, dtype=torch.float32)
    return scalar(x, (x["gamma"].log()[:, None] * steps)[:, None], chunk, scale)


def scalar_gate(x, chunk, scale):
    return scalar(x, split(x["g"], chunk).cumsum(dim=-1), chunk, 1.0)


def gla(x, chunk, scale):
    q, k, v, g = (split(x[name], chunk) for name in "qkvg")
    sums = g.cumsum(dim=2)
    last = sums[:, :, -1:]
    q = q * sums.exp()
    weights = (q @ (k * (-sums).exp()).transpose(-1, -2)).tril_()
    updates = (k * (last - sums).exp()).transpose(-1, -2) @ v
    states = before(updates, last.exp().transpose(-1, -2))
    return joined((weights @ v + q @ states).mul_(scale))


FUNCTIONS = {name: {"batched products": function} for name, function in (
    ("identity", identity), ("elu", elu), ("retnet", retnet), ("scalar_gate", scalar_gate), ("gla", gla))}

"""The rows of the tables: which operator at which sizes on how many threads."""

from collections import namedtuple

from .operators import OPERATORS

# T = 1: one token from a state, which is updated (decode).
Case = namedtuple("Case", "operator T H d threads")

LENGTHS = (1024, 4096, 16384)
SIZES = (64, 128)
DECODE = ((32, 64), (512, 128))
DECODED = ("retnet", "scalar_gate", "gla", "delta", "gated_delta", "rwkv6", "rwkv7", "mamba2")
TWO_THREADS = ("elu", "retnet", "gla", "delta", "rwkv6")


def is_decode(case):
    return case.T == 1


def standard(operators=None, lengths=None, sizes=None, threads=None, decode=True):
    """The cases of `make bench`, cut down to what is asked for; short ones first."""
    cases = []
    for T in lengths or LENGTHS:
        for d in sizes or SIZES:
            for operator in OPERATORS:
                cases.append(Case(operator, T, 8, d, 1))
                if T == 4096 and d == 64 and operator in TWO_THREADS:
                    cases.append(Case(operator, T, 8, d, 2))
    if decode:
        cases += [Case(operator, 1, H, d, 1) for H, d in DECODE if d in (sizes or SIZES) for operator in DECODED]
    return [case for case in cases if (not operators or case.operator in operators) and (not threads or case.threads in threads)]


def smoke(operators=None):
    """Small cases, for the checks, not for the times: a few operators unless told which, since each is to be compiled."""
    cases = [Case(operator, 64, 2, 64, 1) for operator in operators or ("elu", "gla", "delta", "softmax")]
    cases += [Case("elu", 64, 2, 64, 2), Case("gla", 1, 2, 64, 1)]
    return [case for case in cases if not operators or case.operator in operators]


def label(case):
    where = "1 token, %d heads" % case.H if is_decode(case) else "T=%d" % case.T
    return "%s %s d=%d%s" % (case.operator, where, case.d, "" if case.threads == 1 else " %d threads" % case.threads)


def flops(case):
    """4 dk dv a token and head, the least work of a linear operator; softmax: the T (T + 1) / 2 pairs it looks at."""
    if case.operator == "softmax":
        return 2.0 * case.H * case.T * (case.T + 1) * case.d
    return 4.0 * case.T * case.H * case.d * case.d


def state_bytes(case):
    """Decode: what is read and written of the states."""
    return 8.0 * case.H * case.d * case.d

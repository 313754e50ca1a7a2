"""An operator in which each of N values is used twice by the next: doubled.py WHERE N."""
import sys

where, n = sys.argv[1], int(sys.argv[2])
first, step, rest = {
    # in what a state adds
    "feature": ("k * 0.5", "{0} + {0}", "S = S + outer(exp(min({0}, 1)), v)\n  out = q @ S"),
    "product": ("k * 0.5", "{0} + q * {0}", "S = S + outer({0}, v)\n  out = q @ S"),
    # on the way of the state itself, where it is a sum of ever more terms
    "state": ("S + outer(k, v)", "{0} + {0}", "S = {0} * 0.5\n  out = q @ S"),
    # in the output
    "output": ("q @ S", "{0} * 0.5 + {0} * 0.25", "S = S + outer(k, v)\n  out = {0}"),
    # in a decay
    "decay": ("exp(g)", "{0} * {0}", "S = {0} * S + outer(k, v)\n  out = q @ S"),
    "rate": ("g", "{0} + {0}", "S = exp({0}) * S + outer(k, v)\n  out = q @ S"),
    # under conditions on each other, in a divisor
    "divisor": ("k . k", "where({0} > 1, {0}, {0} + 1)", "S = S + outer(k, v)\n  out = (q @ S) / {0}"),
    # unbounded exponentials, which are carried as powers of two
    "power": ("exp(g)", "{0} * {0}", "S = S + {0} * outer(k, v)\n  n = n + {0} * k\n  out = (q @ S) / (q . n)"),
}[where]
lines = [f"let a0 = {first}"] + [f"let a{i + 1} = {step.format(f'a{i}')}" for i in range(n)]
state = "S[dk, dv], n[dk]" if "n = n" in rest else "S[dk, dv]"
print("attention doubled {\n  token q[dk], k[dk], v[dv], g\n  state " + state)
print("\n".join("  " + line for line in lines))
print("  " + rest.format(f"a{n}") + "\n}")

"""An operator with a chain of N * M operations one upon another: deep.py N M."""
import sys

n, m = int(sys.argv[1]), int(sys.argv[2])
print("attention deep {\n  token q[dk], k[dk], v[dv]\n  state S[dk, dv]\n  let a0 = k")
for i in range(n):
    print(f"  let a{i + 1} = a{i}" + " + q" * m)
print(f"  S = S + outer(a{n}, v)\n  out = q @ S\n}}")

"""Compiles an operator for targets that may be another machine's, runs it and compares with the float64 interpreter.

    cross.py LINTEL SOURCE WORK SPEC DIM=N,... FORM [TARGETS CC LIBRARY COMMAND...]         (- for no dimensions)

The program is linked by CC with the kernel's static (a) or shared (so) library, and run behind each COMMAND: an emulator,
or env with variables. Without these: for aarch64, under qemu-user.

The bound, relative to the root mean square of each array: 16 * 2^-24 * (sqrt(T + 1) + 8), the rounding of sums of T
terms as a random walk and of some dozen operations around them (see the tolerances in docs/numerics.md, which this
simplifies for operators that are well conditioned on the inputs drawn here)."""
import glob
import json
import os
import subprocess
import sys

import numpy as np

lintel, source, work, spec, dims, form, *rest = sys.argv[1:]
targets, compiler, library, *commands = rest or ["aarch64", "aarch64-linux-gnu-gcc", "a", "qemu-aarch64"]
os.makedirs(work, exist_ok=True)
dimensions = [text for pair in dims.split(",") if pair != "-" for text in ("--dim", pair)]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


for old in glob.glob(work + "/*"):
    os.remove(old)
run([lintel, "compile", spec, *dimensions, "--form", form, "--target", targets, "-o", work])
(path,) = glob.glob(work + "/*.json")
manifest = json.load(open(path))
symbol = manifest["symbol"]
sources = sorted(glob.glob(source + "/runtime/src/*.c"))
link = ["-static"] if library == "a" else [f"-Wl,-rpath,{work}"]
run([compiler, "-O1", "-Wall", "-Wextra", "-Werror", *link, "-pthread", f'-DHEADER="{symbol}.h"',
     f"-DKERNEL={symbol}", "-I", work, "-I", source + "/runtime/include", "-I", source + "/runtime/src",
     os.path.join(os.path.dirname(__file__), "runner.c"), *sources, f"{work}/lib{symbol}.{library}", "-o", work + "/runner",
     "-lm"])  # fmt: skip

B, T, H = 2, 37, 2
random = np.random.default_rng(1)
arguments = []
for i, p in enumerate(manifest["inputs"]):
    shape = {"token": [B, T, H], "head": [H], "shared": []}[p["kind"]] + p["dims"]
    x = random.standard_normal(shape) / np.sqrt((p["dims"] or [1])[-1])  # vectors of length about 1
    # Scalars and gates: inside (0, 1), and logarithms of such numbers where the operator says so by a name of g or w.
    if not p["dims"] or p["name"] in ("gamma", "beta", "a", "w", "g"):
        x = random.uniform(0.05, 0.95, shape)
        if p["name"] in ("g", "w"):
            x = np.log(x)
    x = x.astype(np.float32)
    x.tofile(f"{work}/in{i}.bin")
    np.save(f"{work}/in{i}.npy", x)
    arguments += ["--in", f"{p['name']}={work}/in{i}.npy"]
outputs = [("out", "out0")] + [(p["name"], f"out{i + 1}") for i, p in enumerate(manifest["other_outputs"])]
states = [(p["name"], f"state{i}") for i, p in enumerate(manifest["states"])]
for name, file in outputs:
    arguments += ["--out", f"{work}/{file}.npy" if name == "out" else f"{name}={work}/{file}.npy"]
for name, file in states:
    arguments += ["--final", f"{name}={work}/{file}.npy"]
run([lintel, "run", spec, *arguments, "--interpret", "--dtype", "out=f64"])
bound = 16 * 2.0**-24 * (np.sqrt(T + 1) + 8)
for command in commands:
    print(run([*command.split(), work + "/runner", work, str(B), str(T), str(H), form]), end="")
    for name, file in outputs + states:
        want = np.load(f"{work}/{file}.npy").astype(float)
        got = np.fromfile(f"{work}/{file}.bin", np.float32).reshape(want.shape)
        os.remove(f"{work}/{file}.bin")
        error = np.abs(got - want).max() / np.sqrt((want**2).mean())
        print(f"{name}: error {error:.1e}, bound {bound:.1e}")
        if not error <= bound:
            sys.exit(f"{name}: expected an error of at most {bound:.1e}, found {error:.1e}")
    print("agrees")

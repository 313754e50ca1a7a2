#!/usr/bin/env python3
"""The main job on real input: four attention operators over the whole text of the GPL-3, checked, timed and compared.

usage: demo.py [--build build] [--text FILE]        (`make demo` calls it)

For each operator it
  1. runs `lintel run` over the whole text, which compiles just in time,
  2. compares the first tokens with the float64 interpreter (a causal operator's prefix does not depend on the rest) and
     tokens spread up to the last one with direct sums in NumPy,
  3. compiles ahead of time with `lintel compile`, builds a C99 program (attend.c) with the generated header, the library
     and the runtime, and runs it on growing lengths: at the full length it must give the same bits as `lintel run`.
A time is printed only for what passed. Exit status: 0 if all checks passed, 1 if not, 2 if it could not start.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

import numpy as np

import inputs
import plot

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TEXT = "/usr/share/common-licenses/GPL-3"
HEADS = 2
DRAWS = 3  # of random features, for the error against softmax
LENGTHS = (1024, 2048, 4096, 8192, 16384)
# Largest difference over the root mean square of the result. The kernels sum in f32; late outputs are averages of up to
# 35,000 values that nearly cancel, so rounding of about 1e-7 of the terms shows as up to 1e-4 of the result.
BOUND = 2e-4


class Operator:
    def __init__(self, spec, m=None):
        self.spec, self.m = spec, m
        self.name = spec if m is None else "%s %d" % (spec, m)
        self.path = os.path.join(ROOT, "examples", "specs", spec + ".attn")
        self.dims = {"dk": inputs.WIDTH, "dv": inputs.WIDTH}
        self.order = ["q", "k", "v"] + {"favor": ["omega"], "retnet": ["gamma"]}.get(spec, [])
        if m is not None:
            self.dims["m"] = m
        self.seconds = {}
        self.good = True


OPERATORS = [Operator("softmax"), Operator("elu"), Operator("favor", 64), Operator("favor", 256), Operator("favor", 1024),
             Operator("retnet")]


class Demo:
    def __init__(self, build, text_path):
        self.lintel = os.path.join(build, "bin", "lintel")
        self.runtime = os.path.join(build, "runtime", "liblintel_runtime.a")
        self.cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang-22") or shutil.which("clang")
        self.folder = os.path.join(build, "demo")
        self.text_path = text_path
        self.started = time.monotonic()
        self.failures = []
        os.makedirs(self.folder, exist_ok=True)

    def say(self, text, end="\n"):
        print(text, end=end, flush=True)

    def step(self, text):
        self.say("[%3.0f s] %s" % (time.monotonic() - self.started, text))

    def call(self, *command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError("%s ended with status %d: %s" % (" ".join(command[:3]), done.returncode, done.stderr.strip()))
        return done.stdout

    def check(self, operator, what, error, bound):
        good = bool(error <= bound)  # also false for a NaN
        operator.good &= good
        self.say("        %-46s %.1e  %s" % (what, error, "ok" if good else "FAILED, at most %.0e is allowed" % bound))
        if not good:
            self.failures.append("%s: %s: %.1e" % (operator.name, what, error))

    def path(self, name):
        return os.path.join(self.folder, name)

    # ---- Arrays ----

    def prepare(self):
        with open(self.text_path, "rb") as file:
            text = file.read()
        x = inputs.tokens_of(text)
        self.steps = len(text)
        self.arrays = inputs.project(x, HEADS)
        self.arrays["gamma"] = inputs.decays(HEADS)
        for name, array in self.arrays.items():
            self.save(name, array)
        self.lengths = [n for n in LENGTHS if n < self.steps] + [self.steps]
        shared = [inputs.keys_that_share(self.arrays, t) for t in (self.steps // 30, self.steps - 1)]
        self.step("%s: %d tokens, %d heads, dk = dv = %d; softmax's weight is shared by about %.0f of %d keys, later by %.0f of %d"
                  % (self.text_path, self.steps, HEADS, inputs.WIDTH, shared[0], self.steps // 30, shared[1], self.steps))

    def save(self, name, array):
        np.save(self.path(name + ".npy"), array)
        array.astype(np.float32).tofile(self.path(name + ".f32"))

    def features(self, operator, draw):
        """Puts the operator's omega in place and returns its name among the files."""
        if operator.m is None:
            return
        self.arrays["omega"] = inputs.random_features(operator.m, draw)
        self.save("omega", self.arrays["omega"])

    def run(self, operator, prefix=None):
        """`lintel run` over all tokens; with `prefix`, the interpreter on the first ones, in float64."""
        command = [self.lintel, "run", operator.path, "--out", self.path("out.npy")]
        for name in operator.order:
            path = self.path(name + ".npy")
            if prefix:
                array = self.arrays[name]
                array = array[:, :prefix] if name in "qkv" else array
                path = self.path("prefix_%s.npy" % name)
                np.save(path, np.ascontiguousarray(array, dtype=np.float64))
            command += ["--in", "%s=%s" % (name, path)]
        self.call(*command, *(["--interpret"] if prefix else []))
        return np.load(self.path("out.npy")).astype(np.float64)

    # ---- One operator ----

    def explain(self, operator):
        dims = [a for name, size in operator.dims.items() for a in ("--dim", "%s=%d" % (name, size))]
        facts = json.loads(self.call(self.lintel, "explain", operator.path, "--json", "--steps", str(self.steps), *dims))
        operator.form, operator.state, operator.cache = facts["chosen"], facts["state_numbers"], facts["cache_numbers"]

    def work(self, operator):
        self.features(operator, 0)
        self.explain(operator)
        self.step("%s (%s): lintel run over %d tokens" % (operator.name, operator.form, self.steps))
        out = operator.out = self.run(operator)

        # The interpreter does about a million updates of a state's number in a second.
        prefix = max(32, min(256, 1000000 // max(operator.state, 1)))
        exact = self.run(operator, prefix)
        operator.error = largest(out[:, :prefix], exact)
        self.check(operator, "first %d tokens against the interpreter" % prefix, operator.error, BOUND)
        rows = np.unique(np.linspace(prefix, self.steps - 1, 24).astype(int))
        direct = inputs.direct(operator.spec, self.arrays, rows)
        error = largest(out[:, rows], direct)
        operator.error = max(operator.error, error)
        self.check(operator, "%d tokens up to the last against direct sums" % len(rows), error, BOUND)

        symbol = self.compile(operator)
        self.time(operator, symbol, out)

    def compile(self, operator):
        folder = self.path(operator.name.replace(" ", "_"))
        shutil.rmtree(folder, ignore_errors=True)
        dims = [a for name, size in operator.dims.items() for a in ("--dim", "%s=%d" % (name, size))]
        self.call(self.lintel, "compile", operator.path, *dims, "-o", folder)
        header = [name for name in os.listdir(folder) if name.endswith(".h")]
        symbol = header[0][:-2]
        self.call(self.cc, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", '-DHEADER="%s"' % header[0],
                  "-DKERNEL=" + symbol, "-I", folder, "-I", os.path.join(ROOT, "runtime", "include"),
                  os.path.join(HERE, "attend.c"), os.path.join(folder, "lib%s.a" % symbol), self.runtime, "-lpthread",
                  "-o", os.path.join(folder, "attend"))
        return os.path.join(folder, "attend")

    def time(self, operator, program, out):
        result = self.path("out.f32")
        command = [program, str(HEADS), ",".join(map(str, self.lengths)), result]
        command += [self.path(name + ".f32") for name in operator.order]
        seconds = {}
        self.say("        C program, one thread, T =", end="")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stdout:
            steps, took = line.split()
            seconds[int(steps)] = float(took)
            self.say(" " + steps, end="")
        said = process.stderr.read().strip()
        self.say("")
        if process.wait() != 0:
            raise RuntimeError("the C program ended with status %d: %s" % (process.returncode, said))
        found = np.fromfile(result, dtype=np.float32).reshape(out.shape)
        same = np.array_equal(found.view(np.uint32), out.astype(np.float32).view(np.uint32))
        self.check(operator, "C program against lintel run, bit by bit" if same else "C program against lintel run",
                   0.0 if same else largest(found, out), 0.0)
        if operator.good:
            operator.seconds = seconds

    def approximate(self):
        """FAVOR+'s error against softmax over the whole text, as m grows: root mean square over several draws."""
        softmax = OPERATORS[0].out
        self.errors = []
        for operator in (o for o in OPERATORS if o.m):
            self.step("%s against softmax: %d draws of its features" % (operator.name, DRAWS))
            squares = [mean_square(operator.out - softmax)]
            for draw in range(1, DRAWS):
                self.features(operator, draw)
                squares.append(mean_square(self.run(operator) - softmax))
            self.errors.append((operator.m, float(np.sqrt(np.mean(squares) / mean_square(softmax)))))
        falls = all(b[1] < a[1] for a, b in zip(self.errors, self.errors[1:]))
        if not falls:
            self.failures.append("favor's error against softmax does not fall as m grows: %s" % self.errors)

    # ---- Tables ----

    def report(self):
        say = self.say
        say("\nThe whole text, %d heads, dk = dv = %d, f32, one thread. Error: largest difference over the root mean square.\n"
            % (HEADS, inputs.WIDTH))
        say("operator    form         T          time  tokens x heads/s     error   state, numbers  key-value cache   ratio")
        for o in OPERATORS:
            if not o.good or self.steps not in o.seconds:
                say("%-11s %-11s  not shown, a check failed" % (o.name, o.form if hasattr(o, "form") else ""))
                continue
            took = o.seconds[self.steps]
            state, ratio = ("%d" % o.state, "%.0f" % (o.cache / o.state)) if o.state else ("none", "")
            say("%-11s %-11s %6d %10.1f ms %17s %9.1e %16s %16d %7s"
                % (o.name, o.form, self.steps, took * 1e3, "{:,.0f}".format(self.steps * HEADS / took), o.error, state, o.cache, ratio))
        say("(numbers a head; the cache is what softmax keeps of all %d tokens)" % self.steps)

        timed = [o for o in OPERATORS if o.seconds]
        if OPERATORS[0].seconds:
            say("\nTimes faster than softmax on the first T tokens:\n")
            say("      T  softmax ms " + "".join("%11s" % o.name for o in timed[1:]))
            for steps in self.lengths:
                base = OPERATORS[0].seconds[steps]
                say("%7d %11.1f " % (steps, base * 1e3) + "".join("%11.1f" % (base / o.seconds[steps]) for o in timed[1:]))
        if getattr(self, "errors", None):
            say("\nFAVOR+ against softmax over the whole text (root mean square, relative, %d draws):\n" % DRAWS)
            for m, error in self.errors:
                say("  m = %4d   error %.3f   error x sqrt(m) %.2f" % (m, error, error * np.sqrt(m)))
            if timed:
                picture = self.path("demo.svg")
                caption = "%s, %d heads, dk = dv = %d, f32, one thread" % (os.path.basename(self.text_path), HEADS, inputs.WIDTH)
                with open(picture, "w", encoding="utf-8") as file:
                    file.write(plot.draw({o.name: sorted(o.seconds.items()) for o in timed}, self.errors, caption))
                say("\npicture: %s" % picture)

    def main(self):
        self.prepare()
        for operator in OPERATORS:
            try:
                self.work(operator)
            except RuntimeError as error:
                operator.good = False
                self.failures.append("%s: %s" % (operator.name, error))
                self.say("        FAILED: %s" % error)
        if all(hasattr(o, "out") for o in OPERATORS):
            self.approximate()
        self.report()
        self.say("")
        for failure in self.failures:
            self.say("FAILED " + failure)
        self.say("demo: %s in %.0f s" % ("%d checks failed" % len(self.failures) if self.failures else "all checks passed",
                                         time.monotonic() - self.started))
        return 1 if self.failures else 0


def mean_square(x):
    return float(np.mean(x * x))


def largest(found, exact):
    """The largest difference over the root mean square of what is exact; NaN where there is one."""
    return float(np.max(np.abs(found - exact)) / np.sqrt(mean_square(exact)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--text", default=TEXT, help="the text (default: %s)" % TEXT)
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    for what, path in (("lintel", os.path.join(build, "bin", "lintel")),
                       ("the runtime", os.path.join(build, "runtime", "liblintel_runtime.a")), ("a text", arguments.text)):
        if not os.path.isfile(path):
            print("demo: expected %s at %s, found none%s" % (what, path, "" if what == "a text" else "; run make"), file=sys.stderr)
            return 2
    demo = Demo(build, arguments.text)
    if not demo.cc:
        print("demo: expected a C compiler named cc, gcc or clang, found none", file=sys.stderr)
        return 2
    return demo.main()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How long a fresh process waits for an operator: dlopen of the runtime and of the kernel, and a first lintel_check.

  loading.py --build build [--processes 20] [--specs gla,delta] [--targets x86-64,x86-64-v3,x86-64-v4]

Prints a Markdown table: medians over the processes, and the slowest."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder: the compiler and the runtime")
    parser.add_argument("--processes", type=int, default=20, help="fresh processes for each operator")
    parser.add_argument("--specs", default="retnet,gla,delta,softmax,mlstm", help="names in examples/specs")
    parser.add_argument("--targets", default="x86-64,x86-64-v3,x86-64-v4", help="what the artifacts hold")
    options = parser.parse_args()
    lintel = os.path.join(options.build, "bin", "lintel")
    runtime = os.path.join(os.path.abspath(options.build), "runtime", "liblintel_runtime.so")
    print("| operator | variants | library | dlopen | lintel_check | both | slowest of both |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, "loading")
        source = os.path.join(ROOT, "benchmarks", "loading.c")
        run(["cc", "-O2", "-I", os.path.join(ROOT, "runtime", "include"), source, "-o", program, "-ldl"])
        for spec in options.specs.split(","):
            folder = os.path.join(work, spec)
            path = os.path.join(ROOT, "examples", "specs", spec + ".attn")
            targets = ["--target", options.targets]
            run([lintel, "compile", path, "--dim", "dk=64,dv=64", *targets, "-o", folder])
            (manifest,) = [name for name in os.listdir(folder) if name.endswith(".json")]
            with open(os.path.join(folder, manifest)) as file:
                kernel = json.load(file)
            library = os.path.join(folder, f"lib{kernel['symbol']}.so")
            times = [[float(x) for x in run([program, runtime, library, kernel["symbol"]]).split()]
                     for _ in range(options.processes)]  # fmt: skip
            both = [sum(pair) for pair in times]
            opened, checked = (statistics.median(column) for column in zip(*times))
            print(f"| {spec} | {len(kernel['variants'])} | {os.path.getsize(library) / 1024:.0f} KiB | {opened:.0f} us"
                  f" | {checked:.0f} us | {statistics.median(both):.0f} us | {max(both):.0f} us |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()

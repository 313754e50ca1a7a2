#!/usr/bin/env python3
"""The strategies of `lintel tune` beside each other, each with the same seconds for each operator.

  strategies.py --build build [--budget 60] [--specs elu,retnet,gla,delta,softmax] [--strategies random,beam] [--seed 1]

Prints a Markdown table: how much faster than the default the best that each found is (measured against the default alone,
in interleaved rounds at the end of its search), and in brackets the candidates it looked at and how many of them were
refused, wrong or failed."""

import argparse
import datetime
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRATEGIES = "random,beam,evolution,halide:mullapudi2016,halide:adams2019"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder: the compiler")
    parser.add_argument("--budget", default="60", help="seconds of each search")
    parser.add_argument("--specs", default="elu,retnet,gla,delta,softmax", help="names in examples/specs")
    parser.add_argument("--strategies", default=STRATEGIES)
    parser.add_argument("--shape", default="B=1,H=8,T=1024,dk=64,dv=64")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    strategies = options.strategies.split(",")
    lintel = os.path.join(options.build, "bin", "lintel")
    machine = None
    rows = []
    for spec in options.specs.split(","):
        cells, default = [], None
        for strategy in strategies:
            path = os.path.join(ROOT, "examples", "specs", spec + ".attn")
            command = [lintel, "tune", path, "--shape", options.shape, "--strategy", strategy, "--budget", options.budget,
                       "--seed", options.seed, "--no-database", "--json"]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                print(f"{spec}, {strategy}: {done.stderr}", file=sys.stderr)
                cells.append("failed")
                continue
            x = json.loads(done.stdout)
            machine = x["machine"]
            default = min(default or x["default_seconds"], x["default_seconds"])
            ended = ", all" if x["exhausted"] else ""
            cells.append(f"{1 / x['ratio_to_default']:.2f} ({x['trials']}{ended}; {x['failed']})")
            print(f"{spec}, {strategy}: {cells[-1]}, {x['tuning_seconds']:.0f} s", file=sys.stderr)
        rows.append(f"| {spec} | {default * 1e3 if default else 0:.2f} ms | " + " | ".join(cells) + " |")
    when = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    print(f"{when}. {machine}, {os.cpu_count()} hardware threads, load {os.getloadavg()[0]:.1f} at the end. "
          f"f32, {options.shape}, one thread, {options.budget} s each.\n")  # fmt: skip
    print("| operator | default | " + " | ".join(f"`{s}`" for s in strategies) + " |")
    print("|---" * (len(strategies) + 2) + "|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Lintel beside other implementations of the same operators, on this machine.

  bench.py --build build                        everything (`make bench`)
  bench.py --build build --operators gla,delta --lengths 4096 --sizes 64 --rivals expert,torch
  bench.py --build build --smoke                seconds: tiny shapes, checks and report only

Writes results.json and results.md to the output folder and prints the tables; progress goes to stderr."""

import argparse
import datetime
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from rivals import native_loop  # noqa: E402
from suite import cases, machine, operators, report  # noqa: E402
from suite.candidate import Missing  # noqa: E402
from suite.registry import registry  # noqa: E402
from suite.session import Session  # noqa: E402


def names(text):
    return [part for part in text.split(",") if part]


def numbers(text):
    return [int(part) for part in names(text)]


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder: the compiler, the libraries, the rivals' environments")
    parser.add_argument("--out", help="folder for the results (default: BUILD/benchmarks/results)")
    parser.add_argument("--operators", type=names, help="comma-separated names of specs (default: all)")
    parser.add_argument("--rivals", type=names, help="comma-separated (default: all): " + ", ".join(registry("build")))
    parser.add_argument("--lengths", type=numbers, help="T of whole sequences")
    parser.add_argument("--sizes", type=numbers, help="dk = dv")
    parser.add_argument("--threads", type=numbers, help="only rows on so many threads")
    parser.add_argument("--no-decode", action="store_true", help="leave out the rows of one token")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each rival (default 7)")
    parser.add_argument("--turn", type=float, default=0.15, help="seconds of a turn (default 0.15; at least one call)")
    parser.add_argument("--budget", type=float, default=0, help="start no further row after so many seconds")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="largest error of a right result (default 1e-4)")
    parser.add_argument("--smoke", action="store_true", help="tiny shapes, few rounds; the exit status judges checks and report, no speed")
    options = parser.parse_args()
    if options.smoke:
        options.rounds, options.turn = 2, 0.002
        options.rivals = options.rivals or ["lintel", "expert", "expert_heads_first"]
    for given, known, what in ((options.operators, operators.OPERATORS, "operator"), (options.rivals, registry("build"), "rival")):
        for name in given or []:
            if name not in known:
                parser.error("unknown %s '%s'; expected one of %s" % (what, name, ", ".join(known)))
    if options.rounds < 1:
        parser.error("--rounds: expected 1 or more, found %d" % options.rounds)
    for size in options.sizes or []:
        if size < 1 or size % 8:
            parser.error("--sizes: expected multiples of 8, found %d" % size)
    return options


def main():
    options = parsed()
    build = os.path.abspath(options.build)
    here = os.path.dirname(os.path.abspath(__file__))
    out = os.path.abspath(options.out or os.path.join(build, "benchmarks", "results"))
    os.makedirs(out, exist_ok=True)
    known = registry(build)
    chosen = [known[name] for name in known if not options.rivals or name in options.rivals or name == "lintel"]
    settings = {"lintel": os.path.join(build, "bin", "lintel"), "specs": os.path.join(os.path.dirname(here), "examples", "specs"),
                "runtime": os.path.join(build, "runtime", "liblintel_runtime.so"), "cache": os.path.join(build, "benchmarks", "kernels"),
                "expert": os.path.join(build, "benchmarks", "liblintel_bench_expert.so"),
                "choose_seconds": 0.001 if options.smoke else 0.05}
    try:
        described = machine.describe(native_loop, settings)
    except Missing as reason:
        print("bench: %s" % reason, file=sys.stderr)
        return 2
    if options.smoke:
        rows = cases.smoke(options.operators)
    else:
        rows = cases.standard(options.operators, options.lengths, options.sizes, options.threads, not options.no_decode)
        rows = [case for case in rows if case.threads <= described["threads"]]
    if not rows:
        print("bench: no row fits these options", file=sys.stderr)
        return 2
    session = Session(chosen, settings, options, here, os.path.join(build, "benchmarks", "work"))
    try:
        done, left_out = session.run(rows)
    finally:
        session.close()
    result = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "machine": described,
              "options": {"rounds": options.rounds, "turn": options.turn, "tolerance": options.tolerance, "smoke": options.smoke},
              "convention": report.CONVENTION.format(rounds=options.rounds, tolerance=options.tolerance),
              "rivals": {rival.name: rival.title for rival in chosen}, "rows": done, "left_out": left_out}
    with open(os.path.join(out, "results.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    text = report.markdown(result)
    with open(os.path.join(out, "results.md"), "w", encoding="utf-8") as file:
        file.write(text)
    print(text, end="")
    problems = report.problems(result)
    for problem in problems:
        print("bench: " + problem, file=sys.stderr)
    print("bench: wrote %s" % os.path.join(out, "results.json"), file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The benchmark itself under test: `bench.py --smoke` on this build checks results and leaves a well-formed report; what is wrong is
caught, in planted results and in planted reports. No time is judged."""

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import numpy as np  # noqa: E402

from suite import cases, operators, report, timing  # noqa: E402


def check(condition, what):
    if not condition:
        print("test_bench: " + what)
        sys.exit(1)


def references():
    """Each reference against sums written out, and the measure of errors against a planted one."""
    for name in operators.OPERATORS:
        inputs = operators.inputs(name, 6, 2, 8)
        again = operators.inputs(name, 6, 2, 8)
        check(all((inputs[key] == again[key]).all() for key in inputs), name + ": inputs differ from one call to the next")
        heads, steps, values = operators.reference(name, inputs)
        out = np.zeros((1, 6, 2, 8))
        out[0][np.ix_(steps, heads)] = values.transpose(1, 0, 2)
        checked = (heads, steps, values)
        check(operators.error(out, checked) == 0, name + ": the reference differs from itself")
        out[0, steps[-1], 1, 3] += 0.01 * np.abs(values).max()
        check(abs(operators.error(out, checked) - 0.01) < 1e-6, name + ": a planted error of 1 % is not seen")
        out[0, steps[-1], 1, 3] = np.nan
        check(operators.error(out, checked) == float("inf"), name + ": NaN is not seen")
    x = operators.inputs("gla", 6, 1, 4)
    q, k, v, g = (x[name][0, :, 0].astype(np.float64) for name in "qkvg")
    G = np.cumsum(g, axis=0)
    pairs = np.tril(np.einsum("ic,jc,ijc->ij", q, k, np.exp(G[:, None] - G[None])))
    check(np.allclose(operators.reference("gla", x)[2][0], pairs @ v * 0.5), "gla: the reference is not the sum over pairs")
    x = operators.inputs("elu", 6, 1, 4)
    q, k, v = (x[name][0, :, 0].astype(np.float64) for name in "qkv")
    pairs = np.tril(operators.elu_plus_one(q) @ operators.elu_plus_one(k).T)
    check(np.allclose(operators.reference("elu", x)[2][0], pairs @ v / pairs.sum(axis=1, keepdims=True)), "elu: not the sum over pairs")


def statistics():
    made = timing.summary([[3.0, 2.0], [5.0, 4.0], [9.0]])
    check(made == {"best": 2.0, "median": 4.0, "rounds": 3, "calls": 5}, "times are summed up wrongly: %s" % made)
    check(abs(report.geometric_mean([2.0, 8.0]) - 4) < 1e-12, "the geometric mean is wrong")


def planted(good):
    """Reports with something wrong in them."""
    check(not report.problems(good), "a good report is refused: %s" % report.problems(good))
    def spoil(change):
        bad = copy.deepcopy(good)
        change(bad)
        return bad
    first = good["rows"][0]["label"]
    for what, change in {
        "no rows": lambda bad: bad.pop("rows"),
        "lintel wrong": lambda bad: bad["rows"][0]["results"].update(lintel={"wrong": {"chunkwise": 0.5}}),
        "a time without a check": lambda bad: bad["rows"][0]["results"]["expert"].pop("error"),
        "a time of a wrong result": lambda bad: bad["rows"][0]["results"]["expert"].update(error=0.5),
        "a time of nothing": lambda bad: bad["rows"][0]["results"]["expert"].update(best=0.0),
        "a rival that broke": lambda bad: bad["rows"][0]["results"].update(expert={"failed": "gone"}),
    }.items():
        check(report.problems(spoil(change)), "a report with %s is taken for good" % what)
    slower = spoil(lambda bad: bad["rows"][0]["results"].update(expert={"best": 2.0, "median": 2.0}, lintel={"best": 1.0, "median": 1.5}))
    check(report.ratio(slower["rows"][0], "expert") == 2, "a ratio is the wrong way round")
    text = report.markdown(slower)
    check("2e+03 (2.00)" in text and "(+50 %)" in text and first in text, "a time, a ratio or a row is not in the table")


def smoke(build):
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, os.path.join(HERE, "bench.py"), "--build", build, "--smoke", "--out", out]
        done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        check(done.returncode == 0, "bench.py --smoke ended with status %d" % done.returncode)
        with open(os.path.join(out, "results.json"), encoding="utf-8") as file:
            result = json.load(file)
        with open(os.path.join(out, "results.md"), encoding="utf-8") as file:
            check(file.read() == done.stdout, "results.md is not what was printed")
        check(len(result["rows"]) == len(cases.smoke()), "rows are missing")
        for row in result["rows"]:
            check("best" in row["results"]["lintel"], row["label"] + ": no time of lintel's")
            if row["case"]["operator"] in ("elu", "gla"):
                check("best" in row["results"]["expert"] and "best" in row["results"]["expert_heads_first"], row["label"] + ": nothing by hand")
        planted(result)
        # A result that is not right to the last bit is refused, and has no time.
        command += ["--operators", "elu", "--tolerance", "1e-12"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        check(done.returncode == 1 and "gave no right result" in done.stderr, "a wrong result is not refused")
        with open(os.path.join(out, "results.json"), encoding="utf-8") as file:
            check(all("best" not in result for row in json.load(file)["rows"] for result in row["results"].values()), "a wrong result has a time")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    options = parser.parse_args()
    references()
    statistics()
    smoke(options.build)
    print("test_bench: ok")


if __name__ == "__main__":
    main()

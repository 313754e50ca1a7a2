"""search.py SPEC [--shape ...] [--trials N] [--seed N] [--export FILE]: searches for a schedule from outside of Lintel."""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

try:
    import optuna
except ImportError:
    optuna = None


class Failed(Exception):
    pass


class Lintel:
    def __init__(self, spec, shape):
        self.spec, self.shape = spec, shape
        found = json.loads(self.run("space"))
        self.variants = [v for v in found["variants"] if "why_not" not in v]
        self.default = next(v for v in self.variants if v["default"])

    def run(self, command, *options):
        shape = ["--shape", self.shape] if self.shape else []
        done = subprocess.run(["lintel", command, self.spec, *shape, *options], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise Failed(done.stderr.strip() or json.loads(done.stdout).get("failure", "its result is wrong"))
        return done.stdout

    def measure(self, variant, schedule):
        """Seconds of the median run."""
        with tempfile.NamedTemporaryFile("w", suffix=".sched", delete=False) as file:
            file.write(schedule)
        try:
            got = json.loads(self.run("measure", "--form", variant["form"], "--chunk", str(variant["chunk"]),
                                      "--schedule", file.name))
        finally:
            os.unlink(file.name)
        return got["seconds_median"]

    def ratio(self, variant, schedule):
        """To the default, which is measured on both sides."""
        standard = text(self.default, lambda stage: stage["default"])
        before = self.measure(self.default, standard)
        mine = self.measure(variant, schedule)
        after = self.measure(self.default, standard)
        return 2 * mine / (before + after)


def text(variant, choose):
    return "".join("%s: %s\n" % (stage["name"], choose(stage)) for stage in variant["stages"])


def candidate(lintel, pick):
    """`pick(name, choices)` is the optimiser's."""
    names = ["%s %d" % (v["form"], v["chunk"]) for v in lintel.variants]
    variant = lintel.variants[names.index(pick("variant", names))]
    label = "%s %d " % (variant["form"], variant["chunk"])
    return variant, text(variant, lambda stage: pick(label + stage["name"], stage["choices"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spec")
    parser.add_argument("--shape", default="")
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--export")
    options = parser.parse_args()
    lintel = Lintel(options.spec, options.shape)
    best = [1.0, lintel.default, text(lintel.default, lambda stage: stage["default"])]

    def evaluate(pick):
        variant, schedule = candidate(lintel, pick)
        ratio = lintel.ratio(variant, schedule)
        print("%.3f of the default's time: %s, chunk %d" % (ratio, variant["form"], variant["chunk"]), flush=True)
        if ratio < best[0]:
            best[:] = [ratio, variant, schedule]
        return ratio

    if optuna:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=options.seed))
        study.optimize(lambda trial: evaluate(trial.suggest_categorical), n_trials=options.trials, catch=(Failed,))
    else:
        print("Optuna is not installed: random choice")
        rng = random.Random(options.seed)
        for _ in range(options.trials):
            try:
                evaluate(lambda name, choices: rng.choice(choices))
            except Failed as failure:
                print("refused: %s" % failure)
    ratio, variant, schedule = best
    print("best: %.3f of the default's time, --form %s --chunk %d\n%s" % (ratio, variant["form"], variant["chunk"], schedule), end="")
    if options.export:
        with open(options.export, "w") as file:
            file.write("// --form %s --chunk %d\n%s" % (variant["form"], variant["chunk"], schedule))


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit("search.py: %s" % failure)

"""A rival's process: `python -m suite.worker MODULE`, requests and answers as lines of JSON.

Each rival has a process, so that it has the Python, the libraries and the threads it needs, and what it breaks stays its own. Only
one works at a time. A rival's module has `candidates(case, inputs, state, settings)`, a list of Candidate; it raises
Missing where it cannot compute a case."""

import importlib
import json
import os
import sys
import traceback

import numpy as np

from . import operators, timing
from .candidate import Missing
from .cases import Case


class Worker:
    def __init__(self, module):
        self.module, self.kept, self.count = module, None, 1

    def open(self, case, folder, settings, tolerance):
        """Computes a case in every way that the rival has and keeps the fastest of those that are right."""
        self.kept = None
        case = Case(*case)
        arrays, state, checked = load_case(folder)
        candidates = self.module.candidates(case, arrays, state, settings)
        errors, right = {}, []
        for candidate in candidates:
            candidate.begin()
            try:
                candidate.run(1)
                errors[candidate.label] = operators.error(candidate.out(), checked)
            except (RuntimeError, MemoryError) as failure:
                errors[candidate.label] = str(failure)
                continue
            if errors[candidate.label] <= tolerance:
                right.append(candidate)
        if not right:
            return {"wrong": errors}
        best = {}
        for _ in range(3 if len(right) > 1 else 0):
            for candidate in right:
                taken = min(timing.turn(candidate.run, timing.calibrate(candidate.run), settings["choose_seconds"]))
                best[candidate] = min(taken, best.get(candidate, taken))
        self.kept = min(right, key=lambda candidate: best.get(candidate, 0))
        self.kept.begin()
        self.count = timing.calibrate(self.kept.run)
        return {"choice": self.kept.label, "error": errors[self.kept.label], "tried": errors}

    def time(self, seconds):
        self.kept.begin()
        return {"times": timing.turn(self.kept.run, self.count, seconds)}

    def close(self):
        self.kept = None
        return {}


def save_case(folder, arrays, state, checked):
    os.makedirs(folder, exist_ok=True)
    for name, array in arrays.items():
        np.save(os.path.join(folder, "in-%s.npy" % name), array)
    if state is not None:
        np.save(os.path.join(folder, "state.npy"), state)
    for name, array in zip(("heads", "steps", "values"), checked):
        np.save(os.path.join(folder, "checked-%s.npy" % name), array)


def load_case(folder):
    files = {name[:-4]: np.load(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".npy")}
    arrays = {name[3:]: array for name, array in files.items() if name.startswith("in-")}
    return arrays, files.get("state"), tuple(files["checked-" + name] for name in ("heads", "steps", "values"))


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print does not mix with answers
    name = sys.argv[1]
    worker = Worker(importlib.import_module("rivals." + name))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(worker, request.pop("do"))(**request)
        except Missing as reason:
            answer = {"missing": str(reason)}
        except ImportError as reason:
            answer = {"missing": "cannot be imported: %s" % reason}
        except Exception as failure:  # the others go on without this rival
            traceback.print_exc()
            answer = {"failed": "%s: %s" % (type(failure).__name__, failure)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()

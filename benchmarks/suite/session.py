"""Starts the rivals' processes, lets each check itself against the reference, and then takes times in rounds."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from . import cases, operators, timing, worker


class Process:
    """A worker of one rival on some number of threads."""

    def __init__(self, rival, threads, folder, log):
        environment = dict(os.environ, PYTHONPATH=folder)
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            environment[name] = str(threads)
        environment.update(rival.environment)
        self.process = subprocess.Popen([rival.python, "-m", "suite.worker", rival.module], cwd=folder, env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)

    def ask(self, do, **arguments):
        try:
            self.process.stdin.write(json.dumps(dict(arguments, do=do)) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            return {"failed": "its process ended with status %s" % self.process.wait()}
        return json.loads(answer)

    def alive(self):
        return self.process.poll() is None

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Rival:
    def __init__(self, name, title, module, python=None, environment=None, settings=None, absent=None):
        self.name, self.title, self.module, self.python = name, title, module, python or sys.executable
        self.environment, self.settings, self.absent = environment or {}, settings or {}, absent


class Session:
    def __init__(self, rivals, settings, options, folder, work):
        self.rivals, self.settings, self.options, self.folder = rivals, settings, options, folder
        os.makedirs(work, exist_ok=True)
        self.log = open(os.path.join(work, "rivals.log"), "w", encoding="utf-8")
        self.work = tempfile.mkdtemp(prefix="case-", dir=work)  # two runs may be at it at once
        self.processes = {}
        self.started = time.monotonic()

    def process(self, rival, threads):
        key = (rival.name, threads)
        if key not in self.processes or not self.processes[key].alive():
            self.processes[key] = Process(rival, threads, self.folder, self.log)
        return self.processes[key]

    def say(self, text):
        print("[%4.0f s] %s" % (time.monotonic() - self.started, text), file=sys.stderr, flush=True)

    def out_of_time(self):
        return self.options.budget and time.monotonic() - self.started > self.options.budget

    def run(self, all_cases):
        rows = []
        for number, case in enumerate(all_cases):
            if self.out_of_time():
                self.say("the time budget is spent: %d of %d rows are left out" % (len(all_cases) - number, len(all_cases)))
                break
            try:
                rows.append(self.row(case, "%d of %d" % (number + 1, len(all_cases))))
            except KeyboardInterrupt:
                self.say("interrupted: what has been measured is reported")
                break
        return rows, len(all_cases) - len(rows)

    def row(self, case, place):
        self.say("%s: %s" % (place, cases.label(case)))
        inputs = operators.inputs(case.operator, case.T, case.H, case.d)
        state = operators.initial_state(case.operator, case.H, case.d) if cases.is_decode(case) else None
        folder = os.path.join(self.work, "case")
        shutil.rmtree(folder, ignore_errors=True)
        worker.save_case(folder, inputs, state, operators.reference(case.operator, inputs, state))
        results, ready = {}, []
        for rival in self.rivals:
            if rival.absent:
                results[rival.name] = {"missing": rival.absent}
                continue
            answer = self.process(rival, case.threads).ask(
                "open", case=case, folder=folder, settings=dict(self.settings, **rival.settings), tolerance=self.options.tolerance)
            results[rival.name] = answer
            if "choice" in answer:
                ready.append(rival)
            if "missing" not in answer:
                self.say("  %s: %s" % (rival.name, answer.get("choice") or answer.get("failed") or "wrong: %s" % answer["wrong"]))
        turns = {rival.name: [] for rival in ready}
        for number in range(self.options.rounds):
            # Another one begins each round: who comes after whom should favour nobody.
            for rival in ready[number % len(ready):] + ready[:number % len(ready)] if ready else []:
                answer = self.process(rival, case.threads).ask("time", seconds=self.options.turn)
                if "times" in answer:
                    turns[rival.name].append(answer["times"])
                else:
                    results[rival.name] = answer
        for rival in ready:
            if "choice" in results[rival.name] and turns[rival.name]:
                results[rival.name].update(timing.summary(turns[rival.name]))
            if self.process(rival, case.threads).alive():
                self.process(rival, case.threads).ask("close")
        times = ", ".join("%s %.4g ms" % (name, 1e3 * result["best"]) for name, result in results.items() if "best" in result)
        self.say("  best of %d rounds: %s" % (self.options.rounds, times or "none"))
        return {"case": dict(case._asdict()), "label": cases.label(case), "flops": cases.flops(case),
                "state_bytes": cases.state_bytes(case) if cases.is_decode(case) else 0, "results": results}

    def close(self):
        for process in self.processes.values():
            process.close()
        shutil.rmtree(self.work, ignore_errors=True)
        self.log.close()

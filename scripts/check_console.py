#!/usr/bin/env python3
"""Runs the console examples of docs and compares what they print; and every option of every command has one in docs/cli.md.

usage: check_console.py LINTEL

In a block of the kind `console`, a line `$ COMMAND` is run by the shell and must end with status 0. The lines below it are
what it prints: `...` alone stands for any lines, inside of a line for any text; where nothing is shown, nothing may be
printed. All blocks of a page share one folder, which holds examples/specs at first; $LINTEL is the source folder, $BUILD
the one that `lintel` was built in.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = ["docs/cli.md", "docs/abi.md"]
COMMANDS = ["run", "compile", "check", "explain", "bench", "measure", "space", "tune"]


def examples(page):
    """(line, command, expected lines) of each."""
    found, inside = [], False
    for number, line in enumerate(page.split("\n"), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            found.append((number, line[2:], []))
        elif inside:
            found[-1][2].append(line)
    return found


def pattern(lines):
    parts = [r"(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n" for line in lines]
    return re.compile("".join(parts))


def run(name, page, lintel):
    faults = []
    environment = dict(os.environ, LINTEL=ROOT, BUILD=os.path.dirname(os.path.dirname(lintel)))
    environment["PATH"] = os.pathsep.join([os.path.dirname(lintel), os.path.dirname(sys.executable), os.environ["PATH"]])
    with tempfile.TemporaryDirectory() as folder:
        specs = os.path.join(ROOT, "examples", "specs")
        for name in os.listdir(specs):
            shutil.copy(os.path.join(specs, name), folder)
        for number, command, expected in examples(page):
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                faults.append("%s:%d: ended with status %d: %s" % (name, number, done.returncode, done.stderr.strip()))
            elif not pattern(expected).fullmatch(done.stdout):
                faults.append("%s:%d: expected\n%s\nfound\n%s" % (name, number, "\n".join(expected), done.stdout))
    return faults


def options(lintel, command):
    text = subprocess.run([lintel, command, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return set(re.findall(r"^\s+(--?[a-z]+(?:-[a-z]+)*)\b", text, re.M)) - {"--help", "--help-list"}


def missing(page, lintel):
    faults = []
    for command in COMMANDS:
        shown = " ".join(text for _, text, _ in examples(page) if re.search(r"\blintel %s\b" % command, text))
        known = options(lintel, command)
        if not known:
            faults.append("lintel %s --help: expected options, found none" % command)
        faults += ["docs/cli.md: expected an example of lintel %s %s, found none" % (command, option)
                   for option in sorted(known) if not re.search(r"(^|\s)%s(=|\s|$)" % re.escape(option), shown)]
    return faults


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lintel = os.path.abspath(sys.argv[1])
    faults, count = [], 0
    for name in PAGES:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            page = file.read()
        if name == PAGES[0]:
            faults += missing(page, lintel)
        faults += run(name, page, lintel)
        count += len(examples(page))
    for fault in faults:
        print(fault)
    print("check_console: %d examples, %d faults" % (count, len(faults)))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

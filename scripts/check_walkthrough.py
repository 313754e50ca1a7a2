#!/usr/bin/env python3
"""Proves that what docs/walkthrough.md prints is what `lintel` prints now; with --fix writes it in.

usage: check_walkthrough.py LINTEL [--fix]

A comment before a fenced block says which command's output it is, and which lines of it:

  <!-- lintel compile examples/specs/retnet.attn --emit form :: 1-9 | /attn.yield/+2 -->

`A-B`: these lines; `/REGEX/+N`: the first line that matches and N more; `all`: everything. Between pieces that do not
follow each other a line `...` is put. Lines longer than 150 characters are cut. Names of values that hold a digit (%12,
%cast_5) may differ: a new number alone makes no page out of date.
"""

import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "walkthrough.md")
BLOCK = re.compile(r"(<!-- (lintel [^\n]*?) :: ([^\n]*?) -->\n```[a-z]*\n)(.*?)(^```$)", re.M | re.S)
WIDTH = 150


def excerpt(text, pieces):
    lines = [line.rstrip() for line in text.rstrip("\n").split("\n")]
    if pieces.strip() == "all":
        pieces = "1-%d" % len(lines)
    shown, last = [], None
    for piece in pieces.split(" | "):
        numbers = re.fullmatch(r"\s*(\d+)-(\d+)\s*", piece)
        pattern = re.fullmatch(r"\s*/(.*)/\+(\d+)\s*", piece)
        if numbers:
            first, end = int(numbers[1]) - 1, int(numbers[2])
        elif pattern:
            first = next((n for n, line in enumerate(lines) if re.search(pattern[1], line) and n >= (last or 0)), None)
            if first is None:
                raise ValueError("no line matches /%s/ after what is shown before" % pattern[1])
            end = first + 1 + int(pattern[2])
        else:
            raise ValueError("expected A-B, /REGEX/+N or all, found '%s'" % piece)
        if last is not None and first != last:
            shown.append("...")
        shown += [line if len(line) <= WIDTH else line[: WIDTH - 4] + " ..." for line in lines[first:end]]
        last = end
    if last < len(lines):
        shown.append("...")
    return "\n".join(shown) + "\n"


def unnumbered(text):
    lines = [re.sub(r"%[\w.]*\d[\w.]*", "%", line) for line in text.split("\n")]
    # Where a line is cut depends on the names before.
    return [line[: WIDTH * 3 // 4] if line.endswith(" ...") else line for line in lines]


def main():
    arguments = [a for a in sys.argv[1:] if a != "--fix"]
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    outputs, faults, count = {}, [], 0

    def update(match):
        nonlocal count
        count += 1
        head, command, pieces, old, tail = match.groups()
        if command not in outputs:
            done = subprocess.run([arguments[0]] + shlex.split(command)[1:], cwd=ROOT, capture_output=True, text=True)
            if done.returncode != 0:
                faults.append("'%s' failed: %s" % (command, done.stderr.strip()))
                return match.group(0)
            outputs[command] = done.stdout
        try:
            new = excerpt(outputs[command], pieces)
        except ValueError as error:
            faults.append("'%s': %s" % (command, error))
            return match.group(0)
        if unnumbered(new) == unnumbered(old):
            return match.group(0)
        if "--fix" not in sys.argv:
            faults.append("the excerpt of '%s :: %s' is out of date" % (command, pieces))
        return head + new + tail

    page = BLOCK.sub(update, page)
    if "--fix" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
    for fault in faults:
        print("error: %s" % fault)
    if faults:
        print("put it right by: scripts/check_walkthrough.py LINTEL --fix")
    print("check_walkthrough: %d excerpts, %d faults" % (count, len(faults)))
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

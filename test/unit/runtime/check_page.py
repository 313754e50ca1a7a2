#!/usr/bin/env python3
"""Checks docs/abi.md: its program is examples/03-c-program/main.c to the letter, and its table has every status.

usage: check_page.py PROJECT [--fix]      (--fix puts the program into the page)
"""
import pathlib
import re
import sys

project = pathlib.Path(sys.argv[1])
page = project / "docs/abi.md"
text = page.read_text()
program = (project / "examples/03-c-program/main.c").read_text()
header = (project / "runtime/include/lintel/runtime.h").read_text()

faults = []
block = re.search(r"```c\n(.*?)```", text, re.S)
if block.group(1) != program:
    if "--fix" in sys.argv:
        page.write_text(text[: block.start(1)] + program + text[block.end(1) :])
    else:
        faults.append("docs/abi.md: the program differs from examples/03-c-program/main.c; run check_page.py PROJECT --fix")
declared = re.findall(r"^  (LINTEL_(?:OK|ERROR_\w+)) =", header, re.M)
listed = re.findall(r"^\| `(LINTEL_(?:OK|ERROR_\w+))` \|", text, re.M)
if declared != listed:
    faults.append(f"docs/abi.md: expected the statuses {declared} in its table, found {listed}")
print("\n".join(faults) or "docs/abi.md is up to date")
sys.exit(1 if faults else 0)

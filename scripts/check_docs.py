#!/usr/bin/env python3
"""Fails if a committed page of docs/generated is not what the tablegen files say now. `make docs` puts it right.

usage: check_docs.py FOLDER       (the freshly generated pages, BUILD/docs/generated)
"""

import os
import sys

COMMITTED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "generated")


def pages(folder):
    found = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name.endswith(".md"):
            with open(os.path.join(folder, name), encoding="utf-8") as page:
                found[name] = page.read()
    return found


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    fresh, committed = pages(sys.argv[1]), pages(COMMITTED)
    faults = []
    for name in sorted(set(fresh) | set(committed)):
        if name not in committed:
            faults.append("docs/generated/%s is missing" % name)
        elif name not in fresh:
            faults.append("docs/generated/%s belongs to no tablegen file" % name)
        elif fresh[name] != committed[name]:
            faults.append("docs/generated/%s is out of date" % name)
    for fault in faults:
        print("error: %s; run make docs and commit the result" % fault)
    print("check_docs: %d pages, %d faults" % (len(fresh), len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

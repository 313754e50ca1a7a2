#!/usr/bin/env python3
"""Exit status 0 if every line of a requirements file (NAME or NAME==VERSION) is met by this interpreter's packages."""

import importlib.metadata
import sys


def met(line):
    name, _, version = line.partition("==")
    try:
        found = importlib.metadata.version(name.strip())
    except importlib.metadata.PackageNotFoundError:
        return False
    return not version or found == version.strip()


with open(sys.argv[1], encoding="utf-8") as requirements:
    sys.exit(0 if all(met(line.strip()) for line in requirements if line.strip() and line[0] != "#") else 1)

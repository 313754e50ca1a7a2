#!/usr/bin/env python3
"""Checks what users link: each runtime library under 200 KiB (release), no C++, no symbol that is not lintel_*."""
import argparse
import os
import re
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--nm", required=True)
parser.add_argument("--config", default="Release")
parser.add_argument("libraries", nargs="+")
args = parser.parse_args()

failures = []
for library in args.libraries:
    name = os.path.basename(library)
    size = os.path.getsize(library)
    if args.config == "Release" and size >= 200 * 1024:
        failures.append(f"{name}: expected under {200 * 1024} bytes, found {size}")
    dynamic = ["-D"] if ".so" in name else []
    out = subprocess.run([args.nm, "-g", *dynamic, library], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        match = re.match(r"^[0-9a-f]* *([A-Za-z]) (\S+)", line)
        if not match:
            continue
        kind, symbol = match.groups()
        if re.match(r"_Z|__cxa_(?!finalize)|__gxx", symbol):
            failures.append(f"{name}: needs the C++ library: {symbol}")
        sanitizer = re.match(r"__(asan|ubsan|odr_asan|start_asan|stop_asan|sanitizer)", symbol)
        if kind in "TDBR" and not symbol.startswith("lintel_") and symbol not in ("_init", "_fini") and not sanitizer:
            failures.append(f"{name}: defines {symbol}, which is not ours to define")
        if kind in "TDBR" and dynamic and symbol.startswith("lintel_internal_"):
            failures.append(f"{name}: exports {symbol}, which is not part of the interface")
    print(f"{name}: {size} bytes")
print("\n".join(failures))
sys.exit(1 if failures else 0)

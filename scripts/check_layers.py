#!/usr/bin/env python3
"""Proves the layering of the rooms from their #include lines, and a few rules of tidiness.

Layers (who may include whom; a room may always include itself and the standard library):
  runtime/include, runtime/src    only the runtime's installed headers <lintel/...>
  dialect                         MLIR and LLVM (dialect/reference too; nothing else includes it but driver, tools, tests)
  compiler/{frontend,analysis,transforms,pipelines}   dialect and each other
  codegen                         dialect and <lintel/kernel.h>; Halide.h only in codegen/halide
  compiler/driver                 everything of compiler, codegen, dialect, the runtime's headers
  compiler/tools                  compiler/driver, dialect (lintel-opt registers it), dialect/reference; lintel-opt registers passes too
  examples, python                installed headers only
  benchmarks                      installed headers; the kernels written by hand stand alone
Tidiness: no file over 800 lines (over 600: a warning), no paths of one machine, no open work notes in the source.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = (".h", ".hpp", ".c", ".cc", ".cpp", ".td", ".inc")
TEXT = SOURCE + (".py", ".sh", ".md", ".txt", ".cmake", ".json", ".in", ".attn", ".mlir", ".sched", ".test", ".td", ".supp")
WARN_LINES, MOST_LINES = 600, 800
INCLUDE = re.compile(r'^\s*#\s*(?:include|import)\s*(<[^>]+>|"[^"]+")', re.M)
TD_INCLUDE = re.compile(r'^\s*include\s+("[^"]+")', re.M)

# Spelt in pieces, so that this file passes its own check.
MACHINE_PATH = re.compile(r"(?<![\w.}/-])/(?:work|root|home)/\w")
OPEN_NOTE = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")

PASSES = ("compiler/frontend", "compiler/analysis", "compiler/transforms", "compiler/pipelines")
INSTALLED = ("runtime/include",)
# Longest prefix first: the first that fits a file is its room.
ROOMS = [
    # room, what it may include of ours
    ("dialect/reference", ("dialect",)),
    ("dialect", ("dialect",)),
    ("compiler/frontend", PASSES + ("dialect",)),
    ("compiler/analysis", PASSES + ("dialect",)),
    ("compiler/transforms", PASSES + ("dialect",)),
    ("compiler/pipelines", PASSES + ("dialect",)),
    ("compiler/driver", ("compiler", "codegen", "dialect") + INSTALLED),
    ("compiler/tools", ("compiler/tools", "compiler/driver", "dialect") + INSTALLED),
    ("codegen", ("codegen", "dialect", "runtime/include/lintel/kernel.h")),
    ("runtime/include", INSTALLED),
    ("runtime", ("runtime",)),
    ("examples", ("examples",) + INSTALLED),
    ("benchmarks", ("benchmarks",) + INSTALLED),
    ("python", ("python",) + INSTALLED),
]
# Inside a room, folders that others of ours must not see.
HIDDEN = {
    "dialect/reference": ("dialect/reference", "compiler/driver", "compiler/tools"),
    "codegen/halide/HalideHeader.h": ("codegen/halide",),
}
# lintel-opt and lintel-lsp exist to register every pass.
REGISTER = re.compile(r"^compiler/tools/lintel-(opt|lsp)")
FOREIGN_FREE = ("runtime", "examples", "benchmarks", "python")  # rooms that must not see MLIR, LLVM or Halide


def room_of(path):
    return next((room for room in ROOMS if path == room[0] or path.startswith(room[0] + "/")), None)


def inside(path, prefix):
    return path == prefix or path.startswith(prefix + "/")


def resolve(path, name, exists):
    """Where an include of ours leads, as a path from the root; None if it is not ours."""
    if name.startswith("lintel/"):
        return "runtime/include/" + name
    if name.split("/")[0] in ("dialect", "compiler", "codegen", "runtime", "python", "examples", "test"):
        return name
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    if exists(beside):
        return beside
    for prefix in ("runtime/include/", "runtime/src/"):
        if path.startswith("runtime/") and exists(prefix + name):
            return prefix + name
    return None


def include_faults(path, text, exists):
    room = room_of(path)
    pattern = TD_INCLUDE if path.endswith(".td") else INCLUDE
    if room is None or not path.endswith(SOURCE):
        return
    for match in pattern.finditer(text):
        name = match.group(1)[1:-1]
        line = text.count("\n", 0, match.start(1)) + 1
        where = "%s:%d: " % (path, line)
        if re.match(r"(Halide\.h|HalideRuntime|HalideBuffer)", os.path.basename(name)) and not inside(path, "codegen/halide"):
            yield where + "includes %s; only codegen/halide may" % name
            continue
        if name.split("/")[0] in ("mlir", "llvm", "mlir-c", "llvm-c") and path.split("/")[0] in FOREIGN_FREE:
            yield where + "includes %s; %s has no MLIR, LLVM or Halide in it" % (name, room[0])
            continue
        target = resolve(path, name, exists)
        if target is None:
            continue
        if REGISTER.match(path) and any(inside(target, other) for other in PASSES + ("codegen",)):
            continue
        if not any(inside(target, allowed) for allowed in room[1]):
            yield where + "includes %s; %s may include of ours only %s" % (name, room[0], ", ".join(room[1]))
            continue
        for hidden, readers in HIDDEN.items():
            if inside(target, hidden) and not any(inside(path, reader) for reader in readers):
                yield where + "includes %s; only %s may see %s" % (name, ", ".join(readers), hidden)


def tidiness_faults(path, text, warnings):
    if not path.endswith(TEXT) and os.path.basename(path) not in ("Makefile", "run"):
        return
    lines = text.count("\n")
    # Generated pages and data are as long as what they describe.
    if path.endswith(SOURCE + (".py", ".sh")) and not path.startswith("docs/generated/"):
        if lines > MOST_LINES:
            yield "%s: %d lines; split it by meaning (at most %d)" % (path, lines, MOST_LINES)
        elif lines > WARN_LINES:
            warnings.append("%s: %d lines; better under %d" % (path, lines, WARN_LINES))
    for pattern, what in ((MACHINE_PATH, "names a path of one machine"), (OPEN_NOTE, "holds a note of open work")):
        match = pattern.search(text)
        if match:
            yield "%s:%d: %s: %s" % (path, text.count("\n", 0, match.start()) + 1, what, match.group(0))


def check(paths, read, exists, warnings):
    faults = []
    for path in paths:
        text = read(path)
        if text is not None:
            faults += include_faults(path, text, exists)
            faults += tidiness_faults(path, text, warnings)
    return faults


def tracked_files():
    try:
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True).stdout
        return [name for name in listed.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):  # an archive without git
        found = []
        for folder, folders, names in os.walk(ROOT):
            folders[:] = [name for name in folders if not name.startswith((".git", "build"))]
            found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
        return sorted(found)


def read_text(path):
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):  # deleted in the work tree, or not text
        return None


def self_test():
    mark = "TO" + "DO"
    good = {
        "runtime/src/A.cpp": '#include "lintel/kernel.h"\n#include <vector>\n',
        "runtime/include/lintel/kernel.h": "#include <stdint.h>\n",
        "dialect/A.cpp": '#include "dialect/A.h"\n#include "mlir/IR/Builders.h"\n',
        "dialect/reference/I.cpp": '#include "dialect/A.h"\n',
        "compiler/analysis/A.cpp": '#include "dialect/A.h"\n#include "compiler/frontend/Frontend.h"\n',
        "compiler/driver/C.cpp": '#include "codegen/emit/E.h"\n#include "dialect/reference/I.h"\n#include "lintel/runtime.h"\n',
        "compiler/tools/lintel/main.cpp": '#include "compiler/driver/C.h"\n#include "dialect/reference/I.h"\n',
        "compiler/tools/lintel-opt/main.cpp": '#include "compiler/transforms/Passes.h"\n',
        "codegen/emit/E.cpp": '#include "lintel/kernel.h"\n#include "dialect/A.h"\n',
        "codegen/halide/S.cpp": '#include <Halide.h>\n',
        "examples/1/a.c": "#include <lintel/runtime.h>\n",
        "docs/a.md": "see https://example.org/home/page and build/home/x\n",
    }
    bad = {
        "runtime/src/B.cpp": '#include "llvm/ADT/StringRef.h"\n',
        "runtime/src/C.cpp": '#include "dialect/A.h"\n',
        "dialect/B.cpp": '#include "compiler/frontend/Frontend.h"\n',
        "dialect/C.cpp": '#include "dialect/reference/I.h"\n',
        "compiler/transforms/B.cpp": '#include "codegen/schedule/S.h"\n',
        "compiler/transforms/C.cpp": '#include "dialect/reference/I.h"\n',
        "compiler/analysis/B.cpp": '  #  include "lintel/kernel.h"\n',
        "compiler/tools/lintel/B.cpp": '#include "compiler/transforms/Passes.h"\n',
        "compiler/driver/B.cpp": "#include <Halide.h>\n",
        "codegen/emit/B.cpp": '#include "lintel/runtime.h"\n',
        "codegen/emit/C.cpp": '#include "compiler/analysis/T.h"\n',
        "codegen/cpu/B.cpp": '#include "codegen/halide/HalideHeader.h"\n',
        "examples/1/b.c": '#include "runtime/src/Pool.h"\n',
        "examples/1/c.cpp": '#include "mlir/IR/Builders.h"\n',
        "dialect/D.td": 'include "compiler/transforms/Passes.td"\n',
        "docs/b.md": "run it in /" + "home/me/x\n",
        "docs/c.md": mark + ": write this\n",
        "scripts/long.py": "x = 1\n" * 801,
    }
    files = dict(good, **bad)
    wrong = 0
    for path, text in files.items():
        faults = check([path], files.get, files.__contains__, [])
        if len(faults) != (1 if path in bad else 0):
            wrong += 1
            print("self-test: %s: found %r" % (path, faults))
    warnings = []
    check(["scripts/a.py"], {"scripts/a.py": "x = 1\n" * 700}.get, files.__contains__, warnings)
    if len(warnings) != 1:
        wrong += 1
        print("self-test: expected one warning for 700 lines, found %r" % warnings)
    print("check_layers self-test: %s" % ("ok, %d files planted" % len(files) if not wrong else "%d wrong" % wrong))
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        print("usage: check_layers.py [--self-test]", file=sys.stderr)
        return 2
    paths = tracked_files()
    warnings = []
    faults = check(paths, read_text, lambda path: os.path.isfile(os.path.join(ROOT, path)), warnings)
    for line in warnings:
        print("warning: " + line)
    for line in faults:
        print("error: " + line)
    print("check_layers: %d files, %d faults, %d warnings" % (len(paths), len(faults), len(warnings)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

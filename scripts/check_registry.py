#!/usr/bin/env python3
"""Checks the lists that are kept by hand against what is there.

  sources   every .cpp and .c of a room is named in a CMakeLists.txt of its folder (or of one above it)
  passes    `def DeriveChunkwise : Pass<"attn-derive-chunkwise"` of a Passes.td lies in DeriveChunkwise.cpp beside it and is
            run by test/lit/**/derive-chunkwise.mlir
  ops       every operation of the dialect occurs in a lit test
  specs     every examples/specs/*.attn is used by a test or an example, by its name or by one that goes through the folder
            and says so with the words `uses: examples/specs/*.attn` in a comment
  schedules every shipped .sched file has a RUN: line
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ("runtime/", "dialect/", "compiler/", "codegen/", "test/unit/", "test/numerics/", "test/fuzz/")
PASS = re.compile(r'^def\s+(\w+)\s*:\s*Pass<\s*"([\w-]+)"', re.M)
OP = re.compile(r'^def\s+\w+\s*:\s*(?:Attn_)?\w*<\s*"([a-z_][\w.]*)"', re.M)


def kebab(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def source_faults(files):
    for path in files:
        if not path.startswith(ROOMS) or not path.endswith((".cpp", ".c")) or "/Inputs/" in path:
            continue
        folder = os.path.dirname(path)
        named = False
        while folder and not named:
            lists = files.get(folder + "/CMakeLists.txt", "")
            named = re.search(r"(?<![\w/.-])%s(?![\w.])" % re.escape(os.path.relpath(path, folder)), lists) is not None
            folder = os.path.dirname(folder)
        if not named:
            yield "%s: named in no CMakeLists.txt, so it is never compiled" % path


def pass_faults(files):
    for path, text in files.items():
        if not path.endswith("Passes.td"):
            continue
        for name, argument in PASS.findall(text):
            source = os.path.dirname(path) + "/" + name + ".cpp"
            if source not in files:
                yield "%s: pass %s: expected its code in %s" % (path, name, source)
            # Passes on the attn dialect are attn-, those on what it was lowered to lintel-.
            wanted = ("lintel-" if path.startswith("codegen/cpu/") else "attn-") + kebab(name)
            if argument != wanted:
                yield "%s: pass %s: expected the argument %s, found %s" % (path, name, wanted, argument)
            tests = [test for test in files if test.startswith("test/lit/") and os.path.basename(test) == kebab(name) + ".mlir"]
            if not any(re.search(r"-%s\b" % re.escape(argument), files[test]) for test in tests):
                yield "%s: pass %s: expected a lit test %s.mlir that runs --%s" % (path, name, kebab(name), argument)


def op_faults(files):
    tests = "\n".join(text for path, text in files.items() if path.startswith("test/lit/"))
    for path, text in files.items():
        if path.startswith("dialect/") and path.endswith("Ops.td"):
            for mnemonic in OP.findall(text):
                if not re.search(r"\battn\.%s\b" % re.escape(mnemonic), tests):
                    yield "%s: operation attn.%s occurs in no test of test/lit" % (path, mnemonic)


def spec_faults(files):
    users = [text for path, text in files.items()
             if path.startswith(("test/", "examples/", "benchmarks/")) and not path.startswith("examples/specs/")]
    if any("uses: examples/specs/*.attn" in text for text in users):
        return
    for path in files:
        if path.startswith("examples/specs/") and path.endswith(".attn"):
            stem = os.path.basename(path)[: -len(".attn")]
            name = re.compile(r"""(?<![\w-])%s\.attn\b|["']%s["']""" % (re.escape(stem), re.escape(stem)))
            if not any(name.search(text) for text in users):
                yield "%s: no test and no example uses it" % path


def schedule_faults(files):
    for path, text in files.items():
        if path.startswith("codegen/schedules/") and path.endswith(".sched") and "RUN:" not in text:
            yield "%s: expected a RUN: line that compiles with it" % path


CHECKS = (source_faults, pass_faults, op_faults, spec_faults, schedule_faults)


def read_tree():
    try:
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True).stdout
        paths = [name for name in listed.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):  # an archive without git
        paths = []
        for folder, folders, names in os.walk(ROOT):
            folders[:] = [name for name in folders if not name.startswith((".git", "build"))]
            paths += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    files = {}
    for path in sorted(paths):
        try:
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                files[path] = file.read()
        except (OSError, UnicodeDecodeError):
            continue
    return files


def self_test():
    good = {
        "dialect/CMakeLists.txt": "SOURCES A.cpp sub/B.cpp",
        "dialect/A.cpp": "", "dialect/sub/B.cpp": "",
        "dialect/AttnXOps.td": 'def Attn_DotOp : Attn_Op<"dot", [Pure]> {',
        "compiler/transforms/Passes.td": 'def FuseStages : Pass<"attn-fuse-stages", "ModuleOp"> {',
        "compiler/transforms/CMakeLists.txt": "FuseStages.cpp",
        "compiler/transforms/FuseStages.cpp": "",
        "test/lit/transforms/fuse-stages.mlir": "// RUN: lintel-opt --attn-fuse-stages %s\n attn.dot",
        "examples/specs/elu.attn": "", "test/numerics/T.cpp": 'run("elu")', "test/numerics/CMakeLists.txt": "T.cpp",
        "codegen/schedules/a.sched": "// RUN: lintel",
    }
    planted = {
        "dialect/C.cpp": "",
        "dialect/AttnYOps.td": 'def Attn_DotsOp : Attn_ElementOp<"dots">;',
        "compiler/analysis/Passes.td": 'def CountOps : Pass<"attn-count", "ModuleOp"> {',
        "examples/specs/relu.attn": "",
        "codegen/schedules/b.sched": "tile i 4",
    }
    found = [fault for check in CHECKS for fault in check(dict(good))]
    wrong = ["a clean tree: " + fault for fault in found]
    for path, text in planted.items():
        faults = [fault for check in CHECKS for fault in check(dict(good, **{path: text}))]
        if not faults or not all(fault.startswith(path + ":") for fault in faults):
            wrong.append("planted %s: found %r" % (path, faults))
    for line in wrong:
        print("self-test: " + line)
    print("check_registry self-test: %s" % ("%d wrong" % len(wrong) if wrong else "ok, %d faults planted" % len(planted)))
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        print("usage: check_registry.py [--self-test]", file=sys.stderr)
        return 2
    files = read_tree()
    faults = [fault for check in CHECKS for fault in check(files)]
    for fault in faults:
        print("error: " + fault)
    print("check_registry: %d files, %d faults" % (len(files), len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

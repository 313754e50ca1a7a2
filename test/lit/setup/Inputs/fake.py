"""fake.py DIR [--uid N] [--apt STATUS] [--pip STATUS] [--missing PACKAGE...]: runs scripts/setup.sh on a machine made up
in DIR, which has all that the script looks for but the packages named (`all`: none of them), this user, and, if asked
for, an apt-get that installs nothing and ends with STATUS. Prints what the script says, its exit status, how apt-get
was called, and what came into being."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("dir", type=pathlib.Path)
parser.add_argument("--uid", default="1000")
parser.add_argument("--apt")
parser.add_argument("--pip", default="0")
parser.add_argument("--missing", nargs="*", default=[])
args = parser.parse_args()

source = pathlib.Path(__file__).resolve().parents[4]
script = source / "scripts" / "setup.sh"
shutil.rmtree(args.dir, ignore_errors=True)
folder, root = args.dir / "bin", args.dir / "root"
folder.mkdir(parents=True)


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/bash\n" + text + "\n")
    path.chmod(0o755)


for name in ("bash", "cat", "cmp", "cp", "dirname", "mkdir", "rm", "sort", "tr"):
    (folder / name).symlink_to(shutil.which(name))
program(folder / "id", f"echo {args.uid}")
if args.apt:
    program(folder / "apt-get", f'echo "apt-get $*" >> "{args.dir}/calls"; exit {args.apt}')
needs = re.findall(r"^(file|glob|program):(\S+) +(\S+)$", script.read_text(), re.M)
assert len(needs) > 10, needs
for kind, what, package in needs:
    if package in args.missing or "all" in args.missing:
        continue
    if kind == "program":
        program(folder / what, "exit 1")
    else:
        path = root / what.lstrip("/").replace("*", "x")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
if not {"all", "python3-venv"} & set(args.missing):
    # Makes an environment whose own Python does nothing but what pip is to say.
    program(root / "usr/bin/python3",
            'if [ "$1 $2" = "-m venv" ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi\n'
            f'if [ "$1 $2" = "-m pip" ]; then exit {args.pip}; fi')
result = subprocess.run([folder / "bash", script, args.dir / "venv"], env={"PATH": str(folder), "SETUP_ROOT": str(root)},
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(result.stdout, end="")
print("status:", result.returncode)
calls = args.dir / "calls"
print(calls.read_text() if calls.exists() else "apt-get was not called\n", end="")
print("came into being:", *sorted(os.listdir(args.dir / "venv")) if (args.dir / "venv").exists() else ["nothing"])

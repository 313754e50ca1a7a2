"""status.py N COMMAND...: runs the command and fails unless it exits with status N; its output goes to the standard output."""

import subprocess
import sys

result = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
sys.stdout.buffer.write(result.stdout)
if result.returncode != int(sys.argv[1]):
    sys.exit(f"expected exit status {sys.argv[1]}, found {result.returncode}")

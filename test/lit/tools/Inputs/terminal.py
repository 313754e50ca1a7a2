"""terminal.py COMMAND...: runs the command with its standard error on a terminal of 60 columns; says what passed over
it (`lines: ...`, one a rewriting) and what is left at the end (`left: ...`). Its standard output goes to a pipe."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
os.close(slave)
received = b""
while True:
    try:
        part = os.read(master, 4096)
    except OSError:  # how Linux says that nobody holds the other end any more
        break
    if not part:
        break
    received += part
output = process.communicate()[0]
screen, column, shown = [""], 0, []
# A sanitizer's word on what it cannot follow is not the command's.
said = re.sub(rb"==\d+==WARNING: ASan doesn't fully support [^\n]*\n", b"", received)
for c in said.decode().replace("\r\n", "\n"):
    line = screen[-1]
    if c == "\r":
        if len(line) >= 60:
            sys.exit(f"expected a line shorter than the terminal, found {line!r}")
        if line.strip():
            shown.append(line.rstrip())
        column = 0
    elif c == "\n":
        screen.append("")
        column = 0
    elif c == "\b":
        column = max(column - 1, 0)
    elif c < " ":
        sys.exit(f"expected a line that every terminal can show, found {c!r}")
    else:
        screen[-1] = line[:column].ljust(column) + c + line[column + 1 :]
        column += 1
for line in shown:
    print("lines:", line)
print("left:", "|".join(line.rstrip() for line in screen))
sys.stdout.flush()
sys.stdout.buffer.write(output)
sys.exit(process.returncode)

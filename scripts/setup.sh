#!/usr/bin/env bash
# Makes a Debian 12 ready to build Lintel: installs what is missing by apt (as root) and puts Halide, lit and NumPy into
# a virtual environment. Everything present is left alone, so a second run asks no registry and takes no time.
# usage: scripts/setup.sh [VENV]       (default build/venv)
# SETUP_ROOT: a folder to look for files in, in the place of / (test/lit/setup)
# exit: 0 ready, 2 something is missing and cannot be installed here (it says what)
set -eu
cd "$(dirname "$0")/.."
venv=${1:-build/venv}
requirements=cmake/requirements.txt
root=${SETUP_ROOT:-}

# What is looked for (a program or a file), and the package that has it.
needs="
file:/usr/lib/llvm-22/lib/cmake/mlir/MLIRConfig.cmake libmlir-22-dev
file:/usr/lib/llvm-22/bin/mlir-tblgen                  mlir-22-tools
file:/usr/lib/llvm-22/lib/cmake/llvm/LLVMConfig.cmake  llvm-22-dev
file:/usr/lib/llvm-22/bin/FileCheck                    llvm-22-tools
program:clang++-22                                     clang-22
program:ld.lld-22                                      lld-22
glob:/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.fuzzer-*.a libclang-rt-22-dev
file:/usr/include/gtest/gtest.h                        libgtest-dev
file:/usr/include/benchmark/benchmark.h                libbenchmark-dev
file:/usr/include/sqlite3.h                            libsqlite3-dev
file:/usr/include/c++/12/vector                        g++
program:cmake                                          cmake
program:ninja                                          ninja-build
program:ccache                                         ccache
program:clang-format-14                                clang-format-14
program:git                                            git
file:/etc/ssl/certs/ca-certificates.crt                ca-certificates
"
# For tests of code for other processors, which are left out without them.
wants="
program:qemu-aarch64                                   qemu-user
program:aarch64-linux-gnu-gcc                          gcc-aarch64-linux-gnu
file:/usr/aarch64-linux-gnu/include/stdio.h            libc6-dev-arm64-cross
"
present() {
  case $1 in
    program:*) command -v "${1#program:}" >/dev/null 2>&1 ;;
    file:*) [ -e "$root${1#file:}" ] ;;
    glob:*) compgen -G "$root${1#glob:}" >/dev/null ;;
  esac
}
not_present() {
  local what package
  while read -r what package; do
    if [ -n "$what" ] && ! present "$what"; then echo "$package"; fi
  done <<<"$1"
}
missing_packages() {
  not_present "$needs"
  if [ ! -f "$venv/lintel-requirements.txt" ] && [ -z "$(find_python)" ]; then echo python3-venv; fi
}
# A Python that can make environments and for which Halide 21 has a wheel (3.9 to 3.13).
find_python() {
  local candidate
  for candidate in "$root/usr/bin/python3" python3 python3.13 python3.12 python3.11 python3.10 python3.9; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
}

missing=$(missing_packages)
if [ -n "$missing" ]; then
  list=$(echo "$missing" | sort -u | tr '\n' ' ')
  reason=
  if ! command -v apt-get >/dev/null 2>&1; then reason="this system has no apt-get"
  elif [ "$(id -u)" != 0 ]; then reason="apt-get needs root"; fi
  if [ -n "$reason" ]; then
    echo "setup: missing and not installed, because $reason:" >&2
    while read -r what package; do
      if [ -n "$what" ] && ! present "$what"; then printf '  %-20s (looked for %s)\n' "$package" "${what#*:}" >&2; fi
    done <<<"$needs"
    case " $list" in *" python3-venv "*) printf '  %-20s (looked for %s)\n' python3-venv "a Python from 3.9 to 3.13 with venv" >&2 ;; esac
    echo "setup: as root on Debian 12: apt-get install --no-install-recommends $list" >&2
    exit 2
  fi
  echo "setup: installing $list"
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086  # a list of words
  if ! { apt-get update -q && apt-get install -q -y --no-install-recommends $list; } </dev/null; then
    echo "setup: apt-get could not install: $list" >&2
    echo "setup: on Debian 12 they come from the suites bookworm and bookworm-security (deb.debian.org)" >&2
    exit 2
  fi
  still=$(missing_packages)
  if [ -n "$still" ]; then
    echo "setup: installed, but still not found:" $still >&2
    exit 2
  fi
fi

wanted=$(not_present "$wants" | sort -u | tr '\n' ' ')
if [ -n "$wanted" ]; then
  # shellcheck disable=SC2086  # a list of words
  if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && echo "setup: installing $wanted" &&
    DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null &&
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $wanted </dev/null; then :
  else
    echo "setup: tests of code for other processors are left out, as these packages are not installed: $wanted"
  fi
fi

# The stamp holds the requirements the environment was made for.
if ! cmp -s "$requirements" "$venv/lintel-requirements.txt" || [ ! -x "$venv/bin/python" ]; then
  python=$(find_python)
  have=
  if [ -x "$venv/bin/python" ] && "$venv/bin/python" scripts/check_requirements.py "$requirements" 2>/dev/null; then have=yes; fi
  if [ -z "$have" ]; then
    if [ -z "$python" ]; then
      echo "setup: expected a Python from 3.9 to 3.13 with venv, found none; install python3-venv" >&2
      exit 2
    fi
    echo "setup: making $venv with $python"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    if ! "$venv/bin/python" -m pip install --disable-pip-version-check --no-input -q -r "$requirements" </dev/null; then
      echo "setup: pip could not install what $requirements names into $venv (wheels from pypi.org)" >&2
      exit 2
    fi
  fi
  cp "$requirements" "$venv/lintel-requirements.txt"
fi
echo "setup: ready"

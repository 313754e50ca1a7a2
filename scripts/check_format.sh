#!/usr/bin/env bash
# Fails if a tracked C or C++ file is not as clang-format 14 writes it; `make format` puts it right.
# With --fix it rewrites the files.
set -euo pipefail
cd "$(dirname "$0")/.."
formatter=$(command -v clang-format-14 || true)
if [ -z "$formatter" ]; then
  echo "check_format: expected clang-format-14, found none; install it (apt-get install clang-format-14)" >&2
  exit 2
fi
# A release archive has no git: then every file counts.
list() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z -- '*.h' '*.cpp' '*.c'
  else
    find . -path './build*' -prune -o \( -name '*.h' -o -name '*.cpp' -o -name '*.c' \) -print0
  fi
}
# A file that is listed but deleted in the work tree is not an error here.
existing() { while IFS= read -r -d '' file; do if [ -f "$file" ]; then printf '%s\0' "$file"; fi; done; }
if [ "${1:-}" = --fix ]; then
  list | existing | xargs -0 -r "$formatter" -i
else
  wrong=$(list | existing | xargs -0 -r "$formatter" --dry-run 2>&1 | sed -n 's/^\([^: ]*\):[0-9]*:.*code should be clang-formatted.*/\1/p' | uniq -c) || {
    echo "check_format: clang-format-14 itself failed; is .clang-format right?" >&2
    exit 1
  }
  if [ -n "$wrong" ]; then
    echo "check_format: places that differ, and the file; make format puts them right"
    echo "$wrong"
    exit 1
  fi
fi

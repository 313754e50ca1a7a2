#!/usr/bin/env bash
# Runs each fuzz target of a build folder for some seconds, all cores shared among them.
# usage: scripts/run_fuzz.sh BUILD SECONDS [TARGET]
# What it finds stays in BUILD/test/fuzz/TARGET/ as crash-*, timeout-* or oom-* (spec_fuzz: failed-*.attn): replay with
# BUILD/test/fuzz/bin/TARGET FILE, then put the (minimised) file into the target's corpus, so that make test replays it for ever.
set -eu
build=$(cd "$1" && pwd)
seconds=$2
only=${3:-}
export ASAN_OPTIONS=detect_container_overflow=0:detect_odr_violation=0:allow_user_poisoning=0:strict_string_checks=1
export LSAN_OPTIONS=suppressions=$(cd "$(dirname "$0")/.." && pwd)/cmake/lsan.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1
failed=0
ran=0
while IFS='|' read -r name longest dictionary seeds; do
  if [ -n "$only" ] && [ "$only" != "$name" ]; then continue; fi
  ran=$((ran + 1))
  work=$build/test/fuzz/$name
  mkdir -p "$work/corpus"
  echo "fuzz: $name for $seconds s"
  if [ "$longest" = specs ]; then # a plain program, which says itself where it puts what
    seed=$(($(date +%s) * 1000))
    if ! "$build/test/fuzz/bin/$name" --seed="$seed" --seconds="$seconds" --out="$work" </dev/null; then
      echo "fuzz: $name FAILED; the specs are in $work" >&2
      failed=$((failed + 1))
    fi
    continue
  fi
  options=(-max_total_time="$seconds" -max_len="$longest" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0)
  if [ -n "$dictionary" ]; then options+=(-dict="$dictionary"); fi
  # New inputs go to the first folder; the seeds are only read.
  if ! (cd "$work" && "$build/test/fuzz/bin/$name" "${options[@]}" corpus ${seeds:+"$seeds"} </dev/null); then
    echo "fuzz: $name FAILED; the input is in $work" >&2
    failed=$((failed + 1))
  fi
done <"$build/test/fuzz/targets.txt"
echo "fuzz: $ran targets, $failed failed"
[ "$ran" -gt 0 ] && [ "$failed" = 0 ]

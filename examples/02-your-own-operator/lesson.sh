#!/usr/bin/env bash
# Lesson 2: an operator of one's own, understood and checked before it is used. Needs lintel on PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
spec=$here/leaky_delta.attn

# What the compiler makes of it: how the state moves, which forms exist and why others do not, memory against a cache.
lintel explain "$spec" --op leaky_delta --dim dk=64 --dim dv=64 | tee delta.txt
lintel explain "$spec" --op leaky --dim dk=64 --dim dv=64 | tee leaky.txt
grep -q "transition: .*low rank" delta.txt
grep -q "transition: scalar" leaky.txt

# Every form, chunk, split and number of threads against the interpreter (without the options: also other
# sizes and element types); the exit status says whether all agree.
lintel check "$spec" --op leaky_delta --dtype f32 --dim dk=16 --dim dv=8
lintel check "$spec" --op leaky --dtype f32 --dim dk=16 --dim dv=8

# A mistake is shown with its place: this update is not affine in S.
sed 's/v - key @ S/tanh(v - key @ S)/' "$spec" >wrong.attn
if lintel explain wrong.attn --op leaky_delta 2>wrong.txt; then exit 1; fi
cat wrong.txt
grep -q "not affine" wrong.txt

// RUN: split-file %s %t
// RUN: lintel-opt %t/k.mlir --attn-assign-schedule | FileCheck %s
// RUN: lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/good.sched" | FileCheck %s --check-prefix=FILE
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/unknown.sched" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/number.sched" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/tile.sched" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/stage.sched" 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/beside.sched" 2>&1 | FileCheck %s --check-prefix=BESIDE
// RUN: lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/ahead.sched" | FileCheck %s --check-prefix=AHEAD
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/far.sched" 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/nothing.sched" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/less.sched" 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: not lintel-opt %t/one.mlir --attn-assign-schedule="file=%t/one.sched" 2>&1 | FileCheck %s --check-prefix=ROW
// RUN: not lintel-opt %t/one.mlir --attn-assign-schedule="file=%t/good.sched" 2>&1 | FileCheck %s --check-prefix=ONE

// What a sum reads is packed in a chunk of 8; what is read once, and one number a step, is not.
// CHECK: attn.rows %q[%t] {schedule = #attn.schedule<"packed">}
// CHECK: attn.rows %v[%t] {schedule = #attn.schedule<"direct">}
// CHECK: attn.rows %g[%t] {schedule = #attn.schedule<"direct">}
// FILE: attn.rows %q[%t] {schedule = #attn.schedule<"direct">}
// FILE: attn.rows %v[%t] {schedule = #attn.schedule<"packed">}
// UNKNOWN: error: the schedule names 'rows k' that the kernel does not have; it has rows q, rows v, rows g
// NUMBER: error: 'attn.rows' op has an illegal schedule 'packed': one number a step is copied together anyway
// TILE: error: 'attn.rows' op has an illegal schedule 'vector 8': expected packed or direct for rows of an input, found 'vector 8'
// STAGE: error: 'attn.stage' op has an illegal schedule 'packed': a stage is not 'packed', rows of an input are
// BESIDE: beside.sched:1: expected nothing or 'ahead N' behind 'packed', found 'vector'
// AHEAD: attn.rows %q[%t] {schedule = #attn.schedule<"packed ahead 2">}
// AHEAD: attn.rows %v[%t] {schedule = #attn.schedule<"direct ahead 0">}
// FAR: error: 'attn.rows' op has an illegal schedule 'direct ahead 65': expected rows of at most 64 chunks ahead, found 65
// NOTHING: nothing.sched:1: expected a number of at least 0 behind 'ahead', found ''
// LESS: less.sched:1: expected a number of at least 0 behind 'ahead', found '-1'
// ROW: error: 'attn.rows' op has an illegal schedule 'direct ahead 2': one row, or one number a step, is not asked for ahead
// ONE: error: 'attn.rows' op has an illegal schedule 'packed': one row has nothing to be packed with

//--- good.sched
rows q: direct
rows v: packed
//--- unknown.sched
rows k: packed
//--- number.sched
rows g: packed
//--- tile.sched
rows q: vector 8
//--- stage.sched
out: packed
//--- beside.sched
rows q: packed vector 8
//--- ahead.sched
rows q: packed ahead 2
rows v: direct ahead 0
//--- far.sched
rows q: direct ahead 65
//--- nothing.sched
rows q: direct ahead
//--- less.sched
rows q: direct ahead -1
//--- one.sched
rows q: direct ahead 2
//--- k.mlir
attn.kernel @k form "chunkwise" chunk 8 inputs [#attn.param<token "q">, #attn.param<token "v">, #attn.param<token "g">] states ["S"] out !attn.tensor<16> {
^bb0(%q: !attn.sequence<8>, %v: !attn.sequence<16>, %g: !attn.sequence<>, %S: !attn.tensor<8, 16>):
  %last = attn.scan whole chunk 8 carry %S : !attn.tensor<8, 16> -> !attn.tensor<8, 16> {
  ^bb0(%t: index, %s: !attn.tensor<8, 16>):
    %r = attn.rows %q[%t] : !attn.sequence<8> -> !attn.tensor<8, 8>
    %w = attn.rows %v[%t] : !attn.sequence<16> -> !attn.tensor<8, 16>
    %h = attn.rows %g[%t] : !attn.sequence<> -> !attn.tensor<8>
    %out = attn.stage "out" axes ["i", "e"] : !attn.tensor<8, 16> {
    ^bb0(%i: index, %e: index):
      %sum = attn.fold sum "c" 8 {
      ^bb0(%c: index):
        %a = attn.at %r[%i, %c] : !attn.tensor<8, 8>
        %b = attn.at %s[%c, %e] : !attn.tensor<8, 16>
        %p = attn.binary mul %a, %b : !attn.tensor<>, !attn.tensor<>
        attn.yield %p : !attn.tensor<>
      }
      %a = attn.at %w[%i, %e] : !attn.tensor<8, 16>
      %b = attn.at %h[%i] : !attn.tensor<8>
      %p = attn.binary mul %a, %b : !attn.tensor<>, !attn.tensor<>
      %o = attn.binary add %sum, %p : !attn.tensor<>, !attn.tensor<>
      attn.yield %o : !attn.tensor<>
    }
    attn.emit %out[%t] : !attn.tensor<8, 16>
    attn.yield %s : !attn.tensor<8, 16>
  }
  attn.yield %last : !attn.tensor<8, 16>
}
//--- one.mlir
attn.kernel @one form "recurrent" chunk 1 inputs [#attn.param<token "q">, #attn.param<token "v">] states [] out !attn.tensor<8> {
^bb0(%q: !attn.sequence<8>, %v: !attn.sequence<8>):
  attn.scan whole chunk 1 {
  ^bb0(%t: index):
    %r = attn.rows %q[%t] : !attn.sequence<8> -> !attn.tensor<1, 8>
    %w = attn.rows %v[%t] : !attn.sequence<8> -> !attn.tensor<1, 8>
    attn.emit %r[%t] : !attn.tensor<1, 8>
    attn.yield
  }
  attn.yield
}

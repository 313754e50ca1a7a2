// RUN: lintel-opt %s --attn-assign-precision --split-input-file | FileCheck %s

// A normaliser whose terms have both signs can cancel: f64.
// CHECK-LABEL: attn.spec @signed
// CHECK: } {precision = "f64"}
attn.spec @signed inputs [#attn.param<token "q">, #attn.param<token "k">] states ["z"] {
^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %z: !attn.tensor<4>):
  %z1 = attn.binary add %z, %k : !attn.tensor<4>, !attn.tensor<4>
  %den = attn.matmul %q, %z1 : !attn.tensor<4>, !attn.tensor<4>
  %one = attn.constant 1.0
  %out = attn.binary div %one, %den : !attn.tensor<>, !attn.tensor<>
  attn.yield %out, %z1 : !attn.tensor<>, !attn.tensor<4>
}

// -----

// Positive features do not cancel.
// CHECK-LABEL: attn.spec @positive
// CHECK-NOT: precision
attn.spec @positive inputs [#attn.param<token "q">, #attn.param<token "k">] states ["z"] {
^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %z: !attn.tensor<4>):
  %fq = attn.unary exp %q : !attn.tensor<4>
  %fk = attn.unary exp %k : !attn.tensor<4>
  %z1 = attn.binary add %z, %fk : !attn.tensor<4>, !attn.tensor<4>
  %den = attn.matmul %fq, %z1 : !attn.tensor<4>, !attn.tensor<4>
  %one = attn.constant 1.0
  %out = attn.binary div %one, %den : !attn.tensor<>, !attn.tensor<>
  attn.yield %out, %z1 : !attn.tensor<>, !attn.tensor<4>
}

// -----

// The sum that an exponential takes is kept in f64, the exponential itself is not.
// CHECK-LABEL: attn.kernel @feature
// CHECK: attn.stage "proj"
// CHECK: } {precision = "f64"}
// CHECK: attn.stage "s"
// CHECK-NOT: precision
attn.kernel @feature form "recurrent" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<> {
^bb0(%x: !attn.sequence<4>, %s: !attn.tensor<>):
  %last = attn.scan whole chunk 1 carry %s : !attn.tensor<> -> !attn.tensor<> {
  ^bb0(%t: index, %s0: !attn.tensor<>):
    %r = attn.rows %x[%t] : !attn.sequence<4> -> !attn.tensor<1, 4>
    %proj = attn.stage "proj" axes ["i"] : !attn.tensor<1> {
    ^bb0(%i: index):
      %sum = attn.fold sum "c" 4 {
      ^bb0(%c: index):
        %a = attn.at %r[%i, %c] : !attn.tensor<1, 4>
        attn.yield %a : !attn.tensor<>
      }
      attn.yield %sum : !attn.tensor<>
    }
    attn.emit %proj[%t] : !attn.tensor<1>
    %next = attn.stage "s" axes [] group 1 : !attn.tensor<> {
      %z = arith.constant 0 : index
      %a = attn.at %proj[%z] : !attn.tensor<1>
      %e = attn.unary exp %a : !attn.tensor<>
      %b = attn.at %s0[] : !attn.tensor<>
      %p = attn.binary add %b, %e : !attn.tensor<>, !attn.tensor<>
      attn.yield %p : !attn.tensor<>
    }
    attn.yield %next : !attn.tensor<>
  }
  attn.yield %last : !attn.tensor<>
}

// Angles of positions, and what lies between; not what only counts steps.
// CHECK-LABEL: attn.kernel @angles
// CHECK: attn.stage "turn"
// CHECK: } {precision = "f64"}
// CHECK: attn.stage "c"
// CHECK: } {precision = "f64"}
// CHECK: attn.stage "count"
// CHECK-NOT: precision
attn.kernel @angles form "recurrent" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<> {
^bb0(%x: !attn.sequence<>, %s: !attn.tensor<>):
  %last = attn.scan whole chunk 1 carry %s : !attn.tensor<> -> !attn.tensor<> {
  ^bb0(%t: index, %s0: !attn.tensor<>):
    %turn = attn.stage "turn" axes ["i"] : !attn.tensor<1> {
    ^bb0(%i: index):
      %w = attn.constant 0.7
      %p = attn.start
      %n = attn.number %t
      %sum = attn.binary add %p, %n : <>, <>
      %a = attn.binary mul %sum, %w : <>, <>
      attn.yield %a : !attn.tensor<>
    }
    %c = attn.stage "c" axes ["i"] : !attn.tensor<1> {
    ^bb0(%i: index):
      %a = attn.at %turn[%i] : <1>
      %b = attn.unary cos %a : <>
      attn.yield %b : !attn.tensor<>
    }
    %count = attn.stage "count" axes ["i"] : !attn.tensor<1> {
    ^bb0(%i: index):
      %p = attn.start
      %b = attn.at %c[%i] : <1>
      %q = attn.binary mul %p, %b : <>, <>
      attn.yield %q : !attn.tensor<>
    }
    attn.emit %count[%t] : !attn.tensor<1>
    attn.yield %s0 : !attn.tensor<>
  }
  attn.yield %last : !attn.tensor<>
}

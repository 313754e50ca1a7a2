// RUN: lintel-opt %s --attn-classify-transition | FileCheck %s

// CHECK: transition = ["identity", "scalar"]
attn.recurrent @simple inputs [#attn.param<token "k">, #attn.param<token "v">, #attn.param<token "g">] states ["S", "z"] {
^bb0(%k: !attn.tensor<3>, %v: !attn.tensor<5>, %g: !attn.tensor<>, %S: !attn.tensor<3, 5>, %z: !attn.tensor<3>):
  %u = attn.outer %k, %v : <3>, <5>
  %S1 = attn.binary add %S, %u : <3, 5>, <3, 5>
  %d = attn.binary mul %z, %g : <3>, <>
  %z1 = attn.binary add %d, %k : <3>, <3>
  attn.yield %v, %S1, %z1 : !attn.tensor<5>, !attn.tensor<3, 5>, !attn.tensor<3>
}

// CHECK: transition = ["diagonal"]
attn.recurrent @diagonal inputs [#attn.param<token "w">, #attn.param<token "v">] states ["S"] {
^bb0(%w: !attn.tensor<3>, %v: !attn.tensor<5>, %S: !attn.tensor<3, 5>):
  %d = attn.binary mul %w, %S : <3>, <3, 5>
  %u = attn.outer %w, %v : <3>, <5>
  %S1 = attn.binary sub %d, %u : <3, 5>, <3, 5>
  attn.yield %v, %S1 : !attn.tensor<5>, !attn.tensor<3, 5>
}

// A choice for each channel is a decay of 0 or 1 for each; one in which a low-rank term has a part is not followed.
// CHECK: transition = ["diagonal"]
attn.recurrent @cleared inputs [#attn.param<token "w">, #attn.param<token "v">] states ["S"] {
^bb0(%w: !attn.tensor<3>, %v: !attn.tensor<5>, %S: !attn.tensor<3, 5>):
  %zero = attn.constant 0.0
  %d = attn.select %w, %zero, %S : <3>, <>, <3, 5>
  %u = attn.outer %w, %v : <3>, <5>
  %S1 = attn.binary add %d, %u : <3, 5>, <3, 5>
  attn.yield %v, %S1 : !attn.tensor<5>, !attn.tensor<3, 5>
}

// CHECK: transition = ["affine"]
attn.recurrent @cleared_delta inputs [#attn.param<token "k">, #attn.param<token "v">] states ["S"] {
^bb0(%k: !attn.tensor<3>, %v: !attn.tensor<5>, %S: !attn.tensor<3, 5>):
  %zero = attn.constant 0.0
  %d = attn.select %k, %zero, %S : <3>, <>, <3, 5>
  %r = attn.matmul %k, %d : <3>, <3, 5>
  %e = attn.binary sub %v, %r : <5>, <5>
  %u = attn.outer %k, %e : <3>, <5>
  %S1 = attn.binary add %d, %u : <3, 5>, <3, 5>
  attn.yield %v, %S1 : !attn.tensor<5>, !attn.tensor<3, 5>
}

// CHECK: transition = ["identity plus low rank"]
attn.recurrent @delta inputs [#attn.param<token "k">, #attn.param<token "v">] states ["S"] {
^bb0(%k: !attn.tensor<3>, %v: !attn.tensor<5>, %S: !attn.tensor<3, 5>):
  %r = attn.matmul %k, %S : <3>, <3, 5>
  %e = attn.binary sub %v, %r : <5>, <5>
  %u = attn.outer %k, %e : <3>, <5>
  %S1 = attn.binary add %S, %u : <3, 5>, <3, 5>
  attn.yield %v, %S1 : !attn.tensor<5>, !attn.tensor<3, 5>
}

// CHECK: transition = ["decay times low rank"]
attn.recurrent @gated_delta inputs [#attn.param<token "k">, #attn.param<token "v">, #attn.param<token "g">] states ["S"] {
^bb0(%k: !attn.tensor<3>, %v: !attn.tensor<5>, %g: !attn.tensor<>, %S: !attn.tensor<3, 5>):
  %d = attn.binary mul %g, %S : <>, <3, 5>
  %r = attn.matmul %k, %d : <3>, <3, 5>
  %e = attn.binary sub %v, %r : <5>, <5>
  %u = attn.outer %k, %e : <3>, <5>
  %S1 = attn.binary add %d, %u : <3, 5>, <3, 5>
  attn.yield %v, %S1 : !attn.tensor<5>, !attn.tensor<3, 5>
}

// A matrix in front of the state, and a state that another one feeds.
// CHECK: transition = ["affine", "affine"]
attn.recurrent @affine inputs [#attn.param<token "v">] states ["S", "R"] {
^bb0(%v: !attn.tensor<3>, %S: !attn.tensor<3, 3>, %R: !attn.tensor<3, 3>):
  %m = attn.outer %v, %v : <3>, <3>
  %S1 = attn.matmul %m, %S : <3, 3>, <3, 3>
  %R1 = attn.binary add %R, %S : <3, 3>, <3, 3>
  attn.yield %v, %S1, %R1 : !attn.tensor<3>, !attn.tensor<3, 3>, !attn.tensor<3, 3>
}

// CHECK: transition = ["scalar", "exponent"]
attn.recurrent @scaled inputs [#attn.param<token "k">] states ["a", "p"] scales [1, -1] {
^bb0(%k: !attn.tensor<>, %a: !attn.tensor<>, %p: !attn.tensor<>):
  %p1 = attn.binary max %p, %k : <>, <>
  %d = attn.binary sub %p, %p1 : <>, <>
  %f = attn.unary exp2 %d : <>
  %a0 = attn.binary mul %a, %f : <>, <>
  %a1 = attn.binary add %a0, %k : <>, <>
  attn.yield %a1, %a1, %p1 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
}

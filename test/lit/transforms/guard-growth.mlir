// RUN: lintel-opt %s --attn-guard-growth | FileCheck %s

// CHECK-LABEL: attn.recurrent @grows_recurrent
// CHECK: %[[W:.+]] = attn.unary exp %g
// CHECK: %[[X:.+]] = attn.binary mul %[[W]], %S
// CHECK: %[[ZERO:.+]] = attn.constant 0
// CHECK: %[[IS:.+]] = attn.binary eq %S, %[[ZERO]]
// CHECK: %[[SAFE:.+]] = attn.select guard %[[IS]], %[[ZERO]], %[[X]]
// CHECK: attn.binary add %[[SAFE]], %x
attn.recurrent @grows_recurrent inputs [#attn.param<token "x">, #attn.param<token "g">] states ["S"] {
^bb0(%x: !attn.tensor<4>, %g: !attn.tensor<>, %S: !attn.tensor<4>):
  %w = attn.unary exp %g : <>
  %a = attn.binary mul %w, %S : <>, <4>
  %S1 = attn.binary add %a, %x : <4>, <4>
  attn.yield %S1, %S1 : !attn.tensor<4>, !attn.tensor<4>
}

// Neither a factor of at most one, nor a plain input, nor what no state is in.
// CHECK-LABEL: attn.step @bounded_step
// CHECK-NOT: attn.select
attn.step @bounded_step inputs [#attn.param<token "x">, #attn.param<token "g">] states ["S"] {
^bb0(%x: !attn.tensor<4>, %g: !attn.tensor<>, %S: !attn.tensor<4>):
  %p = attn.unary softplus %g : <>
  %n = attn.unary neg %p : <>
  %w = attn.unary exp %n : <>
  %a = attn.binary mul %w, %S : <>, <4>
  %b = attn.binary mul %g, %a : <>, <4>
  %e = attn.unary exp %x : <4>
  %c = attn.binary mul %g, %e : <>, <4>
  %S1 = attn.binary add %b, %c : <4>, <4>
  attn.yield %S1, %S1 : !attn.tensor<4>, !attn.tensor<4>
}

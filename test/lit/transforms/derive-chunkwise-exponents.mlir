// RUN: lintel-opt %s --attn-derive-chunkwise | FileCheck %s

// Exponents that are no recurrence of their own, which only IR written by hand has: no chunkwise form, and the reason.

// CHECK-NOT: attn.chunkwise
// CHECK: attn.recurrent @other
// CHECK: not_chunkwise = "exponent 'p' depends on more than itself and the inputs"
attn.recurrent @other inputs [#attn.param<token "x">] states ["S", "p"] scales [1, -1] {
^bb0(%x: !attn.tensor<>, %S: !attn.tensor<>, %p: !attn.tensor<>):
  %S1 = attn.binary add %S, %x : <>, <>
  %p1 = attn.binary max %p, %S1 : <>, <>
  attn.yield %S1, %S1, %p1 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
}

// CHECK: attn.recurrent @last
// CHECK: not_chunkwise = "exponent 'p' is read after the last step"
attn.recurrent @last inputs [#attn.param<token "x">] states ["S", "p"] scales [1, -1] {
^bb0(%x: !attn.tensor<>, %S: !attn.tensor<>, %p: !attn.tensor<>):
  %S1 = attn.binary add %S, %x : <>, <>
  %p1 = attn.binary max %p, %x : <>, <>
  %f = attn.final %p1 : <>
  %o = attn.binary mul %S1, %f : <>, <>
  attn.yield %o, %S1, %p1 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
}

// CHECK: attn.recurrent @each
// CHECK: not_chunkwise = "exponent 'p' is one for each channel"
attn.recurrent @each inputs [#attn.param<token "x">] states ["S", "p"] scales [1, -1] {
^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>, %p: !attn.tensor<4>):
  %S1 = attn.binary add %S, %x : <4>, <4>
  %p1 = attn.binary max %p, %x : <4>, <4>
  %o = attn.matmul %x, %S1 : <4>, <4>
  attn.yield %o, %S1, %p1 : !attn.tensor<>, !attn.tensor<4>, !attn.tensor<4>
}

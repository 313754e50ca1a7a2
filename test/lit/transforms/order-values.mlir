// RUN: lintel-opt %s --attn-order-values | FileCheck %s

// What the output needs comes first, what nothing needs last.
// CHECK-LABEL: attn.recurrent @r
// CHECK: attn.unary sin
// CHECK-NEXT: attn.binary mul
// CHECK-NEXT: attn.unary cos
// CHECK-NEXT: attn.binary add
// CHECK-NEXT: attn.unary exp
// CHECK-NEXT: attn.yield
attn.recurrent @r inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>):
  %e = attn.unary exp %x : !attn.tensor<4>
  %c = attn.unary cos %x : !attn.tensor<4>
  %s = attn.unary sin %x : !attn.tensor<4>
  %S1 = attn.binary add %S, %c : !attn.tensor<4>, !attn.tensor<4>
  %o = attn.binary mul %s, %S : !attn.tensor<4>, !attn.tensor<4>
  attn.yield %o, %S1 : !attn.tensor<4>, !attn.tensor<4>
}

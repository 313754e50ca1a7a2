// RUN: lintel-opt %s --attn-derive-step | FileCheck %s

// CHECK-LABEL: attn.recurrent @sum_recurrent
// CHECK: attn.step @sum_step inputs [#attn.param<token "x">] states ["S"]
// CHECK: %[[S:.+]] = attn.binary add %S, %x
// CHECK: attn.yield %[[S]], %[[S]]
attn.recurrent @sum_recurrent inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>):
  %S1 = attn.binary add %S, %x : <4>, <4>
  attn.yield %S1, %S1 : !attn.tensor<4>, !attn.tensor<4>
}

// A bidirectional operator needs the last step before its first output.
// CHECK-LABEL: attn.recurrent @mean_recurrent
// CHECK-NOT: attn.step
attn.recurrent @mean_recurrent inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>):
  %S1 = attn.binary add %S, %x : <4>, <4>
  %f = attn.final %S1 : <4>
  attn.yield %f, %S1 : !attn.tensor<4>, !attn.tensor<4>
}

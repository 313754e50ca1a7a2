// RUN: lintel-opt %s --attn-derive-recurrent | FileCheck %s

// The recurrence stands behind its spec, with the same body.
// CHECK: attn.spec @sum
// CHECK: attn.recurrent @sum_recurrent inputs [#attn.param<token "x">] states ["S"]
// CHECK: ^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>)
// CHECK: %[[S:.+]] = attn.binary add %S, %x
// CHECK: attn.yield %[[S]], %[[S]]
attn.spec @sum inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>):
  %S1 = attn.binary add %S, %x : !attn.tensor<4>, !attn.tensor<4>
  attn.yield %S1, %S1 : !attn.tensor<4>, !attn.tensor<4>
}

// Weights that do not factor have no recurrence.
// CHECK: attn.spec @sigmoid
// CHECK-NOT: attn.recurrent
attn.spec @sigmoid inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] states [] {
^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<2>):
  %o = attn.attend %q, %k, %v causal : !attn.tensor<4>, !attn.tensor<4>, !attn.tensor<2> -> !attn.tensor<2> weights {
  ^bb0(%a: !attn.tensor<4>, %b: !attn.tensor<4>, %distance: !attn.tensor<>):
    %s = attn.matmul %a, %b : !attn.tensor<4>, !attn.tensor<4>
    %w = attn.unary sigmoid %s : !attn.tensor<>
    attn.yield %w : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<2>
}

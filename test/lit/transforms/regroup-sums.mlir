// RUN: lintel-opt %s --attn-regroup-sums --canonicalize | FileCheck %s

// The state is added to once; what has no state in it keeps its grouping.
// CHECK-LABEL: attn.recurrent @r
// CHECK: %[[AB:.+]] = attn.binary sub %a, %b
// CHECK: %[[S:.+]] = attn.binary add %S, %[[AB]]
// CHECK: %[[SUM:.+]] = attn.binary add %a, %b
// CHECK: %[[OUT:.+]] = attn.binary add %a, %[[SUM]]
// CHECK: attn.yield %[[OUT]], %[[S]]
attn.recurrent @r inputs [#attn.param<token "a">, #attn.param<token "b">] states ["S"] {
^bb0(%a: !attn.tensor<4>, %b: !attn.tensor<4>, %S: !attn.tensor<4>):
  %1 = attn.binary add %S, %a : <4>, <4>
  %2 = attn.binary sub %1, %b : <4>, <4>
  %3 = attn.binary add %a, %b : <4>, <4>
  %4 = attn.binary add %3, %a : <4>, <4>
  attn.yield %4, %2 : !attn.tensor<4>, !attn.tensor<4>
}

// Signs go along, and a sum that others use too is a term of its own.
// CHECK-LABEL: attn.recurrent @signs
// CHECK: %[[AB:.+]] = attn.binary add %a, %b
// CHECK: %[[S:.+]] = attn.binary sub %S, %[[AB]]
// CHECK: %[[T:.+]] = attn.binary add %a, %[[S]]
// CHECK: attn.yield %[[T]], %[[S]]
attn.recurrent @signs inputs [#attn.param<token "a">, #attn.param<token "b">] states ["S"] {
^bb0(%a: !attn.tensor<4>, %b: !attn.tensor<4>, %S: !attn.tensor<4>):
  %1 = attn.binary sub %S, %a : <4>, <4>
  %2 = attn.binary sub %1, %b : <4>, <4>
  %3 = attn.binary add %2, %a : <4>, <4>
  attn.yield %3, %2 : !attn.tensor<4>, !attn.tensor<4>
}

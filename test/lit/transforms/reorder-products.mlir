// RUN: lintel-opt %s --attn-reorder-products --canonicalize | FileCheck %s

// The vector meets the factors one by one, from its own side; sums and factors that are numbers let it through.
// CHECK-LABEL: attn.spec @left
// CHECK: %[[QP:.+]] = attn.matmul %q, %P : <4>, <4, 4>
// CHECK: %[[QPC:.+]] = attn.matmul %[[QP]], %C : <4>, <4, 3>
// CHECK: %[[D:.+]] = attn.binary mul %a, %[[QPC]] : <>, <3>
// CHECK: %[[QG:.+]] = attn.matmul %q, %G : <4>, <4, 3>
// CHECK: %[[OUT:.+]] = attn.binary sub %[[D]], %[[QG]] : <3>, <3>
// CHECK: attn.yield %[[OUT]]
attn.spec @left inputs [#attn.param<token "q">, #attn.param<token "a">] states ["P", "C", "G"] {
^bb0(%q: !attn.tensor<4>, %a: !attn.tensor<>, %P: !attn.tensor<4, 4>, %C: !attn.tensor<4, 3>, %G: !attn.tensor<4, 3>):
  %0 = attn.matmul %P, %C : <4, 4>, <4, 3>
  %1 = attn.binary mul %0, %a : <4, 3>, <>
  %2 = attn.binary sub %1, %G : <4, 3>, <4, 3>
  %3 = attn.matmul %q, %2 : <4>, <4, 3>
  attn.yield %3, %P, %C, %G : !attn.tensor<3>, !attn.tensor<4, 4>, !attn.tensor<4, 3>, !attn.tensor<4, 3>
}

// CHECK-LABEL: attn.spec @right
// CHECK: %[[CV:.+]] = attn.matmul %C, %v : <4, 3>, <3>
// CHECK: %[[OUT:.+]] = attn.matmul %P, %[[CV]] : <4, 4>, <4>
// CHECK: attn.yield %[[OUT]]
attn.spec @right inputs [#attn.param<token "v">] states ["P", "C"] {
^bb0(%v: !attn.tensor<3>, %P: !attn.tensor<4, 4>, %C: !attn.tensor<4, 3>):
  %0 = attn.matmul %P, %C : <4, 4>, <4, 3>
  %1 = attn.matmul %0, %v : <4, 3>, <3>
  attn.yield %1, %P, %C : !attn.tensor<4>, !attn.tensor<4, 4>, !attn.tensor<4, 3>
}

// What is needed as a matrix anyway stays one, and so does what is not linear.
// CHECK-LABEL: attn.spec @kept
// CHECK: %[[PC:.+]] = attn.matmul %P, %C : <4, 4>, <4, 3>
// CHECK: %[[R:.+]] = attn.unary relu
// CHECK: attn.matmul %q, %[[R]] : <4>, <4, 3>
// CHECK: attn.matmul %q, %[[PC]] : <4>, <4, 3>
attn.spec @kept inputs [#attn.param<token "q">] states ["P", "C"] {
^bb0(%q: !attn.tensor<4>, %P: !attn.tensor<4, 4>, %C: !attn.tensor<4, 3>):
  %0 = attn.matmul %P, %C : <4, 4>, <4, 3>
  %1 = attn.matmul %P, %0 : <4, 4>, <4, 3>
  %2 = attn.unary relu %1 : <4, 3>
  %3 = attn.matmul %q, %2 : <4>, <4, 3>
  %4 = attn.matmul %q, %0 : <4>, <4, 3>
  %5 = attn.binary add %3, %4 : <3>, <3>
  attn.yield %5, %P, %0 : !attn.tensor<3>, !attn.tensor<4, 4>, !attn.tensor<4, 3>
}

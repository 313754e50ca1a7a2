// RUN: lintel-opt %s | lintel-opt | FileCheck %s

// Every op on values prints and parses back.
// CHECK-LABEL: attn.spec @values inputs [#attn.param<token "x">, #attn.param<head "y">, #attn.param<shared "M">] states ["S"]
// CHECK: ^bb0(%x: !attn.tensor<dk>, %y: !attn.tensor<>, %M: !attn.tensor<2*m + 1, dk>, %S: !attn.tensor<dk, dv>)
attn.spec @values inputs [#attn.param<token "x">, #attn.param<head "y">, #attn.param<shared "M">] states ["S"] {
^bb0(%x: !attn.tensor<dk>, %y: !attn.tensor<>, %M: !attn.tensor<1 + m*2, dk>, %S: !attn.tensor<dk, dv>):
  // CHECK: attn.constant 1.500000e+00
  %c = attn.constant 1.5
  // CHECK: attn.constant 0x7FF0000000000000
  %inf = attn.constant 0x7FF0000000000000
  // CHECK: attn.dim "dk"
  %n = attn.dim "dk"
  // CHECK: attn.position
  %p = attn.position
  // CHECK: attn.unary exp %x : <dk>
  %e = attn.unary exp %x : !attn.tensor<dk>
  // CHECK: attn.binary mul %x, %S : <dk>, <dk, dv>
  %b = attn.binary mul %x, %S : !attn.tensor<dk>, !attn.tensor<dk, dv>
  // CHECK: attn.select %y, %x, %{{.*}} : <>, <dk>, <>
  %s = attn.select %y, %x, %c : !attn.tensor<>, !attn.tensor<dk>, !attn.tensor<>
  // CHECK: attn.broadcast %x : <dk> -> <dk, dv>
  %bc = attn.broadcast %x : !attn.tensor<dk> -> !attn.tensor<dk, dv>
  // CHECK: attn.matmul %M, %x : <2*m + 1, dk>, <dk>
  %f = attn.matmul %M, %x : !attn.tensor<2*m + 1, dk>, !attn.tensor<dk>
  // CHECK: attn.outer %x, %{{.*}} : <dk>, <2*m + 1>
  %o = attn.outer %x, %f : !attn.tensor<dk>, !attn.tensor<2*m + 1>
  // CHECK: attn.reduce sum %x : <dk>
  %r = attn.reduce sum %x : !attn.tensor<dk>
  // CHECK: attn.reduce max %x : <dk>
  %rm = attn.reduce max %x : !attn.tensor<dk>
  // CHECK: attn.cumsum %x : <dk>
  %cs = attn.cumsum %x : !attn.tensor<dk>
  // CHECK: attn.concat %x, %y : !attn.tensor<dk>, !attn.tensor<>
  %cc = attn.concat %x, %y : !attn.tensor<dk>, !attn.tensor<>
  // CHECK: attn.extract %x["3"] : <dk>
  %ex = attn.extract %x["3"] : !attn.tensor<dk>
  // CHECK: attn.flatten %S : <dk, dv>
  %fl = attn.flatten %S : !attn.tensor<dk, dv>
  // CHECK: attn.yield %x, %S : !attn.tensor<dk>, !attn.tensor<dk, dv>
  attn.yield %x, %S : !attn.tensor<dk>, !attn.tensor<dk, dv>
}

// CHECK-LABEL: attn.spec @mean
// CHECK: attn.final %{{.*}} : <n>
attn.spec @mean inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<n>, %S: !attn.tensor<n>):
  %S1 = attn.binary add %S, %x : !attn.tensor<n>, !attn.tensor<n>
  %f = attn.final %S1 : !attn.tensor<n>
  attn.yield %f, %S1 : !attn.tensor<n>, !attn.tensor<n>
}

// CHECK-LABEL: attn.spec @softmax
// CHECK: attn.attend %q, %k, %v causal : <dk>, <dk>, <dv> -> <dv> weights {
// CHECK: } normalizer {
attn.spec @softmax inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] states [] {
^bb0(%q: !attn.tensor<dk>, %k: !attn.tensor<dk>, %v: !attn.tensor<dv>):
  %o = attn.attend %q, %k, %v causal : !attn.tensor<dk>, !attn.tensor<dk>, !attn.tensor<dv> -> !attn.tensor<dv> weights {
  ^bb0(%a: !attn.tensor<dk>, %b: !attn.tensor<dk>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : !attn.tensor<dk>, !attn.tensor<dk>
    %w = attn.unary exp %s : !attn.tensor<>
    attn.yield %w : !attn.tensor<>
  } normalizer {
  ^bb0(%den: !attn.tensor<>):
    attn.yield %den : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<dv>
}

// RUN: lintel-opt %s --canonicalize --cse --canonicalize | FileCheck %s

// CHECK-LABEL: attn.spec @order
// CHECK: %[[TWO:.+]] = attn.constant 2.0
// CHECK: %[[AB:.+]] = attn.binary mul %a, %b
// CHECK: %[[X:.+]] = attn.binary mul %[[AB]], %x
// CHECK: %[[X2:.+]] = attn.binary mul %[[X]], %[[TWO]]
// CHECK: %[[O:.+]] = attn.binary add %[[X2]], %[[X2]]
// CHECK: attn.yield %[[O]]
attn.spec @order inputs [#attn.param<token "x">, #attn.param<token "a">, #attn.param<token "b">] states [] {
^bb0(%x: !attn.tensor<n>, %a: !attn.tensor<>, %b: !attn.tensor<>):
  %two = attn.constant 2.0
  %bx = attn.binary mul %b, %x : <>, <n>
  %abx = attn.binary mul %bx, %a : <n>, <>
  %one = attn.binary mul %two, %abx : <>, <n>
  %ab = attn.binary mul %b, %a : <>, <>
  %x2 = attn.binary mul %x, %two : <n>, <>
  %other = attn.binary mul %x2, %ab : <n>, <>
  %o = attn.binary add %other, %one : <n>, <n>
  attn.yield %o : !attn.tensor<n>
}

// CHECK-LABEL: attn.spec @signs
// CHECK: %[[M:.+]] = attn.binary mul %x, %y
// CHECK: %[[S:.+]] = attn.binary sub %x, %[[M]]
// CHECK: attn.yield %[[S]]
attn.spec @signs inputs [#attn.param<token "x">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<n>, %y: !attn.tensor<n>):
  %m = attn.unary neg %y : <n>
  %p = attn.binary mul %m, %x : <n>, <n>
  %d = attn.binary add %p, %x : <n>, <n>
  %n1 = attn.unary neg %d : <n>
  %n2 = attn.unary neg %n1 : <n>
  attn.yield %n2 : !attn.tensor<n>
}

// Folding is exact for all reals: nothing but 1 and 0 as they stand.
// CHECK-LABEL: attn.spec @fold
// CHECK: %[[ZERO:.+]] = attn.constant 0.0
// CHECK: %[[Z:.+]] = attn.binary mul %x, %[[ZERO]]
// CHECK: attn.yield %[[Z]]
attn.spec @fold inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<n>):
  %one = attn.constant 1.0
  %zero = attn.constant 0.0
  %a = attn.binary mul %one, %x : <>, <n>
  %b = attn.binary div %a, %one : <n>, <>
  %c = attn.binary add %zero, %b : <>, <n>
  %d = attn.binary sub %c, %zero : <n>, <>
  %e = attn.binary mul %zero, %d : <>, <n>
  attn.yield %e : !attn.tensor<n>
}

// CHECK-LABEL: attn.spec @powers
// CHECK: %[[P2:.+]] = attn.binary mul %x, %x
// CHECK-NOT: attn.binary pow
attn.spec @powers inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<n>):
  %four = attn.constant 4.0
  %p = attn.binary pow %x, %four : <n>, <>
  attn.yield %p : !attn.tensor<n>
}

// A sum of one term is the term, unless its end may lie before it.
// CHECK-LABEL: attn.kernel @one_term
// CHECK: attn.stage "a"
// CHECK-NOT: attn.fold
// CHECK: %[[X:.+]] = attn.at %{{.*}}[%c0, %e]
// CHECK: attn.yield %[[X]]
// CHECK: attn.stage "b"
// CHECK: attn.fold sum "j" 1 upto %i
attn.kernel @one_term form "recurrent" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %n = attn.scan whole chunk 1 carry %s : !attn.tensor<2> -> !attn.tensor<2> {
  ^bb0(%t: index, %c: !attn.tensor<2>):
    %r = attn.rows %x[%t] : <2> -> <1, 2>
    %a = attn.stage "a" axes ["i", "e"] : <1, 2> {
    ^bb0(%i: index, %e: index):
      %f = attn.fold sum "j" 1 {
      ^bb0(%j: index):
        %y = attn.at %r[%j, %e] : <1, 2>
        attn.yield %y : !attn.tensor<>
      }
      attn.yield %f : !attn.tensor<>
    }
    %b = attn.stage "b" axes ["i", "e"] : <1, 2> {
    ^bb0(%i: index, %e: index):
      %f = attn.fold sum "j" 1 upto %i {
      ^bb0(%j: index):
        %y = attn.at %a[%j, %e] : <1, 2>
        attn.yield %y : !attn.tensor<>
      }
      attn.yield %f : !attn.tensor<>
    }
    attn.emit %b[%t] : <1, 2>
    attn.yield %c : !attn.tensor<2>
  }
  attn.yield %n : !attn.tensor<2>
}

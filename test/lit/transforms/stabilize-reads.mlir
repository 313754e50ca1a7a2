// An exponential that only the two parts of a quotient see, and which may vanish in both, is taken relative to its largest element; states
// have no exponent for that.
// RUN: lintel-opt %s --attn-derive-recurrent --attn-stabilize | FileCheck %s

// CHECK-LABEL: attn.recurrent @vanishing_recurrent
// CHECK-NOT: scales
// CHECK: %[[small:.*]] = attn.binary min %q, %{{.*}} : <4>, <>
// CHECK: %[[kept:.*]] = attn.select %[[c:.*]], %[[zero:.*]], %[[small]] : <4>, <>, <4>
// CHECK: %[[top:.*]] = attn.reduce max %[[kept]]
// CHECK: attn.unary ceil
// CHECK: attn.unary exp %{{.*}} : <4>
// CHECK: attn.select %[[c]]
// CHECK: %[[k:.*]] = attn.unary exp %{{.*}} : <4>
// CHECK: attn.outer %[[k]], %v
// CHECK: attn.yield %{{.*}}, %{{.*}}, %{{.*}} : !attn.tensor<3>, !attn.tensor<4, 3>, !attn.tensor<4>
attn.spec @vanishing inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] states ["S", "z"] {
^bb0(%q: !attn.tensor<4>, %k0: !attn.tensor<4>, %v: !attn.tensor<3>, %S: !attn.tensor<4, 3>, %z: !attn.tensor<4>):
  %zero = attn.constant 0.0
  %one = attn.constant 1.0
  %k1 = attn.unary tanh %k0 : !attn.tensor<4>
  %c = attn.binary gt %q, %zero : !attn.tensor<4>, !attn.tensor<>
  %a = attn.binary add %q, %one : !attn.tensor<4>, !attn.tensor<>
  %m = attn.binary min %q, %zero : !attn.tensor<4>, !attn.tensor<>
  %e = attn.unary exp %m : !attn.tensor<4>
  %phi = attn.select %c, %a, %e : !attn.tensor<4>, !attn.tensor<4>, !attn.tensor<4>
  %psi = attn.unary exp %k1 : !attn.tensor<4>
  %u = attn.outer %psi, %v : !attn.tensor<4>, !attn.tensor<3>
  %S1 = attn.binary add %S, %u : !attn.tensor<4, 3>, !attn.tensor<4, 3>
  %z1 = attn.binary add %z, %psi : !attn.tensor<4>, !attn.tensor<4>
  %n = attn.matmul %phi, %S1 : !attn.tensor<4>, !attn.tensor<4, 3>
  %d = attn.matmul %phi, %z1 : !attn.tensor<4>, !attn.tensor<4>
  %o = attn.binary div %n, %d : !attn.tensor<3>, !attn.tensor<>
  attn.yield %o, %S1, %z1 : !attn.tensor<3>, !attn.tensor<4, 3>, !attn.tensor<4>
}

// What is not divided is what the spec says: it may vanish.
// CHECK-LABEL: attn.recurrent @plain_recurrent
// CHECK-NOT: ceil
attn.spec @plain inputs [#attn.param<token "q">, #attn.param<token "v">] states ["S"] {
^bb0(%q: !attn.tensor<4>, %v: !attn.tensor<3>, %S: !attn.tensor<4, 3>):
  %zero = attn.constant 0.0
  %m = attn.binary min %q, %zero : !attn.tensor<4>, !attn.tensor<>
  %e = attn.unary exp %m : !attn.tensor<4>
  %u = attn.outer %q, %v : !attn.tensor<4>, !attn.tensor<3>
  %S1 = attn.binary add %S, %u : !attn.tensor<4, 3>, !attn.tensor<4, 3>
  %n = attn.matmul %e, %S1 : !attn.tensor<4>, !attn.tensor<4, 3>
  attn.yield %n, %S1 : !attn.tensor<3>, !attn.tensor<4, 3>
}

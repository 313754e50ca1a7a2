// RUN: lintel-opt %s --attn-stabilize --canonicalize --cse | FileCheck %s

// The numerator and the divisor share one exponent, the running maximum of the keys' exponents; it cancels in the ratio.
// CHECK-LABEL: attn.recurrent @mean inputs [#attn.param<token "k">, #attn.param<token "v">] states ["a", "b", "exponent"] scales [2, 2, -1]
// CHECK: ^bb0(%k: {{.*}}, %v: {{.*}}, %a: {{.*}}, %b: {{.*}}, %exponent: !attn.tensor<>)
// CHECK: %[[SCALED:.+]] = attn.binary mul %k, %{{.+}}
// CHECK: attn.unary ceil %[[SCALED]]
// CHECK: %[[P:.+]] = attn.binary max {{.*}}%exponent
// CHECK: %[[DOWN:.+]] = attn.binary sub %exponent, %[[P]]
// CHECK: attn.unary exp2 %[[DOWN]]
// CHECK: %[[A:.+]] = attn.binary add
// CHECK: %[[B:.+]] = attn.binary add
// CHECK: %[[OUT:.+]] = attn.binary div %[[A]], %[[B]]
// CHECK: attn.yield %[[OUT]], %[[A]], %[[B]], %[[P]]
attn.recurrent @mean inputs [#attn.param<token "k">, #attn.param<token "v">] states ["a", "b"] {
^bb0(%k: !attn.tensor<>, %v: !attn.tensor<>, %a: !attn.tensor<>, %b: !attn.tensor<>):
  %e = attn.unary exp %k : !attn.tensor<>
  %ev = attn.binary mul %e, %v : !attn.tensor<>, !attn.tensor<>
  %a1 = attn.binary add %a, %ev : !attn.tensor<>, !attn.tensor<>
  %b1 = attn.binary add %b, %e : !attn.tensor<>, !attn.tensor<>
  %o = attn.binary div %a1, %b1 : !attn.tensor<>, !attn.tensor<>
  attn.yield %o, %a1, %b1 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
}

// A factor that can vanish has an exponent, which the state's follows down: of a sigmoid that of its logarithm.
// CHECK-LABEL: attn.recurrent @forgets inputs {{.*}} states ["a", "b", "exponent"] scales [2, 2, -1]
// CHECK: %[[MINUS:.+]] = attn.unary neg %f
// CHECK: %[[SOFT:.+]] = attn.unary softplus %[[MINUS]]
// CHECK: attn.binary mul %[[SOFT]], %{{.+}}
// CHECK: %[[DECAYED:.+]] = attn.binary add %exponent, %{{.+}}
// CHECK: attn.binary max %[[DECAYED]]
attn.recurrent @forgets inputs [#attn.param<token "k">, #attn.param<token "f">] states ["a", "b"] {
^bb0(%k: !attn.tensor<>, %f: !attn.tensor<>, %a: !attn.tensor<>, %b: !attn.tensor<>):
  %e = attn.unary exp %k : !attn.tensor<>
  %s = attn.unary sigmoid %f : !attn.tensor<>
  %da = attn.binary mul %s, %a : !attn.tensor<>, !attn.tensor<>
  %db = attn.binary mul %s, %b : !attn.tensor<>, !attn.tensor<>
  %ek = attn.binary mul %e, %k : !attn.tensor<>, !attn.tensor<>
  %a2 = attn.binary add %da, %ek : !attn.tensor<>, !attn.tensor<>
  %b1 = attn.binary add %db, %e : !attn.tensor<>, !attn.tensor<>
  %o = attn.binary div %a2, %b1 : !attn.tensor<>, !attn.tensor<>
  attn.yield %o, %a2, %b1 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
}

// Of any other that of its size; zero has none.
// CHECK-LABEL: attn.recurrent @gated inputs {{.*}} states ["b", "exponent"] scales [1, -1]
// CHECK: %[[SIZE:.+]] = attn.unary abs %f
// CHECK: attn.unary log %[[SIZE]]
// CHECK: %[[SOME:.+]] = attn.binary gt %[[SIZE]]
// CHECK: attn.select %[[SOME]], %{{.+}}, %f
attn.recurrent @gated inputs [#attn.param<token "k">, #attn.param<token "f">] states ["b"] {
^bb0(%k: !attn.tensor<>, %f: !attn.tensor<>, %b: !attn.tensor<>):
  %e = attn.unary exp %k : !attn.tensor<>
  %db = attn.binary mul %f, %b : !attn.tensor<>, !attn.tensor<>
  %b1 = attn.binary add %db, %e : !attn.tensor<>, !attn.tensor<>
  %o = attn.binary div %e, %b1 : !attn.tensor<>, !attn.tensor<>
  attn.yield %o, %b1 : !attn.tensor<>, !attn.tensor<>
}

// The square of an exponential and one of twice the argument have the same exponent.
// CHECK-LABEL: attn.recurrent @squares inputs {{.*}} states ["a", "b", "exponent"] scales [2, 2, -1]
// CHECK: attn.unary ceil
// CHECK-NOT: attn.unary ceil
// CHECK: attn.yield
attn.recurrent @squares inputs [#attn.param<token "k">, #attn.param<token "v">] states ["a", "b"] {
^bb0(%k: !attn.tensor<>, %v: !attn.tensor<>, %a: !attn.tensor<>, %b: !attn.tensor<>):
  %two = attn.constant 2.0
  %e = attn.unary exp %k : !attn.tensor<>
  %ee = attn.binary mul %e, %e : !attn.tensor<>, !attn.tensor<>
  %ev = attn.binary mul %ee, %v : !attn.tensor<>, !attn.tensor<>
  %a1 = attn.binary add %a, %ev : !attn.tensor<>, !attn.tensor<>
  %kk = attn.binary mul %k, %two : !attn.tensor<>, !attn.tensor<>
  %f = attn.unary exp %kk : !attn.tensor<>
  %b1 = attn.binary add %b, %f : !attn.tensor<>, !attn.tensor<>
  %o = attn.binary div %a1, %b1 : !attn.tensor<>, !attn.tensor<>
  attn.yield %o, %a1, %b1 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
}

// A bounded exponential, one that only decays, and one that does not cancel: left alone.
// CHECK-LABEL: attn.recurrent @alone inputs {{.*}} states ["a", "b"] {
attn.recurrent @alone inputs [#attn.param<token "k">, #attn.param<token "g">] states ["a", "b"] {
^bb0(%k: !attn.tensor<>, %g: !attn.tensor<>, %a: !attn.tensor<>, %b: !attn.tensor<>):
  %s = attn.unary softplus %k : !attn.tensor<>
  %n = attn.unary neg %s : !attn.tensor<>
  %e = attn.unary exp %n : !attn.tensor<>
  %d = attn.unary exp %g : !attn.tensor<>
  %da = attn.binary mul %d, %a : !attn.tensor<>, !attn.tensor<>
  %a1 = attn.binary add %da, %e : !attn.tensor<>, !attn.tensor<>
  %b1 = attn.binary add %b, %e : !attn.tensor<>, !attn.tensor<>
  %o = attn.binary div %a1, %b1 : !attn.tensor<>, !attn.tensor<>
  attn.yield %o, %a1, %b1 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
}

// CHECK-LABEL: attn.recurrent @overflows inputs {{.*}} states ["a"] {
attn.recurrent @overflows inputs [#attn.param<token "k">] states ["a"] {
^bb0(%k: !attn.tensor<>, %a: !attn.tensor<>):
  %e = attn.unary exp %k : !attn.tensor<>
  %a1 = attn.binary add %a, %e : !attn.tensor<>, !attn.tensor<>
  attn.yield %a1, %a1 : !attn.tensor<>, !attn.tensor<>
}

// Vectors that are only taken element by element keep an exponent for each; the update has no maximum over them.
// CHECK-LABEL: attn.recurrent @each inputs {{.*}} states ["a", "b", "exponent"] scales [2, 2, -1]
// CHECK: ^bb0({{.*}}, %exponent: !attn.tensor<4>)
// CHECK-NOT: attn.reduce
// CHECK: %[[P:.+]] = attn.binary max {{.*}} : <4>, <4>
// CHECK-NOT: attn.reduce
// CHECK: attn.yield %{{.+}}, %{{.+}}, %{{.+}}, %[[P]]
attn.recurrent @each inputs [#attn.param<token "k">, #attn.param<token "v">] states ["a", "b"] {
^bb0(%k: !attn.tensor<4>, %v: !attn.tensor<4>, %a: !attn.tensor<4>, %b: !attn.tensor<4>):
  %e = attn.unary exp %k : <4>
  %ev = attn.binary mul %e, %v : <4>, <4>
  %a1 = attn.binary add %a, %ev : <4>, <4>
  %b1 = attn.binary add %b, %e : <4>, <4>
  %o = attn.binary div %a1, %b1 : <4>, <4>
  attn.yield %o, %a1, %b1 : !attn.tensor<4>, !attn.tensor<4>, !attn.tensor<4>
}

// Where one of them is summed over, they share one.
// CHECK-LABEL: attn.recurrent @summed inputs {{.*}} states ["a", "b", "exponent"] scales [2, 2, -1]
// CHECK: ^bb0({{.*}}, %exponent: !attn.tensor<>)
// CHECK: attn.reduce max %k
attn.recurrent @summed inputs [#attn.param<token "k">, #attn.param<token "v">] states ["a", "b"] {
^bb0(%k: !attn.tensor<4>, %v: !attn.tensor<4>, %a: !attn.tensor<4>, %b: !attn.tensor<4>):
  %e = attn.unary exp %k : <4>
  %ev = attn.binary mul %e, %v : <4>, <4>
  %a1 = attn.binary add %a, %ev : <4>, <4>
  %b1 = attn.binary add %b, %e : <4>, <4>
  %s = attn.reduce sum %b1 : <4>
  %o = attn.binary div %a1, %s : <4>, <>
  attn.yield %o, %a1, %b1 : !attn.tensor<4>, !attn.tensor<4>, !attn.tensor<4>
}

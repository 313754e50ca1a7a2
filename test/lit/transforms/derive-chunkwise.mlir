// RUN: lintel-opt %s --attn-derive-chunkwise=chunk=4 --canonicalize --cse | FileCheck %s
// RUN: lintel-opt %s --attn-derive-chunkwise | FileCheck %s --check-prefix=AUTO

// AUTO: attn.chunkwise @bonus_chunkwise chunk 4
// AUTO: attn.chunkwise @cumulative_chunkwise chunk 8

// A read before the update, with a bonus on the current step, which needs no state.
// CHECK-LABEL: attn.chunkwise @bonus_chunkwise chunk 4
// CHECK-SAME: states [#attn.state<"S", rank = 2, decay = 1, pairs = 1>]
// CHECK-SAME: reads [#attn.read<0, inclusive = false>]
// CHECK: token {
// CHECK: %[[A:.+]] = attn.unary exp %w
// CHECK: attn.yield %[[A]], %k, %v, %q
// CHECK: combine {
// CHECK: ^bb0({{.*}}%[[READ:[a-z0-9]+]]: !attn.tensor<5>):
// CHECK: %[[SUM:.+]] = attn.binary add %[[READ]], %{{.+}}
// CHECK: attn.yield %[[SUM]]
attn.recurrent @bonus_recurrent inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "w">, #attn.param<head "u">] states ["S"] {
^bb0(%q: !attn.tensor<3>, %k: !attn.tensor<3>, %v: !attn.tensor<5>, %w: !attn.tensor<3>, %u: !attn.tensor<3>, %S: !attn.tensor<3, 5>):
  %uk = attn.binary mul %u, %k : <3>, <3>
  %b = attn.outer %uk, %v : <3>, <5>
  %s = attn.binary add %S, %b : <3, 5>, <3, 5>
  %o = attn.matmul %q, %s : <3>, <3, 5>
  %a = attn.unary exp %w : <3>
  %d = attn.binary mul %a, %S : <3>, <3, 5>
  %n = attn.outer %k, %v : <3>, <5>
  %S1 = attn.binary add %d, %n : <3, 5>, <3, 5>
  attn.yield %o, %S1 : !attn.tensor<5>, !attn.tensor<3, 5>
}

// Two states read by one query, and a ratio of the reads.
// CHECK-LABEL: attn.chunkwise @cumulative_chunkwise chunk 4
// CHECK-SAME: #attn.state<"S", rank = 2, decay = -1, pairs = 1>, #attn.state<"z", rank = 1, decay = -1, pairs = 1>
// CHECK-SAME: reads [#attn.read<0, inclusive = true>, #attn.read<1, inclusive = true>]
// CHECK: attn.yield %k, %v, %k, %q, %q
// CHECK: combine
// CHECK: %[[OUT:.+]] = attn.binary div
// CHECK: attn.yield %[[OUT]]
attn.recurrent @cumulative_recurrent inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] states ["S", "z"] {
^bb0(%q: !attn.tensor<3>, %k: !attn.tensor<3>, %v: !attn.tensor<5>, %S: !attn.tensor<3, 5>, %z: !attn.tensor<3>):
  %u = attn.outer %k, %v : <3>, <5>
  %S1 = attn.binary add %S, %u : <3, 5>, <3, 5>
  %z1 = attn.binary add %z, %k : <3>, <3>
  %n = attn.matmul %q, %S1 : <3>, <3, 5>
  %d = attn.matmul %q, %z1 : <3>, <3>
  %o = attn.binary div %n, %d : <5>, <>
  attn.yield %o, %S1, %z1 : !attn.tensor<5>, !attn.tensor<3, 5>, !attn.tensor<3>
}

// A low-rank term is two vectors: what it adds along, and what it reads with.
// CHECK-LABEL: attn.chunkwise @delta_chunkwise
// CHECK-SAME: states [#attn.state<"S", rank = 2, decay = -1, pairs = 1, low_rank = 1>]
// CHECK: %[[U:.+]] = attn.unary neg %k
// CHECK: attn.yield %k, %v, %k, %[[U]], %k
attn.recurrent @delta_recurrent inputs [#attn.param<token "k">, #attn.param<token "v">] states ["S"] {
^bb0(%k: !attn.tensor<3>, %v: !attn.tensor<5>, %S: !attn.tensor<3, 5>):
  %r = attn.matmul %k, %S : <3>, <3, 5>
  %d = attn.binary sub %v, %r : <5>, <5>
  %u = attn.outer %k, %d : <3>, <5>
  %S1 = attn.binary add %S, %u : <3, 5>, <3, 5>
  %o = attn.matmul %k, %S1 : <3>, <3, 5>
  attn.yield %o, %S1 : !attn.tensor<5>, !attn.tensor<3, 5>
}

// What an update reads through the one before it is a read with another vector: three updates are three terms, not seven.
// CHECK-LABEL: attn.chunkwise @three_chunkwise
// CHECK-SAME: pairs = 3, low_rank = 3>
attn.recurrent @three_recurrent inputs [#attn.param<token "a">, #attn.param<token "b">, #attn.param<token "k">] states ["S"] {
^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %k: !attn.tensor<3>, %S: !attn.tensor<3, 3>):
  %r1 = attn.matmul %a, %S : <3>, <3, 3>
  %d1 = attn.binary sub %a, %r1 : <3>, <3>
  %u1 = attn.outer %a, %d1 : <3>, <3>
  %S1 = attn.binary add %S, %u1 : <3, 3>, <3, 3>
  %r2 = attn.matmul %b, %S1 : <3>, <3, 3>
  %d2 = attn.binary sub %b, %r2 : <3>, <3>
  %u2 = attn.outer %b, %d2 : <3>, <3>
  %S2 = attn.binary add %S1, %u2 : <3, 3>, <3, 3>
  %r3 = attn.matmul %k, %S2 : <3>, <3, 3>
  %d3 = attn.binary sub %k, %r3 : <3>, <3>
  %u3 = attn.outer %k, %d3 : <3>, <3>
  %S3 = attn.binary add %S2, %u3 : <3, 3>, <3, 3>
  %o = attn.matmul %k, %S3 : <3>, <3, 3>
  attn.yield %o, %S3 : !attn.tensor<3>, !attn.tensor<3, 3>
}

// Each refusal says why.
// CHECK: not_chunkwise = "state 'S' is never added to
attn.recurrent @low_rank inputs [#attn.param<token "k">] states ["S"] {
^bb0(%k: !attn.tensor<3>, %S: !attn.tensor<3, 3>):
  %r = attn.matmul %k, %S : <3>, <3, 3>
  %u = attn.outer %k, %r : <3>, <3>
  %S1 = attn.binary add %S, %u : <3, 3>, <3, 3>
  attn.yield %r, %S1 : !attn.tensor<3>, !attn.tensor<3, 3>
}
// CHECK: not_chunkwise = "state 'R' is affine only: its update uses another state"
attn.recurrent @fed inputs [#attn.param<token "k">] states ["S", "R"] {
^bb0(%k: !attn.tensor<3>, %S: !attn.tensor<3>, %R: !attn.tensor<3>):
  %S1 = attn.binary add %S, %k : <3>, <3>
  %R1 = attn.binary add %R, %S1 : <3>, <3>
  attn.yield %R1, %S1, %R1 : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>
}
// CHECK: not_chunkwise = "the output uses a whole state, not a contraction with it"
attn.recurrent @whole inputs [#attn.param<token "k">] states ["S"] {
^bb0(%k: !attn.tensor<3>, %S: !attn.tensor<3>):
  %S1 = attn.binary add %S, %k : <3>, <3>
  attn.yield %S1, %S1 : !attn.tensor<3>, !attn.tensor<3>
}
// CHECK: not_chunkwise = "the output reads no state"
attn.recurrent @unread inputs [#attn.param<token "k">] states ["S"] {
^bb0(%k: !attn.tensor<3>, %S: !attn.tensor<3>):
  %S1 = attn.binary add %S, %k : <3>, <3>
  attn.yield %k, %S1 : !attn.tensor<3>, !attn.tensor<3>
}
// CHECK: not_chunkwise = "state 'S' is never added to"
attn.recurrent @kept inputs [#attn.param<token "k">] states ["S"] {
^bb0(%k: !attn.tensor<3>, %S: !attn.tensor<3, 5>):
  %o = attn.matmul %k, %S : <3>, <3, 5>
  attn.yield %o, %S : !attn.tensor<5>, !attn.tensor<3, 5>
}
// CHECK: not_chunkwise = "state 'S' adds a matrix that is not a sum of outer products"
attn.recurrent @dense inputs [#attn.param<token "k">, #attn.param<shared "M">] states ["S"] {
^bb0(%k: !attn.tensor<3>, %M: !attn.tensor<3, 5>, %S: !attn.tensor<3, 5>):
  %S1 = attn.binary add %S, %M : <3, 5>, <3, 5>
  %o = attn.matmul %k, %S1 : <3>, <3, 5>
  attn.yield %o, %S1 : !attn.tensor<5>, !attn.tensor<3, 5>
}

// A reset is a choice: its decay is marked, for the state before is gone even where it is NaN. A factor of 0 is a product.
// CHECK-LABEL: attn.chunkwise @cleared_chunkwise
// CHECK-SAME: states [#attn.state<"S", rank = 2, decay = 0, pairs = 1>]
// CHECK: %[[CLEAR:.+]] = attn.select {{.*}} {clears}
// CHECK: attn.yield %[[CLEAR]], %k, %v, %q
attn.recurrent @cleared inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "ends">] states ["S"] {
^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %ends: !attn.tensor<>, %S: !attn.tensor<4, 3>):
  %zero = attn.constant 0.0
  %kept = attn.select %ends, %zero, %S : <>, <>, <4, 3>
  %new = attn.outer %k, %v : <4>, <3>
  %S1 = attn.binary add %kept, %new : <4, 3>, <4, 3>
  %o = attn.matmul %q, %S1 : <4>, <4, 3>
  attn.yield %o, %S1 : !attn.tensor<3>, !attn.tensor<4, 3>
}
// CHECK-LABEL: attn.chunkwise @factor_chunkwise
// CHECK-NOT: clears
// CHECK: } combine {
attn.recurrent @factor inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "ends">] states ["S"] {
^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %ends: !attn.tensor<>, %S: !attn.tensor<4, 3>):
  %zero = attn.constant 0.0
  %one = attn.constant 1.0
  %g = attn.select %ends, %zero, %one : <>, <>, <>
  %kept = attn.binary mul %g, %S : <>, <4, 3>
  %new = attn.outer %k, %v : <4>, <3>
  %S1 = attn.binary add %kept, %new : <4, 3>, <4, 3>
  %o = attn.matmul %q, %S1 : <4>, <4, 3>
  attn.yield %o, %S1 : !attn.tensor<3>, !attn.tensor<4, 3>
}

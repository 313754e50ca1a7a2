// RUN: lintel-opt %s --attn-lower-form-to-stages --canonicalize --cse --split-input-file | FileCheck %s

// Recurrent: one step an iteration; the decay is written into the state's stage.
// CHECK-LABEL: attn.kernel @decay form "recurrent" chunk 1
// CHECK-SAME: out !attn.tensor<5>
// CHECK: ^bb0(%k: !attn.sequence<3>, %v: !attn.sequence<5>, %S: !attn.tensor<3, 5>)
// CHECK: %[[LAST:.+]] = attn.scan whole chunk 1 carry %S
// CHECK: ^bb0(%t: index, %[[STATE:.+]]: !attn.tensor<3, 5>):
// CHECK: attn.rows %k[%t] : <3> -> <1, 3>
// CHECK: attn.stage "out" axes ["i", "e"] : <1, 5>
// CHECK: attn.emit %out[%t]
// CHECK: %[[NEXT:.+]] = attn.stage "S" axes ["c", "e"] : <3, 5>
// CHECK: attn.yield %[[NEXT]]
// CHECK: attn.yield %[[LAST]]
attn.recurrent @decay inputs [#attn.param<token "k">, #attn.param<token "v">] states ["S"] {
^bb0(%k: !attn.tensor<3>, %v: !attn.tensor<5>, %S: !attn.tensor<3, 5>):
  %half = attn.constant 0.5
  %d = attn.binary mul %S, %half : <3, 5>, <>
  %u = attn.outer %k, %v : <3>, <5>
  %S1 = attn.binary add %d, %u : <3, 5>, <3, 5>
  %o = attn.matmul %k, %S : <3>, <3, 5>
  attn.yield %o, %S1 : !attn.tensor<5>, !attn.tensor<3, 5>
}

// -----

// Chunkwise: whole chunks, then the rest one by one; masked products within, the state across.
// CHECK-LABEL: attn.kernel @sum_chunkwise form "chunkwise" chunk 4
// CHECK: attn.scan whole chunk 4 carry %z
// CHECK: attn.stage "A" axes ["i", "j"] : <4, 4>
// CHECK: attn.fold sum "c" 3
// CHECK: attn.select
// CHECK: attn.stage "r" axes ["i"] : <4>
// CHECK: attn.stage "z" axes ["c"] : <3>
// CHECK: attn.scan rest chunk 1 from 4
attn.chunkwise @sum_chunkwise chunk 4 inputs [#attn.param<token "q">, #attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%q: !attn.tensor<3>, %k: !attn.tensor<3>):
  attn.yield %k, %q : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%q: !attn.tensor<3>, %k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// Parallel: for each block of queries the blocks of keys before it.
// CHECK-LABEL: attn.kernel @sum_parallel form "parallel" chunk 4
// CHECK: attn.scan blocks chunk 4
// CHECK: attn.stage "initial"
// CHECK: attn.pairs %t chunk 4 queries 0 causal carry
// CHECK: attn.scan whole chunk 4 carry %z
attn.parallel @sum_parallel chunk 4 inputs [#attn.param<token "q">, #attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%q: !attn.tensor<3>, %k: !attn.tensor<3>):
  attn.yield %k, %q : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%q: !attn.tensor<3>, %k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// A decay for each channel: from the last block to the first, with the product of the decays between.
// CHECK-LABEL: attn.kernel @gated_parallel form "parallel" chunk 4
// CHECK: attn.stage "between" axes ["c"] : <3>
// CHECK: attn.pairs %t chunk 4 queries 0 causal descending carry
attn.parallel @gated_parallel chunk 4 inputs [#attn.param<token "q">, #attn.param<token "g">] states [#attn.state<"z", rank = 1, decay = 1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%q: !attn.tensor<3>, %g: !attn.tensor<3>):
  attn.yield %g, %q, %q : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%q: !attn.tensor<3>, %g: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// More than 8 steps of channels: products within sub-blocks, and between them.
// CHECK-LABEL: attn.kernel @long_chunkwise form "chunkwise" chunk 20
// CHECK: attn.stage "w" axes ["i", "j", "c"] serial {{.*}} : <20, 8, 3>
// CHECK: attn.stage "within" axes ["i", "c"] serial {{.*}} : <20, 3>
// CHECK: attn.stage "rest" axes ["s", "c"] serial {{.*}} : <20, 3>
// CHECK: attn.stage "between" axes ["a", "b", "c"] serial {{.*}} : <3, 3, 3>
// CHECK: attn.stage "A_near" axes ["i", "j"] : <20, 8>
// CHECK: attn.stage "A_far" axes ["i", "j"] : <20, 20>
// CHECK: attn.stage "after" axes ["s", "c"] serial {{.*}} : <20, 3>
attn.chunkwise @long_chunkwise chunk 20 inputs [#attn.param<token "q">, #attn.param<token "g">] states [#attn.state<"z", rank = 1, decay = 1, pairs = 1>] reads [#attn.read<0, inclusive = false>] prefix {
} token {
^bb0(%q: !attn.tensor<3>, %g: !attn.tensor<3>):
  attn.yield %g, %q, %q : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%q: !attn.tensor<3>, %g: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// Low rank: the terms' products, what they read without each other, the system's solution, and the chunk with it.
// CHECK-LABEL: attn.kernel @delta_chunkwise form "chunkwise" chunk 4
// CHECK: %[[A:.+]] = attn.stage "A" axes ["i", "j"] : <4, 4>
// CHECK: %[[R:.+]] = attn.stage "r" axes ["i", "e"] : <4, 5>
// CHECK: %[[Y:.+]] = attn.stage "y" axes ["i", "e"] solve %[[A]] : !attn.tensor<4, 4> : <4, 5>
// CHECK: attn.at %[[R]]
// CHECK: attn.stage "S" axes ["c", "e"]
// CHECK: attn.at %[[Y]]
attn.chunkwise @delta_chunkwise chunk 4 inputs [#attn.param<token "k">, #attn.param<token "v">] states [#attn.state<"S", rank = 2, decay = -1, pairs = 1, low_rank = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>, %v: !attn.tensor<5>):
  attn.yield %k, %v, %k, %k, %k : !attn.tensor<3>, !attn.tensor<5>, !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %v: !attn.tensor<5>, %r: !attn.tensor<5>):
  attn.yield %r : !attn.tensor<5>
}

// -----

// Several terms a step are rows side by side: one product of their vectors, one right side, which has the values of the
// pair whose key is a term's own (here of both terms), one solution, and one pair that is added to the state.
// CHECK-LABEL: attn.kernel @twice_chunkwise form "chunkwise" chunk 4
// CHECK: %[[U:.+]] = attn.stage "U" axes ["j", "c"] : <8, 3>
// CHECK: %[[W:.+]] = attn.stage "W" axes ["j", "c"] : <8, 3>
// CHECK: %[[V:.+]] = attn.stage "V" axes ["j", "e"] : <8, 5>
// CHECK: %[[A:.+]] = attn.stage "A" axes ["i", "j"] : <8, 8>
// CHECK: attn.at %[[U]]
// CHECK: attn.at %[[W]]
// CHECK: %[[R:.+]] = attn.stage "r" axes ["i", "e"] : <8, 5>
// CHECK-NOT: attn.fold sum "j"
// CHECK: attn.at %[[V]]
// CHECK: %[[Y:.+]] = attn.stage "y" axes ["i", "e"] solve %[[A]] : !attn.tensor<8, 8> : <8, 5>
// CHECK: attn.stage "A" axes ["i", "j"] : <4, 8>
// CHECK-NOT: attn.stage "A"
// CHECK: attn.stage "S" axes ["c", "e"]
// CHECK: attn.fold sum "j" 8
// CHECK-NOT: attn.fold sum "j"
// CHECK: attn.scan rest
attn.chunkwise @twice_chunkwise chunk 4 inputs [#attn.param<token "k">, #attn.param<token "p">, #attn.param<token "v">] states [#attn.state<"S", rank = 2, decay = -1, pairs = 2, low_rank = 2>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<3>, %v: !attn.tensor<5>):
  attn.yield %k, %v, %p, %v, %k, %k, %p, %p, %k : !attn.tensor<3>, !attn.tensor<5>, !attn.tensor<3>, !attn.tensor<5>, !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<3>, %v: !attn.tensor<5>, %r: !attn.tensor<5>):
  attn.yield %r : !attn.tensor<5>
}

// -----

// Streamed: carried are the maximum, the sum and the weighted values; with a window, only the blocks in it. Blocks in
// front are seen whole; on the diagonal sums end at the row.
// CHECK-LABEL: attn.kernel @softmax form "parallel" chunk 4
// CHECK: attn.pairs %t chunk 4 queries 0 causal window 7 carry {{.*}} : !attn.tensor<4>, !attn.tensor<4>, !attn.tensor<4, 3>
// CHECK: attn.stage "s" axes ["i", "j"]
// CHECK: attn.fold max "j" 4
// CHECK: attn.fold sum "j" 4 {
// CHECK: attn.yield
// CHECK: attn.stage "s" axes ["i", "j"]
// CHECK: attn.fold sum "j" 4 upto %i
attn.streamed @softmax chunk 4 window 7 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  %o = attn.attend %q, %q, %q causal : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : <3>, <3>
    %w = attn.unary exp %s : <>
    attn.yield %w : !attn.tensor<>
  } normalizer {
  ^bb0(%den: !attn.tensor<>):
    attn.yield %den : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}

// -----

// Blocks that a mask cuts choose for each pair, those inside of it do not; on the diagonal, of 4 steps, nothing is masked.
// CHECK-LABEL: attn.kernel @masked form "parallel" chunk 4
// CHECK: attn.pairs %t chunk 4 queries 0 causal window 9 whole [8, -1] cut carry
// CHECK: attn.stage "absent" axes ["i", "j"]
// CHECK: attn.pairs %t chunk 4 queries 0 causal window 9 whole [8, -1] carry
// CHECK-NOT: attn.stage "absent"
attn.streamed @masked chunk 4 window 9 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  %o = attn.attend %q, %q, %q causal : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %n = attn.constant 9.0
    %zero = attn.constant 0.0
    %s = attn.matmul %a, %b : <3>, <3>
    %w = attn.unary exp %s : <>
    %c = attn.binary lt %d, %n : <>, <>
    %r = attn.select %c, %w, %zero : <>, <>, <>
    attn.yield %r : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}

// -----

// A window on both sides ends both ways; the first steps' blocks are visited in front of a window's.
// CHECK-LABEL: attn.kernel @sides form "parallel" chunk 4
// CHECK: attn.pairs %t chunk 4 queries 4 window 7 ahead 2 whole [-1, -1] cut carry
// CHECK: attn.pairs %t chunk 4 queries 4 window 7 ahead 2 whole [-1, -1] carry
// CHECK-NOT: attn.pairs
// CHECK-LABEL: attn.kernel @start form "parallel" chunk 4
// CHECK: attn.pairs %t chunk 4 queries 0 causal window 7 first 3 carry
// CHECK: attn.pairs %t chunk 4 queries 0 causal window 7 carry
attn.streamed @sides chunk 4 window 7 ahead 2 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  %o = attn.attend %q, %q, %q : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : <3>, <3>
    attn.yield %s : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}
attn.streamed @start chunk 4 window 7 first 3 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  %o = attn.attend %q, %q, %q causal : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : <3>, <3>
    attn.yield %s : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}

// -----

// An exponent goes along behind the states: it starts at nothing yet where the caller gave no states, and at the end the state leaves as it is
// held where the exponent is taken, and multiplied out where not.
// CHECK-LABEL: attn.kernel @scaled form "recurrent"
// CHECK-SAME: states ["a", "exponent"] scales [1, -1]
// CHECK: ^bb0(%k: {{.*}}, %a: !attn.tensor<>, %exponent: !attn.tensor<>)
// CHECK: %[[GIVEN:.+]] = attn.given
// CHECK: attn.stage "p" axes [] : <>
// CHECK: %[[START:.+]] = attn.at %exponent[]
// CHECK: attn.select %[[GIVEN]], %[[START]], %{{.+}}
// CHECK: %[[LAST:.+]]:2 = attn.scan whole chunk 1 carry %a, %p
// CHECK: %[[TAKEN:.+]] = attn.taken 1
// CHECK: %[[OUT:.+]] = attn.stage "a_out"
// CHECK: %[[HELD:.+]] = attn.at %[[LAST]]#0[]
// CHECK: attn.unary exp2
// CHECK: attn.select %[[TAKEN]], %[[HELD]], %{{.+}}
// CHECK: attn.yield %[[OUT]], %[[LAST]]#1
attn.recurrent @scaled inputs [#attn.param<token "k">] states ["a", "exponent"] scales [1, -1] {
^bb0(%k: !attn.tensor<>, %a: !attn.tensor<>, %p: !attn.tensor<>):
  %p1 = attn.binary max %p, %k : <>, <>
  %d = attn.binary sub %p, %p1 : <>, <>
  %f = attn.unary exp2 %d : <>
  %a0 = attn.binary mul %a, %f : <>, <>
  %a1 = attn.binary add %a0, %k : <>, <>
  attn.yield %a1, %a1, %p1 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
}

// -----

// The same with an exponent for each channel.
// CHECK-LABEL: attn.kernel @scaled_each form "recurrent"
// CHECK: ^bb0(%k: {{.*}}, %S: !attn.tensor<4, 2>, %exponent: !attn.tensor<4>)
// CHECK: attn.stage "p" axes ["c"] : <4>
// CHECK: ^bb0(%[[C:.+]]: index):
// CHECK: attn.at %exponent[%[[C]]]
// CHECK: attn.stage "S_out" axes ["c", "e"] : <4, 2>
// CHECK: ^bb0(%[[C:.+]]: index, %{{.+}}: index):
// CHECK: attn.at %{{.+}}#1[%[[C]]]
attn.recurrent @scaled_each inputs [#attn.param<token "k">] states ["S", "exponent"] scales [1, -1] {
^bb0(%k: !attn.tensor<4>, %S: !attn.tensor<4, 2>, %p: !attn.tensor<4>):
  %p1 = attn.binary max %p, %k : <4>, <4>
  %d = attn.binary sub %p, %p1 : <4>, <4>
  %f = attn.unary exp2 %d : <4>
  %S0 = attn.binary mul %f, %S : <4>, <4, 2>
  %S1 = attn.binary add %S0, %k : <4, 2>, <4>
  %o = attn.matmul %k, %S1 : <4>, <4, 2>
  attn.yield %o, %S1, %p1 : !attn.tensor<2>, !attn.tensor<4, 2>, !attn.tensor<4>
}

// -----

// An exponent that adds to the product of query and key: the product in f32, the sum in f64 until the maximum is off.
// CHECK-LABEL: attn.kernel @biased
// CHECK: attn.stage "dot" axes ["i", "j"]
// CHECK: attn.stage "s" axes ["i", "j"]
// CHECK: {precision = "f64"}
// CHECK: attn.stage "below" axes ["i", "j"]
// CHECK: {precision = "f64"}
// CHECK: attn.stage "p" axes ["i", "j"]
attn.streamed @biased chunk 4 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  %o = attn.attend %q, %q, %q causal : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : <3>, <3>
    %t = attn.binary sub %s, %d : <>, <>
    %w = attn.unary exp %t : <>
    attn.yield %w : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}

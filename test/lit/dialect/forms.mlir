// RUN: lintel-opt %s | lintel-opt | FileCheck %s

// CHECK: attn.recurrent @sum inputs [#attn.param<token "x">] states ["S"] {
// CHECK: ^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>)
attn.recurrent @sum inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>):
  %S1 = attn.binary add %S, %x : <4>, <4>
  attn.yield %S1, %S1 : !attn.tensor<4>, !attn.tensor<4>
}

// CHECK: attn.recurrent @scaled inputs [#attn.param<token "x">] states ["S", "p"] scales [1, -1] {
attn.recurrent @scaled inputs [#attn.param<token "x">] states ["S", "p"] scales [1, -1] {
^bb0(%x: !attn.tensor<>, %S: !attn.tensor<>, %p: !attn.tensor<>):
  attn.yield %S, %S, %p : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
}

// CHECK: attn.step @one
attn.step @one inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<4>):
  attn.yield %x : !attn.tensor<4>
}

// CHECK: attn.chunkwise @c chunk 4 bidirectional inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = 0, pairs = 1>] scales [1] reads [#attn.read<0, inclusive = false>] prefix {
// CHECK: } token {
// CHECK: } combine {
attn.chunkwise @c chunk 4 bidirectional inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = 0, pairs = 1>] scales [1] reads [#attn.read<0, inclusive = false>] prefix {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>):
  attn.yield %p : !attn.tensor<>
} token {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>, %p1: !attn.tensor<>):
  attn.yield %p, %k, %k : !attn.tensor<>, !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>, %p1: !attn.tensor<>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// CHECK: attn.parallel @p chunk 4
attn.parallel @p chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 0, decay = -1, pairs = 2>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<>):
  attn.yield %k, %k, %k : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
} combine {
^bb0(%k: !attn.tensor<>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// CHECK: attn.streamed @bounded chunk 8 window 3 ahead 2 first 1 inputs [#attn.param<token "q">]
attn.streamed @bounded chunk 8 window 3 ahead 2 first 1 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  %o = attn.attend %q, %q, %q : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    attn.yield %d : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}

// CHECK: attn.streamed @s chunk 8 window 3 inputs [#attn.param<token "q">]
attn.streamed @s chunk 8 window 3 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  %o = attn.attend %q, %q, %q causal : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    attn.yield %d : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}

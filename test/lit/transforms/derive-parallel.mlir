// RUN: lintel-opt %s --attn-derive-parallel=chunk=8 | FileCheck %s

// CHECK-LABEL: attn.chunkwise @sum_chunkwise chunk 4
// CHECK: attn.parallel @sum_parallel chunk 8
// CHECK-SAME: states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>]
// CHECK: attn.yield %k, %q
attn.chunkwise @sum_chunkwise chunk 4 inputs [#attn.param<token "q">, #attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%q: !attn.tensor<3>, %k: !attn.tensor<3>):
  attn.yield %k, %q : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%q: !attn.tensor<3>, %k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// CHECK-LABEL: attn.chunkwise @both_chunkwise
// CHECK: attn.parallel @both_parallel chunk 8 bidirectional
attn.chunkwise @both_chunkwise chunk 4 bidirectional inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// A running exponent goes along, but not beside a decay for each channel.
// CHECK-LABEL: attn.chunkwise @exponent_chunkwise
// CHECK: attn.parallel @exponent_parallel chunk 8
// CHECK-SAME: scales [1]
// CHECK: attn.binary max %x, %{{.+}}
attn.chunkwise @exponent_chunkwise chunk 4 inputs [#attn.param<token "x">] states [#attn.state<"z", rank = 0, decay = 0, pairs = 1>] scales [1] reads [#attn.read<0, inclusive = true>] prefix {
^bb0(%x: !attn.tensor<>, %p: !attn.tensor<>):
  %m = attn.binary max %x, %p : <>, <>
  attn.yield %m : !attn.tensor<>
} token {
^bb0(%x: !attn.tensor<>, %p: !attn.tensor<>, %n: !attn.tensor<>):
  %d = attn.binary sub %p, %n : <>, <>
  %a = attn.unary exp2 %d : <>
  attn.yield %a, %x, %x : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
} combine {
^bb0(%x: !attn.tensor<>, %p: !attn.tensor<>, %n: !attn.tensor<>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}
// CHECK-LABEL: attn.chunkwise @channel_chunkwise
// CHECK: not_parallel = "a decay for each channel does not go with a running exponent"
// CHECK-NOT: attn.parallel
attn.chunkwise @channel_chunkwise chunk 4 inputs [#attn.param<token "x">] states [#attn.state<"z", rank = 1, decay = 1, pairs = 1>] scales [1] reads [#attn.read<0, inclusive = true>] prefix {
^bb0(%x: !attn.tensor<3>, %p: !attn.tensor<>):
  attn.yield %p : !attn.tensor<>
} token {
^bb0(%x: !attn.tensor<3>, %p: !attn.tensor<>, %n: !attn.tensor<>):
  attn.yield %x, %x, %x : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%x: !attn.tensor<3>, %p: !attn.tensor<>, %n: !attn.tensor<>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// Queries move back through a low-rank transition.
// CHECK-LABEL: attn.chunkwise @delta_chunkwise
// CHECK-NOT: not_parallel
// CHECK: attn.parallel @delta_parallel chunk 8 {{.*}}low_rank = 1
attn.chunkwise @delta_chunkwise chunk 4 inputs [#attn.param<token "x">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1, low_rank = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%x: !attn.tensor<3>):
  attn.yield %x, %x, %x, %x : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%x: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// The window is where the weights become zero.
// CHECK: attn.streamed @below_parallel chunk 8 window 5
attn.spec @below inputs [#attn.param<token "q">] states [] {
^bb0(%q: !attn.tensor<3>):
  %n = attn.constant 4.5
  %zero = attn.constant 0.0
  %o = attn.attend %q, %q, %q causal : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : <3>, <3>
    %c = attn.binary lt %d, %n : <>, <>
    %w = attn.select %c, %s, %zero : <>, <>, <>
    attn.yield %w : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}
// CHECK: attn.streamed @above_parallel chunk 8 window 5
attn.spec @above inputs [#attn.param<token "q">] states [] {
^bb0(%q: !attn.tensor<3>):
  %n = attn.constant 4.0
  %zero = attn.constant 0.0
  %o = attn.attend %q, %q, %q causal : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : <3>, <3>
    %c = attn.binary ge %n, %d : <>, <>
    %w = attn.select %c, %s, %zero : <>, <>, <>
    attn.yield %w : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}
// On both sides, `and` with what bounds nothing; keys at the start of the sequence.
// CHECK: attn.streamed @sides_parallel chunk 8 window 5 ahead 4 inputs
attn.spec @sides inputs [#attn.param<token "q">] states [] {
^bb0(%q: !attn.tensor<3>):
  %n = attn.constant 4.0
  %zero = attn.constant 0.0
  %o = attn.attend %q, %q, %q : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : <3>, <3>
    %size = attn.unary abs %d : <>
    %c = attn.binary le %size, %n : <>, <>
    %positive = attn.binary gt %s, %zero : <>, <>
    %both = attn.binary and %positive, %c : <>, <>
    %w = attn.select %both, %s, %zero : <>, <>, <>
    attn.yield %w : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}
// CHECK: attn.streamed @start_parallel chunk 8 window 4 first 3 inputs
attn.spec @start inputs [#attn.param<token "q">] states [] {
^bb0(%q: !attn.tensor<3>):
  %n = attn.constant 4.0
  %m = attn.constant 2.0
  %zero = attn.constant 0.0
  %o = attn.attend %q, %q, %q causal : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : <3>, <3>
    %p = attn.position
    %key = attn.binary sub %p, %d : <>, <>
    %near = attn.binary lt %d, %n : <>, <>
    %first = attn.binary le %key, %m : <>, <>
    %c = attn.binary or %near, %first : <>, <>
    %w = attn.select %c, %s, %zero : <>, <>, <>
    attn.yield %w : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}
// One of two is true of any distance: all blocks.
// CHECK: attn.streamed @either_parallel chunk 8 inputs
attn.spec @either inputs [#attn.param<token "q">] states [] {
^bb0(%q: !attn.tensor<3>):
  %n = attn.constant 4.0
  %zero = attn.constant 0.0
  %o = attn.attend %q, %q, %q causal : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : <3>, <3>
    %near = attn.binary lt %d, %n : <>, <>
    %positive = attn.binary gt %s, %zero : <>, <>
    %c = attn.binary or %near, %positive : <>, <>
    %w = attn.select %c, %s, %zero : <>, <>, <>
    attn.yield %w : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}
// CHECK: attn.streamed @all_parallel chunk 8 inputs
attn.spec @all inputs [#attn.param<token "q">] states [] {
^bb0(%q: !attn.tensor<3>):
  %o = attn.attend %q, %q, %q : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3> -> !attn.tensor<3> weights {
  ^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %d: !attn.tensor<>):
    %s = attn.matmul %a, %b : <3>, <3>
    attn.yield %s : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<3>
}

// RUN: lintel-opt %s --attn-fuse-stages | FileCheck %s

// The state is overwritten after its reader, and what only the new state needs goes with it; a stage that no step changes leaves the loop.
// CHECK-LABEL: attn.kernel @k
// CHECK: attn.stage "two" axes [] : <>
// CHECK: attn.scan
// CHECK: attn.stage "out" axes ["i"] : <1>
// CHECK: attn.emit
// CHECK: attn.stage "x2" axes ["i"] group 1 : <1>
// CHECK: attn.stage "s" axes [] group 1 : <>
attn.kernel @k form "recurrent" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<> {
^bb0(%x: !attn.sequence<>, %s: !attn.tensor<>):
  %last = attn.scan whole chunk 1 carry %s : !attn.tensor<> -> !attn.tensor<> {
  ^bb0(%t: index, %s0: !attn.tensor<>):
    %r = attn.rows %x[%t] : !attn.sequence<> -> !attn.tensor<1>
    %two = attn.stage "two" axes [] : !attn.tensor<> {
      %c = attn.constant 2.0
      attn.yield %c : !attn.tensor<>
    }
    %x2 = attn.stage "x2" axes ["i"] : !attn.tensor<1> {
    ^bb0(%i: index):
      %a = attn.at %r[%i] : !attn.tensor<1>
      %b = attn.at %two[] : !attn.tensor<>
      %p = attn.binary mul %a, %b : !attn.tensor<>, !attn.tensor<>
      attn.yield %p : !attn.tensor<>
    }
    %s1 = attn.stage "s" axes [] : !attn.tensor<> {
      %z = arith.constant 0 : index
      %a = attn.at %x2[%z] : !attn.tensor<1>
      %b = attn.at %s0[] : !attn.tensor<>
      %p = attn.binary add %a, %b : !attn.tensor<>, !attn.tensor<>
      attn.yield %p : !attn.tensor<>
    }
    %out = attn.stage "out" axes ["i"] : !attn.tensor<1> {
    ^bb0(%i: index):
      %a = attn.at %r[%i] : !attn.tensor<1>
      %b = attn.at %s0[] : !attn.tensor<>
      %p = attn.binary mul %a, %b : !attn.tensor<>, !attn.tensor<>
      attn.yield %p : !attn.tensor<>
    }
    attn.emit %out[%t] : !attn.tensor<1>
    attn.yield %s1 : !attn.tensor<>
  }
  attn.yield %last : !attn.tensor<>
}

// What another state's update reads is overwritten behind it, in a group of its own.
// CHECK-LABEL: attn.kernel @feeds
// CHECK: attn.stage "a" axes ["c", "e"] group 1 : <2, 3>
// CHECK: attn.stage "b" axes ["c", "e"] group 2 : <2, 3>
// CHECK: attn.yield %a{{.*}}, %b
attn.kernel @feeds form "recurrent" chunk 1 inputs [#attn.param<token "x">] states ["a", "b"] out !attn.tensor<> {
^bb0(%x: !attn.sequence<>, %a: !attn.tensor<2, 3>, %b: !attn.tensor<2, 3>):
  %last:2 = attn.scan whole chunk 1 carry %a, %b : !attn.tensor<2, 3>, !attn.tensor<2, 3> -> !attn.tensor<2, 3>, !attn.tensor<2, 3> {
  ^bb0(%t: index, %a0: !attn.tensor<2, 3>, %b0: !attn.tensor<2, 3>):
    %r = attn.rows %x[%t] : !attn.sequence<> -> !attn.tensor<1>
    attn.emit %r[%t] : !attn.tensor<1>
    %b1 = attn.stage "b" axes ["c", "e"] : !attn.tensor<2, 3> {
    ^bb0(%c: index, %e: index):
      %p = attn.at %b0[%c, %e] : !attn.tensor<2, 3>
      %s = attn.binary add %p, %p : !attn.tensor<>, !attn.tensor<>
      attn.yield %s : !attn.tensor<>
    }
    %a1 = attn.stage "a" axes ["c", "e"] : !attn.tensor<2, 3> {
    ^bb0(%c: index, %e: index):
      %p = attn.at %a0[%c, %e] : !attn.tensor<2, 3>
      %q = attn.at %b0[%c, %e] : !attn.tensor<2, 3>
      %s = attn.binary add %p, %q : !attn.tensor<>, !attn.tensor<>
      attn.yield %s : !attn.tensor<>
    }
    attn.yield %a1, %b1 : !attn.tensor<2, 3>, !attn.tensor<2, 3>
  }
  attn.yield %last#0, %last#1 : !attn.tensor<2, 3>, !attn.tensor<2, 3>
}

// Two that read each other: one of them needs a copy in any order.
// CHECK-LABEL: attn.kernel @circle
// CHECK: attn.stage "a" axes ["c", "e"] group 1 : <2, 3>
// CHECK: attn.stage "b" axes ["c", "e"] group 1 : <2, 3>
attn.kernel @circle form "recurrent" chunk 1 inputs [#attn.param<token "x">] states ["a", "b"] out !attn.tensor<> {
^bb0(%x: !attn.sequence<>, %a: !attn.tensor<2, 3>, %b: !attn.tensor<2, 3>):
  %last:2 = attn.scan whole chunk 1 carry %a, %b : !attn.tensor<2, 3>, !attn.tensor<2, 3> -> !attn.tensor<2, 3>, !attn.tensor<2, 3> {
  ^bb0(%t: index, %a0: !attn.tensor<2, 3>, %b0: !attn.tensor<2, 3>):
    %r = attn.rows %x[%t] : !attn.sequence<> -> !attn.tensor<1>
    attn.emit %r[%t] : !attn.tensor<1>
    %a1 = attn.stage "a" axes ["c", "e"] : !attn.tensor<2, 3> {
    ^bb0(%c: index, %e: index):
      %p = attn.at %a0[%c, %e] : !attn.tensor<2, 3>
      %q = attn.at %b0[%c, %e] : !attn.tensor<2, 3>
      %s = attn.binary add %p, %q : !attn.tensor<>, !attn.tensor<>
      attn.yield %s : !attn.tensor<>
    }
    %b1 = attn.stage "b" axes ["c", "e"] : !attn.tensor<2, 3> {
    ^bb0(%c: index, %e: index):
      %p = attn.at %a0[%c, %e] : !attn.tensor<2, 3>
      %q = attn.at %b0[%c, %e] : !attn.tensor<2, 3>
      %s = attn.binary sub %p, %q : !attn.tensor<>, !attn.tensor<>
      attn.yield %s : !attn.tensor<>
    }
    attn.yield %a1, %b1 : !attn.tensor<2, 3>, !attn.tensor<2, 3>
  }
  attn.yield %last#0, %last#1 : !attn.tensor<2, 3>, !attn.tensor<2, 3>
}

// A stage with guards comes in a group behind what they guard against, where a look at that costs little beside it; and
// what reads the output goes on behind.
// CHECK-LABEL: attn.kernel @guarded
// CHECK: attn.stage "w" axes ["c"] : <8>
// CHECK: attn.stage "few" axes ["c"] : <8>
// CHECK: attn.stage "r" axes ["i", "e"] group 1 : <1, 64>
// CHECK: attn.stage "S" axes ["c", "e"] group 2 : <8, 64>
// CHECK: attn.emit %r
attn.kernel @guarded form "recurrent" chunk 1 inputs [#attn.param<token "g">] states ["S"] out !attn.tensor<64> {
^bb0(%g: !attn.sequence<8>, %S: !attn.tensor<8, 64>):
  %zero = attn.constant 0.0
  %last = attn.scan whole chunk 1 carry %S : !attn.tensor<8, 64> -> !attn.tensor<8, 64> {
  ^bb0(%t: index, %s: !attn.tensor<8, 64>):
    %z = arith.constant 0 : index
    %x = attn.rows %g[%t] : !attn.sequence<8> -> !attn.tensor<1, 8>
    %w = attn.stage "w" axes ["c"] : !attn.tensor<8> {
    ^bb0(%c: index):
      %a = attn.at %x[%z, %c] : !attn.tensor<1, 8>
      %e = attn.unary exp %a : !attn.tensor<>
      attn.yield %e : !attn.tensor<>
    }
    %few = attn.stage "few" axes ["c"] : !attn.tensor<8> {
    ^bb0(%c: index):
      %a = attn.at %x[%z, %c] : !attn.tensor<1, 8>
      %b = attn.at %w[%c] : !attn.tensor<8>
      %p = attn.binary mul %a, %b : !attn.tensor<>, !attn.tensor<>
      %is = attn.binary eq %a, %zero : !attn.tensor<>, !attn.tensor<>
      %q = attn.select guard %is, %zero, %p : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
      attn.yield %q : !attn.tensor<>
    }
    %r = attn.stage "r" axes ["i", "e"] : !attn.tensor<1, 64> {
    ^bb0(%i: index, %e: index):
      %sum = attn.fold sum "c" 8 {
      ^bb0(%c: index):
        %a = attn.at %s[%c, %e] : !attn.tensor<8, 64>
        %b = attn.at %few[%c] : !attn.tensor<8>
        %is = attn.binary eq %a, %zero : !attn.tensor<>, !attn.tensor<>
        %y = attn.select guard %is, %zero, %b : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
        %p = attn.binary mul %a, %y : !attn.tensor<>, !attn.tensor<>
        attn.yield %p : !attn.tensor<>
      }
      attn.yield %sum : !attn.tensor<>
    }
    attn.emit %r[%t] : !attn.tensor<1, 64>
    %S1 = attn.stage "S" axes ["c", "e"] : !attn.tensor<8, 64> {
    ^bb0(%c: index, %e: index):
      %a = attn.at %s[%c, %e] : !attn.tensor<8, 64>
      %b = attn.at %w[%c] : !attn.tensor<8>
      %p = attn.binary mul %a, %b : !attn.tensor<>, !attn.tensor<>
      %is = attn.binary eq %a, %zero : !attn.tensor<>, !attn.tensor<>
      %y = attn.select guard %is, %zero, %p : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
      attn.yield %y : !attn.tensor<>
    }
    attn.yield %S1 : !attn.tensor<8, 64>
  }
  attn.yield %last : !attn.tensor<8, 64>
}

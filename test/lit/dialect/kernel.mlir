// RUN: lintel-opt %s | lintel-opt | FileCheck %s

// CHECK: attn.kernel @k form "chunkwise" chunk 4 bidirectional inputs [#attn.param<token "x">, #attn.param<head "w">] states ["s"] out !attn.tensor<2> {
// CHECK: ^bb0(%x: !attn.sequence<2>, %w: !attn.tensor<2>, %s: !attn.tensor<2>)
attn.kernel @k form "chunkwise" chunk 4 bidirectional inputs [#attn.param<token "x">, #attn.param<head "w">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %w: !attn.tensor<2>, %s: !attn.tensor<2>):
  // CHECK: attn.steps
  %T = attn.steps
  // CHECK: %{{.*}} = attn.scan whole chunk 4 carry %s : !attn.tensor<2> -> !attn.tensor<2> {
  // CHECK: ^bb0(%t: index, %{{.*}}: !attn.tensor<2>)
  %a = attn.scan whole chunk 4 carry %s : !attn.tensor<2> -> !attn.tensor<2> {
  ^bb0(%t: index, %c: !attn.tensor<2>):
    // CHECK: attn.rows %x[%t] : <2> -> <4, 2>
    %r = attn.rows %x[%t] : !attn.sequence<2> -> !attn.tensor<4, 2>
    // CHECK: %L = attn.stage "L" axes ["i", "j"] : <4, 4> {
    %L = attn.stage "L" axes ["i", "j"] : !attn.tensor<4, 4> {
    ^bb0(%i: index, %j: index):
      %n = attn.number %j
      attn.yield %n : !attn.tensor<>
    }
    // CHECK: attn.stage "solved" axes ["i"] solve %L : !attn.tensor<4, 4> sparse : <4> {
    %z = attn.stage "solved" axes ["i"] solve %L : !attn.tensor<4, 4> sparse : !attn.tensor<4> {
    ^bb0(%i: index):
      %n = attn.number %i
      attn.yield %n : !attn.tensor<>
    }
    // CHECK: attn.stage "K" axes ["i", "j", "e"] serial %{{.*}} : !attn.tensor<4, 2> staggered : <4, 4, 2> {
    %K = attn.stage "K" axes ["i", "j", "e"] serial %r : !attn.tensor<4, 2> staggered : !attn.tensor<4, 4, 2> {
    ^bb0(%i: index, %j: index, %e: index, %before: !attn.tensor<>):
      attn.yield %before : !attn.tensor<>
    }
    // CHECK: %y = attn.stage "y" axes ["i", "e"] serial %{{.*}} : !attn.tensor<2> group 1 : <4, 2> {
    // CHECK: ^bb0(%i: index, %e: index, %before: !attn.tensor<>)
    %y = attn.stage "y" axes ["i", "e"] serial %c : !attn.tensor<2> group 1 : !attn.tensor<4, 2> {
    ^bb0(%i: index, %e: index, %before: !attn.tensor<>):
      // CHECK: attn.fold max "j" 4 {
      // CHECK: ^bb0(%j: index)
      %m = attn.fold max "j" 4 {
      ^bb0(%j: index):
        // CHECK: attn.at %{{.*}}[%j, %e] : <4, 2>
        %v = attn.at %r[%j, %e] : !attn.tensor<4, 2>
        attn.yield %v : !attn.tensor<>
      }
      // CHECK: attn.number %i
      %n = attn.number %i
      // CHECK: attn.start
      %p = attn.start
      // CHECK: attn.given
      %g = attn.given
      attn.yield %m : !attn.tensor<>
    }
    // CHECK: attn.emit %y[%t] : <4, 2>
    attn.emit %y[%t] : !attn.tensor<4, 2>
    // CHECK: attn.pairs %t chunk 4 queries 4 causal descending window 9 carry %{{.*}} : !attn.tensor<2> -> !attn.tensor<2> {
    // CHECK: ^bb0(%s_{{.*}}: index, %{{.*}}: !attn.tensor<2>)
    %q = attn.pairs %t chunk 4 queries 4 causal descending window 9 carry %c : !attn.tensor<2> -> !attn.tensor<2> {
    ^bb0(%u: index, %d: !attn.tensor<2>):
      attn.yield %d : !attn.tensor<2>
    }
    // CHECK: attn.pairs %t chunk 4 queries 4 window 9 ahead 0 first 2 carry
    %r2 = attn.pairs %t chunk 4 queries 4 window 9 ahead 0 first 2 carry %q : !attn.tensor<2> -> !attn.tensor<2> {
    ^bb0(%u: index, %d: !attn.tensor<2>):
      attn.yield %d : !attn.tensor<2>
    }
    // CHECK: attn.pairs %t chunk 4 queries 4 window 9 ahead 0 whole [8, -1] carry
    %r3 = attn.pairs %t chunk 4 queries 4 window 9 ahead 0 whole [8, -1] carry %r2 : !attn.tensor<2> -> !attn.tensor<2> {
    ^bb0(%u: index, %d: !attn.tensor<2>):
      attn.yield %d : !attn.tensor<2>
    }
    // CHECK: attn.pairs %t chunk 4 queries 0 causal whole [8, 0] cut carry
    %r4 = attn.pairs %t chunk 4 queries 0 causal whole [8, 0] cut carry %r3 : !attn.tensor<2> -> !attn.tensor<2> {
    ^bb0(%u: index, %d: !attn.tensor<2>):
      attn.yield %d : !attn.tensor<2>
    }
    attn.yield %r4 : !attn.tensor<2>
  }
  // CHECK: attn.scan rest chunk 1 from 4 {
  attn.scan rest chunk 1 from 4 {
  ^bb0(%t: index):
    attn.yield
  }
  // CHECK: attn.scan blocks chunk 4 {
  attn.scan blocks chunk 4 {
  ^bb0(%t: index):
    attn.yield
  }
  attn.yield %a : !attn.tensor<2>
}

// A state held with an exponent, which the caller may take.
// CHECK: attn.kernel @scaled form "recurrent" chunk 1 inputs [#attn.param<token "x">] states ["s", "p"] scales [1, -1] out !attn.tensor<> {
attn.kernel @scaled form "recurrent" chunk 1 inputs [#attn.param<token "x">] states ["s", "p"] scales [1, -1] out !attn.tensor<> {
^bb0(%x: !attn.sequence<>, %s: !attn.tensor<>, %p: !attn.tensor<>):
  %y = attn.stage "y" axes [] : !attn.tensor<> {
    // CHECK: attn.taken 1
    %g = attn.taken 1
    attn.yield %g : !attn.tensor<>
  }
  attn.yield %y, %p : !attn.tensor<>, !attn.tensor<>
}

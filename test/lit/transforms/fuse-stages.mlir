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

// RUN: lintel-opt %s --attn-fuse-stages --attn-walk-states --split-input-file | FileCheck %s

// What sums over the state's rows and what updates them become one group; a read that the update needs comes before,
// and what the sums feed behind.
// CHECK-LABEL: attn.kernel @delta
// CHECK: attn.stage "y" axes ["i", "e"] : <1, 3>
// CHECK: attn.stage "r" axes ["i", "e"] group 2 : <1, 3>
// CHECK: } {walk}
// CHECK: attn.stage "S" axes ["c", "e"] group 2 : <2, 3>
// CHECK: } {walk}
// CHECK: attn.stage "out" axes ["i", "e"] group 3 : <1, 3>
// CHECK-NOT: walk
// CHECK: attn.emit
attn.kernel @delta form "recurrent" chunk 1 inputs [#attn.param<token "k">] states ["S"] out !attn.tensor<3> {
^bb0(%k: !attn.sequence<2>, %S: !attn.tensor<2, 3>):
  %c0 = arith.constant 0 : index
  %last = attn.scan whole chunk 1 carry %S : !attn.tensor<2, 3> -> !attn.tensor<2, 3> {
  ^bb0(%t: index, %s0: !attn.tensor<2, 3>):
    %kr = attn.rows %k[%t] : <2> -> <1, 2>
    %y = attn.stage "y" axes ["i", "e"] : <1, 3> {
    ^bb0(%i: index, %e: index):
      %f = attn.fold sum "c" 2 {
      ^bb0(%c: index):
        %a = attn.at %kr[%i, %c] : <1, 2>
        %b = attn.at %s0[%c, %e] : <2, 3>
        %p = attn.binary mul %a, %b : <>, <>
        attn.yield %p : !attn.tensor<>
      }
      attn.yield %f : !attn.tensor<>
    }
    %r = attn.stage "r" axes ["i", "e"] : <1, 3> {
    ^bb0(%i: index, %e: index):
      %f = attn.fold sum "c" 2 {
      ^bb0(%c: index):
        %b = attn.at %s0[%c, %e] : <2, 3>
        %u = attn.at %y[%i, %e] : <1, 3>
        %p = attn.binary sub %b, %u : <>, <>
        attn.yield %p : !attn.tensor<>
      }
      attn.yield %f : !attn.tensor<>
    }
    %out = attn.stage "out" axes ["i", "e"] : <1, 3> {
    ^bb0(%i: index, %e: index):
      %a = attn.at %r[%i, %e] : <1, 3>
      %x = attn.unary exp %a : <>
      attn.yield %x : !attn.tensor<>
    }
    attn.emit %out[%t] : <1, 3>
    %next = attn.stage "S" axes ["c", "e"] : <2, 3> {
    ^bb0(%c: index, %e: index):
      %b = attn.at %s0[%c, %e] : <2, 3>
      %u = attn.at %y[%c0, %e] : <1, 3>
      %p = attn.binary sub %b, %u : <>, <>
      attn.yield %p : !attn.tensor<>
    }
    attn.yield %next : !attn.tensor<2, 3>
  }
  attn.yield %last : !attn.tensor<2, 3>
}

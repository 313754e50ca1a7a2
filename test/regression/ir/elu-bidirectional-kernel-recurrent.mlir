// RUN: lintel-opt %s -o /dev/null
module {
  attn.kernel @elu_bidirectional_recurrent form "recurrent" chunk 1 bidirectional inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] states ["S", "z"] out !attn.tensor<3> {
  ^bb0(%q: !attn.sequence<4>, %k: !attn.sequence<4>, %v: !attn.sequence<3>, %S: !attn.tensor<4, 3>, %z: !attn.tensor<4>):
    %c0 = arith.constant 0 : index
    %0 = attn.constant 1.000000e+00
    %1 = attn.constant 0.000000e+00
    %2:2 = attn.scan whole chunk 1 carry %S, %z : !attn.tensor<4, 3>, !attn.tensor<4> -> !attn.tensor<4, 3>, !attn.tensor<4> {
    ^bb0(%t: index, %arg0: !attn.tensor<4, 3>, %arg1: !attn.tensor<4>):
      %3 = attn.rows %k[%t] : <4> -> <1, 4>
      %4 = attn.rows %v[%t] : <3> -> <1, 3>
      %x0 = attn.stage "x0" axes ["i", "c"] group 1 : <1, 4> {
      ^bb0(%i: index, %c: index):
        %5 = attn.at %3[%i, %c] : <1, 4>
        %6 = attn.binary gt %5, %1 : <>, <>
        %7 = attn.binary add %5, %0 : <>, <>
        %8 = attn.binary min %5, %1 : <>, <>
        %9 = attn.unary exp %8 : <>
        %10 = attn.select %6, %7, %9 : <>, <>, <>
        attn.yield %10 : !attn.tensor<>
      }
      %S_0 = attn.stage "S" axes ["c", "e"] group 1 : <4, 3> {
      ^bb0(%c: index, %e: index):
        %5 = attn.at %arg0[%c, %e] : <4, 3>
        %6 = attn.at %x0[%c0, %c] : <1, 4>
        %7 = attn.at %4[%c0, %e] : <1, 3>
        %8 = attn.binary mul %6, %7 : <>, <>
        %9 = attn.binary add %5, %8 : <>, <>
        attn.yield %9 : !attn.tensor<>
      }
      %z_1 = attn.stage "z" axes ["c"] group 1 : <4> {
      ^bb0(%c: index):
        %5 = attn.at %arg1[%c] : <4>
        %6 = attn.at %x0[%c0, %c] : <1, 4>
        %7 = attn.binary add %5, %6 : <>, <>
        attn.yield %7 : !attn.tensor<>
      }
      attn.yield %S_0, %z_1 : !attn.tensor<4, 3>, !attn.tensor<4>
    }
    attn.scan whole chunk 1 {
    ^bb0(%t: index):
      %3 = attn.rows %q[%t] : <4> -> <1, 4>
      %x0 = attn.stage "x0" axes ["i", "c"] : <1, 4> {
      ^bb0(%i: index, %c: index):
        %4 = attn.at %3[%i, %c] : <1, 4>
        %5 = attn.binary gt %4, %1 : <>, <>
        %6 = attn.binary add %4, %0 : <>, <>
        %7 = attn.binary min %4, %1 : <>, <>
        %8 = attn.unary exp %7 : <>
        %9 = attn.select %5, %6, %8 : <>, <>, <>
        attn.yield %9 : !attn.tensor<>
      }
      %x1 = attn.stage "x1" axes ["i", "c"] : <1, 3> {
      ^bb0(%i: index, %c: index):
        %4 = attn.fold sum "r" 4 {
        ^bb0(%r: index):
          %5 = attn.at %x0[%i, %r] : <1, 4>
          %6 = attn.at %2#0[%r, %c] : <4, 3>
          %7 = attn.binary mul %5, %6 : <>, <>
          attn.yield %7 : !attn.tensor<>
        }
        attn.yield %4 : !attn.tensor<>
      }
      %x2 = attn.stage "x2" axes ["i"] : <1> {
      ^bb0(%i: index):
        %4 = attn.fold sum "r" 4 {
        ^bb0(%r: index):
          %5 = attn.at %x0[%i, %r] : <1, 4>
          %6 = attn.at %2#1[%r] : <4>
          %7 = attn.binary mul %5, %6 : <>, <>
          attn.yield %7 : !attn.tensor<>
        }
        attn.yield %4 : !attn.tensor<>
      }
      %out = attn.stage "out" axes ["i", "e"] : <1, 3> {
      ^bb0(%i: index, %e: index):
        %4 = attn.at %x1[%i, %e] : <1, 3>
        %5 = attn.at %x2[%i] : <1>
        %6 = attn.binary div %4, %5 : <>, <>
        attn.yield %6 : !attn.tensor<>
      }
      attn.emit %out[%t] : <1, 3>
      attn.yield
    }
    attn.yield %2#0, %2#1 : !attn.tensor<4, 3>, !attn.tensor<4>
  }
}

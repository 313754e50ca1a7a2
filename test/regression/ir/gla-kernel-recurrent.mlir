// RUN: lintel-opt %s -o /dev/null
module {
  attn.kernel @gla_recurrent form "recurrent" chunk 1 inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "g">] states ["S"] out !attn.tensor<3> {
  ^bb0(%q: !attn.sequence<4>, %k: !attn.sequence<4>, %v: !attn.sequence<3>, %g: !attn.sequence<4>, %S: !attn.tensor<4, 3>):
    %c0 = arith.constant 0 : index
    %0 = attn.constant 5.000000e-01
    %1 = attn.scan whole chunk 1 carry %S : !attn.tensor<4, 3> -> !attn.tensor<4, 3> {
    ^bb0(%t: index, %arg0: !attn.tensor<4, 3>):
      %2 = attn.rows %q[%t] : <4> -> <1, 4>
      %3 = attn.rows %k[%t] : <4> -> <1, 4>
      %4 = attn.rows %v[%t] : <3> -> <1, 3>
      %5 = attn.rows %g[%t] : <4> -> <1, 4>
      %x0 = attn.stage "x0" axes ["i", "c"] : <1, 4> {
      ^bb0(%i: index, %c: index):
        %6 = attn.at %2[%i, %c] : <1, 4>
        %7 = attn.binary mul %6, %0 : <>, <>
        attn.yield %7 : !attn.tensor<>
      }
      %x1 = attn.stage "x1" axes ["i", "c"] : <1, 4> {
      ^bb0(%i: index, %c: index):
        %6 = attn.at %5[%i, %c] : <1, 4>
        %7 = attn.unary exp %6 : <>
        attn.yield %7 : !attn.tensor<>
      }
      %out = attn.stage "out" axes ["i", "e"] : <1, 3> {
      ^bb0(%i: index, %e: index):
        %6 = attn.fold sum "r" 4 {
        ^bb0(%r: index):
          %7 = attn.at %x0[%i, %r] : <1, 4>
          %8 = attn.at %x1[%i, %r] : <1, 4>
          %9 = attn.at %arg0[%r, %e] : <4, 3>
          %10 = attn.binary mul %8, %9 : <>, <>
          %11 = attn.at %3[%i, %r] : <1, 4>
          %12 = attn.at %4[%i, %e] : <1, 3>
          %13 = attn.binary mul %11, %12 : <>, <>
          %14 = attn.binary add %10, %13 : <>, <>
          %15 = attn.binary mul %7, %14 : <>, <>
          attn.yield %15 : !attn.tensor<>
        }
        attn.yield %6 : !attn.tensor<>
      }
      attn.emit %out[%t] : <1, 3>
      %S_0 = attn.stage "S" axes ["c", "e"] group 1 : <4, 3> {
      ^bb0(%c: index, %e: index):
        %6 = attn.at %x1[%c0, %c] : <1, 4>
        %7 = attn.at %arg0[%c, %e] : <4, 3>
        %8 = attn.binary mul %6, %7 : <>, <>
        %9 = attn.at %3[%c0, %c] : <1, 4>
        %10 = attn.at %4[%c0, %e] : <1, 3>
        %11 = attn.binary mul %9, %10 : <>, <>
        %12 = attn.binary add %8, %11 : <>, <>
        attn.yield %12 : !attn.tensor<>
      }
      attn.yield %S_0 : !attn.tensor<4, 3>
    }
    attn.yield %1 : !attn.tensor<4, 3>
  }
}

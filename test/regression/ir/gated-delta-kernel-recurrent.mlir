// RUN: lintel-opt %s -o /dev/null
module {
  attn.kernel @gated_delta_recurrent form "recurrent" chunk 1 inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "g">, #attn.param<token "beta">] states ["S"] out !attn.tensor<3> {
  ^bb0(%q: !attn.sequence<4>, %k: !attn.sequence<4>, %v: !attn.sequence<3>, %g: !attn.sequence<>, %beta: !attn.sequence<>, %S: !attn.tensor<4, 3>):
    %c0 = arith.constant 0 : index
    %0 = attn.scan whole chunk 1 carry %S : !attn.tensor<4, 3> -> !attn.tensor<4, 3> {
    ^bb0(%t: index, %arg0: !attn.tensor<4, 3>):
      %1 = attn.rows %q[%t] : <4> -> <1, 4>
      %2 = attn.rows %k[%t] : <4> -> <1, 4>
      %3 = attn.rows %v[%t] : <3> -> <1, 3>
      %4 = attn.rows %g[%t] : <> -> <1>
      %5 = attn.rows %beta[%t] : <> -> <1>
      %x0 = attn.stage "x0" axes ["i"] : <1> {
      ^bb0(%i: index):
        %6 = attn.at %4[%i] : <1>
        %7 = attn.unary exp %6 : <>
        attn.yield %7 : !attn.tensor<>
      }
      %x1 = attn.stage "x1" axes ["i", "c"] : <1, 3> {
      ^bb0(%i: index, %c: index):
        %6 = attn.fold sum "r" 4 {
        ^bb0(%r: index):
          %7 = attn.at %2[%i, %r] : <1, 4>
          %8 = attn.at %x0[%i] : <1>
          %9 = attn.at %arg0[%r, %c] : <4, 3>
          %10 = attn.binary mul %8, %9 : <>, <>
          %11 = attn.binary mul %7, %10 : <>, <>
          attn.yield %11 : !attn.tensor<>
        }
        attn.yield %6 : !attn.tensor<>
      }
      %x2 = attn.stage "x2" axes ["i", "c"] : <1, 3> {
      ^bb0(%i: index, %c: index):
        %6 = attn.at %3[%i, %c] : <1, 3>
        %7 = attn.at %x1[%i, %c] : <1, 3>
        %8 = attn.binary sub %6, %7 : <>, <>
        attn.yield %8 : !attn.tensor<>
      }
      %out = attn.stage "out" axes ["i", "e"] : <1, 3> {
      ^bb0(%i: index, %e: index):
        %6 = attn.fold sum "r" 4 {
        ^bb0(%r: index):
          %7 = attn.at %1[%i, %r] : <1, 4>
          %8 = attn.at %5[%i] : <1>
          %9 = attn.at %2[%i, %r] : <1, 4>
          %10 = attn.at %x2[%i, %e] : <1, 3>
          %11 = attn.binary mul %9, %10 : <>, <>
          %12 = attn.binary mul %8, %11 : <>, <>
          %13 = attn.at %x0[%i] : <1>
          %14 = attn.at %arg0[%r, %e] : <4, 3>
          %15 = attn.binary mul %13, %14 : <>, <>
          %16 = attn.binary add %12, %15 : <>, <>
          %17 = attn.binary mul %7, %16 : <>, <>
          attn.yield %17 : !attn.tensor<>
        }
        attn.yield %6 : !attn.tensor<>
      }
      attn.emit %out[%t] : <1, 3>
      %S_0 = attn.stage "S" axes ["c", "e"] group 1 : <4, 3> {
      ^bb0(%c: index, %e: index):
        %6 = attn.at %5[%c0] : <1>
        %7 = attn.at %2[%c0, %c] : <1, 4>
        %8 = attn.at %x2[%c0, %e] : <1, 3>
        %9 = attn.binary mul %7, %8 : <>, <>
        %10 = attn.binary mul %6, %9 : <>, <>
        %11 = attn.at %x0[%c0] : <1>
        %12 = attn.at %arg0[%c, %e] : <4, 3>
        %13 = attn.binary mul %11, %12 : <>, <>
        %14 = attn.binary add %10, %13 : <>, <>
        attn.yield %14 : !attn.tensor<>
      }
      attn.yield %S_0 : !attn.tensor<4, 3>
    }
    attn.yield %0 : !attn.tensor<4, 3>
  }
}

// RUN: lintel-opt %s -o /dev/null
module {
  attn.chunkwise @elu_bidirectional_chunkwise chunk 16 bidirectional inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] states [#attn.state<"S", rank = 2, decay = -1, pairs = 1>, #attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>, #attn.read<1, inclusive = true>] prefix {
  } token {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>):
    %0 = attn.constant 0.000000e+00
    %1 = attn.binary gt %k, %0 : <4>, <>
    %2 = attn.constant 1.000000e+00
    %3 = attn.binary add %k, %2 : <4>, <>
    %4 = attn.binary min %k, %0 : <4>, <>
    %5 = attn.unary exp %4 : <4>
    %6 = attn.select %1, %3, %5 : <4>, <4>, <4>
    %7 = attn.binary gt %q, %0 : <4>, <>
    %8 = attn.binary add %q, %2 : <4>, <>
    %9 = attn.binary min %q, %0 : <4>, <>
    %10 = attn.unary exp %9 : <4>
    %11 = attn.select %7, %8, %10 : <4>, <4>, <4>
    attn.yield %6, %v, %6, %11, %11 : !attn.tensor<4>, !attn.tensor<3>, !attn.tensor<4>, !attn.tensor<4>, !attn.tensor<4>
  } combine {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %arg0: !attn.tensor<3>, %arg1: !attn.tensor<>):
    %0 = attn.binary div %arg0, %arg1 : <3>, <>
    attn.yield %0 : !attn.tensor<3>
  }
}

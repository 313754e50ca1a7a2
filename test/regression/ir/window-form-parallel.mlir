// RUN: lintel-opt %s -o /dev/null
module {
  attn.streamed @window_parallel chunk 32 window 64 inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>):
    %0 = attn.constant 6.400000e+01
    %1 = attn.constant 5.000000e-01
    %2 = attn.constant 0.000000e+00
    %3 = attn.attend %q, %k, %v causal : <4>, <4>, <3> -> <3> weights {
    ^bb0(%arg0: !attn.tensor<4>, %arg1: !attn.tensor<4>, %arg2: !attn.tensor<>):
      %4 = attn.binary lt %arg2, %0 : <>, <>
      %5 = attn.matmul %arg0, %arg1 : <4>, <4>
      %6 = attn.binary mul %5, %1 : <>, <>
      %7 = attn.unary exp %6 : <>
      %8 = attn.select %4, %7, %2 : <>, <>, <>
      attn.yield %8 : !attn.tensor<>
    } normalizer {
    ^bb0(%arg0: !attn.tensor<>):
      attn.yield %arg0 : !attn.tensor<>
    }
    attn.yield %3 : !attn.tensor<3>
  }
}

// RUN: lintel-opt %s -o /dev/null
module {
  attn.chunkwise @mamba2_chunkwise chunk 16 inputs [#attn.param<token "C">, #attn.param<token "B">, #attn.param<token "x">, #attn.param<token "dt">, #attn.param<head "A">, #attn.param<head "D">, #attn.param<head "bias">] states [#attn.state<"S", rank = 2, decay = 0, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
  } token {
  ^bb0(%C: !attn.tensor<4>, %B: !attn.tensor<4>, %x: !attn.tensor<3>, %dt: !attn.tensor<>, %A: !attn.tensor<>, %D: !attn.tensor<>, %bias: !attn.tensor<>):
    %0 = attn.unary exp %A : <>
    %1 = attn.binary add %dt, %bias : <>, <>
    %2 = attn.unary softplus %1 : <>
    %3 = attn.binary mul %0, %2 : <>, <>
    %4 = attn.unary neg %3 : <>
    %5 = attn.unary exp %4 : <>
    %6 = attn.binary mul %2, %B : <>, <4>
    attn.yield %5, %6, %x, %C : !attn.tensor<>, !attn.tensor<4>, !attn.tensor<3>, !attn.tensor<4>
  } combine {
  ^bb0(%C: !attn.tensor<4>, %B: !attn.tensor<4>, %x: !attn.tensor<3>, %dt: !attn.tensor<>, %A: !attn.tensor<>, %D: !attn.tensor<>, %bias: !attn.tensor<>, %arg0: !attn.tensor<3>):
    %0 = attn.binary mul %D, %x : <>, <3>
    %1 = attn.binary add %arg0, %0 : <3>, <3>
    attn.yield %1 : !attn.tensor<3>
  }
}

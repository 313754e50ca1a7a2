// RUN: lintel-opt %s -o /dev/null
module {
  attn.chunkwise @gla_chunkwise chunk 8 inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "g">] states [#attn.state<"S", rank = 2, decay = 1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
  } token {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %g: !attn.tensor<4>):
    %0 = attn.unary exp %g : <4>
    %1 = attn.constant 5.000000e-01
    %2 = attn.binary mul %q, %1 : <4>, <>
    attn.yield %0, %k, %v, %2 : !attn.tensor<4>, !attn.tensor<4>, !attn.tensor<3>, !attn.tensor<4>
  } combine {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %g: !attn.tensor<4>, %arg0: !attn.tensor<3>):
    attn.yield %arg0 : !attn.tensor<3>
  }
}

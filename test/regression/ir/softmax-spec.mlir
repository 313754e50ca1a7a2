// RUN: lintel-opt %s -o /dev/null
module {
  attn.spec @softmax inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] states [] {
  ^bb0(%q: !attn.tensor<dk>, %k: !attn.tensor<dk>, %v: !attn.tensor<dv>):
    %0 = attn.attend %q, %k, %v causal : <dk>, <dk>, <dv> -> <dv> weights {
    ^bb0(%arg0: !attn.tensor<dk>, %arg1: !attn.tensor<dk>, %arg2: !attn.tensor<>):
      %1 = attn.matmul %arg0, %arg1 : <dk>, <dk>
      %2 = attn.dim "dk"
      %3 = attn.unary rsqrt %2 : <>
      %4 = attn.binary mul %1, %3 : <>, <>
      %5 = attn.unary exp %4 : <>
      attn.yield %5 : !attn.tensor<>
    } normalizer {
    ^bb0(%arg0: !attn.tensor<>):
      attn.yield %arg0 : !attn.tensor<>
    }
    attn.yield %0 : !attn.tensor<dv>
  }
}

// RUN: lintel-opt %s -o /dev/null
module {
  attn.recurrent @gla_recurrent inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "g">] states ["S"] {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %g: !attn.tensor<4>, %S: !attn.tensor<4, 3>):
    %0 = attn.constant 5.000000e-01
    %1 = attn.binary mul %q, %0 : <4>, <>
    %2 = attn.unary exp %g : <4>
    %3 = attn.binary mul %2, %S : <4>, <4, 3>
    %4 = attn.outer %k, %v : <4>, <3>
    %5 = attn.binary add %3, %4 : <4, 3>, <4, 3>
    %6 = attn.matmul %1, %5 : <4>, <4, 3>
    attn.yield %6, %5 : !attn.tensor<3>, !attn.tensor<4, 3>
  } {reason = "asked for", transition = ["diagonal"]}
}

// RUN: lintel-opt %s -o /dev/null
module {
  attn.recurrent @delta_recurrent inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "beta">] states ["S"] {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %beta: !attn.tensor<>, %S: !attn.tensor<4, 3>):
    %0 = attn.matmul %k, %S : <4>, <4, 3>
    %1 = attn.binary sub %v, %0 : <3>, <3>
    %2 = attn.outer %k, %1 : <4>, <3>
    %3 = attn.binary mul %beta, %2 : <>, <4, 3>
    %4 = attn.binary add %S, %3 : <4, 3>, <4, 3>
    %5 = attn.matmul %q, %4 : <4>, <4, 3>
    attn.yield %5, %4 : !attn.tensor<3>, !attn.tensor<4, 3>
  } {not_chunkwise = "state 'S' moves by a low-rank transition, which the chunkwise form does not take; it runs recurrent", reason = "asked for", transition = ["identity plus low rank"]}
}

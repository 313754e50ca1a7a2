// RUN: lintel-opt %s -o /dev/null
module {
  attn.spec @delta inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "beta">] states ["S"] {
  ^bb0(%q: !attn.tensor<dk>, %k: !attn.tensor<dk>, %v: !attn.tensor<dv>, %beta: !attn.tensor<>, %S: !attn.tensor<dk, dv>):
    %0 = attn.matmul %k, %S : <dk>, <dk, dv>
    %1 = attn.binary sub %v, %0 : <dv>, <dv>
    %2 = attn.outer %k, %1 : <dk>, <dv>
    %3 = attn.binary mul %beta, %2 : <>, <dk, dv>
    %4 = attn.binary add %S, %3 : <dk, dv>, <dk, dv>
    %5 = attn.matmul %q, %4 : <dk>, <dk, dv>
    attn.yield %5, %4 : !attn.tensor<dv>, !attn.tensor<dk, dv>
  }
}

// RUN: lintel-opt %s -o /dev/null
module {
  attn.spec @elu_bidirectional inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] states ["S", "z"] {
  ^bb0(%q: !attn.tensor<dk>, %k: !attn.tensor<dk>, %v: !attn.tensor<dv>, %S: !attn.tensor<dk, dv>, %z: !attn.tensor<dk>):
    %0 = attn.unary elu %q : <dk>
    %1 = attn.constant 1.000000e+00
    %2 = attn.binary add %0, %1 : <dk>, <>
    %3 = attn.unary elu %k : <dk>
    %4 = attn.constant 1.000000e+00
    %5 = attn.binary add %3, %4 : <dk>, <>
    %6 = attn.outer %5, %v : <dk>, <dv>
    %7 = attn.binary add %S, %6 : <dk, dv>, <dk, dv>
    %8 = attn.binary add %z, %5 : <dk>, <dk>
    %9 = attn.final %7 : <dk, dv>
    %10 = attn.matmul %2, %9 : <dk>, <dk, dv>
    %11 = attn.final %8 : <dk>
    %12 = attn.matmul %2, %11 : <dk>, <dk>
    %13 = attn.binary div %10, %12 : <dv>, <>
    attn.yield %13, %7, %8 : !attn.tensor<dv>, !attn.tensor<dk, dv>, !attn.tensor<dk>
  }
}

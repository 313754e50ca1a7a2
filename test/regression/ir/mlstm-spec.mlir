// RUN: lintel-opt %s -o /dev/null
module {
  attn.spec @mlstm inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "i">, #attn.param<token "f">] states ["C", "n"] {
  ^bb0(%q: !attn.tensor<dk>, %k: !attn.tensor<dk>, %v: !attn.tensor<dv>, %i: !attn.tensor<>, %f: !attn.tensor<>, %C: !attn.tensor<dk, dv>, %n: !attn.tensor<dk>):
    %0 = attn.unary sigmoid %f : <>
    %1 = attn.binary mul %0, %C : <>, <dk, dv>
    %2 = attn.unary exp %i : <>
    %3 = attn.outer %k, %v : <dk>, <dv>
    %4 = attn.binary mul %2, %3 : <>, <dk, dv>
    %5 = attn.binary add %1, %4 : <dk, dv>, <dk, dv>
    %6 = attn.unary sigmoid %f : <>
    %7 = attn.binary mul %6, %n : <>, <dk>
    %8 = attn.unary exp %i : <>
    %9 = attn.binary mul %8, %k : <>, <dk>
    %10 = attn.binary add %7, %9 : <dk>, <dk>
    %11 = attn.dim "dk"
    %12 = attn.unary rsqrt %11 : <>
    %13 = attn.binary mul %q, %12 : <dk>, <>
    %14 = attn.matmul %13, %5 : <dk>, <dk, dv>
    %15 = attn.matmul %13, %10 : <dk>, <dk>
    %16 = attn.unary abs %15 : <>
    %17 = attn.constant 1.000000e+00
    %18 = attn.binary max %16, %17 : <>, <>
    %19 = attn.binary div %14, %18 : <dv>, <>
    attn.yield %19, %5, %10 : !attn.tensor<dv>, !attn.tensor<dk, dv>, !attn.tensor<dk>
  }
}

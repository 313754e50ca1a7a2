// RUN: lintel-opt %s -o /dev/null
module {
  attn.recurrent @mlstm_recurrent inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "i">, #attn.param<token "f">] states ["C", "n", "exponent"] scales [2, 2, -1] {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %i: !attn.tensor<>, %f: !attn.tensor<>, %C: !attn.tensor<4, 3>, %n: !attn.tensor<4>, %exponent: !attn.tensor<>):
    %0 = attn.constant 1.4426950408889634
    %1 = attn.binary mul %i, %0 : <>, <>
    %2 = attn.unary ceil %1 : <>
    %3 = attn.constant 1.000000e+30
    %4 = attn.binary min %2, %3 : <>, <>
    %5 = attn.constant -1.000000e+30
    %6 = attn.binary max %4, %5 : <>, <>
    %7 = attn.binary max %exponent, %6 : <>, <>
    %8 = attn.constant 0.000000e+00
    %9 = attn.binary max %8, %7 : <>, <>
    %10 = attn.binary sub %7, %9 : <>, <>
    %11 = attn.unary exp2 %10 : <>
    %12 = attn.constant 5.000000e-01
    %13 = attn.binary mul %q, %12 : <4>, <>
    %14 = attn.constant 0.693359375
    %15 = attn.binary mul %6, %14 : <>, <>
    %16 = attn.binary sub %i, %15 : <>, <>
    %17 = attn.constant -2.1219444005469057E-4
    %18 = attn.binary mul %6, %17 : <>, <>
    %19 = attn.binary sub %16, %18 : <>, <>
    %20 = attn.unary exp %19 : <>
    %21 = attn.binary sub %6, %7 : <>, <>
    %22 = attn.unary exp2 %21 : <>
    %23 = attn.binary mul %20, %22 : <>, <>
    %24 = attn.outer %k, %v : <4>, <3>
    %25 = attn.binary mul %23, %24 : <>, <4, 3>
    %26 = attn.unary sigmoid %f : <>
    %27 = attn.binary sub %exponent, %7 : <>, <>
    %28 = attn.unary exp2 %27 : <>
    %29 = attn.binary mul %26, %28 : <>, <>
    %30 = attn.binary mul %29, %C : <>, <4, 3>
    %31 = attn.binary add %25, %30 : <4, 3>, <4, 3>
    %32 = attn.matmul %13, %31 : <4>, <4, 3>
    %33 = attn.binary eq %32, %8 : <3>, <>
    %34 = attn.binary mul %23, %k : <>, <4>
    %35 = attn.binary mul %29, %n : <>, <4>
    %36 = attn.binary add %34, %35 : <4>, <4>
    %37 = attn.matmul %13, %36 : <4>, <4>
    %38 = attn.unary abs %37 : <>
    %39 = attn.binary mul %38, %11 : <>, <>
    %40 = attn.unary neg %9 : <>
    %41 = attn.unary exp2 %40 : <>
    %42 = attn.binary max %39, %41 : <>, <>
    %43 = attn.binary div %32, %42 : <3>, <>
    %44 = attn.select %33, %8, %43 : <3>, <>, <3>
    %45 = attn.binary mul %11, %44 : <>, <3>
    attn.yield %45, %31, %36, %7 : !attn.tensor<3>, !attn.tensor<4, 3>, !attn.tensor<4>, !attn.tensor<>
  } {reason = "asked for", transition = ["scalar", "scalar", "exponent"]}
}

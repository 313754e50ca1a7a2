// RUN: lintel-opt %s -o /dev/null
module {
  attn.chunkwise @mlstm_chunkwise chunk 16 inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "i">, #attn.param<token "f">] states [#attn.state<"C", rank = 2, decay = 0, pairs = 1>, #attn.state<"n", rank = 1, decay = 0, pairs = 1>] scales [2, 2] reads [#attn.read<0, inclusive = true>, #attn.read<1, inclusive = true>] prefix {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %i: !attn.tensor<>, %f: !attn.tensor<>, %arg0: !attn.tensor<>):
    %0 = attn.constant 1.4426950408889634
    %1 = attn.binary mul %i, %0 : <>, <>
    %2 = attn.unary ceil %1 : <>
    %3 = attn.constant 1.000000e+30
    %4 = attn.binary min %2, %3 : <>, <>
    %5 = attn.constant -1.000000e+30
    %6 = attn.binary max %4, %5 : <>, <>
    %7 = attn.binary max %arg0, %6 : <>, <>
    attn.yield %7 : !attn.tensor<>
  } token {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %i: !attn.tensor<>, %f: !attn.tensor<>, %arg0: !attn.tensor<>, %arg1: !attn.tensor<>):
    %0 = attn.unary sigmoid %f : <>
    %1 = attn.binary sub %arg0, %arg1 : <>, <>
    %2 = attn.unary exp2 %1 : <>
    %3 = attn.binary mul %0, %2 : <>, <>
    %4 = attn.constant 1.4426950408889634
    %5 = attn.binary mul %i, %4 : <>, <>
    %6 = attn.unary ceil %5 : <>
    %7 = attn.constant 1.000000e+30
    %8 = attn.binary min %6, %7 : <>, <>
    %9 = attn.constant -1.000000e+30
    %10 = attn.binary max %8, %9 : <>, <>
    %11 = attn.constant 0.693359375
    %12 = attn.binary mul %10, %11 : <>, <>
    %13 = attn.binary sub %i, %12 : <>, <>
    %14 = attn.constant -2.1219444005469057E-4
    %15 = attn.binary mul %10, %14 : <>, <>
    %16 = attn.binary sub %13, %15 : <>, <>
    %17 = attn.unary exp %16 : <>
    %18 = attn.binary sub %10, %arg1 : <>, <>
    %19 = attn.unary exp2 %18 : <>
    %20 = attn.binary mul %17, %19 : <>, <>
    %21 = attn.binary mul %20, %k : <>, <4>
    %22 = attn.constant 5.000000e-01
    %23 = attn.binary mul %q, %22 : <4>, <>
    attn.yield %3, %21, %v, %3, %21, %23, %23 : !attn.tensor<>, !attn.tensor<4>, !attn.tensor<3>, !attn.tensor<>, !attn.tensor<4>, !attn.tensor<4>, !attn.tensor<4>
  } combine {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<3>, %i: !attn.tensor<>, %f: !attn.tensor<>, %arg0: !attn.tensor<>, %arg1: !attn.tensor<>, %arg2: !attn.tensor<3>, %arg3: !attn.tensor<>):
    %0 = attn.constant 0.000000e+00
    %1 = attn.binary max %0, %arg1 : <>, <>
    %2 = attn.binary sub %arg1, %1 : <>, <>
    %3 = attn.unary exp2 %2 : <>
    %4 = attn.binary eq %arg2, %0 : <3>, <>
    %5 = attn.unary abs %arg3 : <>
    %6 = attn.binary mul %5, %3 : <>, <>
    %7 = attn.unary neg %1 : <>
    %8 = attn.unary exp2 %7 : <>
    %9 = attn.binary max %6, %8 : <>, <>
    %10 = attn.binary div %arg2, %9 : <3>, <>
    %11 = attn.select %4, %0, %10 : <3>, <>, <3>
    %12 = attn.binary mul %3, %11 : <>, <3>
    attn.yield %12 : !attn.tensor<3>
  }
}

// RUN: lintel-opt %s -o /dev/null
module {
  attn.spec @rotary inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<shared "frequency">] states ["S"] {
  ^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %v: !attn.tensor<dv>, %frequency: !attn.tensor<>, %S: !attn.tensor<4, dv>):
    %0 = attn.position
    %1 = attn.binary mul %0, %frequency : <>, <>
    %2 = attn.unary cos %1 : <>
    %3 = attn.position
    %4 = attn.binary mul %3, %frequency : <>, <>
    %5 = attn.unary sin %4 : <>
    %6 = attn.extract %q["0"] : <4>
    %7 = attn.binary mul %2, %6 : <>, <>
    %8 = attn.extract %q["1"] : <4>
    %9 = attn.binary mul %5, %8 : <>, <>
    %10 = attn.binary sub %7, %9 : <>, <>
    %11 = attn.extract %q["0"] : <4>
    %12 = attn.binary mul %5, %11 : <>, <>
    %13 = attn.extract %q["1"] : <4>
    %14 = attn.binary mul %2, %13 : <>, <>
    %15 = attn.binary add %12, %14 : <>, <>
    %16 = attn.extract %q["2"] : <4>
    %17 = attn.extract %q["3"] : <4>
    %18 = attn.concat %10, %15, %16, %17 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
    %19 = attn.extract %k["0"] : <4>
    %20 = attn.binary mul %2, %19 : <>, <>
    %21 = attn.extract %k["1"] : <4>
    %22 = attn.binary mul %5, %21 : <>, <>
    %23 = attn.binary sub %20, %22 : <>, <>
    %24 = attn.extract %k["0"] : <4>
    %25 = attn.binary mul %5, %24 : <>, <>
    %26 = attn.extract %k["1"] : <4>
    %27 = attn.binary mul %2, %26 : <>, <>
    %28 = attn.binary add %25, %27 : <>, <>
    %29 = attn.extract %k["2"] : <4>
    %30 = attn.extract %k["3"] : <4>
    %31 = attn.concat %23, %28, %29, %30 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
    %32 = attn.outer %31, %v : <4>, <dv>
    %33 = attn.constant 0.98999999999999999
    %34 = attn.binary mul %33, %S : <>, <4, dv>
    %35 = attn.binary add %34, %32 : <4, dv>, <4, dv>
    %36 = attn.matmul %18, %35 : <4>, <4, dv>
    attn.yield %36, %35 : !attn.tensor<dv>, !attn.tensor<4, dv>
  }
}

// RUN: lintel-opt %s -o /dev/null
module {
  attn.spec @first_last inputs [#attn.param<token "x">] states [] {
  ^bb0(%x: !attn.tensor<n>):
    %0 = attn.extract %x["0"] : <n>
    %1 = attn.constant 1.000000e+00
    %2 = attn.broadcast %1 : <> -> <n>
    %3 = attn.cumsum %2 : <n>
    %4 = attn.dim "n"
    %5 = attn.binary eq %3, %4 : <n>, <>
    %6 = attn.constant 0.000000e+00
    %7 = attn.select %5, %x, %6 : <n>, <n>, <>
    %8 = attn.reduce sum %7 : <n>
    %9 = attn.reduce sum %x : <n>
    %10 = attn.dim "n"
    %11 = attn.binary div %9, %10 : <>, <>
    %12 = attn.reduce max %x : <n>
    %13 = attn.unary neg %x : <n>
    %14 = attn.reduce max %13 : <n>
    %15 = attn.unary neg %14 : <>
    %16 = attn.cumsum %x : <n>
    %17 = attn.extract %16["0"] : <n>
    %18 = attn.concat %0, %8, %11, %12, %15, %17 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>, !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
    attn.yield %18 : !attn.tensor<6>
  }
}

// -----
module {
  attn.spec @fixed inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<head "u">] states ["S"] {
  ^bb0(%q: !attn.tensor<16>, %k: !attn.tensor<16>, %v: !attn.tensor<32>, %u: !attn.tensor<16>, %S: !attn.tensor<16, 32>):
    %0 = attn.binary mul %u, %k : <16>, <16>
    %1 = attn.outer %0, %v : <16>, <32>
    %2 = attn.binary add %S, %1 : <16, 32>, <16, 32>
    %3 = attn.matmul %q, %2 : <16>, <16, 32>
    %4 = attn.outer %k, %v : <16>, <32>
    %5 = attn.binary add %S, %4 : <16, 32>, <16, 32>
    attn.yield %3, %5 : !attn.tensor<32>, !attn.tensor<16, 32>
  }
}

// RUN: lintel-opt %s -o /dev/null
module {
  attn.spec @gla inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "g">] states ["S"] {
  ^bb0(%q: !attn.tensor<dk>, %k: !attn.tensor<dk>, %v: !attn.tensor<dv>, %g: !attn.tensor<dk>, %S: !attn.tensor<dk, dv>):
    %0 = attn.dim "dk"
    %1 = attn.unary rsqrt %0 : <>
    %2 = attn.binary mul %1, %q : <>, <dk>
    %3 = attn.outer %k, %v : <dk>, <dv>
    %4 = attn.unary exp %g : <dk>
    %5 = attn.binary mul %4, %S : <dk>, <dk, dv>
    %6 = attn.binary add %5, %3 : <dk, dv>, <dk, dv>
    %7 = attn.matmul %2, %6 : <dk>, <dk, dv>
    attn.yield %7, %6 : !attn.tensor<dv>, !attn.tensor<dk, dv>
  }
}

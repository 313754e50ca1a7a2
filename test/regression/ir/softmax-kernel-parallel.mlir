// RUN: lintel-opt %s -o /dev/null
module {
  attn.kernel @softmax_parallel form "parallel" chunk 32 inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] states [] out !attn.tensor<3> {
  ^bb0(%q: !attn.sequence<4>, %k: !attn.sequence<4>, %v: !attn.sequence<3>):
    %0 = attn.constant 0xFFF0000000000000
    %1 = attn.constant 0.000000e+00
    %2 = attn.constant -1.000000e+30
    %3 = attn.constant 5.000000e-01
    %x = attn.stage "x" axes [] : <> {
      attn.yield %3 : !attn.tensor<>
    }
    %m = attn.stage "m" axes ["i"] : <32> {
    ^bb0(%i: index):
      attn.yield %2 : !attn.tensor<>
    }
    %l = attn.stage "l" axes ["i"] : <32> {
    ^bb0(%i: index):
      attn.yield %1 : !attn.tensor<>
    }
    %acc = attn.stage "acc" axes ["i", "e"] : <32, 3> {
    ^bb0(%i: index, %e: index):
      attn.yield %1 : !attn.tensor<>
    }
    attn.scan blocks chunk 32 {
    ^bb0(%t: index):
      %4 = attn.rows %q[%t] : <4> -> <32, 4>
      %5:3 = attn.pairs %t chunk 32 queries 32 causal carry %m, %l, %acc : !attn.tensor<32>, !attn.tensor<32>, !attn.tensor<32, 3> -> !attn.tensor<32>, !attn.tensor<32>, !attn.tensor<32, 3> {
      ^bb0(%s: index, %arg0: !attn.tensor<32>, %arg1: !attn.tensor<32>, %arg2: !attn.tensor<32, 3>):
        %6 = attn.rows %k[%s] : <4> -> <32, 4>
        %7 = attn.rows %v[%s] : <3> -> <32, 3>
        %s_0 = attn.stage "s" axes ["i", "j"] group 1 : <32, 32> {
        ^bb0(%i: index, %j: index):
          %8 = arith.addi %t, %i : index
          %9 = arith.addi %s, %j : index
          %10 = attn.fold sum "r" 4 {
          ^bb0(%r_4: index):
            %17 = attn.at %4[%i, %r_4] : <32, 4>
            %18 = attn.at %6[%j, %r_4] : <32, 4>
            %19 = attn.binary mul %17, %18 : <>, <>
            attn.yield %19 : !attn.tensor<>
          }
          %11 = attn.at %x[] : <>
          %12 = attn.binary mul %10, %11 : <>, <>
          %13 = attn.number %9
          %14 = attn.number %8
          %15 = attn.binary le %13, %14 : <>, <>
          %16 = attn.select %15, %12, %0 : <>, <>, <>
          attn.yield %16 : !attn.tensor<>
        }
        %m_1 = attn.stage "m" axes ["i"] group 1 : <32> {
        ^bb0(%i: index):
          %8 = attn.at %arg0[%i] : <32>
          %9 = attn.fold max "j" 32 {
          ^bb0(%j: index):
            %11 = attn.at %s_0[%i, %j] : <32, 32>
            attn.yield %11 : !attn.tensor<>
          }
          %10 = attn.binary max %8, %9 : <>, <>
          attn.yield %10 : !attn.tensor<>
        }
        %p = attn.stage "p" axes ["i", "j"] group 1 : <32, 32> {
        ^bb0(%i: index, %j: index):
          %8 = attn.at %s_0[%i, %j] : <32, 32>
          %9 = attn.at %m_1[%i] : <32>
          %10 = attn.binary sub %8, %9 : <>, <>
          %11 = attn.unary exp %10 : <>
          attn.yield %11 : !attn.tensor<>
        }
        %rescale = attn.stage "rescale" axes ["i"] group 1 : <32> {
        ^bb0(%i: index):
          %8 = attn.at %arg0[%i] : <32>
          %9 = attn.at %m_1[%i] : <32>
          %10 = attn.binary sub %8, %9 : <>, <>
          %11 = attn.unary exp %10 : <>
          attn.yield %11 : !attn.tensor<>
        }
        %l_2 = attn.stage "l" axes ["i"] group 1 : <32> {
        ^bb0(%i: index):
          %8 = attn.at %arg1[%i] : <32>
          %9 = attn.at %rescale[%i] : <32>
          %10 = attn.binary mul %8, %9 : <>, <>
          %11 = attn.fold sum "j" 32 {
          ^bb0(%j: index):
            %13 = attn.at %p[%i, %j] : <32, 32>
            attn.yield %13 : !attn.tensor<>
          }
          %12 = attn.binary add %10, %11 : <>, <>
          attn.yield %12 : !attn.tensor<>
        }
        %acc_3 = attn.stage "acc" axes ["i", "e"] group 1 : <32, 3> {
        ^bb0(%i: index, %e: index):
          %8 = attn.at %arg2[%i, %e] : <32, 3>
          %9 = attn.at %rescale[%i] : <32>
          %10 = attn.binary mul %8, %9 : <>, <>
          %11 = attn.fold sum "j" 32 {
          ^bb0(%j: index):
            %13 = attn.at %p[%i, %j] : <32, 32>
            %14 = attn.at %7[%j, %e] : <32, 3>
            %15 = attn.binary mul %13, %14 : <>, <>
            attn.yield %15 : !attn.tensor<>
          }
          %12 = attn.binary add %10, %11 : <>, <>
          attn.yield %12 : !attn.tensor<>
        }
        attn.yield %m_1, %l_2, %acc_3 : !attn.tensor<32>, !attn.tensor<32>, !attn.tensor<32, 3>
      }
      %r = attn.stage "r" axes ["i", "e"] group 1 : <32, 3> {
      ^bb0(%i: index, %e: index):
        %6 = attn.at %5#2[%i, %e] : <32, 3>
        %7 = attn.at %5#1[%i] : <32>
        %8 = attn.binary div %6, %7 : <>, <>
        attn.yield %8 : !attn.tensor<>
      }
      attn.emit %r[%t] : <32, 3>
      attn.yield
    }
    attn.yield
  }
}

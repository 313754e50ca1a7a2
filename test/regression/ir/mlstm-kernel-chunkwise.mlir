// RUN: lintel-opt %s -o /dev/null
module {
  attn.kernel @mlstm_chunkwise form "chunkwise" chunk 16 inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<token "i">, #attn.param<token "f">] states ["C", "n"] out !attn.tensor<3> {
  ^bb0(%q: !attn.sequence<4>, %k: !attn.sequence<4>, %v: !attn.sequence<3>, %i: !attn.sequence<>, %f: !attn.sequence<>, %C: !attn.tensor<4, 3>, %n: !attn.tensor<4>):
    %0 = attn.constant 1.000000e+00
    %1 = attn.constant 5.000000e-01
    %2 = attn.constant -2.1219444005469057E-4
    %3 = attn.constant 0.693359375
    %c15 = arith.constant 15 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %4 = attn.constant 1.000000e+30
    %5 = attn.constant 1.4426950408889634
    %6 = attn.constant -1.000000e+30
    %7 = attn.constant 0.000000e+00
    %8 = attn.given
    %p = attn.stage "p" axes [] : <> {
      %11 = attn.select %8, %7, %6 : <>, <>, <>
      attn.yield %11 : !attn.tensor<>
    }
    %one = attn.stage "one" axes [] : <> {
      attn.yield %0 : !attn.tensor<>
    }
    %zero = attn.stage "zero" axes ["j"] : <16> {
    ^bb0(%j: index):
      attn.yield %7 : !attn.tensor<>
    }
    %9:3 = attn.scan whole chunk 16 carry %C, %n, %p : !attn.tensor<4, 3>, !attn.tensor<4>, !attn.tensor<> -> !attn.tensor<4, 3>, !attn.tensor<4>, !attn.tensor<> {
    ^bb0(%t: index, %arg0: !attn.tensor<4, 3>, %arg1: !attn.tensor<4>, %arg2: !attn.tensor<>):
      %11 = attn.rows %i[%t] : <> -> <16>
      %p_1 = attn.stage "p" axes ["i"] serial %arg2 : !attn.tensor<> : <16> {
      ^bb0(%i_7: index, %before: !attn.tensor<>):
        %16 = attn.at %11[%i_7] : <16>
        %17 = attn.binary mul %16, %5 : <>, <>
        %18 = attn.unary ceil %17 : <>
        %19 = attn.binary min %18, %4 : <>, <>
        %20 = attn.binary max %19, %6 : <>, <>
        %21 = attn.binary max %before, %20 : <>, <>
        attn.yield %21 : !attn.tensor<>
      }
      %p_before = attn.stage "p_before" axes ["i"] : <16> {
      ^bb0(%i_7: index):
        %16 = arith.subi %i_7, %c1 : index
        %17 = arith.maxsi %16, %c0 : index
        %18 = attn.number %i_7
        %19 = attn.number %c0
        %20 = attn.binary gt %18, %19 : <>, <>
        %21 = attn.at %p_1[%17] : <16>
        %22 = attn.at %arg2[] : <>
        %23 = attn.select %20, %21, %22 : <>, <>, <>
        attn.yield %23 : !attn.tensor<>
      }
      %12 = attn.rows %q[%t] : <4> -> <16, 4>
      %13 = attn.rows %k[%t] : <4> -> <16, 4>
      %14 = attn.rows %v[%t] : <3> -> <16, 3>
      %15 = attn.rows %f[%t] : <> -> <16>
      %a = attn.stage "a" axes ["i"] : <16> {
      ^bb0(%i_7: index):
        %16 = attn.at %15[%i_7] : <16>
        %17 = attn.unary sigmoid %16 : <>
        %18 = attn.at %p_before[%i_7] : <16>
        %19 = attn.at %p_1[%i_7] : <16>
        %20 = attn.binary sub %18, %19 : <>, <>
        %21 = attn.unary exp2 %20 : <>
        %22 = attn.binary mul %17, %21 : <>, <>
        attn.yield %22 : !attn.tensor<>
      }
      %k_2 = attn.stage "k" axes ["i", "c"] : <16, 4> {
      ^bb0(%i_7: index, %c: index):
        %16 = attn.at %11[%i_7] : <16>
        %17 = attn.binary mul %16, %5 : <>, <>
        %18 = attn.unary ceil %17 : <>
        %19 = attn.binary min %18, %4 : <>, <>
        %20 = attn.binary max %19, %6 : <>, <>
        %21 = attn.binary mul %20, %3 : <>, <>
        %22 = attn.binary sub %16, %21 : <>, <>
        %23 = attn.binary mul %20, %2 : <>, <>
        %24 = attn.binary sub %22, %23 : <>, <>
        %25 = attn.unary exp %24 : <>
        %26 = attn.at %p_1[%i_7] : <16>
        %27 = attn.binary sub %20, %26 : <>, <>
        %28 = attn.unary exp2 %27 : <>
        %29 = attn.binary mul %25, %28 : <>, <>
        %30 = attn.at %13[%i_7, %c] : <16, 4>
        %31 = attn.binary mul %29, %30 : <>, <>
        attn.yield %31 : !attn.tensor<>
      }
      %q_3 = attn.stage "q" axes ["i", "c"] : <16, 4> {
      ^bb0(%i_7: index, %c: index):
        %16 = attn.at %12[%i_7, %c] : <16, 4>
        %17 = attn.binary mul %16, %1 : <>, <>
        attn.yield %17 : !attn.tensor<>
      }
      %decay = attn.stage "decay" axes ["i"] serial %one : !attn.tensor<> : <16> {
      ^bb0(%i_7: index, %before: !attn.tensor<>):
        %16 = attn.at %a[%i_7] : <16>
        %17 = attn.binary mul %before, %16 : <>, <>
        attn.yield %17 : !attn.tensor<>
      }
      %w = attn.stage "w" axes ["i", "j"] serial %zero : !attn.tensor<16> : <16, 16> {
      ^bb0(%i_7: index, %j: index, %before: !attn.tensor<>):
        %16 = attn.at %a[%i_7] : <16>
        %17 = attn.binary mul %before, %16 : <>, <>
        %18 = attn.number %j
        %19 = attn.number %i_7
        %20 = attn.binary eq %18, %19 : <>, <>
        %21 = attn.select %20, %0, %7 : <>, <>, <>
        %22 = attn.binary lt %18, %19 : <>, <>
        %23 = attn.select %22, %17, %21 : <>, <>, <>
        attn.yield %23 : !attn.tensor<>
      }
      %qs = attn.stage "qs" axes ["i", "c"] : <16, 4> {
      ^bb0(%i_7: index, %c: index):
        %16 = attn.at %q_3[%i_7, %c] : <16, 4>
        %17 = attn.at %decay[%i_7] : <16>
        %18 = attn.binary mul %16, %17 : <>, <>
        attn.yield %18 : !attn.tensor<>
      }
      %A = attn.stage "A" axes ["i", "j"] : <16, 16> {
      ^bb0(%i_7: index, %j: index):
        %16 = attn.fold sum "c" 4 {
        ^bb0(%c: index):
          %23 = attn.at %k_2[%j, %c] : <16, 4>
          %24 = attn.at %q_3[%i_7, %c] : <16, 4>
          %25 = attn.binary mul %24, %23 : <>, <>
          attn.yield %25 : !attn.tensor<>
        }
        %17 = attn.at %w[%i_7, %j] : <16, 16>
        %18 = attn.binary mul %16, %17 : <>, <>
        %19 = attn.number %j
        %20 = attn.number %i_7
        %21 = attn.binary le %19, %20 : <>, <>
        %22 = attn.select %21, %18, %7 : <>, <>, <>
        attn.yield %22 : !attn.tensor<>
      }
      %r = attn.stage "r" axes ["i", "e"] : <16, 3> {
      ^bb0(%i_7: index, %e: index):
        %16 = attn.fold sum "c" 4 {
        ^bb0(%c: index):
          %19 = attn.at %qs[%i_7, %c] : <16, 4>
          %20 = attn.at %arg0[%c, %e] : <4, 3>
          %21 = attn.binary mul %19, %20 : <>, <>
          attn.yield %21 : !attn.tensor<>
        }
        %17 = attn.fold sum "j" 16 upto %i_7 {
        ^bb0(%j: index):
          %19 = attn.at %A[%i_7, %j] : <16, 16>
          %20 = attn.at %14[%j, %e] : <16, 3>
          %21 = attn.binary mul %19, %20 : <>, <>
          attn.yield %21 : !attn.tensor<>
        }
        %18 = attn.binary add %16, %17 : <>, <>
        attn.yield %18 : !attn.tensor<>
      }
      %r_4 = attn.stage "r" axes ["i"] : <16> {
      ^bb0(%i_7: index):
        %16 = attn.fold sum "c" 4 {
        ^bb0(%c: index):
          %19 = attn.at %qs[%i_7, %c] : <16, 4>
          %20 = attn.at %arg1[%c] : <4>
          %21 = attn.binary mul %19, %20 : <>, <>
          attn.yield %21 : !attn.tensor<>
        }
        %17 = attn.fold sum "j" 16 {
        ^bb0(%j: index):
          %19 = attn.at %A[%i_7, %j] : <16, 16>
          attn.yield %19 : !attn.tensor<>
        }
        %18 = attn.binary add %16, %17 : <>, <>
        attn.yield %18 : !attn.tensor<>
      }
      %x0 = attn.stage "x0" axes ["i"] : <16> {
      ^bb0(%i_7: index):
        %16 = attn.at %p_1[%i_7] : <16>
        %17 = attn.binary max %7, %16 : <>, <>
        %18 = attn.binary sub %16, %17 : <>, <>
        %19 = attn.unary exp2 %18 : <>
        attn.yield %19 : !attn.tensor<>
      }
      %out = attn.stage "out" axes ["i", "e"] : <16, 3> {
      ^bb0(%i_7: index, %e: index):
        %16 = attn.at %x0[%i_7] : <16>
        %17 = attn.at %r[%i_7, %e] : <16, 3>
        %18 = attn.binary eq %17, %7 : <>, <>
        %19 = attn.at %r_4[%i_7] : <16>
        %20 = attn.unary abs %19 : <>
        %21 = attn.binary mul %20, %16 : <>, <>
        %22 = attn.at %p_1[%i_7] : <16>
        %23 = attn.binary max %7, %22 : <>, <>
        %24 = attn.unary neg %23 : <>
        %25 = attn.unary exp2 %24 : <>
        %26 = attn.binary max %21, %25 : <>, <>
        %27 = attn.binary div %17, %26 : <>, <>
        %28 = attn.select %18, %7, %27 : <>, <>, <>
        %29 = attn.binary mul %16, %28 : <>, <>
        attn.yield %29 : !attn.tensor<>
      }
      attn.emit %out[%t] : <16, 3>
      %p_last = attn.stage "p_last" axes [] group 1 : <> {
        %16 = attn.at %p_1[%c15] : <16>
        attn.yield %16 : !attn.tensor<>
      }
      %ks = attn.stage "ks" axes ["j", "c"] group 1 : <16, 4> {
      ^bb0(%j: index, %c: index):
        %16 = attn.at %k_2[%j, %c] : <16, 4>
        %17 = attn.at %w[%c15, %j] : <16, 16>
        %18 = attn.binary mul %16, %17 : <>, <>
        attn.yield %18 : !attn.tensor<>
      }
      %C_5 = attn.stage "C" axes ["c", "e"] group 1 : <4, 3> {
      ^bb0(%c: index, %e: index):
        %16 = attn.at %arg0[%c, %e] : <4, 3>
        %17 = attn.at %decay[%c15] : <16>
        %18 = attn.binary mul %16, %17 : <>, <>
        %19 = attn.fold sum "j" 16 {
        ^bb0(%j: index):
          %21 = attn.at %ks[%j, %c] : <16, 4>
          %22 = attn.at %14[%j, %e] : <16, 3>
          %23 = attn.binary mul %21, %22 : <>, <>
          attn.yield %23 : !attn.tensor<>
        }
        %20 = attn.binary add %18, %19 : <>, <>
        attn.yield %20 : !attn.tensor<>
      }
      %n_6 = attn.stage "n" axes ["c"] group 1 : <4> {
      ^bb0(%c: index):
        %16 = attn.at %arg1[%c] : <4>
        %17 = attn.at %decay[%c15] : <16>
        %18 = attn.binary mul %16, %17 : <>, <>
        %19 = attn.fold sum "j" 16 {
        ^bb0(%j: index):
          %21 = attn.at %ks[%j, %c] : <16, 4>
          attn.yield %21 : !attn.tensor<>
        }
        %20 = attn.binary add %18, %19 : <>, <>
        attn.yield %20 : !attn.tensor<>
      }
      attn.yield %C_5, %n_6, %p_last : !attn.tensor<4, 3>, !attn.tensor<4>, !attn.tensor<>
    }
    %one_0 = attn.stage "one" axes [] group 1 : <> {
      attn.yield %0 : !attn.tensor<>
    }
    %10:3 = attn.scan rest chunk 1 from 16 carry %9#0, %9#1, %9#2 : !attn.tensor<4, 3>, !attn.tensor<4>, !attn.tensor<> -> !attn.tensor<4, 3>, !attn.tensor<4>, !attn.tensor<> {
    ^bb0(%t: index, %arg0: !attn.tensor<4, 3>, %arg1: !attn.tensor<4>, %arg2: !attn.tensor<>):
      %11 = attn.rows %i[%t] : <> -> <1>
      %p_1 = attn.stage "p" axes ["i"] serial %arg2 : !attn.tensor<> : <1> {
      ^bb0(%i_7: index, %before: !attn.tensor<>):
        %16 = attn.at %11[%i_7] : <1>
        %17 = attn.binary mul %16, %5 : <>, <>
        %18 = attn.unary ceil %17 : <>
        %19 = attn.binary min %18, %4 : <>, <>
        %20 = attn.binary max %19, %6 : <>, <>
        %21 = attn.binary max %before, %20 : <>, <>
        attn.yield %21 : !attn.tensor<>
      }
      %p_before = attn.stage "p_before" axes ["i"] : <1> {
      ^bb0(%i_7: index):
        %16 = arith.subi %i_7, %c1 : index
        %17 = arith.maxsi %16, %c0 : index
        %18 = attn.number %i_7
        %19 = attn.number %c0
        %20 = attn.binary gt %18, %19 : <>, <>
        %21 = attn.at %p_1[%17] : <1>
        %22 = attn.at %arg2[] : <>
        %23 = attn.select %20, %21, %22 : <>, <>, <>
        attn.yield %23 : !attn.tensor<>
      }
      %12 = attn.rows %q[%t] : <4> -> <1, 4>
      %13 = attn.rows %k[%t] : <4> -> <1, 4>
      %14 = attn.rows %v[%t] : <3> -> <1, 3>
      %15 = attn.rows %f[%t] : <> -> <1>
      %a = attn.stage "a" axes ["i"] : <1> {
      ^bb0(%i_7: index):
        %16 = attn.at %15[%i_7] : <1>
        %17 = attn.unary sigmoid %16 : <>
        %18 = attn.at %p_before[%i_7] : <1>
        %19 = attn.at %p_1[%i_7] : <1>
        %20 = attn.binary sub %18, %19 : <>, <>
        %21 = attn.unary exp2 %20 : <>
        %22 = attn.binary mul %17, %21 : <>, <>
        attn.yield %22 : !attn.tensor<>
      }
      %k_2 = attn.stage "k" axes ["i", "c"] : <1, 4> {
      ^bb0(%i_7: index, %c: index):
        %16 = attn.at %11[%i_7] : <1>
        %17 = attn.binary mul %16, %5 : <>, <>
        %18 = attn.unary ceil %17 : <>
        %19 = attn.binary min %18, %4 : <>, <>
        %20 = attn.binary max %19, %6 : <>, <>
        %21 = attn.binary mul %20, %3 : <>, <>
        %22 = attn.binary sub %16, %21 : <>, <>
        %23 = attn.binary mul %20, %2 : <>, <>
        %24 = attn.binary sub %22, %23 : <>, <>
        %25 = attn.unary exp %24 : <>
        %26 = attn.at %p_1[%i_7] : <1>
        %27 = attn.binary sub %20, %26 : <>, <>
        %28 = attn.unary exp2 %27 : <>
        %29 = attn.binary mul %25, %28 : <>, <>
        %30 = attn.at %13[%i_7, %c] : <1, 4>
        %31 = attn.binary mul %29, %30 : <>, <>
        attn.yield %31 : !attn.tensor<>
      }
      %q_3 = attn.stage "q" axes ["i", "c"] : <1, 4> {
      ^bb0(%i_7: index, %c: index):
        %16 = attn.at %12[%i_7, %c] : <1, 4>
        %17 = attn.binary mul %16, %1 : <>, <>
        attn.yield %17 : !attn.tensor<>
      }
      %decay = attn.stage "decay" axes ["i"] serial %one_0 : !attn.tensor<> : <1> {
      ^bb0(%i_7: index, %before: !attn.tensor<>):
        %16 = attn.at %a[%i_7] : <1>
        %17 = attn.binary mul %before, %16 : <>, <>
        attn.yield %17 : !attn.tensor<>
      }
      %qs = attn.stage "qs" axes ["i", "c"] : <1, 4> {
      ^bb0(%i_7: index, %c: index):
        %16 = attn.at %q_3[%i_7, %c] : <1, 4>
        %17 = attn.at %decay[%i_7] : <1>
        %18 = attn.binary mul %16, %17 : <>, <>
        attn.yield %18 : !attn.tensor<>
      }
      %A = attn.stage "A" axes ["i", "j"] : <1, 1> {
      ^bb0(%i_7: index, %j: index):
        %16 = attn.fold sum "c" 4 {
        ^bb0(%c: index):
          %21 = attn.at %k_2[%j, %c] : <1, 4>
          %22 = attn.at %q_3[%i_7, %c] : <1, 4>
          %23 = attn.binary mul %22, %21 : <>, <>
          attn.yield %23 : !attn.tensor<>
        }
        %17 = attn.number %j
        %18 = attn.number %i_7
        %19 = attn.binary le %17, %18 : <>, <>
        %20 = attn.select %19, %16, %7 : <>, <>, <>
        attn.yield %20 : !attn.tensor<>
      }
      %r = attn.stage "r" axes ["i", "e"] : <1, 3> {
      ^bb0(%i_7: index, %e: index):
        %16 = attn.fold sum "c" 4 {
        ^bb0(%c: index):
          %19 = attn.at %qs[%i_7, %c] : <1, 4>
          %20 = attn.at %arg0[%c, %e] : <4, 3>
          %21 = attn.binary mul %19, %20 : <>, <>
          attn.yield %21 : !attn.tensor<>
        }
        %17 = attn.fold sum "j" 1 {
        ^bb0(%j: index):
          %19 = attn.at %A[%i_7, %j] : <1, 1>
          %20 = attn.at %14[%j, %e] : <1, 3>
          %21 = attn.binary mul %19, %20 : <>, <>
          attn.yield %21 : !attn.tensor<>
        }
        %18 = attn.binary add %16, %17 : <>, <>
        attn.yield %18 : !attn.tensor<>
      }
      %r_4 = attn.stage "r" axes ["i"] : <1> {
      ^bb0(%i_7: index):
        %16 = attn.fold sum "c" 4 {
        ^bb0(%c: index):
          %19 = attn.at %qs[%i_7, %c] : <1, 4>
          %20 = attn.at %arg1[%c] : <4>
          %21 = attn.binary mul %19, %20 : <>, <>
          attn.yield %21 : !attn.tensor<>
        }
        %17 = attn.fold sum "j" 1 {
        ^bb0(%j: index):
          %19 = attn.at %A[%i_7, %j] : <1, 1>
          attn.yield %19 : !attn.tensor<>
        }
        %18 = attn.binary add %16, %17 : <>, <>
        attn.yield %18 : !attn.tensor<>
      }
      %x0 = attn.stage "x0" axes ["i"] : <1> {
      ^bb0(%i_7: index):
        %16 = attn.at %p_1[%i_7] : <1>
        %17 = attn.binary max %7, %16 : <>, <>
        %18 = attn.binary sub %16, %17 : <>, <>
        %19 = attn.unary exp2 %18 : <>
        attn.yield %19 : !attn.tensor<>
      }
      %out = attn.stage "out" axes ["i", "e"] : <1, 3> {
      ^bb0(%i_7: index, %e: index):
        %16 = attn.at %x0[%i_7] : <1>
        %17 = attn.at %r[%i_7, %e] : <1, 3>
        %18 = attn.binary eq %17, %7 : <>, <>
        %19 = attn.at %r_4[%i_7] : <1>
        %20 = attn.unary abs %19 : <>
        %21 = attn.binary mul %20, %16 : <>, <>
        %22 = attn.at %p_1[%i_7] : <1>
        %23 = attn.binary max %7, %22 : <>, <>
        %24 = attn.unary neg %23 : <>
        %25 = attn.unary exp2 %24 : <>
        %26 = attn.binary max %21, %25 : <>, <>
        %27 = attn.binary div %17, %26 : <>, <>
        %28 = attn.select %18, %7, %27 : <>, <>, <>
        %29 = attn.binary mul %16, %28 : <>, <>
        attn.yield %29 : !attn.tensor<>
      }
      attn.emit %out[%t] : <1, 3>
      %p_last = attn.stage "p_last" axes [] group 1 : <> {
        %16 = attn.at %p_1[%c0] : <1>
        attn.yield %16 : !attn.tensor<>
      }
      %C_5 = attn.stage "C" axes ["c", "e"] group 1 : <4, 3> {
      ^bb0(%c: index, %e: index):
        %16 = attn.at %arg0[%c, %e] : <4, 3>
        %17 = attn.at %decay[%c0] : <1>
        %18 = attn.binary mul %16, %17 : <>, <>
        %19 = attn.fold sum "j" 1 {
        ^bb0(%j: index):
          %21 = attn.at %k_2[%j, %c] : <1, 4>
          %22 = attn.at %14[%j, %e] : <1, 3>
          %23 = attn.binary mul %21, %22 : <>, <>
          attn.yield %23 : !attn.tensor<>
        }
        %20 = attn.binary add %18, %19 : <>, <>
        attn.yield %20 : !attn.tensor<>
      }
      %n_6 = attn.stage "n" axes ["c"] group 1 : <4> {
      ^bb0(%c: index):
        %16 = attn.at %arg1[%c] : <4>
        %17 = attn.at %decay[%c0] : <1>
        %18 = attn.binary mul %16, %17 : <>, <>
        %19 = attn.fold sum "j" 1 {
        ^bb0(%j: index):
          %21 = attn.at %k_2[%j, %c] : <1, 4>
          attn.yield %21 : !attn.tensor<>
        }
        %20 = attn.binary add %18, %19 : <>, <>
        attn.yield %20 : !attn.tensor<>
      }
      attn.yield %C_5, %n_6, %p_last : !attn.tensor<4, 3>, !attn.tensor<4>, !attn.tensor<>
    }
    %C_out = attn.stage "C_out" axes ["c", "e"] group 2 : <4, 3> {
    ^bb0(%c: index, %e: index):
      %11 = attn.at %10#0[%c, %e] : <4, 3>
      %12 = attn.at %10#2[] : <>
      %13 = attn.unary exp2 %12 : <>
      %14 = attn.binary mul %11, %13 : <>, <>
      %15 = attn.binary eq %11, %7 : <>, <>
      %16 = attn.select %15, %7, %14 : <>, <>, <>
      attn.yield %16 : !attn.tensor<>
    }
    %n_out = attn.stage "n_out" axes ["c"] group 2 : <4> {
    ^bb0(%c: index):
      %11 = attn.at %10#1[%c] : <4>
      %12 = attn.at %10#2[] : <>
      %13 = attn.unary exp2 %12 : <>
      %14 = attn.binary mul %11, %13 : <>, <>
      %15 = attn.binary eq %11, %7 : <>, <>
      %16 = attn.select %15, %7, %14 : <>, <>, <>
      attn.yield %16 : !attn.tensor<>
    }
    attn.yield %C_out, %n_out : !attn.tensor<4, 3>, !attn.tensor<4>
  }
}

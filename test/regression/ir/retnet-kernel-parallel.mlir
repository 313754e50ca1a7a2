// RUN: lintel-opt %s -o /dev/null
module {
  attn.kernel @retnet_parallel form "parallel" chunk 16 inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">, #attn.param<head "gamma">] states ["S"] out !attn.tensor<3> {
  ^bb0(%q: !attn.sequence<4>, %k: !attn.sequence<4>, %v: !attn.sequence<3>, %gamma: !attn.tensor<>, %S: !attn.tensor<4, 3>):
    %c0 = arith.constant 0 : index
    %c15 = arith.constant 15 : index
    %0 = attn.constant 0.000000e+00
    %1 = attn.constant 1.000000e+00
    %2 = attn.constant 5.000000e-01
    %one = attn.stage "one" axes [] : <> {
      attn.yield %1 : !attn.tensor<>
    }
    %decay = attn.stage "decay" axes ["i"] serial %one : !attn.tensor<> : <16> {
    ^bb0(%i: index, %before: !attn.tensor<>):
      %5 = attn.at %gamma[] : <>
      %6 = attn.binary mul %before, %5 : <>, <>
      attn.yield %6 : !attn.tensor<>
    }
    %zero = attn.stage "zero" axes ["j"] : <16> {
    ^bb0(%j: index):
      attn.yield %0 : !attn.tensor<>
    }
    %w = attn.stage "w" axes ["i", "j"] serial %zero : !attn.tensor<16> : <16, 16> {
    ^bb0(%i: index, %j: index, %before: !attn.tensor<>):
      %5 = attn.at %gamma[] : <>
      %6 = attn.binary mul %before, %5 : <>, <>
      %7 = attn.number %j
      %8 = attn.number %i
      %9 = attn.binary eq %7, %8 : <>, <>
      %10 = attn.select %9, %1, %0 : <>, <>, <>
      %11 = attn.binary lt %7, %8 : <>, <>
      %12 = attn.select %11, %6, %10 : <>, <>, <>
      attn.yield %12 : !attn.tensor<>
    }
    %between = attn.stage "between" axes [] : <> {
      attn.yield %1 : !attn.tensor<>
    }
    attn.scan blocks chunk 16 {
    ^bb0(%t: index):
      %5 = attn.rows %q[%t] : <4> -> <16, 4>
      %6 = attn.rows %k[%t] : <4> -> <16, 4>
      %7 = attn.rows %v[%t] : <3> -> <16, 3>
      %q_6 = attn.stage "q" axes ["i", "c"] : <16, 4> {
      ^bb0(%i: index, %c: index):
        %9 = attn.at %5[%i, %c] : <16, 4>
        %10 = attn.binary mul %9, %2 : <>, <>
        attn.yield %10 : !attn.tensor<>
      }
      %qs = attn.stage "qs" axes ["i", "c"] : <16, 4> {
      ^bb0(%i: index, %c: index):
        %9 = attn.at %q_6[%i, %c] : <16, 4>
        %10 = attn.at %decay[%i] : <16>
        %11 = attn.binary mul %9, %10 : <>, <>
        attn.yield %11 : !attn.tensor<>
      }
      %A = attn.stage "A" axes ["i", "j"] : <16, 16> {
      ^bb0(%i: index, %j: index):
        %9 = attn.fold sum "c" 4 {
        ^bb0(%c: index):
          %16 = attn.at %6[%j, %c] : <16, 4>
          %17 = attn.at %q_6[%i, %c] : <16, 4>
          %18 = attn.binary mul %17, %16 : <>, <>
          attn.yield %18 : !attn.tensor<>
        }
        %10 = attn.at %w[%i, %j] : <16, 16>
        %11 = attn.binary mul %9, %10 : <>, <>
        %12 = attn.number %j
        %13 = attn.number %i
        %14 = attn.binary le %12, %13 : <>, <>
        %15 = attn.select %14, %11, %0 : <>, <>, <>
        attn.yield %15 : !attn.tensor<>
      }
      %diagonal = attn.stage "diagonal" axes ["i", "e"] : <16, 3> {
      ^bb0(%i: index, %e: index):
        %9 = attn.fold sum "j" 16 upto %i {
        ^bb0(%j: index):
          %10 = attn.at %A[%i, %j] : <16, 16>
          %11 = attn.at %7[%j, %e] : <16, 3>
          %12 = attn.binary mul %10, %11 : <>, <>
          attn.yield %12 : !attn.tensor<>
        }
        attn.yield %9 : !attn.tensor<>
      }
      %8:2 = attn.pairs %t chunk 16 queries 0 causal descending carry %diagonal, %between : !attn.tensor<16, 3>, !attn.tensor<> -> !attn.tensor<16, 3>, !attn.tensor<> {
      ^bb0(%s: index, %arg0: !attn.tensor<16, 3>, %arg1: !attn.tensor<>):
        %9 = attn.rows %k[%s] : <4> -> <16, 4>
        %10 = attn.rows %v[%s] : <3> -> <16, 3>
        %ks = attn.stage "ks" axes ["j", "c"] group 1 : <16, 4> {
        ^bb0(%j: index, %c: index):
          %11 = attn.at %9[%j, %c] : <16, 4>
          %12 = attn.at %w[%c15, %j] : <16, 16>
          %13 = attn.binary mul %11, %12 : <>, <>
          attn.yield %13 : !attn.tensor<>
        }
        %A_7 = attn.stage "A" axes ["i", "j"] group 1 : <16, 16> {
        ^bb0(%i: index, %j: index):
          %11 = attn.fold sum "c" 4 {
          ^bb0(%c: index):
            %14 = attn.at %ks[%j, %c] : <16, 4>
            %15 = attn.at %qs[%i, %c] : <16, 4>
            %16 = attn.binary mul %15, %14 : <>, <>
            attn.yield %16 : !attn.tensor<>
          }
          %12 = attn.at %arg1[] : <>
          %13 = attn.binary mul %11, %12 : <>, <>
          attn.yield %13 : !attn.tensor<>
        }
        %r_8 = attn.stage "r" axes ["i", "e"] group 1 : <16, 3> {
        ^bb0(%i: index, %e: index):
          %11 = attn.at %arg0[%i, %e] : <16, 3>
          %12 = attn.fold sum "j" 16 {
          ^bb0(%j: index):
            %14 = attn.at %A_7[%i, %j] : <16, 16>
            %15 = attn.at %10[%j, %e] : <16, 3>
            %16 = attn.binary mul %14, %15 : <>, <>
            attn.yield %16 : !attn.tensor<>
          }
          %13 = attn.binary add %11, %12 : <>, <>
          attn.yield %13 : !attn.tensor<>
        }
        %between_9 = attn.stage "between" axes [] group 1 : <> {
          %11 = attn.at %arg1[] : <>
          %12 = attn.at %decay[%c15] : <16>
          %13 = attn.binary mul %11, %12 : <>, <>
          attn.yield %13 : !attn.tensor<>
        }
        attn.yield %r_8, %between_9 : !attn.tensor<16, 3>, !attn.tensor<>
      }
      %r = attn.stage "r" axes ["i", "e"] group 1 : <16, 3> {
      ^bb0(%i: index, %e: index):
        %9 = attn.fold sum "c" 4 {
        ^bb0(%c: index):
          %12 = attn.at %qs[%i, %c] : <16, 4>
          %13 = attn.at %S[%c, %e] : <4, 3>
          %14 = attn.binary mul %12, %13 : <>, <>
          %15 = attn.at %8#1[] : <>
          %16 = attn.binary mul %14, %15 : <>, <>
          attn.yield %16 : !attn.tensor<>
        }
        %10 = attn.at %8#0[%i, %e] : <16, 3>
        %11 = attn.binary add %10, %9 : <>, <>
        attn.yield %11 : !attn.tensor<>
      }
      attn.emit %r[%t] : <16, 3>
      attn.yield
    }
    %one_0 = attn.stage "one" axes [] group 1 : <> {
      attn.yield %1 : !attn.tensor<>
    }
    %decay_1 = attn.stage "decay" axes ["i"] serial %one_0 : !attn.tensor<> group 1 : <16> {
    ^bb0(%i: index, %before: !attn.tensor<>):
      %5 = attn.at %gamma[] : <>
      %6 = attn.binary mul %before, %5 : <>, <>
      attn.yield %6 : !attn.tensor<>
    }
    %zero_2 = attn.stage "zero" axes ["j"] group 1 : <16> {
    ^bb0(%j: index):
      attn.yield %0 : !attn.tensor<>
    }
    %w_3 = attn.stage "w" axes ["i", "j"] serial %zero_2 : !attn.tensor<16> group 1 : <16, 16> {
    ^bb0(%i: index, %j: index, %before: !attn.tensor<>):
      %5 = attn.at %gamma[] : <>
      %6 = attn.binary mul %before, %5 : <>, <>
      %7 = attn.number %j
      %8 = attn.number %i
      %9 = attn.binary eq %7, %8 : <>, <>
      %10 = attn.select %9, %1, %0 : <>, <>, <>
      %11 = attn.binary lt %7, %8 : <>, <>
      %12 = attn.select %11, %6, %10 : <>, <>, <>
      attn.yield %12 : !attn.tensor<>
    }
    %3 = attn.scan whole chunk 16 carry %S : !attn.tensor<4, 3> -> !attn.tensor<4, 3> {
    ^bb0(%t: index, %arg0: !attn.tensor<4, 3>):
      %5 = attn.rows %k[%t] : <4> -> <16, 4>
      %6 = attn.rows %v[%t] : <3> -> <16, 3>
      %ks = attn.stage "ks" axes ["j", "c"] group 1 : <16, 4> {
      ^bb0(%j: index, %c: index):
        %7 = attn.at %5[%j, %c] : <16, 4>
        %8 = attn.at %w_3[%c15, %j] : <16, 16>
        %9 = attn.binary mul %7, %8 : <>, <>
        attn.yield %9 : !attn.tensor<>
      }
      %S_6 = attn.stage "S" axes ["c", "e"] group 1 : <4, 3> {
      ^bb0(%c: index, %e: index):
        %7 = attn.at %arg0[%c, %e] : <4, 3>
        %8 = attn.at %decay_1[%c15] : <16>
        %9 = attn.binary mul %7, %8 : <>, <>
        %10 = attn.fold sum "j" 16 {
        ^bb0(%j: index):
          %12 = attn.at %ks[%j, %c] : <16, 4>
          %13 = attn.at %6[%j, %e] : <16, 3>
          %14 = attn.binary mul %12, %13 : <>, <>
          attn.yield %14 : !attn.tensor<>
        }
        %11 = attn.binary add %9, %10 : <>, <>
        attn.yield %11 : !attn.tensor<>
      }
      attn.yield %S_6 : !attn.tensor<4, 3>
    }
    %one_4 = attn.stage "one" axes [] group 2 : <> {
      attn.yield %1 : !attn.tensor<>
    }
    %decay_5 = attn.stage "decay" axes ["i"] serial %one_4 : !attn.tensor<> group 2 : <1> {
    ^bb0(%i: index, %before: !attn.tensor<>):
      %5 = attn.at %gamma[] : <>
      %6 = attn.binary mul %before, %5 : <>, <>
      attn.yield %6 : !attn.tensor<>
    }
    %4 = attn.scan rest chunk 1 from 16 carry %3 : !attn.tensor<4, 3> -> !attn.tensor<4, 3> {
    ^bb0(%t: index, %arg0: !attn.tensor<4, 3>):
      %5 = attn.rows %k[%t] : <4> -> <1, 4>
      %6 = attn.rows %v[%t] : <3> -> <1, 3>
      %S_6 = attn.stage "S" axes ["c", "e"] group 1 : <4, 3> {
      ^bb0(%c: index, %e: index):
        %7 = attn.at %arg0[%c, %e] : <4, 3>
        %8 = attn.at %decay_5[%c0] : <1>
        %9 = attn.binary mul %7, %8 : <>, <>
        %10 = attn.fold sum "j" 1 {
        ^bb0(%j: index):
          %12 = attn.at %5[%j, %c] : <1, 4>
          %13 = attn.at %6[%j, %e] : <1, 3>
          %14 = attn.binary mul %12, %13 : <>, <>
          attn.yield %14 : !attn.tensor<>
        }
        %11 = attn.binary add %9, %10 : <>, <>
        attn.yield %11 : !attn.tensor<>
      }
      attn.yield %S_6 : !attn.tensor<4, 3>
    }
    attn.yield %4 : !attn.tensor<4, 3>
  }
}

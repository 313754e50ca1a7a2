// RUN: lintel-opt %s --attn-lower-form-to-stages --canonicalize --cse --split-input-file | FileCheck %s

// Products of few vectors with few others are elements of one product.
// CHECK-LABEL: attn.kernel @joined_chunkwise
// CHECK: %[[X:.+]] = attn.stage "X" axes ["i", "a", "c"] : <4, 2, 3>
// CHECK: %[[Y:.+]] = attn.stage "Y" axes ["i", "a", "c"] : <4, 2, 3>
// CHECK: %[[DOTS:.+]] = attn.stage "dots" axes ["i", "a", "b"] : <4, 2, 2>
// CHECK-NEXT: ^bb0(%[[I:.+]]: index, %[[A:.+]]: index, %[[B:.+]]: index):
// CHECK: attn.fold sum "c" 3
// CHECK-DAG: attn.at %[[X]][%[[I]], %[[A]],
// CHECK-DAG: attn.at %[[Y]][%[[I]], %[[B]],
// CHECK: attn.stage "k" axes ["i", "c"]
// CHECK-DAG: attn.at %[[DOTS]][%{{.+}}, %c0, %c0]
// CHECK-DAG: attn.at %[[DOTS]][%{{.+}}, %c0, %c1]
// CHECK-DAG: attn.at %[[DOTS]][%{{.+}}, %c1, %c0]
// CHECK-DAG: attn.at %[[DOTS]][%{{.+}}, %c1, %c1]
// CHECK-NOT: attn.fold sum "r"
attn.chunkwise @joined_chunkwise chunk 4 inputs [#attn.param<token "a">, #attn.param<token "b">, #attn.param<token "c">, #attn.param<token "d">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %c: !attn.tensor<3>, %d: !attn.tensor<3>):
  %ac = attn.matmul %a, %c : <3>, <3>
  %ad = attn.matmul %a, %d : <3>, <3>
  %bc = attn.matmul %b, %c : <3>, <3>
  %bd = attn.matmul %b, %d : <3>, <3>
  %x = attn.binary mul %ac, %ad : <>, <>
  %y = attn.binary mul %bc, %bd : <>, <>
  %xy = attn.binary add %x, %y : <>, <>
  %k = attn.binary mul %xy, %a : <>, <3>
  attn.yield %k, %a : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %c: !attn.tensor<3>, %d: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// Four norms would be a quarter of a product, and the last dots need those before them.
// CHECK-LABEL: attn.kernel @apart_chunkwise
// CHECK-NOT: "dots"
// CHECK: attn.scan rest
attn.chunkwise @apart_chunkwise chunk 4 inputs [#attn.param<token "a">, #attn.param<token "b">, #attn.param<token "c">, #attn.param<token "d">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %c: !attn.tensor<3>, %d: !attn.tensor<3>):
  %aa = attn.matmul %a, %a : <3>, <3>
  %bb = attn.matmul %b, %b : <3>, <3>
  %cc = attn.matmul %c, %c : <3>, <3>
  %dd = attn.matmul %d, %d : <3>, <3>
  %x = attn.binary mul %aa, %b : <>, <3>
  %y = attn.binary mul %bb, %c : <>, <3>
  %xy = attn.matmul %x, %y : <3>, <3>
  %xc = attn.matmul %x, %c : <3>, <3>
  %s = attn.binary add %cc, %dd : <>, <>
  %t = attn.binary add %xy, %xc : <>, <>
  %st = attn.binary mul %s, %t : <>, <>
  %k = attn.binary mul %st, %a : <>, <3>
  attn.yield %k, %a : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%a: !attn.tensor<3>, %b: !attn.tensor<3>, %c: !attn.tensor<3>, %d: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// RUN: lintel-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: attn.spec @two
// CHECK: attn.yield %{{.*}}, %{{.*}}, %{{.*}} : !attn.tensor<dv>, !attn.tensor<>, !attn.tensor<dk, dv>
// CHECK: outputs = ["out", "size"]
attn.spec @two inputs [#attn.param<token "q">, #attn.param<token "v">] states ["S"] {
^bb0(%q: !attn.tensor<dk>, %v: !attn.tensor<dv>, %S: !attn.tensor<dk, dv>):
  %u = attn.outer %q, %v : !attn.tensor<dk>, !attn.tensor<dv>
  %S1 = attn.binary add %S, %u : !attn.tensor<dk, dv>, !attn.tensor<dk, dv>
  %o = attn.matmul %q, %S1 : !attn.tensor<dk>, !attn.tensor<dk, dv>
  %n = attn.matmul %q, %q : !attn.tensor<dk>, !attn.tensor<dk>
  attn.yield %o, %n, %S1 : !attn.tensor<dv>, !attn.tensor<>, !attn.tensor<dk, dv>
} {outputs = ["out", "size"]}

// -----

// expected-error @+1 {{expected attn.yield of 2 outputs and 0 states, found 1 values}}
attn.spec @missing inputs [#attn.param<token "v">] states [] {
^bb0(%v: !attn.tensor<dv>):
  attn.yield %v : !attn.tensor<dv>
} {outputs = ["out", "size"]}

// -----

// expected-error @+1 {{expected `outputs` to be the names of two outputs or more, "out" the first, found ["size", "out"]}}
attn.spec @order inputs [#attn.param<token "v">] states [] {
^bb0(%v: !attn.tensor<dv>):
  attn.yield %v, %v : !attn.tensor<dv>, !attn.tensor<dv>
} {outputs = ["size", "out"]}

// -----

// expected-error @+1 {{expected distinct names, found 'v' twice}}
attn.spec @taken inputs [#attn.param<token "v">] states [] {
^bb0(%v: !attn.tensor<dv>):
  attn.yield %v, %v : !attn.tensor<dv>, !attn.tensor<dv>
} {outputs = ["out", "v"]}

// -----

// expected-error @+1 {{expected output 'm' to be a scalar or a vector, found '!attn.tensor<dv, dv>'}}
attn.spec @matrix inputs [#attn.param<token "v">] states [] {
^bb0(%v: !attn.tensor<dv>):
  %m = attn.outer %v, %v : !attn.tensor<dv>, !attn.tensor<dv>
  attn.yield %v, %m : !attn.tensor<dv>, !attn.tensor<dv, dv>
} {outputs = ["out", "m"]}

// -----

// CHECK-LABEL: attn.kernel @both
// CHECK-SAME: out !attn.tensor<3> others [!attn.tensor<>]
// CHECK: attn.emit %{{.*}}[%{{.*}}] : <1, 3>
// CHECK: attn.emit %{{.*}}[%{{.*}}] to 1 : <1>
attn.kernel @both form "recurrent" chunk 1 inputs [#attn.param<token "v">, #attn.param<token "x">] states [] out !attn.tensor<3> others [!attn.tensor<>] {
^bb0(%v: !attn.sequence<3>, %x: !attn.sequence<>):
  attn.scan whole chunk 1 {
  ^bb0(%t: index):
    %0 = attn.rows %v[%t] : <3> -> <1, 3>
    %1 = attn.rows %x[%t] : <> -> <1>
    attn.emit %0[%t] : <1, 3>
    attn.emit %1[%t] to 1 : <1>
    attn.yield
  }
  attn.yield
} {outputs = ["out", "size"]}

// -----

attn.kernel @wide form "recurrent" chunk 1 inputs [#attn.param<token "v">] states [] out !attn.tensor<2> {
^bb0(%v: !attn.sequence<3>):
  attn.scan whole chunk 1 {
  ^bb0(%t: index):
    %0 = attn.rows %v[%t] : <3> -> <1, 3>
    // expected-error @+1 {{expected rows of one of the outputs ('!attn.tensor<2>'), found '!attn.tensor<1, 3>' for output 0}}
    attn.emit %0[%t] : <1, 3>
    attn.yield
  }
  attn.yield
}

// RUN: lintel-opt %s --attn-bind-dimensions="dims=dk=4,dv=2" | FileCheck %s
// RUN: not lintel-opt %s --attn-bind-dimensions="dims=dk=4" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not lintel-opt %s --attn-bind-dimensions="dims=dk=4,dv=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not lintel-opt %s --attn-bind-dimensions="dims=dk=4,dk=4,dv=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not lintel-opt %s --attn-bind-dimensions="dims=dk=2,dv=2" 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not lintel-opt %s --attn-bind-dimensions="dims=dk=4000000,dv=4000000" 2>&1 | FileCheck %s --check-prefix=LARGE

// MISSING: error: expected a value for dimension 'dv', found none; give --dim dv=N
// ZERO: error: expected a dimension as NAME=VALUE with a value of at least 1, found 'dv=0'
// TWICE: error: expected each dimension once, found 'dk' twice
// INDEX: error: expected an index below 2, found 3
// LARGE: error: expected arrays of at most 2^31 elements a step, found one of 4000000 x 4000000; give a smaller --dim

// CHECK-LABEL: attn.spec @a
// CHECK: ^bb0(%q: !attn.tensor<4>, %v: !attn.tensor<2>, %S: !attn.tensor<4, 2>)
// CHECK: attn.dim "8"
// CHECK: attn.extract %q["3"] : <4>
// CHECK: attn.concat {{.*}} : !attn.tensor<2>, !attn.tensor<2>
attn.spec @a inputs [#attn.param<token "q">, #attn.param<token "v">] states ["S"] {
^bb0(%q: !attn.tensor<dk>, %v: !attn.tensor<dv>, %S: !attn.tensor<dk, dv>):
  %n = attn.dim "2*dk"
  %x = attn.extract %q["3"] : !attn.tensor<dk>
  %y = attn.binary mul %n, %x : !attn.tensor<>, !attn.tensor<>
  %z = attn.binary mul %y, %v : !attn.tensor<>, !attn.tensor<dv>
  %o = attn.concat %z, %v : !attn.tensor<dv>, !attn.tensor<dv>
  attn.yield %o, %S : !attn.tensor<2*dv>, !attn.tensor<dk, dv>
}

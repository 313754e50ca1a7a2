// RUN: lintel-opt %s --attn-derive-recurrent --attn-lower-form-to-stages | FileCheck %s

// A bound dimension that nothing folded is a number all the same.
// CHECK-LABEL: attn.kernel @scaled_recurrent
// CHECK: attn.constant 4.000000e+00
// CHECK: attn.unary rsqrt
attn.spec @scaled inputs [#attn.param<token "q">] states ["s"] {
^bb0(%q: !attn.tensor<4>, %s: !attn.tensor<4>):
  %n = attn.dim "4"
  %r = attn.unary rsqrt %n : !attn.tensor<>
  %x = attn.binary mul %q, %r : !attn.tensor<4>, !attn.tensor<>
  %s1 = attn.binary add %s, %x : !attn.tensor<4>, !attn.tensor<4>
  attn.yield %s1, %s1 : !attn.tensor<4>, !attn.tensor<4>
}

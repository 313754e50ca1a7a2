// Every form hands on the outputs that a spec names.
// RUN: lintel-opt %s --attn-derive-recurrent --attn-derive-chunkwise=chunk=4 --attn-derive-parallel=chunk=4 --attn-derive-step | FileCheck %s --check-prefix=FORM
// RUN: lintel-opt %s --attn-derive-recurrent --attn-derive-chunkwise=chunk=4 --attn-derive-parallel=chunk=4 --attn-derive-step --attn-lower-form-to-stages | FileCheck %s --check-prefix=KERNEL

// FORM: attn.recurrent @a_recurrent
// FORM: outputs = ["out", "den"]
// FORM: attn.step @a_step
// FORM: outputs = ["out", "den"]
// FORM: attn.chunkwise @a_chunkwise
// FORM: combine {
// FORM: attn.yield %{{.*}}, %{{.*}} : !attn.tensor<3>, !attn.tensor<>
// FORM-NEXT: } {outputs = ["out", "den"]}
// FORM: attn.parallel @a_parallel
// FORM: outputs = ["out", "den"]

// KERNEL-COUNT-4: out !attn.tensor<3> others [!attn.tensor<>]
// KERNEL: %den = attn.stage "den"
// KERNEL: attn.emit %den[%{{.*}}] to 1 : <4>
attn.spec @a inputs [#attn.param<token "q">, #attn.param<token "v">] states ["S", "z"] {
^bb0(%q: !attn.tensor<2>, %v: !attn.tensor<3>, %S: !attn.tensor<2, 3>, %z: !attn.tensor<2>):
  %u = attn.outer %q, %v : !attn.tensor<2>, !attn.tensor<3>
  %S1 = attn.binary add %S, %u : !attn.tensor<2, 3>, !attn.tensor<2, 3>
  %z1 = attn.binary add %z, %q : !attn.tensor<2>, !attn.tensor<2>
  %o = attn.matmul %q, %S1 : !attn.tensor<2>, !attn.tensor<2, 3>
  %n = attn.matmul %q, %z1 : !attn.tensor<2>, !attn.tensor<2>
  %a = attn.unary abs %n : !attn.tensor<>
  attn.yield %o, %a, %S1, %z1 : !attn.tensor<3>, !attn.tensor<>, !attn.tensor<2, 3>, !attn.tensor<2>
} {outputs = ["out", "den"]}

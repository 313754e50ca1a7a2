// What a pass asks for beyond what its input's verifier does is an error that says so.
// RUN: not lintel-opt %s --attn-derive-recurrent 2>&1 | FileCheck %s --check-prefix=UNBOUND
// RUN: not lintel-opt %s --attn-bind-dimensions=dims=dk=4 --attn-derive-recurrent --attn-derive-recurrent 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not lintel-opt %s --attn-bind-dimensions=dims=dk=4 --attn-derive-recurrent --attn-derive-step --attn-derive-step 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not lintel-opt %s --attn-bind-dimensions=dims=dk=4 --attn-derive-recurrent --attn-derive-chunkwise=chunk=-1 2>&1 | FileCheck %s --check-prefix=CHUNK
// RUN: not lintel-opt %s --attn-bind-dimensions=dims=dk=4 --attn-derive-parallel=chunk=5000 2>&1 | FileCheck %s --check-prefix=BLOCK

// UNBOUND: error: {{.*}}expected bound dimensions, found '!attn.tensor<dk>'; run attn-bind-dimensions first
// TWICE: error: {{.*}}expected no operator 'a_recurrent' yet, which is to be derived from this one; rename one
// STEP: error: {{.*}}expected no operator 'a_step' yet
// CHUNK: error: {{.*}}expected a chunk of at least 1, found -1
// BLOCK: error: {{.*}}expected a chunk of at most 4096, found 5000
attn.spec @a inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<dk>, %S: !attn.tensor<dk>):
  %S1 = attn.binary add %S, %x : <dk>, <dk>
  attn.yield %S1, %S1 : !attn.tensor<dk>, !attn.tensor<dk>
}

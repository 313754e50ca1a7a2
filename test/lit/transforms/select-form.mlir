// RUN: lintel-opt %s --attn-derive-recurrent --attn-derive-chunkwise=chunk=4 --attn-derive-step --attn-select-form | FileCheck %s --check-prefix=AUTO
// RUN: lintel-opt %s --attn-derive-recurrent --attn-derive-chunkwise=chunk=4 --attn-derive-step --attn-select-form=form=step | FileCheck %s --check-prefix=STEP
// RUN: not lintel-opt %s --attn-derive-recurrent --attn-derive-chunkwise=chunk=4 --attn-select-form=form=parallel 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not lintel-opt %s --attn-derive-recurrent --attn-select-form=form=fast 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not lintel-opt %s --attn-select-form 2>&1 | FileCheck %s --check-prefix=EARLY

// AUTO-NOT: attn.spec
// AUTO: attn.{{.*}} @sum_{{.*}}
// AUTO: reason = "cost a step at T=4096:
// AUTO-NOT: @sum_step
// STEP-NOT: @sum_recurrent
// STEP: attn.step @sum_step
// STEP: reason = "asked for"
// NONE: error: operator 'sum' has no parallel form; it has
// NONE-SAME: recurrent
// UNKNOWN: error: expected a form of auto, recurrent, chunkwise, parallel or step, found 'fast'
// EARLY: error: expected a derived form, found none; run the derive passes first
attn.spec @sum inputs [#attn.param<token "q">, #attn.param<token "k">] states ["z"] {
^bb0(%q: !attn.tensor<4>, %k: !attn.tensor<4>, %z: !attn.tensor<4>):
  %z1 = attn.binary add %z, %k : <4>, <4>
  %o = attn.matmul %q, %z1 : <4>, <4>
  attn.yield %o, %z1 : !attn.tensor<>, !attn.tensor<4>
}

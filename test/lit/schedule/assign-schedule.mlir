// RUN: split-file %s %t
// RUN: lintel-opt %t/k.mlir --attn-assign-schedule="vector-bits=256 registers=16" | FileCheck %s
// RUN: lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/good.sched" | FileCheck %s --check-prefix=FILE
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/illegal.sched" 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/unknown.sched" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/syntax.sched" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="file=%t/none.sched" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not lintel-opt %t/k.mlir --attn-assign-schedule="element-bits=0" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: lintel-opt %t/k.mlir --attn-assign-schedule="vector-bits=0 registers=0" | FileCheck %s --check-prefix=SCALAR
// BITS: error: expected element-bits of 16, 32 or 64, found 0
// SCALAR: schedule = #attn.schedule<"vector 1

// A state is overwritten in tiles that divide it; rows and panels fill half of the registers.
// CHECK: attn.stage "out"
// CHECK: } {schedule = #attn.schedule<"vector 8 panel 2">}
// CHECK: attn.stage "S"
// CHECK: } {schedule = #attn.schedule<"vector 8">}
// FILE: attn.stage "S"
// FILE: } {schedule = #attn.schedule<"vector 4 rows 4">}
// ILLEGAL: error: 'attn.stage' op has an illegal schedule 'vector 8 rows 5': it overwrites what it reads, so its tiles must divide its axes
// UNKNOWN: error: the schedule names a stage 'Q' that the kernel does not have; it has out S
// SYNTAX: syntax.sched:2: expected inline, vector, panel, rows, packed or direct, found 'vectors'
// NONE: error: cannot read '{{.*}}none.sched': No such file or directory

//--- good.sched
// Small tiles.
S: vector 4 rows 4
//--- illegal.sched
S: vector 8 rows 5
//--- unknown.sched
Q: vector 8
//--- syntax.sched

S: vectors 8
//--- k.mlir
attn.kernel @k form "recurrent" chunk 1 inputs [#attn.param<token "q">] states ["S"] out !attn.tensor<16> {
^bb0(%q: !attn.sequence<8>, %S: !attn.tensor<8, 16>):
  %last = attn.scan whole chunk 1 carry %S : !attn.tensor<8, 16> -> !attn.tensor<8, 16> {
  ^bb0(%t: index, %s: !attn.tensor<8, 16>):
    %r = attn.rows %q[%t] : !attn.sequence<8> -> !attn.tensor<1, 8>
    %out = attn.stage "out" axes ["i", "e"] : !attn.tensor<1, 16> {
    ^bb0(%i: index, %e: index):
      %sum = attn.fold sum "c" 8 {
      ^bb0(%c: index):
        %a = attn.at %r[%i, %c] : !attn.tensor<1, 8>
        %b = attn.at %s[%c, %e] : !attn.tensor<8, 16>
        %p = attn.binary mul %a, %b : !attn.tensor<>, !attn.tensor<>
        attn.yield %p : !attn.tensor<>
      }
      attn.yield %sum : !attn.tensor<>
    }
    attn.emit %out[%t] : !attn.tensor<1, 16>
    %next = attn.stage "S" axes ["c", "e"] group 1 : !attn.tensor<8, 16> {
    ^bb0(%c: index, %e: index):
      %b = attn.at %s[%c, %e] : !attn.tensor<8, 16>
      %two = attn.constant 2.0
      %p = attn.binary mul %b, %two : !attn.tensor<>, !attn.tensor<>
      attn.yield %p : !attn.tensor<>
    }
    attn.yield %next : !attn.tensor<8, 16>
  }
  attn.yield %last : !attn.tensor<8, 16>
}

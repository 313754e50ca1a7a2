// RUN: lintel-opt %s --lintel-hoist-allocas --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @loop
// CHECK-NEXT: memref.alloca() {alignment = 64 : i64} : memref<4xf32>
// CHECK-NEXT: memref.alloca() : memref<8xf32>
// CHECK: scf.for
// CHECK-NOT: memref.alloca
func.func @loop(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloca() {alignment = 64} : memref<4xf32>
    memref.store %f, %a[%c0] : memref<4xf32>
    %b = memref.alloca() : memref<8xf32>
    memref.store %f, %b[%c0] : memref<8xf32>
  }
  return
}

// -----

func.func @heap() -> memref<4xf32> {
  // expected-error @+1 {{kernels allocate nothing on the heap; use the scratch argument or memref.alloca}}
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}

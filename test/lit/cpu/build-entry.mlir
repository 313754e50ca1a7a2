// RUN: lintel-opt %s --lintel-cpu | FileCheck %s
// The pipeline ends in --lintel-build-entry, which needs all else lowered.

// The body's arguments carry the alias facts; inputs are read-only, states promise nothing.
// CHECK-LABEL: llvm.func internal @body(
// CHECK-SAME: %arg0: !llvm.ptr {llvm.noalias, llvm.readonly}
// CHECK-SAME: %arg7: !llvm.ptr, %arg8: !llvm.ptr,
// CHECK-SAME: %arg19: !llvm.ptr {llvm.noalias}, %arg20: !llvm.ptr {llvm.noalias}
// CHECK-SAME: {llvm.align = 64 : i64, llvm.noalias}
// CHECK-SAME: passthrough = ["noinline"]

// The entry reads lintel_item by the offsets of lintel/kernel.h.
// CHECK-LABEL: llvm.func @example_run(
// CHECK-SAME: %[[ITEM:.+]]: !llvm.ptr)
// CHECK: llvm.getelementptr %[[ITEM]][72]
// CHECK: llvm.call @body
// CHECK-NEXT: llvm.return

// A function that nothing exports is internal.
// CHECK-LABEL: llvm.func internal @helper
// CHECK-LABEL: llvm.func @shown
func.func private @body(%x: memref<?xf32, strided<[1], offset: ?>>, %xs: index, %xr: index,
    %in: memref<?xf32>, %so: memref<?xf32>, %hasIn: i1, %hasOut: i1,
    %out: memref<?xf32>, %os: index, %steps: index, %position: index, %scratch: memref<64xi8>)
    attributes {lintel.entry = "example_run", lintel.inputs = 1 : i64, lintel.states = 1 : i64} {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<?xf32, strided<[1], offset: ?>>
  memref.store %v, %out[%c0] : memref<?xf32>
  return
}
func.func @helper(%x: f32) -> f32 {
  return %x : f32
}
func.func @shown(%x: f32) -> f32 attributes {lintel.export} {
  return %x : f32
}

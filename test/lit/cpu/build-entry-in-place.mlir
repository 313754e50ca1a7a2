// A state that the body updates where it lies: in the caller's memory, or in scratch and copied at the end.
// RUN: lintel-opt %s --lintel-cpu | FileCheck %s

// CHECK-LABEL: llvm.func internal @body
// What is read at the start and what is written share nothing, as far as the body looks at both.
// CHECK-SAME: llvm.noalias, llvm.readonly
// CHECK-LABEL: llvm.func @example_run
// CHECK: %[[SCRATCH:.+]] = llvm.getelementptr %[[OWN:.+]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: %[[MEMORY:.+]] = llvm.select %{{.*}}, %[[SCRATCH]], %[[TO:.+]] : i1, !llvm.ptr
// CHECK: %[[TARGET:.+]] = llvm.select %[[WANTED:.+]], %[[TO]], %[[MEMORY]] : i1, !llvm.ptr
// CHECK: %[[BYTES:.+]] = llvm.select %[[WANTED]], %{{.*}}, %{{.*}} : i1, i64
// CHECK: llvm.call @body
// CHECK: "llvm.intr.memcpy"(%[[TARGET]], %[[MEMORY]], %[[BYTES]])
func.func private @body(%in: memref<?xf32>, %so: memref<?xf32>, %hasIn: i1, %hasOut: i1,
    %out: memref<?xf32>, %os: index, %steps: index, %position: index, %scratch: memref<64xi8>)
    attributes {lintel.entry = "example_run", lintel.inputs = 0 : i64, lintel.states = 1 : i64, lintel.in_place = array<i64: 128, 16>} {
  %c0 = arith.constant 0 : index
  %v = memref.load %in[%c0] : memref<?xf32>
  memref.store %v, %so[%c0] : memref<?xf32>
  memref.store %v, %out[%c0] : memref<?xf32>
  return
}

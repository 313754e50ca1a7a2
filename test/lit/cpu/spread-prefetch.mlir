// RUN: lintel-opt %s --lintel-spread-prefetch --canonicalize --split-input-file | FileCheck %s

// Eight rows, eight iterations: each asks for one row, and the loop in front of the work is gone.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for %[[T:.+]] =
// CHECK-NOT: lintel.prefetch
// CHECK: scf.for %[[I:.+]] = %c0 to %c8 step %c1
// CHECK: scf.for %[[R:.+]] = %{{.*}} to %{{.*}} step %c1
// CHECK-NEXT: %[[ROW:.+]] = arith.muli %[[R]], %{{.*}} : index
// CHECK-NEXT: memref.prefetch %{{.*}}[%[[ROW]]], read, locality<3>, data
// CHECK: memref.store
func.func @rows(%x: memref<?xf32>, %o: memref<?xf32>, %n: index, %stride: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %t = %c0 to %n step %c8 {
    scf.for %r = %c0 to %c8 step %c1 {
      %row = arith.muli %r, %stride : index
      memref.prefetch %x[%row], read, locality<3>, data : memref<?xf32>
    } {lintel.prefetch}
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %f, %o[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// Work that is three quarters in the second loop hides three quarters of the rows; what asks does not go into loops of
// a few instructions.
// CHECK-LABEL: func.func @shares
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// The first loop has 2 of the 8 rows: one in each of its first two iterations.
// CHECK: %[[FROM:.+]] = arith.minsi %{{.*}}, %c2
// CHECK: memref.prefetch
// CHECK: memref.store
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK: memref.prefetch
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK-NOT: memref.prefetch
// CHECK: memref.store
func.func @shares(%x: memref<?xf32>, %o: memref<?xf32>, %stride: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %r = %c0 to %c8 step %c1 {
    %row = arith.muli %r, %stride : index
    memref.prefetch %x[%row], read, locality<3>, data : memref<?xf32>
  } {lintel.prefetch}
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %f, %o[%i] : memref<?xf32>
    %j = arith.addi %i, %c4 : index
    memref.store %f, %o[%j] : memref<?xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      memref.store %f, %o[%j] : memref<?xf32>
      %k = arith.addi %j, %c4 : index
      memref.store %f, %o[%k] : memref<?xf32>
    }
  }
  return
}

// -----

// Rows that are known only behind the first loop are asked for in the second, be the first the longer one.
// CHECK-LABEL: func.func @late
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     memref.prefetch %arg0
// CHECK: %[[LATE:.*]] = arith.muli
// CHECK: scf.for
// CHECK-NOT: memref.prefetch %arg0
// CHECK:     memref.prefetch %arg1
// CHECK-NOT: lintel.prefetch
func.func @late(%x: memref<?xf32>, %y: memref<?xf32>, %o: memref<?xf32>, %stride: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  scf.for %r = %c0 to %c2 step %c1 {
    %row = arith.muli %r, %stride : index
    memref.prefetch %x[%row], read, locality<3>, data : memref<?xf32>
  } {lintel.prefetch}
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %f, %o[%i] : memref<?xf32>
  }
  %late = arith.muli %stride, %c4 : index
  scf.for %r = %c0 to %c4 step %c1 {
    %row = arith.muli %r, %late : index
    memref.prefetch %y[%row], read, locality<3>, data : memref<?xf32>
  } {lintel.prefetch}
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %f, %o[%i] : memref<?xf32>
  }
  return
}

// -----

// With nothing to hide behind it stays where it is.
// CHECK-LABEL: func.func @alone
// CHECK: memref.prefetch
// CHECK: lintel.prefetch
func.func @alone(%x: memref<?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %r = %c0 to %c8 step %c1 {
    memref.prefetch %x[%r], read, locality<3>, data : memref<?xf32>
  } {lintel.prefetch}
  scf.for %i = %c0 to %n step %c1 {
    memref.store %f, %x[%i] : memref<?xf32>
  }
  return
}

// -----

// Of two versions of the work the first is the usual one.
// CHECK-LABEL: func.func @versions
// CHECK-NOT: lintel.prefetch
// CHECK: scf.if
// CHECK: memref.prefetch
// CHECK: } else {
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @versions(%x: memref<?xf32>, %o: memref<?xf32>, %n: index, %stride: index, %f: f32, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %t = %c0 to %n step %c8 {
    scf.for %r = %c0 to %c8 step %c1 {
      %row = arith.muli %r, %stride : index
      memref.prefetch %x[%row], read, locality<3>, data : memref<?xf32>
    } {lintel.prefetch}
    scf.if %is {
      scf.for %i = %c0 to %c8 step %c1 {
        memref.store %f, %o[%i] : memref<?xf32>
      }
    } else {
      scf.for %i = %c0 to %c8 step %c1 {
        memref.store %f, %o[%i] : memref<?xf32>
      }
    } {lintel.versions}
  }
  return
}

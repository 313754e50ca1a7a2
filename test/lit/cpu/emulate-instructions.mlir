// RUN: lintel-opt %s --lintel-emulate-instructions | FileCheck %s --implicit-check-not=math.fma --implicit-check-not=math.floor --implicit-check-not=math.roundeven

// In f64 the product is exact; the sum is made odd where it is not, so that the next rounding is right.
// CHECK-LABEL: func.func @single
// CHECK: arith.mulf %{{.+}}, %{{.+}} : vector<4xf64>
// CHECK: arith.cmpf one
// CHECK: arith.truncf %{{.+}} : vector<4xf64> to vector<4xf32>
func.func @single(%a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>) -> vector<4xf32> {
  %r = math.fma %a, %b, %c : vector<4xf32>
  return %r : vector<4xf32>
}

// CHECK-LABEL: func.func @double
// CHECK: arith.constant 0x41A0000002000000 : f64
// CHECK: arith.cmpf ueq
// CHECK: scf.if
// CHECK: call @lintel_fused_multiply_add_small(
func.func @double(%a: f64, %b: f64, %c: f64) -> f64 {
  %r = math.fma %a, %b, %c : f64
  return %r : f64
}

// CHECK-LABEL: func.func @floors
// CHECK: math.copysign
func.func @floors(%a: f32, %b: vector<2xf64>) -> (f32, vector<2xf64>) {
  %r = math.floor %a : f32
  %s = math.roundeven %b : vector<2xf64>
  return %r, %s : f32, vector<2xf64>
}

// Conversions of bf16 are integers already.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: arith.truncf
// CHECK: arith.trunci %{{.+}} : i32 to i16
func.func @halves(%in: memref<1xi16>, %a: f32) {
  %zero = arith.constant 0 : index
  %h = arith.truncf %a : f32 to f16
  %bits = arith.bitcast %h : f16 to i16
  memref.store %bits, %in[%zero] : memref<1xi16>
  return
}

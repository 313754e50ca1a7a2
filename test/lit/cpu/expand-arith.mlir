// RUN: lintel-opt %s --lintel-expand-arith | FileCheck %s

// CHECK-LABEL: func.func @add
// CHECK-NOT: arith.addf %{{.+}} : bf16
// CHECK-NOT: arith.extf
// CHECK-NOT: arith.truncf
// CHECK: arith.addf %{{.+}}, %{{.+}} : f32
// CHECK: arith.cmpf uno
// CHECK: arith.bitcast %{{.+}} : i16 to bf16
func.func @add(%a: bf16, %b: bf16) -> bf16 {
  %r = arith.addf %a, %b : bf16
  return %r : bf16
}

// The processor converts between f16 and f32 itself.
// CHECK-LABEL: func.func @f16
// CHECK: arith.extf %{{.+}} : vector<4xf16> to vector<4xf32>
// CHECK: arith.mulf %{{.+}} : vector<4xf32>
// CHECK: arith.truncf %{{.+}} : vector<4xf32> to vector<4xf16>
func.func @f16(%a: vector<4xf16>) -> vector<4xf16> {
  %r = arith.mulf %a, %a : vector<4xf16>
  return %r : vector<4xf16>
}

// By way of f32 rounded to odd.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.truncf %{{.+}} : f64 to f32
// CHECK: arith.cmpf one
// CHECK: arith.truncf %{{.+}} : f32 to f16
func.func @narrow(%a: f64) -> f16 {
  %r = arith.truncf %a : f64 to f16
  return %r : f16
}

// CHECK-LABEL: func.func @ceildiv
// CHECK-NOT: arith.ceildivsi
func.func @ceildiv(%a: index, %b: index) -> index {
  %r = arith.ceildivsi %a, %b : index
  return %r : index
}

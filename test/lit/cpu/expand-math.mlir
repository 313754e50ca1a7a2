// RUN: lintel-opt %s --lintel-expand-math --split-input-file | FileCheck %s
// RUN: lintel-opt %s --lintel-expand-math --split-input-file | FileCheck %s --check-prefix=NONE
// No transcendental op is left anywhere, nor a fast-math flag on what replaced one.
// NONE-NOT: math.{{exp|log|sin|cos|tanh|erf|powf|rsqrt}}
// NONE-NOT: fastmath

// n by adding and taking away 1.5 * 2^23 (and twice the bias), two steps of the reduction, and 2^n as two factors.
// CHECK-LABEL: func.func @exp
// CHECK-SAME: %[[X:.+]]: vector<16xf32>
// CHECK: %[[MAGIC:.+]] = arith.constant dense<0x4B4000FE> : vector<16xf32>
// CHECK: %[[SHIFTED:.+]] = math.fma %{{.+}}, %{{.+}}, %[[MAGIC]]
// CHECK: arith.bitcast %[[SHIFTED]] : vector<16xf32> to vector<16xi32>
// CHECK-COUNT-2: math.fma
// CHECK: arith.shrui
// CHECK-COUNT-2: arith.shli
// CHECK: return
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.exp %x fastmath<fast> : vector<16xf32>
  return %r : vector<16xf32>
}

// -----

// Vectors of rank other than 1 are flattened.
// CHECK-LABEL: func.func @rank2
// CHECK: vector.shape_cast %{{.+}} : vector<2x3xf64> to vector<6xf64>
// CHECK: %[[R:.+]] = vector.shape_cast %{{.+}} : vector<6xf64> to vector<2x3xf64>
// CHECK: return %[[R]]
func.func @rank2(%x: vector<2x3xf64>) -> vector<2x3xf64> {
  %r = math.log %x : vector<2x3xf64>
  return %r : vector<2x3xf64>
}

// -----

// Half types: one widening, one rounding.
// CHECK-LABEL: func.func @half
// CHECK-SAME: %[[X:.+]]: vector<8xbf16>
// CHECK: arith.extf %[[X]] : vector<8xbf16> to vector<8xf32>
// CHECK: %[[R:.+]] = arith.truncf %{{.+}} : vector<8xf32> to vector<8xbf16>
// CHECK: return %[[R]]
func.func @half(%x: vector<8xbf16>) -> vector<8xbf16> {
  %r = math.tanh %x : vector<8xbf16>
  return %r : vector<8xbf16>
}

// -----

// Large arguments of sin take a branch to one shared function.
// CHECK-LABEL: func.func @sin
// CHECK: %[[ANY:.+]] = vector.reduction <or>
// CHECK: scf.if %[[ANY]]
// CHECK: scf.for
// CHECK: call @lintel_reduce_half_pi
// CHECK-LABEL: func.func @cos
// CHECK-NOT: scf.for
// CHECK: call @lintel_reduce_half_pi
// CHECK: memref.global "private" constant @lintel_two_over_pi
// CHECK: func.func private @lintel_reduce_half_pi
// CHECK-NOT: func.func private @lintel_reduce_half_pi
func.func @sin(%x: vector<4xf32>) -> vector<4xf32> {
  %r = math.sin %x : vector<4xf32>
  return %r : vector<4xf32>
}
func.func @cos(%x: f64) -> f64 {
  %r = math.cos %x : f64
  return %r : f64
}

// -----

// Instructions stay.
// CHECK-LABEL: func.func @kept
// CHECK: math.sqrt
// CHECK: math.fma
// CHECK: math.floor
func.func @kept(%x: f32) -> f32 {
  %a = math.sqrt %x : f32
  %b = math.fma %a, %x, %x : f32
  %c = math.floor %b : f32
  return %c : f32
}

// -----

// CHECK-LABEL: func.func @rsqrt
// CHECK: %[[ROOT:.+]] = math.sqrt
// CHECK: arith.divf %{{.+}}, %[[ROOT]]
func.func @rsqrt(%x: f32) -> f32 {
  %r = math.rsqrt %x : f32
  return %r : f32
}

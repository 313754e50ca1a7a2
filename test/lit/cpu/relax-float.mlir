// RUN: lintel-opt %s --lintel-relax-float | FileCheck %s

// CHECK-LABEL: func.func @flags
// CHECK: arith.addf %{{.+}}, %{{.+}} fastmath<contract> : f32
// CHECK: arith.mulf %{{.+}}, %{{.+}} fastmath<contract> : f32
// CHECK: math.exp %{{.+}} fastmath<contract> : f32
// CHECK: vector.reduction <add>, %{{.+}} fastmath<reassoc,contract>
// CHECK: vector.reduction <add>, %{{.+}} fastmath<contract>
func.func @flags(%a: f32, %b: f32, %v: vector<8xf32>) -> (f32, f32, f32) {
  %0 = arith.addf %a, %b fastmath<fast> : f32
  %1 = arith.mulf %0, %b : f32
  %2 = math.exp %1 fastmath<nnan,ninf> : f32
  %3 = vector.reduction <add>, %v fastmath<fast> : vector<8xf32> into f32
  %4 = vector.reduction <add>, %v : vector<8xf32> into f32
  return %2, %3, %4 : f32, f32, f32
}

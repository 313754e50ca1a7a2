// RUN: lintel-opt %s --lintel-relax-float | FileCheck %s

// CHECK-LABEL: func.func @flags
// CHECK: arith.addf %{{.+}}, %{{.+}} : f32
// CHECK: arith.mulf %{{.+}}, %{{.+}} : f32
// CHECK: math.exp %{{.+}} : f32
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

// CHECK-LABEL: func.func @products
// CHECK-SAME: %[[A:.+]]: vector<8xf32>, %[[B:.+]]: vector<8xf32>, %[[C:.+]]: vector<8xf32>)
// CHECK-NEXT: math.fma %[[A]], %[[B]], %[[C]] : vector<8xf32>
// CHECK-NEXT: %[[NEGATED:.+]] = arith.negf %[[C]]
// CHECK-NEXT: math.fma %[[A]], %[[B]], %[[NEGATED]]
// CHECK-NEXT: %[[FACTOR:.+]] = arith.negf %[[A]]
// CHECK-NEXT: math.fma %[[FACTOR]], %[[B]], %[[C]]
// Two products: the first fuses.
// CHECK-NEXT: %[[SECOND:.+]] = arith.mulf %[[A]], %[[C]]
// CHECK-NEXT: math.fma %[[A]], %[[B]], %[[SECOND]]
func.func @products(%a: vector<8xf32>, %b: vector<8xf32>, %c: vector<8xf32>)
    -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  %m = arith.mulf %a, %b : vector<8xf32>
  %0 = arith.addf %c, %m : vector<8xf32>
  %1 = arith.subf %m, %c : vector<8xf32>
  %2 = arith.subf %c, %m : vector<8xf32>
  %n = arith.mulf %a, %c : vector<8xf32>
  %3 = arith.addf %m, %n : vector<8xf32>
  return %0, %1, %2, %3 : vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
}

// What is used otherwise, too, is rounded for all; types without a fused instruction are left.
// CHECK-LABEL: func.func @rounded
// CHECK-NOT: fma
func.func @rounded(%a: f32, %b: f32, %h: f16) -> (f32, f32, f16) {
  %m = arith.mulf %a, %b : f32
  %top = arith.maximumf %m, %b : f32
  %0 = arith.subf %m, %top : f32
  %twice = arith.mulf %a, %a : f32
  %1 = arith.subf %twice, %twice : f32
  %half = arith.mulf %h, %h : f16
  %2 = arith.addf %half, %h : f16
  return %0, %1, %2 : f32, f32, f16
}

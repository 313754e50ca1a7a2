// RUN: lintel-opt %s --lintel-expand-math --split-input-file --verify-diagnostics

func.func @unknown(%x: f32) -> f32 {
  // expected-error @+1 {{has no expansion for CPUs}}
  %r = math.acosh %x : f32
  return %r : f32
}

// -----

func.func @scalable(%x: vector<[4]xf32>) -> vector<[4]xf32> {
  // expected-error @+1 {{expected a vector of fixed length, found 'vector<[4]xf32>'}}
  %r = math.exp %x : vector<[4]xf32>
  return %r : vector<[4]xf32>
}

// -----

func.func @wide(%x: f128) -> f128 {
  // expected-error @+1 {{expected elements of f64, f32, f16 or bf16, found 'f128'}}
  %r = math.exp %x : f128
  return %r : f128
}

// -----

func.func @tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a scalar or a vector, found 'tensor<4xf32>'}}
  %r = math.exp %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

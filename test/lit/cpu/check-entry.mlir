// RUN: lintel-opt %s --lintel-check-entry --split-input-file --verify-diagnostics

// expected-error @+1 {{expected 9 arguments for 0 inputs, 1 states and 1 outputs, found 5}}
func.func @count(%out: memref<?xf32>, %os: index, %steps: index, %position: index, %scratch: memref<64xi8>)
    attributes {lintel.entry = "e", lintel.inputs = 0 : i64, lintel.states = 1 : i64} {
  return
}

// -----

// expected-error @+1 {{expected argument 0 to be a memref of rank 1 with unit stride, found 'memref<?xf32, strided<[2]>>'}}
func.func @stride(%out: memref<?xf32, strided<[2]>>, %os: index, %steps: index, %position: index, %scratch: memref<64xi8>)
    attributes {lintel.entry = "e", lintel.inputs = 0 : i64, lintel.states = 0 : i64} {
  return
}

// -----

// expected-error @+1 {{an entry has no results}}
func.func @result(%out: memref<?xf32>, %os: index, %steps: index, %position: index, %scratch: memref<64xi8>) -> index
    attributes {lintel.entry = "e", lintel.inputs = 0 : i64, lintel.states = 0 : i64} {
  return %os : index
}

// -----

// expected-error @+1 {{expected the symbol's name as string in `lintel.entry`}}
func.func @name() attributes {lintel.entry = 1 : i64, lintel.inputs = 0 : i64, lintel.states = 0 : i64} {
  return
}

// -----

// expected-error @+1 {{expected `lintel.in_place` to be an offset and a size from 0 for each of 1 states, found array<i64: 64>}}
func.func @place(%in: memref<?xf32>, %so: memref<?xf32>, %hasIn: i1, %hasOut: i1, %out: memref<?xf32>, %os: index, %steps: index, %position: index, %scratch: memref<64xi8>)
    attributes {lintel.entry = "e", lintel.inputs = 0 : i64, lintel.states = 1 : i64, lintel.in_place = array<i64: 64>} {
  return
}

// -----

// expected-error @+1 {{expected at most 0, the number of states, in `lintel.exponents`, found 1}}
func.func @exponents(%out: memref<?xf32>, %os: index, %steps: index, %position: index, %scratch: memref<64xi8>)
    attributes {lintel.entry = "e", lintel.inputs = 0 : i64, lintel.states = 0 : i64, lintel.exponents = 1 : i64} {
  return
}

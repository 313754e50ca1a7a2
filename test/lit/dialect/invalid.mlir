// RUN: lintel-opt %s --split-input-file --verify-diagnostics

// One case for each message of the types, of shape inference and of the verifiers.

// expected-error @+1 {{expected a dimension of at least 1, found 0}}
func.func private @f(!attn.tensor<0>)

// -----

// expected-error @+1 {{expected a dimension: a name, a positive integer, or a sum of their products}}
func.func private @f(!attn.tensor<*>)

// -----

// expected-error @+1 {{expected at most 4 dimensions, found 5}}
func.func private @f(!attn.tensor<1, 2, 3, 4, 5>)

// -----

// expected-error @+1 {{expected a size of at least 1, found 0}}
func.func private @f(!attn.sequence<0>)

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M2: !attn.tensor<3, 4>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected equal shapes, a scalar, or a vector along the first axis of a matrix}}
  %r = attn.binary add %x, %M2 : <4>, <3, 4>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected the last axis of the first to match the first axis of the second}}
  %r = attn.matmul %M, %x : <4, 3>, <4>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected vectors or matrices to contract}}
  %r = attn.matmul %y, %x : <>, <4>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected two vectors}}
  %r = attn.outer %M, %x : <4, 3>, <4>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected a vector, found}}
  %r = attn.reduce sum %M : <4, 3>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected a vector, found}}
  %r = attn.cumsum %y : <>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected vectors and scalars, found}}
  %r = attn.concat %M, %x : !attn.tensor<4, 3>, !attn.tensor<4>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+2 {{expected at least one part}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = "attn.concat"() : () -> !attn.tensor<16>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected an index below 4, found 4}}
  %r = attn.extract %x["4"] : <4>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected an index of 0 or a polynomial over dimension names, found}}
  %r = attn.extract %x["-1"] : <4>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected a vector or a matrix, found}}
  %r = attn.extract %y["0"] : <>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected a matrix, found}}
  %r = attn.flatten %x : <4>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+1 {{expected a shape that broadcasts to}}
  %r = attn.broadcast %x : !attn.tensor<4> -> !attn.tensor<3>
  attn.yield %y : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">, #attn.param<token "M">, #attn.param<token "y">] states [] {
^bb0(%x: !attn.tensor<4>, %M: !attn.tensor<4, 3>, %y: !attn.tensor<>):
  // expected-error @+2 {{inferred type(s) '!attn.tensor<4>' are incompatible with return type(s) of operation '!attn.tensor<3>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = "attn.unary"(%x) {kind = 1 : i32} : (!attn.tensor<4>) -> !attn.tensor<3>
  attn.yield %y : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected each input to be an #attn.param}}
attn.spec @a inputs ["x"] states [] {
^bb0(%x: !attn.tensor<4>):
  attn.yield %x : !attn.tensor<4>
}

// -----

// expected-error @+1 {{expected distinct names, found 'x' twice}}
attn.spec @a inputs [#attn.param<token "x">] states ["x"] {
^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>):
  attn.yield %x, %S : !attn.tensor<4>, !attn.tensor<4>
}

// -----

// expected-error @+1 {{expected 2 block arguments, found 1}}
attn.spec @a inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<4>):
  attn.yield %x, %x : !attn.tensor<4>, !attn.tensor<4>
}

// -----

// expected-error @+1 {{expected tensors as block arguments, found}}
attn.spec @a inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.sequence<4>):
  attn.yield %x : !attn.sequence<4>
}

// -----

// expected-error @+1 {{expected bound dimensions, found}}
attn.recurrent @a inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<dk>):
  attn.yield %x : !attn.tensor<dk>
}

// -----

// expected-error @+1 {{expected attn.yield of the output and 1 states, found 1 values}}
attn.spec @a inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>):
  attn.yield %x : !attn.tensor<4>
}

// -----

// expected-error @+1 {{expected the output to be a scalar or a vector, found}}
attn.spec @a inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<4, 4>):
  attn.yield %x : !attn.tensor<4, 4>
}

// -----

// expected-error @+1 {{expected state 'S' to keep its shape}}
attn.spec @a inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<3>):
  attn.yield %x, %x : !attn.tensor<4>, !attn.tensor<4>
}

// -----

attn.spec @a inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>):
  // expected-error @+1 {{expected a value that is yielded as a state}}
  %f = attn.final %x : <4>
  attn.yield %f, %S : !attn.tensor<4>, !attn.tensor<4>
}

// -----

attn.spec @a inputs [#attn.param<token "q">, #attn.param<token "v">] states [] {
^bb0(%q: !attn.tensor<4>, %v: !attn.tensor<2>):
  // expected-error @+1 {{expected weights to take the query, the key and the distance}}
  %o = attn.attend %q, %q, %v causal : <4>, <4>, <2> -> <2> weights {
  ^bb0(%a: !attn.tensor<4>, %b: !attn.tensor<4>):
    %d = attn.constant 1.0
    attn.yield %d : !attn.tensor<>
  }
  attn.yield %v : !attn.tensor<2>
}

// -----

attn.spec @a inputs [#attn.param<token "q">, #attn.param<token "v">] states [] {
^bb0(%q: !attn.tensor<4>, %v: !attn.tensor<2>):
  // expected-error @+1 {{expected weights to yield one scalar}}
  %o = attn.attend %q, %q, %v causal : <4>, <4>, <2> -> <2> weights {
  ^bb0(%a: !attn.tensor<4>, %b: !attn.tensor<4>, %d: !attn.tensor<>):
    attn.yield %a : !attn.tensor<4>
  }
  attn.yield %v : !attn.tensor<2>
}

// -----

attn.spec @a inputs [#attn.param<token "q">, #attn.param<token "v">] states [] {
^bb0(%q: !attn.tensor<4>, %v: !attn.tensor<2>):
  // expected-error @+1 {{expected the normalizer to map one scalar to one scalar}}
  %o = attn.attend %q, %q, %v causal : <4>, <4>, <2> -> <2> weights {
  ^bb0(%a: !attn.tensor<4>, %b: !attn.tensor<4>, %d: !attn.tensor<>):
    attn.yield %d : !attn.tensor<>
  } normalizer {
  ^bb0(%x: !attn.tensor<4>):
    attn.yield %x : !attn.tensor<4>
  }
  attn.yield %v : !attn.tensor<2>
}

// -----

attn.spec @a inputs [#attn.param<token "q">, #attn.param<token "v">] states [] {
^bb0(%q: !attn.tensor<4>, %v: !attn.tensor<2>):
  // expected-error @+1 {{expected a result of the values' shape}}
  %o = attn.attend %q, %q, %v causal : <4>, <4>, <2> -> <3> weights {
  ^bb0(%a: !attn.tensor<4>, %b: !attn.tensor<4>, %d: !attn.tensor<>):
    attn.yield %d : !attn.tensor<>
  }
  attn.yield %v : !attn.tensor<2>
}

// -----

// expected-error @+1 {{expected a chunk of at least 1, found 0}}
attn.chunkwise @c chunk 0 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected states as #attn.state}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [1] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected the prefix to yield 1 internal states}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>):
  attn.yield
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected internal states to be scalars}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<3>):
  attn.yield %p : !attn.tensor<3>
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected a decay of rank 0 for state 'z'}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = 0, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k, %k : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected a state's pairs to be given by the token region}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 0>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected a pair of keys and values for state 'z'}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 3>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected a read of one of the states, found}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<1, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected a query for each read}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k : !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected the token region to yield 2 values, found 3}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k, %k : !attn.tensor<3>, !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected the combine region to yield the output}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield
}

// -----

// expected-error @+1 {{expected 2 block arguments, found 1}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected a chunk of at least 1, found 0}}
attn.streamed @s chunk 0 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  attn.yield %q : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected 2 block arguments, found 1}}
attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%s: !attn.sequence<2>):
  attn.yield %s : !attn.sequence<2>
}

// -----

// expected-error @+1 {{expected a sequence for a token input and a tensor for any other, found}}
attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.tensor<2>, %s: !attn.tensor<2>):
  attn.yield %s : !attn.tensor<2>
}

// -----

// expected-error @+1 {{expected attn.yield of 1 states}}
attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  attn.yield
}

// -----

// expected-error @+1 {{expected state 's' to keep its shape}}
attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %c = attn.constant 1.0
  attn.yield %c : !attn.tensor<>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %c0 = attn.constant 1.0
  // expected-error @+1 {{expected bound dimensions, found}}
  %c = attn.broadcast %c0 : <> -> <dk>
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected a chunk of at least 1, found 0}}
  attn.scan whole chunk 0 {
  ^bb0(%t: index):
    attn.yield
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected `from` exactly on a scan of the rest}}
  attn.scan whole chunk 1 from 4 {
  ^bb0(%t: index):
    attn.yield
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected a result for each carried value}}
  attn.scan whole chunk 1 carry %s : !attn.tensor<2> {
  ^bb0(%t: index, %c: !attn.tensor<2>):
    attn.yield %c : !attn.tensor<2>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected block arguments of an index and 0 carried values}}
  attn.scan whole chunk 1 {
  ^bb0(%t: !attn.tensor<>):
    attn.yield
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected attn.yield of 0 carried values}}
  attn.scan whole chunk 1 {
  ^bb0(%t: index):
    attn.yield %t : index
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected carried value 0 to keep its type}}
  %r = attn.scan whole chunk 1 carry %s : !attn.tensor<2> -> !attn.tensor<2> {
  ^bb0(%t: index, %c: !attn.tensor<2>):
    %n = attn.number %t
    attn.yield %n : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %z = arith.constant 0 : index
  // expected-error @+1 {{expected a number of queries and a window of 0 or more}}
  attn.pairs %z chunk 1 queries -1 {
  ^bb0(%t: index):
    attn.yield
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %z = arith.constant 0 : index
  // expected-error @+1 {{expected `whole` to have two numbers of steps, each 0 or more, or -1 for no bound}}
  attn.pairs %z chunk 1 queries 1 causal whole [3] {
  ^bb0(%t: index):
    attn.yield
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %z = arith.constant 0 : index
  // expected-error @+1 {{expected `whole` to have two numbers of steps}}
  attn.pairs %z chunk 1 queries 1 causal whole [3, -2] {
  ^bb0(%t: index):
    attn.yield
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %z = arith.constant 0 : index
  // expected-error @+1 {{expected `whole` without `first` and `descending`}}
  attn.pairs %z chunk 1 queries 1 causal descending whole [3, 3] {
  ^bb0(%t: index):
    attn.yield
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %z = arith.constant 0 : index
  // expected-error @+1 {{expected `cut` only beside `whole`}}
  attn.pairs %z chunk 1 queries 1 causal cut {
  ^bb0(%t: index):
    attn.yield
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %z = arith.constant 0 : index
  // expected-error @+1 {{expected keys ahead only where it is not causal}}
  attn.pairs %z chunk 1 queries 1 causal ahead 3 {
  ^bb0(%t: index):
    attn.yield
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %z = arith.constant 0 : index
  // expected-error @+1 {{expected one axis more than}}
  %r = attn.rows %x[%z] : <2> -> <2>
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %z = arith.constant 0 : index
  // expected-error @+1 {{expected rows of}}
  %r = attn.rows %x[%z] : <2> -> <4, 3>
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected 1 axis names, found 2}}
  %r = attn.stage "r" axes ["i", "j"] : <2> {
  ^bb0(%i: index):
    %n = attn.number %i
    attn.yield %n : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected distinct axes, found "i" twice}}
  %r = attn.stage "r" axes ["i", "i"] : <2, 2> {
  ^bb0(%i: index, %j: index):
    %n = attn.number %i
    attn.yield %n : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected 1 block arguments, found 2}}
  %r = attn.stage "r" axes ["i"] : <2> {
  ^bb0(%i: index, %j: index):
    %n = attn.number %i
    attn.yield %n : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected an index for each axis}}
  %r = attn.stage "r" axes ["i"] : <2> {
  ^bb0(%i: !attn.tensor<>):
    attn.yield %i : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  %c = attn.constant 1.0
  // expected-error @+1 {{expected a serial stage to have an axis}}
  %r = attn.stage "r" axes [] serial %c : !attn.tensor<> : <> {
  ^bb0(%b: !attn.tensor<>):
    attn.yield %b : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected `staggered` on a serial stage whose first axis divides the second, found '!attn.tensor<4, 2>'}}
  %r = attn.stage "r" axes ["i", "j"] serial %s : !attn.tensor<2> staggered : <4, 2> {
  ^bb0(%i: index, %j: index, %b: !attn.tensor<>):
    attn.yield %b : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected an initial value of}}
  %r = attn.stage "r" axes ["i"] serial %s : !attn.tensor<2> : <4> {
  ^bb0(%i: index, %b: !attn.tensor<>):
    attn.yield %b : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected the body to yield one scalar}}
  %r = attn.stage "r" axes ["i"] : <2> {
  ^bb0(%i: index):
    attn.yield
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected 1 indices, found 0}}
  %r = attn.at %s[] : <2>
  attn.yield %s : !attn.tensor<2>
}

// -----

// expected-error @+1 {{expected a scale for each of 1 states, found 2}}
attn.recurrent @a inputs [] states ["S"] scales [-1, -1] {
^bb0(%S: !attn.tensor<4>):
  attn.yield %S, %S : !attn.tensor<4>, !attn.tensor<4>
}

// -----

// expected-error @+1 {{expected a scale to be the index of a state or -1, found 1}}
attn.recurrent @a inputs [] states ["S"] scales [1] {
^bb0(%S: !attn.tensor<4>):
  attn.yield %S, %S : !attn.tensor<4>, !attn.tensor<4>
}

// -----

// expected-error @+1 {{expected state 1, an exponent, to be a scalar or a vector along the rows of state 0, without an exponent of its own}}
attn.recurrent @a inputs [] states ["S", "p"] scales [1, -1] {
^bb0(%S: !attn.tensor<4>, %p: !attn.tensor<3>):
  attn.yield %S, %S, %p : !attn.tensor<4>, !attn.tensor<4>, !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected a scale to be the index of an internal state or -1, found 0}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] scales [0] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected a chunk of at least 1, found -4}}
attn.chunkwise @c chunk -4 inputs [] states [] reads [] prefix {
} token {
  attn.yield
} combine {
  attn.yield
}

// -----

// expected-error @+1 {{expected one attn.attend, found 0}}
attn.streamed @s chunk 4 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  attn.yield %q : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected a window of 0 or more, found -1}}
attn.streamed @s chunk 4 window -1 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  attn.yield %q : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected steps ahead of 0 or more, or -1 for no bound, found -2}}
attn.streamed @s chunk 4 ahead -2 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  attn.yield %q : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected first steps of 0 or more, found -1}}
attn.streamed @s chunk 4 window 4 first -1 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  attn.yield %q : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected first steps only beside a window}}
attn.streamed @s chunk 4 first 2 inputs [#attn.param<token "q">] {
^bb0(%q: !attn.tensor<3>):
  attn.yield %q : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected a scalar, a vector or a matrix, found}}
attn.spec @a inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<2, 2, 2>):
  %c = attn.constant 1.0
  attn.yield %c : !attn.tensor<>
}

// -----

attn.spec @a inputs [] states [] {
^bb0:
  // expected-error @+1 {{does not belong into this region of}}
  %c = attn.start
  attn.yield %c : !attn.tensor<>
}

// -----

attn.spec @a inputs [] states [] {
^bb0:
  %c = attn.constant 1.0
  // expected-error @+1 {{expected a scalar, a vector or a matrix, found}}
  %b = attn.broadcast %c : <> -> <2, 2, 2>
  attn.yield %c : !attn.tensor<>
}

// -----

attn.recurrent @a inputs [] states [] {
^bb0:
  %c = attn.constant 1.0
  // expected-error @+1 {{expected bound dimensions, found}}
  %b = attn.broadcast %c : <> -> <dk>
  attn.yield %c : !attn.tensor<>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [] states ["s"] out !attn.tensor<2> {
^bb0(%s: !attn.tensor<2>):
  %r = attn.stage "r" axes [] : <> {
    // expected-error @+1 {{expected an extent of at least 1, found 0}}
    %f = attn.fold sum "j" 0 {
    ^bb0(%j: index):
      %n = attn.number %j
      attn.yield %n : !attn.tensor<>
    }
    attn.yield %f : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [] states ["s"] out !attn.tensor<2> {
^bb0(%s: !attn.tensor<2>):
  %r = attn.stage "r" axes [] : <> {
    // expected-error @+1 {{expected one block argument, an index}}
    %f = attn.fold sum "j" 2 {
    ^bb0(%j: !attn.tensor<>):
      attn.yield %j : !attn.tensor<>
    }
    attn.yield %f : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [] states ["s"] out !attn.tensor<2> {
^bb0(%s: !attn.tensor<2>):
  %r = attn.stage "r" axes [] : <> {
    // expected-error @+1 {{expected the body to yield one scalar}}
    %f = attn.fold sum "j" 2 {
    ^bb0(%j: index):
      attn.yield
    }
    attn.yield %f : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [] states ["s"] out !attn.tensor<2> {
^bb0(%s: !attn.tensor<2>):
  %z = arith.constant 0 : index
  %c = attn.constant 1.0
  // expected-error @+1 {{expected rows, found}}
  attn.emit %c[%z] : <>
  attn.yield %s : !attn.tensor<2>
}

// -----

attn.kernel @k form "f" chunk 1 inputs [#attn.param<token "x">] states ["s"] out !attn.tensor<2> {
^bb0(%x: !attn.sequence<2>, %s: !attn.tensor<2>):
  // expected-error @+1 {{expected a matrix of '!attn.tensor<2, 2>' to solve with, found '!attn.tensor<2>'}}
  %r = attn.stage "r" axes ["i"] solve %s : !attn.tensor<2> : <2> {
  ^bb0(%i: index):
    %c = attn.constant 1.0
    attn.yield %c : !attn.tensor<>
  }
  attn.yield %s : !attn.tensor<2>
}

// RUN: lintel-opt %s --split-input-file --verify-diagnostics

// Chunkwise and parallel forms whose regions do not fit each other.

// expected-error @+1 {{expected a chunk of at most 4096, found 4097}}
attn.chunkwise @c chunk 4097 inputs [#attn.param<token "k">] states [] reads [] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield
} combine {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected states as #attn.state, found "z"}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states ["z"] reads [] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield
} combine {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected a rank of 0 to 2 and a decay of rank -1, 0 or 1 that is not above it}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 0, decay = 1, pairs = 1>] reads [] prefix {
} token {
^bb0(%k: !attn.tensor<>):
  attn.yield %k, %k : !attn.tensor<>, !attn.tensor<>
} combine {
^bb0(%k: !attn.tensor<>):
  attn.yield %k : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected a state's pairs to be given by the token region}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = -1>] reads [] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield
} combine {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected state 'z' of rank 1, found pairs of '!attn.tensor<>'}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [] prefix {
} token {
^bb0(%k: !attn.tensor<>):
  attn.yield %k : !attn.tensor<>
} combine {
^bb0(%k: !attn.tensor<>):
  attn.yield %k : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected a decay of rank 1 for state 'z'}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">, #attn.param<token "a">] states [#attn.state<"z", rank = 1, decay = 1, pairs = 1>] reads [] prefix {
} token {
^bb0(%k: !attn.tensor<3>, %a: !attn.tensor<4>):
  attn.yield %a, %k : !attn.tensor<4>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %a: !attn.tensor<4>):
  attn.yield %k : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected a query for each read}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">, #attn.param<token "q">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>, %q: !attn.tensor<4>):
  attn.yield %k, %q : !attn.tensor<3>, !attn.tensor<4>
} combine {
^bb0(%k: !attn.tensor<3>, %q: !attn.tensor<4>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected #attn.read<0, inclusive = true> to give '!attn.tensor<>', found '!attn.tensor<3>'}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %r: !attn.tensor<3>):
  attn.yield %r : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected argument 0 of each region to be '!attn.tensor<3>', found '!attn.tensor<4>'}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [#attn.read<0, inclusive = true>] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<4>, %r: !attn.tensor<>):
  attn.yield %r : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected the output to be a scalar or a vector, found '!attn.tensor<3, 3>'}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] reads [] prefix {
} token {
^bb0(%k: !attn.tensor<3>):
  attn.yield %k : !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>):
  %o = attn.outer %k, %k : <3>, <3>
  attn.yield %o : !attn.tensor<3, 3>
}

// -----

// expected-error @+1 {{expected at most 2^31 elements, found '!attn.tensor<65536, 65536>'}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 2, decay = -1, pairs = 1>] reads [] prefix {
} token {
^bb0(%k: !attn.tensor<65536>):
  attn.yield %k, %k : !attn.tensor<65536>, !attn.tensor<65536>
} combine {
^bb0(%k: !attn.tensor<65536>):
  attn.yield %k : !attn.tensor<65536>
}

// -----

// expected-error @+1 {{expected internal state 0 to depend on itself and the inputs alone}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] scales [-1] reads [] prefix {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>, %r: !attn.tensor<>):
  %s = attn.binary add %p, %r : <>, <>
  attn.yield %s, %r : !attn.tensor<>, !attn.tensor<>
} token {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>, %r: !attn.tensor<>, %p1: !attn.tensor<>, %r1: !attn.tensor<>):
  attn.yield %k : !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>, %r: !attn.tensor<>, %p1: !attn.tensor<>, %r1: !attn.tensor<>):
  attn.yield %k : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected argument 1 of each region to be '!attn.tensor<>', found '!attn.tensor<3>'}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = -1, pairs = 1>] scales [-1] reads [] prefix {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>):
  attn.yield %p : !attn.tensor<>
} token {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<3>, %p1: !attn.tensor<>):
  attn.yield %k : !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>, %p1: !attn.tensor<>):
  attn.yield %k : !attn.tensor<3>
}

// -----

// expected-error @+2 {{expected a region of one block}}
// expected-error @+1 {{expected the prefix to take the inputs and the internal states}}
attn.chunkwise @c chunk 4 inputs [#attn.param<token "k">] states [] reads [] prefix {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>):
  attn.yield %p : !attn.tensor<>
^bb1:
  attn.yield
} token {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>, %p1: !attn.tensor<>):
  attn.yield
} combine {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>, %p1: !attn.tensor<>):
  attn.yield %k : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected no decay for each channel beside internal states}}
attn.parallel @c chunk 4 inputs [#attn.param<token "k">] states [#attn.state<"z", rank = 1, decay = 1, pairs = 1>] scales [1] reads [] prefix {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>):
  attn.yield %p : !attn.tensor<>
} token {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>, %p1: !attn.tensor<>):
  attn.yield %k, %k : !attn.tensor<3>, !attn.tensor<3>
} combine {
^bb0(%k: !attn.tensor<3>, %p: !attn.tensor<>, %p1: !attn.tensor<>):
  attn.yield %k : !attn.tensor<3>
}

// -----

// expected-error @+1 {{expected exponents behind all other states, found state 1 behind 0}}
attn.recurrent @a inputs [] states ["p", "S"] scales [-1, 0] {
^bb0(%p: !attn.tensor<>, %S: !attn.tensor<2>):
  attn.yield %p, %p, %S : !attn.tensor<>, !attn.tensor<>, !attn.tensor<2>
}

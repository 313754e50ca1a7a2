// RUN: lintel-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a chunk of at least 1, found 0}}
attn.kernel @k form "recurrent" chunk 0 inputs [#attn.param<token "x">] states [] out !attn.tensor<> {
^bb0(%x: !attn.sequence<3>):
  attn.yield
}

// -----

// expected-error @+1 {{expected bound dimensions, found '!attn.tensor<dv>'}}
attn.kernel @k form "recurrent" chunk 1 inputs [#attn.param<token "x">] states [] out !attn.tensor<dv> {
^bb0(%x: !attn.sequence<3>):
  attn.yield
}

// -----

// expected-error @+1 {{expected at most 2^56 elements, found '!attn.tensor<4294967296, 4294967296>'}}
attn.kernel @k form "recurrent" chunk 1 inputs [#attn.param<token "x">] states [] out !attn.tensor<> {
^bb0(%x: !attn.sequence<4294967296, 4294967296>):
  attn.yield
}

// -----

attn.kernel @k form "recurrent" chunk 1 inputs [#attn.param<token "x">] states [] out !attn.tensor<> {
^bb0(%x: !attn.sequence<3>):
  // expected-error @+1 {{expected at most 2^56 elements, found '!attn.tensor<4294967296, 4294967296>'}}
  %s = attn.stage "s" axes ["i", "j"] : <4294967296, 4294967296> {
  ^bb0(%i: index, %j: index):
    %0 = attn.constant 1.0
    attn.yield %0 : !attn.tensor<>
  }
  attn.yield
}

// -----

attn.kernel @k form "recurrent" chunk 1 inputs [#attn.param<token "x">] states [] out !attn.tensor<> {
^bb0(%x: !attn.sequence<3>):
  %s = attn.stage "s" axes ["i"] : <3> {
  ^bb0(%i: index):
    // expected-error @+1 {{does not belong into a stage}}
    %r = attn.rows %x[%i] : <3> -> <1, 3>
    %0 = attn.constant 1.0
    attn.yield %0 : !attn.tensor<>
  }
  attn.yield
}

// -----

attn.kernel @k form "recurrent" chunk 1 inputs [#attn.param<head "x">] states [] out !attn.tensor<> {
^bb0(%x: !attn.tensor<>):
  // expected-error @+1 {{expected the element before as a scalar, found 'index'}}
  %s = attn.stage "s" axes ["i"] serial %x : !attn.tensor<> : <3> {
  ^bb0(%i: index, %before: index):
    %0 = attn.constant 1.0
    attn.yield %0 : !attn.tensor<>
  }
  attn.yield
}

// -----

// expected-error @+1 {{expected a scale for each of 2 states, found 1}}
attn.kernel @k form "recurrent" chunk 1 inputs [] states ["s", "p"] scales [1] out !attn.tensor<> {
^bb0(%s: !attn.tensor<>, %p: !attn.tensor<>):
  attn.yield %s, %p : !attn.tensor<>, !attn.tensor<>
}

// -----

// expected-error @+1 {{expected a scale to be the index of a state or -1, found 2}}
attn.kernel @k form "recurrent" chunk 1 inputs [] states ["s", "p"] scales [2, -1] out !attn.tensor<> {
^bb0(%s: !attn.tensor<>, %p: !attn.tensor<>):
  attn.yield %s, %p : !attn.tensor<>, !attn.tensor<>
}

// -----

// expected-error @+1 {{expected exponents, which have none of their own, behind all other states, found state 1}}
attn.kernel @k form "recurrent" chunk 1 inputs [] states ["p", "s"] scales [-1, 0] out !attn.tensor<> {
^bb0(%p: !attn.tensor<>, %s: !attn.tensor<>):
  attn.yield %p, %s : !attn.tensor<>, !attn.tensor<>
}

// -----

// expected-error @+1 {{expected state 1, an exponent, to be a scalar or a vector along the rows of state 0}}
attn.kernel @k form "recurrent" chunk 1 inputs [] states ["s", "p"] scales [1, -1] out !attn.tensor<> {
^bb0(%s: !attn.tensor<>, %p: !attn.tensor<2>):
  attn.yield %s, %p : !attn.tensor<>, !attn.tensor<2>
}

// -----

attn.kernel @k form "recurrent" chunk 1 inputs [] states ["s"] out !attn.tensor<> {
^bb0(%s: !attn.tensor<>):
  %y = attn.stage "y" axes [] : !attn.tensor<> {
    // expected-error @+1 {{expected the index of one of 1 states, found 1}}
    %g = attn.taken 1
    attn.yield %g : !attn.tensor<>
  }
  attn.yield %y : !attn.tensor<>
}

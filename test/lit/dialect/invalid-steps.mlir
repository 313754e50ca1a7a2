// RUN: lintel-opt %s --split-input-file --verify-diagnostics

// What would leave a later pass with nothing to stand on.

// expected-error @+1 {{expected to stand inside of an operator}}
%x = "attn.binary"(%x, %x) <{kind = 2 : i32}> : (!attn.tensor<>, !attn.tensor<>) -> !attn.tensor<>

// -----

// expected-error @+1 {{expected at most 2 sizes a step, found 3}}
func.func private @f(!attn.sequence<1, 2, 3>)

// -----

attn.spec @a inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<9223372036854775807>):
  %one = attn.constant 1.0
  // expected-error @+1 {{expected parts whose sizes have a sum in 64 bits}}
  %r = attn.concat %x, %one : !attn.tensor<9223372036854775807>, !attn.tensor<>
  attn.yield %one : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<4294967296, 4294967296>):
  // expected-error @+1 {{expected a matrix whose size fits in 64 bits}}
  %r = attn.flatten %x : <4294967296, 4294967296>
  attn.yield %r : !attn.tensor<4>
}

// -----

// expected-error @+1 {{expected at most 2^31 elements, found '!attn.tensor<65536, 65536>'}}
attn.recurrent @a inputs [#attn.param<token "x">] states ["S"] {
^bb0(%x: !attn.tensor<>, %S: !attn.tensor<65536, 65536>):
  attn.yield %x, %S : !attn.tensor<>, !attn.tensor<65536, 65536>
}

// -----

attn.recurrent @a inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<65536>):
  %one = attn.constant 1.0
  // expected-error @+1 {{expected at most 2^31 elements, found '!attn.tensor<65536, 65536>'}}
  %o = attn.outer %x, %x : <65536>, <65536>
  attn.yield %one : !attn.tensor<>
}

// -----

attn.recurrent @a inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<4>):
  // expected-error @+1 {{expected a bound dimension, found "dk"}}
  %n = attn.dim "dk"
  attn.yield %n : !attn.tensor<>
}

// -----

attn.recurrent @a inputs [#attn.param<token "x">] states [] {
^bb0(%x: !attn.tensor<4>):
  // expected-error @+1 {{expected a bound index, found "dk"}}
  %n = attn.extract %x["dk"] : <4>
  attn.yield %n : !attn.tensor<>
}

// -----

// expected-error @+1 {{expected state 'S' not to depend on attn.final}}
attn.recurrent @a inputs [#attn.param<token "x">] states ["R", "S"] {
^bb0(%x: !attn.tensor<>, %R: !attn.tensor<>, %S: !attn.tensor<>):
  %R1 = attn.binary add %R, %x : <>, <>
  %f = attn.final %R1 : <>
  %S1 = attn.binary add %S, %f : <>, <>
  attn.yield %S1, %R1, %S1 : !attn.tensor<>, !attn.tensor<>, !attn.tensor<>
}

// -----

// expected-error @+1 {{expected no states beside attn.attend}}
attn.spec @a inputs [#attn.param<token "q">] states ["S"] {
^bb0(%q: !attn.tensor<>, %S: !attn.tensor<>):
  %o = attn.attend %q, %q, %q causal : <>, <>, <> -> <> weights {
  ^bb0(%a: !attn.tensor<>, %b: !attn.tensor<>, %d: !attn.tensor<>):
    attn.yield %d : !attn.tensor<>
  }
  attn.yield %o, %S : !attn.tensor<>, !attn.tensor<>
}

// -----

// expected-error @+1 {{expected one attn.attend at most, found 2}}
attn.spec @a inputs [#attn.param<token "q">] states [] {
^bb0(%q: !attn.tensor<>):
  %o = attn.attend %q, %q, %q causal : <>, <>, <> -> <> weights {
  ^bb0(%a: !attn.tensor<>, %b: !attn.tensor<>, %d: !attn.tensor<>):
    attn.yield %d : !attn.tensor<>
  }
  %r = attn.attend %q, %q, %o causal : <>, <>, <> -> <> weights {
  ^bb0(%a: !attn.tensor<>, %b: !attn.tensor<>, %d: !attn.tensor<>):
    attn.yield %d : !attn.tensor<>
  }
  attn.yield %r : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "q">] states [] {
^bb0(%q: !attn.tensor<>):
  %o = attn.attend %q, %q, %q causal : <>, <>, <> -> <> weights {
  ^bb0(%a: !attn.tensor<>, %b: !attn.tensor<>, %d: !attn.tensor<>):
    // expected-error @+1 {{does not belong into this region of attn.spec}}
    %i = attn.attend %a, %b, %d causal : <>, <>, <> -> <> weights {
    ^bb0(%x: !attn.tensor<>, %y: !attn.tensor<>, %z: !attn.tensor<>):
      attn.yield %z : !attn.tensor<>
    }
    attn.yield %i : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "q">, #attn.param<head "M">] states [] {
^bb0(%q: !attn.tensor<>, %M: !attn.tensor<2, 2>):
  // expected-error @+1 {{expected values that are scalars or vectors, found '!attn.tensor<2, 2>'}}
  %o = attn.attend %q, %q, %M causal : <>, <>, <2, 2> -> <2, 2> weights {
  ^bb0(%a: !attn.tensor<>, %b: !attn.tensor<>, %d: !attn.tensor<>):
    attn.yield %d : !attn.tensor<>
  }
  attn.yield %q : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "q">] states [] {
^bb0(%q: !attn.tensor<>):
  // expected-error @+1 {{expected a region of at most 4096 operations once each value is written out at each of its uses}}
  %o = attn.attend %q, %q, %q causal : <>, <>, <> -> <> weights {
  ^bb0(%a: !attn.tensor<>, %b: !attn.tensor<>, %d: !attn.tensor<>):
    %0 = attn.binary add %a, %b : <>, <>
    %1 = attn.binary add %0, %0 : <>, <>
    %2 = attn.binary add %1, %1 : <>, <>
    %3 = attn.binary add %2, %2 : <>, <>
    %4 = attn.binary add %3, %3 : <>, <>
    %5 = attn.binary add %4, %4 : <>, <>
    %6 = attn.binary add %5, %5 : <>, <>
    %7 = attn.binary add %6, %6 : <>, <>
    %8 = attn.binary add %7, %7 : <>, <>
    %9 = attn.binary add %8, %8 : <>, <>
    %10 = attn.binary add %9, %9 : <>, <>
    %11 = attn.binary add %10, %10 : <>, <>
    %12 = attn.binary add %11, %11 : <>, <>
    attn.yield %12 : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<>
}

// -----

attn.spec @a inputs [#attn.param<token "q">] states [] {
^bb0(%q: !attn.tensor<>):
  // expected-error @+1 {{expects region #1 to have 0 or 1 blocks}}
  %o = attn.attend %q, %q, %q causal : <>, <>, <> -> <> weights {
  ^bb0(%a: !attn.tensor<>, %b: !attn.tensor<>, %d: !attn.tensor<>):
    attn.yield %d : !attn.tensor<>
  } normalizer {
  ^bb0(%n: !attn.tensor<>):
    attn.yield %n : !attn.tensor<>
  ^bb1(%m: !attn.tensor<>):
    attn.yield %m : !attn.tensor<>
  }
  attn.yield %o : !attn.tensor<>
}

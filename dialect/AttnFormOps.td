// Phase 2: how the steps are grouped. Dimensions are bound.
#ifndef LINTEL_DIALECT_ATTNFORMOPS_TD
#define LINTEL_DIALECT_ATTNFORMOPS_TD

include "dialect/AttnSpecOps.td"

class Attn_StepwiseOp<string mnemonic> : Attn_OperatorOp<mnemonic, [SingleBlock]> {
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$inputs, StrArrayAttr:$states, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$scales);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `inputs` $inputs `states` $states (`scales` $scales^)? $body attr-dict";
  let hasRegionVerifier = 1;
}

def Attn_RecurrentOp : Attn_StepwiseOp<"recurrent"> {
  let summary = "one step at a time";
  let description = [{
    As `attn.spec`, with bound dimensions. Any operator has this form.

    `scales`, where given, has one entry for each state: the index of the state that holds its exponent, or -1. Such exponents are the compiler's
    own states (`attn-stabilize`): the user's state is `S * 2^p`. `p` starts at 0 where the user gives S, and at -1e30 (nothing yet) where S starts at zero.

    ```mlir
    attn.recurrent @sum inputs [#attn.param<token "x">] states ["S"] {
    ^bb0(%x: !attn.tensor<4>, %S: !attn.tensor<4>):
      %S1 = attn.binary add %S, %x : !attn.tensor<4>, !attn.tensor<4>
      attn.yield %S1, %S1 : !attn.tensor<4>, !attn.tensor<4>
    }
    ```
  }];
}

def Attn_StepOp : Attn_StepwiseOp<"step"> {
  let summary = "one token of decode";
  let description = [{
    As `attn.recurrent` for exactly one step: states in, one output, states out.
  }];
}

class Attn_FactoredOp<string mnemonic> : Attn_OperatorOp<mnemonic> {
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$inputs, ArrayAttr:$states, ArrayAttr:$reads, I64Attr:$chunk,
                       UnitAttr:$bidirectional, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$scales);
  let regions = (region AnyRegion:$prefix, SizedRegion<1>:$token, SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $sym_name `chunk` $chunk (`bidirectional` $bidirectional^)? `inputs` $inputs `states` $states (`scales` $scales^)? `reads` $reads
    `prefix` $prefix `token` $token `combine` $combine attr-dict
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The shape of state i, from its first pair; null where the region is malformed.
    ::lintel::RealType stateType(unsigned i);
    int64_t stateRank(unsigned i);
    /// How many internal states there are.
    unsigned internalStates() { return getPrefix().empty() ? 0 : getPrefix().front().getNumArguments() - getInputs().size(); }
  }];
}

def Attn_ChunkwiseOp : Attn_FactoredOp<"chunkwise"> {
  let summary = "chunks of steps: a masked product within, a state across";
  let description = [{
    For states `S_t = a_t * S_{t-1} + sum_r outer(u_tr, w_tr @ S_{t-1}) + sum_p outer(k_tp, v_tp)` and reads `r_t = q_t @ S_t` (or of `S_{t-1}`), over a chunk that starts after
    state `S`: `r_i = (q_i prod_{l<=i} a_l) @ S + sum_{j<=i} (q_i . (k_j prod_{j<l<=i} a_l)) v_j`.
    What the low-rank terms read within a chunk, `y_tr = w_tr @ S_{t-1}`, is the solution of a unit lower triangular system, and `u_tr, y_tr` is then a pair
    like any other.
    Factors are running products of the decays, never quotients: none exceeds what the mathematics has, and a zero decay clears exactly.

    Regions. `prefix`: (inputs, internal states) -> internal states, a serial scalar recurrence (empty where there is none).
    `token`: (inputs, internal states before, internal states after) -> for each state its decay (if any), its pairs `k, v` and its low-rank terms `u, w`, then each read's `q`.
    A state of rank 1 has `k` alone and is read to a scalar, a state of rank 0 too. `combine`: (inputs, internal before, internal after, reads) -> out.
    `scales` has, for each state, which internal state is its exponent (see `attn.recurrent`), or -1. A vector or scalar `a` acts along the feature axis.
  }];
}

def Attn_ParallelOp : Attn_FactoredOp<"parallel"> {
  let summary = "all pairs of steps, in blocks";
  let description = [{
    The same sums as `attn.chunkwise` with no state carried between blocks: block after block of queries against block after block of keys. `chunk` is the
    block. Initial states are read through the product of all decays so far.
  }];
}

def Attn_StreamedOp : Attn_OperatorOp<"streamed", [SingleBlock]> {
  let summary = "weights that do not factor, streamed with a running maximum";
  let description = [{
    The body of an operator without states whose output goes through `attn.attend`, with bound dimensions; blocks of `chunk` queries
    against blocks of `chunk` keys. `window` > 0: weights at a distance of `window` or more are zero, but for keys among the sequence's first `first` steps; `ahead` >= 0:
    weights of keys more than `ahead` steps after the query are zero. Blocks of such weights cost nothing.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$inputs, I64Attr:$chunk, DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<I64Attr, "-1">:$ahead, DefaultValuedAttr<I64Attr, "0">:$first);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `chunk` $chunk (`window` $window^)? (`ahead` $ahead^)? (`first` $first^)? `inputs` $inputs $body attr-dict";
  let hasRegionVerifier = 1;
}

#endif

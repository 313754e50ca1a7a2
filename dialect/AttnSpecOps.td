// Phase 1: the mathematics of one step.
#ifndef LINTEL_DIALECT_ATTNSPECOPS_TD
#define LINTEL_DIALECT_ATTNSPECOPS_TD

include "dialect/AttnValueOps.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"

// What spec and forms share: names and kinds of inputs, names of states; block arguments carry the shapes.
class Attn_OperatorOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, !listconcat(traits, [IsolatedFromAbove, Symbol,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>])>;

def Attn_SpecOp : Attn_OperatorOp<"spec", [SingleBlock]> {
  let summary = "one step of an attention operator, over the reals";
  let description = [{
    The body maps the inputs of step t and the states before it to the output and the states after it:
    `(out_t, S_t) = body(inputs_t, S_{t-1})`, for t = 0..T-1, states starting at zero or as given. Block arguments: the inputs in
    the order of `inputs`, then the states in the order of `states`. `attn.yield` gives the output first, then each state.
    An operator with several outputs names them in the attribute `outputs` (`["out", "den"]`, "out" the first) and yields them in that order before the states;
    all forms inherit it.
    A bidirectional operator reads its states through `attn.final`. Dimensions are symbolic until `attn-bind-dimensions`.

    ```mlir
    attn.spec @identity inputs [#attn.param<token "q">, #attn.param<token "k">, #attn.param<token "v">] states ["S"] {
    ^bb0(%q: !attn.tensor<dk>, %k: !attn.tensor<dk>, %v: !attn.tensor<dv>, %S: !attn.tensor<dk, dv>):
      %u = attn.outer %k, %v : !attn.tensor<dk>, !attn.tensor<dv>
      %S1 = attn.binary add %S, %u : !attn.tensor<dk, dv>, !attn.tensor<dk, dv>
      %o = attn.matmul %q, %S1 : !attn.tensor<dk>, !attn.tensor<dk, dv>
      attn.yield %o, %S1 : !attn.tensor<dv>, !attn.tensor<dk, dv>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$inputs, StrArrayAttr:$states);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `inputs` $inputs `states` $states $body attr-dict";
  let hasRegionVerifier = 1;
}

def Attn_FinalOp : Attn_InferredOp<"final"> {
  let summary = "a state after the last step";
  let description = [{
    Makes an operator bidirectional: all steps update the states first, then every step's output reads `x` as it is after step
    T-1. `x` is a value that the spec yields as a state.
    Example: `%f = attn.final %S1 : !attn.tensor<dk, dv>`
  }];
  let arguments = (ins Attn_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Attn_AttendOp : Attn_ValueOp<"attend", [SingleBlock]> {
  let summary = "attention with weights that do not factor";
  let description = [{
    `r_i = (sum_j w(q_i, k_j) v_j) / n(sum_j w(q_i, k_j))` over j <= i (`causal`) or all j. `weights` maps (q_i, k_j, distance) to a
    scalar, where distance is the query's position less the key's; a weight of zero counts as absent. `normalizer`, if not empty, maps the sum
    of weights to the divisor. Values from outside the regions are the query's (`attn.position` too). Quadratic: streamed with a running maximum.

    ```mlir
    %o = attn.attend %q, %k, %v causal : !attn.tensor<dk>, !attn.tensor<dk>, !attn.tensor<dv> -> !attn.tensor<dv> weights {
    ^bb0(%a: !attn.tensor<dk>, %b: !attn.tensor<dk>, %distance: !attn.tensor<>):
      %s = attn.matmul %a, %b : !attn.tensor<dk>, !attn.tensor<dk>
      %w = attn.unary exp %s : !attn.tensor<>
      attn.yield %w : !attn.tensor<>
    } normalizer {
    ^bb0(%den: !attn.tensor<>):
      attn.yield %den : !attn.tensor<>
    }
    ```
  }];
  let arguments = (ins Attn_Tensor:$q, Attn_Tensor:$k, Attn_Tensor:$v, UnitAttr:$causal);
  let regions = (region SizedRegion<1>:$weights, AnyRegion:$normalizer);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`causal` $causal^)? `:` type($q) `,` type($k) `,` type($v) `->` type($result)
    `weights` $weights (`normalizer` $normalizer^)? attr-dict
  }];
  let hasRegionVerifier = 1;
}

#endif

// Phase 3: scans over chunks whose bodies are named stages over named axes.
#ifndef LINTEL_DIALECT_ATTNKERNELOPS_TD
#define LINTEL_DIALECT_ATTNKERNELOPS_TD

include "dialect/AttnFormOps.td"

def Attn_KernelOp : Attn_OperatorOp<"kernel", [SingleBlock]> {
  let summary = "one head of one sequence, as scans of stages";
  let description = [{
    Block arguments: each token input as an `!attn.sequence`, each head or shared input as a tensor, then the user's states. The body is scans;
    `attn.yield` gives the states after the last step. Outputs leave through `attn.emit`: `out`, and where the attribute `outputs` names more,
    `others` in its order. `form` and `chunk` say where it came from.

    `scales`, where given, has one entry for each state: the index of the state that holds its exponent, or -1. Exponents stand behind all other states. One that
    the caller does not give is 0; where the caller does not take it (`attn.taken`), the states that it belongs to leave as S * 2^p, else as they are.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$form, I64Attr:$chunk, ArrayAttr:$inputs, StrArrayAttr:$states,
                       TypeAttrOf<Attn_Tensor>:$out, UnitAttr:$bidirectional, OptionalAttr<TypeArrayAttr>:$others,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$scales);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `form` $form `chunk` $chunk (`bidirectional` $bidirectional^)? `inputs` $inputs `states` $states (`scales` $scales^)? `out` $out (`others` $others^)? $body attr-dict
  }];
  let extraClassDeclaration = [{
    /// The type of each output, "out" first.
    ::llvm::SmallVector<::lintel::RealType> outputTypes();
  }];
  let hasRegionVerifier = 1;
}

def Attn_ScanOp : Attn_InnerOp<"scan", [SingleBlock, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop over the steps of the sequence";
  let description = [{
    `whole`: chunks of `chunk` steps from 0 while a whole chunk is left. `rest`: chunks (of 1) from where a whole scan with `from` steps a chunk
    stopped. `blocks`: chunks from 0 until all steps are covered; rows past the end repeat the last one and are never written.
    Block arguments: the first step (index), then the carried values; `attn.yield` gives the carried values of the next iteration.
  }];
  let arguments = (ins Attn_ScanMode:$mode, I64Attr:$chunk, DefaultValuedAttr<I64Attr, "0">:$from, Variadic<Attn_Tensor>:$init);
  let results = (outs Variadic<Attn_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$mode `chunk` $chunk (`from` $from^)? (`carry` $init^ `:` type($init))? (`->` type($results)^)? $body attr-dict";
  let hasVerifier = 1;
}

def Attn_PairsOp : Attn_InnerOp<"pairs", [SingleBlock, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop over the blocks of keys that a block of queries sees";
  let description = [{
    For queries from step `t`: key blocks of `chunk` steps from 0 (or, with `window`, from the block that holds t - window + 1) up to the query block's end
    (`causal`; with `queries 0` strictly before t) or the sequence's; with `ahead`, not `causal`, not beyond the block that holds t + queries - 1 + ahead. With `first`, the
    blocks in front of the window's that hold one of the sequence's first `first` steps. `descending` visits them from the last to the first. Blocks start at multiples of
    `chunk`. With `whole [n, m]`, of these blocks those alone whose keys are in the sequence and at most n steps before and m after each of the `chunk` queries from `t`
    (-1: any number); with `cut` too, the others alone. A mask that is known to hold in the former need not be looked at there.
    Block arguments: the key block's first step (index), then the carried values.
  }];
  let arguments = (ins Index:$t, I64Attr:$chunk, I64Attr:$queries, UnitAttr:$causal, UnitAttr:$descending, DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<I64Attr, "-1">:$ahead, DefaultValuedAttr<I64Attr, "0">:$first, OptionalAttr<DenseI64ArrayAttr>:$whole, UnitAttr:$cut,
                       Variadic<Attn_Tensor>:$init);
  let results = (outs Variadic<Attn_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $t `chunk` $chunk `queries` $queries (`causal` $causal^)? (`descending` $descending^)? (`window` $window^)?
    (`ahead` $ahead^)? (`first` $first^)? (`whole` $whole^)? (`cut` $cut^)? (`carry` $init^ `:` type($init))? (`->` type($results)^)? $body attr-dict
  }];
  let hasVerifier = 1;
}

def Attn_RowsOp : Attn_InnerOp<"rows", [Pure]> {
  let summary = "a chunk's rows of a token input";
  let description = [{
    `r[i, n...] = x[min(t + i, T - 1), n...]`. Its schedule is `packed` (a copy in which the rows lie one behind the other) or `direct`.
    Example: `%r = attn.rows %q[%t] : !attn.sequence<64> -> !attn.tensor<16, 64>`
  }];
  let arguments = (ins Attn_Sequence:$x, Index:$t, OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs Attn_Tensor:$result);
  let assemblyFormat = "$x `[` $t `]` attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_EmitOp : Attn_InnerOp<"emit", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a chunk's rows of the output";
  let description = [{
    `out[t + i, n...] = x[i, n...]` for t + i < T; with `to`, of that output, counted from "out".
    Example: `attn.emit %o[%t] : !attn.tensor<16, 64>`
  }];
  let arguments = (ins Attn_Tensor:$x, Index:$t, DefaultValuedAttr<I64Attr, "0">:$output);
  let assemblyFormat = "$x `[` $t `]` (`to` $output^)? attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Attn_StepsOp : Attn_InnerOp<"steps", [Pure]> {
  let summary = "T, the number of steps";
  let arguments = (ins);
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Attn_StageOp : Attn_InnerOp<"stage", [Pure, SingleBlock, AttrSizedOperandSegments, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames", "getAsmResultNames"]>]> {
  let summary = "a tensor, element by element, over named axes";
  let description = [{
    `r[i, j...] = body(i, j...)`; axes in the order of the result's dimensions. Axis names say what they run over: positions `i j`, feature `c`, value `e`, others.
    With `serial`, the first axis is computed in order and the body has a last argument, the element before along it:
    `r[i, j...] = body(i, j..., r[i-1, j...])`, where `r[-1, j...] = init[j...]`.
    With `staggered` too, column j of the second axis, which has n for each step, starts at step s = j / n: `r[s, j, c...] = init[j, c...]`, the steps behind it come
    from the element before, and what lies before it is not defined: nothing may depend on it.
    With `solve L`, a square matrix over the first axis, the body gives the right side of a unit lower triangular system:
    `r[i, j...] = body(i, j...) + sum_{h < i} L[i, h] r[h, j...]`. What L has on its diagonal and above is not looked at.
    With `sparse` too, a row h that L has a 0 for adds nothing, though it be infinite or NaN.

    ```mlir
    %A = attn.stage "A" axes ["i", "j"] : !attn.tensor<16, 16> {
    ^bb0(%i: index, %j: index):
      %s = attn.fold sum "c" 64 {
      ^bb0(%c: index):
        %x = attn.at %q[%i, %c] : !attn.tensor<16, 64>
        %y = attn.at %k[%j, %c] : !attn.tensor<16, 64>
        %p = attn.binary mul %x, %y : !attn.tensor<>, !attn.tensor<>
        attn.yield %p : !attn.tensor<>
      }
      attn.yield %s : !attn.tensor<>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, StrArrayAttr:$axes, Optional<Attn_Tensor>:$init, UnitAttr:$staggered, Optional<Attn_Tensor>:$solve,
                       UnitAttr:$sparse, DefaultValuedAttr<I64Attr, "0">:$group,
                       OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs Attn_Tensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `axes` $axes (`serial` $init^ `:` type($init) (`staggered` $staggered^)?)? (`solve` $solve^ `:` type($solve) (`sparse` $sparse^)?)? (`group` $group^)? `:` type($result) $body attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether elements along the first axis are computed one after another.
    bool isSerial() { return getInit() || getSolve(); }
  }];
}

def Attn_AtOp : Attn_ValueOp<"at"> {
  let summary = "an element of a tensor";
  let description = [{
    `r = x[indices]`. Example: `%e = attn.at %q[%i, %c] : !attn.tensor<16, 64>`
  }];
  let arguments = (ins Attn_Tensor:$x, Variadic<Index>:$indices);
  let results = (outs Attn_Scalar:$result);
  let assemblyFormat = "$x `[` $indices `]` attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Attn_FoldOp : Attn_ValueOp<"fold", [SingleBlock, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a sum or maximum over an axis inside a stage";
  let description = [{
    `r = sum_{x < extent} body(x)`, or the maximum. With `upto`, a sum ends at that index, inclusive: what lies behind it is not looked at, so that an infinity
    or NaN of a later step cannot reach an earlier one.
  }];
  let arguments = (ins Attn_ReduceKind:$kind, StrAttr:$axis, I64Attr:$extent, Optional<Index>:$last);
  let results = (outs Attn_Scalar:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind $axis $extent (`upto` $last^)? $body attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Attn_NumberOp : Attn_ValueOp<"number"> {
  let summary = "an index as a real";
  let description = [{ Comparisons of two such numbers are exact comparisons of integers. Example: `%x = attn.number %i` }];
  let arguments = (ins Index:$index);
  let results = (outs Attn_Scalar:$result);
  let assemblyFormat = "$index attr-dict";
}

def Attn_StartOp : Attn_ValueOp<"start"> {
  let summary = "the position of the sequence's first step";
  let description = [{ The offset given at run time when a sequence continues, else 0. }];
  let results = (outs Attn_Scalar:$result);
  let assemblyFormat = "attr-dict";
}

def Attn_GivenOp : Attn_ValueOp<"given"> {
  let summary = "1 where the caller gave initial states, else 0";
  let description = [{ Exponents do not count: one without a state says nothing. }];
  let results = (outs Attn_Scalar:$result);
  let assemblyFormat = "attr-dict";
}

def Attn_TakenOp : Attn_ValueOp<"taken"> {
  let summary = "1 where the caller takes the kernel's state of this index, else 0";
  let description = [{ Example: `%g = attn.taken 2` for a kernel whose state 2 is an exponent. }];
  let arguments = (ins I64Attr:$state);
  let results = (outs Attn_Scalar:$result);
  let assemblyFormat = "$state attr-dict";
}

#endif

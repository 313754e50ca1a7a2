// The passes of the middle, in the order that compiler/pipelines runs them. One pass is one file of the same name.
#ifndef LINTEL_COMPILER_TRANSFORMS_PASSES_TD
#define LINTEL_COMPILER_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def BindDimensions : Pass<"attn-bind-dimensions", "::mlir::ModuleOp"> {
  let summary = "give every dimension name its value";
  let description = [{
    Before: `attn.spec` with symbolic dimensions. After: all dimensions are integers and `attn.dim` is a constant. A name without a value, a value
    below 1, an index past its axis: an error.

    `--attn-bind-dimensions="dims=dk=64,dv=32"`: `!attn.tensor<dk, 2*dv>` becomes `!attn.tensor<64, 64>`.
  }];
  let options = [ListOption<"dims", "dims", "std::string", "NAME=VALUE, comma separated">];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def OrderValues : Pass<"attn-order-values", "::mlir::ModuleOp"> {
  let summary = "each value right before what first needs it";
  let description = [{
    Before: specs or forms. After: the same, the ops of each region in the order in which its results need them, so that the text does not
    depend on the order in which the user wrote independent statements.
  }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def RegroupSums : Pass<"attn-regroup-sums", "::mlir::ModuleOp"> {
  let summary = "what a sum adds to values of states is one term";
  let description = [{
    In `attn.spec` and `attn.recurrent`. Before: sums and differences as they were written. After: terms that come from states first, and all others added to
    them at once: `(S + a) - b` is `S + (a - b)`. Sums that have no state in them keep their grouping.
  }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def ReorderProducts : Pass<"attn-reorder-products", "::mlir::ModuleOp"> {
  let summary = "a vector meets the factors of a product of matrices one by one";
  let description = [{
    In `attn.spec` and `attn.recurrent`. Before: products as they were written. After: where a vector is multiplied by a product of matrices that nothing
    else needs, or by a sum that has one as a term, there is no product of matrices: `q @ (P @ C - G)` is `(q @ P) @ C - q @ G`.
  }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def DeriveRecurrent : Pass<"attn-derive-recurrent", "::mlir::ModuleOp"> {
  let summary = "the recurrent form of each spec";
  let description = [{
    Before: `attn.spec` with bound dimensions and no `attn.attend`. After: an `attn.recurrent @NAME_recurrent` with the same body stands behind each.
  }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def Stabilize : Pass<"attn-stabilize", "::mlir::ModuleOp"> {
  let summary = "carry unbounded exponentials as mantissa and power of two";
  let description = [{
    Before: `attn.recurrent` whose states add terms with a factor `exp(a)` of unbounded `a`, and whose output is a ratio in which a common factor
    cancels. After: each such state S is held as `S * 2^-p`, where the new state p is the running maximum of the terms' exponents, a vector
    of one for each channel where states are only taken element by element; the exponents cancel in the ratio. Powers of two scale exactly, so splitting a sequence changes no bit. An exponential that goes into both parts of a quotient and into
    no state is taken relative to its largest element, without such a state, where it could vanish in both. The attribute `stabilized` says what was done and why, for people. Operators that need
    nothing are left alone.
  }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def AssignPrecision : Pass<"attn-assign-precision", "::mlir::ModuleOp"> {
  let summary = "say where f32 is not enough";
  let description = [{
    Before: `attn.spec` with bound dimensions, or `attn.kernel`. After: the attribute `precision = "f64"` on what must be computed in f64 even where
    arrays are f32. On a spec: its output is divided by a sum over the states whose terms can have both signs, so that what is left after they cancel
    would be rounding. On a stage: a sum that an exponential of a feature map takes its argument from, since an absolute error there is a relative one in
    every weight. On a stage too: what takes an angle or an exponent from the position, whose rounding would grow with it.
    The forms and kernels of a spec inherit its attribute.
  }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def ClassifyTransition : Pass<"attn-classify-transition", "::mlir::ModuleOp"> {
  let summary = "say how each state moves";
  let description = [{
    Before: `attn.recurrent`. After: the same, with the attribute `transition`, one string a state: identity, scalar, diagonal, identity plus low
    rank, decay times low rank, affine. Later passes analyse again; the attribute is for people and tests.
  }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def DeriveChunkwise : Pass<"attn-derive-chunkwise", "::mlir::ModuleOp"> {
  let summary = "the chunkwise form, where the transition has one";
  let description = [{
    Before: `attn.recurrent`. After: `attn.chunkwise @NAME_chunkwise` behind each whose states move by an identity, a scalar or a diagonal along the
    feature axis, add outer products, and are read by contraction; a remark says why for each other. A decay of `attn.select` that has the attribute `clears` is 0 where the
    state was chosen away (`where(c, 0, S)`; a channel of it, where `c` is a vector), so that also NaN and infinities of the state before are gone.
  }];
  let options = [Option<"chunk", "chunk", "int64_t", "0", "steps a chunk; 0 chooses by class">];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def DeriveParallel : Pass<"attn-derive-parallel", "::mlir::ModuleOp"> {
  let summary = "the parallel form: all pairs of steps, in blocks";
  let description = [{
    Before: `attn.chunkwise` (`not_parallel` on one that has no such form says why), or `attn.spec` with `attn.attend`. After: `attn.parallel @NAME_parallel` or
    `attn.streamed @NAME_parallel` behind it.
  }];
  let options = [Option<"chunk", "chunk", "int64_t", "0", "steps a block; 0 chooses">];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def DeriveStep : Pass<"attn-derive-step", "::mlir::ModuleOp"> {
  let summary = "the one-token decode of each recurrent form";
  let description = [{ Before: `attn.recurrent`, causal. After: an `attn.step @NAME_step` with the same body behind each. }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def GuardGrowth : Pass<"attn-guard-growth", "::mlir::ModuleOp"> {
  let summary = "a state of zero stays zero under a factor that overflows";
  let description = [{
    In `attn.recurrent` and `attn.step`. Before: `w * x` where `x` comes from a state and `w` has an exponential that can pass the largest number.
    After: `x == 0 ? 0 : w * x`. Run last before lowering: transitions are no longer to be seen in it.
    Before: `%y = attn.binary mul %w, %S`; after: `%z = attn.binary eq %S, %zero`, `%r = attn.select %z, %zero, %y`.
  }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def SelectForm : Pass<"attn-select-form", "::mlir::ModuleOp"> {
  let summary = "keep one form of each operator";
  let description = [{
    Before: specs and their forms. After: the form of least cost (CostAnalysis), or the one asked for; specs and the other forms are gone, and `reason`
    on the kept form says why. A form that was asked for and does not exist is an error that says why it does not.
  }];
  let options = [Option<"form", "form", "std::string", "\"auto\"", "auto, recurrent, chunkwise, parallel or step">,
                 Option<"steps", "steps", "int64_t", "4096", "T that the cost is compared at">];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def LowerFormToStages : Pass<"attn-lower-form-to-stages", "::mlir::ModuleOp"> {
  let summary = "forms to kernels: scans of stages";
  let description = [{
    Before: form ops. After: `attn.kernel` of the same name. Values of a step become expressions over named axes; reductions, values used by
    several contractions and costly values used twice become stages of their own, all else is written into its use.
  }];
  let dependentDialects = ["::lintel::AttnDialect", "::mlir::arith::ArithDialect"];
}

def WalkStates : Pass<"attn-walk-states", "::mlir::ModuleOp"> {
  let summary = "read and update a state in one pass over its rows";
  let description = [{
    Before: `attn.kernel` with grouped stages. After: in loops over single steps, the stages that update states of one shape element by element, and the rows of sums
    over these states that feed nothing which updates a state, have the attribute `walk` and a group of their own behind all that reads the states otherwise; what
    the rows feed follows in one more group.
  }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

def FuseStages : Pass<"attn-fuse-stages", "::mlir::ModuleOp"> {
  let summary = "group the stages of a loop body that are built together";
  let description = [{
    Before: `attn.kernel`. After: each stage has a `group`; a group becomes one Halide pipeline. Stages whose result is the next iteration's carried value, and
    what only they use, form the last group, so that a state is overwritten after all its readers; where such stages read other states than their own, these
    follow in groups of their own.
  }];
  let dependentDialects = ["::lintel::AttnDialect"];
}

#endif

// Operations on reals that every phase uses. All are pure; shapes follow ShapeInference.
#ifndef LINTEL_DIALECT_ATTNVALUEOPS_TD
#define LINTEL_DIALECT_ATTNVALUEOPS_TD

include "dialect/AttnAttrs.td"
include "dialect/AttnTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Attn_ValueOp<string mnemonic, list<Trait> traits = []>
    : Attn_InnerOp<mnemonic, !listconcat(traits, [Pure])> {
  let results = (outs Attn_Tensor:$result);
}

// The result's type follows from the operands; the same function verifies and infers.
class Attn_InferredOp<string mnemonic, list<Trait> traits = []>
    : Attn_ValueOp<mnemonic, !listconcat(traits, [DeclareOpInterfaceMethods<InferTypeOpInterface>])>;

def Attn_ConstantOp : Attn_ValueOp<"constant", [ConstantLike]> {
  let summary = "a real number";
  let description = [{
    A scalar known at compile time, infinities included.
    Example: `%one = attn.constant 1.000000e+00`
  }];
  let arguments = (ins F64Attr:$value);
  let results = (outs Attn_Scalar:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def Attn_DimOp : Attn_ValueOp<"dim"> {
  let summary = "a dimension used as a number";
  let description = [{
    The value of a polynomial over dimension names, `dk` in `rsqrt(dk)`. Binding dimensions turns it into a constant.
    Example: `%n = attn.dim "dk"`
  }];
  let arguments = (ins StrAttr:$dim);
  let results = (outs Attn_Scalar:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Attn_PositionOp : Attn_ValueOp<"position"> {
  let summary = "the step's index in its sequence";
  let description = [{
    From 0, or from the offset given at run time when a sequence continues. In the weights of `attn.attend`, the query's.
    Example: `%p = attn.position`
  }];
  let results = (outs Attn_Scalar:$result);
  let assemblyFormat = "attr-dict";
}

def Attn_UnaryOp : Attn_InferredOp<"unary"> {
  let summary = "an elementwise function of one argument";
  let description = [{
    `r[i...] = f(x[i...])`. `elu` is `x` for x > 0 and `exp(x) - 1` else; `gelu` is the exact one, `x Phi(x)`;
    `not` gives 1 for 0 and 0 else. Shape: that of `x`.
    Example: `%e = attn.unary exp %x : !attn.tensor<dk>`
  }];
  let arguments = (ins Attn_UnaryKind:$kind, Attn_Tensor:$x);
  let assemblyFormat = "$kind $x attr-dict `:` type($x)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Attn_BinaryOp : Attn_InferredOp<"binary"> {
  let summary = "an elementwise function of two arguments";
  let description = [{
    `r[i...] = f(a[i...], b[i...])`. Shapes: equal; or one is a scalar; or one is a vector and the other a matrix whose FIRST axis it
    runs along (`r[c, e] = f(a[c], b[c, e])`). Comparisons give 1 or 0.
    Example: `%s = attn.binary mul %w, %S : !attn.tensor<dk>, !attn.tensor<dk, dv>`
  }];
  let arguments = (ins Attn_BinaryKind:$kind, Attn_Tensor:$a, Attn_Tensor:$b);
  let assemblyFormat = "$kind $a `,` $b attr-dict `:` type($a) `,` type($b)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Attn_SelectOp : Attn_InferredOp<"select"> {
  let summary = "where(c, a, b)";
  let description = [{
    `r = a` where `c` is not zero, else `b`; shapes broadcast as in `attn.binary`. Only the chosen value counts: an infinity or
    NaN in the other does not spread.
    A `guard` keeps an infinity of a factor from a zero: where what `b` takes from tensors is finite (but for what the condition looks at), `b` and what is
    computed from it are right without the choice, and code may leave it out.
    Example: `%r = attn.select %c, %a, %b : !attn.tensor<>, !attn.tensor<dk>, !attn.tensor<dk>`
  }];
  let arguments = (ins Attn_Tensor:$condition, Attn_Tensor:$a, Attn_Tensor:$b, UnitAttr:$guard);
  let assemblyFormat = "(`guard` $guard^)? $condition `,` $a `,` $b attr-dict `:` type($condition) `,` type($a) `,` type($b)";
}

def Attn_BroadcastOp : Attn_ValueOp<"broadcast"> {
  let summary = "a value repeated to a larger shape";
  let description = [{
    A scalar to any shape, or a vector along the first axis of a matrix: `r[c, e] = x[c]`.
    Example: `%m = attn.broadcast %x : !attn.tensor<> -> !attn.tensor<dk, dv>`
  }];
  let arguments = (ins Attn_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Attn_MatmulOp : Attn_InferredOp<"matmul"> {
  let summary = "contraction of the last axis of a with the first of b";
  let description = [{
    `dot`: `r = sum_c a[c] b[c]`; `x @ M`: `r[e] = sum_c x[c] M[c, e]`; `M @ x`: `r[i] = sum_c M[i, c] x[c]`; and `M @ N`.
    Example: `%o = attn.matmul %q, %S : !attn.tensor<dk>, !attn.tensor<dk, dv>`
  }];
  let arguments = (ins Attn_Tensor:$a, Attn_Tensor:$b);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b)";
}

def Attn_OuterOp : Attn_InferredOp<"outer"> {
  let summary = "outer product of two vectors";
  let description = [{
    `r[c, e] = a[c] b[e]`.
    Example: `%u = attn.outer %k, %v : !attn.tensor<dk>, !attn.tensor<dv>`
  }];
  let arguments = (ins Attn_Tensor:$a, Attn_Tensor:$b);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b)";
}

def Attn_ReduceOp : Attn_InferredOp<"reduce"> {
  let summary = "sum or maximum of a vector";
  let description = [{
    `r = sum_c x[c]` or `r = max_c x[c]`.
    Example: `%s = attn.reduce sum %x : !attn.tensor<dk>`
  }];
  let arguments = (ins Attn_ReduceKind:$kind, Attn_Tensor:$x);
  let assemblyFormat = "$kind $x attr-dict `:` type($x)";
}

def Attn_CumsumOp : Attn_InferredOp<"cumsum"> {
  let summary = "running sum along a vector";
  let description = [{
    `r[i] = sum_{c <= i} x[c]`.
    Example: `%s = attn.cumsum %x : !attn.tensor<dk>`
  }];
  let arguments = (ins Attn_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Attn_ConcatOp : Attn_InferredOp<"concat"> {
  let summary = "vectors and scalars one after another";
  let description = [{
    A scalar counts as a vector of one element.
    Example: `%f = attn.concat %s, %c : !attn.tensor<m>, !attn.tensor<m>`
  }];
  let arguments = (ins Variadic<Attn_Tensor>:$parts);
  let assemblyFormat = "$parts attr-dict `:` type($parts)";
}

def Attn_ExtractOp : Attn_InferredOp<"extract"> {
  let summary = "an element of a vector or a row of a matrix";
  let description = [{
    `r = x[index]`; the index is a polynomial over dimension names, checked against the size when dimensions are bound.
    Example: `%r = attn.extract %x["3"] : !attn.tensor<dk>`
  }];
  let arguments = (ins Attn_Tensor:$x, StrAttr:$index);
  let assemblyFormat = "$x `[` $index `]` attr-dict `:` type($x)";
}

def Attn_FlattenOp : Attn_InferredOp<"flatten"> {
  let summary = "a matrix as its row-major vector";
  let description = [{
    `r[i n + j] = x[i, j]` for x of shape [m, n].
    Example: `%f = attn.flatten %m : !attn.tensor<dk, dk>`
  }];
  let arguments = (ins Attn_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Attn_YieldOp : Attn_InnerOp<"yield", [Pure, Terminator]> {
  let summary = "the values of a region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* yields nothing */ }]>];
}

#endif

#ifndef LINTEL_DIALECT_ATTNATTRS_TD
#define LINTEL_DIALECT_ATTNATTRS_TD

include "dialect/AttnDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Attn_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::lintel";
}

def Attn_InputKind : Attn_Enum<"InputKind", "what an input has one value for", [
  I32EnumAttrCase<"Token", 0, "token">, I32EnumAttrCase<"Head", 1, "head">, I32EnumAttrCase<"Shared", 2, "shared">]>;

def Attn_UnaryKind : Attn_Enum<"UnaryKind", "elementwise function of one argument", [
  I32EnumAttrCase<"Neg", 0, "neg">, I32EnumAttrCase<"Exp", 1, "exp">, I32EnumAttrCase<"Log", 2, "log">,
  I32EnumAttrCase<"Log1p", 3, "log1p">, I32EnumAttrCase<"Expm1", 4, "expm1">, I32EnumAttrCase<"Sqrt", 5, "sqrt">,
  I32EnumAttrCase<"Rsqrt", 6, "rsqrt">, I32EnumAttrCase<"Sin", 7, "sin">, I32EnumAttrCase<"Cos", 8, "cos">,
  I32EnumAttrCase<"Tanh", 9, "tanh">, I32EnumAttrCase<"Sigmoid", 10, "sigmoid">, I32EnumAttrCase<"Softplus", 11, "softplus">,
  I32EnumAttrCase<"Silu", 12, "silu">, I32EnumAttrCase<"Gelu", 13, "gelu">, I32EnumAttrCase<"Relu", 14, "relu">,
  I32EnumAttrCase<"Elu", 15, "elu">, I32EnumAttrCase<"Abs", 16, "abs">, I32EnumAttrCase<"Not", 17, "not">,
  I32EnumAttrCase<"Exp2", 18, "exp2">, I32EnumAttrCase<"Ceil", 19, "ceil">]>;

def Attn_BinaryKind : Attn_Enum<"BinaryKind", "elementwise function of two arguments", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">, I32EnumAttrCase<"Mul", 2, "mul">,
  I32EnumAttrCase<"Div", 3, "div">, I32EnumAttrCase<"Pow", 4, "pow">, I32EnumAttrCase<"Min", 5, "min">,
  I32EnumAttrCase<"Max", 6, "max">, I32EnumAttrCase<"Lt", 7, "lt">, I32EnumAttrCase<"Le", 8, "le">,
  I32EnumAttrCase<"Gt", 9, "gt">, I32EnumAttrCase<"Ge", 10, "ge">, I32EnumAttrCase<"Eq", 11, "eq">,
  I32EnumAttrCase<"Ne", 12, "ne">, I32EnumAttrCase<"And", 13, "and">, I32EnumAttrCase<"Or", 14, "or">]>;

def Attn_ReduceKind : Attn_Enum<"ReduceKind", "how a vector is folded to a scalar", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]>;

def Attn_ScanMode : Attn_Enum<"ScanMode", "which steps a scan takes", [
  I32EnumAttrCase<"Whole", 0, "whole">, I32EnumAttrCase<"Rest", 1, "rest">, I32EnumAttrCase<"Blocks", 2, "blocks">]>;

class Attn_Attr<string name, string attrMnemonic> : AttrDef<Attn_Dialect, name> { let mnemonic = attrMnemonic; }

def Attn_ParamAttr : Attn_Attr<"Param", "param"> {
  let summary = "an input's name and kind";
  let description = [{ `#attn.param<token "q">`; the shape is the type of the matching block argument. }];
  let parameters = (ins "::lintel::InputKind":$kind, StringRefParameter<>:$name);
  let assemblyFormat = "`<` $kind $name `>`";
}

def Attn_StateInfoAttr : Attn_Attr<"StateInfo", "state"> {
  let summary = "how a state of a chunkwise or parallel form moves";
  let description = [{
    `S_t = a_t * S_{t-1} + sum_r outer(u_r, w_r @ S_{t-1}) + sum_p outer(k_p, v_p)`: `decay` is the rank of `a` (-1: none, 0: scalar, 1: a vector along
    the feature axis), `low_rank` how many terms of rank one the transition has, `pairs` how many outer products are added, `rank` the state's rank
    (below 2 there is no `v`).
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$rank, "int64_t":$decay, "int64_t":$pairs, DefaultValuedParameter<"int64_t", "0">:$lowRank);
  let assemblyFormat = "`<` $name `,` `rank` `=` $rank `,` `decay` `=` $decay `,` `pairs` `=` $pairs (`,` `low_rank` `=` $lowRank^)? `>`";
}

def Attn_ReadAttr : Attn_Attr<"Read", "read"> {
  let summary = "a linear read of a state";
  let description = [{
    `r_t = q_t @ S`, of the state after this step's update (`inclusive`) or before the step.
  }];
  let parameters = (ins "int64_t":$state, "bool":$inclusive);
  let assemblyFormat = "`<` $state `,` `inclusive` `=` $inclusive `>`";
}

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "how a stage is computed, or where rows are read";
  let description = [{
    `#attn.schedule<"vector 8 panel 2 rows 4">`: the directives of codegen/schedule/StageSchedule.h, the same text as in a .sched file.
  }];
  let parameters = (ins StringRefParameter<>:$directives);
  let assemblyFormat = "`<` $directives `>`";
}

#endif

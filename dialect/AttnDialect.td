// The attn dialect: what an attention operator means, in three phases (spec, form, kernel).
#ifndef LINTEL_DIALECT_ATTNDIALECT_TD
#define LINTEL_DIALECT_ATTNDIALECT_TD

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::lintel";
  let summary = "Attention operators, from mathematics to stages";
  let description = [{
    One operator passes through three phases, each a top-level op:

    - **spec** (`attn.spec`): one step of the recurrence over the reals, dimensions symbolic;
    - **form** (`attn.recurrent`, `attn.chunkwise`, `attn.parallel`, `attn.step`): how the steps are grouped;
    - **kernel** (`attn.kernel`): scans over chunks whose bodies are named stages over named axes.

    All numbers are reals: a precision is chosen below, never here. The float64 interpreter runs every phase.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"]; // indices of kernels
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
}

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

// What stands inside of an operator: in a block with an order. At a module's top level a value could be made of itself.
def Attn_InOrder : NativeOpTrait<"InOrder"> { let cppNamespace = "::lintel"; }
class Attn_InnerOp<string mnemonic, list<Trait> traits = []> : Attn_Op<mnemonic, !listconcat([Attn_InOrder], traits)>;

#endif

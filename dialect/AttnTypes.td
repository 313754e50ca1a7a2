#ifndef LINTEL_DIALECT_ATTNTYPES_TD
#define LINTEL_DIALECT_ATTNTYPES_TD

include "dialect/AttnDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Attn_TensorType : TypeDef<Attn_Dialect, "Real"> {
  let mnemonic = "tensor";
  let summary = "reals over named or fixed dimensions";
  let description = [{
    A scalar (`!attn.tensor<>`), vector or matrix of reals; stages of the kernel phase have up to four axes. A dimension is
    a polynomial over dimension names (`dk`, `2*m`, `dk*dk`) in a spec and an integer once dimensions are bound.

    Example: `!attn.tensor<dk, 2*m>`, `!attn.tensor<64, 256>`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$dims);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static RealType get(::mlir::MLIRContext *context, ::llvm::ArrayRef<DimExpr> dims);
    static RealType get(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> dims);
    unsigned getRank() const { return getDims().size(); }
    /// All dimensions are integers.
    bool isStatic() const;
    DimExpr getDim(unsigned i) const;
    /// The sizes; only where isStatic().
    ::llvm::SmallVector<int64_t> getSizes() const;
    int64_t getNumElements() const;
  }];
}

def Attn_SequenceType : TypeDef<Attn_Dialect, "Sequence"> {
  let mnemonic = "sequence";
  let summary = "a token input's values at all steps of one head of one sequence";
  let description = [{
    `[T, n...]`: T, the number of steps, is known at run time only. Example: `!attn.sequence<64>` is `[T, 64]`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
}

def Attn_Tensor : DialectType<Attn_Dialect, CPred<"::llvm::isa<::lintel::RealType>($_self)">, "attn tensor", "::lintel::RealType">;
def Attn_Scalar : DialectType<Attn_Dialect,
    And<[CPred<"::llvm::isa<::lintel::RealType>($_self)">, CPred<"::llvm::cast<::lintel::RealType>($_self).getRank() == 0">]>,
    "attn scalar", "::lintel::RealType">, BuildableType<"::lintel::RealType::get($_builder.getContext(), ::llvm::ArrayRef<int64_t>{})">;
def Attn_Sequence : DialectType<Attn_Dialect, CPred<"::llvm::isa<::lintel::SequenceType>($_self)">, "attn sequence", "::lintel::SequenceType">;

#endif

#include "codegen/cpu/Passes.h"

namespace lintel {
#define GEN_PASS_DEF_RELAXFLOAT
#include "codegen/cpu/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

struct RelaxFloat : lintel::impl::RelaxFloatBase<RelaxFloat> {
  void runOnOperation() override {
    getOperation()->walk([](arith::ArithFastMathInterface op) {
      arith::FastMathFlags flags = arith::FastMathFlags::contract;
      if (isa<vector::VectorDialect>(op->getDialect()))
        flags = flags | (op.getFastMathFlagsAttr().getValue() & arith::FastMathFlags::reassoc);
      op->setAttr(op.getFastMathAttrName(), arith::FastMathFlagsAttr::get(op->getContext(), flags));
    });
  }
};

} // namespace

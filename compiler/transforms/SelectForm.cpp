#include "compiler/analysis/CostAnalysis.h"
#include "compiler/transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"

namespace lintel {
#define GEN_PASS_DEF_SELECTFORM
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

StringRef formName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<RecurrentOp>([](auto) { return "recurrent"; })
      .Case<ChunkwiseOp>([](auto) { return "chunkwise"; })
      .Case<ParallelOp, StreamedOp>([](auto) { return "parallel"; })
      .Case<StepOp>([](auto) { return "step"; })
      .Default([](auto) { return ""; });
}

struct Pass : lintel::impl::SelectFormBase<Pass> {
  using SelectFormBase::SelectFormBase;

  void runOnOperation() override {
    if (!llvm::is_contained({"auto", "recurrent", "chunkwise", "parallel", "step"}, StringRef(form))) {
      getOperation().emitError("expected a form of auto, recurrent, chunkwise, parallel or step, found '")
          << form << "'";
      return signalPassFailure();
    }
    for (SpecOp spec : llvm::make_early_inc_range(getOperation().getOps<SpecOp>()))
      if (failed(select(spec))) signalPassFailure();
  }

  LogicalResult select(SpecOp spec) {
    SmallVector<Operation *> forms;
    for (Operation &op : *getOperation().getBody()) {
      StringRef kind = formName(&op);
      if (!kind.empty() && SymbolTable::getSymbolName(&op).getValue() == (spec.getSymName() + "_" + kind).str())
        forms.push_back(&op);
    }
    if (forms.empty()) return spec.emitError("expected a derived form, found none; run the derive passes first");
    Operation *best = nullptr;
    std::string reason;
    for (Operation *op : forms) {
      StringRef kind = formName(op);
      double cost = costOf(op, steps).total();
      if (form == "auto" ? kind != "step" && (!best || cost < costOf(best, steps).total()) : kind == form) best = op;
      reason += llvm::formatv("{0}{1} {2:f0}",
                              reason.empty() ? "cost a step at T=" + std::to_string(steps) + ": " : ", ", kind, cost)
                    .str();
    }
    if (!best) {
      InFlightDiagnostic diag = spec.emitError("operator '") << spec.getSymName() << "' has no " << form << " form";
      for (Operation *op : forms)
        for (StringRef attr : {"not_chunkwise", "not_parallel"})
          if (auto why = op->getAttrOfType<StringAttr>(attr); why && (form == "chunkwise" || form == "parallel"))
            diag << ": " << why.getValue();
      diag << "; it has";
      for (Operation *op : forms) diag << " " << formName(op);
      return failure();
    }
    best->setAttr("reason", StringAttr::get(&getContext(), form == "auto" ? reason : "asked for"));
    for (Operation *op : forms)
      if (op != best) op->erase();
    spec.erase();
    return success();
  }
};

} // namespace

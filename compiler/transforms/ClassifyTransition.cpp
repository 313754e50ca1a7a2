#include "compiler/analysis/TransitionAnalysis.h"
#include "compiler/transforms/Passes.h"

namespace lintel {
#define GEN_PASS_DEF_CLASSIFYTRANSITION
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {
struct Pass : lintel::impl::ClassifyTransitionBase<Pass> {
  using ClassifyTransitionBase::ClassifyTransitionBase;
  void runOnOperation() override {
    for (RecurrentOp recurrent : getOperation().getOps<RecurrentOp>()) {
      auto copy = cast<RecurrentOp>(recurrent->clone());
      SmallVector<unsigned> prefix;
      for (int64_t s : recurrent.getScales())
        if (s >= 0 && !llvm::is_contained(prefix, static_cast<unsigned>(s))) prefix.push_back(s);
      SmallVector<Attribute> classes;
      {
        TransitionAnalysis analysis(copy.getBody().front(), recurrent.getInputs().size(), prefix);
        for (unsigned s = 0; s < analysis.numStates(); ++s)
          classes.push_back(StringAttr::get(&getContext(),
                                            analysis.isPrefix(s) ? "exponent" : toString(analysis.transition(s).kind)));
      }
      recurrent->setAttr("transition", ArrayAttr::get(&getContext(), classes));
      copy->erase();
    }
  }
};
} // namespace

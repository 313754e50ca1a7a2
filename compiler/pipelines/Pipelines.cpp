#include "compiler/pipelines/Pipelines.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace lintel;

/// The same values get the same ops. Twice, since products are regrouped only where they have one use, and merging
/// equal values makes that so.
static void addCleanup(OpPassManager &passes) {
  for (int i = 0; i < 2; ++i) {
    passes.addPass(createRegroupSums());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
  }
  passes.addPass(createOrderValues());
}

void lintel::buildDerivePipeline(OpPassManager &passes, const FormOptions &options) {
  BindDimensionsOptions bind;
  bind.dims.assign(options.dims.begin(), options.dims.end());
  passes.addPass(createBindDimensions(bind));
  passes.addPass(createReorderProducts());
  // However a step was written, it is the same ops from here on.
  addCleanup(passes);
  passes.addPass(createAssignPrecision());
  passes.addPass(createDeriveRecurrent());
  // Before the other forms, so that they inherit the exponents.
  passes.addPass(createStabilize());
  addCleanup(passes);
  passes.addPass(createClassifyTransition());
  passes.addPass(createDeriveChunkwise({options.chunk}));
  addCleanup(passes);
  passes.addPass(createDeriveParallel({options.chunk}));
  passes.addPass(createDeriveStep());
}

void lintel::buildFormPipeline(OpPassManager &passes, const FormOptions &options) {
  buildDerivePipeline(passes, options);
  SelectFormOptions select;
  select.form = options.form;
  select.steps = options.steps;
  passes.addPass(createSelectForm(select));
}

void lintel::buildKernelPipeline(OpPassManager &passes) {
  passes.addPass(createGuardGrowth());
  passes.addPass(createLowerFormToStages());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createAssignPrecision());
  // After CSE: equal stages are one before they are grouped.
  passes.addPass(createFuseStages());
  passes.addPass(createWalkStates());
}

#include "compiler/transforms/Passes.h"
namespace lintel {
#define GEN_PASS_DEF_STABILIZE
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel
using namespace mlir;
using namespace lintel;
namespace {
struct Pass : lintel::impl::StabilizeBase<Pass> {
  using StabilizeBase::StabilizeBase;
  void runOnOperation() override {}
};
} // namespace

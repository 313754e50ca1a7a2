// lintel-opt: runs any pass or pipeline on IR given as text; every phase's IR parses here.
#include "codegen/cpu/CpuLowering.h"
#include "codegen/schedule/AssignSchedule.h"
#include "compiler/pipelines/Pipelines.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

namespace {
struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  ListOption<std::string> dims{*this, "dims", llvm::cl::desc("NAME=VALUE, comma separated")};
  Option<std::string> form{*this, "form", llvm::cl::desc("auto, recurrent, chunkwise, parallel or step"),
                           llvm::cl::init("auto")};
  Option<int64_t> chunk{*this, "chunk", llvm::cl::desc("steps a chunk; 0 chooses"), llvm::cl::init(0)};

  lintel::FormOptions get() const {
    lintel::FormOptions options;
    options.dims.assign(dims.begin(), dims.end());
    options.form = form, options.chunk = chunk;
    return options;
  }
};
} // namespace

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<lintel::AttnDialect>();
  lintel::registerCpuDialects(registry);
  mlir::registerTransformsPasses();
  lintel::registerLintelTransformsPasses();
  lintel::registerLintelSchedulePasses();
  lintel::registerCpuPasses();
  mlir::PassPipelineRegistration<PipelineOptions> derive(
      "lintel-derive", "specs to all their forms",
      [](mlir::OpPassManager &passes, const PipelineOptions &o) { lintel::buildDerivePipeline(passes, o.get()); });
  mlir::PassPipelineRegistration<PipelineOptions> form(
      "lintel-form", "specs to one form each",
      [](mlir::OpPassManager &passes, const PipelineOptions &o) { lintel::buildFormPipeline(passes, o.get()); });
  mlir::PassPipelineRegistration<> kernel("lintel-kernel", "forms to kernels", lintel::buildKernelPipeline);
  return failed(mlir::MlirOptMain(argc, argv, "lintel's pass driver\n", registry));
}

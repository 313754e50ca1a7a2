#include "Run.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace lintel::testing;
using namespace mlir;

namespace {

// What a memref of one dimension is passed as.
struct Descriptor {
  void *allocated, *aligned;
  int64_t offset, size, stride;
};

LogicalResult lowerToLLVM(ModuleOp module) {
  PassManager pm(module.getContext());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1).run(module, modules);
}

} // namespace

struct CompiledStage::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void *entry = nullptr;
};

CompiledStage::~CompiledStage() = default;

CompiledStage::CompiledStage(ModuleOp module, func::FuncOp stage) : state(std::make_unique<State>()) {
  if (llvm::Error e = compile(module, stage)) error = llvm::toString(std::move(e));
}

llvm::Error CompiledStage::compile(ModuleOp module, func::FuncOp stage) {
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);

  std::string symbol = ("_mlir_ciface_" + stage.getName()).str();
  stage.setPublic();
  stage->setAttr("llvm.emit_c_interface", UnitAttr::get(module.getContext()));
  if (failed(lowerToLLVM(module))) return llvm::createStringError("lowering to LLVM failed");
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, *context);
  if (!code) return llvm::createStringError("translation to LLVM failed");

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder) return builder.takeError();
  auto machine = builder->createTargetMachine();
  if (!machine) return machine.takeError();
  code->setDataLayout((*machine)->createDataLayout());
  code->setTargetTriple((*machine)->getTargetTriple());
  for (llvm::Function &f : *code) {
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", (*machine)->getTargetCPU());
    f.addFnAttr("target-features", (*machine)->getTargetFeatureString());
  }
  optimize(*code, **machine);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).create();
  if (!jit) return jit.takeError();
  state->jit = std::move(*jit);
  llvm::orc::ThreadSafeModule owned(std::move(code), std::move(context));
  if (llvm::Error e = state->jit->addIRModule(std::move(owned))) return e;
  auto entry = state->jit->lookup(symbol);
  if (!entry) return entry.takeError();
  state->entry = entry->toPtr<void *>();
  return llvm::Error::success();
}

void CompiledStage::operator()(const std::vector<Argument> &arguments) {
  assert(arguments.size() <= 10 && "more arguments than the call passes");
  std::vector<Descriptor> descriptors(arguments.size());
  uintptr_t a[10] = {};
  for (size_t i = 0; i < arguments.size(); ++i) {
    descriptors[i] = {arguments[i].data, arguments[i].data, 0, int64_t(1) << 40, 1};
    a[i] = arguments[i].data ? reinterpret_cast<uintptr_t>(&descriptors[i]) : uintptr_t(arguments[i].index);
  }
  // Integers and pointers are passed alike, and arguments too many are harmless in the C calling conventions.
  using Entry = void (*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                         uintptr_t, uintptr_t);
  reinterpret_cast<Entry>(state->entry)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
}

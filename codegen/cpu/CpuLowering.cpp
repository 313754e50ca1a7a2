#include "codegen/cpu/CpuLowering.h"
#include "codegen/cpu/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace lintel;

void lintel::registerCpuDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                  index::IndexDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  ub::UBDialect, vector::VectorDialect>();
  func::registerInlinerExtension(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void lintel::buildCpuPipeline(OpPassManager &passes, const CpuTarget &target) {
  passes.addPass(createCheckEntry());
  // Stages into the scan, so that their index arithmetic and tiles meet the loop around them. They are simplified
  // there, and not before too, which the inliner does where it is not told otherwise.
  passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createSpreadPrefetch());
  // After inlining: a stage's allocations land in the scan's loop.
  passes.addPass(createHoistAllocas());
  // The flags go first, as the expansions' own ops must carry none; half types go after the math on them.
  passes.addPass(createRelaxFloat());
  passes.addPass(createExpandMath());
  passes.addPass(createExpandArith());
  // After both: their code is full of fused multiply-adds, and the latter's of half types.
  if (target.emulates) passes.addPass(createEmulateInstructions());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createConvertVectorToSCFPass(VectorTransferToSCFOptions().enableFullUnroll()));
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createBuildEntry());
}

LogicalResult lintel::runCpuPipeline(ModuleOp module, const CpuTarget &target) {
  PassManager passes(module.getContext());
#ifdef NDEBUG
  // After each of some thirty passes over all the code of a kernel it is a third of their time. Once at the end is
  // kept.
  passes.enableVerifier(false);
#endif
  buildCpuPipeline(passes, target);
  return success(succeeded(passes.run(module)) && succeeded(verify(module)));
}

llvm::Expected<std::unique_ptr<llvm::Module>> lintel::translateToLLVM(ModuleOp module, llvm::LLVMContext &context,
                                                                      const CpuTarget &target) {
  auto machine = createTargetMachine(target);
  if (!machine) return machine.takeError();
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(module, context, "lintel");
  if (!result) return llvm::createStringError("the module could not be translated to LLVM IR");
  result->setDataLayout((*machine)->createDataLayout());
  result->setTargetTriple(llvm::Triple(target.triple));
  for (llvm::Function &function : *result) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty()) function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
    function.addFnAttr("min-legal-vector-width", "0");
    // Nothing here throws, so no unwind tables are needed either.
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  return std::move(result);
}

/// LLVM legalises a bf16 that is loaded and stored (a plain copy) by way of f32, and calls a library to come back.
/// Memory is read and written as integers instead; the integer is the value everywhere else already.
static void accessBfloatAsInteger(llvm::Module &module) {
  llvm::SmallVector<llvm::LoadInst *> loads;
  llvm::SmallVector<llvm::StoreInst *> stores;
  for (llvm::Function &function : module)
    for (llvm::Instruction &op : llvm::instructions(function)) {
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&op); load && load->getType()->isBFloatTy())
        loads.push_back(load);
      if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&op);
          store && store->getValueOperand()->getType()->isBFloatTy())
        stores.push_back(store);
    }
  llvm::Type *integer = llvm::Type::getInt16Ty(module.getContext());
  llvm::DenseMap<llvm::Value *, llvm::Value *> bits; // of a loaded value
  for (llvm::LoadInst *load : loads) {
    llvm::IRBuilder<> builder(load);
    auto *raw = builder.CreateAlignedLoad(integer, load->getPointerOperand(), load->getAlign());
    raw->copyMetadata(*load);
    llvm::Value *value = builder.CreateBitCast(raw, load->getType());
    bits[value] = raw;
    load->replaceAllUsesWith(value);
    load->eraseFromParent();
    // A bf16 that lives on into another block would be kept as f32 too.
    for (llvm::User *user : llvm::make_early_inc_range(value->users()))
      if (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(user); cast && cast->getType() == integer) {
        cast->replaceAllUsesWith(raw);
        cast->eraseFromParent();
      }
  }
  for (llvm::StoreInst *store : stores) {
    llvm::IRBuilder<> builder(store);
    llvm::Value *value = store->getValueOperand(), *raw = bits.lookup(value);
    if (!raw) raw = builder.CreateBitCast(value, integer);
    auto *made = builder.CreateAlignedStore(raw, store->getPointerOperand(), store->getAlign());
    made->copyMetadata(*store);
    store->eraseFromParent();
  }
}

llvm::Error lintel::optimise(llvm::Module &module, const CpuTarget &target) {
  auto machine = createTargetMachine(target);
  if (!machine) return machine.takeError();
  llvm::PipelineTuningOptions tuning;
  tuning.LoopInterleaving = tuning.LoopVectorization = tuning.LoopUnrolling = false;
  tuning.SLPVectorization = true;
  llvm::PassBuilder builder(machine->get(), tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
  accessBfloatAsInteger(module);
  return llvm::Error::success();
}

/// A shipped kernel links with nothing: an undefined symbol here would surface in a user's link.
static llvm::Error checkUndefined(llvm::StringRef object, llvm::ArrayRef<std::string> allowed) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) return file.takeError();
  std::string names;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags) return flags.takeError();
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined)) continue;
    auto name = symbol.getName();
    if (!name) return name.takeError();
    if (name->empty() || *name == "memcpy" || *name == "memmove" || *name == "memset" ||
        *name == "_GLOBAL_OFFSET_TABLE_" || llvm::is_contained(allowed, *name))
      continue;
    names += (names.empty() ? "" : ", ") + name->str();
  }
  if (names.empty()) return llvm::Error::success();
  return llvm::createStringError("the kernel calls %s, which kernels may not (expected memcpy, memmove or memset "
                                 "only); an op has no expansion for this target",
                                 names.c_str());
}

llvm::Error lintel::emitCode(llvm::Module &module, const CpuTarget &target, CpuOutput output,
                             llvm::SmallVectorImpl<char> &result, llvm::ArrayRef<std::string> allowedSymbols) {
  result.clear();
  llvm::raw_svector_ostream stream(result);
  if (output == CpuOutput::LLVMText) {
    module.print(stream, nullptr);
    return llvm::Error::success();
  }
  auto machine = createTargetMachine(target);
  if (!machine) return machine.takeError();
  llvm::legacy::PassManager passes;
  auto type = output == CpuOutput::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, type))
    return llvm::createStringError("LLVM cannot emit code for %s", target.triple.c_str());
  passes.run(module);
  if (output == CpuOutput::Object) return checkUndefined({result.data(), result.size()}, allowedSymbols);
  return llvm::Error::success();
}

llvm::Error lintel::compileForCpu(ModuleOp module, const CpuTarget &target, CpuOutput output,
                                  llvm::SmallVectorImpl<char> &result) {
  if (failed(runCpuPipeline(module, target))) return llvm::createStringError("lowering to the LLVM dialect failed");
  llvm::LLVMContext context;
  auto translated = translateToLLVM(module, context, target);
  if (!translated) return translated.takeError();
  if (llvm::Error error = optimise(**translated, target)) return error;
  return emitCode(**translated, target, output, result);
}

void lintel::registerCpuPasses() {
  registerLintelCpuPasses();
  PassPipelineRegistration<>("lintel-cpu", "Loops to the LLVM dialect, as kernels for CPUs are lowered",
                             [](OpPassManager &passes) { buildCpuPipeline(passes, CpuTarget()); });
}

#include "codegen/halide/StmtImportImpl.h"

using namespace lintel::detail;
using namespace mlir;

// A statement that is a region of its own: no store may be held back over its end.
void Importer::importBody(const hi::Stmt &s) {
  s.accept(this);
  flushStores();
}

void Importer::visit(const hi::LetStmt *op) {
  auto *call = op->value.as<hi::Call>();
  if (op->value.type().is_handle()) {
    if (!call || call->name != hi::Call::buffer_get_host || call->args.empty() || !call->args[0].as<hi::Variable>())
      refuse("let of the handle '" + op->name + "' = " + text(op->value) + " has no import");
    auto it = bufferArguments.find(call->args[0].as<hi::Variable>()->name);
    if (it == bufferArguments.end()) refuse("buffer '" + op->name + "' is no argument of the function");
    Value memref = entry->getArgument(it->second);
    Type element = cast<MemRefType>(memref.getType()).getElementType();
    Scoped<Buffers> scope(buffers, op->name, {memref, element.getIntOrFloatBitWidth() / 8});
    op->body.accept(this);
    flushStores();
    return;
  }
  // Halide fetches the whole shape of each buffer; only what is used has to be known.
  bool fetchesShape = call && llvm::StringRef(call->name).starts_with("_halide_buffer_");
  if (fetchesShape && !hi::stmt_uses_var(op->body, op->name)) {
    op->body.accept(this);
    return;
  }
  Scoped<Variables> scope(variables, op->name, bindingOf(op->value));
  op->body.accept(this);
  // The name may mean something else to what follows, so no held-back store may mention it.
  if (llvm::any_of(pending.stores, [&](const PendingStore &p) { return hi::expr_uses_var(p.base, op->name); }))
    flushStores();
}

void Importer::visit(const hi::Block *op) {
  SmallVector<hi::Stmt> statements;
  hi::Stmt rest;
  for (const hi::Block *block = op; block; block = rest.as<hi::Block>()) {
    statements.push_back(block->first);
    rest = block->rest;
  }
  statements.push_back(rest);

  for (auto it = statements.begin(); it != statements.end();) {
    SmallVector<const hi::Store *> run;
    while (it != statements.end() && it->as<hi::Store>()) run.push_back((it++)->as<hi::Store>());
    if (run.empty()) {
      (it++)->accept(this);
      continue;
    }
    prepareLoads(run);
    for (const hi::Store *one : run) importStore(one);
    preparedLoads.clear();
  }
}

void Importer::visit(const hi::ProducerConsumer *op) {
  flushStores();
  Location outer = b.getLoc();
  if (op->is_producer) b.setLoc(NameLoc::get(b.getStringAttr(op->name), outerLoc));
  op->body.accept(this);
  flushStores();
  b.setLoc(outer);
}

void Importer::visit(const hi::For *op) {
  switch (op->for_type) {
  case hi::ForType::Serial:
    break;
  case hi::ForType::Parallel:
    refuse("parallel loop over '" + op->name +
           "': the split over threads is made outside of Halide; remove .parallel() "
           "from the schedule");
  case hi::ForType::GPUBlock:
  case hi::ForType::GPUThread:
  case hi::ForType::GPULane:
    // The place for GPU code: Module::get_conceptual_stmt() has these loops as one nest, which becomes a gpu.launch
    // with the loop variables as block and thread ids, GPUShared allocations as workgroup attributions,
    // gpu_thread_barrier as gpu.barrier.
    refuse("GPU loop over '" + op->name + "' has no import yet; schedule the stage for a CPU target");
  default:
    refuse("loop over '" + op->name + "' is of a kind that lowering should have removed");
  }
  flushStores();
  Value lower = evalIndex(op->min), upper;
  auto min = hi::as_const_int(op->min), extent = hi::as_const_int(op->extent);
  if (min && extent) upper = indexConstant(*min + *extent);
  else upper = arith::AddIOp::create(b, lower, evalIndex(op->extent), arith::IntegerOverflowFlags::nsw);
  auto loop = scf::ForOp::create(b, lower, upper, indexConstant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Scoped<Variables> scope(variables, op->name, {Value(), loop.getInductionVar()});
  importBody(op->body);
}

void Importer::visit(const hi::IfThenElse *op) {
  flushStores();
  Value condition = eval(op->condition);
  auto branch = scf::IfOp::create(b, condition, op->else_case.defined());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  importBody(op->then_case);
  if (!op->else_case.defined()) return;
  b.setInsertionPointToStart(branch.elseBlock());
  importBody(op->else_case);
}

void Importer::visit(const hi::Evaluate *op) {
  if (auto *call = op->value.as<hi::Call>(); call && call->is_intrinsic(hi::Call::prefetch))
    return importPrefetch(call);
  if (!hi::is_const(op->value)) eval(op->value);
}

void Importer::visit(const hi::Atomic *op) {
  // Stages have no parallel loops, so a store needs no atomicity; a mutex means that Halide expected them.
  if (!op->mutex_name.empty()) refuse("atomic node of '" + op->producer_name + "' with a mutex has no import");
  op->body.accept(this);
}

void Importer::visit(const hi::HoistedStorage *op) { op->body.accept(this); }

void Importer::visit(const hi::AssertStmt *op) {
  refuse("assert node " + text(op->condition) + ": lower with the target feature no_asserts");
}
void Importer::visit(const hi::Fork *) { refuse("fork node: async() stages have no import"); }
void Importer::visit(const hi::Acquire *) { refuse("acquire node: async() stages have no import"); }

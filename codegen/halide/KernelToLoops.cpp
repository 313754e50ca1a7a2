#include "codegen/halide/KernelToLoops.h"
#include "codegen/halide/LoopWriter.h"
#include "codegen/schedule/AssignSchedule.h"
#include "codegen/schedule/Autoscheduler.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace lintel;

LogicalResult LoopWriter::writeLoop(Operation *loop) {
  OpBuilder::InsertionGuard guard(b);
  Block &block = loop->getRegion(0).front();
  auto scan = dyn_cast<ScanOp>(loop);
  auto pairs = dyn_cast<PairsOp>(loop);
  ValueRange init = scan ? ValueRange(scan.getInit()) : ValueRange(pairs.getInit());
  SmallVector<Buffer> carried;
  for (auto [k, v] : llvm::enumerate(init)) {
    auto from = bufferOf(v);
    if (failed(from)) return failure();
    Buffer buffer = *from;
    // Memory that nobody else looks at again is taken over, all other is copied; so is what was made outside of a loop
    // around this one, which will need it again.
    bool made = v.getParentBlock() == loop->getBlock();
    if (!from->ours || !made || !v.hasOneUse() || llvm::count(init, v) > 1) {
      auto sizes = cast<RealType>(v.getType()).getSizes();
      auto fresh = allocate(sizes, compute);
      if (failed(fresh)) return failure();
      copy(*fresh, *from, sizes);
      buffer = *fresh;
    }
    carried.push_back(buffer);
    buffers[block.getArgument(k + 1)] = buffer;
    buffers[loop->getResult(k)] = buffer;
  }
  Value zero = index(0), chunk = index(scan ? scan.getChunk() : pairs.getChunk()), low = zero, high = steps;
  auto down = [&](Value x, int64_t by) {
    return arith::MulIOp::create(b, loc, arith::DivUIOp::create(b, loc, x, index(by)), index(by)).getResult();
  };
  if (scan && scan.getMode() == ScanMode::Whole) high = down(steps, scan.getChunk());
  if (scan && scan.getMode() == ScanMode::Rest) low = down(steps, scan.getFrom());
  if (pairs) {
    Value t = indices.lookup(pairs.getT());
    if (pairs.getCausal())
      high = arith::MinSIOp::create(b, loc, steps, arith::AddIOp::create(b, loc, t, index(pairs.getQueries())));
    if (pairs.getWindow() > 0)
      low = down(arith::MaxSIOp::create(b, loc, zero, arith::SubIOp::create(b, loc, t, index(pairs.getWindow() - 1))),
                 pairs.getChunk());
    if (int64_t ahead = pairs.getAhead(); ahead >= 0)
      high = arith::MinSIOp::create(b, loc, high, arith::AddIOp::create(b, loc, t, index(pairs.getQueries() + ahead)));
    if (pairs.getFirst() > 0) // the blocks in front of the window's
      high = arith::MinSIOp::create(b, loc, index(pairs.getFirst()), std::exchange(low, zero));
  }
  Value wholeLow, skipped; // of the blocks that are cut, where others lie between them, and how far these reach
  if (auto whole = pairs ? pairs.getWhole() : std::nullopt) {
    int64_t n = pairs.getChunk(), before = (*whole)[0], after = (*whole)[1];
    Value t = indices.lookup(pairs.getT()), from = low, to = high;
    if (before >= 0) {
      Value up = arith::AddIOp::create(b, loc, t, index(2 * n - 2 - before));
      from = arith::MaxSIOp::create(b, loc, low, down(arith::MaxSIOp::create(b, loc, zero, up), n));
    }
    if (after >= 0) to = arith::MinSIOp::create(b, loc, to, arith::AddIOp::create(b, loc, t, index(after + 1)));
    to = arith::MaxSIOp::create(b, loc, from, down(to, n));
    if (pairs.getCut()) {
      wholeLow = from, skipped = arith::SubIOp::create(b, loc, to, from);
      high = arith::SubIOp::create(b, loc, high, skipped);
    } else {
      low = from, high = to;
    }
  }
  auto loops = scf::ForOp::create(b, loc, low, high, chunk);
  b.setInsertionPointToStart(loops.getBody());
  Value at = loops.getInductionVar();
  if (skipped) {
    Value behind = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, at, wholeLow);
    at = arith::AddIOp::create(b, loc, at, arith::SelectOp::create(b, loc, behind, skipped, zero));
  }
  if (pairs && pairs.getDescending()) {
    // low + (the last block's start - at)
    Value blocks = arith::CeilDivUIOp::create(b, loc, arith::SubIOp::create(b, loc, high, low), chunk);
    Value last = arith::AddIOp::create(
        b, loc, low, arith::MulIOp::create(b, loc, arith::SubIOp::create(b, loc, blocks, index(1)), chunk));
    at = arith::AddIOp::create(b, loc, low, arith::SubIOp::create(b, loc, last, at));
  }
  indices[block.getArgument(0)] = at;
  for (StageOp stage : block.getOps<StageOp>())
    if (Value old = overwrittenBy(stage)) overwrites[stage] = old;
  return writeBlock(
      block,
      [&](ArrayRef<Value> next) -> LogicalResult {
        // All move at once: what lies in the memory of another carried value is put aside before any is overwritten.
        SmallVector<std::tuple<unsigned, Buffer, Value>> moves;
        for (auto [k, v] : llvm::enumerate(next)) {
          auto it = v.getDefiningOp() ? overwrites.find(v.getDefiningOp()) : overwrites.end();
          if (v == block.getArgument(k + 1) || (it != overwrites.end() && it->second == block.getArgument(k + 1)))
            continue;
          auto from = bufferOf(v);
          if (failed(from)) return failure();
          Buffer source = *from;
          if (llvm::any_of(carried, [&](const Buffer &other) { return other.base == source.base; })) {
            auto sizes = cast<RealType>(v.getType()).getSizes();
            auto aside = allocate(sizes, compute);
            if (failed(aside)) return failure();
            copy(*aside, source, sizes);
            source = *aside;
          }
          moves.emplace_back(k, source, v);
        }
        for (auto &[k, source, v] : moves) copy(carried[k], source, cast<RealType>(v.getType()).getSizes());
        return success();
      },
      carried);
}

/// The size of the chunks that alone use what a group in front of all loops computes; 0 where others do, too.
static int64_t neededByChunksOf(ArrayRef<StageOp> group) {
  int64_t chunk = 0;
  for (StageOp stage : group) {
    if (!isa<KernelOp>(stage->getParentOp())) return 0;
    for (Operation *user : stage->getUsers()) {
      Operation *top = stage->getBlock()->findAncestorOpInBlock(*user);
      if (llvm::is_contained(group, dyn_cast<StageOp>(top))) continue;
      auto scan = dyn_cast<ScanOp>(top);
      if (!scan || scan.getMode() != ScanMode::Whole || llvm::is_contained(scan.getInit(), stage.getResult())) return 0;
      int64_t n = scan.getChunk();
      if (n == 1 || (chunk && chunk != n)) return 0;
      chunk = n;
    }
  }
  return chunk;
}

LogicalResult LoopWriter::writeBlock(Block &block, llvm::function_ref<LogicalResult(ArrayRef<Value>)> atEnd,
                                     ArrayRef<Buffer> carried) {
  StageGroups groupsHere = groupsOf(block);
  for (RowsOp rows : block.getOps<RowsOp>())
    if (!rows->use_empty() && failed(writeRows(rows))) return failure();
  for (EmitOp emit : block.getOps<EmitOp>()) prepareEmit(emit);
  for (Operation &op : block.without_terminator()) {
    if (auto stage = dyn_cast<StageOp>(op)) {
      auto &group = groupsHere[stage.getGroup()];
      if (group.back() != stage) continue;
      OpBuilder::InsertionGuard guard(b);
      // What only whole chunks need is not computed where there is none: decode of a token is all that it is.
      if (int64_t chunk = neededByChunksOf(group)) {
        Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, steps, index(chunk));
        b.setInsertionPointToStart(scf::IfOp::create(b, loc, any, false).thenBlock());
      }
      if (failed(runGroup(group))) return failure();
    } else if (isa<ScanOp, PairsOp>(op)) {
      if (failed(writeLoop(&op))) return failure();
    }
  }
  for (EmitOp emit : block.getOps<EmitOp>())
    if (failed(finishEmit(emit))) return failure();
  SmallVector<Value> next(block.getTerminator()->getOperands());
  return atEnd(next);
}

LogicalResult LoopWriter::run() {
  createFunction();
  // All states first: their start is read before anything could be written over it.
  for (Value state : kernel.getBody().front().getArguments().drop_front(inputs.size()))
    if (failed(bufferOf(state))) return failure();
  for (StageOp stage : kernel.getBody().front().getOps<StageOp>())
    if (Value old = overwrittenBy(stage)) overwrites[stage] = old;
  auto end = [&](ArrayRef<Value> last) -> LogicalResult {
    SmallVector<Buffer> from;
    for (auto [s, v] : llvm::enumerate(last)) {
      auto buffer = bufferOf(v);
      if (failed(buffer)) return failure();
      from.push_back(*buffer);
      // What lies where another state goes is put aside before any is written.
      for (auto [other, state] : llvm::enumerate(states))
        if (isInPlaceState(other) && other != s && buffer->base == state.out) {
          auto sizes = cast<RealType>(v.getType()).getSizes();
          auto aside = allocate(sizes, compute);
          if (failed(aside)) return failure();
          copy(*aside, *buffer, sizes);
          from.back() = *aside;
        }
    }
    for (auto [s, v] : llvm::enumerate(last)) {
      if (isInPlaceState(s)) {
        Buffer to{states[s].out, {request.state, false, false}, {}, false};
        if (from[s].base != states[s].out) copy(to, from[s], cast<RealType>(v.getType()).getSizes());
        continue;
      }
      auto choice = scf::IfOp::create(b, loc, states[s].hasOut, false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(choice.thenBlock());
      Buffer to{states[s].out, {states[s].dtype, false, false}, {}, false};
      copy(to, from[s], cast<RealType>(v.getType()).getSizes());
    }
    return success();
  };
  if (failed(writeBlock(kernel.getBody().front(), end, {}))) return failure();
  func::ReturnOp::create(b, loc);
  auto shared = plan.allocate(sharedBytes);
  if (!shared) return fail("expected scratch memory below 2^63 bytes");
  for (arith::ConstantIndexOp begin : sharedBegins) begin->setAttr("value", b.getIndexAttr(*shared));
  if (request.state == compute) {
    SmallVector<int64_t> places;
    for (auto [s, state] : llvm::enumerate(kernel.getBody().front().getArguments().drop_front(inputs.size()))) {
      if (!isInPlaceState(s)) {
        places.append({0, 0});
        continue;
      }
      int64_t bytes = cast<RealType>(state.getType()).getNumElements() * (request.state == LINTEL_F64 ? 8 : 4);
      auto place = plan.allocate(bytes);
      if (!place) return fail("expected scratch memory below 2^63 bytes");
      places.append({*place, bytes});
    }
    body->setAttr("lintel.in_place", b.getDenseI64ArrayAttr(places));
  }
  result.scratchBytes = plan.total();
  return success();
}

ScheduleTarget lintel::scheduleTarget(KernelOp kernel, const CpuTarget &target, lintel_dtype state) {
  bool wide = target.vectorBits >= 512 || StringRef(target.triple).starts_with("aarch64");
  return {target.vectorBits, wide ? 32u : 16u, state == LINTEL_F64 || isPrecise(kernel) ? 64u : 32u};
}

FailureOr<LoopsResult> lintel::lowerKernelToLoops(const LoopsRequest &asked) {
  LoopsRequest request = asked;
  MLIRContext *context = request.kernel->getContext();
  context->loadDialect<arith::ArithDialect, func::FuncDialect, memref::MemRefDialect, scf::SCFDialect,
                       vector::VectorDialect>();
  KernelOp kernel = request.kernel;
  if (request.inputs.size() != kernel.getInputs().size() || request.outputs.size() != numOutputs(kernel))
    return emitError(kernel.getLoc(), "expected a type for each of the kernel's inputs and outputs"), failure();
  llvm::StringMap<StageSchedule> given;
  std::string why;
  auto automatic = autoschedulerOf(request.schedule, request.scheduleName, why);
  if (!automatic) return emitError(kernel.getLoc(), why), failure();
  request.autoscheduler = *automatic;
  if (!request.schedule.empty() && automatic->empty()) {
    auto parsed = parseScheduleFile(request.schedule, request.scheduleName, why);
    if (!parsed) return emitError(kernel.getLoc(), why), failure();
    given = std::move(*parsed);
  }
  if (failed(assignSchedules(kernel, scheduleTarget(kernel, request.target, request.state), given))) return failure();
  LoopsResult result;
  result.schedule = automatic->empty() ? scheduleText(kernel) : autoschedulerText(*automatic);
  result.loops = ModuleOp::create(KernelOp(request.kernel).getLoc());
  LoopWriter writer(request, result);
  if (failed(writer.run())) return failure();
  return std::move(result);
}

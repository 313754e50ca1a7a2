#include "codegen/halide/LoopWriter.h"
#include "codegen/halide/StageMemory.h"
#include "codegen/schedule/StageSchedule.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace lintel;

/// Bytes of stack that the buffers between a group's stages may take; a kernel has a handful of groups.
static constexpr int64_t stackOfGroup = 16 << 10;

LoopWriter::LoopWriter(const LoopsRequest &request, LoopsResult &result)
    : request(request), result(result), kernel(request.kernel), loc(kernel.getLoc()), b(kernel.getContext()),
      compute(request.state == LINTEL_F64 || isPrecise(kernel) ? LINTEL_F64 : LINTEL_F32) {}

static bool isHalf(lintel_dtype dtype) { return dtype == LINTEL_F16 || dtype == LINTEL_BF16; }

Type LoopWriter::elementType(lintel_dtype dtype) {
  switch (dtype) {
  case LINTEL_F64:
    return b.getF64Type();
  case LINTEL_F32:
    return b.getF32Type();
  case LINTEL_F16:
    return b.getF16Type();
  case LINTEL_BF16:
    return b.getBF16Type();
  }
  return b.getF32Type();
}

MemRefType LoopWriter::memrefType(lintel_dtype dtype) {
  return MemRefType::get({ShapedType::kDynamic}, elementType(dtype),
                         StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
}

Value LoopWriter::slice(Value base, Value offset) {
  // The size tells nothing; what lies behind is known to the one who slices.
  auto type = cast<MemRefType>(base.getType());
  Value size = index(int64_t(1) << 62);
  return memref::SubViewOp::create(b, loc,
                                   MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                                                   StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1})),
                                   base, ArrayRef<OpFoldResult>{offset}, ArrayRef<OpFoldResult>{size},
                                   ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

void LoopWriter::createFunction() {
  SmallVector<Type> types;
  Type idx = b.getIndexType(), flag = b.getI1Type();
  for (lintel_dtype input : request.inputs) types.append({memrefType(input), idx, idx});
  // Exponents are f64 whatever the states are: rounded, they would no longer fit.
  auto stateType = [&](size_t s) { return isExponent(s) ? LINTEL_F64 : request.state; };
  for (size_t s = 0; s < kernel.getStates().size(); ++s)
    types.append({memrefType(stateType(s)), memrefType(stateType(s)), flag, flag});
  for (lintel_dtype output : request.outputs) types.append({memrefType(output), idx});
  types.append({idx, idx, MemRefType::get({ShapedType::kDynamic}, b.getI8Type())});
  b.setInsertionPointToEnd(result.loops->getBody());
  body = func::FuncOp::create(b, loc, request.entry + "_body", b.getFunctionType(types, {}));
  body.setPrivate();
  body->setAttr("lintel.entry", b.getStringAttr(request.entry));
  body->setAttr("lintel.inputs", b.getI64IntegerAttr(kernel.getInputs().size()));
  body->setAttr("lintel.states", b.getI64IntegerAttr(kernel.getStates().size()));
  if (size_t exponents = llvm::count_if(llvm::seq(kernel.getStates().size()), [&](size_t s) { return isExponent(s); }))
    body->setAttr("lintel.exponents", b.getI64IntegerAttr(static_cast<int64_t>(exponents)));
  body->setAttr("lintel.outputs", b.getI64IntegerAttr(numOutputs(kernel)));
  Block *entry = body.addEntryBlock();
  unsigned at = 0;
  auto next = [&] { return entry->getArgument(at++); };
  for (size_t i = 0; i < kernel.getInputs().size(); ++i) {
    Value base = next(), step = next(), row = next();
    inputs.push_back({base, step, row});
  }
  for (size_t s = 0; s < kernel.getStates().size(); ++s) {
    Value in = next(), o = next(), hasIn = next(), hasOut = next();
    states.push_back({in, o, hasIn, hasOut, stateType(s)});
  }
  for (size_t o = 0; o < numOutputs(kernel); ++o) {
    Value base = next(), step = next();
    outputs.push_back({base, step});
  }
  steps = next();
  position = next();
  scratch = next();
  b.setInsertionPointToEnd(entry);
  given = index(0);
  for (auto [i, s] : llvm::enumerate(states))
    if (!isExponent(i))
      given = arith::MaxSIOp::create(b, loc, given, arith::IndexCastUIOp::create(b, loc, idx, s.hasIn));
}

FailureOr<LoopWriter::Buffer> LoopWriter::allocate(ArrayRef<int64_t> sizes, lintel_dtype dtype) {
  int64_t n = 1, bytes = dtype == LINTEL_F64 ? 8 : dtype == LINTEL_F32 ? 4 : 2;
  for (int64_t s : sizes) n *= s;
  auto offset = plan.allocate(n * bytes);
  if (!offset) return fail("expected scratch memory below 2^63 bytes");
  // At the function's entry, so that every block can use it.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&body.getBody().front());
  Value view =
      memref::ViewOp::create(b, loc, MemRefType::get({n}, elementType(dtype)), scratch, index(*offset), ValueRange());
  Buffer buffer{memref::CastOp::create(b, loc, memrefType(dtype), view), {dtype, false, true}, {}, dtype == compute};
  return buffer;
}

FailureOr<LoopWriter::Buffer> LoopWriter::bufferOf(Value v) {
  if (auto it = buffers.find(v); it != buffers.end()) return it->second;
  auto arg = dyn_cast<BlockArgument>(v);
  if (!arg || arg.getOwner() != &kernel.getBody().front()) return fail("a value of the kernel has no place in memory");
  unsigned n = arg.getArgNumber();
  auto sizes = cast<RealType>(v.getType()).getSizes();
  if (n < inputs.size()) {
    Buffer buffer{inputs[n].base, {request.inputs[n], sizes.size() > 1, false}, {}, false};
    if (sizes.size() > 1) buffer.strides.push_back(inputs[n].row);
    return buffers[v] = buffer;
  }
  // A state: its value at the start, in scratch.
  OpBuilder::InsertionGuard guard(b);
  State &state = states[n - inputs.size()];
  bool inPlace = isInPlaceState(n - inputs.size());
  auto buffer = inPlace ? FailureOr<Buffer>(Buffer{state.out, {request.state, false, false}, {}, true})
                        : allocate(sizes, compute);
  if (failed(buffer)) return failure();
  Value count = index(cast<RealType>(v.getType()).getNumElements());
  auto choice = scf::IfOp::create(b, loc, state.hasIn, /*withElseRegion=*/true);
  for (bool has : {true, false}) {
    b.setInsertionPointToStart(has ? choice.thenBlock() : choice.elseBlock());
    if (inPlace && has) {
      auto address = [&](Value m) { return memref::ExtractAlignedPointerAsIndexOp::create(b, loc, m).getResult(); };
      Value other = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, address(state.in), address(state.out));
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, other, false).thenBlock());
    }
    auto loop = scf::ForOp::create(b, loc, index(0), count, index(1));
    b.setInsertionPointToStart(loop.getBody());
    Value x = has ? memref::LoadOp::create(b, loc, state.in, loop.getInductionVar()).getResult()
                  : arith::ConstantOp::create(b, loc, b.getFloatAttr(elementType(compute), 0)).getResult();
    if (x.getType() != elementType(compute))
      x = state.dtype == LINTEL_F64 ? arith::TruncFOp::create(b, loc, elementType(compute), x).getResult()
                                    : arith::ExtFOp::create(b, loc, elementType(compute), x).getResult();
    memref::StoreOp::create(b, loc, x, buffer->base, loop.getInductionVar());
  }
  return buffers[v] = *buffer;
}

Value LoopWriter::offsetOf(const Buffer &buffer, ArrayRef<int64_t> sizes, ArrayRef<Value> at) {
  Value offset = index(0);
  for (auto [d, x] : llvm::enumerate(at)) {
    int64_t dense = 1;
    for (size_t e = d + 1; e < sizes.size(); ++e) dense *= sizes[e];
    Value stride = d < buffer.strides.size() ? buffer.strides[d] : index(dense);
    offset = arith::AddIOp::create(b, loc, offset, arith::MulIOp::create(b, loc, x, stride));
  }
  return offset;
}

/// Element by element, converting; both dense or strided.
void LoopWriter::copy(const Buffer &to, const Buffer &from, ArrayRef<int64_t> sizes) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> at;
  for (int64_t size : sizes) {
    auto loop = scf::ForOp::create(b, loc, index(0), index(size), index(1));
    b.setInsertionPointToStart(loop.getBody());
    at.push_back(loop.getInductionVar());
  }
  Value x = memref::LoadOp::create(b, loc, from.base, offsetOf(from, sizes, at));
  Type want = elementType(to.layout.dtype), have = x.getType();
  if (want != have && have.getIntOrFloatBitWidth() == want.getIntOrFloatBitWidth()) { // the two half types
    have = b.getF32Type();
    x = arith::ExtFOp::create(b, loc, have, x);
  }
  if (want != have)
    x = have.getIntOrFloatBitWidth() < want.getIntOrFloatBitWidth()
            ? arith::ExtFOp::create(b, loc, want, x).getResult()
            : arith::TruncFOp::create(b, loc, want, x).getResult();
  memref::StoreOp::create(b, loc, x, to.base, offsetOf(to, sizes, at));
}

/// `count` rows of `rowSizes`, dense in `to` where `fromRow` is given and in `from` else; source rows past `clamp` (if
/// given) repeat it.
void LoopWriter::copyRows(Value to, Value toStride, Value from, Value fromStride, Value count, Value clamp,
                          ArrayRef<int64_t> rowSizes, Value fromRow) {
  OpBuilder::InsertionGuard guard(b);
  auto rows = scf::ForOp::create(b, loc, index(0), count, index(1));
  b.setInsertionPointToStart(rows.getBody());
  Value i = rows.getInductionVar(), source = i;
  if (clamp) source = arith::MinSIOp::create(b, loc, i, clamp);
  Value a = arith::MulIOp::create(b, loc, i, toStride), c = arith::MulIOp::create(b, loc, source, fromStride);
  int64_t inner = rowSizes.empty() ? 1 : rowSizes.back();
  if (rowSizes.size() == 2) {
    auto loop = scf::ForOp::create(b, loc, index(0), index(rowSizes[0]), index(1));
    b.setInsertionPointToStart(loop.getBody());
    a = arith::AddIOp::create(b, loc, a, arith::MulIOp::create(b, loc, loop.getInductionVar(), index(inner)));
    c = arith::AddIOp::create(b, loc, c,
                              arith::MulIOp::create(b, loc, loop.getInductionVar(), fromRow ? fromRow : index(inner)));
  }
  auto loop = scf::ForOp::create(b, loc, index(0), index(inner), index(1));
  b.setInsertionPointToStart(loop.getBody());
  Value e = loop.getInductionVar();
  Value x = memref::LoadOp::create(b, loc, from, arith::AddIOp::create(b, loc, c, e).getResult());
  memref::StoreOp::create(b, loc, x, to, arith::AddIOp::create(b, loc, a, e).getResult());
}

/// The same, dense in `to`, whose type may be wider: in vectors, the last of a row over the one before it.
void LoopWriter::packRows(const Buffer &to, Value from, const Input &input, Value count, Value clamp,
                          ArrayRef<int64_t> rowSizes) {
  OpBuilder::InsertionGuard guard(b);
  int64_t inner = rowSizes.back(), outer = rowSizes.size() == 2 ? rowSizes[0] : 1;
  int64_t lanes = std::min<int64_t>(inner, request.target.vectorBits / (compute == LINTEL_F64 ? 64 : 32));
  auto rows = scf::ForOp::create(b, loc, index(0), count, index(1));
  b.setInsertionPointToStart(rows.getBody());
  Value i = rows.getInductionVar(), source = clamp ? arith::MinSIOp::create(b, loc, i, clamp).getResult() : i;
  Value target = arith::MulIOp::create(b, loc, i, index(outer * inner));
  source = arith::MulIOp::create(b, loc, source, input.step);
  if (outer > 1) {
    auto loop = scf::ForOp::create(b, loc, index(0), index(outer), index(1));
    b.setInsertionPointToStart(loop.getBody());
    Value j = loop.getInductionVar();
    target = arith::AddIOp::create(b, loc, target, arith::MulIOp::create(b, loc, j, index(inner)));
    source = arith::AddIOp::create(b, loc, source, arith::MulIOp::create(b, loc, j, input.row));
  }
  auto narrow = VectorType::get({lanes}, cast<MemRefType>(from.getType()).getElementType());
  auto wide = VectorType::get({lanes}, elementType(to.layout.dtype));
  auto move = [&](Value e) {
    Value x = vector::LoadOp::create(b, loc, narrow, from, arith::AddIOp::create(b, loc, source, e).getResult());
    if (wide != narrow) x = arith::ExtFOp::create(b, loc, wide, x);
    vector::StoreOp::create(b, loc, x, to.base, arith::AddIOp::create(b, loc, target, e).getResult());
  };
  if (inner <= 16 * lanes) {
    for (int64_t e = 0; e < inner; e += lanes) move(index(std::min(e, inner - lanes)));
    return;
  }
  auto loop = scf::ForOp::create(b, loc, index(0), index(inner / lanes * lanes), index(lanes));
  if (inner % lanes) move(index(inner - lanes));
  b.setInsertionPointToStart(loop.getBody());
  move(loop.getInductionVar());
}

/// Whether a chunk at `t` may reach past the end.
bool LoopWriter::isPartial(Value t) {
  Operation *loop = cast<BlockArgument>(t).getOwner()->getParentOp();
  auto scan = dyn_cast<ScanOp>(loop);
  return !scan || scan.getMode() == ScanMode::Blocks;
}

/// Asks for the lines of the chunk `ahead` chunks behind the one at `base`: its rows lie apart, where the processor
/// does not foresee them, and what a chunk costs beyond the caches is their latency. Asking past the end of an array is
/// harmless.
void LoopWriter::prefetchRows(Value base, Value step, int64_t rows, int64_t elements, bool write, int64_t ahead) {
  int64_t line = 64 / (cast<MemRefType>(base.getType()).getElementTypeBitWidth() / 8);
  if (ahead == 0 || rows * ((elements + line - 1) / line) > 512) return; // more than can be under way
  OpBuilder::InsertionGuard guard(b);
  Value next = slice(base, arith::MulIOp::create(b, loc, step, index(rows * ahead)));
  auto loop = scf::ForOp::create(b, loc, index(0), index(rows), index(1));
  loop->setAttr("lintel.prefetch", b.getUnitAttr()); // SpreadPrefetch.cpp
  b.setInsertionPointToStart(loop.getBody());
  Value row = arith::MulIOp::create(b, loc, loop.getInductionVar(), step);
  for (int64_t e = 0; e < elements; e += line)
    memref::PrefetchOp::create(b, loc, next, arith::AddIOp::create(b, loc, row, index(e)).getResult(), write, 3u, true);
}

LogicalResult LoopWriter::writeRows(RowsOp rows) {
  unsigned n = cast<BlockArgument>(rows.getX()).getArgNumber();
  Input &input = inputs[n];
  auto sizes = rows.getType().getSizes();
  ArrayRef<int64_t> row = ArrayRef<int64_t>(sizes).drop_front();
  Value t = indices.lookup(rows.getT()), count = index(sizes[0]);
  Value base = slice(input.base, arith::MulIOp::create(b, loc, t, input.step));
  Value last = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, steps, t), index(1));
  int64_t each = 1;
  for (int64_t s : row) each *= s;
  if (row.empty()) {
    // One number a step lies strided; a dense copy is a handful of moves.
    auto tile = allocate(sizes, request.inputs[n]);
    if (failed(tile)) return failure();
    copyRows(tile->base, index(1), base, input.step, count, isPartial(rows.getT()) ? last : Value(), row, {});
    buffers[rows.getResult()] = *tile;
    return success();
  }
  auto schedule = scheduleOf(rows);
  if (failed(schedule)) return failure();
  if (!isPartial(rows.getT()) && sizes[0] > 1) prefetchRows(base, input.step, sizes[0], each, false, schedule->ahead);
  bool isWider = request.inputs[n] == LINTEL_F64 && compute != LINTEL_F64;
  // Halves are widened once, and not wherever a sum reads them again.
  if (isHalf(request.inputs[n]) || (*schedule->packed && !isWider)) {
    auto tile = allocate(sizes, compute);
    if (failed(tile)) return failure();
    packRows(*tile, base, input, count, isPartial(rows.getT()) ? last : Value(), row);
    buffers[rows.getResult()] = *tile;
    return success();
  }
  Buffer buffer{base, {request.inputs[n], true, false}, {input.step}, false};
  if (row.size() == 2) buffer.strides.push_back(input.row);
  if (isPartial(rows.getT())) {
    auto tile = allocate(sizes, request.inputs[n]);
    if (failed(tile)) return failure();
    Value whole =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, arith::AddIOp::create(b, loc, t, count), steps);
    SmallVector<Value> direct{base}, copied{tile->base, index(each)};
    direct.append(buffer.strides);
    if (row.size() == 2) copied.push_back(index(row[1]));
    auto choice = scf::IfOp::create(b, loc, ValueRange(direct).getTypes(), whole, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b, loc, direct);
    b.setInsertionPointToStart(choice.elseBlock());
    copyRows(tile->base, index(each), base, input.step, count, last, row, row.size() == 2 ? input.row : Value());
    scf::YieldOp::create(b, loc, copied);
    buffer.base = choice.getResult(0);
    buffer.strides.assign(choice.getResults().begin() + 1, choice.getResults().end());
  }
  buffers[rows.getResult()] = buffer;
  return success();
}

/// Lets a stage write its rows where the output lies, if nothing else reads them.
void LoopWriter::prepareEmit(EmitOp emit) {
  auto stage = emit.getX().getDefiningOp<StageOp>();
  if (!stage || !stage->hasOneUse() || stage.getType().getRank() != 2 || isPartial(emit.getT()) ||
      stage->getBlock() != emit->getBlock())
    return;
  Value t = indices.lookup(emit.getT());
  auto [base, step] = outputs[emit.getOutput()];
  Buffer buffer{slice(base, arith::MulIOp::create(b, loc, t, step)),
                {request.outputs[emit.getOutput()], true, false},
                {step},
                false};
  emitTargets[stage] = buffer;
  auto sizes = stage.getType().getSizes();
  if (sizes[0] > 1) prefetchRows(buffer.base, step, sizes[0], sizes[1], true);
}

LogicalResult LoopWriter::finishEmit(EmitOp emit) {
  if (auto stage = emit.getX().getDefiningOp<StageOp>(); stage && emitTargets.count(stage)) return success();
  auto from = bufferOf(emit.getX());
  if (failed(from)) return failure();
  OpBuilder::InsertionGuard guard(b);
  auto sizes = emit.getX().getType().getSizes();
  Value t = indices.lookup(emit.getT());
  Value count = arith::MinSIOp::create(b, loc, index(sizes[0]), arith::SubIOp::create(b, loc, steps, t));
  auto rows = scf::ForOp::create(b, loc, index(0), count, index(1));
  b.setInsertionPointToStart(rows.getBody());
  Value i = rows.getInductionVar();
  auto [base, step] = outputs[emit.getOutput()];
  Buffer to{slice(base, arith::MulIOp::create(b, loc, arith::AddIOp::create(b, loc, t, i), step)),
            {request.outputs[emit.getOutput()], false, false},
            {},
            false};
  int64_t each = emit.getX().getType().getNumElements() / sizes[0];
  Value stride = from->strides.empty() ? index(each) : from->strides[0];
  Buffer row{slice(from->base, arith::MulIOp::create(b, loc, i, stride)), from->layout, {}, false};
  copy(to, row, {each});
  return success();
}

LogicalResult LoopWriter::runGroup(ArrayRef<StageOp> stages) {
  if (isWalked(stages.front())) return runWalk(stages);
  GroupRequest group;
  group.name = request.entry + "_g" + std::to_string(groups++);
  group.stages.assign(stages.begin(), stages.end());
  group.compute = compute;
  group.vectorBits = request.target.vectorBits;
  group.triple = request.target.triple;
  group.features = request.target.features;
  group.autoscheduler = request.autoscheduler;
  if (request.products == LINTEL_BF16) group.pairs = request.target.pairs;
  SmallVector<Buffer> results;
  for (StageOp stage : stages) {
    if (!isUsedOutside(stage)) continue;
    Buffer buffer;
    bool inPlace = false;
    if (auto it = emitTargets.find(stage); it != emitTargets.end()) buffer = it->second;
    else if (auto it = overwrites.find(stage); it != overwrites.end()) {
      buffer = buffers[it->second];
      inPlace = isInPlace(stage);
    } else {
      auto made = allocate(stage.getType().getSizes(), isPrecise(stage) ? LINTEL_F64 : compute);
      if (failed(made)) return failure();
      buffer = *made;
    }
    group.outputs.push_back({stage, buffer.layout, inPlace});
    results.push_back(buffer);
    if (!emitTargets.count(stage)) buffers[stage.getResult()] = buffer;
  }
  if (results.empty()) return success();
  return writeVersions(stages, [&](ArrayRef<Value> finite) {
    GroupRequest version = group;
    if (!finite.empty()) version.name += "_finite";
    version.finite.assign(finite.begin(), finite.end());
    return callGroup(version, results);
  });
}

LogicalResult LoopWriter::callGroup(const GroupRequest &request, ArrayRef<Buffer> results) {
  GroupRequest group = request;
  SmallVector<Value> tensors, captured;
  collectCaptures(group.stages, tensors, captured);
  DenseMap<Value, Buffer> in;
  for (Value v : tensors) {
    auto buffer = bufferOf(v);
    if (failed(buffer)) return failure();
    in[v] = *buffer;
  }
  group.layoutOf = [&](Value v) { return in.lookup(v).layout; };
  auto built = buildGroup(*result.loops, group);
  if (failed(built)) return failure();
  result.halide += built->text + "\n";
  SmallVector<Value> args;
  SmallVector<const Buffer *> byArgument;
  SmallVector<unsigned> ranks;
  for (Value v : built->tensors) {
    args.push_back(in[v].base);
    byArgument.push_back(&in[v]);
    ranks.push_back(cast<RealType>(v.getType()).getRank());
  }
  for (Value v : built->indices) {
    Value x = v.getType().isIndex() && !v.getDefiningOp<StepsOp>() ? indices.lookup(v)
              : isa_and_present<StepsOp>(v.getDefiningOp())        ? steps
              : isa<StartOp>(v.getDefiningOp())                    ? position
                                                                   : given;
    if (auto taken = dyn_cast_or_null<TakenOp>(v.getDefiningOp()))
      x = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), states[taken.getState()].hasOut);
    if (!x) return fail("an index of the kernel has no value where a stage uses it");
    args.push_back(x);
    byArgument.push_back(nullptr);
    ranks.push_back(0);
  }
  for (auto [buffer, o] : llvm::zip(results, group.outputs)) {
    args.push_back(buffer.base);
    byArgument.push_back(&buffer);
    ranks.push_back(StageOp(o.stage).getType().getRank());
  }
  for (const StrideArg &s : built->strides) {
    const Buffer *buffer = byArgument[s.buffer];
    unsigned axis = ranks[s.buffer] - 1 - s.dim;
    if (!buffer || axis >= buffer->strides.size()) return fail("a stage needs a stride that its tensor does not have");
    args.push_back(buffer->strides[axis]);
  }
  if (int64_t bytes = moveToScratch(built->fn, stackOfGroup)) {
    sharedBytes = std::max(sharedBytes, bytes);
    sharedBegins.push_back(arith::ConstantIndexOp::create(b, loc, 0));
    args.push_back(memref::ViewOp::create(b, loc, cast<MemRefType>(scratch.getType()), scratch, sharedBegins.back(),
                                          ValueRange(index(bytes))));
  }
  func::CallOp::create(b, loc, built->fn, args);
  return success();
}

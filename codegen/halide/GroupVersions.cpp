// Guards against infinities (attn.select `guard`) cost what they guard: a comparison and a choice for each product.
// Where the factors turn out to be finite, nearly always, the stages run without them.
#include "codegen/halide/LoopWriter.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace lintel;

LogicalResult LoopWriter::writeVersions(ArrayRef<StageOp> stages,
                                        llvm::function_ref<LogicalResult(ArrayRef<Value>)> write) {
  SmallVector<Value> finite;
  Value all;
  for (StageOp stage : stages)
    for (Value v : guardedFactors(stage)) {
      auto made = v.getDefiningOp<StageOp>();
      if (llvm::is_contained(finite, v) || !made || llvm::is_contained(stages, made)) continue;
      auto buffer = bufferOf(v);
      if (failed(buffer)) return failure();
      if (!buffer->strides.empty() || buffer->layout.dtype != compute) continue;
      finite.push_back(v);
      Value one = isFinite(*buffer, cast<RealType>(v.getType()).getNumElements());
      all = all ? arith::AndIOp::create(b, loc, all, one).getResult() : one;
    }
  if (finite.empty()) return write({});
  auto choice = scf::IfOp::create(b, loc, all, /*withElseRegion=*/true);
  choice->setAttr("lintel.versions", b.getUnitAttr()); // SpreadPrefetch.cpp
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  if (failed(write(finite))) return failure();
  b.setInsertionPointToStart(choice.elseBlock());
  return write({});
}

/// The sum of x * 0 is 0 where all x are finite, else NaN.
Value LoopWriter::isFinite(const Buffer &buffer, int64_t elements) {
  b.getContext()->loadDialect<vector::VectorDialect>();
  constexpr int64_t chains = 4;
  Type element = elementType(compute);
  int64_t lanes = request.target.vectorBits / element.getIntOrFloatBitWidth();
  auto flags = arith::FastMathFlags::contract;
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(element, 0)), sum = zero;
  if (int64_t whole = elements / lanes * lanes) {
    auto type = VectorType::get({lanes}, element);
    Value zeros = vector::BroadcastOp::create(b, loc, type, zero);
    auto add = [&](Value at, Value to) -> Value {
      Value x = vector::LoadOp::create(b, loc, type, buffer.base, at);
      return arith::AddFOp::create(b, loc, to, arith::MulFOp::create(b, loc, x, zeros, flags), flags);
    };
    SmallVector<Value> sums(chains, zeros);
    int64_t step = lanes * chains, most = whole / step * step;
    if (most) {
      auto loop = scf::ForOp::create(b, loc, index(0), index(most), index(step), sums);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> next;
      for (int64_t n = 0; n < chains; ++n)
        next.push_back(add(arith::AddIOp::create(b, loc, loop.getInductionVar(), index(n * lanes)),
                           loop.getRegionIterArg(static_cast<unsigned>(n))));
      scf::YieldOp::create(b, loc, next);
      sums.assign(loop.result_begin(), loop.result_end());
    }
    for (int64_t at = most, n = 0; at < whole; at += lanes, ++n) sums[n] = add(index(at), sums[n]);
    for (int64_t n = 1; n < chains; ++n) sums[0] = arith::AddFOp::create(b, loc, sums[0], sums[n], flags);
    // Order does not matter to zeros and NaN.
    sum = vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, sums[0], arith::FastMathFlags::reassoc);
  }
  for (int64_t at = elements / lanes * lanes; at < elements; ++at) {
    Value x = memref::LoadOp::create(b, loc, buffer.base, index(at));
    sum = arith::AddFOp::create(b, loc, sum, arith::MulFOp::create(b, loc, x, zero, flags), flags);
  }
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sum, zero);
}

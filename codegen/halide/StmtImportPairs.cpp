// Pairs of bf16 in lanes of 32 bits: lintel_pack_bf16(low, high) rounds two f32, lintel_dot_bf16(acc, a, b) is
// acc + a.high b.high + a.low b.low, each product added by a fused multiply-add in f32. Both as AVX-512 BF16 does them
// (Intel, Architecture Instruction Set Extensions, VCVTNE2PS2BF16 and VDPBF16PS), but that it flushes denormals.
#include "codegen/halide/StmtImportImpl.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace lintel;
using namespace lintel::detail;
using namespace mlir;
using hi::Call;

bool Importer::importPairs(const Call *op) {
  bool pack = op->name == "lintel_pack_bf16";
  if (!op->is_extern() || (!pack && op->name != "lintel_dot_bf16")) return false;
  SmallVector<Value> x;
  for (const Halide::Expr &e : op->args) x.push_back(eval(e));
  int lanes = op->type.lanes();
  auto like = [&](Type element) -> Type { return lanes > 1 ? Type(VectorType::get({lanes}, element)) : element; };
  Type f32 = like(b.getF32Type()), i32 = like(b.getI32Type());
  if (options.pairs == PairInstructions::Avx512 && (lanes == 4 || lanes == 8 || lanes == 16)) {
    std::string bits = std::to_string(32 * lanes);
    Type halves = VectorType::get({2 * lanes}, b.getBF16Type());
    auto call = [&](StringRef name, Type type, ValueRange operands) -> Value {
      return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(("llvm.x86.avx512bf16." + name + "." + bits).str()),
                                           operands)
          .getResult(0);
    };
    if (!pack) {
      Value a = vector::BitCastOp::create(b, cast<VectorType>(halves), x[1]),
            c = vector::BitCastOp::create(b, cast<VectorType>(halves), x[2]);
      result = call("dpbf16ps", f32, {x[0], a, c});
      return true;
    }
    // All low halves, then all high ones.
    Value apart = call("cvtne2ps2bf16", halves, {x[1], x[0]});
    apart = arith::BitcastOp::create(b, VectorType::get({2 * lanes}, b.getI16Type()), apart);
    SmallVector<int64_t> order;
    for (int lane = 0; lane < lanes; ++lane) order.append({lane, lane + lanes});
    result = vector::BitCastOp::create(b, cast<VectorType>(i32), shuffle(apart, apart, order));
    return true;
  }
  auto number = [&](uint32_t n) {
    return splat(op->type.with_code(halide_type_uint), b.getI32IntegerAttr(int32_t(n)));
  };
  if (pack) {
    auto half = [&](Value v) -> Value {
      v = arith::TruncFOp::create(b, like(b.getBF16Type()), v);
      return arith::ExtUIOp::create(b, i32, arith::BitcastOp::create(b, like(b.getI16Type()), v));
    };
    result = arith::OrIOp::create(b, half(x[0]), arith::ShLIOp::create(b, half(x[1]), number(16)));
    return true;
  }
  auto high = [&](Value v) -> Value {
    return arith::BitcastOp::create(b, f32, arith::AndIOp::create(b, v, number(0xffff0000)));
  };
  auto low = [&](Value v) -> Value {
    return arith::BitcastOp::create(b, f32, arith::ShLIOp::create(b, v, number(16)));
  };
  Value sum = math::FmaOp::create(b, high(x[1]), high(x[2]), x[0]);
  result = math::FmaOp::create(b, low(x[1]), low(x[2]), sum);
  return true;
}

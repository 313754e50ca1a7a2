#include "codegen/cpu/MathBuilder.h"
#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace lintel {
#define GEN_PASS_DEF_EMULATEINSTRUCTIONS
#include "codegen/cpu/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

using Predicate = arith::CmpFPredicate;

/// a + b and what rounding lost of it.
static DoubleValue twoSum(MathBuilder &m, Value a, Value b) {
  Value sum = m.add(a, b), part = m.sub(sum, a);
  return {sum, m.add(m.sub(a, m.sub(sum, part)), m.sub(b, part))};
}

/// a + b as the neighbour with an odd last bit where it is not exact: what a second rounding to two bits less or more
/// makes of it is the one rounding of the exact sum.
static Value addToOdd(MathBuilder &m, Value a, Value b) {
  DoubleValue sum = twoSum(m, a, b);
  Value bits = m.bits(sum.high);
  Value apart =
      m.shiftRightLogical(arith::XOrIOp::create(m.builder, m.loc, bits, m.bits(sum.low)), m.isDouble ? 63 : 31);
  Value step = m.subInt(m.integer(1), m.shiftLeft(apart, 1));
  Value even = m.subInt(m.integer(1), m.andInt(bits, 1)); // 1 or 0
  Value inexact = m.compare(Predicate::ONE, sum.low, m.constant(0));
  // The step where the last bit is 0, without a multiplication.
  Value masked = m.both(step, m.subInt(m.integer(0), even));
  return m.fromBits(m.addInt(bits, m.select(inexact, masked, m.integer(0))));
}

/// Upper and lower half of the digits.
static DoubleValue halves(MathBuilder &m, Value a) {
  Value scaled = m.mul(a, m.constant(134217729)); // 2^27 + 1
  Value high = m.sub(scaled, m.sub(scaled, a));
  return {high, m.sub(a, high)};
}

/// a b + c as a sum of two, the second odd where it is not exact: after Boldo and Melquiond, the product's two parts
/// and c, the small ones summed to odd.
static std::pair<Value, Value> fusedParts(MathBuilder &m, Value a, Value b, Value c, Value product) {
  DoubleValue x = halves(m, a), y = halves(m, b);
  Value rest = m.sub(m.mul(x.high, y.high), product);
  rest = m.add(m.add(rest, m.mul(x.high, y.low)), m.mul(x.low, y.high));
  rest = m.add(rest, m.mul(x.low, y.low));
  DoubleValue low = twoSum(m, c, rest), high = twoSum(m, product, low.high);
  return {high.high, addToOdd(m, low.low, high.low)};
}

static constexpr StringLiteral smallName = "lintel_fused_multiply_add_small";

/// A function of its own, called: written out at each multiply-add it would be most of a kernel's code.
static func::FuncOp makeFunction(OpBuilder &b, Operation *module, StringRef name, TypeRange operands, Type result) {
  b = OpBuilder::atBlockEnd(&module->getRegion(0).front());
  auto function = func::FuncOp::create(b, module->getLoc(), name, b.getFunctionType(operands, result));
  function.setPrivate();
  function->setAttr("passthrough", b.getStrArrayAttr({"noinline", "cold"}));
  b.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

/// The private function (a, b, c) -> a b + c for results whose parts vanish below f64: 2^300 times them do not. Made
/// where the module has none.
static StringRef getSmallFused(Operation *module) {
  if (SymbolTable::lookupSymbolIn(module, smallName)) return smallName;
  OpBuilder b(module->getContext());
  Location loc = module->getLoc();
  Type f64 = b.getF64Type();
  func::FuncOp function = makeFunction(b, module, smallName, {f64, f64, f64}, f64);
  MathBuilder m(b, loc, f64);
  Value a = m.mul(function.getArgument(0), m.constant(0x1p300)),
        c = m.mul(function.getArgument(2), m.constant(0x1p300));
  Value y = function.getArgument(1);
  auto [high, low] = fusedParts(m, a, y, c, m.mul(a, y));
  Value sum = m.add(high, low);
  // Where the result is denormal, its last place is that of this number: added to it, the sum is rounded there, once.
  Value place = m.copySign(m.constant(0x1p-722), sum);
  DoubleValue placed = twoSum(m, place, high);
  Value denormal = m.sub(m.add(placed.high, addToOdd(m, placed.low, low)), place);
  Value isNormal = m.compare(Predicate::OGE, m.abs(sum), m.constant(0x1p-722));
  Value result = m.select(isNormal, sum, m.copySign(denormal, sum));
  // A product alone, which keeps its sign where it vanishes.
  Value alone = m.mul(function.getArgument(0), y);
  result = m.select(m.equal(c, m.constant(0)), alone, m.mul(result, m.constant(0x1p-300)));
  func::ReturnOp::create(b, loc, result);
  return smallName;
}

/// The private function (a, b, c, result, lanes) that has the lanes done anew that `lanes` names.
static std::string getSmallLanes(Operation *module, VectorType type) {
  std::string name = (smallName + "_" + Twine(type.getNumElements())).str();
  if (SymbolTable::lookupSymbolIn(module, name)) return name;
  StringRef scalar = getSmallFused(module);
  OpBuilder b(module->getContext());
  Location loc = module->getLoc();
  auto flags = VectorType::get(type.getShape(), b.getI1Type());
  func::FuncOp function = makeFunction(b, module, name, {type, type, type, type, flags}, type);
  ValueRange x = function.getArguments();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  Value count = arith::ConstantIndexOp::create(b, loc, type.getNumElements());
  auto loop = scf::ForOp::create(b, loc, zero, count, one, x[3]);
  func::ReturnOp::create(b, loc, loop.getResult(0));
  b.setInsertionPointToStart(loop.getBody());
  Value lane = loop.getInductionVar();
  SmallVector<Value> of;
  for (Value v : x) of.push_back(vector::ExtractOp::create(b, loc, v, lane));
  Value anew = func::CallOp::create(b, loc, scalar, b.getF64Type(), ArrayRef(of).take_front(3)).getResult(0);
  anew = arith::SelectOp::create(b, loc, of[4], anew, of[3]);
  scf::YieldOp::create(b, loc, vector::InsertOp::create(b, loc, anew, loop.getRegionIterArg(0), lane).getResult());
  return name;
}

/// Has the lanes done anew that `lanes` names.
static Value replaceLanes(MathBuilder &m, Value lanes, ArrayRef<Value> operands, Value result, Operation *module) {
  OpBuilder &b = m.builder;
  auto vector = m.vectorType();
  Value any = vector ? vector::ReductionOp::create(b, m.loc, vector::CombiningKind::OR, lanes).getResult() : lanes;
  auto choice = scf::IfOp::create(b, m.loc, m.type, any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, m.loc, result);
  b.setInsertionPointToStart(choice.thenBlock());
  SmallVector<Value> x(operands);
  std::string function = smallName.str();
  if (vector) {
    x.append({result, lanes});
    function = getSmallLanes(module, vector);
  } else {
    getSmallFused(module);
  }
  scf::YieldOp::create(b, m.loc, func::CallOp::create(b, m.loc, function, m.type, x).getResults());
  return choice.getResult(0);
}

static Value fusedDouble(MathBuilder &m, Value a, Value b, Value c, Operation *module) {
  Value product = m.mul(a, b);
  auto [high, low] = fusedParts(m, a, b, c, product);
  Value result = m.add(high, low);
  // Infinite operands and products, and factors too large to be halved. A product that only seems infinite does not
  // meet an infinite c.
  Value zero = m.constant(0), infinite = m.equal(m.abs(c), m.infinity());
  Value finite = m.both(m.equal(m.sub(a, a), zero), m.equal(m.sub(b, b), zero));
  Value plain = m.select(m.both(infinite, finite), c, m.add(product, c));
  result = m.select(m.compare(Predicate::UEQ, result, zero), plain, result); // also for the sign of a zero
  // Next to nothing, and not nothing: in practice never.
  Value small = m.both(m.less(m.abs(product), m.constant(0x1p-900)), m.less(m.abs(c), m.constant(0x1p-700)));
  Value factors = m.both(m.compare(Predicate::ONE, a, zero), m.compare(Predicate::ONE, b, zero));
  return replaceLanes(m, m.both(small, factors), {a, b, c}, result, module);
}

static Value fusedSingle(MathBuilder &m, Value a, Value b, Value c) {
  MathBuilder wide = m.asDouble();
  auto extend = [&](Value x) { return arith::ExtFOp::create(m.builder, m.loc, wide.type, x).getResult(); };
  Value product = wide.mul(extend(a), extend(b)); // exact
  return arith::TruncFOp::create(m.builder, m.loc, m.type, addToOdd(wide, product, extend(c)));
}

/// To an integer, ties to even, for 0 <= x < 2^mantissaBits.
static Value roundPositive(MathBuilder &m, Value x) {
  Value magic = m.constant(m.isDouble ? 0x1p52 : 0x1p23);
  return m.sub(m.add(x, magic), magic);
}

static Value rounded(MathBuilder &m, Operation *op, Value x) {
  Value magnitude = m.abs(x), nearest = roundPositive(m, magnitude);
  Value one = m.constant(1), zero = m.constant(0);
  auto minusOneWhere = [&](Value condition, Value y) { return m.sub(y, m.select(condition, one, zero)); };
  Value result;
  if (isa<math::RoundEvenOp>(op)) {
    result = nearest;
  } else if (isa<math::TruncOp>(op)) {
    result = minusOneWhere(m.compare(Predicate::OGT, nearest, magnitude), nearest);
  } else {
    Value is = m.copySign(nearest, x);
    result = isa<math::FloorOp>(op) ? minusOneWhere(m.compare(Predicate::OGT, is, x), is)
                                    : m.add(is, m.select(m.compare(Predicate::OLT, is, x), one, zero));
  }
  // Signs of zeros; larger numbers are integers already, and NaN stays.
  Value small = m.compare(Predicate::OLT, magnitude, m.constant(m.isDouble ? 0x1p52 : 0x1p23));
  return m.select(small, m.copySign(result, x), x);
}

namespace {

/// Conversions of f16 by integers; `m` is of f32.
struct Halves {
  MathBuilder &m;
  Type i16 = m.withElement(m.builder.getI16Type());

  Value compare(arith::CmpIPredicate predicate, Value a, int64_t b) {
    return arith::CmpIOp::create(m.builder, m.loc, predicate, a, m.integer(b));
  }

  Value toSingle(Value half) {
    Value bits = arith::BitcastOp::create(m.builder, m.loc, i16, half);
    bits = arith::ExtUIOp::create(m.builder, m.loc, m.intType, bits);
    Value magnitude = m.andInt(bits, 0x7FFF), sign = m.shiftLeft(m.andInt(bits, 0x8000), 16);
    Value shifted = m.shiftLeft(magnitude, 13);
    // The exponent's bias is another, and a denormal is one no more: both by one multiplication.
    Value finite = m.bits(m.mul(m.fromBits(shifted), m.constant(0x1p112)));
    Value quiet =
        m.select(compare(arith::CmpIPredicate::ugt, magnitude, 0x7C00), m.integer(0x7FC00000), m.integer(0x7F800000));
    Value special = m.either(shifted, quiet);
    Value is = m.select(compare(arith::CmpIPredicate::ult, magnitude, 0x7C00), finite, special);
    return m.fromBits(m.either(is, sign));
  }

  Value toHalf(Value single) {
    Value bits = m.bits(single), magnitude = m.andInt(bits, 0x7FFFFFFF);
    Value sign = m.shiftRightLogical(m.subInt(bits, magnitude), 16);
    // Numbers that are normal in f16: half of the last place is added, less one where that bit is 0.
    Value odd = m.andInt(m.shiftRightLogical(magnitude, 13), 1);
    Value normal = m.addInt(m.addInt(magnitude, m.integer(0xFFF - (int64_t(112) << 23))), odd);
    normal = m.shiftRightLogical(normal, 13);
    // Denormals: an addition aligns the digits and rounds.
    Value aligned = m.bits(m.add(m.fromBits(magnitude), m.constant(0.5)));
    Value denormal = m.subInt(aligned, m.integer(int64_t(126) << 23));
    Value payload = m.andInt(m.shiftRightLogical(magnitude, 13), 0x3FF);
    Value special = m.select(compare(arith::CmpIPredicate::ugt, magnitude, 0x7F800000),
                             m.either(payload, m.integer(0x7E00)), m.integer(0x7C00));
    Value is = m.select(compare(arith::CmpIPredicate::ult, magnitude, int64_t(113) << 23), denormal, normal);
    is = m.select(compare(arith::CmpIPredicate::ult, magnitude, int64_t(143) << 23), is, special);
    Value narrow = arith::TruncIOp::create(m.builder, m.loc, i16, m.either(is, sign));
    return arith::BitcastOp::create(m.builder, m.loc, m.withElement(m.builder.getF16Type()), narrow);
  }
};

struct EmulateInstructions : lintel::impl::EmulateInstructionsBase<EmulateInstructions> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      bool half = isa<arith::ExtFOp>(op)     ? getElementTypeOrSelf(op->getOperand(0).getType()).isF16()
                  : isa<arith::TruncFOp>(op) ? getElementTypeOrSelf(op->getResult(0).getType()).isF16()
                                             : false;
      if (half || isa<math::FmaOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      Value result = build(op);
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }

  Value build(Operation *op) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    Type type = op->getResult(0).getType();
    MathBuilder m(b, loc, type), single = MathBuilder(b, loc, m.withElement(b.getF32Type()));
    Value x = op->getOperand(0);
    if (isa<arith::ExtFOp>(op)) {
      Value wide = Halves{single}.toSingle(x);
      return wide.getType() == type ? wide : arith::ExtFOp::create(b, loc, type, wide).getResult();
    }
    if (isa<arith::TruncFOp>(op)) return Halves{single}.toHalf(x);
    if (!isa<math::FmaOp>(op)) return rounded(m, op, x);
    if (!m.isDouble) return fusedSingle(m, x, op->getOperand(1), op->getOperand(2));
    SmallVector<Value> operands(op->getOperands());
    auto vector = dyn_cast<VectorType>(type);
    if (!vector || vector.getRank() == 1) return fusedDouble(m, operands[0], operands[1], operands[2], getOperation());
    auto flat = VectorType::get({vector.getNumElements()}, vector.getElementType());
    for (Value &operand : operands) operand = vector::ShapeCastOp::create(b, loc, flat, operand);
    MathBuilder lanes(b, loc, flat);
    return vector::ShapeCastOp::create(b, loc, type,
                                       fusedDouble(lanes, operands[0], operands[1], operands[2], getOperation()));
  }
};

} // namespace

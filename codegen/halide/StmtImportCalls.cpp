#include "codegen/halide/StmtImportImpl.h"
#include "llvm/ADT/StringMap.h"

using namespace lintel::detail;
using namespace mlir;
using hi::Call;

Value Importer::strideArgument(const Call *op) {
  auto *handle = op->args.empty() ? nullptr : op->args[0].as<hi::Variable>();
  auto dim = op->args.size() == 2 ? hi::as_const_int(op->args[1]) : std::nullopt;
  auto buf = handle ? bufferArguments.find(handle->name) : bufferArguments.end();
  if (!dim || buf == bufferArguments.end()) refuse("stride of " + text(op->args[0]) + ", which is no buffer argument");
  return strideValues.at({buf->second, unsigned(*dim)});
}

//===-- Intrinsics ------------------------------------------------------------------------------------------------===//

bool Importer::importBitwise(const Call *op) {
  auto operand = [&](int i) { return eval(op->args[i]); };
  bool isSigned = op->type.is_int();
  if (op->is_intrinsic({Call::bitwise_and, Call::bitwise_or, Call::bitwise_xor})) {
    Value x = operand(0), y = operand(1);
    if (op->is_intrinsic(Call::bitwise_and)) result = arith::AndIOp::create(b, x, y);
    else if (op->is_intrinsic(Call::bitwise_or)) result = arith::OrIOp::create(b, x, y);
    else result = arith::XOrIOp::create(b, x, y);
  } else if (op->is_intrinsic(Call::bitwise_not)) {
    auto ones = b.getIntegerAttr(elementType(op->type), APInt::getAllOnes(op->type.bits()));
    Value x = operand(0);
    result = arith::XOrIOp::create(b, x, splat(op->type, ones));
  } else if (op->is_intrinsic({Call::shift_left, Call::shift_right})) {
    bool left = op->is_intrinsic(Call::shift_left);
    // A negative amount shifts the other way.
    if (op->args[1].type().is_int() && !hi::can_prove(op->args[1] >= 0)) {
      Halide::Expr x = shared(op->args[0]), y = shared(op->args[1]);
      eval(left ? hi::lower_signed_shift_left(x, y) : hi::lower_signed_shift_right(x, y));
      return true;
    }
    Value x = operand(0), y = operand(1);
    if (left) result = arith::ShLIOp::create(b, x, y);
    else result = isSigned ? Value(arith::ShRSIOp::create(b, x, y)) : Value(arith::ShRUIOp::create(b, x, y));
  } else if (op->is_intrinsic(Call::popcount)) {
    result = math::CtPopOp::create(b, operand(0));
  } else if (op->is_intrinsic(Call::count_leading_zeros)) {
    result = math::CountLeadingZerosOp::create(b, operand(0));
  } else if (op->is_intrinsic(Call::count_trailing_zeros)) {
    result = math::CountTrailingZerosOp::create(b, operand(0));
  } else {
    return false;
  }
  return true;
}

bool Importer::importInteger(const Call *op) {
  if (op->is_intrinsic({Call::div_round_to_zero, Call::mod_round_to_zero})) {
    Value x = eval(op->args[0]), y = eval(op->args[1]);
    bool isSigned = op->type.is_int();
    if (op->is_intrinsic(Call::div_round_to_zero))
      result = isSigned ? Value(arith::DivSIOp::create(b, x, y)) : Value(arith::DivUIOp::create(b, x, y));
    else result = isSigned ? Value(arith::RemSIOp::create(b, x, y)) : Value(arith::RemUIOp::create(b, x, y));
    return true;
  }
  if (op->is_intrinsic(Call::abs)) {
    Value x = eval(op->args[0]);
    result =
        isFloat(op->type) ? Value(math::AbsFOp::create(b, x, options.fastMath)) : Value(math::AbsIOp::create(b, x));
    return true;
  }
  if (op->is_intrinsic(Call::absd)) {
    Halide::Type t = op->args[0].type();
    Value x = eval(op->args[0]), y = eval(op->args[1]);
    if (isFloat(t)) {
      result = math::AbsFOp::create(b, arithmetic(hi::IRNodeType::Sub, t, x, y), options.fastMath);
    } else {
      // Of the type's unsigned counterpart: the larger less the smaller, which wraps to the right bits.
      Value isLess = lessThan(t, x, y);
      Value up = arith::SubIOp::create(b, y, x), down = arith::SubIOp::create(b, x, y);
      result = arith::SelectOp::create(b, isLess, up, down);
    }
    return true;
  }
  if (op->is_intrinsic(Call::mux)) return eval(hi::lower_mux(op)), true;
  if (op->is_intrinsic(Call::extract_bits)) return eval(hi::lower_extract_bits(op)), true;
  if (op->is_intrinsic(Call::concat_bits)) return eval(hi::lower_concat_bits(op)), true;
  if (op->is_intrinsic(Call::lerp))
    return eval(hi::lower_lerp(op->type, shared(op->args[0]), shared(op->args[1]), shared(op->args[2]),
                               Halide::Target())),
           true;
  // Widening, saturating, halving, rounding arithmetic: Halide's own definitions. They mention operands several times.
  if (!op->is_intrinsic()) return false;
  if (!hi::lower_intrinsic(op).defined()) return false;
  std::vector<Halide::Expr> operands;
  for (const Halide::Expr &e : op->args) operands.push_back(shared(e));
  Halide::Expr named = Call::make(op->type, op->name, operands, op->call_type);
  eval(hi::lower_intrinsic(named.as<Call>()));
  return true;
}

bool Importer::importSpecial(const Call *op) {
  using Kind = hi::IRNodeType;
  if (op->is_tag() || op->is_intrinsic({Call::promise_clamped, Call::unsafe_promise_clamped})) {
    eval(op->args[0]);
  } else if (op->is_strict_float_intrinsic()) {
    // The very operations that the plain nodes become: strictness was for Halide's simplifier.
    const Halide::Expr &x = op->args[0], &y = op->args[1];
    if (op->is_intrinsic(Call::strict_add)) binary(Kind::Add, x, y);
    else if (op->is_intrinsic(Call::strict_sub)) binary(Kind::Sub, x, y);
    else if (op->is_intrinsic(Call::strict_mul)) binary(Kind::Mul, x, y);
    else if (op->is_intrinsic(Call::strict_min)) binary(Kind::Min, x, y);
    else if (op->is_intrinsic(Call::strict_max)) binary(Kind::Max, x, y);
    else if (op->is_intrinsic(Call::strict_lt)) compare(Kind::LT, x, y);
    else if (op->is_intrinsic(Call::strict_le)) compare(Kind::LE, x, y);
    else if (op->is_intrinsic(Call::strict_eq)) compare(Kind::EQ, x, y);
    else if (op->is_intrinsic(Call::strict_div)) {
      Value a = eval(x), c = eval(y);
      result = arith::DivFOp::create(b, a, c, options.fastMath);
    } else return false;
  } else if (op->is_intrinsic(Call::return_second)) {
    eval(op->args[0]);
    eval(op->args[1]);
  } else if (op->is_intrinsic(Call::if_then_else)) {
    Value condition = eval(op->args[0]);
    bool hasElse = op->args.size() == 3;
    if (!hasElse) refuse("if_then_else with one branch has no import");
    if (isa<VectorType>(condition.getType())) {
      Value x = eval(op->args[1]), y = eval(op->args[2]);
      result = arith::SelectOp::create(b, condition, x, y);
      return true;
    }
    flushStores();
    auto branch = scf::IfOp::create(b, TypeRange{typeOf(op->type)}, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, ValueRange{eval(op->args[1])});
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, ValueRange{eval(op->args[2])});
    result = branch.getResult(0);
  } else if (op->is_intrinsic(Call::undef)) {
    refuse("undef that lowering did not remove; initialise the Func");
  } else if (op->is_intrinsic(Call::signed_integer_overflow)) {
    refuse("signed integer overflow in a constant expression");
  } else if (op->is_intrinsic(Call::gpu_thread_barrier)) {
    refuse("gpu_thread_barrier has no import yet; schedule the stage for a CPU target");
  } else {
    return false;
  }
  return true;
}

void Importer::importPrefetch(const Call *op) {
  auto *base = op->args.empty() ? nullptr : op->args[0].as<hi::Variable>();
  auto it = base ? buffers.find(base->name) : buffers.end();
  // A hint: what cannot be expressed may be dropped.
  if (it == buffers.end() || it->second.empty() || op->args.size() < 2) return;
  Value index = evalIndex(op->args[1]);
  memref::PrefetchOp::create(b, it->second.back().memref, ValueRange{index}, /*isWrite=*/false, /*localityHint=*/3,
                             /*isDataCache=*/true);
}

//===-- Functions of floats ---------------------------------------------------------------------------------------===//

namespace {

using Unary = Value (*)(ImplicitLocOpBuilder &, Value, arith::FastMathFlags);
template <class Op> Value makeUnary(ImplicitLocOpBuilder &b, Value x, arith::FastMathFlags flags) {
  return Op::create(b, x, flags);
}

const llvm::StringMap<Unary> &unaryFunctions() {
  static const llvm::StringMap<Unary> table = {
      {"abs", makeUnary<math::AbsFOp>},        {"acos", makeUnary<math::AcosOp>},
      {"acosh", makeUnary<math::AcoshOp>},     {"asin", makeUnary<math::AsinOp>},
      {"asinh", makeUnary<math::AsinhOp>},     {"atan", makeUnary<math::AtanOp>},
      {"atanh", makeUnary<math::AtanhOp>},     {"cbrt", makeUnary<math::CbrtOp>},
      {"ceil", makeUnary<math::CeilOp>},       {"cos", makeUnary<math::CosOp>},
      {"cosh", makeUnary<math::CoshOp>},       {"erf", makeUnary<math::ErfOp>},
      {"erfc", makeUnary<math::ErfcOp>},       {"exp", makeUnary<math::ExpOp>},
      {"exp2", makeUnary<math::Exp2Op>},       {"expm1", makeUnary<math::ExpM1Op>},
      {"floor", makeUnary<math::FloorOp>},     {"fast_inverse_sqrt", makeUnary<math::RsqrtOp>},
      {"log", makeUnary<math::LogOp>},         {"log10", makeUnary<math::Log10Op>},
      {"log1p", makeUnary<math::Log1pOp>},     {"log2", makeUnary<math::Log2Op>},
      {"round", makeUnary<math::RoundEvenOp>}, {"rsqrt", makeUnary<math::RsqrtOp>},
      {"sin", makeUnary<math::SinOp>},         {"sinh", makeUnary<math::SinhOp>},
      {"sqrt", makeUnary<math::SqrtOp>},       {"tan", makeUnary<math::TanOp>},
      {"tanh", makeUnary<math::TanhOp>},       {"trunc", makeUnary<math::TruncOp>},
  };
  return table;
}

} // namespace

bool Importer::importMath(const Call *op) {
  llvm::StringRef name = op->name;
  if (op->is_intrinsic(Call::round)) {
    result = math::RoundEvenOp::create(b, eval(op->args[0]), options.fastMath);
    return true;
  }
  if (!op->is_extern()) return false;
  name.consume_front("lintel_");
  if (!name.consume_back("_f16") && !name.consume_back("_f32") && !name.consume_back("_f64") &&
      !name.consume_back("_bf16"))
    return false;

  auto constant = [&](Halide::Type t, double v) {
    auto type = cast<FloatType>(elementType(t));
    return splat(t, b.getFloatAttr(type, v));
  };
  if (op->args.empty()) {
    double inf = std::numeric_limits<double>::infinity();
    if (name == "inf") result = constant(op->type, inf);
    else if (name == "neg_inf") result = constant(op->type, -inf);
    else if (name == "nan") result = constant(op->type, std::numeric_limits<double>::quiet_NaN());
    else return false;
    return true;
  }
  for (const Halide::Expr &e : op->args)
    if (!isFloat(e.type())) return false;

  Halide::Type t = op->args[0].type();
  auto fast = options.fastMath;
  if (op->args.size() == 1) {
    // Classification never assumes anything of its operand, whatever the flags.
    auto test = [&](arith::CmpFPredicate predicate, Value x, Value y) {
      result = arith::CmpFOp::create(b, predicate, x, y);
      return true;
    };
    if (name == "is_nan") {
      Value x = eval(op->args[0]);
      return test(arith::CmpFPredicate::UNO, x, x);
    }
    if (name == "is_inf" || name == "is_finite") {
      Value size = math::AbsFOp::create(b, eval(op->args[0]));
      auto predicate = name == "is_inf" ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::OLT;
      return test(predicate, size, constant(t, std::numeric_limits<double>::infinity()));
    }
    if (name == "fast_inverse") {
      Value x = eval(op->args[0]);
      result = arith::DivFOp::create(b, constant(t, 1.0), x, fast);
      return true;
    }
    auto it = unaryFunctions().find(name);
    if (it == unaryFunctions().end()) return false;
    result = it->second(b, eval(op->args[0]), fast);
    return true;
  }
  if (op->args.size() == 2 && (name == "pow" || name == "atan2" || name == "copysign")) {
    Value x = eval(op->args[0]), y = eval(op->args[1]);
    if (name == "pow") result = math::PowFOp::create(b, x, y, fast);
    else if (name == "atan2") result = math::Atan2Op::create(b, x, y, fast);
    else result = math::CopySignOp::create(b, x, y, fast);
    return true;
  }
  if (op->args.size() == 3 && name == "fma") {
    Value x = eval(op->args[0]), y = eval(op->args[1]), z = eval(op->args[2]);
    result = math::FmaOp::create(b, x, y, z, fast);
    return true;
  }
  return false;
}

void Importer::visit(const Call *op) {
  if (op->name == Call::buffer_get_stride) refuse("value " + text(Halide::Expr(op)) + " " + wideFault);
  if (llvm::StringRef(op->name).starts_with("_halide_buffer_")) {
    std::string handle = op->args.empty() ? std::string() : text(op->args[0]);
    std::string what = op->name == Call::buffer_get_min || op->name == Call::buffer_get_extent ? "bounds" : op->name;
    std::string dim = op->args.size() == 2 ? " of dimension " + text(op->args[1]) : "";
    llvm::StringRef name = handle;
    name = name.substr(name.find(')') == llvm::StringRef::npos ? 0 : name.rfind(')') + 1).ltrim();
    name.consume_back(".buffer");
    refuse("buffer '" + name.str() + "': " + what + dim + " are not fixed; give them with dim(d).set_bounds");
  }
  if (importSpecial(op) || importBitwise(op) || importInteger(op) || importPairs(op) || importMath(op)) return;
  refuse(std::string(op->is_extern() ? "extern call" : "call") + " of '" + op->name + "' has no import");
}

#include "codegen/halide/StmtImportImpl.h"

using namespace lintel::detail;
using namespace mlir;
using hi::IRNodeType;

const char *const lintel::detail::wideFault =
    "computes with a stride that is not fixed, outside of what is done in index; give the stride with set_stride";

static constexpr auto nsw = arith::IntegerOverflowFlags::nsw;

//===-- Values ----------------------------------------------------------------------------------------------------===//

Value Importer::eval(const Halide::Expr &e) {
  if (!e.defined()) refuse("undefined expression");
  e.accept(this);
  return result;
}

Value Importer::splat(Halide::Type t, TypedAttr scalar) {
  if (t.is_scalar()) return arith::ConstantOp::create(b, scalar);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(cast<ShapedType>(typeOf(t)), Attribute(scalar)));
}

Value Importer::zero(Halide::Type t) { return arith::ConstantOp::create(b, b.getZeroAttr(typeOf(t))); }

Value Importer::addIndex(Value v, int64_t offset) {
  return offset == 0 ? v : arith::AddIOp::create(b, v, indexConstant(offset), nsw);
}

const Importer::Binding *Importer::lookup(const std::string &name) {
  auto it = variables.find(name);
  return it == variables.end() || it->second.empty() ? nullptr : &it->second.back();
}

Importer::Binding Importer::bindingOf(const Halide::Expr &e) {
  bool wide = isWide(e);
  if (e.type() == Halide::Int(32)) return {Value(), evalIndex(e), wide};
  if (wide && e.type().element_of() == Halide::Int(32)) return {Value(), evalIndexVector(e), true};
  return {eval(e), Value(), wide};
}

Halide::Expr Importer::shared(const Halide::Expr &e) {
  if (hi::is_const(e) || e.as<hi::Variable>()) return e;
  // The name stays bound: nothing else can have it.
  std::string name = hi::unique_name("import");
  variables[name].push_back(bindingOf(e));
  return hi::Variable::make(e.type(), name);
}

bool Importer::isWide(const Halide::Expr &e) {
  if (strideValues.empty()) return false;
  struct Finder : hi::IRGraphVisitor {
    using hi::IRGraphVisitor::visit;
    Importer &importer;
    bool found = false;
    explicit Finder(Importer &importer) : importer(importer) {}
    void visit(const hi::Variable *op) override {
      const Binding *binding = importer.lookup(op->name);
      found |= binding && binding->wide;
    }
    void visit(const hi::Call *op) override {
      if (op->name == hi::Call::buffer_get_stride) found = true;
      hi::IRGraphVisitor::visit(op);
    }
    // What is read from memory is itself no wider for the offset that it is read at.
    void visit(const hi::Load *) override {}
  } finder(*this);
  e.accept(&finder);
  return finder.found;
}

//===-- Index arithmetic ------------------------------------------------------------------------------------------===//

Value Importer::indexBinary(const Halide::Expr &a, const Halide::Expr &c, IRNodeType kind) {
  bool isVector = a.type().is_vector();
  Value x = isVector ? evalIndexVector(a) : evalIndex(a), y = isVector ? evalIndexVector(c) : evalIndex(c);
  switch (kind) {
  case IRNodeType::Add:
    return arith::AddIOp::create(b, x, y, nsw);
  case IRNodeType::Sub:
    return arith::SubIOp::create(b, x, y, nsw);
  case IRNodeType::Mul:
    return arith::MulIOp::create(b, x, y, nsw);
  case IRNodeType::Min:
    return arith::MinSIOp::create(b, x, y);
  default:
    return arith::MaxSIOp::create(b, x, y);
  }
}

// Euclidean: the remainder is never negative; by zero both are zero. From q and r rounded to zero: where r < 0, q goes
// one further from zero in the divisor's direction and r gains |b|.
Value Importer::indexDivMod(const Halide::Expr &a, const Halide::Expr &c, bool mod) {
  using Predicate = arith::CmpIPredicate;
  Value x = evalIndex(a);
  auto constant = hi::as_const_int(c);
  Value none = indexConstant(0), one = indexConstant(1);
  if (constant && *constant == 0) return none;
  Value y = constant ? indexConstant(*constant) : evalIndex(c), byZero;
  if (!constant) {
    byZero = arith::CmpIOp::create(b, Predicate::eq, y, none);
    y = arith::SelectOp::create(b, byZero, one, y);
  }
  Value r = arith::RemSIOp::create(b, x, y);
  Value isNegative = arith::CmpIOp::create(b, Predicate::slt, r, none);
  Value out;
  if (mod) {
    Value size = constant ? indexConstant(std::abs(*constant)) : Value(math::AbsIOp::create(b, y));
    out = arith::SelectOp::create(b, isNegative, arith::AddIOp::create(b, r, size, nsw), r);
  } else {
    Value q = arith::DivSIOp::create(b, x, y);
    Value step = constant ? indexConstant(*constant > 0 ? -1 : 1)
                          : Value(arith::SelectOp::create(b, arith::CmpIOp::create(b, Predicate::sgt, y, none),
                                                          indexConstant(-1), one));
    out = arith::SelectOp::create(b, isNegative, arith::AddIOp::create(b, q, step, nsw), q);
  }
  return byZero ? arith::SelectOp::create(b, byZero, none, out) : out;
}

Value Importer::evalIndex(const Halide::Expr &e) {
  using Call = hi::Call;
  if (!e.type().is_int_or_uint() || !e.type().is_scalar())
    refuse("offset or bound " + text(e) + " is " + text(e.type()) + "; expected an integer");
  if (auto constant = hi::as_const_int(e)) return indexConstant(*constant);
  // Only int32 may be widened: its overflow is undefined. Other integers wrap at their own width.
  if (e.type() != Halide::Int(32)) {
    auto *widened = e.as<hi::Cast>();
    if (widened && e.type() == Halide::Int(64) && widened->value.type() == Halide::Int(32))
      return evalIndex(widened->value);
    Value v = eval(e);
    if (e.type().is_uint()) return arith::IndexCastUIOp::create(b, b.getIndexType(), v);
    return arith::IndexCastOp::create(b, b.getIndexType(), v);
  }
  if (auto *op = e.as<hi::Add>()) return indexBinary(op->a, op->b, IRNodeType::Add);
  if (auto *op = e.as<hi::Sub>()) return indexBinary(op->a, op->b, IRNodeType::Sub);
  if (auto *op = e.as<hi::Mul>()) return indexBinary(op->a, op->b, IRNodeType::Mul);
  if (auto *op = e.as<hi::Min>()) return indexBinary(op->a, op->b, IRNodeType::Min);
  if (auto *op = e.as<hi::Max>()) return indexBinary(op->a, op->b, IRNodeType::Max);
  if (auto *op = e.as<hi::Div>()) return indexDivMod(op->a, op->b, /*mod=*/false);
  if (auto *op = e.as<hi::Mod>()) return indexDivMod(op->a, op->b, /*mod=*/true);
  if (auto *op = e.as<hi::Select>()) {
    Value condition = eval(op->condition), x = evalIndex(op->true_value), y = evalIndex(op->false_value);
    return arith::SelectOp::create(b, condition, x, y);
  }
  if (auto *op = e.as<hi::Let>()) {
    Scoped<Variables> scope(variables, op->name, bindingOf(op->value));
    return evalIndex(op->body);
  }
  if (auto *op = e.as<hi::Variable>()) {
    const Binding *binding = lookup(op->name);
    if (binding && binding->index) return binding->index;
  }
  if (auto *op = e.as<Call>()) {
    if (op->name == Call::buffer_get_stride) return strideArgument(op);
    if (op->is_tag() || op->is_intrinsic({Call::promise_clamped, Call::unsafe_promise_clamped}))
      return evalIndex(op->args[0]);
    // find_intrinsics has made shifts and masks of divisions by powers of two.
    if (op->is_intrinsic({Call::shift_left, Call::shift_right})) {
      auto amount = hi::as_const_int(op->args[1]);
      if (auto u = hi::as_const_uint(op->args[1])) amount = int64_t(*u);
      if (amount && *amount >= 0 && *amount < 32) {
        Value x = evalIndex(op->args[0]), y = indexConstant(*amount);
        if (op->is_intrinsic(Call::shift_right)) return arith::ShRSIOp::create(b, x, y);
        return arith::ShLIOp::create(b, x, y, nsw);
      }
    }
    if (op->is_intrinsic(Call::bitwise_and))
      if (auto mask = hi::as_const_int(op->args[1]); mask && *mask >= 0)
        return arith::AndIOp::create(b, evalIndex(op->args[0]), indexConstant(*mask));
  }
  return arith::IndexCastOp::create(b, b.getIndexType(), eval(e));
}

Value Importer::evalIndexVector(const Halide::Expr &e) {
  auto type = VectorType::get({e.type().lanes()}, b.getIndexType());
  if (e.type().element_of() == Halide::Int(32)) {
    if (auto *op = e.as<hi::Add>()) return indexBinary(op->a, op->b, IRNodeType::Add);
    if (auto *op = e.as<hi::Sub>()) return indexBinary(op->a, op->b, IRNodeType::Sub);
    if (auto *op = e.as<hi::Mul>()) return indexBinary(op->a, op->b, IRNodeType::Mul);
    if (auto *op = e.as<hi::Min>()) return indexBinary(op->a, op->b, IRNodeType::Min);
    if (auto *op = e.as<hi::Max>()) return indexBinary(op->a, op->b, IRNodeType::Max);
    if (auto *op = e.as<hi::Broadcast>())
      return broadcast(op->value.type().is_scalar() ? evalIndex(op->value) : evalIndexVector(op->value), op->lanes);
    if (auto *op = e.as<hi::Ramp>(); op && op->base.type().is_scalar()) {
      SmallVector<APInt> lanes;
      for (int lane = 0; lane < op->lanes; ++lane) lanes.push_back(APInt(64, lane));
      Value iota = arith::ConstantOp::create(b, DenseElementsAttr::get(type, lanes));
      Value base = broadcast(evalIndex(op->base), op->lanes), stride = broadcast(evalIndex(op->stride), op->lanes);
      return arith::AddIOp::create(b, base, arith::MulIOp::create(b, iota, stride, nsw), nsw);
    }
    if (auto *op = e.as<hi::Let>()) {
      Scoped<Variables> scope(variables, op->name, bindingOf(op->value));
      return evalIndexVector(op->body);
    }
    if (auto *op = e.as<hi::Variable>()) {
      const Binding *binding = lookup(op->name);
      if (binding && binding->index) return binding->index;
    }
    if (auto *op = hi::Call::as_intrinsic(e, {hi::Call::likely, hi::Call::likely_if_innermost,
                                              hi::Call::promise_clamped, hi::Call::unsafe_promise_clamped}))
      return evalIndexVector(op->args[0]);
  }
  if (isWide(e) && !e.as<hi::Variable>()) refuse("offset " + text(e) + " " + wideFault);
  return arith::IndexCastOp::create(b, type, eval(e));
}

//===-- Leaves ----------------------------------------------------------------------------------------------------===//

TypedAttr Importer::immediate(const Halide::Expr &e) {
  if (auto *op = e.as<hi::IntImm>()) return b.getIntegerAttr(elementType(op->type), op->value);
  if (auto *op = e.as<hi::UIntImm>()) return b.getIntegerAttr(elementType(op->type), APInt(op->type.bits(), op->value));
  if (auto *op = e.as<hi::FloatImm>()) return b.getFloatAttr(elementType(op->type), op->value);
  return {};
}
void Importer::visit(const hi::IntImm *op) { result = splat(op->type, immediate(op)); }
void Importer::visit(const hi::UIntImm *op) { result = splat(op->type, immediate(op)); }
void Importer::visit(const hi::FloatImm *op) { result = splat(op->type, immediate(op)); }
void Importer::visit(const hi::StringImm *op) { refuse("string \"" + op->value + "\" has no import"); }

void Importer::visit(const hi::Variable *op) {
  const Binding *binding = lookup(op->name);
  if (!binding) refuse("variable '" + op->name + "' is bound nowhere");
  if (binding->wide && !binding->value) refuse("value '" + op->name + "' " + wideFault);
  result = binding->value ? binding->value : Value(arith::IndexCastOp::create(b, typeOf(op->type), binding->index));
}

void Importer::visit(const hi::Let *op) {
  Scoped<Variables> scope(variables, op->name, bindingOf(op->value));
  eval(op->body);
}

//===-- Arithmetic ------------------------------------------------------------------------------------------------===//

Value Importer::lessThan(Halide::Type t, Value x, Value y) {
  if (isFloat(t)) return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y, options.fastMath);
  return arith::CmpIOp::create(b, t.is_int() ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult, x, y);
}

Value Importer::arithmetic(IRNodeType kind, Halide::Type t, Value x, Value y) {
  auto fast = options.fastMath;
  // Signed overflow is undefined from 32 bits on; narrower and unsigned integers wrap.
  auto flags = t.is_int() && t.bits() >= 32 ? nsw : arith::IntegerOverflowFlags::none;
  bool isFp = isFloat(t), isSigned = t.is_int();
  switch (kind) {
  case IRNodeType::Add:
    if (isFp) return arith::AddFOp::create(b, x, y, fast);
    return arith::AddIOp::create(b, x, y, flags);
  case IRNodeType::Sub:
    if (isFp) return arith::SubFOp::create(b, x, y, fast);
    return arith::SubIOp::create(b, x, y, flags);
  case IRNodeType::Mul:
    if (isFp) return arith::MulFOp::create(b, x, y, fast);
    return arith::MulIOp::create(b, x, y, flags);
  // Compare and select is Halide's meaning where an operand is NaN, and one minps or maxps; minnum and minimum are
  // several.
  case IRNodeType::Min:
    if (isFp) return arith::SelectOp::create(b, lessThan(t, x, y), x, y);
    return isSigned ? Value(arith::MinSIOp::create(b, x, y)) : Value(arith::MinUIOp::create(b, x, y));
  case IRNodeType::Max:
    if (isFp) return arith::SelectOp::create(b, lessThan(t, y, x), x, y);
    return isSigned ? Value(arith::MaxSIOp::create(b, x, y)) : Value(arith::MaxUIOp::create(b, x, y));
  default:
    llvm_unreachable("no arithmetic node");
  }
}

void Importer::binary(IRNodeType kind, const Halide::Expr &a, const Halide::Expr &c) {
  Value x = eval(a), y = eval(c);
  result = arithmetic(kind, a.type(), x, y);
}
void Importer::visit(const hi::Add *op) { binary(IRNodeType::Add, op->a, op->b); }
void Importer::visit(const hi::Sub *op) { binary(IRNodeType::Sub, op->a, op->b); }
void Importer::visit(const hi::Mul *op) { binary(IRNodeType::Mul, op->a, op->b); }
void Importer::visit(const hi::Min *op) { binary(IRNodeType::Min, op->a, op->b); }
void Importer::visit(const hi::Max *op) { binary(IRNodeType::Max, op->a, op->b); }

void Importer::visit(const hi::Div *op) {
  if (isFloat(op->type)) {
    Value x = eval(op->a), y = eval(op->b);
    result = arith::DivFOp::create(b, x, y, options.fastMath);
    return;
  }
  eval(hi::lower_int_uint_div(shared(op->a), shared(op->b)));
}

void Importer::visit(const hi::Mod *op) {
  if (isFloat(op->type)) {
    // Halide's float modulus takes the divisor's sign: a - b * floor(a / b).
    Halide::Expr x = shared(op->a), y = shared(op->b);
    eval(x - y * Halide::floor(x / y));
    return;
  }
  eval(hi::lower_int_uint_mod(shared(op->a), shared(op->b)));
}

void Importer::compare(IRNodeType kind, const Halide::Expr &a, const Halide::Expr &c) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  Halide::Type t = a.type();
  bool isIndex = t == Halide::Int(32), isSigned = t.is_int();
  Value x = isIndex ? evalIndex(a) : eval(a), y = isIndex ? evalIndex(c) : eval(c);
  F f = F::OEQ;
  I i = I::eq;
  switch (kind) {
  case IRNodeType::EQ:
    break;
  case IRNodeType::NE:
    f = F::UNE, i = I::ne;
    break;
  case IRNodeType::LT:
    f = F::OLT, i = isSigned ? I::slt : I::ult;
    break;
  case IRNodeType::LE:
    f = F::OLE, i = isSigned ? I::sle : I::ule;
    break;
  case IRNodeType::GT:
    f = F::OGT, i = isSigned ? I::sgt : I::ugt;
    break;
  default:
    f = F::OGE, i = isSigned ? I::sge : I::uge;
    break;
  }
  if (isFloat(t)) result = arith::CmpFOp::create(b, f, x, y, options.fastMath);
  else result = arith::CmpIOp::create(b, i, x, y);
}
void Importer::visit(const hi::EQ *op) { compare(IRNodeType::EQ, op->a, op->b); }
void Importer::visit(const hi::NE *op) { compare(IRNodeType::NE, op->a, op->b); }
void Importer::visit(const hi::LT *op) { compare(IRNodeType::LT, op->a, op->b); }
void Importer::visit(const hi::LE *op) { compare(IRNodeType::LE, op->a, op->b); }
void Importer::visit(const hi::GT *op) { compare(IRNodeType::GT, op->a, op->b); }
void Importer::visit(const hi::GE *op) { compare(IRNodeType::GE, op->a, op->b); }

void Importer::visit(const hi::And *op) {
  Value x = eval(op->a), y = eval(op->b);
  result = arith::AndIOp::create(b, x, y);
}
void Importer::visit(const hi::Or *op) {
  Value x = eval(op->a), y = eval(op->b);
  result = arith::OrIOp::create(b, x, y);
}
void Importer::visit(const hi::Not *op) {
  Value x = eval(op->a);
  result = arith::XOrIOp::create(b, x, splat(op->type, b.getIntegerAttr(b.getI1Type(), 1)));
}

void Importer::visit(const hi::Select *op) {
  Halide::Expr condition = op->condition;
  if (auto *all = condition.as<hi::Broadcast>(); all && all->value.type().is_scalar()) condition = all->value;
  Value c = eval(condition), x = eval(op->true_value), y = eval(op->false_value);
  result = arith::SelectOp::create(b, c, x, y);
}

//===-- Conversions -----------------------------------------------------------------------------------------------===//

Value Importer::convert(Value x, Halide::Type from, Halide::Type to) {
  Type type = typeOf(to);
  if (from.is_handle() || to.is_handle()) refuse("cast from " + text(from) + " to " + text(to) + " has no import");
  if (type == x.getType()) return x;
  bool fromFloat = isFloat(from), toFloat = isFloat(to);
  if (fromFloat && toFloat) {
    if (to.bits() > from.bits()) return arith::ExtFOp::create(b, type, x);
    if (to.bits() < from.bits()) return arith::TruncFOp::create(b, type, x);
    // bf16 to f16 or back: by way of f32, which holds both.
    return convert(convert(x, from, Halide::Float(32, from.lanes())), Halide::Float(32, from.lanes()), to);
  }
  if (fromFloat) {
    if (to.is_int()) return arith::FPToSIOp::create(b, type, x);
    if (to.bits() >= 8) return arith::FPToUIOp::create(b, type, x);
    return convert(convert(x, from, to.with_bits(8)), to.with_bits(8), to);
  }
  if (toFloat) return from.is_int() ? Value(arith::SIToFPOp::create(b, type, x)) : arith::UIToFPOp::create(b, type, x);
  if (to.bits() > from.bits())
    return from.is_int() ? Value(arith::ExtSIOp::create(b, type, x)) : arith::ExtUIOp::create(b, type, x);
  return arith::TruncIOp::create(b, type, x);
}

void Importer::visit(const hi::Cast *op) {
  Halide::Type from = op->value.type();
  result = convert(eval(op->value), from, op->type);
}

void Importer::visit(const hi::Reinterpret *op) {
  Value x = eval(op->value);
  Type type = typeOf(op->type);
  if (type == x.getType()) {
    result = x;
  } else if (op->type.lanes() == op->value.type().lanes()) {
    result = arith::BitcastOp::create(b, type, x);
  } else {
    // vector.bitcast wants vectors on both sides.
    auto asVector = [](Type t) { return isa<VectorType>(t) ? cast<VectorType>(t) : VectorType::get({1}, t); };
    if (!isa<VectorType>(x.getType())) x = vector::BroadcastOp::create(b, asVector(x.getType()), x);
    result = vector::BitCastOp::create(b, asVector(type), x);
    if (!isa<VectorType>(type)) result = vector::ExtractOp::create(b, result, int64_t(0));
  }
}

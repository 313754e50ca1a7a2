#include "codegen/halide/StageExpressions.h"

using namespace mlir;
using namespace lintel;
namespace H = Halide;

H::Type StageExpressions::halideType(lintel_dtype dtype) {
  switch (dtype) {
  case LINTEL_F64:
    return H::Float(64);
  case LINTEL_F32:
    return H::Float(32);
  case LINTEL_F16:
    return H::Float(16);
  case LINTEL_BF16:
    return H::BFloat(16);
  }
  return H::Float(32);
}

void StageExpressions::addImages(ArrayRef<Value> tensors, ArrayRef<Value> indices) {
  for (auto [n, v] : llvm::enumerate(tensors)) {
    TensorLayout layout = request.layoutOf(v);
    auto sizes = cast<RealType>(v.getType()).getSizes();
    int rank = std::max<size_t>(sizes.size(), 1); // a scalar is an array of one element
    H::ImageParam image(halideType(layout.dtype), rank, "in" + std::to_string(n));
    int64_t stride = 1;
    for (int d = 0; d < rank; ++d) {
      int64_t size = sizes.empty() ? 1 : sizes[rank - 1 - d];
      image.dim(d).set_bounds(0, static_cast<int>(size));
      image.dim(d).set_estimate(0, static_cast<int>(size)); // for auto-schedulers
      if (d == 0 || !layout.openStrides) image.dim(d).set_stride(static_cast<int>(stride));
      stride *= size;
    }
    if (layout.aligned) image.set_host_alignment(64);
    images.try_emplace(v, image);
    arguments.push_back(image);
  }
  for (auto [n, v] : llvm::enumerate(indices)) {
    H::Param<int32_t> param("at" + std::to_string(n));
    param.set_estimate(0);
    scalars[v] = param;
    arguments.push_back(param);
  }
}

H::Expr StageExpressions::callTensor(Value tensor, std::vector<H::Expr> args) {
  if (args.empty() && !stageOf.count(tensor)) args.push_back(0);
  if (auto it = stageOf.find(tensor); it != stageOf.end()) return H::cast(type, stages[it->second].func(args));
  return H::cast(type, images.find(tensor)->second(args));
}

H::Func StageExpressions::transposed(Value tensor, unsigned axis) {
  auto key = std::make_tuple(tensor.getAsOpaquePointer(), axis, type.bits());
  if (auto it = transposeOf.find(key); it != transposeOf.end()) return transposes[it->second].func;
  auto sizes = cast<RealType>(tensor.getType()).getSizes();
  Transposed t{H::Func("t"), {}, {}, 0};
  // Axes in the tensor's order, with `axis` moved to the end.
  SmallVector<unsigned> order;
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (d != axis) order.push_back(d);
  order.push_back(axis);
  std::vector<H::Var> byAxis(sizes.size());
  for (unsigned d = 0; d < sizes.size(); ++d) byAxis[d] = H::Var("t" + std::to_string(d));
  for (unsigned d : llvm::reverse(order)) {
    if (d == sizes.size() - 1) t.oldInner = t.vars.size();
    t.vars.push_back(byAxis[d]);
    t.sizes.push_back(sizes[d]);
  }
  std::vector<H::Expr> args;
  for (unsigned d = sizes.size(); d-- > 0;) args.push_back(byAxis[d]);
  t.func(t.vars) = callTensor(tensor, args);
  transposeOf[key] = transposes.size();
  transposes.push_back(t);
  return transposes.back().func;
}

H::Expr StageExpressions::element(AtOp at, Scope &scope) {
  Value tensor = at.getX();
  auto indices = at.getIndices();
  StageOp op = stages[current].op;
  // Inside a reduction over the tensor's last axis, the vectors of the stage run along another one.
  Block &body = op.getBody().front();
  unsigned rank = op.getType().getRank();
  if (rank && indices.size() >= 2 && at->getParentOp() != op && !op.isSerial() && !alongRow) {
    Value inner = body.getArgument(rank - 1);
    for (unsigned d = 0; d + 1 < indices.size(); ++d) {
      if (indices[d] != inner || indices.back() == inner || op.getType().getSizes().back() == 1) continue;
      H::Func f = transposed(tensor, d);
      std::vector<H::Expr> args{index(indices[d], scope)};
      for (unsigned e = indices.size(); e-- > 0;)
        if (e != d) args.push_back(index(indices[e], scope));
      return f(args);
    }
  }
  std::vector<H::Expr> args;
  for (Value i : llvm::reverse(indices)) args.push_back(index(i, scope));
  return callTensor(tensor, args);
}

H::Expr StageExpressions::index(Value v, Scope &scope) {
  for (auto &[known, e] : scope.indices)
    if (known == v) return e;
  if (auto it = scalars.find(v); it != scalars.end()) return it->second;
  Operation *op = v.getDefiningOp();
  if (auto c = dyn_cast<arith::ConstantIndexOp>(op)) return static_cast<int>(c.value());
  H::Expr a = index(op->getOperand(0), scope), b = index(op->getOperand(1), scope);
  if (isa<arith::AddIOp>(op)) return a + b;
  if (isa<arith::SubIOp>(op)) return a - b;
  if (isa<arith::MulIOp>(op)) return a * b;
  if (isa<arith::DivUIOp>(op)) return a / b;
  if (isa<arith::RemUIOp>(op)) return a % b;
  if (isa<arith::MinSIOp>(op)) return H::min(a, b);
  if (isa<arith::MaxSIOp>(op)) return H::max(a, b);
  throw H::InternalError(("an index of " + op->getName().getStringRef() + " has no meaning in a stage").str().c_str());
}

H::Expr StageExpressions::number(Value v, Scope &scope) {
  H::Expr e = expression(v, scope);
  if (e.type().is_bool()) return H::select(e, H::Internal::make_const(type, 1), H::Internal::make_const(type, 0));
  return e.type() == type ? e : H::cast(type, e);
}

H::Expr StageExpressions::truth(Value v, Scope &scope) {
  H::Expr e = expression(v, scope);
  return e.type().is_bool() ? e : e != H::Internal::make_zero(e.type());
}

H::Expr StageExpressions::expression(Value v, Scope &scope) {
  if (v == scope.before) return scope.beforeExpr;
  if (auto it = scope.known.find(v); it != scope.known.end()) return it->second;
  H::Expr e;
  if (isSumOfFolds(v)) e = reduce(v, scope);
  else e = compute(v.getDefiningOp(), scope);
  return scope.known[v] = e;
}

H::Expr StageExpressions::compute(Operation *op, Scope &scope) {
  if (auto c = dyn_cast<ConstantOp>(op)) {
    double x = c.getValueAttr().getValueAsDouble();
    if (std::isinf(x) || std::isnan(x)) {
      // Halide's constant folding takes infinities for numbers it may compute with; as a call it does not look into
      // them.
      std::string name = std::string(std::isnan(x) ? "nan"
                                     : x < 0       ? "neg_inf"
                                                   : "inf") +
                         (type.bits() == 64 ? "_f64" : "_f32");
      if (type.bits() == 32) return H::Internal::Call::make(type, name, {}, H::Internal::Call::PureExtern);
    }
    return H::Internal::make_const(type, x);
  }
  if (auto at = dyn_cast<AtOp>(op)) return element(at, scope);
  if (auto n = dyn_cast<NumberOp>(op)) return index(n.getIndex(), scope);
  if (isa<StartOp, GivenOp, TakenOp>(op)) return scalars[op->getResult(0)];
  if (auto u = dyn_cast<UnaryOp>(op)) {
    if (u.getKind() == UnaryKind::Not) return !truth(u.getX(), scope);
    return unary(u.getKind(), number(u.getX(), scope));
  }
  if (auto b = dyn_cast<BinaryOp>(op)) return binary(b, scope);
  if (auto s = dyn_cast<SelectOp>(op); s && isIdle(s, request.finite)) return number(s.getB(), scope);
  if (auto s = dyn_cast<SelectOp>(op))
    return H::select(condition(s, scope), number(s.getA(), scope), number(s.getB(), scope));
  throw H::InternalError((op->getName().getStringRef() + " has no meaning in a stage").str().c_str());
}

/// A condition on positions above a reduction is stored and loaded: seen through, it would let Halide shrink the
/// reduction's tile to a size and place that depend on the loop, with reads outside of the chunk. A condition on the
/// reduction itself needs it everywhere.
H::Expr StageExpressions::condition(SelectOp op, Scope &scope) {
  H::Expr c = truth(op.getCondition(), scope);
  bool stageLevel =
      op->getParentOp() == stages[current].op && !stages[current].op.isSerial() && !stages[current].vars.empty();
  auto hasFold = [](Value v) {
    SmallVector<Value> work{v};
    while (!work.empty()) {
      Operation *def = work.pop_back_val().getDefiningOp();
      if (isa_and_present<FoldOp>(def)) return true;
      // A stage that is written into this one brings its reductions along.
      auto at = dyn_cast_if_present<AtOp>(def);
      auto stage = at ? at.getX().getDefiningOp<StageOp>() : StageOp();
      if (stage && stage.getScheduleAttr() && stage.getScheduleAttr().getDirectives() == "inline")
        work.push_back(stage.getBody().front().getTerminator()->getOperand(0));
      if (isa_and_present<UnaryOp, BinaryOp, SelectOp>(def)) work.append(def->operand_begin(), def->operand_end());
    }
    return false;
  };
  if (!stageLevel || hasFold(op.getCondition()) || (!hasFold(op.getA()) && !hasFold(op.getB()))) return c;
  H::Func mask(stages[current].func.name() + "_mask");
  mask(stages[current].vars) = H::select(c, H::Internal::make_const(type, 1), H::Internal::make_const(type, 0));
  stages[current].masks.push_back(mask);
  std::vector<H::Expr> at(stages[current].vars.begin(), stages[current].vars.end());
  return mask(at) != H::Internal::make_const(type, 0);
}

H::Expr StageExpressions::unary(UnaryKind kind, H::Expr x) {
  auto c = [&](double v) { return H::Internal::make_const(type, v); };
  auto external = [&](const char *name) {
    return H::Internal::Call::make(type, std::string("lintel_") + name + (type.bits() == 64 ? "_f64" : "_f32"), {x},
                                   H::Internal::Call::PureExtern);
  };
  switch (kind) {
  case UnaryKind::Neg:
    return -x;
  case UnaryKind::Exp:
    return H::exp(x);
  case UnaryKind::Log:
    return H::log(x);
  case UnaryKind::Log1p:
    return external("log1p");
  case UnaryKind::Expm1:
    return external("expm1");
  case UnaryKind::Sqrt:
    return H::sqrt(x);
  case UnaryKind::Rsqrt:
    return c(1) / H::sqrt(x);
  case UnaryKind::Sin:
    return H::sin(x);
  case UnaryKind::Cos:
    return H::cos(x);
  case UnaryKind::Tanh:
    return H::tanh(x);
  case UnaryKind::Sigmoid:
    return c(1) / (c(1) + H::exp(-x));
  case UnaryKind::Softplus: {
    H::Expr y = -H::abs(x);
    H::Expr l = H::Internal::Call::make(type, type.bits() == 64 ? "lintel_log1p_f64" : "lintel_log1p_f32", {H::exp(y)},
                                        H::Internal::Call::PureExtern);
    return H::select(x > c(0), x, x < c(0), c(0), x * c(0)) + l;
  }
  case UnaryKind::Silu:
    return H::select(x < c(-1e4), c(0), x / (c(1) + H::exp(-x)));
  case UnaryKind::Gelu: {
    H::Expr e = H::Internal::Call::make(type, type.bits() == 64 ? "lintel_erf_f64" : "lintel_erf_f32",
                                        {x * c(0.70710678118654752)}, H::Internal::Call::PureExtern);
    return H::select(x < c(-40), c(0), c(0.5) * x * (c(1) + e));
  }
  case UnaryKind::Relu:
    return H::select(x < c(0), c(0), x);
  case UnaryKind::Elu: {
    H::Expr m = H::Internal::Call::make(type, type.bits() == 64 ? "lintel_expm1_f64" : "lintel_expm1_f32", {x},
                                        H::Internal::Call::PureExtern);
    return H::select(x > c(0), x, m);
  }
  case UnaryKind::Abs:
    return H::abs(x);
  case UnaryKind::Exp2:
    return external("exp2");
  case UnaryKind::Ceil:
    return H::ceil(x);
  case UnaryKind::Not:
    break;
  }
  throw H::InternalError("an elementwise function has no meaning in a stage");
}

H::Expr StageExpressions::binary(BinaryOp op, Scope &scope) {
  BinaryKind kind = op.getKind();
  if (kind == BinaryKind::And) return truth(op.getA(), scope) && truth(op.getB(), scope);
  if (kind == BinaryKind::Or) return truth(op.getA(), scope) || truth(op.getB(), scope);
  if (kind >= BinaryKind::Lt && kind <= BinaryKind::Ne) {
    H::Expr a = expression(op.getA(), scope), b = expression(op.getB(), scope);
    // Positions compare as integers.
    auto integral = [](Value v, H::Expr &e) {
      if (e.type() == H::Int(32)) return true;
      auto c = v.getDefiningOp<ConstantOp>();
      double x = c ? c.getValueAttr().getValueAsDouble() : 0.5;
      if (x != std::floor(x) || std::fabs(x) > 1e9) return false;
      e = static_cast<int>(x);
      return true;
    };
    H::Expr ai = a, bi = b;
    if (integral(op.getA(), ai) && integral(op.getB(), bi)) a = ai, b = bi;
    else a = number(op.getA(), scope), b = number(op.getB(), scope);
    switch (kind) {
    case BinaryKind::Lt:
      return a < b;
    case BinaryKind::Le:
      return a <= b;
    case BinaryKind::Gt:
      return a > b;
    case BinaryKind::Ge:
      return a >= b;
    case BinaryKind::Eq:
      return a == b;
    default:
      return a != b;
    }
  }
  H::Expr a = number(op.getA(), scope), b = number(op.getB(), scope);
  switch (kind) {
  case BinaryKind::Add:
    return a + b;
  case BinaryKind::Sub:
    return a - b;
  case BinaryKind::Mul:
    return a * b;
  case BinaryKind::Div:
    return a / b;
  case BinaryKind::Pow:
    return H::pow(a, b);
  case BinaryKind::Min:
    return H::select(a < b || H::is_nan(a), a, b);
  case BinaryKind::Max:
    return H::select(a > b || H::is_nan(a), a, b);
  default:
    break;
  }
  throw H::InternalError("an elementwise function has no meaning in a stage");
}

void StageExpressions::build(StageOp op, int64_t rows) {
  tileRows = rows;
  current = stages.size();
  type = stageType(op);
  stages.push_back({op, H::Func(op.getName().str()), {}, {}, {}, {}, {}});
  Scope scope;
  Block &body = op.getBody().front();
  unsigned rank = op.getType().getRank();
  std::vector<H::Var> outerFirst;
  for (unsigned d = 0; d < rank; ++d) outerFirst.push_back(H::Var(cast<StringAttr>(op.getAxes()[d]).getValue().str()));
  stages[current].vars.assign(outerFirst.rbegin(), outerFirst.rend());
  for (unsigned d = 0; d < rank; ++d) scope.indices.push_back({body.getArgument(d), outerFirst[d]});
  Value result = body.getTerminator()->getOperand(0);
  if (op.getSolve()) {
    // Row by row: the right side, then what the rows before weigh in it.
    H::Func f = stages[current].func;
    std::vector<H::Var> vars = stages[current].vars;
    f(vars) = number(result, scope);
    int rows = static_cast<int>(op.getType().getSizes()[0]);
    H::RDom r(0, rows, 0, rows, (op.getName() + "_solve").str());
    r.where(r.x < r.y);
    std::vector<H::Expr> at(vars.begin(), vars.end() - 1), earlier = at;
    at.push_back(r.y);
    earlier.push_back(r.x);
    H::Expr l = callTensor(op.getSolve(), {r.x, r.y}), term = l * f(earlier);
    f(at) +=
        op.getSparse() ? H::select(l == H::Internal::make_zero(l.type()), H::Internal::make_zero(type), term) : term;
    stages[current].serial = r.y;
    stages[current].solved = r.x;
  } else if (!op.getInit()) {
    H::Expr e = number(result, scope);
    stages[current].func(stages[current].vars) = e;
  } else {
    // Serial along the first axis: an update over it reads the element before.
    H::Func f = stages[current].func;
    std::vector<H::Var> vars = stages[current].vars;
    f(vars) = H::undef(type);
    H::RDom r(0, static_cast<int>(op.getType().getSizes()[0]), (op.getName() + "_step").str());
    // Columns of steps before this one, and up to it.
    H::Expr earlier, begun;
    if (op.getStaggered()) {
      H::Var column = vars[rank - 2];
      int each = static_cast<int>(op.getType().getSizes()[1] / op.getType().getSizes()[0]);
      earlier = each == 1 ? column < r.x : column < r.x * each;
      begun = each == 1 ? column <= r.x : column < r.x * each + each;
      r.where(begun);
    }
    scope.indices[0].second = r.x;
    std::vector<H::Expr> at(vars.begin(), vars.end() - 1), before = at, start = at;
    at.push_back(r.x);
    before.push_back(H::max(r.x - 1, 0));
    scope.before = body.getArguments().back();
    scope.beforeExpr = H::select(r.x == 0, callTensor(op.getInit(), start), f(before));
    if (op.getStaggered()) {
      scope.beforeExpr = f(before);
      // The loop over columns is split where they start, and not asked about in each.
      f(at) = H::select(H::likely(earlier), number(result, scope), callTensor(op.getInit(), start));
    } else f(at) = number(result, scope);
    stages[current].serial = r.x;
  }
  stageOf[op.getResult()] = current;
}

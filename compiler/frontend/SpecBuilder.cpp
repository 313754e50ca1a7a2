#include "compiler/frontend/SpecBuilder.h"
#include "compiler/frontend/Builtins.h"
#include "compiler/frontend/Sema.h"
#include "dialect/AttnDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include <cmath>
#include <limits>

using namespace lintel;
using namespace lintel::frontend;
using mlir::Value;

namespace {

class SpecBuilder {
public:
  SpecBuilder(const File &file, const Operator &op, mlir::OpBuilder &builder) : file(file), op(op), builder(builder) {}

  void build();

private:
  mlir::Location location(Span span) const {
    Place place = file.source.place(span.begin);
    return mlir::FileLineColLoc::get(builder.getContext(), file.source.name(), place.line, place.column);
  }
  RealType type(const Shape &shape) const { return RealType::get(builder.getContext(), shape); }
  RealType scalar() const { return type({}); }

  void buildRecurrence();
  void buildLinear();
  void buildWeights();
  void buildLets();
  Value mapped(const Statement *feature, Value x);
  Value scaledQuery();
  void yield(mlir::Location loc, mlir::ValueRange values) { YieldOp::create(builder, loc, values); }

  Value build(const Expr &expr);
  Value buildName(const Expr &expr);
  Value buildCall(const Expr &expr);
  Value buildIndex(const Expr &expr);
  Value buildMax(mlir::Location loc, Value x);

  // Shorthands.
  Value constant(mlir::Location loc, double x) { return ConstantOp::create(builder, loc, builder.getF64FloatAttr(x)); }
  Value dimension(mlir::Location loc, const DimExpr &dim) {
    if (auto size = dim.getConstant()) return constant(loc, double(*size));
    return DimOp::create(builder, loc, scalar(), builder.getStringAttr(dim.str()));
  }
  Value unary(mlir::Location loc, UnaryKind kind, Value x) { return UnaryOp::create(builder, loc, kind, x); }
  Value binary(mlir::Location loc, BinaryKind kind, Value a, Value b) {
    return BinaryOp::create(builder, loc, kind, a, b);
  }
  Value matmul(mlir::Location loc, Value a, Value b) { return MatmulOp::create(builder, loc, a, b); }
  Value outer(mlir::Location loc, Value a, Value b) { return OuterOp::create(builder, loc, a, b); }
  Value sum(mlir::Location loc, Value x) { return ReduceOp::create(builder, loc, ReduceKind::Sum, x); }
  Value broadcast(mlir::Location loc, Value x, RealType to) {
    return x.getType() == to ? x : BroadcastOp::create(builder, loc, to, x).getResult();
  }

  const File &file;
  const Operator &op;
  mlir::OpBuilder &builder;
  llvm::DenseMap<const Symbol *, Value> values; // of states, the value at this point of the step
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

BinaryKind binaryKind(frontend::Operation operation) {
  switch (operation) {
  case frontend::Operation::Add:
    return BinaryKind::Add;
  case frontend::Operation::Subtract:
    return BinaryKind::Sub;
  case frontend::Operation::Multiply:
    return BinaryKind::Mul;
  case frontend::Operation::Divide:
    return BinaryKind::Div;
  case frontend::Operation::Power:
    return BinaryKind::Pow;
  case frontend::Operation::Less:
    return BinaryKind::Lt;
  case frontend::Operation::LessEqual:
    return BinaryKind::Le;
  case frontend::Operation::Greater:
    return BinaryKind::Gt;
  case frontend::Operation::GreaterEqual:
    return BinaryKind::Ge;
  case frontend::Operation::Equal:
    return BinaryKind::Eq;
  case frontend::Operation::NotEqual:
    return BinaryKind::Ne;
  case frontend::Operation::And:
    return BinaryKind::And;
  case frontend::Operation::Or:
    return BinaryKind::Or;
  default:
    llvm_unreachable("not elementwise");
  }
}

UnaryKind unaryKind(Function function) {
  switch (function) {
  case Function::Exp:
    return UnaryKind::Exp;
  case Function::Log:
    return UnaryKind::Log;
  case Function::Log1p:
    return UnaryKind::Log1p;
  case Function::Expm1:
    return UnaryKind::Expm1;
  case Function::Sqrt:
    return UnaryKind::Sqrt;
  case Function::Rsqrt:
    return UnaryKind::Rsqrt;
  case Function::Sin:
    return UnaryKind::Sin;
  case Function::Cos:
    return UnaryKind::Cos;
  case Function::Tanh:
    return UnaryKind::Tanh;
  case Function::Sigmoid:
    return UnaryKind::Sigmoid;
  case Function::Softplus:
    return UnaryKind::Softplus;
  case Function::Silu:
    return UnaryKind::Silu;
  case Function::Gelu:
    return UnaryKind::Gelu;
  case Function::Relu:
    return UnaryKind::Relu;
  case Function::Elu:
    return UnaryKind::Elu;
  case Function::Abs:
    return UnaryKind::Abs;
  default:
    llvm_unreachable("not elementwise");
  }
}

Value SpecBuilder::build(const Expr &expr) {
  mlir::Location loc = location(expr.at);
  switch (expr.kind) {
  case ExprKind::Error:
    llvm_unreachable("building from a file with errors");
  case ExprKind::Number:
    return constant(loc, expr.number);
  case ExprKind::Name:
    return buildName(expr);
  case ExprKind::Unary:
    return unary(loc, expr.operation == frontend::Operation::Not ? UnaryKind::Not : UnaryKind::Neg,
                 build(*expr.args[0]));
  case ExprKind::Binary: {
    Value a = build(*expr.args[0]), b = build(*expr.args[1]);
    return expr.operation == frontend::Operation::MatMul ? matmul(loc, a, b)
                                                         : binary(loc, binaryKind(expr.operation), a, b);
  }
  case ExprKind::Call:
    return buildCall(expr);
  case ExprKind::Index:
    return buildIndex(expr);
  }
  llvm_unreachable("all kinds are above");
}

Value SpecBuilder::buildName(const Expr &expr) {
  mlir::Location loc = location(expr.at);
  switch (expr.symbol->kind) {
  case Symbol::Dimension:
    return dimension(loc, DimExpr::symbol(expr.name));
  case Symbol::Position:
    return PositionOp::create(builder, loc, scalar());
  case Symbol::Pi:
    return constant(loc, M_PI);
  case Symbol::Inf:
    return constant(loc, std::numeric_limits<double>::infinity());
  default:
    return values.at(expr.symbol);
  }
}

Value SpecBuilder::buildMax(mlir::Location loc, Value x) { return ReduceOp::create(builder, loc, ReduceKind::Max, x); }

Value SpecBuilder::buildCall(const Expr &expr) {
  mlir::Location loc = location(expr.at);
  llvm::SmallVector<Value> args;
  for (const Expr *arg : expr.args) args.push_back(build(*arg));
  Function function = expr.builtin->function;
  switch (function) {
  case Function::Min:
  case Function::Max: {
    bool isMax = function == Function::Max;
    if (args.size() == 1) {
      if (isMax) return buildMax(loc, args[0]);
      return unary(loc, UnaryKind::Neg, buildMax(loc, unary(loc, UnaryKind::Neg, args[0])));
    }
    Value result = args[0];
    for (Value arg : llvm::drop_begin(args))
      result = binary(loc, isMax ? BinaryKind::Max : BinaryKind::Min, result, arg);
    return result;
  }
  case Function::Dot:
    return matmul(loc, args[0], args[1]);
  case Function::Sum:
    return sum(loc, args[0]);
  case Function::Mean:
    return binary(loc, BinaryKind::Div, sum(loc, args[0]), dimension(loc, expr.args[0]->type.shape[0]));
  case Function::Norm:
    return unary(loc, UnaryKind::Sqrt, matmul(loc, args[0], args[0]));
  case Function::Softmax: {
    // Less the maximum, which the quotient cancels: no term overflows.
    Value shifted = binary(loc, BinaryKind::Sub, args[0], buildMax(loc, args[0]));
    Value weights = unary(loc, UnaryKind::Exp, shifted);
    return binary(loc, BinaryKind::Div, weights, sum(loc, weights));
  }
  case Function::Cumsum:
    return CumsumOp::create(builder, loc, args[0]);
  case Function::Concat:
    return ConcatOp::create(builder, loc, args);
  case Function::Outer:
    return outer(loc, args[0], args[1]);
  case Function::Flatten:
    return FlattenOp::create(builder, loc, args[0]);
  case Function::Where:
    return SelectOp::create(builder, loc, args[0], args[1], args[2]);
  default:
    return unary(loc, unaryKind(function), args[0]);
  }
}

Value SpecBuilder::buildIndex(const Expr &expr) {
  mlir::Location loc = location(expr.at);
  Value x = build(*expr.args[0]);
  IndexValue index = *evaluateIndex(*expr.args[1]);
  if (!index.minus.isValid()) {
    std::string text = index.plus.isValid() ? index.plus.str() : "0";
    return ExtractOp::create(builder, loc, x, builder.getStringAttr(text));
  }
  // `attn.extract` takes no difference: keep the one element whose number, from 1, is index + 1, and sum. (Sema has
  // made sure that there is one.)
  RealType first = type({expr.args[0]->type.shape[0]});
  Value ones = broadcast(loc, constant(loc, 1), first);
  Value number = CumsumOp::create(builder, loc, ones);
  DimExpr plus = index.plus.isValid() ? index.plus + DimExpr::constant(1) : DimExpr::constant(1), minus = index.minus;
  DimExpr::cancel(plus, minus);
  Value wanted = dimension(loc, plus);
  if (minus.isValid()) wanted = binary(loc, BinaryKind::Sub, wanted, dimension(loc, minus));
  Value chosen = binary(loc, BinaryKind::Eq, number, wanted);
  Value kept = SelectOp::create(builder, loc, chosen, x, constant(loc, 0));
  return expr.args[0]->type.rank() == 1 ? sum(loc, kept) : matmul(loc, ones, kept);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

void SpecBuilder::buildLets() {
  for (const auto &statement : op.statements)
    if (statement->kind == StatementKind::Let) values[statement->symbols[0]] = build(*statement->value);
}

void SpecBuilder::buildRecurrence() {
  Value out; // what else is put out is kept as states are
  for (const auto &statement : op.statements) {
    mlir::Location loc = location(statement->at);
    if (statement->kind == StatementKind::Let) values[statement->symbols[0]] = build(*statement->value);
    else if (statement->kind == StatementKind::Assign && statement->name == "out") out = build(*statement->value);
    else if (statement->kind == StatementKind::Assign) {
      const Symbol *target = statement->symbols[0];
      values[target] = broadcast(loc, build(*statement->value), type(target->type.shape));
    }
  }
  llvm::SmallVector<Value> results{out};
  for (const Symbol *output : op.outputs) results.push_back(values[output]);
  for (const Symbol *state : op.states) results.push_back(values[state]);
  yield(location(op.span), results);
}

Value SpecBuilder::scaledQuery() {
  const ShortForm &form = op.shortForm;
  Value q = values.at(form.q);
  if (!form.scale) return q;
  return binary(location(form.scale->at), BinaryKind::Mul, build(*form.scale->value), q);
}

Value SpecBuilder::mapped(const Statement *feature, Value x) {
  if (!feature) return x;
  values[feature->symbols[0]] = x;
  return build(*feature->value);
}

// S = decay * S + outer(phi(k), v), z = decay * z + phi(k), out = phi(scale * q) @ S / (phi(scale * q) . z)
void SpecBuilder::buildLinear() {
  const ShortForm &form = op.shortForm;
  mlir::Location loc = location(op.span);
  mlir::Block *body = builder.getInsertionBlock();
  Value S = body->getArgument(op.inputs.size());
  Value z = form.normalize ? body->getArgument(op.inputs.size() + 1) : Value();
  buildLets();
  Value q = mapped(form.featureQ, scaledQuery());
  Value k = mapped(form.featureK, values.at(form.k));

  Value added = outer(loc, k, values.at(form.v));
  if (form.decay) {
    mlir::Location at = location(form.decay->at);
    Value decay = build(*form.decay->value);
    S = binary(at, BinaryKind::Mul, decay, S);
    if (z) z = binary(at, BinaryKind::Mul, decay, z);
  }
  S = binary(loc, BinaryKind::Add, S, added);
  if (z) z = binary(loc, BinaryKind::Add, z, k);

  auto read = [&](mlir::Location at, Value state) -> Value {
    return form.bidirectional ? FinalOp::create(builder, at, state).getResult() : state;
  };
  Value out = matmul(loc, q, read(loc, S));
  llvm::SmallVector<Value> results{out, S};
  if (z) {
    mlir::Location at = location(form.normalize->at);
    Value den = matmul(at, q, read(at, z));
    if (form.normalize->value) {
      values[form.normalize->symbols[0]] = den;
      den = build(*form.normalize->value);
    }
    results = {binary(at, BinaryKind::Div, out, den), S, z};
  }
  yield(loc, results);
}

void SpecBuilder::buildWeights() {
  const ShortForm &form = op.shortForm;
  mlir::Location loc = location(form.weights->at);
  buildLets();
  Value q = mapped(form.featureQ, scaledQuery()), k = mapped(form.featureK, values.at(form.k)), v = values.at(form.v);
  auto attend = AttendOp::create(builder, loc, v.getType(), q, k, v, /*causal=*/!form.bidirectional);
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block *block =
        builder.createBlock(&attend.getWeights(), {}, {q.getType(), k.getType(), scalar()}, {loc, loc, loc});
    for (unsigned i = 0; i < 2; ++i) values[form.weights->symbols[i]] = block->getArgument(i);
    for (const auto &symbol : op.symbols)
      if (symbol->kind == Symbol::Distance) values[symbol.get()] = block->getArgument(2);
    yield(loc, build(*form.weights->value));
    if (form.normalize) {
      mlir::Location at = location(form.normalize->at);
      block = builder.createBlock(&attend.getNormalizer(), {}, {scalar()}, {at});
      Value den = block->getArgument(0);
      if (form.normalize->value) {
        values[form.normalize->symbols[0]] = den;
        den = build(*form.normalize->value);
      }
      yield(at, den);
    }
  }
  yield(loc, attend.getResult());
}

void SpecBuilder::build() {
  mlir::MLIRContext *context = builder.getContext();
  llvm::SmallVector<mlir::Attribute> inputs, states;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Location> locations;
  for (const Symbol *input : op.inputs) {
    InputKind kind = input->kind == Symbol::Token  ? InputKind::Token
                     : input->kind == Symbol::Head ? InputKind::Head
                                                   : InputKind::Shared;
    inputs.push_back(ParamAttr::get(context, kind, input->name));
    types.push_back(type(input->type.shape));
    locations.push_back(location(input->span));
  }
  auto addState = [&](llvm::StringRef name, const Shape &shape, Span span) {
    states.push_back(builder.getStringAttr(name));
    types.push_back(type(shape));
    locations.push_back(location(span));
  };
  for (const Symbol *state : op.states) addState(state->name, state->type.shape, state->span);
  if (op.form == Form::Linear) {
    const DimExpr &features = op.shortForm.phi.shape[0];
    addState("S", {features, op.shortForm.v->type.shape[0]}, op.span);
    if (op.shortForm.normalize) addState("z", {features}, op.shortForm.normalize->at);
  }

  auto spec =
      SpecOp::create(builder, location(op.span), op.name, builder.getArrayAttr(inputs), builder.getArrayAttr(states));
  if (!op.outputs.empty()) {
    llvm::SmallVector<llvm::StringRef> names{"out"};
    for (const Symbol *output : op.outputs) names.push_back(output->name);
    spec->setAttr("outputs", builder.getStrArrayAttr(names));
  }
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Block *body = builder.createBlock(&spec.getBody(), {}, types, locations);
  for (auto [i, input] : llvm::enumerate(op.inputs)) values[input] = body->getArgument(i);
  for (auto [i, state] : llvm::enumerate(op.states)) values[state] = body->getArgument(op.inputs.size() + i);
  switch (op.form) {
  case Form::Recurrence:
    return buildRecurrence();
  case Form::Linear:
    return buildLinear();
  case Form::Weights:
    return buildWeights();
  }
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> lintel::frontend::buildSpecs(const File &file, mlir::MLIRContext &context) {
  assert(!file.diagnostics.hasErrors() && "check the file first");
  context.loadDialect<AttnDialect>();
  mlir::OpBuilder builder(&context);
  auto loc = mlir::FileLineColLoc::get(&context, file.source.name(), 1, 1);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder, loc);
  builder.setInsertionPointToEnd(module->getBody());
  for (const auto &op : file.operators) SpecBuilder(file, *op, builder).build();
  if (mlir::failed(mlir::verify(*module))) return nullptr;
  return module;
}

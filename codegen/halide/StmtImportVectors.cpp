#include "codegen/halide/StmtImportImpl.h"

using namespace lintel::detail;
using namespace mlir;
using hi::VectorReduce;

static int64_t lanesIn(Value v) {
  auto type = dyn_cast<VectorType>(v.getType());
  return type ? type.getNumElements() : 1;
}

Value Importer::broadcast(Value v, int lanes) {
  auto type = dyn_cast<VectorType>(v.getType());
  if (!type) return vector::BroadcastOp::create(b, VectorType::get({lanes}, v.getType()), v);
  SmallVector<int64_t> repeated;
  for (int copy = 0; copy < lanes; ++copy)
    for (int64_t lane = 0; lane < type.getNumElements(); ++lane) repeated.push_back(lane);
  return lanesOf(v, repeated);
}

Value Importer::shuffle(Value x, Value y, ArrayRef<int64_t> lanes) { return vector::ShuffleOp::create(b, x, y, lanes); }

// A vector of each part is given; scalars are one lane.
Value Importer::concat(ArrayRef<Value> parts, Type element) {
  if (parts.size() == 1) return parts[0];
  if (llvm::none_of(parts, [](Value v) { return isa<VectorType>(v.getType()); }))
    return vector::FromElementsOp::create(b, VectorType::get({int64_t(parts.size())}, element), parts);
  // Pairwise, so that equal parts make a tree; shuffles may take operands of different lengths.
  SmallVector<Value> level;
  for (Value v : parts) level.push_back(isa<VectorType>(v.getType()) ? v : broadcast(v, 1));
  while (level.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i < level.size(); i += 2) {
      if (i + 1 == level.size()) {
        next.push_back(level[i]);
        continue;
      }
      SmallVector<int64_t> all = lanesFrom(0, lanesIn(level[i]) + lanesIn(level[i + 1]));
      next.push_back(shuffle(level[i], level[i + 1], all));
    }
    level = std::move(next);
  }
  return level[0];
}

SmallVector<Value> Importer::transpose(SmallVector<Value> rows) {
  // Swaps off-diagonal blocks of half the size, then of a quarter, ...
  int64_t n = rows.size();
  for (int64_t half = n / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < n; ++lane) {
      bool isLeft = (lane & half) == 0;
      upper.push_back(isLeft ? lane : n + lane - half);
      lower.push_back(isLeft ? lane + half : n + lane);
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i & half) continue;
      Value x = rows[i], y = rows[i + half];
      rows[i] = shuffle(x, y, upper);
      rows[i + half] = shuffle(x, y, lower);
    }
  }
  return rows;
}

void Importer::visit(const hi::Broadcast *op) {
  auto splatOf = [&](Type element, auto value) {
    return DenseElementsAttr::get(VectorType::get({op->lanes}, element), value);
  };
  Value v = eval(op->value);
  if (auto constant = v.getDefiningOp<arith::ConstantOp>(); constant && op->value.type().is_scalar())
    result = arith::ConstantOp::create(b, splatOf(v.getType(), Attribute(constant.getValue())));
  else result = broadcast(v, op->lanes);
}

void Importer::visit(const hi::Ramp *op) {
  Halide::Type t = op->base.type();
  Value base = eval(op->base), stride = eval(op->stride);
  if (t.is_vector()) {
    SmallVector<Value> parts{base};
    for (int i = 1; i < op->lanes; ++i) parts.push_back(arithmetic(hi::IRNodeType::Add, t, parts.back(), stride));
    result = concat(parts, elementType(t));
    return;
  }
  Value iota;
  auto type = cast<VectorType>(typeOf(op->type));
  if (isFloat(t)) {
    SmallVector<Attribute> lanes;
    for (int i = 0; i < op->lanes; ++i) lanes.push_back(b.getFloatAttr(type.getElementType(), i));
    iota = arith::ConstantOp::create(b, DenseElementsAttr::get(type, lanes));
  } else {
    SmallVector<APInt> lanes;
    for (int i = 0; i < op->lanes; ++i) lanes.push_back(APInt(64, i).trunc(t.bits()));
    iota = arith::ConstantOp::create(b, DenseElementsAttr::get(type, lanes));
  }
  Value steps =
      hi::is_const_one(op->stride) ? iota : arithmetic(hi::IRNodeType::Mul, t, iota, broadcast(stride, op->lanes));
  result = arithmetic(hi::IRNodeType::Add, t, broadcast(base, op->lanes), steps);
}

void Importer::visit(const hi::Shuffle *op) {
  SmallVector<Value> parts;
  for (const Halide::Expr &e : op->vectors) parts.push_back(eval(e));
  Type element = elementType(op->type);
  if (op->indices.size() == 1) {
    int64_t lane = op->indices[0];
    for (Value part : parts) {
      if (lane >= lanesIn(part)) {
        lane -= lanesIn(part);
        continue;
      }
      result = isa<VectorType>(part.getType()) ? Value(vector::ExtractOp::create(b, part, lane)) : part;
      return;
    }
    refuse("shuffle takes a lane that its operands do not have");
  }
  SmallVector<int64_t> lanes(op->indices.begin(), op->indices.end());
  bool isVector = llvm::all_of(parts, [](Value v) { return isa<VectorType>(v.getType()); });
  if (isVector && parts.size() == 2) {
    result = shuffle(parts[0], parts[1], lanes);
    return;
  }
  Value all = concat(parts, element);
  if (!isa<VectorType>(all.getType())) all = broadcast(all, 1);
  result = op->is_concat() ? all : lanesOf(all, lanes);
}

//===-- Reductions ------------------------------------------------------------------------------------------------===//

Value Importer::combine(VectorReduce::Operator op, Halide::Type t, Value x, Value y) {
  switch (op) {
  case VectorReduce::Add:
    return arithmetic(hi::IRNodeType::Add, t, x, y);
  case VectorReduce::Mul:
    return arithmetic(hi::IRNodeType::Mul, t, x, y);
  case VectorReduce::Min:
    return arithmetic(hi::IRNodeType::Min, t, x, y);
  case VectorReduce::Max:
    return arithmetic(hi::IRNodeType::Max, t, x, y);
  case VectorReduce::And:
    return arith::AndIOp::create(b, x, y);
  case VectorReduce::Or:
    return arith::OrIOp::create(b, x, y);
  case VectorReduce::SaturatingAdd: {
    auto named = [&](Value v) {
      std::string name = hi::unique_name("import");
      variables[name].push_back({v, Value()});
      return hi::Variable::make(t.with_lanes(lanesIn(v)), name);
    };
    Halide::Expr a = named(x), c = named(y);
    return eval(hi::lower_saturating_add(a, c));
  }
  }
  llvm_unreachable("all reductions handled");
}

// `groups` results, each of `width` neighbouring lanes. The shape of the tree depends on the widths alone.
void Importer::visit(const hi::VectorReduce *op) {
  Halide::Type t = op->type.element_of();
  Value v = eval(op->value);
  int64_t groups = op->type.lanes(), width = op->value.type().lanes() / groups;
  auto pick = [&](Value from, int64_t count, int64_t start, int64_t step) {
    return lanesOf(from, lanesFrom(start, count, step));
  };
  if (groups == 1) {
    // Halves: each step is one operation on half a register. The last two lanes are scalars.
    int64_t n = width;
    for (; n % 2 == 0 && n > 2; n /= 2) v = combine(op->op, t, pick(v, n / 2, 0, 1), pick(v, n / 2, n / 2, 1));
    Value sum = vector::ExtractOp::create(b, v, int64_t(0));
    for (int64_t lane = 1; lane < n; ++lane) sum = combine(op->op, t, sum, vector::ExtractOp::create(b, v, lane));
    result = sum;
    return;
  }
  SmallVector<Value> members;
  for (int64_t i = 0; i < width; ++i) members.push_back(pick(v, groups, i, width));
  while (members.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < members.size(); i += 2) next.push_back(combine(op->op, t, members[i], members[i + 1]));
    if (members.size() % 2) next.push_back(members.back());
    members = std::move(next);
  }
  result = members[0];
}

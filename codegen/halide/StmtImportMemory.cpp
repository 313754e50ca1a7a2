#include "codegen/halide/StmtImportImpl.h"
#include <functional>
#include <numeric>
#include <set>

using namespace lintel::detail;
using namespace mlir;

static constexpr auto nsw = arith::IntegerOverflowFlags::nsw;

//===-- Addresses -------------------------------------------------------------------------------------------------===//

const Importer::Buffer &Importer::buffer(const std::string &name, Halide::Type t) {
  auto it = buffers.find(name);
  if (it == buffers.end() || it->second.empty())
    refuse("access to '" + name +
           "', which is neither an argument nor allocated here; images in the pipeline must be "
           "parameters");
  Type element = cast<MemRefType>(it->second.back().memref.getType()).getElementType();
  if (t.bits() < 8 || element != elementType(t))
    refuse("access to '" + name + "' as " + text(t) + ", which it does not hold");
  return it->second.back();
}

// What is known of the first lane's address, in bytes. Halide states it in elements, relative to the base.
llvm::MaybeAlign Importer::alignment(const hi::ModulusRemainder &given, const Halide::Expr &index, Halide::Type t,
                                     const Buffer &buf, const Halide::Parameter &param) {
  Halide::Expr first = index;
  if (auto *ramp = index.as<hi::Ramp>()) first = ramp->base;
  int64_t multiple = std::gcd(given.modulus, given.remainder);
  if (auto constant = hi::as_const_int(first)) multiple = *constant;
  int64_t base = buf.alignment, bytes = t.bytes();
  if (param.defined() && param.is_buffer()) base = std::max<int64_t>(base, param.host_alignment());
  int64_t known = 1;
  while (known < 64 && multiple % (2 * known) == 0) known *= 2;
  known = std::min({known * bytes, base, int64_t(64)});
  return llvm::Align(std::max(known, bytes));
}

Value Importer::strideStep(Value base, const Halide::Expr &stride, int lane) {
  if (auto constant = hi::as_const_int(stride)) return addIndex(base, *constant * lane);
  if (lane == 0) return base;
  return arith::AddIOp::create(b, base, arith::MulIOp::create(b, evalIndex(stride), indexConstant(lane), nsw), nsw);
}

Value Importer::allTrue(int lanes) {
  return arith::ConstantOp::create(b, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), true));
}

// i32 gathers take half the registers of 64-bit ones; only a stride from outside needs the latter.
Value Importer::gatherIndices(const Halide::Expr &index) {
  return isWide(index) ? evalIndexVector(index) : eval(index);
}

static const hi::Ramp *scalarRamp(const Halide::Expr &index) {
  auto *ramp = index.as<hi::Ramp>();
  return ramp && ramp->base.type().is_scalar() ? ramp : nullptr;
}

//===-- Loads -----------------------------------------------------------------------------------------------------===//

void Importer::visit(const hi::Load *op) {
  if (auto it = preparedLoads.find(op); it != preparedLoads.end()) {
    result = it->second;
    return;
  }
  if (pending.name == op->name) flushStores();
  const Buffer buf = buffer(op->name, op->type);
  Value memref = buf.memref;
  bool always = hi::is_const_one(op->predicate);
  int lanes = op->type.lanes();
  if (op->type.is_scalar()) {
    if (always) {
      result = memref::LoadOp::create(b, memref, evalIndex(op->index));
      return;
    }
    Value condition = eval(op->predicate);
    auto branch = scf::IfOp::create(b, TypeRange{typeOf(op->type)}, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, ValueRange{memref::LoadOp::create(b, memref, evalIndex(op->index))});
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, ValueRange{zero(op->type)});
    result = branch.getResult(0);
    return;
  }

  auto type = cast<VectorType>(typeOf(op->type));
  llvm::MaybeAlign align = alignment(op->alignment, op->index, op->type, buf, op->param);
  auto *all = op->index.as<hi::Broadcast>();
  if (all && always && all->value.type().is_scalar()) {
    result = broadcast(memref::LoadOp::create(b, memref, evalIndex(all->value)), lanes);
    return;
  }
  if (auto *ramp = scalarRamp(op->index)) {
    auto stride = hi::as_const_int(ramp->stride);
    if (stride == 1 && !always) {
      Value base = evalIndex(ramp->base), mask = eval(op->predicate);
      result = vector::MaskedLoadOp::create(b, type, memref, base, mask, zero(op->type), align);
      return;
    }
    if (always) {
      Value base = evalIndex(ramp->base);
      auto dense = [&](Value at, llvm::MaybeAlign known) -> Value {
        return vector::LoadOp::create(b, type, memref, at, /*nontemporal=*/false, known);
      };
      if (stride == 1) {
        result = dense(base, align);
      } else if (stride == -1) {
        SmallVector<int64_t> reversed = lanesFrom(lanes - 1, lanes, -1);
        result = lanesOf(dense(addIndex(base, 1 - lanes), std::nullopt), reversed);
      } else if (stride == 2) {
        // Two vectors that overlap by one element, so that nothing past the last lane is read.
        SmallVector<int64_t> even;
        for (int64_t i = 0; i < lanes; ++i) even.push_back(2 * i < lanes ? 2 * i : 2 * i + 1);
        Value low = dense(base, align), high = dense(addIndex(base, lanes - 1), std::nullopt);
        result = shuffle(low, high, even);
      } else {
        SmallVector<Value> elements;
        for (int lane = 0; lane < lanes; ++lane)
          elements.push_back(memref::LoadOp::create(b, memref, strideStep(base, ramp->stride, lane)));
        result = vector::FromElementsOp::create(b, type, elements);
      }
      return;
    }
  }
  Value indices = gatherIndices(op->index), mask = always ? allTrue(lanes) : eval(op->predicate);
  result = vector::GatherOp::create(b, type, memref, ValueRange{indexConstant(0)}, indices, mask, zero(op->type));
}

namespace {

// The strided loads that a run of stores will make for certain, with bases that can be computed before the run.
class StridedLoads : public hi::IRVisitor {
public:
  using Bound = std::function<bool(const std::string &)>;
  explicit StridedLoads(Bound isBound) : isBound(std::move(isBound)) {}
  std::vector<const hi::Load *> loads;

private:
  using hi::IRVisitor::visit;
  Bound isBound;
  std::multiset<std::string> innerLets;

  struct Names : hi::IRGraphVisitor {
    using hi::IRGraphVisitor::visit;
    std::set<std::string> names;
    bool reads = false;
    void visit(const hi::Variable *op) override { names.insert(op->name); }
    void visit(const hi::Load *) override { reads = true; }
  };
  void visit(const hi::Load *op) override {
    hi::IRVisitor::visit(op);
    auto *ramp = scalarRamp(op->index);
    auto stride = ramp ? hi::as_const_int(ramp->stride) : std::nullopt;
    if (!stride || std::abs(*stride) <= 2 || !hi::is_const_one(op->predicate)) return;
    Names used;
    ramp->base.accept(&used);
    bool early = !used.reads && llvm::all_of(used.names, [&](const std::string &name) {
      return innerLets.count(name) == 0 && isBound(name);
    });
    if (early) loads.push_back(op);
  }
  void visit(const hi::Let *op) override {
    op->value.accept(this);
    auto it = innerLets.insert(op->name);
    op->body.accept(this);
    innerLets.erase(it);
  }
  void visit(const hi::Call *op) override {
    // Only the condition of a conditional expression is sure to be evaluated.
    if (op->is_intrinsic(hi::Call::if_then_else)) return op->args[0].accept(this);
    hi::IRVisitor::visit(op);
  }
};

} // namespace

// Looks for strided loads whose bases are one apart. Row j of the transpose is the dense load of what all of them read
// in lane j.
void Importer::prepareLoads(ArrayRef<const hi::Store *> run) {
  preparedLoads.clear();
  if (!options.transposeLoads) return;
  StridedLoads finder([&](const std::string &name) { return lookup(name) != nullptr; });
  std::set<std::string> written;
  for (const hi::Store *store : run) {
    written.insert(store->name);
    if (!hi::is_const_one(store->predicate) && store->index.type().is_scalar()) return;
    store->value.accept(&finder);
  }

  struct Group {
    const hi::Load *first;
    int64_t stride;
    std::map<int64_t, SmallVector<const hi::Load *>> byOffset;
  };
  std::vector<Group> groups;
  for (const hi::Load *load : finder.loads) {
    if (written.count(load->name)) continue;
    auto *ramp = load->index.as<hi::Ramp>();
    bool found = false;
    for (Group &group : groups) {
      if (group.first->name != load->name || group.first->type != load->type ||
          group.stride != *hi::as_const_int(ramp->stride))
        continue;
      auto apart = hi::as_const_int(hi::simplify(ramp->base - group.first->index.as<hi::Ramp>()->base));
      if (!apart) continue;
      group.byOffset[*apart].push_back(load);
      found = true;
      break;
    }
    if (!found) groups.push_back({load, *hi::as_const_int(ramp->stride), {{0, {load}}}});
  }

  for (Group &group : groups) {
    int64_t lanes = group.first->type.lanes();
    for (auto it = group.byOffset.begin(); it != group.byOffset.end();) {
      // The longest square that starts here.
      SmallVector<std::map<int64_t, SmallVector<const hi::Load *>>::iterator> members;
      for (auto next = it; next != group.byOffset.end() && int64_t(members.size()) < lanes; ++next) {
        if (!members.empty() && next->first != members.back()->first + 1) break;
        members.push_back(next);
      }
      size_t side = llvm::bit_floor(members.size());
      if (side < 4 || lanes % side != 0) {
        ++it;
        continue;
      }
      SmallVector<const hi::Load *> heads;
      for (size_t k = 0; k < side; ++k) heads.push_back(members[k]->second.front());
      loadTransposed(heads.front()->name, group.stride, heads);
      for (size_t k = 0; k < side; ++k)
        for (const hi::Load *same : members[k]->second) preparedLoads[same] = preparedLoads[heads[k]];
      it = std::next(members[side - 1]);
    }
  }
}

void Importer::loadTransposed(llvm::StringRef name, int64_t stride, ArrayRef<const hi::Load *> group) {
  const hi::Load *first = group.front();
  if (pending.name == name) flushStores();
  const Buffer buf = buffer(first->name, first->type);
  int64_t lanes = first->type.lanes(), side = group.size();
  auto rowType = VectorType::get({side}, elementType(first->type));
  Value base = evalIndex(first->index.as<hi::Ramp>()->base);
  SmallVector<SmallVector<Value>> parts(side);
  for (int64_t start = 0; start < lanes; start += side) {
    SmallVector<Value> rows;
    for (int64_t lane = start; lane < start + side; ++lane)
      rows.push_back(vector::LoadOp::create(b, rowType, buf.memref, ValueRange{addIndex(base, stride * lane)}));
    for (auto [k, column] : llvm::enumerate(transpose(rows))) parts[k].push_back(column);
  }
  for (auto [k, load] : llvm::enumerate(group)) preparedLoads[load] = concat(parts[k], elementType(first->type));
}

//===-- Stores ----------------------------------------------------------------------------------------------------===//

// One that stands alone, in whatever: visit(Block) comes here for none.
void Importer::visit(const hi::Store *op) {
  const hi::Store *run[] = {op};
  prepareLoads(run);
  importStore(op);
  preparedLoads.clear();
}

void Importer::importStore(const hi::Store *op) {
  const Buffer buf = buffer(op->name, op->value.type());
  Value memref = buf.memref;
  int lanes = op->value.type().lanes();
  bool always = hi::is_const_one(op->predicate);
  auto *ramp = scalarRamp(op->index);

  if (lanes == 1) {
    if (pending.name == op->name) flushStores();
    if (always) {
      Value v = eval(op->value);
      memref::StoreOp::create(b, v, memref, evalIndex(op->index));
      return;
    }
    auto branch = scf::IfOp::create(b, eval(op->predicate), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value v = eval(op->value);
    memref::StoreOp::create(b, v, memref, evalIndex(op->index));
    return;
  }

  Value v = eval(op->value);
  auto stride = ramp ? hi::as_const_int(ramp->stride) : std::nullopt;
  if (ramp && always && stride != 1 && stride != -1) return storeStrided(op, ramp, v, memref);
  if (pending.name == op->name) flushStores();
  llvm::MaybeAlign align = alignment(op->alignment, op->index, op->value.type(), buf, op->param);
  if (ramp && stride == 1) {
    Value base = evalIndex(ramp->base);
    if (always) vector::StoreOp::create(b, v, memref, ValueRange{base}, /*nontemporal=*/false, align);
    else vector::MaskedStoreOp::create(b, memref, base, eval(op->predicate), v, align);
    return;
  }
  if (ramp && stride == -1 && always) {
    SmallVector<int64_t> reversed = lanesFrom(lanes - 1, lanes, -1);
    Value first = addIndex(evalIndex(ramp->base), 1 - lanes);
    vector::StoreOp::create(b, lanesOf(v, reversed), memref, ValueRange{first});
    return;
  }
  Value indices = gatherIndices(op->index), mask = always ? allTrue(lanes) : eval(op->predicate);
  vector::ScatterOp::create(b, Type(), memref, ValueRange{indexConstant(0)}, indices, mask, v);
}

// Holds the store back if the next ones may make a transpose with it.
void Importer::storeStrided(const hi::Store *op, const hi::Ramp *ramp, Value v, Value memref) {
  int64_t lanes = ramp->lanes;
  auto stride = hi::as_const_int(ramp->stride);
  Value base = evalIndex(ramp->base);
  // Rows that overlap would be written in another order.
  if (options.transposeStores && stride && std::abs(*stride) >= lanes) {
    auto follows = [&] {
      if (pending.name != op->name || pending.stride != *stride || pending.stores.back().value.getType() != v.getType())
        return false;
      auto apart = hi::as_const_int(hi::simplify(ramp->base - pending.stores.back().base));
      return apart && *apart == 1;
    };
    if (!pending.stores.empty() && !follows()) flushStores();
    pending.name = op->name;
    pending.stride = *stride;
    pending.stores.push_back({ramp->base, base, v});
    if (int64_t(pending.stores.size()) == lanes) flushStores();
    return;
  }
  if (pending.name == op->name) flushStores();
  for (int lane = 0; lane < lanes; ++lane)
    memref::StoreOp::create(b, vector::ExtractOp::create(b, v, int64_t(lane)), memref,
                            strideStep(base, ramp->stride, lane));
}

void Importer::flushStores() {
  if (pending.stores.empty()) return;
  auto stores = std::move(pending.stores);
  Value memref = buffers[pending.name].back().memref;
  int64_t stride = pending.stride;
  pending = {};
  for (size_t done = 0; done < stores.size();) {
    int64_t lanes = cast<VectorType>(stores[done].value.getType()).getNumElements();
    size_t side = llvm::bit_floor(stores.size() - done);
    if (side >= 4 && lanes % side == 0) {
      SmallVector<Value> group;
      for (size_t k = 0; k < side; ++k) group.push_back(stores[done + k].value);
      storeTransposed(group, memref, stores[done].index, stride);
      done += side;
      continue;
    }
    for (int64_t lane = 0; lane < lanes; ++lane)
      memref::StoreOp::create(b, vector::ExtractOp::create(b, stores[done].value, lane), memref,
                              addIndex(stores[done].index, stride * lane));
    ++done;
  }
}

// Lane j of all K vectors lies in memory side by side: K x K blocks transposed, each row one dense store.
void Importer::storeTransposed(ArrayRef<Value> group, Value memref, Value base, int64_t stride) {
  int64_t side = group.size(), lanes = cast<VectorType>(group[0].getType()).getNumElements();
  for (int64_t start = 0; start < lanes; start += side) {
    SmallVector<Value> block;
    SmallVector<int64_t> slice = lanesFrom(start, side);
    for (Value v : group) block.push_back(side == lanes ? v : lanesOf(v, slice));
    for (auto [j, row] : llvm::enumerate(transpose(block)))
      vector::StoreOp::create(b, row, memref, ValueRange{addIndex(base, stride * (start + int64_t(j)))});
  }
}

//===-- Allocations -----------------------------------------------------------------------------------------------===//

void Importer::visit(const hi::Allocate *op) {
  switch (op->memory_type) {
  case Halide::MemoryType::Auto:
  case Halide::MemoryType::Heap:
  case Halide::MemoryType::Stack:
  case Halide::MemoryType::Register:
    break;
  default:
    refuse("allocation of '" + op->name + "' in a kind of memory that CPUs do not have");
  }
  if (op->new_expr.defined()) refuse("allocation of '" + op->name + "' by a function of its own has no import");
  int64_t elements = op->constant_allocation_size();
  for (const Halide::Expr &extent : op->extents) {
    if (hi::as_const_int(extent)) continue;
    refuse("allocation of Func '" + op->name + "' is not of constant size (extent " + text(extent) +
           "); give it bound_extent, or keep a select from shrinking what is computed of it");
  }
  elements = std::max<int64_t>(elements, 1) + op->padding;
  Type element = elementType(op->type);
  scratchBytes += elements * op->type.bytes();
  if (op->type.bits() < 8) refuse("allocation of '" + op->name + "' as " + text(op->type) + " has no import");
  if (scratchBytes > options.maxScratchBytes)
    refuse("the Funcs up to '" + op->name + "' take " + std::to_string(scratchBytes) + " bytes of stack; at most " +
           std::to_string(options.maxScratchBytes) +
           " are allowed: take a smaller chunk or compute them inside a loop");

  Value memref;
  {
    OpBuilder::InsertionGuard guard(b);
    Location outer = b.getLoc();
    b.setInsertionPointToStart(entry);
    b.setLoc(NameLoc::get(b.getStringAttr(op->name), outerLoc));
    memref = memref::AllocaOp::create(b, MemRefType::get({elements}, element), b.getI64IntegerAttr(64));
    b.setLoc(outer);
  }
  Scoped<Buffers> scope(buffers, op->name, {memref, 64});
  op->body.accept(this);
  if (pending.name == op->name) flushStores();
}

void Importer::visit(const hi::Prefetch *op) { refuse("prefetch node of '" + op->name + "' is not lowered"); }
void Importer::visit(const hi::Provide *op) { refuse("provide node of '" + op->name + "' is not lowered"); }
void Importer::visit(const hi::Realize *op) { refuse("realize node of '" + op->name + "' is not lowered"); }

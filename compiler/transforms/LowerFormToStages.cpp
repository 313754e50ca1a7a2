#include "compiler/transforms/Lowering.h"
#include "compiler/transforms/Passes.h"
#include "dialect/OperatorUtils.h"

namespace lintel {
#define GEN_PASS_DEF_LOWERFORMTOSTAGES
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

KernelFrame KernelFrame::create(OpBuilder &builder, Operation *form, StringRef formName, int64_t chunk,
                                ArrayAttr inputs, Block &inputTypes, ArrayRef<StringRef> stateNames,
                                ArrayRef<RealType> stateTypes, ValueRange outputs, ArrayRef<int64_t> scales) {
  builder.setInsertionPointAfter(form);
  KernelFrame frame;
  frame.kernel = KernelOp::create(
      builder, form->getLoc(), SymbolTable::getSymbolName(form), builder.getStringAttr(formName),
      builder.getI64IntegerAttr(chunk), inputs, builder.getStrArrayAttr(stateNames),
      TypeAttr::get(outputs[0].getType()), UnitAttr(),
      outputs.size() > 1 ? builder.getTypeArrayAttr(SmallVector<Type>(outputs.drop_front().getTypes())) : ArrayAttr(),
      builder.getDenseI64ArrayAttr(scales));
  inheritAttributes(frame.kernel, form);
  if (auto reason = form->getAttr("reason")) frame.kernel->setAttr("reason", reason);
  Block &block = frame.kernel.getBody().emplaceBlock();
  for (auto [i, attr] : llvm::enumerate(inputs)) {
    Type type = inputTypes.getArgument(i).getType();
    if (cast<ParamAttr>(attr).getKind() == InputKind::Token)
      type = SequenceType::get(builder.getContext(), cast<RealType>(type).getSizes());
    frame.inputs.push_back(block.addArgument(type, form->getLoc()));
  }
  for (RealType type : stateTypes) frame.states.push_back(block.addArgument(type, form->getLoc()));
  builder.setInsertionPointToEnd(&block);
  return frame;
}

void KernelFrame::bindInputs(StageEmitter &emitter, Block &block, Value t, int64_t rows, StageEmitter::Row row) const {
  for (auto [i, input] : llvm::enumerate(inputs)) {
    Value arg = block.getArgument(i);
    auto sequence = dyn_cast<SequenceType>(input.getType());
    if (!sequence) {
      emitter.bind(arg, input, StageEmitter::None);
      continue;
    }
    if (arg.use_empty()) continue;
    SmallVector<int64_t> sizes{rows};
    sizes.append(sequence.getSizes().begin(), sequence.getSizes().end());
    emitter.bind(arg,
                 RowsOp::create(emitter.builder, emitter.loc, RealType::get(input.getContext(), sizes), input, t,
                                ScheduleAttr()),
                 row);
  }
  emitter.setPosition(t);
}

void KernelFrame::emitOutputs(StageEmitter &emitter, ValueRange outputs, Value t, int64_t rows) const {
  SmallVector<StringRef> names = outputNames(kernel);
  for (auto [i, out] : llvm::enumerate(outputs)) {
    Value tensor;
    if (emitter.isBound(out) && emitter.hasRows(out)) tensor = emitter.tensorOf(out);
    else {
      emitter.prepare(out, rows);
      SmallVector<int64_t> sizes{rows};
      SmallVector<StringRef> axes{"i"};
      for (int64_t n : cast<RealType>(out.getType()).getSizes()) sizes.push_back(n), axes.push_back("e");
      tensor = emitter.stage(names[i], axes, sizes, [&, out = out](StageEmitter::Indices idx) {
        return emitter.scalar(out, {idx[0], idx[0]}, idx.drop_front());
      });
    }
    EmitOp::create(emitter.builder, emitter.loc, tensor, t, i);
  }
}

SmallVector<Value> lintel::createScan(OpBuilder &builder, Location loc, ScanMode mode, int64_t chunk, int64_t from,
                                      ValueRange init, llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto scan = ScanOp::create(builder, loc, init.getTypes(), mode, chunk, from, init);
  OpBuilder::InsertionGuard guard(builder);
  Block &block = scan.getBody().emplaceBlock();
  Value t = block.addArgument(builder.getIndexType(), loc);
  for (Value v : init) block.addArgument(v.getType(), loc);
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> next = body(t, block.getArguments().drop_front());
  YieldOp::create(builder, loc, next);
  return SmallVector<Value>(scan.getResults());
}

/// The exponent that a step starts from, in `next` where a matrix has it (see settleExponents: here there is no memory
/// for a second one): lower where what shares it with the matrix, a sum of the same terms, has shrunk. The state itself
/// stays as it is held, and the step's own factor of 2^(old - new exponent) does the rest.
static Value startOfStep(StageEmitter &e, ArrayRef<int64_t> scales, ValueRange states, unsigned p) {
  Value exponent = states[p];
  auto own = cast<RealType>(exponent.getType()).getSizes();
  SmallVector<Value> beside;
  bool hasMatrix = false;
  for (unsigned s = 0; s < scales.size(); ++s) {
    if (scales[s] != static_cast<int64_t>(p)) continue;
    unsigned rank = cast<RealType>(states[s].getType()).getRank();
    if (rank == 2) hasMatrix = true;
    else beside.push_back(states[s]);
  }
  if (!hasMatrix || beside.empty()) return {};
  SmallVector<Value> tops;
  for (Value x : beside) {
    auto sizes = cast<RealType>(x.getType()).getSizes();
    if (sizes.size() == own.size()) tops.push_back(x);
    else
      tops.push_back(e.stage("top", {}, {}, [&](StageEmitter::Indices) {
        return e.fold(ReduceKind::Max, "top", sizes[0], [&](Value c) { return e.unary(UnaryKind::Abs, e.at(x, {c})); });
      }));
  }
  SmallVector<StringRef> axes(own.size(), "c");
  return e.stage("p_start", axes, own, [&](StageEmitter::Indices idx) {
    Value top, p0 = e.at(exponent, idx);
    for (Value x : tops) {
      Value one = e.unary(UnaryKind::Abs, e.at(x, idx));
      top = top ? e.binary(BinaryKind::Max, top, one) : one;
    }
    constexpr int down = 40;
    Value small = e.binary(BinaryKind::And, e.binary(BinaryKind::Gt, top, e.number(0)),
                           e.binary(BinaryKind::Lt, top, e.number(std::ldexp(1.0, -down))));
    return e.select(small, e.add(p0, e.number(-down)), p0);
  });
}

/// Recurrent and step: the body as it stands, one step an iteration. A bidirectional operator sweeps twice.
KernelOp lintel::lowerStepwise(Operation *form) {
  OpBuilder builder(form->getContext());
  Block &body = form->getRegion(0).front();
  auto inputs = form->getAttrOfType<ArrayAttr>("inputs");
  SmallVector<StringRef> names = stateNames(form->getAttrOfType<ArrayAttr>("states"));
  auto scales = form->getAttrOfType<DenseI64ArrayAttr>("scales");
  unsigned n = names.size();
  SmallVector<bool> internal(n, false);
  if (scales)
    for (int64_t s : scales.asArrayRef())
      if (s >= 0) internal[s] = true;
  SmallVector<RealType> types;
  for (BlockArgument arg : body.getArguments().drop_front(inputs.size()))
    types.push_back(cast<RealType>(arg.getType()));
  ValueRange yields = body.getTerminator()->getOperands(), finals = yields.take_back(n), outputs = yields.drop_back(n);
  bool step = isa<StepOp>(form);
  bool bidirectional = body.walk([](FinalOp) { return WalkResult::interrupt(); }).wasInterrupted();
  KernelFrame frame = KernelFrame::create(builder, form, step ? "step" : "recurrent", 1, inputs, body, names, types,
                                          outputs, scales ? scales.asArrayRef() : ArrayRef<int64_t>());
  if (bidirectional) frame.kernel.setBidirectional(true);
  Location loc = form->getLoc();
  StageEmitter top(builder, loc);
  SmallVector<Value> init;
  for (unsigned s = 0; s < n; ++s) init.push_back(internal[s] ? exponentStart(top, frame.states[s]) : frame.states[s]);

  bool settles = frame.kernel->hasAttr("settles") && !bidirectional;
  auto sweep = [&](SmallVector<Value> carried, bool update, bool write, ArrayRef<Value> last) {
    return createScan(builder, loc, ScanMode::Whole, 1, 0, carried, [&](Value t, ValueRange states) {
      StageEmitter emitter(builder, loc);
      frame.bindInputs(emitter, body, t, 1);
      for (unsigned s = 0; s < n; ++s)
        emitter.bind(body.getArgument(inputs.size() + s), states.empty() ? last[s] : states[s], StageEmitter::None);
      body.walk([&](FinalOp final) {
        if (!write) return;
        unsigned s = llvm::find(finals, final.getX()) - finals.begin();
        emitter.bind(final.getResult(), last[s], StageEmitter::None);
      });
      for (unsigned p = 0; update && settles && p < n; ++p) {
        Value start = internal[p] ? startOfStep(emitter, frame.kernel.getScales(), states, p) : Value();
        if (!start || !finals[p].getDefiningOp()) continue;
        // Values on the way to the next exponent are not those that the states meet: they have an emitter of their own.
        StageEmitter own(builder, loc);
        frame.bindInputs(own, body, t, 1);
        own.bind(body.getArgument(inputs.size() + p), start, StageEmitter::None);
        own.prepare(finals[p], 1);
        SmallVector<StringRef> axes(cast<RealType>(finals[p].getType()).getRank(), "c");
        Value next =
            own.stage(names[p], axes, cast<RealType>(finals[p].getType()).getSizes(), [&](StageEmitter::Indices idx) {
              Value zero = own.index(0);
              return own.scalar(finals[p], {zero, zero}, idx);
            });
        emitter.bind(finals[p], next, StageEmitter::None);
      }
      if (write) frame.emitOutputs(emitter, outputs, t, 1);
      SmallVector<Value> next;
      if (update)
        for (unsigned s = 0; s < n; ++s) {
          Value after = finals[s];
          emitter.prepare(after, 1);
          if (emitter.isBound(after) && !emitter.hasRows(after)) {
            next.push_back(emitter.tensorOf(after));
            continue;
          }
          SmallVector<StringRef> axes{"c", "e"};
          auto sizes = cast<RealType>(after.getType()).getSizes();
          axes.truncate(sizes.size());
          next.push_back(emitter.stage(names[s], axes, sizes, [&](StageEmitter::Indices idx) {
            Value zero = emitter.index(0);
            return emitter.scalar(after, {zero, zero}, idx);
          }));
        }
      if (update && settles) settleExponents(emitter, frame.kernel, next, /*matrices=*/false);
      return next;
    });
  };
  SmallVector<Value> last = sweep(init, true, !bidirectional, {});
  if (bidirectional) sweep({}, false, true, last);
  YieldOp::create(builder, loc, finalStates(top, frame.kernel, last));
  return frame.kernel;
}

Value lintel::exponentStart(StageEmitter &emitter, Value initial) {
  Value given =
      GivenOp::create(emitter.builder, emitter.loc, RealType::get(emitter.builder.getContext(), ArrayRef<int64_t>{}));
  auto sizes = cast<RealType>(initial.getType()).getSizes();
  SmallVector<StringRef> axes(sizes.size(), "c");
  return emitter.stage("p", axes, sizes, [&](StageEmitter::Indices idx) {
    return emitter.select(given, emitter.at(initial, idx), emitter.number(noExponent));
  });
}

SmallVector<Value> lintel::finalStates(StageEmitter &emitter, KernelOp kernel, ValueRange last) {
  SmallVector<Value> result(last);
  Type scalar = RealType::get(emitter.builder.getContext(), ArrayRef<int64_t>{});
  SmallVector<StringRef> names = stateNames(kernel.getStates());
  for (auto [s, p] : llvm::enumerate(kernel.getScales())) {
    if (p < 0) continue;
    Value taken = TakenOp::create(emitter.builder, emitter.loc, scalar, p);
    SmallVector<StringRef> axes{"c", "e"};
    auto sizes = cast<RealType>(last[s].getType()).getSizes();
    axes.truncate(sizes.size());
    result[s] = emitter.stage((names[s] + "_out").str(), axes, sizes, [&, s = s, p = p](StageEmitter::Indices idx) {
      Value x = emitter.at(last[s], idx), zero = emitter.number(0);
      // In two steps: the product may be a number where the power alone is none.
      Value e = emitter.at(last[p], idx.take_front(cast<RealType>(last[p].getType()).getRank()));
      Value half = emitter.unary(UnaryKind::Ceil, emitter.mul(e, emitter.number(0.5)));
      Value product = emitter.mul(emitter.mul(x, emitter.unary(UnaryKind::Exp2, half)),
                                  emitter.unary(UnaryKind::Exp2, emitter.binary(BinaryKind::Sub, e, half)));
      return emitter.select(taken, x, emitter.select(emitter.binary(BinaryKind::Eq, x, zero), zero, product));
    });
  }
  return result;
}

void lintel::settleExponents(StageEmitter &e, KernelOp kernel, SmallVectorImpl<Value> &next, bool matrices) {
  if (!kernel->hasAttr("settles")) return;
  SmallVector<StringRef> names = stateNames(kernel.getStates());
  ArrayRef<int64_t> scales = kernel.getScales();
  auto sizesOf = [](Value v) { return cast<RealType>(v.getType()).getSizes(); };
  StringRef letters[] = {"c", "e"};
  auto axes = [&](size_t rank) { return ArrayRef<StringRef>(letters).take_front(rank); };
  SmallVector<Value> before(next.begin(), next.end());
  for (unsigned p = 0; p < next.size(); ++p) {
    if (!llvm::is_contained(scales, static_cast<int64_t>(p))) continue;
    auto own = sizesOf(before[p]);
    bool hasMatrix = false;
    for (unsigned s = 0; s < scales.size(); ++s)
      hasMatrix |= scales[s] == static_cast<int64_t>(p) && sizesOf(before[s]).size() == 2;
    if (hasMatrix && !matrices) continue;
    // The largest element of each state that the exponent is for, one axis at a time.
    SmallVector<Value> tops;
    for (unsigned s = 0; s < scales.size(); ++s) {
      if (scales[s] != static_cast<int64_t>(p)) continue;
      Value x = before[s];
      bool first = true;
      do {
        auto sizes = sizesOf(x);
        size_t rank = sizes.size() > own.size() ? sizes.size() - 1 : sizes.size();
        x = e.stage("top", axes(rank), ArrayRef<int64_t>(sizes).take_front(rank), [&](StageEmitter::Indices idx) {
          auto element = [&](ArrayRef<Value> at) { return first ? e.unary(UnaryKind::Abs, e.at(x, at)) : e.at(x, at); };
          if (rank == sizes.size()) return element(idx);
          return e.fold(ReduceKind::Max, "top", sizes.back(), [&](Value last) {
            SmallVector<Value> at(idx.begin(), idx.end());
            at.push_back(last);
            return element(at);
          });
        });
        first = false;
      } while (sizesOf(x).size() > own.size());
      tops.push_back(x);
    }
    Value top = e.stage("top", axes(own.size()), own, [&](StageEmitter::Indices idx) {
      Value m = e.at(tops[0], idx);
      for (Value other : ArrayRef<Value>(tops).drop_front()) m = e.binary(BinaryKind::Max, m, e.at(other, idx));
      return m;
    });
    // `of` the power of two that states are multiplied by, or of none.
    auto chosen = [&](Value m, llvm::function_ref<double(int)> of) {
      Value x = e.number(of(0));
      for (int below : llvm::reverse(settledBelow))
        x = e.select(e.binary(BinaryKind::Lt, m, e.number(std::ldexp(1.0, -below))), e.number(of(below)), x);
      return x;
    };
    Value factor = e.stage("factor", axes(own.size()), own, [&](StageEmitter::Indices idx) {
      return chosen(e.at(top, idx), [](int below) { return std::ldexp(1.0, below); });
    });
    for (unsigned s = 0; s < scales.size(); ++s)
      if (scales[s] == static_cast<int64_t>(p))
        next[s] = e.stage((names[s] + "_settled").str(), axes(sizesOf(before[s]).size()), sizesOf(before[s]),
                          [&](StageEmitter::Indices idx) {
                            return e.mul(e.at(before[s], idx), e.at(factor, idx.take_front(own.size())));
                          });
    next[p] = e.stage((names[p] + "_settled").str(), axes(own.size()), own, [&](StageEmitter::Indices idx) {
      Value m = e.at(top, idx);
      Value lower = e.add(e.at(before[p], idx), chosen(m, [](int below) { return double(-below); }));
      return e.select(e.binary(BinaryKind::Eq, m, e.number(0)), e.number(noExponent), lower);
    });
  }
}

std::string lintel::exponentName(ArrayAttr inputs, ArrayRef<StringRef> states) {
  auto isTaken = [&](StringRef name) {
    return llvm::is_contained(states, name) ||
           llvm::any_of(inputs, [&](Attribute a) { return cast<ParamAttr>(a).getName() == name; });
  };
  std::string name = "exponent";
  for (unsigned i = 1; isTaken(name); ++i) name = "exponent" + std::to_string(i);
  return name;
}

namespace {
struct Pass : lintel::impl::LowerFormToStagesBase<Pass> {
  using LowerFormToStagesBase::LowerFormToStagesBase;
  void runOnOperation() override {
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody())) {
      KernelOp kernel = llvm::TypeSwitch<Operation *, KernelOp>(&op)
                            .Case<RecurrentOp, StepOp>([](auto form) { return lowerStepwise(form); })
                            .Case<ChunkwiseOp>([](auto form) { return lowerChunkwise(form); })
                            .Case<ParallelOp>([](auto form) { return lowerParallel(form); })
                            .Case<StreamedOp>([](auto form) { return lowerStreamed(form); })
                            .Default([](auto) { return KernelOp(); });
      if (kernel) op.erase();
    }
  }
};
} // namespace

#include "dialect/reference/Interpreter.h"
#include "dialect/OperatorUtils.h"
#include "dialect/reference/Evaluator.h"

using namespace mlir;
using namespace lintel;

namespace {

using States = SmallVector<Array>;

/// One operator, whatever its phase, as its runner sees it.
struct Operator {
  Operation *op;
  ArrayAttr inputs;
  SmallVector<StringRef> states;
  SmallVector<SmallVector<int64_t>> stateShapes;
  SmallVector<SmallVector<int64_t>> outShapes; ///< `out` first
  ArrayRef<int64_t> scales;
};

Block &body(Operation *op) { return op->getRegion(0).front(); }

//===----------------------------------------------------------------------===//
// Bodies of one step: spec, recurrent, step, streamed
//===----------------------------------------------------------------------===//

void bindInputs(Evaluator &evaluator, const Sequence &sequence, Block &block, ArrayAttr inputs, int64_t t) {
  evaluator.step = t;
  for (unsigned i = 0; i < inputs.size(); ++i) {
    BlockArgument arg = block.getArgument(i);
    Array a(evaluator.sizes(cast<RealType>(arg.getType())));
    std::copy_n(sequence.input[i] + t * sequence.stride[i], a.size(), a.data.begin());
    evaluator.values[arg] = std::move(a);
  }
}

/// The first of `values` are the outputs of step t.
void writeOutputs(const Sequence &sequence, int64_t t, ArrayRef<Array> values) {
  for (auto [to, value] : llvm::zip(sequence.out, values)) std::copy(value.data.begin(), value.data.end(), to.at(t));
}

/// Sums over all keys a query sees. Weights are taken relative to the largest exponent, so that the sum is finite
/// wherever its ratio is.
Array attend(Evaluator &evaluator, AttendOp op, const std::vector<Array> &keys, const std::vector<Array> &values,
             int64_t t) {
  Block &weights = op.getWeights().front();
  int64_t end = op.getCausal() ? t + 1 : static_cast<int64_t>(keys.size());
  std::vector<std::pair<double, double>> w(end);
  std::vector<bool> isChosenOut(end);
  double top = -INFINITY;
  for (int64_t j = 0; j < end; ++j) {
    evaluator.values[weights.getArgument(0)] = evaluator.values.lookup(op.getQ());
    evaluator.values[weights.getArgument(1)] = keys[j];
    evaluator.values[weights.getArgument(2)] = Array({}, static_cast<double>(t - j));
    evaluator.run(weights);
    w[j] = evaluator.scaled(weights.getTerminator()->getOperand(0));
    isChosenOut[j] = evaluator.isChosen(weights.getTerminator()->getOperand(0), 0);
    if (w[j].first != 0 && !(w[j].second <= top)) top = w[j].second;
  }
  Array out(values.empty() ? evaluator.sizes(op.getType()) : SmallVector<int64_t>(values[0].shape));
  double den = 0, shift = std::isfinite(top) ? top : 0;
  for (int64_t j = 0; j < end; ++j) {
    if (isChosenOut[j]) continue;
    double x = w[j].first == 0 ? 0 : w[j].first * std::exp(w[j].second - shift);
    den += x;
    for (int64_t e = 0; e < out.size(); ++e) out.data[e] += x * values[j].data[e];
  }
  if (op.getNormalizer().empty()) {
    for (double &x : out.data) x *= std::exp(shift);
    return out;
  }
  // n(den) for den = exp(shift) * sum. Where that overflows only the plain normaliser keeps a finite ratio.
  Block &normalizer = op.getNormalizer().front();
  auto plain = normalizer.getTerminator()->getOperand(0) == normalizer.getArgument(0);
  if (!plain) {
    evaluator.values[normalizer.getArgument(0)] = Array({}, den * std::exp(shift));
    den = evaluator.run(normalizer)[0].data[0] / std::exp(shift);
  }
  for (double &x : out.data) x /= den;
  return out;
}

/// What kernels do where states with an exponent shrink, so that later terms do not vanish beside an exponent that is
/// out of date: settleExponents in compiler/transforms/Lowering.h.
void settleExponents(const Operator &o, States &states) {
  for (size_t p = 0; p < states.size(); ++p) {
    if (!llvm::is_contained(o.scales, static_cast<int64_t>(p))) continue;
    Array &exponent = states[p];
    int64_t channels = exponent.size();
    for (int64_t c = 0; c < channels; ++c) {
      auto each = [&](llvm::function_ref<void(double &)> use) {
        for (size_t s = 0; s < o.scales.size(); ++s) {
          if (o.scales[s] != static_cast<int64_t>(p)) continue;
          int64_t n = states[s].size() / channels;
          for (int64_t i = 0; i < n; ++i) use(states[s].data[c * n + i]);
        }
      };
      double top = 0;
      each([&](double &x) { top = std::max(top, std::fabs(x)); });
      if (top == 0) exponent.data[c] = noExponent;
      int down = 0;
      for (int below : settledBelow)
        if (top != 0 && !down && top < std::ldexp(1.0, -below)) down = below;
      exponent.data[c] -= down;
      if (down) each([&](double &x) { x = std::ldexp(x, down); });
    }
  }
}

void runSteps(const Operator &o, const Sequence &sequence, States &states) {
  Block &block = body(o.op);
  unsigned inputs = o.inputs.size(), outputs = o.outShapes.size();
  FinalOp anyFinal;
  AttendOp attention;
  block.walk([&](Operation *op) {
    if (auto f = dyn_cast<FinalOp>(op)) anyFinal = f;
    if (auto a = dyn_cast<AttendOp>(op)) attention = a;
  });
  auto sweep = [&](Evaluator &evaluator, bool write) {
    for (int64_t t = 0; t < sequence.steps; ++t) {
      bindInputs(evaluator, sequence, block, o.inputs, t);
      for (unsigned s = 0; s < states.size(); ++s) evaluator.values[block.getArgument(inputs + s)] = states[s];
      SmallVector<Array> results = evaluator.run(block);
      if (write) writeOutputs(sequence, t, results);
      for (unsigned s = 0; s < states.size(); ++s) states[s] = results[outputs + s];
      if (o.op->hasAttr("settles") && !anyFinal) settleExponents(o, states);
    }
  };
  Evaluator evaluator(sequence);
  if (attention) {
    std::vector<Array> keys, values;
    evaluator.onAttend = [&](AttendOp op) {
      keys.push_back(evaluator.values.lookup(op.getK()));
      values.push_back(evaluator.values.lookup(op.getV()));
      return Array(evaluator.sizes(op.getType()));
    };
    sweep(evaluator, false);
    evaluator.onAttend = [&](AttendOp op) { return attend(evaluator, op, keys, values, evaluator.step); };
    return sweep(evaluator, true);
  }
  if (!anyFinal) return sweep(evaluator, true);
  States initial = states;
  sweep(evaluator, false);
  States last = states;
  evaluator.onFinal = [&](FinalOp op) {
    auto yielded = block.getTerminator()->getOperands().drop_front(outputs);
    return last[llvm::find(yielded, op.getX()) - yielded.begin()];
  };
  states = initial;
  sweep(evaluator, true);
}

//===----------------------------------------------------------------------===//
// Chunkwise and parallel
//===----------------------------------------------------------------------===//

double along(const Array &x, int64_t c) { return x.data.empty() ? 1 : x.data[x.shape.empty() ? 0 : c]; }

/// The sums of attn.chunkwise's description, pair by pair.
template <class OpT> void runFactored(const Operator &o, OpT op, const Sequence &sequence, States &states) {
  unsigned n = op.getStates().size(), internal = op.internalStates();
  int64_t T = sequence.steps,
          C = isa<ParallelOp>(op.getOperation()) ? std::max<int64_t>(T, 1) : static_cast<int64_t>(op.getChunk());
  Evaluator evaluator(sequence);
  struct Token {
    SmallVector<Array> values, internal;
    SmallVector<std::vector<bool>> clears; // by state and channel
  };
  auto rows = [&](unsigned s) { return o.stateShapes[s].empty() ? 1 : o.stateShapes[s][0]; };
  // What a decay is chosen over (see clearsName of TransitionAnalysis.h): the state before is gone, not decayed.
  SmallVector<Value> clears(n);
  States exponents(states.begin() + n, states.end());
  auto evaluateTokens = [&](int64_t t0, int64_t t1) {
    std::vector<Token> tokens;
    for (int64_t t = t0; t < t1; ++t) {
      Token token;
      token.internal.append(exponents.begin(), exponents.end());
      auto enter = [&](Region &region, ArrayRef<Array> rest) {
        bindInputs(evaluator, sequence, region.front(), o.inputs, t);
        for (auto [i, v] : llvm::enumerate(rest)) evaluator.values[region.front().getArgument(o.inputs.size() + i)] = v;
        return evaluator.run(region.front());
      };
      if (internal) {
        SmallVector<Array> next = enter(op.getPrefix(), exponents);
        exponents.assign(next.begin(), next.end());
      }
      token.internal.append(exponents.begin(), exponents.end());
      token.values = enter(op.getToken(), token.internal);
      for (auto [s, c] : llvm::enumerate(clears)) {
        auto &channels = token.clears.emplace_back(rows(s), false);
        for (int64_t d = 0; c && d < rows(s); ++d) channels[d] = along(evaluator.values.lookup(c), d) != 0;
      }
      tokens.push_back(std::move(token));
    }
    return tokens;
  };
  struct Pair {
    unsigned k, v;
  };
  SmallVector<int> decay(n, -1);
  struct LowRank {
    unsigned u, w;
  };
  SmallVector<SmallVector<Pair>> pairs(n);
  SmallVector<SmallVector<LowRank>> lowRank(n);
  SmallVector<unsigned> query;
  unsigned at = 0;
  for (unsigned s = 0; s < n; ++s) {
    auto info = cast<StateInfoAttr>(op.getStates()[s]);
    if (info.getDecay() >= 0) {
      auto select = op.getToken().front().getTerminator()->getOperand(at).template getDefiningOp<SelectOp>();
      if (select && select->hasAttr("clears")) clears[s] = select.getCondition();
      decay[s] = at++;
    }
    for (int64_t p = 0; p < info.getPairs(); ++p) {
      pairs[s].push_back({at, info.getRank() == 2 ? at + 1 : ~0u});
      at += info.getRank() == 2 ? 2 : 1;
    }
    for (int64_t r = 0; r < info.getLowRank(); ++r, at += 2) lowRank[s].push_back({at, at + 1});
  }
  for (unsigned r = 0; r < op.getReads().size(); ++r) query.push_back(at++);
  auto valueAt = [&](const Token &token, unsigned v, int64_t e) { return v == ~0u ? 1.0 : token.values[v].data[e]; };
  auto columns = [&](unsigned s) { return o.stateShapes[s].size() == 2 ? o.stateShapes[s][1] : 1; };

  auto update = [&](const std::vector<Token> &tokens) {
    for (unsigned s = 0; s < n; ++s)
      for (const Token &token : tokens) {
        // What the low-rank terms read, of the state before the step.
        std::vector<double> read(lowRank[s].size() * columns(s));
        for (auto [r, term] : llvm::enumerate(lowRank[s]))
          for (int64_t c = 0; c < rows(s); ++c)
            for (int64_t e = 0; e < columns(s); ++e)
              read[r * columns(s) + e] += along(token.values[term.w], c) * states[s].data[c * columns(s) + e];
        for (int64_t c = 0; c < rows(s); ++c)
          for (int64_t e = 0; e < columns(s); ++e) {
            double &x = states[s].data[c * columns(s) + e];
            if (token.clears[s][c]) x = 0;
            else if (decay[s] >= 0) x *= along(token.values[decay[s]], c);
            for (Pair p : pairs[s]) x += along(token.values[p.k], c) * valueAt(token, p.v, e);
            for (auto [r, term] : llvm::enumerate(lowRank[s]))
              if (!token.clears[s][c]) x += along(token.values[term.u], c) * read[r * columns(s) + e];
          }
      }
  };
  auto combine = [&](int64_t t, const Token &token, SmallVector<Array> reads) {
    Block &block = op.getCombine().front();
    bindInputs(evaluator, sequence, block, o.inputs, t);
    SmallVector<Array> rest = token.internal;
    rest.append(reads);
    for (auto [i, v] : llvm::enumerate(rest)) evaluator.values[block.getArgument(o.inputs.size() + i)] = v;
    writeOutputs(sequence, t, evaluator.run(block));
  };
  auto read = [&](const std::vector<Token> &tokens, int64_t i, unsigned r, bool whole) {
    auto info = cast<ReadAttr>(op.getReads()[r]);
    unsigned s = info.getState();
    Array out(o.stateShapes[s].size() == 2 ? SmallVector<int64_t>{columns(s)} : SmallVector<int64_t>{});
    int64_t last = info.getInclusive() ? i : i - 1; // the last step whose update the read sees
    // The query, moved back through the transitions step by step.
    std::vector<double> x(rows(s));
    for (int64_t c = 0; c < rows(s); ++c) x[c] = along(tokens[i].values[query[r]], c);
    std::vector<bool> isCleared(rows(s), false);
    auto dot = [&](const Array &y) {
      double sum = 0;
      for (int64_t c = 0; c < rows(s); ++c)
        if (!isCleared[c]) sum += x[c] * along(y, c);
      return sum;
    };
    if (!whole)
      for (int64_t j = last; j >= 0 && llvm::is_contained(isCleared, false); --j) {
        const Token &token = tokens[j];
        for (Pair p : pairs[s]) {
          double weight = dot(token.values[p.k]);
          for (int64_t e = 0; e < out.size(); ++e) out.data[e] += weight * valueAt(token, p.v, e);
        }
        for (int64_t c = 0; c < rows(s); ++c) isCleared[c] = isCleared[c] || token.clears[s][c];
        SmallVector<double> up;
        for (LowRank term : lowRank[s]) up.push_back(dot(token.values[term.u]));
        for (int64_t c = 0; c < rows(s); ++c) {
          if (decay[s] >= 0) x[c] *= along(token.values[decay[s]], c);
          for (auto [term, weight] : llvm::zip(lowRank[s], up)) x[c] += weight * along(token.values[term.w], c);
        }
      }
    for (int64_t c = 0; c < rows(s); ++c)
      for (int64_t e = 0; e < out.size() && !isCleared[c]; ++e)
        out.data[e] += x[c] * states[s].data[c * columns(s) + e];
    return out;
  };
  for (int64_t t0 = 0; t0 < T; t0 += C) {
    std::vector<Token> tokens = evaluateTokens(t0, std::min(T, t0 + C));
    if (!op.getBidirectional())
      for (int64_t i = 0; i < static_cast<int64_t>(tokens.size()); ++i) {
        SmallVector<Array> reads;
        for (unsigned r = 0; r < query.size(); ++r) reads.push_back(read(tokens, i, r, false));
        combine(t0 + i, tokens[i], reads);
      }
    update(tokens);
  }
  states.truncate(n);
  states.append(exponents.begin(), exponents.end());
  if (!op.getBidirectional()) return;
  exponents.assign(states.begin() + n, states.end());
  for (int64_t t0 = 0; t0 < T; t0 += C) {
    std::vector<Token> tokens = evaluateTokens(t0, std::min(T, t0 + C));
    for (int64_t i = 0; i < static_cast<int64_t>(tokens.size()); ++i) {
      SmallVector<Array> reads;
      for (unsigned r = 0; r < query.size(); ++r) reads.push_back(read(tokens, i, r, true));
      combine(t0 + i, tokens[i], reads);
    }
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void runKernel(const Operator &o, const Sequence &sequence, States &states) {
  Evaluator evaluator(sequence);
  Block &block = body(o.op);
  for (unsigned i = 0; i < o.inputs.size(); ++i) {
    auto type = dyn_cast<RealType>(block.getArgument(i).getType());
    if (!type) continue;
    Array a(evaluator.sizes(type));
    std::copy_n(sequence.input[i], a.size(), a.data.begin());
    evaluator.values[block.getArgument(i)] = std::move(a);
  }
  for (unsigned s = 0; s < states.size(); ++s) evaluator.values[block.getArgument(o.inputs.size() + s)] = states[s];
  SmallVector<Array> last = evaluator.run(block);
  states.assign(last.begin(), last.end());
}

void runItem(const Operator &o, const Sequence &sequence, States &states) {
  if (auto c = dyn_cast<ChunkwiseOp>(o.op)) return runFactored(o, c, sequence, states);
  if (auto p = dyn_cast<ParallelOp>(o.op)) return runFactored(o, p, sequence, states);
  if (isa<KernelOp>(o.op)) return runKernel(o, sequence, states);
  runSteps(o, sequence, states);
}

//===----------------------------------------------------------------------===//
// The operator's arrays
//===----------------------------------------------------------------------===//

llvm::Error error(const Twine &message) { return llvm::createStringError(llvm::inconvertibleErrorCode(), message); }

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, n] : llvm::enumerate(shape)) text += (i ? ", " : "") + std::to_string(n);
  return text + "]";
}

llvm::Expected<SmallVector<int64_t>> shapeOf(Type type, const llvm::StringMap<int64_t> &dims) {
  if (auto s = dyn_cast<SequenceType>(type)) return SmallVector<int64_t>(s.getSizes());
  auto t = cast<RealType>(type);
  SmallVector<int64_t> shape;
  for (unsigned i = 0; i < t.getRank(); ++i) {
    auto n = t.getDim(i).evaluate(dims);
    if (!n)
      return error("expected a value for every name in dimension '" + t.getDim(i).str() +
                   "', found none; give --dim NAME=N");
    shape.push_back(*n);
  }
  return shape;
}

/// Fills the parts that differ from phase to phase.
llvm::Expected<Operator> describe(Operation *op, const llvm::StringMap<int64_t> &dims) {
  Operator o{op, op->getAttrOfType<ArrayAttr>("inputs"), {}, {}, {}, {}};
  unsigned outputs = numOutputs(op);
  if (!o.inputs) return error("expected an attn operator to interpret, found '" + op->getName().getStringRef() + "'");
  auto add = [&](Type type) -> llvm::Error {
    auto shape = shapeOf(type, dims);
    if (!shape) return shape.takeError();
    o.stateShapes.push_back(*shape);
    return llvm::Error::success();
  };
  SmallVector<Type> out;
  if (auto states = op->getAttrOfType<ArrayAttr>("states")) o.states = stateNames(states);
  auto factored = [&](auto f) -> llvm::Error {
    for (unsigned s = 0; s < o.states.size(); ++s)
      if (auto e = add(f.stateType(s))) return e;
    for (unsigned s = 0; s < f.internalStates(); ++s) o.stateShapes.emplace_back();
    llvm::append_range(out, f.getCombine().front().getTerminator()->getOperandTypes());
    return llvm::Error::success();
  };
  if (auto c = dyn_cast<ChunkwiseOp>(op)) {
    if (auto e = factored(c)) return std::move(e);
    o.scales = c.getScales();
  } else if (auto p = dyn_cast<ParallelOp>(op)) {
    if (auto e = factored(p)) return std::move(e);
    o.scales = p.getScales();
  } else {
    Block &block = body(op);
    for (BlockArgument arg : block.getArguments().drop_front(o.inputs.size()))
      if (auto e = add(arg.getType())) return std::move(e);
    if (auto k = dyn_cast<KernelOp>(op)) o.scales = k.getScales(), llvm::append_range(out, k.outputTypes());
    else llvm::append_range(out, block.getTerminator()->getOperands().take_front(outputs).getTypes());
    if (auto r = dyn_cast<RecurrentOp>(op)) o.scales = r.getScales();
    if (auto s = dyn_cast<StepOp>(op)) o.scales = s.getScales();
  }
  for (Type type : out) {
    auto shape = shapeOf(type, dims);
    if (!shape) return shape.takeError();
    o.outShapes.push_back(*shape);
  }
  return o;
}

} // namespace

llvm::Expected<Results> lintel::interpret(Operation *op, const Arguments &args) {
  auto described = describe(op, args.dimensions);
  if (!described) return described.takeError();
  Operator &o = *described;
  Block &block = isa<ChunkwiseOp, ParallelOp>(op) ? op->getRegion(1).front() : body(op);
  int64_t B = args.batch, T = args.steps, H = args.heads;
  SmallVector<const Array *> inputs;
  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<int64_t> groups;
  for (auto [i, attr] : llvm::enumerate(o.inputs)) {
    auto param = cast<ParamAttr>(attr);
    auto it = args.inputs.find(param.getName());
    if (it == args.inputs.end()) return error("expected an array for input '" + param.getName() + "', found none");
    auto inner = shapeOf(block.getArgument(i).getType(), args.dimensions);
    if (!inner) return inner.takeError();
    SmallVector<int64_t> want;
    int64_t G = H;
    if (param.getKind() == InputKind::Token) {
      G = it->second.shape.size() > 2 ? it->second.shape[2] : H;
      if (G < 1 || H % G)
        return error("expected the heads of '" + param.getName() + "' to divide " + Twine(H) + ", found " + Twine(G));
      want = {B, T, G};
    }
    if (param.getKind() == InputKind::Head) want = {H};
    want.append(*inner);
    if (it->second.shape != want)
      return error("expected input '" + param.getName() + "' of shape " + shapeText(want) + ", found " +
                   shapeText(it->second.shape));
    inputs.push_back(&it->second);
    shapes.push_back(*inner);
    groups.push_back(G);
  }
  for (const auto *given : {&args.initial, &args.exponents})
    for (auto &entry : *given)
      if (!llvm::is_contained(o.states, entry.getKey()))
        return error("expected the name of a state, found '" + entry.getKey() + "'");
  auto product = [](ArrayRef<int64_t> shape) {
    int64_t n = 1;
    for (int64_t s : shape) n *= s;
    return n;
  };
  Results results;
  for (auto [i, inner] : llvm::enumerate(o.outShapes)) {
    SmallVector<int64_t> shape{B, T, H};
    shape.append(inner);
    if (i) results.others.emplace_back(shape);
    else results.out = Array(shape);
  }
  for (unsigned s = 0; s < o.states.size(); ++s) {
    SmallVector<int64_t> shape{B, H};
    shape.append(o.stateShapes[s]);
    if (auto it = args.initial.find(o.states[s]); it != args.initial.end() && it->second.shape != shape)
      return error("expected state '" + o.states[s] + "' of shape " + shapeText(shape) + ", found " +
                   shapeText(it->second.shape));
    if (!llvm::is_contained(o.scales, static_cast<int64_t>(s))) results.final[o.states[s]] = Array(shape);
    bool scaled = s < o.scales.size() && o.scales[s] >= 0;
    shape.truncate(2);
    if (scaled) shape.append(o.stateShapes[o.scales[s]]);
    if (auto it = args.exponents.find(o.states[s]); it != args.exponents.end() && it->second.shape != shape)
      return error("expected exponents of state '" + o.states[s] + "' of shape " + shapeText(shape) + ", found " +
                   shapeText(it->second.shape));
    if (args.takesExponents && scaled) results.exponents[o.states[s]] = Array(shape);
  }
  for (int64_t b = 0; b < B; ++b)
    for (int64_t h = 0; h < H; ++h) {
      Sequence sequence;
      sequence.steps = T;
      sequence.position = args.position;
      sequence.dimensions = &args.dimensions;
      for (auto [i, attr] : llvm::enumerate(o.inputs)) {
        int64_t n = product(shapes[i]), G = groups[i];
        const double *base = inputs[i]->data.data();
        switch (cast<ParamAttr>(attr).getKind()) {
        case InputKind::Token:
          sequence.input.push_back(base ? base + (b * T * G + h / (H / G)) * n : base); // no array where T is 0
          sequence.stride.push_back(G * n);
          break;
        case InputKind::Head:
          sequence.input.push_back(base + h * n);
          sequence.stride.push_back(0);
          break;
        case InputKind::Shared:
          sequence.input.push_back(base);
          sequence.stride.push_back(0);
          break;
        }
      }
      for (auto [i, inner] : llvm::enumerate(o.outShapes)) {
        Array &to = i ? results.others[i - 1] : results.out;
        int64_t size = product(inner);
        sequence.out.push_back({to.size() ? to.data.data() + (b * T * H + h) * size : nullptr, H * size});
      }
      States states;
      bool given = false;
      for (auto [s, shape] : llvm::enumerate(o.stateShapes)) {
        Array a(shape);
        if (s < o.states.size())
          if (auto it = args.initial.find(o.states[s]); it != args.initial.end()) {
            std::copy_n(it->second.data.begin() + (b * H + h) * a.size(), a.size(), a.data.begin());
            given = true;
          }
        states.push_back(std::move(a));
      }
      sequence.given = given;
      sequence.taken = args.takesExponents;
      // A kernel does by itself what the runner does for a form.
      bool kernel = isa<KernelOp>(op);
      for (auto [s, p] : llvm::enumerate(o.scales)) {
        if (p < 0) continue;
        auto it = args.exponents.find(o.states[s]);
        Array &exponent = states[p];
        if (it != args.exponents.end())
          std::copy_n(it->second.data.begin() + (b * H + h) * exponent.size(), exponent.size(), exponent.data.begin());
        if (!given && !kernel) std::fill(exponent.data.begin(), exponent.data.end(), noExponent);
      }
      runItem(o, sequence, states);
      for (auto [s, p] : llvm::enumerate(o.scales)) {
        if (p < 0) continue;
        const Array &exponent = states[p];
        int64_t each = states[s].size() / exponent.size();
        if (args.takesExponents)
          llvm::copy(exponent.data, results.exponents[o.states[s]].data.begin() + (b * H + h) * exponent.size());
        else if (!kernel)
          for (auto [i, x] : llvm::enumerate(states[s].data))
            x = x == 0 ? x : x * std::exp2(exponent.data[static_cast<int64_t>(i) / each]);
      }
      for (unsigned s = 0; s < o.states.size(); ++s)
        if (auto it = results.final.find(o.states[s]); it != results.final.end())
          std::copy(states[s].data.begin(), states[s].data.end(),
                    it->second.data.begin() + (b * H + h) * states[s].size());
      if (args.progress) args.progress(b * H + h + 1, B * H);
    }
  return results;
}

#include "SpecValues.h"

using namespace lintel::fuzz;

namespace {

class Generator : ValueGenerator {
public:
  explicit Generator(uint64_t seed) : ValueGenerator(seed) {}
  GeneratedSpec run();

private:
  // The two forms.
  void shortForm();
  void weights();
  void gatedRatio();
  void recurrence();

  struct State {
    Text name;
    std::vector<Dim> shape;
    bool isPositive = false; // a sum of positive vectors: safe to divide by
    Text query;              // positive, for such a state
  };
  void update(State &state, const std::vector<State> &others);
  Text addend(const State &state, const std::vector<State> &others);
  Text read(const State &state, std::vector<Dim> &shape);
  Text bring(Text value, const std::vector<Dim> &from, const std::vector<Dim> &to);
  Text output(const std::vector<State> &states, const std::vector<Named> &reads);
};

void Generator::shortForm() {
  Dim dk = anyDim(), dv = anyDim();
  auto value = [&](const Text &name, const Dim &n) {
    if (dice.chance(0.7)) {
      declare("token", name, {n});
      known.push_back({"token", {name, {n}}});
    } else {
      // It must differ from token to token.
      line("let " + name + " = " + vector(n, 1) + " + " + token({n}));
      lets.push_back({name, {n}});
    }
  };
  bool normalize = dice.chance(0.5), plain = normalize && dice.chance(0.4);
  bool features = dice.chance(0.75);
  bool different = features && dice.chance(0.3);
  Dim dq = different && dice.chance(0.5) ? anyDim() : dk;
  // Lets first: they must stand before their uses.
  value("q", dq);
  value("k", dk);
  value("v", dv);
  if (different) {
    // Both sides end with a shared projection onto the same size.
    Dim m = dq == dk && dice.chance(0.5) ? dk : newDim(), out;
    auto side = [&](const Text &name, const Dim &n) {
      Text inner = dice.chance(0.5) ? "x" : elementwise("x");
      if (n != m || dice.chance(0.5)) inner = input("shared", {m, n}) + " @ (" + inner + ") * rsqrt(" + n + ")";
      if (dice.chance(0.5)) inner = elementwise(inner);
      line("feature_" + name + "(x) = " + (plain ? positive(inner) : inner));
    };
    side("q", dq);
    side("k", dk);
    dk = m;
  } else if (features || plain) {
    Dim out;
    Text phi = feature("x", dk, out, plain);
    line("feature(x) = " + phi);
    dk = out;
  }
  if (dice.chance(0.5))
    line("scale " + dice.pick<Text>({"0.5", "rsqrt(" + dq + ")", "1 / (1 + " + dq + ")", "abs(" + token({}) + ")"}));
  bool bidirectional = dice.chance(0.2);
  line(bidirectional ? "bidirectional" : "causal");
  if (dice.chance(0.6)) {
    bool isVector = dice.chance(0.5) && dk.find_first_of("*+") == Text::npos;
    line("decay " + decay(isVector ? std::vector<Dim>{dk} : std::vector<Dim>{}));
  }
  if (!normalize) return;
  if (plain) line("normalize");
  else line("normalize " + dice.pick<Text>({"max(abs(den), 1)", "1 + abs(den)", "sqrt(1 + den^2)", "0.5 + den^2"}));
}

void Generator::weights() {
  Dim dk = anyDim(), dv = anyDim();
  for (auto [name, n] : {std::pair("q", dk), std::pair("k", dk), std::pair("v", dv)}) declare("token", name, {n});
  if (dice.chance(0.3)) line("feature(x) = " + elementwise("x"));
  if (dice.chance(0.4)) line("scale rsqrt(" + dk + ")");
  line(dice.chance(0.3) ? "bidirectional" : "causal");
  Text score =
      dice.pick<Text>({"dot(a, b)", "dot(a, b) * rsqrt(" + dk + ")", "-dot(a - b, a - b)", "tanh(dot(a, b))",
                       "dot(a, b) - 0.1 * abs(distance)", "dot(a, b) + " + input("head", {}) + " / (1 + abs(distance))",
                       "max(a - b) + dot(a, b)", "-norm(a - b)", "sum(max(a, b))", "a[0] * b[0] - a[0]"});
  bool normalize = dice.chance(0.7), isPositive = true;
  Text weight;
  switch (dice.below(8)) {
  case 0:
    weight = "sigmoid(" + score + ")";
    break;
  case 1:
    weight = "0.1 + relu(" + score + ")^2";
    break;
  case 2:
    weight = "(1 + abs(" + score + "))^-1.5";
    break;
  case 3:
    weight = "0.9 ^ abs(distance) * exp(" + score + ")";
    break;
  case 4:
    weight = score;
    isPositive = false;
    break;
  default:
    weight = "exp(" + score + ")";
  }
  Text window = std::to_string(1 + dice.below(12));
  switch (dice.below(5)) {
  case 0: // the query's own step is inside
    weight = "where(abs(distance) < " + window + ", " + weight + ", 0)";
    break;
  case 1:
    weight = "where(distance <= " + window + " and distance >= -2, " + weight + ", 0)";
    break;
  case 2:
    weight = "where(distance == 0 or distance > " + window + ", " + weight + ", 0)";
    break;
  default:
    break;
  }
  line("weights(a, b) = " + weight);
  if (!normalize) return;
  if (isPositive && dice.chance(0.7)) line("normalize");
  else line("normalize " + dice.pick<Text>({"max(abs(den), 1)", "1 + abs(den)", "2 + den^2"}));
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

/// What a step adds to a state.
Text Generator::addend(const State &state, const std::vector<State> &others) {
  if (state.shape.empty()) {
    if (!others.empty() && dice.chance(0.3)) {
      std::vector<Dim> shape;
      Text value = read(dice.pick(others), shape);
      return "0.5 * (" + bring(value, shape, {}) + ")";
    }
    return scalar(1);
  }
  if (state.shape.size() == 1) {
    if (state.isPositive) return positive(vector(state.shape[0], 1));
    if (!others.empty() && dice.chance(0.3)) {
      std::vector<Dim> shape;
      Text value = read(dice.pick(others), shape);
      return bring(value, shape, state.shape);
    }
    return "(" + (dice.chance(0.5) ? scalar(0) + Text(") * (") : Text()) + vector(state.shape[0], 1) + ")";
  }
  Text key = vector(state.shape[0], dice.below(3)), value = vector(state.shape[1], dice.below(2));
  switch (dice.below(8)) {
  case 0:
    return "outer(" + key + ", " + value + ") + outer(" + vector(state.shape[0], 1) + ", " + vector(state.shape[1], 0) +
           ")";
  case 1:
    return matrix(state.shape[0], state.shape[1], 1);
  case 2:
    return "(" + scalar(1) + ") * outer(" + key + ", " + value + ")";
  case 3:
    if (!others.empty()) {
      std::vector<Dim> shape;
      Text other = read(dice.pick(others), shape);
      return "outer(" + unit(state.shape[0], 0) + ", 0.5 * (" + bring(other, shape, {state.shape[1]}) + "))";
    }
    [[fallthrough]];
  default:
    return "outer(" + key + ", " + value + ")";
  }
}

void Generator::update(State &state, const std::vector<State> &others) {
  const Text &s = state.name;
  auto set = [&](const Text &value) { line(s + " = " + value); };
  Text plus = " + " + addend(state, others);
  bool isMatrix = state.shape.size() == 2;
  unsigned kind = dice.below(state.shape.empty() || state.isPositive ? 4 : 14);
  const Dim f = state.shape.empty() ? "" : state.shape[0];
  switch (kind) {
  case 0:
    return set(s + plus);
  case 1:
    return set(decay({}) + " * " + s + plus);
  case 2:
  case 3:
    if (state.shape.empty()) return set("where(" + condition() + ", 0, " + s + ")" + plus);
    return set("(" + decay({f}) + ") * " + s + plus);
  case 4: // the delta rule, perhaps with decays, perhaps twice
  case 5:
  case 6:
  case 7:
  case 8: {
    if (dice.chance(0.6)) set("(" + decay(dice.chance(0.5) ? std::vector<Dim>{} : std::vector<Dim>{f}) + ") * " + s);
    unsigned factors = 1 + (dice.chance(0.25) ? 1 + dice.below(2) : 0);
    for (unsigned i = 0; i < factors; ++i) {
      Text key = unit(f, dice.below(2)), rate = this->rate();
      if (dice.chance(0.25)) rate = "2 * " + rate;
      if (dice.chance(0.5)) {
        Text name = fresh("l");
        line("let " + name + " = " + key);
        key = name;
      }
      if (isMatrix) {
        Text value = vector(state.shape[1], dice.below(2));
        set(s + " + " + rate + " * outer(" + key + ", " + value + " - (" + key + ") @ " + s + ")");
      } else {
        set(s + " + " + rate + " * (" + key + ") * (" + scalar(0) + " - dot(" + key + ", " + s + "))");
      }
    }
    return;
  }
  case 9: { // two different vectors, of norm at most a half each way
    Text down = unit(f, 0), up = unit(f, 0), decayed = "(0.5 * " + rate(vector(f, 0)) + ") * " + s;
    if (isMatrix) return set(decayed + " - 0.5 * outer(" + up + ", (" + down + ") @ " + s + ")" + plus);
    return set(decayed + " + 0.5 * (" + up + ") * dot(" + down + ", " + s + ")" + plus);
  }
  case 10: // a dense transition
    if (dice.chance(0.5) || !isMatrix) return set("tanh(" + matrix(f, f, 0) + ") @ " + s + " / " + f + plus);
    return set(s + " @ tanh(" + matrix(state.shape[1], state.shape[1], 0) + ") / " + state.shape[1] + plus);
  case 11: // element by element
    if (isMatrix && dice.chance(0.5))
      return set("outer(" + rate(vector(f, 0)) + ", " + rate(vector(state.shape[1], 0)) + ") * " + s + plus);
    if (isMatrix) return set("sigmoid(" + matrix(f, state.shape[1], 1) + ") * " + s + plus);
    return set("cumsum(" + s + ") / " + f + plus);
  case 12: { // with another state of its shape, each in the other
    std::vector<Text> same;
    for (const State &other : others)
      if (other.shape == state.shape) same.push_back(other.name);
    if (same.empty()) return set("where(" + condition() + ", 0, " + s + ")" + plus);
    Text other = dice.pick(same);
    if (dice.chance(0.3)) {
      Text old = fresh("l");
      line("let " + old + " = " + s);
      set("0.5 * " + other + plus);
      return line(other + " = " + dice.pick<Text>({"0.5 * ", ""}) + old);
    }
    return set("0.5 * " + s + " + " + dice.pick<Text>({"0.4 * ", "0.4 * " + rate() + " * "}) + other + plus);
  }
  default: // reflected
    if (isMatrix) {
      Text key = fresh("l");
      line("let " + key + " = " + unit(f, 0));
      return set(s + " - 2 * outer(" + key + ", " + key + " @ " + s + ")" + plus);
    }
    return set(s + dice.pick<Text>({"", " / (1 + " + positiveScalar(0) + ")"}) + plus);
  }
}

/// A value linear in a state.
Text Generator::read(const State &state, std::vector<Dim> &shape) {
  const Text &s = state.name;
  shape = {};
  if (state.shape.empty()) return s;
  if (state.shape.size() == 1) {
    switch (dice.below(4)) {
    case 0:
      shape = state.shape;
      return "(" + vector(state.shape[0], 0) + ") * " + s;
    case 1:
      return "sum(" + s + ")";
    default:
      return "dot(" + vector(state.shape[0], 1) + ", " + s + ")";
    }
  }
  if (dice.chance(0.15)) {
    shape = {state.shape[0]};
    return s + " @ (" + vector(state.shape[1], 1) + ")";
  }
  shape = {state.shape[1]};
  if (dice.chance(0.15)) {
    Text key = vector(state.shape[0], 0), value = vector(state.shape[1], 0);
    return "(" + vector(state.shape[0], 0) + ") @ (" + s + " + outer(" + key + ", " + value + "))";
  }
  return "(" + vector(state.shape[0], 1) + ") @ " + s;
}

/// The value made to fit another shape, linearly.
Text Generator::bring(Text value, const std::vector<Dim> &from, const std::vector<Dim> &to) {
  if (from == to) return value;
  if (from.empty()) return "(" + value + ") * (" + vector(to[0], 0) + ")";
  if (to.empty()) return dice.chance(0.5) ? "mean(" + value + ")" : "dot(" + value + ", " + vector(from[0], 0) + ")";
  return input("shared", {to[0], from[0]}) + " @ (" + value + ") * rsqrt(" + from[0] + ")";
}

Text Generator::output(const std::vector<State> &states, const std::vector<Named> &reads) {
  std::vector<Dim> shape;
  Text result;
  auto term = [&](std::vector<Dim> &shape) {
    if (!reads.empty() && dice.chance(0.5)) {
      const Named &one = dice.pick(reads);
      shape = one.shape;
      return one.name;
    }
    return read(dice.pick(states), shape);
  };
  result = "(" + term(shape) + ")";
  for (unsigned more = dice.below(3); more--;) {
    std::vector<Dim> other;
    Text value = term(other);
    switch (dice.below(6)) {
    case 0:
      if (other.empty()) {
        result += " / " + dice.pick<Text>({"max(abs(" + value + "), 1)", "(1 + abs(" + value + "))",
                                           "sqrt(1 + (" + value + ")^2)"});
        break;
      }
      [[fallthrough]];
    case 1:
      result = "sigmoid(" + bring(value, other, shape) + ") * (" + result + ")";
      break;
    default:
      result += " + " + bring(value, other, shape);
    }
  }
  for (const State &state : states)
    if (state.isPositive && dice.chance(0.7))
      result = "(" + result + ") / dot(" + state.query + ", " + state.name + ")";
  switch (dice.below(9)) {
  case 0:
    result += " + " + (shape.empty() ? scalar(0) : input("head", shape) + " * (" + vector(shape[0], 0) + ")");
    break;
  case 1:
    result = "(" + result + ") * " + (shape.empty() ? elementwise(scalar(0)) : "silu(" + vector(shape[0], 0) + ")");
    break;
  case 2:
    result = shape.empty() ? "tanh(" + result + ")" : "(" + result + ") @ " + input("shared", {shape[0], anyDim()});
    break;
  case 3:
    result = shape.empty() ? result : "softmax(" + result + ")";
    break;
  case 4:
    result = "where(" + condition() + ", " + result + ", 0)";
    break;
  default:
    break;
  }
  return result;
}

/// A memory and its normaliser under gates without a bound (mLSTM, RWKV-4): what cancels in the ratio may overflow in
/// the sums.
void Generator::gatedRatio() {
  Dim f = anyDim(), v = anyDim();
  bool isMatrix = dice.chance(0.7);
  Text memory = fresh("S"), sum = fresh("z"), gate, forget;
  std::vector<Dim> shape = isMatrix ? std::vector<Dim>{f, v} : std::vector<Dim>{f};
  bool byChannel = !isMatrix && dice.chance(0.5);
  if (!isMatrix && !byChannel) shape = {};
  declare("state", memory, shape);
  declare("state", sum, isMatrix ? std::vector<Dim>{f} : shape);
  std::vector<Dim> gateShape = byChannel ? std::vector<Dim>{f} : std::vector<Dim>{};
  gate = "exp(" + token(gateShape) + ")";
  forget = decay(gateShape);
  if (dice.chance(0.5)) {
    line("let g = " + gate);
    gate = "g";
  }
  Text value = isMatrix ? "" : byChannel ? vector(f, 1) : scalar(1);
  Text key = isMatrix ? vector(f, 1) : "";
  bool isPositive = isMatrix && dice.chance(0.5);
  if (isPositive) key = positive(key);
  Text bonus = "exp(" + token(gateShape) + " + " + input("head", gateShape) + ")";
  if (!isMatrix && dice.chance(0.5))
    line("out = (" + memory + " + " + bonus + " * (" + value + ")) / (" + sum + " + " + bonus + ")");
  else if (!isMatrix) bonus = "";
  if (isMatrix) {
    line(memory + " = (" + forget + ") * " + memory + " + " + gate + " * outer(" + key + ", " + vector(v, 1) + ")");
    line(sum + " = (" + forget + ") * " + sum + " + " + gate + " * (" + key + ")");
    Text query = vector(f, 1);
    if (isPositive)
      return line("out = (" + positive(query) + " @ " + memory + ") / dot(" + positive(query) + ", " + sum + ")");
    Text name = fresh("l");
    line("let " + name + " = " + query);
    return line("out = " + name + " @ " + memory + " / max(abs(dot(" + name + ", " + sum + ")), " +
                dice.pick<Text>({"1", "0.5"}) + ")");
  }
  line(memory + " = (" + forget + ") * " + memory + " + " + gate + " * (" + value + ")");
  line(sum + " = (" + forget + ") * " + sum + " + " + gate);
  if (bonus.empty()) line("out = " + memory + " / " + sum);
}

void Generator::recurrence() {
  std::vector<State> states;
  Dim f = anyDim(), v = anyDim();
  unsigned count = 1 + (dice.chance(0.5) ? 1 : 0) + (dice.chance(0.2) ? 1 : 0);
  for (unsigned i = 0; i < count; ++i) {
    State state;
    unsigned kind = dice.below(10);
    if (kind < 6) state.shape = {dice.chance(0.8) ? f : anyDim(), dice.chance(0.8) ? v : anyDim()};
    else if (kind < 9) state.shape = {f};
    state.name = fresh(state.shape.size() == 2 ? "S" : state.shape.empty() ? "c" : "z");
    if (kind == 8) {
      state.isPositive = true;
      state.query = positive(token({f}));
    }
    declare("state", state.name, state.shape);
    states.push_back(state);
  }
  std::vector<Named> reads;
  Text out;
  auto mayRead = [&] {
    if (dice.chance(0.25)) {
      Text name = fresh("r");
      Named one{name, {}};
      Text value = read(dice.pick(states), one.shape);
      line("let " + name + " = " + value);
      reads.push_back(one);
    }
  };
  bool early = dice.chance(0.15);
  // A positive sum is empty before the first update.
  for (const State &state : states) early &= !state.isPositive;
  mayRead();
  for (size_t i = 0; i < states.size(); ++i) {
    std::vector<State> others;
    for (size_t j = 0; j < states.size(); ++j)
      if (j != i && (j < i || dice.chance(0.3))) others.push_back(states[j]);
    if (early && i + 1 == states.size()) line("out = " + output(states, reads));
    update(states[i], others);
    mayRead();
  }
  if (!early) line("out = " + output(states, reads));
}

GeneratedSpec Generator::run() {
  unsigned kind = dice.below(10);
  if (kind < 3) shortForm();
  else if (kind < 4) weights();
  else if (kind < 5) gatedRatio();
  else recurrence();
  if (inputs.find("  token ") == Text::npos) token({});
  return {"attention random {\n" + inputs + body + "}\n", sizes};
}

} // namespace

GeneratedSpec lintel::fuzz::generateSpec(uint64_t seed) { return Generator(seed).run(); }

#include "SpecValues.h"

using namespace lintel::fuzz;

uint64_t Dice::next() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static Text shapeText(const std::vector<Dim> &shape) {
  Text text;
  for (const Dim &n : shape) text += (text.empty() ? "[" : ", ") + n;
  return text.empty() ? text : text + "]";
}

/// The form with x in place of each `$`.
static Text filled(const Text &form, const Text &x) {
  Text result;
  for (char c : form) result += c == '$' ? "(" + x + ")" : Text(1, c);
  return result;
}

void ValueGenerator::declare(const Text &kind, const Text &name, const std::vector<Dim> &shape) {
  inputs += "  " + kind + " " + name + shapeText(shape) + "\n";
}

Dim ValueGenerator::newDim() {
  Dim n;
  if (dice.chance(0.75)) {
    n = dice.pick<Text>({"dk", "dv", "m", "n", "r"});
    for (const Dim &known : dims)
      if (known == n) return n;
    sizes.emplace_back(n, dice.chance(0.04) ? 17 + dice.below(20) : 1 + dice.below(9));
  } else {
    n = std::to_string(1 + dice.below(5));
  }
  dims.push_back(n);
  return n;
}

Text ValueGenerator::input(const Text &kind, const std::vector<Dim> &shape, double reuse) {
  if (dice.chance(reuse)) {
    std::vector<Text> fitting;
    for (const auto &[of, value] : known)
      if (of == kind && value.shape == shape) fitting.push_back(value.name);
    if (!fitting.empty()) return dice.pick(fitting);
  }
  Text name = fresh(kind == "token" ? "x" : kind == "head" ? "h" : "w");
  declare(kind, name, shape);
  known.push_back({kind, {name, shape}});
  return name;
}

Text ValueGenerator::named(const Text &value, const std::vector<Dim> &shape) {
  if (!letsAllowed || !dice.chance(0.3)) return "(" + value + ")";
  Text name = fresh("l");
  line("let " + name + " = " + value);
  lets.push_back({name, shape});
  return name;
}

Text ValueGenerator::condition() {
  switch (dice.below(5)) {
  case 0:
    return "position < " + std::to_string(dice.below(9));
  case 1:
    return "position == " + std::to_string(dice.below(7));
  case 2:
    return token({}) + " > 0.25";
  case 3:
    return "not (" + token({}) + " <= 0 and position > 2)";
  default:
    return input("head", {}) + " > 0 or " + token({}) + " < -0.5";
  }
}

Text ValueGenerator::elementwise(const Text &x) {
  static const std::vector<Text> forms = {
      "sigmoid($)",     "tanh($)",           "silu($)",        "gelu($)",          "relu($)",   "elu($)",
      "sin($)",         "cos(2 * $)",        "softplus($)",    "abs($)",           "-$",        "exp(tanh($))",
      "exp(-abs($))",   "exp(-softplus($))", "expm1(tanh($))", "log1p(abs($))",    "$^2",       "sqrt(1 + $^2)",
      "rsqrt(1 + $^2)", "$ / (1 + abs($))",  "max($, 0.1)",    "min($, 1)",        "relu($)^2", "0.5 * $",
      "log(0.5 + $^2)", "min(exp($), 3)",    "1 - $",          "abs(tanh($))^1.5", "$ - 0.25",  "2^tanh($)"};
  return filled(dice.pick(forms), x);
}

Text ValueGenerator::positive(const Text &x) {
  static const std::vector<Text> forms = {"elu($) + 1.01", "exp(tanh($))",   "sigmoid($) + 0.01", "softplus($) + 0.05",
                                          "$^2 + 0.1",     "relu($) + 0.05", "exp(-abs($))",      "sqrt($^2 + 0.01)"};
  return "(" + filled(dice.pick(forms), x) + ")";
}

Text ValueGenerator::rate(const Text &x) {
  static const std::vector<Text> forms = {"sigmoid($)",         "exp(-softplus($))", "exp(-abs($))", "1 - sigmoid($)",
                                          "0.5 + 0.5*tanh($)",  "min(abs($), 1)",    "exp(-exp($))", "sigmoid($)^0.25",
                                          "1 / (1 + exp(-$))",  "1 / (1 + $^2)",     "cos($)^2",     "exp(-$^2)",
                                          "sqrt(sigmoid(2*$))", "exp(-0.1 * abs($))"};
  return "(" + filled(dice.pick(forms), x) + ")";
}

Text ValueGenerator::scalar(int depth) {
  if (depth <= 0) {
    switch (dice.below(8)) {
    case 0:
      return number();
    case 1:
      return input("head", {});
    case 2:
      return dice.chance(0.5) ? "1 / (1 + position)" : "cos(position / 5)";
    case 3:
      return dice.chance(0.5) ? input("shared", {}) : "exp(" + token({}) + ")";
    case 4:
      for (const Named &let : lets)
        if (let.shape.empty() && dice.chance(0.5)) return let.name;
      return token({});
    default:
      return token({});
    }
  }
  switch (dice.below(12)) {
  case 0: {
    Dim n = anyDim();
    return "dot(" + vector(n, depth - 1) + ", " + vector(n, depth - 1) + ") * rsqrt(" + n + ")";
  }
  case 1:
    return "mean(" + vector(anyDim(), depth - 1) + ")";
  case 2:
    return dice.pick<Text>({"max(", "min("}) + vector(anyDim(), depth - 1) + ")";
  case 3:
    return "norm(" + vector(anyDim(), depth - 1) + ")";
  case 4: {
    Dim n = anyDim();
    return "(" + vector(n, depth - 1) + ")" + dice.pick<Text>({"[0]", "[" + n + " - 1]"});
  }
  case 5:
    return named(scalar(depth - 1) + dice.pick<Text>({" + ", " - ", " * "}) + scalar(depth - 1), {});
  case 6:
    return "where(" + condition() + ", " + scalar(depth - 1) + ", " + scalar(depth - 1) + ")";
  case 7:
    return dice.pick<Text>({"max(", "min("}) + scalar(depth - 1) + ", " + scalar(depth - 1) + ")";
  case 8:
    return "(" + scalar(depth - 1) + ") / " + positiveScalar(depth - 1);
  default:
    return named(elementwise(scalar(depth - 1)), {});
  }
}

Text ValueGenerator::vector(const Dim &n, int depth) {
  if (depth <= 0) {
    if (n == parameterDim && dice.chance(0.7)) return parameter;
    if (dice.chance(0.3))
      for (const Named &let : lets)
        if (let.shape == std::vector<Dim>{n} && dice.chance(0.5)) return let.name;
    switch (dice.below(8)) {
    case 0:
      return input("head", {n});
    case 1:
      return input("shared", {n});
    case 2:
      return "exp(" + token({n}) + ")"; // no bound on it is known: the exponent may have to travel apart
    default:
      return token({n});
    }
  }
  switch (dice.below(13)) {
  case 0:
    return named(vector(n, depth - 1) + dice.pick<Text>({" + ", " - ", " * "}) + vector(n, depth - 1), {n});
  case 1:
    return "(" + scalar(depth - 1) + ") * (" + vector(n, depth - 1) + ")";
  case 2:
    return named("softmax(" + vector(n, depth - 1) + ")", {n});
  case 3:
    return "cumsum(" + vector(n, depth - 1) + ") / " + n;
  case 4: {
    Dim m = anyDim();
    return named(input("shared", {n, m}) + " @ (" + vector(m, depth - 1) + ") * rsqrt(" + m + ")", {n});
  }
  case 5: {
    Dim m = anyDim();
    return named("(" + vector(m, depth - 1) + ") @ " + input("shared", {m, n}) + " / " + m, {n});
  }
  case 6:
    return "where(" + condition() + ", " + vector(n, depth - 1) + ", " + vector(n, depth - 1) + ")";
  case 7:
    return dice.pick<Text>({"max(", "min("}) + vector(n, depth - 1) + ", " + vector(n, depth - 1) + ")";
  case 8:
    return unit(n, depth - 1);
  case 9: {
    // A number of elements that is known can be put together.
    if (n.find_first_not_of("0123456789") != Text::npos || n == "1") return elementwise(vector(n, depth - 1));
    int64_t size = std::stoll(n), first = 1 + dice.below(static_cast<unsigned>(size - 1));
    Text a = first == 1 ? scalar(depth - 1) : vector(std::to_string(first), depth - 1);
    Text b = size - first == 1 ? scalar(depth - 1) : vector(std::to_string(size - first), depth - 1);
    return "concat(" + a + ", " + b + ")";
  }
  case 10: {
    Text x = vector(n, depth - 1), y = vector(n, depth - 1);
    return "(" + x + ") * cos(position / 7) + (" + y + ") * sin(position / 7)";
  }
  default:
    return named(elementwise(vector(n, depth - 1)), {n});
  }
}

Text ValueGenerator::matrix(const Dim &m, const Dim &n, int depth) {
  switch (depth <= 0 ? 0 : dice.below(5)) {
  case 0:
    return input(dice.pick<Text>({"shared", "token", "head"}), {m, n});
  case 1:
    return "tanh(" + matrix(m, n, depth - 1) + ")";
  case 2:
    return "(" + vector(m, depth - 1) + ") * (" + matrix(m, n, depth - 1) + ")";
  default:
    return "outer(" + vector(m, depth - 1) + ", " + vector(n, depth - 1) + ")";
  }
}

Text ValueGenerator::unit(const Dim &n, int depth) {
  Text x = token({n});
  if (depth > 0 || dice.chance(0.3)) {
    x = fresh("l");
    if (!letsAllowed) return "softmax(" + vector(n, depth) + ")";
    line("let " + x + " = " + vector(n, depth));
    lets.push_back({x, {n}});
  }
  switch (dice.below(4)) {
  case 0:
    return x + " / (0.1 + norm(" + x + "))";
  case 1:
    return x + " * rsqrt(0.01 + dot(" + x + ", " + x + "))";
  case 2:
    return "softmax(" + x + ")";
  default:
    return x + " / max(norm(" + x + "), 0.001)";
  }
}

Text ValueGenerator::decay(const std::vector<Dim> &shape) {
  Text x = shape.empty() ? scalar(dice.below(2)) : shape.size() == 1 ? vector(shape[0], dice.below(2)) : "";
  switch (dice.below(9)) {
  case 0: { // what the arrays are drawn for, -inf among it: used for nothing else (see docs/limits.md, NaN)
    Text name = fresh("x");
    declare("token", name, shape);
    return "exp(" + name + ")";
  }
  case 1:
    return "exp(-exp(" + input("head", shape, 0.1) + ") * softplus(" + token(shape) + "))";
  case 2:
    return input(dice.pick<Text>({"head", "token"}), shape, 0.1);
  case 3:
    if (shape.empty()) return dice.pick<Text>({"0.9", "0.5", "0.99", "1", "1 - 2^-5"});
    return "0.5 * " + rate(x);
  case 4:
    return rate(x) + " * " + rate(scalar(0));
  case 5:
    return "where(" + condition() + ", " + dice.pick<Text>({"0", "1"}) + ", " + rate(x) + ")";
  case 6:
    return "max(" + rate(x) + ", 0.25)";
  default:
    return rate(x);
  }
}

Text ValueGenerator::feature(const Text &x, const Dim &n, Dim &out, bool positiveOnly) {
  parameter = x, parameterDim = n;
  bool lets = letsAllowed;
  letsAllowed = false;
  Text result;
  out = n;
  switch (dice.below(11)) {
  case 9: {
    Dim m = anyDim();
    result = "exp(" + input("shared", {m, n}) + " @ " + x + " * rsqrt(" + n + ") - dot(" + x + ", " + x + ") / 2)";
    out = m;
    positiveOnly = false;
    break;
  }
  case 10:
    result = "concat(exp(" + x + "), exp(-" + x + "))";
    out = "2*" + n;
    positiveOnly = false;
    break;
  case 0:
    result = x;
    break;
  case 1: {
    Dim m = anyDim();
    result = input("shared", {m, n}) + " @ " + x + " * rsqrt(" + n + ")";
    out = m;
    if (dice.chance(0.3)) result = "exp(" + result + " - dot(" + x + ", " + x + ") / 2)";
    break;
  }
  case 2:
    result = "flatten(outer(" + x + ", " + (dice.chance(0.5) ? x : elementwise(x)) + "))";
    out = n + "*" + n;
    break;
  case 3:
    result = "concat(" + elementwise(x) + ", " + elementwise(x) + ")";
    out = "2*" + n;
    break;
  case 4:
    result = "concat(1, " + x + ", " + elementwise(x) + ")";
    out = "2*" + n + "+1";
    break;
  case 5:
    result = "concat(" + x + " * cos(position / 9), " + x + " * sin(position / 9))";
    out = "2*" + n;
    break;
  case 6:
    result = "softmax(" + (dice.chance(0.5) ? x : elementwise(x)) + ")";
    break;
  case 7:
    result = vector(n, 2);
    break;
  default:
    result = elementwise(x);
  }
  if (positiveOnly) result = positive(result);
  parameter = parameterDim = "";
  letsAllowed = lets;
  return result;
}

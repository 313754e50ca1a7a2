// Operators with unbounded exponentials stay finite and right wherever the mathematics is; all others are left alone.
#include "test/unit/transforms/Harness.h"
#include <random>

using namespace mlir;
using namespace lintel;

namespace {

/// The operators of a text, stabilised: its forms and kernels at chunk 4, without specs and single-step forms.
class Stabilized {
public:
  explicit Stabilized(StringRef text, llvm::StringMap<int64_t> dims = {})
      : specs(specsOf(text)), dims(std::move(dims)) {
    if (this->dims.empty()) this->dims = smallDims(*specs);
    forms = formsOf(*specs, this->dims, 4);
    kernels = kernelsOf(*forms);
  }
  Operation *spec() { return &*specs->getBody()->begin(); }
  bool isStabilized() {
    for (RecurrentOp op : forms->getOps<RecurrentOp>()) return !op.getScales().empty();
    return false;
  }
  std::vector<Operation *> all() {
    std::vector<Operation *> ops;
    for (ModuleOp module : {*forms, *kernels})
      for (Operation &op : *module.getBody())
        if (isa<RecurrentOp, ChunkwiseOp>(op) || (isa<KernelOp>(op) && cast<KernelOp>(op).getForm() != "step"))
          ops.push_back(&op);
    return ops;
  }
  void expect(const Arguments &args, const Array &want, StringRef what, double bound = 1e-9) {
    ASSERT_TRUE(isStabilized());
    for (Operation *op : all()) {
      Results got = run(op, args);
      EXPECT_LE(difference(got.out, want), bound) << op->getName().getStringRef().str() << ", " << what.str();
      for (double x : got.out.data)
        ASSERT_TRUE(std::isfinite(x)) << op->getName().getStringRef().str() << ", " << what.str();
    }
  }

  OwningOpRef<ModuleOp> specs, forms, kernels;
  llvm::StringMap<int64_t> dims;
};

std::string example(StringRef name) { return readText((LINTEL_SOURCE_DIR "/examples/specs/" + name + ".attn").str()); }

/// Numbers with few bits, so that adding a constant to them is exact.
Array coarse(ArrayRef<int64_t> shape, unsigned seed, double scale = 1) {
  std::mt19937 random(seed);
  Array a(shape);
  for (double &x : a.data) x = scale * (static_cast<int>(random() % 2049) - 1024) / 1024;
  return a;
}

Array plusConstant(Array a, double c) {
  for (double &x : a.data) x += c;
  return a;
}

Arguments rwkvArguments(int64_t T) {
  Arguments args;
  args.steps = T;
  args.heads = 2;
  args.inputs["k"] = coarse({1, T, 2}, 1, 3);
  args.inputs["v"] = coarse({1, T, 2}, 2);
  args.inputs["w"] = plusConstant(coarse({2}, 3), 1);
  args.inputs["u"] = coarse({2}, 4);
  return args;
}

/// RWKV-4 by its definition, each step's sum taken relative to its largest term.
Array rwkvByHand(const Arguments &args) {
  int64_t T = args.steps, H = args.heads;
  auto in = [&](StringRef name, int64_t i) { return static_cast<long double>(args.inputs.find(name)->second.data[i]); };
  Array out({1, T, H});
  for (int64_t h = 0; h < H; ++h)
    for (int64_t t = 0; t < T; ++t) {
      auto exponent = [&](int64_t j) {
        return j == t ? in("u", h) + in("k", j * H + h) : in("k", j * H + h) - (t - 1 - j) * in("w", h);
      };
      long double top = -INFINITY, num = 0, den = 0;
      for (int64_t j = 0; j <= t; ++j) top = std::max(top, exponent(j));
      for (int64_t j = 0; j <= t; ++j)
        num += std::exp(exponent(j) - top) * in("v", j * H + h), den += std::exp(exponent(j) - top);
      out.data[t * H + h] = static_cast<double>(num / den);
    }
  return out;
}

TEST(Stabilize, Rwkv4IsFiniteForKeysOfAnySize) {
  Stabilized op(example("rwkv4"));
  Arguments args = rwkvArguments(13);
  Array want = rwkvByHand(args);
  EXPECT_LE(difference(run(op.spec(), args).out, want), 1e-12);
  for (double shift : {0.0, 80.0, 1000.0, -1000.0, 1e5}) {
    Arguments shifted = args;
    shifted.inputs["k"] = plusConstant(args.inputs["k"], shift);
    op.expect(shifted, want, "keys moved by " + std::to_string(shift));
  }
}

/// rwkv4's arguments as those of one head whose channels are rwkv4's heads.
Arguments asChannels(const Arguments &args) {
  Arguments r = args;
  r.heads = 1;
  for (auto &entry : r.inputs) {
    Array &a = entry.second;
    if (a.shape.size() == 1) a.shape = {1, args.heads};
    else a.shape = {1, args.steps, 1, args.heads};
  }
  return r;
}

TEST(Stabilize, ChannelsOfOneVectorEachHaveTheirOwn) {
  Stabilized op(example("rwkv4_channels"), {{"d", 2}});
  Arguments args = rwkvArguments(13);
  for (double apart : {0.0, 90.0, 1000.0, 1e4}) {
    Arguments moved = args;
    for (int64_t t = 0; t < 13; ++t) { // the channels change places on the way
      moved.inputs["k"].data[2 * t] += t < 6 ? apart : -apart;
      moved.inputs["k"].data[2 * t + 1] -= t < 6 ? apart : -apart;
    }
    Array want = rwkvByHand(moved);
    want.shape = {1, 13, 1, 2};
    op.expect(asChannels(moved), want, "channels apart by " + std::to_string(apart));
  }
}

TEST(Stabilize, WhatIsSummedOverSharesOne) {
  struct Case {
    const char *text;
    SmallVector<unsigned> ranks; // of the exponents
  };
  for (const Case &one : {
           Case{"attention a { token k[n], v[n]; state a[n], b[n]; a = a + exp(k) * v; b = b + exp(k); out = a / b }",
                {1}},
           Case{"attention b { token k[n], v[n]; state a[n], b[n]; a = a + exp(k) * v; b = b + exp(k); out = a / "
                "sum(b) }",
                {0}},
           // A matrix whose rows carry the exponents of its features.
           Case{"attention c { token k[n], v[m]; state S[n, m], z[n]; S = S + outer(exp(k), v); z = z + exp(k); out = "
                "(S / z)[0] }",
                {1}},
           Case{"attention d { token q[n], k[n], v[m]; state S[n, m], z[n]; S = S + outer(exp(k), v); z = z + exp(k); "
                "out = q @ S / (q . z) }",
                {0}},
           // Two ratios side by side: only the one that is summed over has a common exponent.
           Case{"attention e { token q[n], k[n], l[n], v[n]; state a[n], b[n], c[n], d[n]; a = a + exp(k) * v; b = b + "
                "exp(k); c = c + exp(l) * v; d = d + exp(l); out = a / b + (q . c) / (q . d) }",
                {1, 0}},
       }) {
    Stabilized op(one.text);
    ASSERT_TRUE(op.isStabilized()) << one.text;
    for (RecurrentOp form : op.forms->getOps<RecurrentOp>()) {
      SmallVector<unsigned> ranks;
      for (BlockArgument arg : form.getBody().getArguments().drop_front(form.getInputs().size()))
        if (llvm::is_contained(form.getScales(), int64_t(arg.getArgNumber() - form.getInputs().size())))
          ranks.push_back(cast<RealType>(arg.getType()).getRank());
      EXPECT_EQ(ranks, one.ranks) << one.text;
    }
    Problem p;
    p.steps = 9;
    for (bool initial : {false, true}) {
      p.initial = initial;
      Arguments args = randomArguments(op.spec(), op.dims, p);
      if (args.inputs.count("q"))
        for (double &x : args.inputs["q"].data) x = std::fabs(x) + 1;
      Results want = run(op.spec(), args);
      for (Operation *form : op.all())
        EXPECT_TRUE(sameResults(run(form, args), want)) << one.text << form->getName().getStringRef().str();
    }
  }
}

/// Steps [begin, end) of a batch of one.
Arguments cut(const Arguments &whole, int64_t begin, int64_t end) {
  Arguments piece = whole;
  piece.steps = end - begin, piece.position = begin;
  for (StringRef name : {"k", "v"}) {
    Array &a = piece.inputs[name];
    int64_t row = a.size() / whole.steps;
    a.shape[1] = end - begin;
    a.data.assign(a.data.begin() + begin * row, a.data.begin() + end * row);
  }
  return piece;
}

TEST(Stabilize, ExponentsTravelBetweenForms) {
  Stabilized op(example("rwkv4"));
  Arguments args = rwkvArguments(13);
  for (int64_t t = 2; t < 9; ++t)
    for (int64_t h = 0; h < 2; ++h) args.inputs["k"].data[t * 2 + h] += t < 6 ? 5000 : -5000;
  Array want = rwkvByHand(args);
  for (Operation *first : op.all())
    for (Operation *then : op.all())
      for (int64_t at : {0, 4, 7, 13}) {
        Arguments before = cut(args, 0, at), after = cut(args, at, 13);
        before.takesExponents = after.takesExponents = true;
        Results half = run(first, before);
        ASSERT_EQ(half.exponents.size(), 2u);
        after.initial = half.final, after.exponents = half.exponents;
        Results rest = run(then, after);
        Array joined = half.out;
        joined.shape[1] = 13;
        joined.data.insert(joined.data.end(), rest.out.data.begin(), rest.out.data.end());
        EXPECT_LE(difference(joined, want), 1e-12) << textOf(then) << at;
        for (double x : rest.final["a"].data) EXPECT_TRUE(std::isfinite(x));
      }
}

TEST(Stabilize, OneStrongKeyAmongWeakOnes) {
  Stabilized op(example("rwkv4"));
  for (double strong : {800.0, 1000.0, -1000.0, 5000.0}) {
    Arguments args = rwkvArguments(11);
    for (int64_t h = 0; h < 2; ++h) args.inputs["k"].data[5 * 2 + h] = strong;
    op.expect(args, rwkvByHand(args), "key of " + std::to_string(strong));
  }
}

TEST(Stabilize, AnOldStrongKeyFadesAway) {
  // After 250 steps of decay exp(-10) the first key is nothing beside the others; a maximum that did not decay would
  // hide them for ever.
  Stabilized op(example("rwkv4"));
  Arguments args = rwkvArguments(260);
  for (double &w : args.inputs["w"].data) w = 10;
  args.inputs["k"] = plusConstant(args.inputs["k"], -1000);
  args.inputs["k"].data[0] = args.inputs["k"].data[1] = 1000;
  op.expect(args, rwkvByHand(args), "faded");
}

TEST(Stabilize, AKeyOfMinusInfinityAddsNothing) {
  Stabilized op(example("rwkv4"));
  Arguments args = rwkvArguments(9);
  for (int64_t t : {3, 4, 8}) args.inputs["k"].data[t * 2] = -INFINITY;
  op.expect(args, rwkvByHand(args), "-inf");
}

/// FAVOR+ as a sum over pairs, in logarithms.
Array favorByHand(const Arguments &args, int64_t m, int64_t d, int64_t n) {
  int64_t T = args.steps;
  auto &q = args.inputs.find("q")->second.data, &k = args.inputs.find("k")->second.data,
       &v = args.inputs.find("v")->second.data, &omega = args.inputs.find("omega")->second.data;
  auto logFeature = [&](const std::vector<double> &x, int64_t t, int64_t c) {
    long double s = 0, norm = 0, r = std::pow(static_cast<long double>(d), -0.25L);
    for (int64_t i = 0; i < d; ++i) {
      s += static_cast<long double>(omega[c * d + i]) * x[t * d + i] * r;
      norm += static_cast<long double>(x[t * d + i]) * x[t * d + i];
    }
    return s - norm / std::sqrt(static_cast<long double>(d)) / 2;
  };
  Array out({1, T, 1, n});
  for (int64_t t = 0; t < T; ++t) {
    long double top = -INFINITY, den = 0;
    std::vector<long double> num(n);
    auto each = [&](auto f) {
      for (int64_t j = 0; j <= t; ++j)
        for (int64_t c = 0; c < m; ++c) f(j, logFeature(q, t, c) + logFeature(k, j, c));
    };
    each([&](int64_t, long double s) { top = std::max(top, s); });
    each([&](int64_t j, long double s) {
      den += std::exp(s - top);
      for (int64_t e = 0; e < n; ++e) num[e] += std::exp(s - top) * v[j * n + e];
    });
    for (int64_t e = 0; e < n; ++e) out.data[t * n + e] = static_cast<double>(num[e] / den);
  }
  return out;
}

Arguments favorArguments(double scale, int64_t T = 9) {
  Arguments args;
  args.steps = T;
  args.inputs["q"] = coarse({1, T, 1, 3}, 1, scale);
  args.inputs["k"] = coarse({1, T, 1, 3}, 2, scale);
  args.inputs["v"] = coarse({1, T, 1, 5}, 3);
  args.inputs["omega"] = coarse({4, 3}, 4, 2);
  return args;
}

TEST(Stabilize, FavorIsFiniteForLargeQueriesAndKeys) {
  Stabilized op(example("favor"), {{"dk", 3}, {"dv", 5}, {"m", 4}});
  for (double scale : {1.0, 20.0, 60.0, 300.0}) {
    Arguments args = favorArguments(scale);
    op.expect(args, favorByHand(args, 4, 3, 5), "scale " + std::to_string(scale), 1e-8);
  }
}

TEST(Stabilize, ALaterKeyChangesNoEarlierBit) {
  Stabilized op(example("favor"), {{"dk", 3}, {"dv", 5}, {"m", 4}});
  Arguments args = favorArguments(2), other = args;
  for (int64_t i = 0; i < 3; ++i) other.inputs["k"].data[5 * 3 + i] *= 100;
  for (Operation *form : op.all()) {
    Array a = run(form, args).out, b = run(form, other).out;
    EXPECT_TRUE(std::equal(a.data.begin(), a.data.begin() + 5 * 5, b.data.begin()))
        << form->getName().getStringRef().str();
    EXPECT_NE(a.data, b.data);
  }
}

TEST(Stabilize, MlstmGatesOfAnySize) {
  for (StringRef name : {"mlstm", "mlstm_short"}) {
    Stabilized op(example(name), {{"dk", 3}, {"dv", 5}});
    bool isShort = name == "mlstm_short";
    for (double gate : {0.0, 50.0, 1000.0, -1000.0}) {
      int64_t T = 7;
      Arguments args;
      args.steps = T;
      args.inputs["q"] = coarse({1, T, 1, 3}, 1);
      args.inputs[isShort ? "key" : "k"] = coarse({1, T, 1, 3}, 2);
      args.inputs["v"] = coarse({1, T, 1, 5}, 3);
      args.inputs["f"] = plusConstant(coarse({1, T, 1}, 4), 2);
      args.inputs["i"] = plusConstant(coarse({1, T, 1}, 5), gate);
      auto at = [&](StringRef input, int64_t i) { return static_cast<long double>(args.inputs[input].data[i]); };
      Array want({1, T, 1, 5});
      for (int64_t t = 0; t < T; ++t) {
        long double top = -INFINITY, den = 0, num[5] = {};
        auto exponent = [&](int64_t j) {
          long double s = at("i", j);
          for (int64_t l = j + 1; l <= t; ++l) s -= std::log1p(std::exp(-at("f", l)));
          return s;
        };
        for (int64_t j = 0; j <= t; ++j) top = std::max(top, exponent(j));
        for (int64_t j = 0; j <= t; ++j) {
          long double dot = 0;
          for (int64_t c = 0; c < 3; ++c)
            dot += at("q", t * 3 + c) * at(isShort ? "key" : "k", j * 3 + c) / std::sqrt(3.0L);
          long double w = std::exp(exponent(j) - top) * dot;
          den += w;
          for (int64_t e = 0; e < 5; ++e) num[e] += w * at("v", j * 5 + e);
        }
        den = std::max(std::fabs(den), std::exp(-top));
        for (int64_t e = 0; e < 5; ++e) want.data[t * 5 + e] = static_cast<double>(num[e] / den);
      }
      op.expect(args, want, "gate " + std::to_string(gate));
    }
  }
}

TEST(Stabilize, NothingOverOneIsNothing) {
  // max(|q . n|, 1) is at least 1, though beside an exponent of 2000 that is not seen.
  Stabilized op(example("mlstm"), {{"dk", 3}, {"dv", 5}});
  Arguments args;
  args.steps = 5;
  args.inputs["q"] = Array({1, 5, 1, 3});
  args.inputs["k"] = coarse({1, 5, 1, 3}, 2);
  args.inputs["v"] = coarse({1, 5, 1, 5}, 3);
  args.inputs["f"] = Array({1, 5, 1}, 5);
  args.inputs["i"] = Array({1, 5, 1}, 2000);
  op.expect(args, Array({1, 5, 1, 5}), "queries of zero");
}

TEST(Stabilize, SplitsChangeNoBit) {
  for (StringRef name : {"rwkv4", "rwkv4_channels", "favor", "mlstm"}) {
    Stabilized op(example(name));
    Problem p;
    p.steps = 8;
    p.heads = 1;
    Arguments args = randomArguments(op.spec(), op.dims, p);
    for (Operation *form : op.all()) {
      Results whole = run(form, args), got;
      std::vector<double> out;
      for (int64_t t = 0; t < 8; t += 4) {
        Arguments piece = args;
        piece.steps = 4;
        for (auto &entry : got.final) piece.initial[entry.getKey()] = entry.second;
        for (Attribute attr : op.spec()->getAttrOfType<ArrayAttr>("inputs")) {
          auto param = cast<ParamAttr>(attr);
          if (param.getKind() != InputKind::Token) continue;
          Array &a = piece.inputs[param.getName()];
          int64_t each = a.size() / 8;
          a.data = std::vector<double>(a.data.begin() + t * each, a.data.begin() + (t + 4) * each);
          a.shape[1] = 4;
        }
        got = run(form, piece);
        out.insert(out.end(), got.out.data.begin(), got.out.data.end());
      }
      // What lies before a split is a state in one run and pairs of steps in the other: another order of the same sum.
      auto kernel = dyn_cast<KernelOp>(form);
      if (isa<ParallelOp>(form) || (kernel && kernel.getForm() == "parallel")) {
        got.out.shape = whole.out.shape;
        got.out.data = out;
        EXPECT_TRUE(sameResults(got, whole, 1e-12)) << name.str();
        continue;
      }
      EXPECT_EQ(out, whole.out.data) << name.str() << " " << form->getName().getStringRef().str();
      for (auto &entry : whole.final)
        EXPECT_EQ(got.final[entry.getKey()].data, entry.second.data) << name.str() << " " << entry.getKey().str();
    }
  }
}

TEST(Stabilize, WhatNeedsNothingIsLeftAlone) {
  for (StringRef name : {"identity", "elu", "retnet", "gla", "scalar_gate", "mamba2", "rwkv6", "rwkv7", "kda",
                         "efficient", "hedgehog", "slots", "moving_average"})
    EXPECT_FALSE(Stabilized(example(name)).isStabilized()) << name.str();
}

TEST(Stabilize, WhatDoesNotCancelIsLeftAlone) {
  for (const char *text : {
           "attention a { token q[n], k[n], v[n]; feature(x) = exp(x) }",
           "attention b { token q[n], k[n], v[n], g; state S[n, n]; S = S + exp(g) * outer(k, v); out = q @ S }",
           // The divisor's exponent is another than the numerator's.
           "attention c { token q[n], k[n], v[n], g; state S[n, n], z[n]; S = S + exp(g) * outer(k, v); z = z + exp(2 "
           "* g) * k; out = q @ S / (q . z) }",
       })
    EXPECT_FALSE(Stabilized(text).isStabilized()) << text;
}

TEST(Stabilize, OtherNormalisers) {
  for (const char *text : {
           "attention a { token q[n], k[n], v[n]; feature(x) = exp(x); normalize }",
           "attention b { token q[n], k[n], v[n]; feature(x) = exp(x); normalize den + 1e-6 }",
           "attention c { token q[n], k[n], v[n], g; feature(x) = concat(exp(x), exp(-x)); decay exp(g); normalize }",
           "attention d { token q[n], k[n], v[n], g[n]; feature(x) = exp(x)^2; decay exp(g); normalize 2 * den }",
           "attention e { token k, v; state a, b; a = a + exp(k) * v; b = b + exp(k); out = where(v > 0, a / b, -a / "
           "b) }",
           "attention f { token k, v, g; state a, b; a = exp(g) * a + exp(k) * v; b = exp(g) * b + exp(k); out = a / "
           "max(b, 0.001) }",
       }) {
    Stabilized op(text);
    EXPECT_TRUE(op.isStabilized()) << text;
    for (bool initial : {false, true}) {
      Problem p;
      p.steps = 9;
      p.initial = initial;
      Arguments args = randomArguments(op.spec(), op.dims, p);
      for (auto &entry : args.inputs) // past what is exp's alone
        if (entry.getKey() != "g")
          for (double &x : entry.second.data) x *= 8;
      Results want = run(op.spec(), args);
      for (Operation *form : op.all())
        EXPECT_TRUE(sameResults(run(form, args), want)) << text << form->getName().getStringRef().str();
    }
  }
}

TEST(Stabilize, BidirectionalOperatorsToo) {
  Stabilized op(example("rff_softmax"), {{"dk", 3}, {"dv", 5}, {"m", 4}});
  EXPECT_TRUE(op.isStabilized());
  Arguments args = favorArguments(1);
  args.dimensions = op.dims;
  Array small = run(op.spec(), args).out;
  op.expect(args, small, "small");
  // A key far longer than all others decides alone, for every query.
  for (int64_t i = 0; i < 3; ++i) args.inputs["k"].data[4 * 3 + i] = 60;
  Array want({1, 9, 1, 5});
  for (int64_t t = 0; t < 9; ++t) std::copy_n(args.inputs["v"].data.begin() + 4 * 5, 5, want.data.begin() + t * 5);
  op.expect(args, want, "one long key");
}

} // namespace

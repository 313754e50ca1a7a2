// Every form and every kernel of every operator means what its spec means.
#include "compiler/transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "test/unit/transforms/Harness.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace lintel;

namespace {

// Shapes of recurrence that the examples do not have.
const char *written = R"(
attention bonus_on_decay {
  token q[dk], k[dk], v[dv], g[dk]
  state S[dk, dv]
  out = q @ (exp(g) * S + outer(2 * k, v)) + v
  S = exp(g) * S + outer(k, v)
}
attention before_and_after {
  token q[dk], k[dk], v[dv], g
  state S[dk, dv]
  let first = q @ S
  S = exp(g) * S + outer(k, v)
  out = first - 0.5 * (q @ S)
}
attention two_pairs {
  token q[dk], k[dk], v[dv], w[dv], g
  state S[dk, dv], z[dk]
  S = sigmoid(g) * S + outer(k, v) - outer(q, w) / 2
  z = z + k
  out = (q @ S) * (q . z)
}
attention scalar_states {
  token x, y, g
  state s, n
  s = exp(g) * s + x * y
  n = 0.5 * n + x
  out = y * s + n * n
}
attention products_of_states {
  token q[dk], k[dk], v[dv], a
  state P[dk, dk], C[dk, dv]
  P = 0.5 * P + outer(k, q)
  C = C + outer(k, v)
  out = q @ (P @ P @ C + a * (P @ C)) + (k @ -(P @ C - 3 * C) / (1 + a * a)) + (P @ C @ v) @ C
}
attention overwritten {
  token q[dk], k[dk], v[dv]
  state S[dk, dv]
  out = q @ S
  S = outer(k, v)
}
attention window_both_sides {
  token q[dk], k[dk], v[dv]
  bidirectional
  weights(a, b) = where(abs(distance) < 3, exp(a . b), 0)
  normalize
}
attention window_ahead {
  token q[dk], k[dk], v[dv]
  bidirectional
  weights(a, b) = where(distance <= 2 and -distance < 7, exp(a . b), 0)
  normalize
}
attention window_dilated {
  token q[dk], k[dk], v[dv]
  weights(a, b) = where(distance < 5 and (distance == 0 or not (distance <= 2)), exp(a . b), 0)
  normalize
}
attention window_and_first {
  token q[dk], k[dk], v[dv]
  weights(a, b) = where(4 > distance or position - distance < 3, exp(a . b), 0)
  normalize
}
attention window_and_first_both_sides {
  token q[dk], k[dk], v[dv]
  bidirectional
  weights(a, b) = where(2 >= abs(distance) or position < 6 + distance, exp(a . b), 0)
  normalize
}
attention window_in_exponent {
  token q[dk], k[dk], v[dv]
  weights(a, b) = exp(where(distance / 3 < 2, a . b, -inf))
  normalize
}
attention window_behind {
  token q[dk], k[dk], v[dv]
  weights(a, b) = where(distance < 3, 0, where(distance >= 7, 0, a . b))
}
attention window_empty {
  token q[dk], k[dk], v[dv]
  bidirectional
  weights(a, b) = where(distance < -1 and distance > 1, a . b, 0)
}
attention negative {
  token q[dk], k[dk], v[dv], g
  state S[dk, dv]
  S = -(tanh(g) * S) - outer(k, v)
  out = -(q @ S)
}
attention rows_read {
  token k[dk], v[dv], w[dv]
  state S[dk, dv]
  S = outer(k, v) + S * 0.5
  out = S @ w
}
attention both_ways {
  token q[dk], k[dk], v[dv], g
  bidirectional
  decay exp(g)
  normalize max(abs(den), 1)
}
attention both_ways_by_exponent {
  token q[dk], k[dk], v[dv], g
  bidirectional
  feature(x) = exp(x)
  decay exp(g)
  normalize
}
attention vector_of_low_rank {
  token k[dk], u[dk], w[dk], x, g
  state s[dk]
  s = sigmoid(g) * s + 0.3 * u * (w . s) + x * k
  out = k . s
}
attention three_terms {
  token q[dk], k[dk], u[dk], w[dk], v[dv], a[dk]
  state S[dk, dv], z[dk]
  let before = q @ S
  S = sigmoid(a) * S + 0.2 * outer(u, w @ S)
  S = S + 0.3 * outer(k, v - k @ S)
  S = S - 0.1 * outer(w, q @ S)
  z = z + k - 0.1 * k * (k . z)
  out = before + (q @ S) * (q . z)
}
attention four_updates {
  token q[dk], k[dk], u[dk], w[dk], v[dv], x[dv], g
  state S[dk, dv]
  S = sigmoid(g) * S + 0.3 * outer(k, v - k @ S)
  S = S + 0.2 * outer(u, x - u @ S)
  S = S + 0.4 * outer(w, v - w @ S)
  S = S + 0.1 * outer(q, x - q @ S) + outer(w, x)
  out = q @ S
}
attention no_state {
  token x[n], y
  out = cumsum(x) * y + position
}
attention passes {
  token q[dk], k[dk], v[dv]
  shared M[dk, dk]
  state S[dk, dv]
  let p = M @ k
  S = S + outer(p, v) + outer(k, 2 * v)
  out = (M @ q) @ S * max(k) + softmax(v)
}
)";

struct Spec {
  std::string name, text;
};

std::vector<Spec> allSpecs() {
  std::vector<Spec> specs;
  for (const std::string &path : exampleSpecs()) specs.push_back({llvm::sys::path::stem(path).str(), readText(path)});
  SmallVector<StringRef> parts;
  StringRef(written).split(parts, "\nattention ", -1, false);
  for (StringRef part : parts)
    if (!part.trim().empty()) specs.push_back({part.split(' ').first.str(), ("attention " + part).str()});
  return specs;
}

class Forms : public testing::TestWithParam<Spec> {
protected:
  void SetUp() override {
    specs = specsOf(GetParam().text);
    ASSERT_TRUE(specs);
    dims = smallDims(*specs);
  }

  static StringRef nameOf(Operation *op) { return SymbolTable::getSymbolName(op).getValue(); }
  /// The operator that a form or kernel came from.
  Operation *specOf(Operation *op) {
    Operation *best = nullptr;
    for (SpecOp spec : specs->getOps<SpecOp>())
      if (nameOf(op).starts_with(spec.getSymName()) && (!best || spec.getSymName().size() > nameOf(best).size()))
        best = spec;
    return best;
  }

  std::vector<Problem> problems(bool longer) {
    std::vector<Problem> result;
    for (int64_t steps : {0, 1, 3, 4, 5, 17}) {
      Problem p;
      p.steps = steps;
      p.seed = 7 + steps;
      p.initial = steps % 2;
      p.grouped = steps > 3;
      p.batch = steps == 4 ? 2 : 1;
      p.position = steps == 5 ? 7 : 0;
      result.push_back(p);
    }
    result.push_back(result.back());
    result.back().resets = true;
    if (longer) result.back().steps = 45;
    return result;
  }

  void compare(ModuleOp module, const Twine &what, bool longer = false) {
    for (const Problem &p : problems(longer))
      for (Operation &op : *module.getBody()) {
        Operation *spec = specOf(&op);
        ASSERT_TRUE(spec) << nameOf(&op).str();
        bool step = isa<StepOp>(op) || (isa<KernelOp>(op) && cast<KernelOp>(op).getForm() == "step");
        if (step && p.steps != 1) continue;
        Arguments args = randomArguments(spec, dims, p);
        EXPECT_TRUE(sameResults(run(&op, args), run(spec, args)))
            << what.str() << " " << nameOf(&op).str() << " T=" << p.steps << (p.resets ? " with resets" : "");
      }
  }

  OwningOpRef<ModuleOp> specs;
  llvm::StringMap<int64_t> dims;
};

TEST_P(Forms, BoundSpecsAreTheSame) {
  OwningOpRef<ModuleOp> bound = specs->clone();
  FormOptions o = options(dims);
  BindDimensionsOptions bind;
  bind.dims.assign(o.dims.begin(), o.dims.end());
  ASSERT_TRUE(runPasses(*bound, [&](OpPassManager &passes) {
    passes.addPass(createBindDimensions(bind));
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
  }));
  compare(*bound, "bound");
}

TEST_P(Forms, FormsAndKernelsAreTheSame) {
  for (int64_t chunk : {0, 1, 2, 4, 5, 16, 21}) {
    auto forms = formsOf(*specs, dims, chunk);
    // Only these depend on the chunk; the spec itself is what all are compared with.
    for (SpecOp spec : llvm::make_early_inc_range(forms->getOps<SpecOp>())) spec.erase();
    if (chunk)
      for (Operation &op : llvm::make_early_inc_range(*forms->getBody()))
        if (!isa<ChunkwiseOp, ParallelOp, StreamedOp>(op)) op.erase();
    compare(*forms, "form, chunk " + Twine(chunk) + ":", chunk == 21);
    auto kernels = kernelsOf(*forms);
    compare(*kernels, "kernel, chunk " + Twine(chunk) + ":", chunk == 21);
    if (HasFailure()) break;
  }
}

TEST_P(Forms, PrintedTextParsesToTheSame) {
  auto forms = formsOf(*specs, dims, 4);
  auto kernels = kernelsOf(*forms);
  for (ModuleOp module : {*specs, *forms, *kernels}) {
    std::string text = textOf(module);
    auto again = parseSourceString<ModuleOp>(text, &context());
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(textOf(*again), text);
  }
}

TEST_P(Forms, SplitSequencesAgree) {
  auto forms = formsOf(*specs, dims, 4);
  auto kernels = kernelsOf(*forms);
  Problem p;
  p.steps = 9;
  p.initial = true;
  auto rows = [](const Array &from, int64_t steps) { return from.size() / std::max<int64_t>(1, steps); };
  auto part = [&](Operation *spec, Arguments args, int64_t from, int64_t to) {
    for (Attribute attr : spec->getAttrOfType<ArrayAttr>("inputs")) {
      auto param = cast<ParamAttr>(attr);
      if (param.getKind() != InputKind::Token) continue;
      Array &a = args.inputs[param.getName()];
      int64_t each = rows(a, args.steps);
      a.data = std::vector<double>(a.data.begin() + from * each, a.data.begin() + to * each);
      a.shape[1] = to - from;
    }
    args.steps = to - from;
    args.position += from;
    return args;
  };
  for (ModuleOp module : {*forms, *kernels})
    for (Operation &op : *module.getBody()) {
      Operation *spec = specOf(&op);
      bool whole = isa<StreamedOp>(op) || spec->walk([](Operation *inner) {
                                                return isa<FinalOp, AttendOp>(inner) ? WalkResult::interrupt()
                                                                                     : WalkResult::advance();
                                              })
                                              .wasInterrupted();
      if (whole) continue; // needs all steps at once
      Arguments args = randomArguments(spec, dims, p);
      Results want = run(spec, args);
      bool step = isa<StepOp>(op) || (isa<KernelOp>(op) && cast<KernelOp>(op).getForm() == "step");
      for (int64_t by : {1, 4}) {
        if (step && by != 1) continue;
        Results got;
        got.out = Array(want.out.shape);
        for (int64_t t = 0; t < p.steps; t += by) {
          Arguments piece = part(spec, args, t, std::min(p.steps, t + by));
          for (auto &entry : got.final) piece.initial[entry.getKey()] = entry.second;
          Results r = run(&op, piece);
          std::copy(r.out.data.begin(), r.out.data.end(), got.out.data.begin() + t * rows(got.out, p.steps));
          got.final = r.final;
        }
        EXPECT_TRUE(sameResults(got, want)) << nameOf(&op).str() << " in pieces of " << by;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Specs, Forms, testing::ValuesIn(allSpecs()), [](const auto &info) { return info.param.name; });

} // namespace

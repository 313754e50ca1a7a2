#include "codegen/halide/StageBuilder.h"
#include "codegen/halide/Autoschedule.h"
#include "codegen/halide/HalideSupport.h"
#include "codegen/halide/ScheduleApplier.h"
#include "codegen/halide/StageExpressions.h"
#include <sstream>

using namespace mlir;
using namespace lintel;
namespace H = Halide;

void lintel::collectCaptures(ArrayRef<StageOp> stages, SmallVectorImpl<Value> &tensors,
                             SmallVectorImpl<Value> &indices) {
  llvm::SmallPtrSet<Operation *, 16> inside;
  for (StageOp stage : stages) inside.insert(stage);
  llvm::DenseSet<Value> seen;
  auto add = [&](Value v) {
    if (v.getDefiningOp() && inside.contains(v.getDefiningOp())) return;
    if (!seen.insert(v).second) return;
    bool scalar = v.getType().isIndex() || isa_and_present<StartOp, GivenOp, TakenOp>(v.getDefiningOp());
    (scalar ? indices : tensors).push_back(v);
  };
  for (StageOp stage : stages) {
    for (Value v : stage->getOperands()) add(v);
    stage.getBody().walk([&](Operation *op) {
      if (isa<StepsOp, StartOp, GivenOp, TakenOp>(op)) add(op->getResult(0));
      for (Value v : op->getOperands())
        if (!stage.getBody().isAncestor(v.getParentRegion()) &&
            !isa_and_present<arith::ConstantIndexOp>(v.getDefiningOp()) &&
            !isa_and_present<ConstantOp>(v.getDefiningOp()))
          add(v);
    });
  }
}

namespace {

H::Target targetOf(const GroupRequest &request) {
  StringRef triple = request.triple;
  H::Target t(H::Target::Linux, triple.starts_with("aarch64") ? H::Target::ARM : H::Target::X86, 64);
  auto has = [&](StringRef feature) {
    SmallVector<StringRef> words;
    StringRef(request.features).split(words, ',');
    return llvm::is_contained(words, ("+" + feature).str());
  };
  if (t.arch == H::Target::X86 && request.vectorBits >= 256) {
    for (auto f : {H::Target::SSE41, H::Target::AVX, H::Target::AVX2, H::Target::FMA, H::Target::F16C})
      t.set_feature(f);
    if (request.vectorBits >= 512 || has("avx512f"))
      for (auto f : {H::Target::AVX512, H::Target::AVX512_Skylake}) t.set_feature(f);
  }
  // StrictFloat: Halide takes floats for reals otherwise, and would fold what infinities and NaN decide.
  for (auto f : {H::Target::NoAsserts, H::Target::NoBoundsQuery, H::Target::NoRuntime, H::Target::StrictFloat})
    t.set_feature(f);
  return t;
}

std::string describe(const H::Func &f) {
  std::ostringstream os;
  auto args = [&](const std::vector<H::Expr> &list) {
    for (size_t i = 0; i < list.size(); ++i) os << (i ? ", " : "") << list[i];
  };
  std::vector<H::Expr> pure;
  for (const H::Var &v : f.args()) pure.push_back(v);
  os << f.name() << "(";
  args(pure);
  os << ") = " << f.value() << "\n";
  for (int u = 0; u < f.num_update_definitions(); ++u) {
    os << f.name() << "(";
    args(f.update_args(u));
    os << ") = " << f.update_value(u) << "\n";
  }
  return os.str();
}

struct GroupBuilder {
  const GroupRequest &request;
  BuiltGroup &built;
  StageExpressions expressions;
  std::vector<H::Func> outputs;
  H::Module module;

  GroupBuilder(const GroupRequest &request, BuiltGroup &built)
      : request(request), built(built), expressions(request), module("", H::Target()) {}

  void run(ArrayRef<StageSchedule> schedules) {
    expressions.addImages(built.tensors, built.indices);
    bool automatic = !request.autoscheduler.empty();
    std::vector<AutoscheduledOutput> scheduled; // where it is automatic
    for (size_t i = 0; i < request.stages.size(); ++i) {
      size_t at = i;
      while (schedules[at].inlined)
        at = llvm::find(request.stages, userOf(request.stages[at])) - request.stages.begin();
      expressions.build(request.stages[i], schedules[at].rows);
    }
    // A stage that is written into its user brings its accumulators along.
    size_t n = request.stages.size();
    std::vector<std::vector<StageExpressions::Accumulator>> accumulators(n);
    for (size_t i = 0; i < n; ++i) accumulators[i] = expressions.stages[i].accumulators;
    for (size_t i = 0; i < n; ++i) {
      if (!schedules[i].inlined) continue;
      StageOp user = userOf(request.stages[i]);
      size_t to = expressions.stageOf.lookup(user.getResult());
      accumulators[to].insert(accumulators[to].end(), accumulators[i].begin(), accumulators[i].end());
    }
    std::string text;
    DenseMap<Operation *, H::Func> stored;
    for (const GroupOutput &out : request.outputs) {
      size_t i = expressions.stageOf.lookup(out.stage->getResult(0));
      H::Func f = expressions.stages[i].func;
      if (StageExpressions::halideType(out.layout.dtype) != expressions.stageType(out.stage) || f.args().empty()) {
        H::Func store(f.name() + "_out");
        std::vector<H::Var> vars = f.args();
        std::vector<H::Expr> at(vars.begin(), vars.end());
        if (vars.empty()) vars.push_back(H::Var("one"));
        store(vars) = H::cast(StageExpressions::halideType(out.layout.dtype), f(at));
        stored[out.stage] = store;
        f = store;
      }
      auto buffer = f.output_buffer();
      auto sizes = StageOp(out.stage).getType().getSizes();
      int64_t stride = 1;
      for (int d = 0; d < std::max<int>(sizes.size(), 1); ++d) {
        int64_t size = sizes.empty() ? 1 : sizes[sizes.size() - 1 - d];
        buffer.dim(d).set_bounds(0, static_cast<int>(size));
        if (d == 0 || !out.layout.openStrides) buffer.dim(d).set_stride(static_cast<int>(stride));
        stride *= size;
      }
      if (out.layout.aligned) buffer.set_host_alignment(64);
      outputs.push_back(f);
      scheduled.push_back({f, std::vector<int64_t>(sizes.rbegin(), sizes.rend()), out.inPlace});
    }
    if (automatic) autoschedule(scheduled, request.autoscheduler, targetOf(request), text);
    for (size_t i = 0; i < n; ++i) {
      if (schedules[i].inlined || automatic) continue;
      auto &stage = expressions.stages[i];
      auto it = stored.find(request.stages[i]);
      bool scalar = stage.vars.empty();
      if (it == stored.end())
        applySchedule(stage.func, stage, schedules[i], accumulators[i], stage.op.isSerial(), text);
      else if (scalar || stage.op.isSerial() || !onlyStored(stage.op)) {
        applySchedule(stage.func, stage, schedules[i], accumulators[i], stage.op.isSerial(), text);
        if (!scalar) applySchedule(it->second, stage, schedules[i], {}, false, text);
        else it->second.compute_root();
      } else applySchedule(it->second, stage, schedules[i], accumulators[i], false, text);
    }
    int64_t lanes = request.vectorBits / (request.compute == LINTEL_F64 ? 64 : 32);
    if (!automatic) {
      for (const auto &stage : expressions.stages)
        for (const H::Func &mask : stage.masks) scheduleMask(mask, stage, lanes);
      for (const auto &t : expressions.transposes) scheduleTransposed(t, lanes, text);
      for (const auto &p : expressions.packs) schedulePacked(p, lanes, text);
    }
    built.text = "pipeline " + request.name + "\n";
    for (const auto &t : expressions.transposes) built.text += describe(t.func);
    for (const auto &p : expressions.packs) built.text += describe(p.func);
    for (const auto &stage : expressions.stages) {
      for (const auto &a : stage.accumulators) built.text += describe(a.func);
      built.text += describe(stage.func);
    }
    built.text += "schedule\n" + text;
    auto lower = [&] {
      module = H::Pipeline(outputs).compile_to_module(expressions.arguments, request.name, targetOf(request));
    };
    if (automatic) lowerAutoscheduled(lower);
    else lower();
  }

  /// The one stage that an inlined stage is written into.
  static StageOp userOf(StageOp stage) { return cast<AtOp>(*stage->getUsers().begin())->getParentOfType<StageOp>(); }

  /// Whether no other stage of the group uses the result.
  bool onlyStored(StageOp stage) {
    for (Operation *user : stage->getUsers()) {
      auto in = user->getParentOfType<StageOp>();
      if (in && llvm::is_contained(request.stages, in)) return false;
      if (auto s = dyn_cast<StageOp>(user); s && llvm::is_contained(request.stages, s)) return false;
    }
    return true;
  }
};

} // namespace

bool lintel::isIdle(SelectOp select, ArrayRef<Value> finite) {
  if (finite.empty()) return false;
  SmallVector<Value> against = guardedFactors(select);
  return !against.empty() && llvm::all_of(against, [&](Value v) { return llvm::is_contained(finite, v); });
}

FailureOr<BuiltGroup> lintel::buildGroup(ModuleOp loops, const GroupRequest &request) {
  BuiltGroup built;
  collectCaptures(request.stages, built.tensors, built.indices);
  SmallVector<StageSchedule> schedules;
  for (StageOp stage : request.stages) {
    bool inPlace = llvm::any_of(request.outputs, [&](const GroupOutput &o) { return o.stage == stage && o.inPlace; });
    auto s = scheduleOf(stage, inPlace);
    if (failed(s)) return failure();
    schedules.push_back(request.autoscheduler.empty() ? *s : StageSchedule());
  }
  Location loc = StageOp(request.stages.front()).getLoc();
  std::optional<GroupBuilder> builder;
  auto error = guardHalide([&] {
    builder.emplace(request, built);
    builder->run(schedules);
  });
  if (error) return emitError(loc, "stages of '") << request.name << "' could not be built: " << *error;
  ImportOptions options;
  options.pairs = request.pairs;
  options.maxScratchBytes = int64_t(1) << 30; // what is large does not stay on the stack
  auto imported = importStmt(loops, builder->module.functions().front(), request.name, options, loc);
  if (failed(imported)) return failure();
  built.fn = imported->fn;
  built.strides = imported->strides;
  return built;
}

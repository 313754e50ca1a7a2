#include "codegen/halide/ScheduleApplier.h"

using namespace lintel;
namespace H = Halide;

/// Partial sums fill a vector; some elements of the stage at a time, whose sums stay in registers.
static void scheduleAlongRow(const StageExpressions::Accumulator &a, int panel, int rows) {
  H::Func acc = a.func;
  std::vector<H::Var> v = acc.args();
  acc.bound_extent(v[0], a.lanes).bound_extent(v[1], panel).vectorize(v[0]).unroll(v[1]);
  for (unsigned d = 2; d < v.size(); ++d) acc.bound_extent(v[d], d == 2 ? rows : 1);
  H::Var co("co"), ci("ci");
  int together = panel;
  while (together > 8 && together % 2 == 0) together /= 2;
  auto update = acc.update(0);
  update.split(v[1], co, ci, together);
  std::vector<H::VarOrRVar> order{v[0], ci, a.reductions[0], co};
  for (unsigned d = 2; d < v.size(); ++d) order.push_back(v[d]);
  update.reorder(order).vectorize(v[0]).unroll(ci);
}

void lintel::applySchedule(H::Func f, const StageExpressions::Stage &stage, const StageSchedule &s,
                           const std::vector<StageExpressions::Accumulator> &accumulators, bool serial,
                           std::string &text) {
  StageOp op = stage.op;
  std::vector<H::Var> v = f.args();
  auto sizes = op.getType().getSizes();
  unsigned rank = sizes.size();
  auto size = [&](unsigned d) { return sizes[rank - 1 - d]; };
  text += "  " + f.name() + ": " + s.str() + "\n";
  f.compute_root();
  for (unsigned d = 0; d < rank; ++d) f.bound(v[d], 0, static_cast<int>(size(d)));
  if (serial) {
    // In order along the first axis, which is the outermost loop; vectors along the innermost other one.
    if (rank < 2) return;
    auto lanes = static_cast<int>(s.vector);
    if (op.getSolve() && s.vector > 1)
      f.vectorize(v[0], lanes, size(0) % s.vector ? H::TailStrategy::ShiftInwards : H::TailStrategy::RoundUp);
    auto update = f.update(0);
    std::vector<H::VarOrRVar> order;
    for (unsigned d = 0; d + 1 < rank; ++d) order.push_back(v[d]);
    if (op.getSolve()) order.push_back(stage.solved);
    order.push_back(stage.serial);
    update.reorder(order);
    if (s.vector > 1)
      update.vectorize(v[0], static_cast<int>(s.vector),
                       size(0) % s.vector ? H::TailStrategy::GuardWithIf : H::TailStrategy::RoundUp);
    return;
  }
  if (rank == 0) {
    for (const auto &a : accumulators) {
      H::Func acc = a.func;
      acc.compute_root();
    }
    return;
  }
  int panel = static_cast<int>(s.vector * s.panel), rows = rank > 1 ? static_cast<int>(s.rows) : 1;
  auto tail = [](int64_t n, int64_t by) { return n % by ? H::TailStrategy::ShiftInwards : H::TailStrategy::RoundUp; };
  H::Var xo("xo"), xi("xi"), yo("yo"), yi("yi"), xv("xv");
  f.split(v[0], xo, xi, panel, tail(size(0), panel));
  std::vector<H::VarOrRVar> order;
  if (rank > 1) {
    f.split(v[1], yo, yi, rows, tail(size(1), rows));
    order = {xi, yi, xo, yo};
  } else {
    order = {xi, xo};
  }
  for (unsigned d = 2; d < rank; ++d) order.push_back(v[d]);
  f.reorder(order);
  auto lanes = [&](auto stageOrFunc, H::Var x) {
    if (s.vector > 1) stageOrFunc.vectorize(x, static_cast<int>(s.vector));
    if (s.panel > 1) stageOrFunc.unroll(x);
  };
  f.split(xi, xi, xv, static_cast<int>(s.vector), H::TailStrategy::RoundUp).unroll(xi);
  if (s.vector > 1) f.vectorize(xv);
  if (rank > 1) f.unroll(yi);
  for (const auto &a : accumulators) {
    H::Func acc = a.func;
    std::vector<H::Var> av = acc.args();
    acc.compute_at(f, xo);
    if (a.lanes) {
      scheduleAlongRow(a, panel, rows);
      continue;
    }
    // The exact tile: a select in the user must not shrink it to a size that depends on the loop.
    acc.bound_extent(av[0], panel);
    if (rank > 1) acc.bound_extent(av[1], rows);
    for (unsigned d = 2; d < av.size(); ++d) acc.bound_extent(av[d], 1);
    lanes(acc, av[0]);
    if (rank > 1) acc.unroll(av[1]);
    for (unsigned u = 0; u < a.reductions.size(); ++u) {
      auto update = acc.update(static_cast<int>(u));
      std::vector<H::VarOrRVar> inner;
      for (auto &var : av) inner.push_back(var);
      inner.push_back(a.reductions[u]);
      update.reorder(inner);
      lanes(update, av[0]);
      if (rank > 1) update.unroll(av[1]);
      if (a.unrolled[u]) update.unroll(a.reductions[u]);
    }
  }
}

void lintel::scheduleMask(H::Func f, const StageExpressions::Stage &stage, int64_t lanes) {
  StageOp op = stage.op;
  auto sizes = op.getType().getSizes();
  f.compute_root();
  for (unsigned d = 0; d < sizes.size(); ++d) f.bound(f.args()[d], 0, static_cast<int>(sizes[sizes.size() - 1 - d]));
  if (sizes.back() % lanes == 0) f.vectorize(f.args()[0], static_cast<int>(lanes));
}

void lintel::scheduleTransposed(const StageExpressions::Transposed &t, int64_t lanes, std::string &text) {
  H::Func f = t.func;
  f.compute_root();
  for (unsigned d = 0; d < t.vars.size(); ++d) f.bound(t.vars[d], 0, static_cast<int>(t.sizes[d]));
  int64_t along = t.sizes[0], from = t.sizes[t.oldInner];
  text += "  " + f.name() + ": transpose\n";
  if (along % lanes || from % lanes || lanes == 1) {
    if (from > 1) {
      std::vector<H::VarOrRVar> order{t.vars[t.oldInner], t.vars[0]};
      for (unsigned d = 1; d < t.vars.size(); ++d)
        if (d != t.oldInner) order.push_back(t.vars[d]);
      f.reorder(order);
    }
    return;
  }
  H::Var jo("jo"), ji("ji"), co("co"), ci("ci");
  f.split(t.vars[t.oldInner], co, ci, static_cast<int>(lanes)).split(t.vars[0], jo, ji, static_cast<int>(lanes));
  std::vector<H::VarOrRVar> order{ci, ji, co, jo};
  for (unsigned d = 1; d < t.vars.size(); ++d)
    if (d != t.oldInner) order.push_back(t.vars[d]);
  f.reorder(order).vectorize(ci).unroll(ji);
}

void lintel::schedulePacked(const StageExpressions::Packed &p, int64_t lanes, std::string &text) {
  H::Func f = p.func;
  f.compute_root();
  for (unsigned d = 0; d < p.vars.size(); ++d) f.bound(p.vars[d], 0, static_cast<int>(p.sizes[d]));
  lanes = std::min(lanes, p.sizes[0]);
  text += "  " + f.name() + ": pairs vector " + std::to_string(lanes) + "\n";
  if (lanes > 1)
    f.vectorize(p.vars[0], static_cast<int>(lanes),
                p.sizes[0] % lanes ? H::TailStrategy::ShiftInwards : H::TailStrategy::RoundUp);
}

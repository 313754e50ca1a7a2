// What a chunk costs beyond the caches is the latency of its rows, of which a processor has a few dozen under way:
// asked for at once they would be waited for; between parts of the work before them they come for nothing.
#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace lintel {
#define GEN_PASS_DEF_SPREADPREFETCH
#include "codegen/cpu/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

/// Iterations of a loop whose bounds are not constant.
constexpr int64_t someTrips = 4;
/// A place in the work is a loop body that is reached at least so often, where there is one of so many instructions:
/// the bookkeeping of a place takes a dozen.
constexpr int64_t enoughTrips = 8;
constexpr double leastWork = 200;

int64_t constantTrips(scf::ForOp loop) {
  auto low = getConstantIntValue(loop.getLowerBound()), high = getConstantIntValue(loop.getUpperBound()),
       step = getConstantIntValue(loop.getStep());
  if (!low || !high || !step || *step < 1) return 0;
  return *high > *low ? (*high - *low + *step - 1) / *step : 0;
}

bool isMarked(scf::ForOp loop) { return loop->hasAttr("lintel.prefetch"); }

/// About the instructions of a block, loops counted as often as they run.
double workOf(Block &block) {
  double work = 0;
  for (Operation &op : block) {
    work += op.hasTrait<OpTrait::ConstantLike>() ? 0 : 1;
    auto loop = dyn_cast<scf::ForOp>(op);
    double inside = 0;
    for (Region &region : op.getRegions())
      for (Block &b : region) inside += workOf(b);
    int64_t trips = loop ? constantTrips(loop) : 1;
    work += inside * static_cast<double>(loop && !trips ? someTrips : trips);
  }
  return work;
}

/// A loop nest whose innermost body is one of the places, and how often it is reached.
struct Place {
  SmallVector<scf::ForOp> nest;
  int64_t trips;
  double work;
  int64_t known = 0; ///< rows of marked loops in front of it
};

Place placeIn(scf::ForOp loop) {
  Place place{{loop}, constantTrips(loop), 0};
  double inBody = workOf(*loop.getBody());
  place.work = inBody * static_cast<double>(place.trips);
  while (place.trips < enoughTrips) {
    scf::ForOp inner;
    for (auto next : place.nest.back().getBody()->getOps<scf::ForOp>())
      if (double each = workOf(*next.getBody()), n = static_cast<double>(constantTrips(next));
          n > 1 && each >= leastWork && each * n > 0.6 * inBody)
        inner = next;
    if (!inner) break;
    place.nest.push_back(inner);
    place.trips *= constantTrips(inner);
    inBody = workOf(*inner.getBody());
  }
  return place;
}

/// Rows [first, first + count) of a marked loop.
struct Piece {
  scf::ForOp rows;
  int64_t first, count;
};

/// In iteration n of N of the place, the n-th part of the pieces' rows.
void ask(const Place &place, ArrayRef<Piece> pieces) {
  int64_t total = 0;
  for (const Piece &p : pieces) total += p.count;
  scf::ForOp inner = place.nest.back();
  OpBuilder b(inner.getBody(), inner.getBody()->begin());
  Location loc = inner.getLoc();
  auto constant = [&](int64_t x) { return arith::ConstantIndexOp::create(b, loc, x).getResult(); };
  Value n = constant(0);
  for (scf::ForOp loop : place.nest) {
    Value i = arith::SubIOp::create(b, loc, loop.getInductionVar(), loop.getLowerBound());
    i = arith::DivUIOp::create(b, loc, i, loop.getStep());
    n = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, n, constant(constantTrips(loop))), i);
  }
  const int64_t each = (total + place.trips - 1) / place.trips;
  Value from = arith::MulIOp::create(b, loc, n, constant(each)),
        to = arith::AddIOp::create(b, loc, from, constant(each));
  int64_t before = 0;
  for (const Piece &p : pieces) {
    // Row `first + x` of the piece is number `before + x` of all.
    auto row = [&](Value number) {
      Value x = arith::SubIOp::create(b, loc, number, constant(before));
      x = arith::MinSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, x, constant(0)), constant(p.count));
      return arith::AddIOp::create(b, loc, x, constant(p.first)).getResult();
    };
    auto loop = scf::ForOp::create(b, loc, row(from), row(to), constant(1));
    IRMapping map;
    map.map(scf::ForOp(p.rows).getInductionVar(), loop.getInductionVar());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    for (Operation &op : scf::ForOp(p.rows).getBody()->without_terminator()) b.clone(op, map);
    before += p.count;
  }
}

void spread(Block &block) {
  SmallVector<scf::ForOp> asked;
  SmallVector<Place> places;
  double work = 0;
  int64_t rows = 0;
  SmallVector<scf::ForOp> loops;
  for (Operation &op : block) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) loops.push_back(loop);
    // Of two versions of a group the first is the usual one.
    if (auto choice = dyn_cast<scf::IfOp>(op); choice && choice->hasAttr("lintel.versions"))
      llvm::append_range(loops, choice.thenBlock()->getOps<scf::ForOp>());
  }
  for (scf::ForOp loop : loops) {
    if (isMarked(loop)) {
      asked.push_back(loop);
      rows += constantTrips(loop);
    } else if (!asked.empty() && constantTrips(loop) > 1) {
      Place place = placeIn(loop);
      place.known = rows;
      work += place.work;
      places.push_back(place);
    }
  }
  if (places.empty() || !rows) return;
  // Hardly any work hides nothing.
  llvm::erase_if(places, [&](const Place &p) { return p.work * 20 < work; });
  work = 0;
  for (const Place &p : places) work += p.work;
  auto end = [&](double done) { return static_cast<int64_t>(static_cast<double>(rows) * done / work + 0.5); };
  int64_t at = 0, array = 0, row = 0;
  double done = 0;
  for (const Place &place : places) {
    done += place.work;
    SmallVector<Piece> pieces;
    for (int64_t left = std::min(end(done), place.known) - at; left > 0;) {
      int64_t n = std::min(left, constantTrips(asked[array]) - row);
      pieces.push_back({asked[array], row, n});
      left -= n, at += n, row += n;
      if (row == constantTrips(asked[array])) row = 0, ++array;
    }
    if (!pieces.empty()) ask(place, pieces);
  }
  for (auto [i, loop] : llvm::enumerate(asked)) {
    if (int64_t(i) < array) {
      loop.erase();
    } else if (int64_t(i) == array && row) { // behind all places
      OpBuilder b(loop);
      loop.setLowerBound(arith::ConstantIndexOp::create(b, loop.getLoc(), row));
    }
  }
}

struct SpreadPrefetch : lintel::impl::SpreadPrefetchBase<SpreadPrefetch> {
  using SpreadPrefetchBase::SpreadPrefetchBase;
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](scf::ForOp loop) {
      if (isMarked(loop) && (blocks.empty() || blocks.back() != loop->getBlock())) blocks.push_back(loop->getBlock());
    });
    for (Block *block : blocks) spread(*block);
  }
};

} // namespace

#include "codegen/schedule/StageSchedule.h"
#include "codegen/schedule/StageUse.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace lintel;

std::string StageSchedule::str() const {
  if (packed) return (*packed ? "packed" : "direct") + (ahead == 1 ? "" : " ahead " + std::to_string(ahead));
  if (inlined) return "inline";
  std::string text = "vector " + std::to_string(vector);
  if (panel != 1) text += " panel " + std::to_string(panel);
  if (rows != 1) text += " rows " + std::to_string(rows);
  return text;
}

std::optional<StageSchedule> StageSchedule::parse(StringRef text, std::string &error) {
  StageSchedule s;
  SmallVector<StringRef> words;
  llvm::SplitString(text, words);
  if (words.empty())
    return error = "expected a directive (inline, vector N, panel N, rows N, packed, direct), found nothing",
           std::nullopt;
  if (words[0] == "packed" || words[0] == "direct") {
    s.packed = words[0] == "packed";
    if (words.size() == 1) return s;
    if (words[1] != "ahead" || words.size() > 3)
      return error = "expected nothing or 'ahead N' behind '" + words[0].str() + "', found '" +
                     words[words.size() > 3 ? 3 : 1].str() + "'",
             std::nullopt;
    if (words.size() == 2 || words[2].getAsInteger(10, s.ahead) || s.ahead < 0)
      return error = "expected a number of at least 0 behind 'ahead', found '" +
                     (words.size() == 2 ? "" : words[2].str()) + "'",
             std::nullopt;
    return s;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "inline") {
      s.inlined = true;
      continue;
    }
    int64_t *field = words[i] == "vector"  ? &s.vector
                     : words[i] == "panel" ? &s.panel
                     : words[i] == "rows"  ? &s.rows
                                           : nullptr;
    if (!field)
      return error = "expected inline, vector, panel, rows, packed or direct, found '" + words[i].str() + "'",
             std::nullopt;
    if (i + 1 == words.size() || words[i + 1].getAsInteger(10, *field) || *field < 1)
      return error = "expected a number of at least 1 behind '" + words[i].str() + "', found '" +
                     (i + 1 < words.size() ? words[i + 1].str() : "") + "'",
             std::nullopt;
    ++i;
    // So that products of these numbers fit in 64 bits.
    if (*field > (1 << 20))
      return error = "expected a number of at most 2^20 behind '" + words[i - 1].str() + "', found '" + words[i].str() +
                     "'",
             std::nullopt;
  }
  if (s.inlined && words.size() > 1)
    return error = "expected nothing beside 'inline', found '" + text.str() + "'", std::nullopt;
  return s;
}

namespace {

/// Whether the stage's tiles hold accumulators: its own, or those of stages that are written into it.
bool hasFold(StageOp stage, llvm::SmallPtrSetImpl<Operation *> &seen) {
  std::string why;
  return stage.getBody()
      .walk([&](Operation *op) {
        if (isa<FoldOp>(op)) return WalkResult::interrupt();
        auto at = dyn_cast<AtOp>(op);
        auto producer = at ? at.getX().getDefiningOp<StageOp>() : StageOp();
        return producer && seen.insert(producer).second && canInline(producer, why) && hasFold(producer, seen)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The largest number up to `limit` that divides n.
int64_t divisorUpTo(int64_t n, int64_t limit) {
  for (int64_t d = std::min(n, limit); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

} // namespace

/// Ops of a stage that is inlined, written out at each use of each of its values, inlined stages included.
static constexpr int64_t largestInlined = 1024;

static int64_t writtenSize(Block &block, DenseMap<Value, int64_t> &sizes) {
  std::string why;
  int64_t last = 1;
  for (Operation &op : block) {
    int64_t size = 1;
    auto add = [&](int64_t more) { size = std::min(size + more, largestInlined + 1); };
    for (Value v : op.getOperands()) {
      auto producer = v.getDefiningOp<StageOp>();
      if (producer && isa<AtOp>(op)) {
        auto [it, isNew] = sizes.try_emplace(v, 1);
        if (isNew && canInline(producer, why)) {
          DenseMap<Value, int64_t> inner;
          sizes[v] = writtenSize(producer.getBody().front(), inner);
        }
      }
      add(sizes.lookup(v));
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region) add(writtenSize(inner, sizes));
    for (Value v : op.getResults()) sizes[v] = size;
    last = size; // in the end the terminator's
  }
  return last;
}

bool lintel::canInline(StageOp stage, std::string &reason) {
  if (stage.isSerial()) return reason = "a serial stage is computed in order", false;
  if (isWalked(stage)) return reason = "a stage of a walk is computed in its loops", false;
  StageOp user;
  for (OpOperand &use : stage->getUses()) {
    auto at = dyn_cast<AtOp>(use.getOwner());
    auto in = at ? at->getParentOfType<StageOp>() : StageOp();
    if (!in || in->getBlock() != stage->getBlock() || in.getGroup() != stage.getGroup())
      return reason = "a loop or another group uses it", false;
    if (user && user != in) return reason = "more than one stage uses it", false;
    user = in;
    if (in.isSerial() || at->getParentOp() != in)
      return reason = "it is used inside a reduction or a serial stage", false;
    if (in.getType() != stage.getType() || !llvm::equal(at.getIndices(), in.getBody().getArguments()))
      return reason = "it is used at other indices than its own", false;
  }
  if (!user) return reason = "no stage uses it", false;
  DenseMap<Value, int64_t> sizes;
  if (writtenSize(stage.getBody().front(), sizes) > largestInlined)
    return reason = "it would be written out more than " + std::to_string(largestInlined) + " operations long", false;
  return true;
}

bool lintel::isLegal(StageOp stage, const StageSchedule &s, bool inPlace, std::string &reason) {
  if (s.packed) return reason = "a stage is not '" + s.str() + "', rows of an input are", false;
  if (s.inlined) return canInline(stage, reason);
  auto sizes = stage.getType().getSizes();
  int64_t inner = sizes.empty() ? 1 : sizes.back(), next = sizes.size() > 1 ? sizes[sizes.size() - 2] : 1;
  if (s.vector * s.panel > inner)
    return reason = "expected vector times panel of at most the axis's size " + std::to_string(inner) + ", found " +
                    std::to_string(s.vector * s.panel),
           false;
  if (s.rows > next)
    return reason =
               "expected rows of at most the axis's size " + std::to_string(next) + ", found " + std::to_string(s.rows),
           false;
  if (s.vector * s.panel * s.rows > 4096)
    return reason = "expected at most 4096 elements in registers, found " + std::to_string(s.vector * s.panel * s.rows),
           false;
  // A walk has no tile that overlaps.
  if (inPlace && !isWalked(stage) && (inner % (s.vector * s.panel) || next % s.rows))
    return reason = "it overwrites what it reads, so its tiles must divide its axes", false;
  return true;
}

StageSchedule lintel::chooseSchedule(StageOp stage, const ScheduleTarget &target, bool inPlace) {
  StageSchedule s;
  std::string why;
  if (canInline(stage, why)) {
    s.inlined = true;
    return s;
  }
  auto sizes = stage.getType().getSizes();
  int64_t lanes = std::max(1u, target.vectorBits / target.elementBits);
  int64_t inner = sizes.empty() ? 1 : sizes.back(), next = sizes.size() > 1 ? sizes[sizes.size() - 2] : 1;
  if (isWalked(stage)) { // registers: sums for each vector of a panel, what is added to them, and a state's row
    s.vector = std::min<int64_t>(lanes, llvm::bit_floor(static_cast<uint64_t>(inner)));
    // A whole row where the sums fit, so that memory is gone through in its order; else some columns of some rows.
    int64_t sums = 0, vectors = inner / s.vector;
    stage.getBody().walk([&](FoldOp) { ++sums; });
    bool whole = vectors * std::max<int64_t>(sums, 1) <= target.registers;
    s.panel = std::max<int64_t>(1, whole ? vectors : std::min<int64_t>(vectors, target.registers / 4));
    return s;
  }
  if (stage.isSerial() && sizes.size() == 1) return s; // serial along its only axis
  if (stage.isSerial() && sizes.size() == 2) next = 1;
  if (inner % lanes == 0) s.vector = lanes;
  else if (inner <= lanes) s.vector = inner;
  else s.vector = inPlace ? divisorUpTo(inner, lanes) : lanes;
  llvm::SmallPtrSet<Operation *, 8> seen;
  if (!hasFold(stage, seen)) return s;
  // Accumulators fill about half of the registers: panel loads, one broadcast, and no spill.
  int64_t accumulators = target.registers / 2;
  int64_t vectors = inner / s.vector;
  s.panel = divisorUpTo(vectors, target.registers >= 32 ? 4 : 2);
  int64_t most = std::max<int64_t>(1, accumulators / s.panel);
  s.rows = divisorUpTo(next, most);
  if (!inPlace && s.rows * 2 <= most && next > most) s.rows = most;
  return s;
}

FailureOr<StageSchedule> lintel::scheduleOf(StageOp stage, bool inPlace) {
  auto attr = stage.getScheduleAttr();
  if (!attr) return stage.emitOpError("has no schedule; run attn-assign-schedule first");
  std::string why;
  auto s = StageSchedule::parse(attr.getDirectives(), why);
  if (!s) return stage.emitOpError("has a malformed schedule: ") << why;
  if (!isLegal(stage, *s, inPlace, why))
    return stage.emitOpError("has an illegal schedule '") << attr.getDirectives() << "': " << why;
  return *s;
}

//===-- Rows of inputs --------------------------------------------------------------------------------------------===//

/// Rows that a chunk has at least for them to be packed: fewer find place in the first cache wherever they lie.
static constexpr int64_t fewestPacked = 8;
/// Chunks ahead of which rows are asked for: what comes so early is gone again.
static constexpr int64_t mostAhead = 64;

std::string lintel::scheduleName(RowsOp rows) {
  auto kernel = rows->getParentOfType<KernelOp>();
  auto input = cast<ParamAttr>(kernel.getInputs()[cast<BlockArgument>(rows.getX()).getArgNumber()]);
  return "rows " + input.getName().str();
}

bool lintel::isLegal(RowsOp rows, const StageSchedule &s, std::string &reason) {
  if (!s.packed) return reason = "expected packed or direct for rows of an input, found '" + s.str() + "'", false;
  auto sizes = rows.getType().getSizes();
  if (*s.packed && sizes[0] == 1) return reason = "one row has nothing to be packed with", false;
  if (*s.packed && sizes.size() == 1) return reason = "one number a step is copied together anyway", false;
  if (s.ahead > mostAhead)
    return reason = "expected rows of at most " + std::to_string(mostAhead) + " chunks ahead, found " +
                    std::to_string(s.ahead),
           false;
  if (s.ahead != 1 && (sizes[0] == 1 || sizes.size() == 1))
    return reason = "one row, or one number a step, is not asked for ahead", false;
  return true;
}

StageSchedule lintel::chooseSchedule(RowsOp rows) {
  StageSchedule s;
  s.packed = false;
  std::string why;
  StageSchedule packed;
  packed.packed = true;
  if (rows.getType().getSizes()[0] < fewestPacked || !isLegal(rows, packed, why)) return s;
  for (Operation *user : rows->getUsers())
    if (user->getParentOfType<FoldOp>()) return packed;
  return s;
}

FailureOr<StageSchedule> lintel::scheduleOf(RowsOp rows) {
  auto attr = rows.getScheduleAttr();
  if (!attr) return rows.emitOpError("has no schedule; run attn-assign-schedule first");
  std::string why;
  auto s = StageSchedule::parse(attr.getDirectives(), why);
  if (!s) return rows.emitOpError("has a malformed schedule: ") << why;
  if (!isLegal(rows, *s, why))
    return rows.emitOpError("has an illegal schedule '") << attr.getDirectives() << "': " << why;
  return *s;
}

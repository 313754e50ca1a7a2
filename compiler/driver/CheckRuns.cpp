#include "compiler/driver/CheckRuns.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace llvm;
using namespace lintel;

static constexpr size_t maxFailures = 3;

void CheckRuns::fail(const std::string &text) {
  row.worst.ok = false;
  if (row.failures.size() < maxFailures) row.failures.push_back(text);
}

void CheckRuns::compare(const std::string &what, const PreparedCase &one, const RunResult &got) {
  Difference difference = compareResults(op, one.reference, got);
  ++row.cases;
  if (!difference.ok) fail(what + ": " + difference.failure);
  bool worse = difference.ok == row.worst.ok ? difference.used() >= row.worst.used() : !difference.ok;
  if (!worse) return;
  row.worst = difference;
  row.worstCase = what;
}

void CheckRuns::compareBits(const std::string &what, const RunResult &want, const RunResult &got) {
  if (auto text = firstOtherBits(op, want, got)) fail(what + ": " + *text);
}

void CheckRuns::run(const lintel_kernel *kernel, const lintel_kernel *stepper, const PreparedCase &one) {
  size_t before = row.failures.size();
  auto run = [&](int threads, bool headsFirst, lintel_parts parts = LINTEL_PARTS_NEVER) -> std::optional<RunResult> {
    ExecuteOptions execute;
    execute.poison = true, execute.threads = threads, execute.headsFirst = headsFirst, execute.parts = parts;
    auto result = executeKernel(kernel, op, one.arrays, execute);
    if (result) return std::move(*result);
    fail(one.name + ": does not run: " + toString(result.takeError()));
    return std::nullopt;
  };
  auto first = run(1, false), second = run(2, false), view = run(1, true);
  if (first && second && view) {
    compare(one.name, one, *first);
    compareBits(one.name + " on two threads", *first, *second);
    compareBits(one.name + " as [B, H, T, ...]", *first, *view);
    if (kernel->variants[0].parts)
      if (auto parts = run(2, false, LINTEL_PARTS_ALWAYS))
        compareBits(one.name + " in parts on two threads", *first, *parts);
    if (!op.bidirectional && !one.arrays.lengths) laterInputs(kernel, one, *first);
    if (one.one.splits) splits(kernel, stepper, one);
  }
  if (!failing && row.failures.size() > before) failing = &one;
}

/// NaNs in the inputs of later steps: the outputs before them keep their bits.
void CheckRuns::laterInputs(const lintel_kernel *kernel, const PreparedCase &one, const RunResult &want) {
  int64_t steps = one.arrays.steps, from = (steps + 1) / 2;
  if (steps < 2 || one.arrays.batch == 0) return;
  auto changed = cutArrays(op, one.arrays, 0, steps, {});
  if (!changed) return fail(one.name + ": " + toString(changed.takeError()));
  for (auto [info, array] : zip_equal(op.inputs, changed->inputs)) {
    if (info.kind != InputKind::Token) continue;
    size_t row = array.bytes() / (array.shape[0] * steps);
    for (int64_t b = 0; b < array.shape[0]; ++b)
      std::memset(array.dataAs<char>() + (b * steps + from) * row, 0xff, (steps - from) * row);
  }
  ExecuteOptions execute;
  execute.poison = true;
  auto got = executeKernel(kernel, op, *changed, execute);
  if (!got) return fail(one.name + ": does not run: " + toString(got.takeError()));
  auto same = [&](const NpyArray &wanted, const NpyArray &have) {
    size_t row = wanted.bytes() / (one.arrays.batch * steps);
    for (int64_t b = 0; b < one.arrays.batch; ++b)
      if (std::memcmp(wanted.dataAs<char>() + b * steps * row, have.dataAs<char>() + b * steps * row, from * row))
        return false;
    return true;
  };
  bool ok = same(want.out, got->out);
  for (auto [wanted, have] : zip_equal(want.others, got->others)) ok &= same(wanted, have);
  if (!ok) fail(formatv("{0}: inputs of step {1} and later change outputs before it", one.name, from).str());
}

/// One sequence in pieces that end at `ends`, the states handed over; the first with one kernel, the rest with another.
Expected<RunResult> CheckRuns::inPieces(const lintel_kernel *first, const lintel_kernel *rest, const BoundArrays &whole,
                                        ArrayRef<int64_t> ends) {
  ExecuteOptions execute;
  execute.poison = true;
  RunResult joined;
  auto out = NpyArray::create(whole.types.out(), outShape(op, whole));
  if (!out) return out.takeError();
  joined.out = std::move(*out);
  for (unsigned o = 0; o < op.others.size(); ++o) {
    auto other = NpyArray::create(whole.types.of(op.others[o].name), otherShape(op, o, whole));
    if (!other) return other.takeError();
    joined.others.push_back(std::move(*other));
  }
  // The batch is one, so the pieces follow each other.
  auto append = [&](const NpyArray &piece, NpyArray &to, int64_t first) {
    std::copy_n(piece.dataAs<char>(), piece.bytes(), to.dataAs<char>() + to.bytes() / whole.steps * first);
  };
  std::vector<NpyArray> &states = joined.states;
  int64_t begin = 0;
  for (auto [i, end] : enumerate(ends)) {
    auto piece = cutArrays(op, whole, begin, end, std::move(states));
    if (!piece) return piece.takeError();
    if (i) piece->exponents = std::move(joined.exponents);
    execute.takeExponents = i + 1 < ends.size();
    auto result = executeKernel(i ? rest : first, op, *piece, execute);
    if (!result) return result.takeError();
    if (end > begin) append(result->out, joined.out, begin);
    for (unsigned o = 0; end > begin && o < op.others.size(); ++o) append(result->others[o], joined.others[o], begin);
    states = std::move(result->states);
    joined.exponents = std::move(result->exponents);
    begin = end;
  }
  return std::move(joined);
}

void CheckRuns::splits(const lintel_kernel *kernel, const lintel_kernel *stepper, const PreparedCase &whole) {
  int64_t steps = whole.arrays.steps;
  auto atOnce = inPieces(kernel, kernel, whole.arrays, {steps});
  if (!atOnce) return fail("split: " + toString(atOnce.takeError()));
  for (int64_t at = 0; at <= steps; ++at) {
    std::string name = formatv("split T={0}+{1}", at, steps - at).str();
    auto joined = inPieces(kernel, kernel, whole.arrays, {at, steps});
    if (!joined) return fail(name + ": " + toString(joined.takeError()));
    compare(name, whole, *joined);
    if (!roundsStates && row.form != "parallel" && at % row.chunk == 0)
      compareBits(name + " at a chunk's end", *atOnce, *joined);
  }
  if (!stepper) return;
  SmallVector<int64_t> prefills{0};
  for (int64_t at : {int64_t(1), steps - 1, row.chunk - 1, row.chunk, row.chunk + 1})
    if (at > 0 && at < steps && !is_contained(prefills, at)) prefills.push_back(at);
  for (int64_t at : prefills) {
    std::string name = formatv("prefill of {0}, then {1} single steps", at, steps - at).str();
    SmallVector<int64_t> ends;
    for (int64_t end = at; end <= steps; ++end) ends.push_back(end);
    auto joined = inPieces(kernel, stepper, whole.arrays, ends);
    if (!joined) return fail(name + ": " + toString(joined.takeError()));
    compare(name, whole, *joined);
    if (!roundsStates && row.form == "recurrent") compareBits(name, *atOnce, *joined);
  }
}

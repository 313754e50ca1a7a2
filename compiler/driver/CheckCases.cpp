#include "compiler/driver/CheckCases.h"
#include "codegen/emit/KernelDescription.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>
#include <set>

using namespace llvm;
using namespace lintel;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string CheckCase::text() const {
  std::string text =
      formatv("{0} B={1} T={2} H={3}", toString(arrays.hardness), arrays.batch, arrays.steps, arrays.heads).str();
  if (arrays.groups) text += "/" + std::to_string(arrays.groups) + (arrays.mixedGroups ? "/1" : "");
  if (arrays.initial) text += " initial";
  if (arrays.lengths)
    text += " lengths=" + join(map_range(*arrays.lengths, [](int64_t n) { return std::to_string(n); }), ",");
  if (splits) text += " splits";
  return text + " seed=" + std::to_string(arrays.seed);
}

Expected<CheckCase> CheckCase::parse(StringRef text) {
  CheckCase result;
  RandomRequest &arrays = result.arrays;
  auto bad = [&](StringRef word) {
    return createStringError("expected a case such as 'usual B=1 T=7 H=4/2 initial lengths=3,4 splits seed=1', found "
                             "'%s' in it",
                             word.str().c_str());
  };
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    StringRef key, value;
    std::tie(key, value) = word.split('=');
    auto numbers = [&](char between, auto use) {
      SmallVector<StringRef> parts;
      if (!value.empty()) value.split(parts, between);
      for (auto [i, part] : enumerate(parts)) {
        int64_t n = 0;
        if (part.getAsInteger(10, n) || n < 0 || !use(i, n)) return false;
      }
      return true;
    };
    auto one = [&](auto &into) {
      return !value.empty() && numbers('=', [&](size_t i, int64_t n) {
        into = n;
        return i == 0;
      });
    };
    bool ok = true;
    if (auto hardness = parseHardness(word)) arrays.hardness = *hardness;
    else if (word == "initial") arrays.initial = true;
    else if (word == "splits") result.splits = true;
    else if (key == "B") ok = one(arrays.batch);
    else if (key == "T") ok = one(arrays.steps);
    else if (key == "seed") ok = one(arrays.seed);
    else if (key == "H")
      ok = !value.empty() && numbers('/', [&](size_t i, int64_t n) {
        if (i == 0) arrays.heads = n;
        if (i == 1) arrays.groups = n;
        if (i == 2) arrays.mixedGroups = true;
        return i < 2 || (i == 2 && n == 1);
      });
    else if (key == "lengths" && word != key) {
      arrays.lengths.emplace();
      ok = numbers(',', [&](size_t, int64_t n) {
        arrays.lengths->push_back(n);
        return true;
      });
    } else ok = false;
    if (!ok) return bad(word);
  }
  if (arrays.groups && arrays.heads % arrays.groups)
    return bad("H=" + std::to_string(arrays.heads) + "/" + std::to_string(arrays.groups));
  if (arrays.lengths) {
    int64_t sum = std::accumulate(arrays.lengths->begin(), arrays.lengths->end(), int64_t(0));
    if (sum != arrays.steps || arrays.batch != 1)
      return createStringError(
          "expected lengths that add up to T=%lld, and B=1, found lengths of %lld steps and B=%lld",
          static_cast<long long>(arrays.steps), static_cast<long long>(sum), static_cast<long long>(arrays.batch));
  }
  if (result.splits && (arrays.lengths || arrays.batch != 1))
    return createStringError("expected one sequence for splits: B=1 and no lengths");
  return result;
}

/// A word of a shell's command line.
static std::string quoted(StringRef word) {
  if (!word.empty() && all_of(word, [](char c) { return isAlnum(c) || StringRef("_./=,-+:").contains(c); }))
    return word.str();
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string CheckSite::command(StringRef file, StringRef op, StringRef target) const {
  std::string text = "lintel check " + quoted(file) + " --op " + op.str();
  for (const auto &[name, size] : one.arrays.dimensions) text += " --dim " + name + "=" + std::to_string(size);
  text += std::string(" --dtype ") + dtypeName(one.arrays.types.common);
  for (const auto &[name, type] : one.arrays.types.named) text += " --dtype " + name + "=" + dtypeName(type);
  if (one.arrays.types.products == LINTEL_BF16) text += " --products bf16";
  text += " --form " + form;
  if (chunk) text += " --chunk " + std::to_string(chunk);
  if (target != "native") text += " --target " + target.str();
  return text + " --case " + quoted(one.text());
}

//===----------------------------------------------------------------------===//
// What is tried
//===----------------------------------------------------------------------===//

std::vector<CheckCase> lintel::checkCases(const CheckSubject &subject, const RandomRequest &base, CheckDepth depth) {
  std::vector<CheckCase> result;
  bool initials = subject.op.splits();
  auto add = [&](int64_t batch, int64_t steps, int64_t heads, Hardness hardness = Hardness::Usual, bool initial = false,
                 int64_t groups = 0) -> CheckCase & {
    CheckCase one;
    one.arrays = base;
    one.arrays.batch = batch, one.arrays.steps = steps, one.arrays.heads = heads, one.arrays.groups = groups;
    one.arrays.hardness = hardness, one.arrays.initial = initial && initials;
    one.arrays.seed = base.seed * 1000 + result.size();
    result.push_back(std::move(one));
    return result.back();
  };
  add(2, 67, 2);
  if (depth == CheckDepth::Least) return result;
  bool full = depth == CheckDepth::Full;
  if (full) {
    for (int64_t steps : {0, 1, 3, 5, 15, 17, 63, 65, 131}) add(1, steps, 1, Hardness::Usual, steps % 4 == 1);
    add(0, 5, 2);
    add(1, 37, 2, Hardness::Large);
    add(1, 37, 2, Hardness::Zeros, true);
  }
  auto isDecay = [](InputUse use) { return use != InputUse::Plain && use != InputUse::Gate; };
  if (any_of(subject.uses, isDecay)) {
    for (Hardness hardness : {Hardness::StrongDecay, Hardness::WeakDecay, Hardness::Resets})
      add(1, 37, 3, hardness, true);
    add(1, 67, 2, Hardness::MixedDecay, true);
  }
  add(2, 19, 4, Hardness::Usual, true, 2);
  CheckCase &packed = add(1, 21, 2, Hardness::Usual, true);
  packed.arrays.lengths = std::vector<int64_t>{0, 3, 0, 17, 1};
  if (full) {
    if (any_of(subject.uses, [](InputUse use) { return use == InputUse::Gate || use == InputUse::DecayFactor; }) ||
        any_of(subject.traits, [](InputTraits traits) { return traits.squashed; }))
      add(1, 37, 2, Hardness::Gates, true);
    if (subject.hasExponents && any_of(subject.traits, [](InputTraits traits) { return traits.exponent; }))
      add(1, 37, 2, Hardness::Exponents);
    add(1, 19, 2, Hardness::AllZero);
    add(1, 37, 2, Hardness::Huge);
    add(1, 19, 4, Hardness::Usual, false, 2).arrays.mixedGroups = true;
  }
  if (!initials) return result;
  CheckCase &split = add(1, full ? 34 : 18, 2, Hardness::Usual, true);
  split.splits = true;
  return result;
}

//===----------------------------------------------------------------------===//
// Shrinking
//===----------------------------------------------------------------------===//

/// Simpler ones, each by one change, the greatest changes first.
static std::vector<CheckSite> simpler(const CheckSite &site) {
  std::vector<CheckSite> result;
  const RandomRequest &arrays = site.one.arrays;
  auto with = [&](auto change) {
    CheckSite next = site;
    change(next, next.one.arrays);
    result.push_back(std::move(next));
  };
  auto smaller = [](int64_t least, int64_t now) {
    std::set<int64_t> sizes;
    for (int64_t n : {least, least + 1, least + 2, now / 2, now - 1})
      if (n >= least && n < now) sizes.insert(n);
    return sizes;
  };
  if (site.one.splits) with([](CheckSite &next, RandomRequest &) { next.one.splits = false; });
  if (arrays.lengths) {
    with([](CheckSite &, RandomRequest &next) { next.lengths.reset(); });
    for (size_t i = 0; i < arrays.lengths->size(); ++i) {
      with([&](CheckSite &, RandomRequest &next) {
        next.steps -= (*next.lengths)[i];
        next.lengths->erase(next.lengths->begin() + static_cast<ptrdiff_t>(i));
      });
      for (int64_t n : smaller(0, (*arrays.lengths)[i]))
        with([&](CheckSite &, RandomRequest &next) {
          next.steps -= (*next.lengths)[i] - n;
          (*next.lengths)[i] = n;
        });
    }
  }
  if (arrays.batch > 1) with([](CheckSite &, RandomRequest &next) { next.batch = 1; });
  if (arrays.mixedGroups) with([](CheckSite &, RandomRequest &next) { next.mixedGroups = false; });
  if (arrays.groups) with([](CheckSite &, RandomRequest &next) { next.groups = 0, next.mixedGroups = false; });
  if (arrays.heads > 1 && !arrays.groups) with([](CheckSite &, RandomRequest &next) { next.heads = 1; });
  if (!arrays.lengths)
    for (int64_t n : smaller(0, arrays.steps)) with([&](CheckSite &, RandomRequest &next) { next.steps = n; });
  if (arrays.initial) with([](CheckSite &, RandomRequest &next) { next.initial = false; });
  if (arrays.hardness != Hardness::Usual)
    with([](CheckSite &, RandomRequest &next) { next.hardness = Hardness::Usual; });
  if (arrays.types.common != LINTEL_F32 || !arrays.types.named.empty())
    with([](CheckSite &, RandomRequest &next) { next.types = LINTEL_F32; });
  for (size_t d = 0; d < arrays.dimensions.size(); ++d)
    for (int64_t n : smaller(1, arrays.dimensions[d].second))
      with([&](CheckSite &, RandomRequest &next) { next.dimensions[d].second = n; });
  if (site.chunk)
    for (int64_t n : smaller(1, site.chunk)) with([&](CheckSite &next, RandomRequest &) { next.chunk = n; });
  return result;
}

CheckSite lintel::shrinkSite(CheckSite best, function_ref<bool(const CheckSite &)> fails, unsigned patience) {
  std::set<std::string> seen;
  for (bool again = true; again;) {
    again = false;
    for (CheckSite &next : simpler(best)) {
      if (!seen.insert(next.command("", "", "native")).second) continue;
      if (patience == 0) return best;
      --patience;
      if (!fails(next)) continue;
      best = std::move(next);
      again = true;
      break;
    }
  }
  return best;
}

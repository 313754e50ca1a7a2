// Any text is either refused with a reason, or IR of the attn dialect that prints and parses back to itself; and a pass
// on such IR either fails with a reason or leaves IR that verifies.
#include "codegen/schedule/AssignSchedule.h"
#include "compiler/pipelines/Pipelines.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cstdlib>
#include <random>

using namespace mlir;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

[[noreturn]] void violated(llvm::StringRef what, llvm::StringRef pass, llvm::StringRef messages = "") {
  llvm::errs() << what << " (" << pass << ")\n" << messages;
  std::abort();
}

/// Collects the errors while it lives.
struct Errors {
  std::string messages;
  ScopedDiagnosticHandler handler;
  explicit Errors(MLIRContext *context)
      : handler(context, [&](Diagnostic &d) {
          if (d.getSeverity() == DiagnosticSeverity::Error) messages += d.str() + "\n";
          return success();
        }) {}
};

using Add = std::function<void(OpPassManager &)>;

lintel::FormOptions formOptions() {
  lintel::FormOptions options;
  for (const char *dim : {"dk=4", "dv=3", "m=8", "n=4", "r=2"}) options.dims.push_back(dim);
  return options;
}

std::vector<std::pair<std::string, Add>> passes() {
  using namespace lintel;
  BindDimensionsOptions bind;
  for (const std::string &dim : formOptions().dims) bind.dims.push_back(dim);
  return {
      {"bind-dimensions", [=](OpPassManager &p) { p.addPass(createBindDimensions(bind)); }},
      {"order-values", [](OpPassManager &p) { p.addPass(createOrderValues()); }},
      {"canonicalize", [](OpPassManager &p) { p.addPass(createCanonicalizerPass()); }},
      {"cse", [](OpPassManager &p) { p.addPass(createCSEPass()); }},
      {"assign-precision", [](OpPassManager &p) { p.addPass(createAssignPrecision()); }},
      {"derive-recurrent", [](OpPassManager &p) { p.addPass(createDeriveRecurrent()); }},
      {"stabilize", [](OpPassManager &p) { p.addPass(createStabilize()); }},
      {"classify-transition", [](OpPassManager &p) { p.addPass(createClassifyTransition()); }},
      {"derive-chunkwise", [](OpPassManager &p) { p.addPass(createDeriveChunkwise()); }},
      {"derive-parallel", [](OpPassManager &p) { p.addPass(createDeriveParallel()); }},
      {"derive-step", [](OpPassManager &p) { p.addPass(createDeriveStep()); }},
      {"select-form", [](OpPassManager &p) { p.addPass(createSelectForm()); }},
      {"lower-form-to-stages", [](OpPassManager &p) { p.addPass(createLowerFormToStages()); }},
      {"fuse-stages", [](OpPassManager &p) { p.addPass(createFuseStages()); }},
      {"assign-schedule", [](OpPassManager &p) { p.addPass(createAssignSchedule()); }},
  };
}

/// Runs the pass; false where it failed (with a reason).
bool run(ModuleOp module, const std::string &name, const Add &add) {
  Errors errors(module.getContext());
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  add(manager);
  if (failed(manager.run(module))) {
    if (errors.messages.empty()) violated("the pass fails without a reason", name);
    return false;
  }
  if (!errors.messages.empty()) violated("the pass succeeds with errors", name, errors.messages);
  if (failed(verify(module))) violated("the pass leaves IR that does not verify", name, errors.messages);
  return true;
}

/// Whether a value is named before the place that defines it. IR of this dialect never needs that; and where a text
/// that does so is refused, MLIR's parser may have destroyed the region of the definition before the use, and writes to
/// it.
bool namesAhead(llvm::StringRef text) {
  llvm::StringSet<> defined;
  for (size_t i = text.find('%'); i != text.npos; i = text.find('%', i + 1)) {
    llvm::StringRef rest = text.drop_front(i + 1);
    llvm::StringRef name =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-'; });
    rest = rest.drop_front(name.size());
    bool isArgument = rest.starts_with(":") && !rest.drop_front().take_while(llvm::isDigit).size();
    rest.consume_front(":");
    rest = rest.drop_while(llvm::isDigit).ltrim();
    if (isArgument || rest.starts_with("=")) defined.insert(name);
    else if (!defined.contains(name)) return true;
  }
  return false;
}

MLIRContext *makeContext() {
  DialectRegistry registry;
  registry.insert<lintel::AttnDialect, arith::ArithDialect>();
  auto *made = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
  made->loadAllAvailableDialects();
  return made;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MLIRContext *context = makeContext();
  static const auto all = passes();
  // MLIR's lexer wants the text to end in a zero byte, and stops at one inside.
  std::string text(reinterpret_cast<const char *>(data), size);
  if (namesAhead(text)) return 0;
  OwningOpRef<ModuleOp> module;
  {
    Errors errors(context);
    module = parseSourceString<ModuleOp>(text, context);
    if (!module) {
      if (errors.messages.empty()) violated("the text is refused without a reason", "parse");
      return 0;
    }
    std::string once = printed(*module);
    auto again = parseSourceString<ModuleOp>(once, context);
    if (!again) violated("the printed IR does not parse", "print", errors.messages);
    if (printed(*again) != once) violated("the printed IR is not stable", "print");
  }
  // Each pass alone, then all of them in the compiler's order.
  for (const auto &[name, add] : all) {
    OwningOpRef<ModuleOp> copy = module->clone();
    run(*copy, name, add);
  }
  using namespace lintel;
  std::vector<std::pair<std::string, Add>> pipeline{
      {"derive pipeline", [](OpPassManager &p) { buildDerivePipeline(p, formOptions()); }},
      {"kernel pipeline", [](OpPassManager &p) { buildKernelPipeline(p); }},
      {"assign-schedule", [](OpPassManager &p) { p.addPass(createAssignSchedule()); }},
  };
  for (const auto &[name, add] : pipeline)
    if (!run(*module, name, add)) break;
  return 0;
}

// Bytes changed at random hardly ever make IR that parses. These changes keep its grammar more often than not: whole
// lines go, come twice or change places, and a name, number, type or word takes the place of another of its kind.
namespace {

struct Token {
  size_t begin, end;
};

/// The words of the text: %values, "strings", !types with their dimensions, numbers, dotted names.
std::vector<Token> tokens(llvm::StringRef s) {
  std::vector<Token> result;
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
  for (size_t i = 0; i < s.size();) {
    size_t from = i;
    char c = s[i++];
    if (c == '"') {
      while (i < s.size() && s[i] != '"' && s[i] != '\n') ++i;
      i = std::min(i + 1, s.size());
    } else if (c == '<') {
      size_t close = s.find_first_of("<>\n", i);
      if (close == s.npos || s[close] != '>') continue;
      i = close + 1;
    } else if (c == '%' || c == '!' || c == '#' || c == '@' || c == '^' || isWord(c)) {
      while (i < s.size() && isWord(s[i])) ++i;
      if (c == '!' && i < s.size() && s[i] == '<')
        if (size_t close = s.find_first_of(">\n", i); close != s.npos && s[close] == '>') i = close + 1;
    } else {
      continue;
    }
    result.push_back({from, i});
  }
  return result;
}

/// What may stand in for each other.
char kindOf(llvm::StringRef token) {
  if (llvm::isDigit(token[0])) return '0';
  if (token.starts_with("attn.")) return 'o';
  if (token[0] == '<' || token.starts_with("!attn")) return token[0];
  return llvm::isAlpha(token[0]) ? 'a' : token[0];
}

std::string changed(const std::string &text, std::minstd_rand &random) {
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  unsigned what = below(10);
  if (what < 3 && lines.size() > 1) {
    size_t i = below(lines.size()), j = below(lines.size());
    if (what == 0) lines.erase(lines.begin() + i);
    else if (what == 1) lines.insert(lines.begin() + j, lines[i]);
    else std::swap(lines[i], lines[j]);
    return llvm::join(lines, "\n");
  }
  std::vector<Token> words = tokens(text);
  if (words.empty()) return text;
  auto word = [&](const Token &t) { return llvm::StringRef(text).slice(t.begin, t.end); };
  Token target = words[below(words.size())];
  std::string put;
  static const char *numbers[] = {"0",
                                  "1",
                                  "-1",
                                  "2",
                                  "7",
                                  "4096",
                                  "2147483648",
                                  "9223372036854775807",
                                  "0x7FF0000000000000",
                                  "0x7FF8000000000000",
                                  "1.0e+300",
                                  "-1.0e+00"};
  static const char *shapes[] = {
      "<>", "<4>", "<3>", "<4, 3>", "<3, 4>", "<dk>", "<1, 1, 1, 1>", "<1000000, 1000000>", "<9223372036854775807>"};
  std::vector<std::string> like;
  for (const Token &t : words)
    if (kindOf(word(t)) == kindOf(word(target))) like.push_back(word(t).str());
  put = like[below(like.size())];
  char kind = kindOf(word(target));
  if (kind == '0' && below(2)) put = numbers[below(std::size(numbers))];
  if (kind == '<' && below(2)) put = shapes[below(std::size(shapes))];
  if (kind == '!' && below(2))
    put = std::string(below(4) ? "!attn.tensor" : "!attn.sequence") + shapes[below(std::size(shapes))];
  if (below(12) == 0) put.clear();
  return text.substr(0, target.begin) + put + text.substr(target.end);
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 16 == 0) return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<const char *>(data), size);
  for (unsigned n = 1 + random() % 3; n; --n) text = changed(text, random);
  size = std::min(text.size(), maxSize);
  std::copy_n(text.begin(), size, data);
  return size;
}

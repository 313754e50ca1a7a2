#include "SpecShrinker.h"
#include "compiler/frontend/Frontend.h"
#include <set>

using namespace lintel;
using namespace lintel::fuzz;
using namespace lintel::frontend;
using llvm::StringRef;

namespace {

/// Text with spans replaced; no two of them overlap.
std::string replaced(StringRef text, std::vector<std::pair<Span, std::string>> edits) {
  std::sort(edits.begin(), edits.end(), [](const auto &a, const auto &b) { return a.first.begin < b.first.begin; });
  std::string result;
  uint32_t at = 0;
  for (const auto &[span, by] : edits) {
    result += text.slice(at, span.begin).str() + by;
    at = span.end;
  }
  return result + text.substr(at).str();
}

/// In canonical form, or nothing if it is no valid spec.
std::string canonical(const std::string &text) {
  auto file = parse(text, "candidate.attn");
  if (!check(*file)) return {};
  return print(*file);
}

class TextShrinker {
public:
  explicit TextShrinker(const std::string &text) : file(parse(text, "candidate.attn")) { check(*file); }

  /// Simpler texts, the simplest first; most of them are not well-typed.
  std::vector<std::string> candidates() {
    const Operator &op = *file->operators.front();
    for (const auto &statement : op.statements) {
      add({{statement->span, ""}});
      if (statement->kind == StatementKind::Let) inlined(op, *statement);
    }
    for (const auto &statement : op.statements)
      for (const Declarator &declarator : statement->declarators) smallerShape(op, declarator);
    for (const auto &statement : op.statements)
      if (statement->value) simplify(*statement->value);
    return std::move(results);
  }

private:
  StringRef text(Span span) const { return file->source.text(span); }
  void add(std::vector<std::pair<Span, std::string>> edits) {
    results.push_back(replaced(file->source.text(), std::move(edits)));
  }

  static void uses(const Expr &expr, const Symbol *symbol, std::vector<Span> &spans) {
    if (expr.symbol == symbol) spans.push_back(expr.span);
    for (const Expr *arg : expr.args) uses(*arg, symbol, spans);
  }

  void inlined(const Operator &op, const Statement &let) {
    if (let.symbols.empty() || !let.value) return;
    std::vector<Span> spans;
    for (const auto &statement : op.statements)
      if (statement->value) uses(*statement->value, let.symbols[0], spans);
    if (spans.size() > 3) return;
    std::vector<std::pair<Span, std::string>> edits{{let.span, ""}};
    for (Span span : spans) edits.emplace_back(span, "(" + text(let.value->span).str() + ")");
    add(edits);
  }

  /// Another dimension for this one, everywhere.
  void smallerShape(const Operator &op, const Declarator &declarator) {
    for (const DimSyntax &dim : declarator.dims)
      for (const std::string &other : op.dimensions) {
        if (text(dim.span) == other) continue;
        std::vector<std::pair<Span, std::string>> edits;
        for (const auto &statement : op.statements)
          for (const Declarator &each : statement->declarators)
            for (const DimSyntax &same : each.dims)
              if (text(same.span) == text(dim.span)) edits.emplace_back(same.span, other);
        add(edits);
      }
  }

  void simplify(const Expr &expr) {
    if (!expr.args.empty()) {
      for (const Expr *arg : expr.args) add({{expr.span, "(" + text(arg->span).str() + ")"}});
      if (expr.type.kind == ValueType::Number) {
        if (expr.type.rank() == 0) add({{expr.span, "1"}});
        for (const Symbol *input : file->operators.front()->inputs)
          if (input->type.shape == expr.type.shape && expr.type.rank()) add({{expr.span, input->name.str()}});
      }
    } else if (expr.kind == ExprKind::Name && expr.symbol && expr.type.kind == ValueType::Number) {
      // One input for another that comes first, so that fewer are left.
      if (expr.type.rank() == 0 && expr.symbol->kind != Symbol::Dimension) add({{expr.span, "1"}});
      for (const Symbol *input : file->operators.front()->inputs) {
        if (input == expr.symbol) break;
        if (expr.symbol->isInput() && input->type.shape == expr.type.shape) add({{expr.span, input->name.str()}});
      }
    }
    for (const Expr *arg : expr.args) simplify(*arg);
  }

  std::unique_ptr<File> file;
  std::vector<std::string> results;
};

std::vector<RunPlan> smallerPlans(const RunPlan &plan) {
  std::vector<RunPlan> result;
  auto with = [&](auto change) {
    RunPlan next = plan;
    change(next);
    if (next.text() != plan.text()) result.push_back(next);
  };
  auto number = [&](int64_t RunPlan::*field, int64_t least) {
    for (int64_t value : {least, plan.*field / 2, plan.*field - 1})
      if (value >= least && value < plan.*field) with([&](RunPlan &p) { p.*field = value; });
  };
  with([](RunPlan &p) { p.batch = 1; });
  with([](RunPlan &p) { p.groups = 0; });
  with([](RunPlan &p) {
    if (!p.groups) p.heads = 1;
  });
  with([](RunPlan &p) { p.hardness = Hardness::Usual; });
  with([](RunPlan &p) { p.initial = false; });
  if (plan.code) with([](RunPlan &p) { p.dtype = LINTEL_F32; });
  number(&RunPlan::steps, 0);
  for (auto list : {&RunPlan::chunks, &RunPlan::blocks}) {
    if ((plan.*list).size() > 1)
      for (int64_t one : plan.*list) with([&](RunPlan &p) { p.*list = {one}; });
    else if ((plan.*list).size() == 1)
      for (int64_t chunk : {1, 2, 3, 4, 8})
        if (chunk < (plan.*list)[0]) with([&](RunPlan &p) { p.*list = {chunk}; });
  }
  for (size_t i = 0; i < plan.dimensions.size(); ++i)
    for (int64_t size : {1, 2, 3, 4, 8})
      if (size < plan.dimensions[i].second) with([&](RunPlan &p) { p.dimensions[i].second = size; });
  return result;
}

} // namespace

Candidate lintel::fuzz::shrink(Candidate best, llvm::function_ref<bool(const Candidate &)> fails) {
  if (std::string text = canonical(best.text); !text.empty() && fails({text, best.plan})) best.text = text;
  std::set<std::string> seen;
  auto tries = [&](const std::string &text, const RunPlan &plan) {
    if (!seen.insert(text + plan.text()).second || !fails({text, plan})) return false;
    best = {text, plan};
    return true;
  };
  for (bool again = true; again;) {
    again = false;
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (const RunPlan &plan : smallerPlans(best.plan))
        if ((smaller = tries(best.text, plan))) break;
    }
    for (const std::string &raw : TextShrinker(best.text).candidates()) {
      std::string text = canonical(raw);
      if (text.empty() || text == best.text) continue;
      if ((again = tries(text, best.plan))) break;
    }
  }
  return best;
}

#include "compiler/frontend/Sema.h"
#include "compiler/frontend/ExprChecker.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace lintel;
using namespace lintel::frontend;

namespace {

class OperatorChecker {
public:
  OperatorChecker(File &file, Operator &op)
      : source(file.source), diagnostics(file.diagnostics), op(op), exprs(file, op) {}
  void run();

private:
  unsigned line(Span span) const { return source.place(span.begin).line; }
  static bool isDeclaration(StatementKind kind) { return kind <= StatementKind::Output; }
  static bool isShort(StatementKind kind) { return kind >= StatementKind::Feature && kind != StatementKind::Causal; }
  std::string title(const Statement &statement) const {
    return (statement.kind == StatementKind::Assign ? statement.name : keyword(statement.kind)).str();
  }

  void declareDimensions();
  void declareNames();
  bool declare(Symbol *symbol);
  void declareBuiltins();
  Symbol *parameter(llvm::StringRef name, Span span, ValueType type, bool varies,
                    Symbol::Kind kind = Symbol::Parameter);

  void checkLet(Statement &statement);
  void checkRecurrence(const Statement &first);
  void checkAssign(Statement &statement);
  void checkAffine(const Symbol &state, const Expr &value);
  void checkShortForm();
  void collectShortForm();
  const Symbol *shortInput(llvm::StringRef name);
  ValueType checkFeature(const Statement *feature, const Symbol *input);
  void checkWeights(Statement &statement, const ValueType &q, const ValueType &k);
  void warnUnused();
  void collectReads(const Expr &expr, llvm::SmallSetVector<const Symbol *, 8> &reads) const;

  const Source &source;
  Diagnostics &diagnostics;
  Operator &op;
  ExprChecker exprs;
  const Statement *outStatement = nullptr;
};

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void OperatorChecker::declareDimensions() {
  llvm::StringSet<> inInputs, warned;
  for (bool states : {false, true})
    for (auto &statement : op.statements) {
      if (!isDeclaration(statement->kind) || (statement->kind >= StatementKind::State) != states) continue;
      for (const Declarator &declarator : statement->declarators)
        for (const DimSyntax &dim : declarator.dims) {
          if (!dim.value.isSymbol()) continue;
          llvm::StringRef name = source.text(dim.span);
          if (!states) inInputs.insert(name);
          else if (!inInputs.contains(name) && warned.insert(name).second)
            diagnostics.report(diag::DimensionUnbound, dim.span, name)
                .hint(("give it with '--dim " + name + "=N'").str());
          if (exprs.names.contains(name)) continue;
          if (llvm::StringRef meaning = reservedMeaning(name); !meaning.empty()) {
            diagnostics.report(diag::ReservedName, dim.span, name, meaning);
            continue;
          }
          exprs.names[name] = exprs.newSymbol(Symbol::Dimension, name, dim.span, ValueType::number());
          op.dimensions.push_back(name.str());
        }
    }
}

bool OperatorChecker::declare(Symbol *symbol) {
  if (llvm::StringRef meaning = reservedMeaning(symbol->name); !meaning.empty()) {
    diagnostics.report(diag::ReservedName, symbol->span, symbol->name, meaning).hint("choose another name");
    return false;
  }
  auto [at, isNew] = exprs.names.try_emplace(symbol->name, symbol);
  if (isNew) return true;
  const Symbol &other = *at->second;
  if (other.kind == Symbol::Dimension)
    diagnostics.report(diag::DimensionAndName, symbol->span, symbol->name, symbol->describe())
        .hint("a dimension's name is a number in expressions; choose another name for one of them");
  else diagnostics.report(diag::DuplicateName, symbol->span, symbol->name, line(other.span), other.describe());
  return false;
}

void OperatorChecker::declareNames() {
  bool hasToken = false;
  for (auto &statement : op.statements) {
    if (isDeclaration(statement->kind)) {
      auto kind = Symbol::Kind(unsigned(statement->kind)); // in the same order
      hasToken |= kind == Symbol::Token;
      for (const Declarator &declarator : statement->declarators) {
        ValueType type = ValueType::number();
        for (const DimSyntax &dim : declarator.dims) type.shape.push_back(dim.value);
        if (declarator.hasError) type = {};
        Symbol *symbol = exprs.newSymbol(kind, declarator.name, declarator.span, type);
        statement->symbols.push_back(symbol);
        if (!declare(symbol)) continue;
        (kind == Symbol::State ? op.states : kind == Symbol::Output ? op.outputs : op.inputs).push_back(symbol);
        if (kind == Symbol::Output && type.rank() == 2)
          diagnostics.report(diag::OutIsMatrix, declarator.span, declarator.name, type.str())
              .hint("'flatten(M)' is a matrix as a vector");
      }
    } else if (statement->kind == StatementKind::Let && !statement->name.empty()) {
      Symbol *symbol = exprs.newSymbol(Symbol::Let, statement->name, statement->nameSpan);
      symbol->statement = statement.get();
      statement->symbols.push_back(symbol);
      declare(symbol);
    }
  }
  if (!hasToken && !op.hasSyntaxError)
    diagnostics.report(diag::NoTokenInput, op.span, op.name).hint("declare one, as in 'token q[dk], k[dk], v[dv]'");
}

void OperatorChecker::declareBuiltins() {
  for (auto [name, kind] : {std::pair("position", Symbol::Position), std::pair("distance", Symbol::Distance),
                            std::pair("pi", Symbol::Pi), std::pair("inf", Symbol::Inf)})
    exprs.names.try_emplace(name, exprs.newSymbol(kind, name, {}, ValueType::number()));
}

Symbol *OperatorChecker::parameter(llvm::StringRef name, Span span, ValueType type, bool varies, Symbol::Kind kind) {
  Symbol *symbol = exprs.newSymbol(kind, name, span, std::move(type));
  symbol->varies = varies;
  if (llvm::StringRef meaning = reservedMeaning(name); !meaning.empty())
    diagnostics.report(diag::ReservedName, span, name, meaning).hint("choose another name");
  else if (Symbol *other = exprs.names.lookup(name);
           other && other->kind == Symbol::Dimension && kind == Symbol::Parameter)
    diagnostics.report(diag::DimensionAndName, span, name, symbol->describe())
        .hint("choose another name for one of them");
  return symbol;
}

void OperatorChecker::checkLet(Statement &statement) {
  exprs.checkNumber(*statement.value, "'let'");
  if (statement.symbols.empty()) return;
  Symbol &symbol = *statement.symbols[0];
  symbol.type = statement.value->type;
  symbol.varies = statement.value->varies;
  symbol.degree = statement.value->degree;
  symbol.culprit = statement.value->culprit;
  exprs.ready.insert(&symbol);
}

//===----------------------------------------------------------------------===//
// The recurrence form
//===----------------------------------------------------------------------===//

void OperatorChecker::checkRecurrence(const Statement &first) {
  op.form = Form::Recurrence;
  const Statement *causal = nullptr;
  for (auto &statement : op.statements) {
    if (statement->kind == StatementKind::Bidirectional) {
      diagnostics.report(diag::RecurrenceIsCausal, statement->at);
    } else if (isShort(statement->kind)) {
      Diagnostic &diagnostic =
          diagnostics.report(diag::MixedForms, statement->at, keyword(statement->kind), title(first), line(first.at));
      if (statement->kind == StatementKind::Decay)
        diagnostic.hint("write it into the update, as in 'S = exp(g) * S + outer(k, v)'");
      else if (statement->kind == StatementKind::Normalize)
        diagnostic.hint("keep the sum in a state, as in 'z = z + k', and divide 'out' by 'dot(q, z)'");
      else diagnostic.hint("name the value with 'let' and use it in the updates and in 'out'");
    } else if (statement->kind == StatementKind::Causal) {
      if (causal) diagnostics.report(diag::DuplicateStatement, statement->at, "causal", line(causal->at));
      else causal = statement.get();
    } else if (statement->kind == StatementKind::Let) checkLet(*statement);
    else if (statement->kind == StatementKind::Assign) checkAssign(*statement);
  }
  if (!outStatement && !op.hasSyntaxError)
    diagnostics.report(diag::OutMissing, op.span, op.name).hint("assign it once, as in 'out = q @ S'");
  for (const Symbol *output : op.outputs)
    if (!output->isAssigned && !op.hasSyntaxError)
      diagnostics.report(diag::OutputMissing, output->span, output->name)
          .hint("assign it once, as in '" + output->name + " = q @ S'");
}

void OperatorChecker::checkAssign(Statement &statement) {
  llvm::StringRef name = statement.name;
  bool isOut = name == "out";
  exprs.checkNumber(*statement.value, "an assignment");
  const ValueType &type = statement.value->type;
  if (isOut) {
    if (outStatement) {
      diagnostics.report(diag::OutTwice, statement.nameSpan, name, line(outStatement->at));
      return;
    }
    outStatement = &statement;
    if (!type.isError() && type.rank() == 2)
      diagnostics.report(diag::OutIsMatrix, statement.value->span, name, type.str())
          .hint("'flatten(M)' is a matrix as a vector");
    op.out = type;
    return;
  }
  Symbol *target = exprs.names.lookup(name);
  bool isOutput = target && target->kind == Symbol::Output;
  if (!isOutput && (!target || target->kind != Symbol::State)) {
    if (target && (target->isInput() || target->kind == Symbol::Dimension || target->kind == Symbol::Let)) {
      Diagnostic &diagnostic = diagnostics.report(diag::AssignedInput, statement.nameSpan, name, target->describe());
      diagnostic.hint(target->kind == Symbol::Let ? "a value that changes is declared with 'state'"
                                                  : "name the new value, as in 'let " + name + "2 = ...'");
      return;
    }
    Diagnostic &diagnostic = diagnostics.report(diag::AssignedUnknown, statement.nameSpan, name);
    llvm::SmallVector<llvm::StringRef> known{"out"};
    for (const auto &list : {op.states, op.outputs})
      for (const Symbol *symbol : list) known.push_back(symbol->name);
    if (name == "scale" || name == "decay" || name == "normalize")
      diagnostic.hint("the short form writes '" + name + " expression' without '='");
    else if (name == "feature" || name == "feature_q" || name == "feature_k")
      diagnostic.hint("the short form writes '" + name + "(x) = expression'");
    else if (name == "weights") diagnostic.hint("the short form writes 'weights(q, k) = expression'");
    else if (llvm::StringRef meaning = reservedMeaning(name); !meaning.empty()) diagnostic.hint(meaning);
    else if (llvm::StringRef near = nearest(name, known); !near.empty())
      diagnostic.hint("did you mean '" + near + "'?");
    else diagnostic.hint("write 'let " + name + " = ...' for a value of this step, or declare 'state " + name + "'");
    return;
  }
  if (isOutput && target->isAssigned) {
    for (const auto &other : op.statements)
      if (other->kind == StatementKind::Assign && llvm::is_contained(other->symbols, target)) {
        diagnostics.report(diag::OutTwice, statement.nameSpan, name, line(other->at));
        return;
      }
  }
  target->isAssigned = true;
  statement.symbols.push_back(target);
  if (!ExprChecker::fits(type, target->type)) {
    Diagnostic &diagnostic = diagnostics.report(diag::AssignedShape, statement.value->span, name, target->type.str(),
                                                type.str(), isOutput ? "output" : "state");
    if (isOutput && type.rank() == 1 && target->type.rank() == 0)
      diagnostic.hint("declare it with its length, as in 'output " + name + "[" + type.shape[0].str() + "]'");
    if (type.rank() == 2 && target->type.rank() == 2 && type.shape[0] == target->type.shape[1] &&
        type.shape[1] == target->type.shape[0])
      diagnostic.hint("'outer(a, b)' has the length of a as its first dimension");
  }
  if (!isOutput) checkAffine(*target, *statement.value);
}

// The symbols in a tree; what a let reads counts too. Lets are followed by a list, not by recursion: their chains can
// be long.
static void collectNames(const Expr &expr, llvm::SmallSetVector<const Symbol *, 8> &reads) {
  if (expr.symbol) reads.insert(expr.symbol);
  for (const Expr *arg : expr.args) collectNames(*arg, reads);
}

void OperatorChecker::collectReads(const Expr &expr, llvm::SmallSetVector<const Symbol *, 8> &reads) const {
  size_t next = reads.size();
  for (collectNames(expr, reads); next < reads.size(); ++next)
    if (const Symbol *symbol = reads[next]; symbol->kind == Symbol::Let) collectNames(*symbol->statement->value, reads);
}

void OperatorChecker::checkAffine(const Symbol &state, const Expr &value) {
  if (value.degree != Degree::Nonlinear) return;
  const Expr &term = *value.culprit;
  llvm::SmallSetVector<const Symbol *, 8> reads;
  bool isDivision = term.kind == ExprKind::Binary && term.operation == Operation::Divide;
  collectReads(isDivision ? *term.args[1] : term, reads);
  std::string names;
  unsigned count = 0;
  for (const Symbol *read : reads)
    if (read->kind == Symbol::State) names += (count++ ? ", '" : "'") + read->name.str() + "'";
  std::string reading = (count == 1 ? "state " : "states ") + names, shown = "'" + exprs.quote(term) + "'", why;
  switch (term.kind == ExprKind::Binary ? term.operation : Operation::None) {
  case Operation::Multiply:
  case Operation::MatMul:
    why = shown + " is a product of two terms that read " + reading;
    break;
  case Operation::Divide:
    why = shown + " divides by a term that reads " + reading;
    break;
  case Operation::Power:
    why = shown + " is a power of terms that read " + reading;
    break;
  case Operation::None:
    if (term.builtin)
      why = shown +
            (term.builtin->function == Function::Dot || term.builtin->function == Function::Outer
                 ? " is a product of two terms that read "
                 : " is a function, not linear, of a term that reads ") +
            reading;
    else why = shown + " is a condition on " + reading;
    break;
  default:
    why = shown + " is a condition on " + reading;
    break;
  }
  Diagnostic &diagnostic = diagnostics.report(diag::NotAffine, term.span, state.name, why);
  bool outside = term.span.begin < value.span.begin || term.span.end > value.span.end;
  if (outside)
    diagnostic.hint("it enters the update on line " + std::to_string(line(value.span)) +
                    " through 'let'; 'out' alone may use states so");
  else
    diagnostic.hint(
        "each term of an update may read one state, scaled or contracted by inputs; 'out' may use states freely");
}

//===----------------------------------------------------------------------===//
// The short form
//===----------------------------------------------------------------------===//

void OperatorChecker::collectShortForm() {
  // Which statements cannot stand together: the same twice, and these pairs.
  ShortForm &form = op.shortForm;
  llvm::SmallVector<const Statement *> seen;
  auto exclude = [&](const Statement &a, StatementKind kind, const char *hint) {
    for (const Statement *other : seen)
      if (other->kind == kind)
        diagnostics.report(diag::ConflictingStatements, a.at, keyword(a.kind), keyword(kind), line(other->at))
            .hint(hint);
  };
  auto excludeBoth = [&](const Statement &a, StatementKind x, StatementKind y, const char *hint) {
    if (a.kind == x) exclude(a, y, hint);
    if (a.kind == y) exclude(a, x, hint);
  };
  for (auto &owned : op.statements) {
    Statement &statement = *owned;
    if (statement.kind < StatementKind::Feature) continue;
    bool isRepeated = false;
    for (const Statement *other : seen)
      if (other->kind == statement.kind) {
        diagnostics.report(diag::DuplicateStatement, statement.at, keyword(statement.kind), line(other->at));
        isRepeated = true;
        break;
      }
    if (isRepeated) continue;
    excludeBoth(statement, StatementKind::Causal, StatementKind::Bidirectional, "");
    excludeBoth(statement, StatementKind::Feature, StatementKind::FeatureQ, "'feature' is for both 'q' and 'k'");
    excludeBoth(statement, StatementKind::Feature, StatementKind::FeatureK, "'feature' is for both 'q' and 'k'");
    excludeBoth(statement, StatementKind::Decay, StatementKind::Weights,
                "a decay of the distance is part of the weight, as in 'gamma ^ distance * exp(dot(q, k))'");
    seen.push_back(&statement);
    switch (statement.kind) {
    case StatementKind::Feature:
      form.featureQ = form.featureK = &statement;
      break;
    case StatementKind::FeatureQ:
      form.featureQ = &statement;
      break;
    case StatementKind::FeatureK:
      form.featureK = &statement;
      break;
    case StatementKind::Scale:
      form.scale = &statement;
      break;
    case StatementKind::Decay:
      form.decay = &statement;
      break;
    case StatementKind::Normalize:
      form.normalize = &statement;
      break;
    case StatementKind::Weights:
      form.weights = &statement;
      break;
    case StatementKind::Bidirectional:
      form.bidirectional = true;
      break;
    default:
      break;
    }
  }
  op.form = form.weights ? Form::Weights : Form::Linear;
}

const Symbol *OperatorChecker::shortInput(llvm::StringRef name) {
  Symbol *symbol = exprs.names.lookup(name);
  if (!symbol || symbol->kind == Symbol::Dimension) {
    // An operator with no inputs at all, or that did not parse, has been told so.
    if (!op.inputs.empty() && !op.hasSyntaxError)
      diagnostics.report(diag::ShortNeedsName, op.span, name)
          .hint("declare 'token " + name + "[...]', name a value with 'let " + name +
                " = ...', or write a recurrence with 'state'");
    return nullptr;
  }
  symbol->isRead = true;
  auto isToken = [](const Symbol *input) { return input->kind == Symbol::Token; };
  if (!symbol->varies && !symbol->type.isError() && llvm::any_of(op.inputs, isToken)) {
    diagnostics
        .report(diag::ShortNeedsToken, symbol->span, name,
                symbol->isInput() ? symbol->describe().str() : "a value that is the same for all tokens")
        .hint("'q', 'k' and 'v' differ from token to token");
    return nullptr;
  }
  return symbol;
}

ValueType OperatorChecker::checkFeature(const Statement *feature, const Symbol *input) {
  ValueType type = input ? input->type : ValueType();
  llvm::StringRef what = feature ? keyword(feature->kind) : input ? input->name : "";
  if (feature && feature->parameters.size() == 1) {
    Statement &statement = const_cast<Statement &>(*feature);
    const Parameter &p = feature->parameters[0];
    Symbol *symbol = parameter(p.name, p.span, type, true);
    statement.symbols = {symbol};
    exprs.locals = {symbol};
    exprs.checkNumber(*feature->value, "'" + what + "'");
    exprs.locals.clear();
    type = feature->value->type;
  } else if (feature) return {};
  if (type.isError() || type.rank() == 1) return type;
  Diagnostic &diagnostic = diagnostics.report(diag::ExpectedKind, feature ? feature->value->span : input->span,
                                              "'" + what.str() + "'", "a vector", type.str());
  diagnostic.hint(type.rank() == 2 ? "'flatten(M)' is a matrix as a vector"
                  : feature        ? "'concat' makes a vector of scalars"
                                   : "declare it with a dimension, as in '" + what + "[1]'");
  return {};
}

void OperatorChecker::checkWeights(Statement &statement, const ValueType &q, const ValueType &k) {
  if (statement.parameters.size() != 2) return;
  if (statement.parameters[0].name == statement.parameters[1].name)
    diagnostics.report(diag::DuplicateParameter, statement.parameters[1].span, statement.parameters[1].name);
  for (unsigned i = 0; i < 2; ++i)
    statement.symbols.push_back(parameter(statement.parameters[i].name, statement.parameters[i].span, i ? k : q, true));
  exprs.locals.assign(statement.symbols.begin(), statement.symbols.end());
  exprs.inWeights = true;
  exprs.checkNumber(*statement.value, "'weights'");
  exprs.inWeights = false;
  exprs.locals.clear();
  const ValueType &type = statement.value->type;
  if (!type.isError() && type.rank() != 0)
    diagnostics.report(diag::ExpectedKind, statement.value->span, "'weights'", "a scalar", type.str())
        .hint("a similarity is one number for each pair, as in 'exp(dot(q, k))'");
}

void OperatorChecker::checkShortForm() {
  for (auto &statement : op.statements)
    if (statement->kind == StatementKind::Let) checkLet(*statement);
  for (auto &statement : op.statements)
    if (statement->kind == StatementKind::Assign) checkAssign(*statement); // always an error here
  collectShortForm();
  ShortForm &form = op.shortForm;
  form.q = shortInput("q");
  form.k = shortInput("k");
  form.v = shortInput("v");

  if (form.scale) {
    exprs.checkNumber(*form.scale->value, "'scale'");
    if (form.q && !ExprChecker::fits(form.scale->value->type, form.q->type))
      diagnostics.report(diag::ScaleShape, form.scale->value->span, form.q->type.str(), form.scale->value->type.str());
  }
  ValueType phiQ, phiK;
  if (form.featureQ && form.featureQ == form.featureK) {
    phiQ = phiK = checkFeature(form.featureQ, form.q);
    if (form.q && form.k && !form.q->type.isError() && !form.k->type.isError() &&
        form.q->type.shape != form.k->type.shape)
      diagnostics.report(diag::FeatureInputs, form.featureQ->at, form.q->type.str(), form.k->type.str())
          .hint("write 'feature_q' and 'feature_k'");
  } else {
    phiQ = checkFeature(form.featureQ, form.q);
    phiK = checkFeature(form.featureK, form.k);
    // A similarity takes two vectors as they are; features are multiplied with each other.
    if (!form.weights && !phiQ.isError() && !phiK.isError() && phiQ.shape != phiK.shape)
      diagnostics.report(diag::FeatureShapes,
                         form.featureQ   ? form.featureQ->at
                         : form.featureK ? form.featureK->at
                                         : form.k->span,
                         phiQ.str(), phiK.str());
  }
  form.phi = phiK.isError() ? phiQ : phiK;

  if (form.decay) {
    Expr &value = *form.decay->value;
    exprs.checkNumber(value, "'decay'");
    if (!form.weights && !ExprChecker::fits(value.type, form.phi)) {
      Diagnostic &diagnostic = diagnostics.report(diag::DecayShape, value.span, form.phi.str(), value.type.str());
      if (form.featureK) diagnostic.hint("a vector of decays runs along the features, as many as 'feature' gives");
    }
    std::optional<double> constant;
    if (value.kind == ExprKind::Number) constant = value.number;
    if (value.kind == ExprKind::Unary && value.args[0]->kind == ExprKind::Number) constant = -value.args[0]->number;
    if (constant && (*constant < 0 || *constant > 1))
      diagnostics.report(diag::DecayRange, value.span, exprs.quote(value));
  }
  if (form.weights) checkWeights(const_cast<Statement &>(*form.weights), phiQ, phiK);
  if (form.normalize && form.normalize->value) {
    Expr &value = *form.normalize->value;
    Symbol *den = parameter("den", form.normalize->at, ValueType::number(), true, Symbol::Denominator);
    const_cast<Statement *>(form.normalize)->symbols = {den};
    exprs.locals = {den};
    exprs.checkNumber(value, "'normalize'");
    exprs.locals.clear();
    if (!value.type.isError() && value.type.rank() != 0)
      diagnostics.report(diag::ExpectedKind, value.span, "'normalize'", "a scalar", value.type.str());
  }

  if (form.v && !form.v->type.isError() && form.v->type.rank() != 1)
    diagnostics.report(diag::ExpectedKind, form.v->span, "'v'", "a vector", form.v->type.str())
        .hint(form.v->type.rank() ? "'flatten(M)' is a matrix as a vector"
                                  : "declare it with a dimension, as in 'v[1]'");
  if (form.v) op.out = form.v->type;
  if (!form.weights)
    for (const Symbol *input : op.inputs)
      if (input->name == "S" || (input->name == "z" && form.normalize))
        diagnostics.report(diag::ShortStateName, input->span, input->name, input->describe())
            .hint("choose another name for the input");
}

//===----------------------------------------------------------------------===//
// The operator
//===----------------------------------------------------------------------===//

void OperatorChecker::warnUnused() {
  for (const auto &symbol : op.symbols) {
    if (symbol->isInput() && !symbol->isRead) {
      static constexpr const char *kinds[] = {"token input", "head input", "shared input"};
      diagnostics.report(diag::UnusedInput, symbol->span, kinds[symbol->kind], symbol->name);
    }
    if (symbol->kind == Symbol::Let && !symbol->isRead) diagnostics.report(diag::UnusedLet, symbol->span, symbol->name);
  }
  if (op.form != Form::Recurrence || !outStatement) return;

  // What reaches an output, through updates of other states too.
  llvm::SmallSetVector<const Symbol *, 8> reached;
  collectReads(*outStatement->value, reached);
  for (const auto &statement : op.statements)
    if (statement->kind == StatementKind::Assign && !statement->symbols.empty() &&
        statement->symbols[0]->kind == Symbol::Output)
      collectReads(*statement->value, reached);
  for (size_t i = 0; i < reached.size(); ++i)
    for (const auto &statement : op.statements)
      if (statement->kind == StatementKind::Assign && !statement->symbols.empty() &&
          statement->symbols[0] == reached[i])
        collectReads(*statement->value, reached);
  for (const Symbol *state : op.states)
    if (!state->isAssigned)
      diagnostics.report(diag::StateNotAssigned, state->span, state->name).hint("it stays at its initial value");
    else if (!reached.contains(state))
      diagnostics.report(diag::StateNotRead, state->span, state->name, op.outputs.empty() ? "'out'" : "an output");
}

void OperatorChecker::run() {
  unsigned before = diagnostics.numErrors();
  declareDimensions();
  declareNames();
  declareBuiltins();
  // `decay = g` is a slip of the pen in the short form, not a recurrence.
  auto isSlip = [&](const Statement &statement) {
    static constexpr llvm::StringRef words[] = {"scale",     "decay",     "normalize", "feature",
                                                "feature_q", "feature_k", "weights"};
    return statement.kind == StatementKind::Assign && llvm::is_contained(words, statement.name);
  };
  const Statement *first = nullptr;
  for (auto &statement : op.statements)
    if (!first && (statement->kind == StatementKind::State || statement->kind == StatementKind::Output ||
                   (statement->kind == StatementKind::Assign && !isSlip(*statement))))
      first = statement.get();
  if (first) checkRecurrence(*first);
  else checkShortForm();
  op.isValid = !op.hasSyntaxError && diagnostics.numErrors() == before;
  if (op.isValid) warnUnused();
}

} // namespace

void lintel::frontend::checkFile(File &file) {
  llvm::StringMap<const Operator *> seen;
  for (auto &op : file.operators) {
    auto [at, isNew] = seen.try_emplace(op->name, op.get());
    if (!isNew && !op->name.empty()) {
      diag::Id id = diag::DuplicateOperator;
      file.diagnostics.report(id, op->span, op->name, file.source.place(at->second->span.begin).line)
          .hint("choose another name");
    }
    OperatorChecker(file, *op).run();
  }
}

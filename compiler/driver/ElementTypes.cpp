#include "compiler/driver/ElementTypes.h"
#include "codegen/emit/KernelDescription.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace lintel;

static std::optional<lintel_dtype> typeIn(const NamedTypes &named, StringRef name) {
  for (const auto &[key, type] : named)
    if (key == name) return type;
  return std::nullopt;
}

/// Inputs, then outputs.
static SmallVector<StringRef> typedArrays(const OperatorInfo &op) {
  SmallVector<StringRef> names;
  for (const ArrayInfo &input : op.inputs) names.push_back(input.name);
  names.push_back(op.out.name);
  for (const ArrayInfo &output : op.others) names.push_back(output.name);
  return names;
}

std::optional<lintel_dtype> TypeRequest::of(StringRef name) const {
  auto found = typeIn(named, name);
  return found ? found : common;
}

lintel_dtype ElementTypes::of(StringRef name) const { return typeIn(named, name).value_or(common); }

lintel_dtype ElementTypes::state(const OperatorInfo &op) const {
  bool wide = llvm::any_of(typedArrays(op), [&](StringRef name) { return of(name) == LINTEL_F64; });
  return wide ? LINTEL_F64 : LINTEL_F32;
}

std::string ElementTypes::text() const {
  std::string result = dtypeName(common);
  for (const auto &[name, type] : named)
    if (type != common) result += " " + name + "=" + dtypeName(type);
  if (products == LINTEL_BF16) result += " products bf16";
  return result;
}

static Expected<lintel_dtype> parseType(StringRef text) {
  auto found = StringSwitch<std::optional<lintel_dtype>>(text)
                   .Case("f64", LINTEL_F64)
                   .Case("f32", LINTEL_F32)
                   .Case("f16", LINTEL_F16)
                   .Case("bf16", LINTEL_BF16)
                   .Default(std::nullopt);
  if (found) return *found;
  return createStringError("expected a dtype of f64, f32, f16 or bf16, found '%s'", text.str().c_str());
}

Expected<TypeRequest> lintel::parseTypes(ArrayRef<std::string> texts, StringRef products) {
  TypeRequest result;
  if (products == "bf16") result.products = LINTEL_BF16;
  else if (products != "f32")
    return createStringError("expected products of f32 or bf16, found '%s'", products.str().c_str());
  for (const std::string &text : texts) {
    auto [name, value] = StringRef(text).split('=');
    bool named = StringRef(text).contains('=');
    auto type = parseType(named ? value : name);
    if (!type) return type.takeError();
    if (named && name.empty())
      return createStringError("expected a dtype as TYPE or NAME=TYPE, found '%s'", text.c_str());
    if (named ? typeIn(result.named, name).has_value() : result.common.has_value())
      return createStringError("expected one dtype for %s, found '%s' after another",
                               named ? ("'" + name.str() + "'").c_str() : "all arrays", text.c_str());
    if (named) result.named.emplace_back(name.str(), *type);
    else result.common = *type;
  }
  return std::move(result);
}

Error lintel::checkTypes(ArrayRef<const OperatorInfo *> operators, const TypeRequest &request) {
  SmallVector<StringRef> known;
  for (const OperatorInfo *op : operators)
    for (StringRef name : typedArrays(*op))
      if (!is_contained(known, name)) known.push_back(name);
  for (const auto &[name, type] : request.named) {
    if (is_contained(known, name)) continue;
    for (const OperatorInfo *op : operators)
      for (const ArrayInfo &state : op->states)
        if (state.name == name)
          return createStringError("expected an input or output for --dtype, found the state '%s'; states are f64 "
                                   "where an input or output is, else f32",
                                   name.c_str());
    return createStringError(
        unknownName("an input or output (" + llvm::join(known, ", ") + ") for --dtype", name, known));
  }
  return Error::success();
}

ElementTypes lintel::bindTypes(const OperatorInfo &op, const TypeRequest &request) {
  ElementTypes result(request.common.value_or(LINTEL_F32));
  result.products = request.products;
  for (StringRef name : typedArrays(op))
    if (auto type = typeIn(request.named, name); type && *type != result.common)
      result.named.emplace_back(name.str(), *type);
  return result;
}

#include "codegen/emit/KernelDescriptor.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"

using namespace llvm;
using namespace lintel;

// The builder below writes the structs field by field; a change of the header must change it too.
static_assert(sizeof(lintel_parameter) == 48 && sizeof(lintel_variant) == 88 && sizeof(lintel_kernel) == 96,
              "kernel.h changed: adapt KernelDescriptor.cpp");

namespace {

class Writer {
public:
  explicit Writer(Module &module)
      : module(module), context(module.getContext()), ptr(PointerType::getUnqual(context)),
        i32(Type::getInt32Ty(context)), i64(Type::getInt64Ty(context)),
        parameterType(StructType::get(context, {ptr, i32, i32, i32, i32, ArrayType::get(i64, 2), i32})),
        variantType(StructType::get(context, {ptr, ptr, ptr, i64, i64, i64, ptr, i64, i64, ptr, i64})) {}

  Error check(const KernelDescription &k) {
    auto text = [](const std::string &value) { return value.find('\0') == std::string::npos; };
    bool good = text(k.symbol) && text(k.name) && text(k.specHash);
    std::vector<const ParameterDescription *> parameters{&k.out};
    for (const auto &p : k.others) parameters.push_back(&p);
    for (const auto &p : k.inputs) parameters.push_back(&p);
    for (const auto &p : k.states) parameters.push_back(&p);
    for (const auto &p : k.exponents) parameters.push_back(&p);
    for (const ParameterDescription *p : parameters) {
      good &= text(p->name);
      if (p->dims.size() > 2)
        return createStringError("expected at most 2 inner dimensions of '%s', found %zu", p->name.c_str(),
                                 p->dims.size());
    }
    for (const auto &v : k.variants)
      good &= text(v.form) && text(v.target) && text(v.cpu) && !v.symbol.empty() &&
              (!v.parts.parts || !v.parts.symbol.empty());
    if (!good || k.symbol.empty()) return createStringError("a kernel's names must not be empty or hold a zero byte");
    if (k.variants.empty()) return createStringError("kernel '%s' has no variant", k.name.c_str());
    if (module.getNamedValue(k.symbol)) return createStringError("the symbol '%s' is already taken", k.symbol.c_str());
    for (const auto &v : k.variants)
      for (const std::string &symbol : {v.symbol, v.parts.symbol})
        if (auto *value = module.getNamedValue(symbol); value && !isa<Function>(value))
          return createStringError("expected '%s' to be a function", symbol.c_str());
    return Error::success();
  }

  void write(const KernelDescription &k) {
    std::vector<ParameterDescription> outputs{k.out};
    outputs.insert(outputs.end(), k.others.begin(), k.others.end());
    Constant *fields[] = {number32(LINTEL_ABI_VERSION),
                          number32(sizeof(lintel_kernel)),
                          string(k.name),
                          string(k.specHash),
                          number32(k.dtype),
                          number32(k.causal),
                          number32(k.inputs.size()),
                          number32(k.states.size()),
                          number32(k.variants.size()),
                          number32(k.attends),
                          number32(outputs.size()),
                          number32(k.exponents.size()),
                          parameters(k.inputs),
                          parameters(k.states),
                          parameters(outputs),
                          variants(k.variants),
                          parameters(k.exponents)};
    Constant *value = ConstantStruct::getAnon(context, fields);
    auto *global = new GlobalVariable(module, value->getType(), /*isConstant=*/true, GlobalValue::ExternalLinkage,
                                      value, k.symbol);
    global->setAlignment(Align(8));
  }

private:
  Constant *number32(uint64_t value) { return ConstantInt::get(i32, value); }
  Constant *number64(uint64_t value) { return ConstantInt::get(i64, value); }

  Constant *constant(Type *type, Constant *value) {
    auto *global = new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage, value, "lintel_data");
    global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    return global;
  }
  Constant *string(StringRef text) {
    Constant *data = ConstantDataArray::getString(context, text);
    return constant(data->getType(), data);
  }
  Constant *array(Type *element, ArrayRef<Constant *> values) {
    if (values.empty()) return ConstantPointerNull::get(ptr);
    auto *type = ArrayType::get(element, values.size());
    return constant(type, ConstantArray::get(type, values));
  }
  Constant *parameter(const ParameterDescription &p) {
    int64_t dims[2] = {p.dims.size() > 0 ? p.dims[0] : 1, p.dims.size() > 1 ? p.dims[1] : 1};
    return ConstantStruct::get(parameterType,
                               {string(p.name), number32(p.kind), number32(p.dtype), number32(p.dims.size()),
                                number32(static_cast<uint64_t>(p.exponent + 1)),
                                ConstantArray::get(ArrayType::get(i64, 2), {number64(dims[0]), number64(dims[1])}),
                                number32(static_cast<uint64_t>(p.columns + 1))});
  }
  Constant *parameters(ArrayRef<ParameterDescription> list) {
    SmallVector<Constant *> values;
    for (const ParameterDescription &p : list) values.push_back(parameter(p));
    return array(parameterType, values);
  }
  Constant *variants(ArrayRef<VariantDescription> list) {
    SmallVector<Constant *> values;
    for (const VariantDescription &v : list) {
      auto *type = FunctionType::get(Type::getVoidTy(context), {ptr}, false);
      auto entry = [&](const std::string &symbol) {
        return cast<Constant>(module.getOrInsertFunction(symbol, type).getCallee());
      };
      values.push_back(ConstantStruct::get(
          variantType,
          {string(v.form), string(v.target), string(v.cpu), number64(v.features), number64(v.chunk),
           number64(v.scratchBytes), entry(v.symbol), number64(v.parts.parts), number64(v.parts.scratchBytes),
           v.parts.parts ? entry(v.parts.symbol) : ConstantPointerNull::get(ptr), number64(v.parts.cost)}));
    }
    return array(variantType, values);
  }

  Module &module;
  LLVMContext &context;
  PointerType *ptr;
  Type *i32, *i64;
  StructType *parameterType, *variantType;
};

} // namespace

Error lintel::addKernelDescriptor(Module &module, const KernelDescription &description) {
  Writer writer(module);
  if (Error error = writer.check(description)) return error;
  writer.write(description);
  return Error::success();
}

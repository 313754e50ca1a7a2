#include "compiler/transforms/Passes.h"
#include "dialect/ShapeInference.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

namespace lintel {
#define GEN_PASS_DEF_BINDDIMENSIONS
#include "compiler/transforms/Passes.h.inc"
} // namespace lintel

using namespace mlir;
using namespace lintel;

namespace {

struct Pass : lintel::impl::BindDimensionsBase<Pass> {
  using BindDimensionsBase::BindDimensionsBase;

  void runOnOperation() override {
    llvm::StringMap<int64_t> values;
    for (const std::string &text : dims) {
      auto [name, number] = StringRef(text).split('=');
      int64_t n;
      if (name.empty() || number.getAsInteger(10, n) || n < 1) {
        getOperation().emitError("expected a dimension as NAME=VALUE with a value of at least 1, found '")
            << text << "'";
        return signalPassFailure();
      }
      if (!values.try_emplace(name, n).second) {
        getOperation().emitError("expected each dimension once, found '") << name << "' twice";
        return signalPassFailure();
      }
    }
    for (SpecOp spec : getOperation().getOps<SpecOp>())
      if (failed(bind(spec, values))) return signalPassFailure();
  }

  LogicalResult bind(SpecOp spec, const llvm::StringMap<int64_t> &values) {
    llvm::StringSet<> reported;
    auto size = [&](const DimExpr &dim) -> std::optional<int64_t> {
      auto n = dim.evaluate(values);
      if (n) return n;
      SmallVector<std::string> names;
      dim.collectSymbols(names);
      bool missing = false;
      for (const std::string &name : names) {
        if (values.count(name)) continue;
        missing = true;
        if (reported.insert(name).second)
          spec.emitError("expected a value for dimension '") << name << "', found none; give --dim " << name << "=N";
      }
      if (!missing && reported.insert(dim.str()).second)
        spec.emitError("dimension '") << dim.str() << "' does not fit in 64 bits";
      return std::nullopt;
    };
    bool ok = true;
    auto bound = [&](Type type) -> Type {
      auto t = dyn_cast<RealType>(type);
      if (!t) return type;
      SmallVector<int64_t> sizes;
      for (unsigned i = 0; i < t.getRank(); ++i) {
        auto n = size(t.getDim(i));
        ok &= n.has_value();
        sizes.push_back(n.value_or(1));
      }
      // Nothing a kernel could hold is anywhere near this; beyond it, sizes in bytes would overflow.
      if (int64_t n = 1; ok && llvm::any_of(sizes, [&](int64_t s) {
                           return __builtin_mul_overflow(n, s, &n) || n > (int64_t(1) << 31);
                         })) {
        std::string product;
        for (int64_t s : sizes) product += (product.empty() ? "" : " x ") + std::to_string(s);
        if (reported.insert("size").second)
          spec.emitError("expected arrays of at most 2^31 elements a step, found one of ")
              << product << "; give a smaller --dim";
        ok = false;
      }
      return RealType::get(&getContext(), sizes);
    };
    spec->walk([&](Operation *op) {
      for (Value v : op->getResults()) v.setType(bound(v.getType()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument arg : block.getArguments()) arg.setType(bound(arg.getType()));
      OpBuilder builder(op);
      if (auto dim = dyn_cast<DimOp>(op)) {
        if (auto n = size(*DimExpr::parse(dim.getDim()))) dim.setDim(std::to_string(*n));
        else ok = false;
      }
      if (auto extract = dyn_cast<ExtractOp>(op); extract && extract.getIndex() != "0") {
        auto n = size(*DimExpr::parse(extract.getIndex()));
        ok &= n.has_value();
        if (n) {
          extract.setIndex(std::to_string(*n));
          ok &= succeeded(inferExtract(extract.getLoc(), extract.getX().getType(), extract.getIndex()));
        }
      }
    });
    return success(ok);
  }
};

} // namespace

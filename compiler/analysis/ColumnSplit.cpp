#include "compiler/analysis/ColumnSplit.h"
#include "dialect/OperatorUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lintel;

namespace {

class Finder {
public:
  Finder(SpecOp spec, StringRef name) : spec(spec), name(name) {}

  /// Where the dimension is an axis of a value; -1: nowhere.
  int axisOf(Value v) const {
    auto type = dyn_cast<RealType>(v.getType());
    for (unsigned i = 0; type && i < type.getRank(); ++i)
      if (DimExpr dim = type.getDim(i); dim.isSymbol() && dim.getSymbol() == name) return i;
    return -1;
  }

  std::string whyNot() {
    std::string reason;
    spec.getBody().walk([&](Block *block) {
      for (BlockArgument argument : block->getArguments())
        if (reason.empty()) reason = badShape(argument);
    });
    spec.getBody().walk([&](Operation *op) {
      if (!reason.empty()) return WalkResult::interrupt();
      for (Value result : op->getResults())
        if (reason.empty()) reason = badShape(result);
      if (reason.empty()) reason = mixes(op);
      return WalkResult::advance();
    });
    return reason;
  }

private:
  bool mentions(const DimExpr &dim) const {
    SmallVector<std::string> symbols;
    dim.collectSymbols(symbols);
    return llvm::is_contained(symbols, name);
  }
  bool mentions(StringRef text) const {
    auto dim = DimExpr::parse(text);
    return dim && mentions(*dim);
  }

  /// The dimension must be an axis by itself, and of one axis alone.
  std::string badShape(Value v) const {
    auto type = dyn_cast<RealType>(v.getType());
    int axes = 0;
    for (unsigned i = 0; type && i < type.getRank(); ++i) {
      DimExpr dim = type.getDim(i);
      if (!mentions(dim)) continue;
      if (!dim.isSymbol()) return "a value has an axis of " + dim.str() + ", in which its elements lie mixed";
      ++axes;
    }
    return axes > 1 ? "a value has two axes of it" : "";
  }

  /// How an op lets an element depend on others along the dimension; empty: it does not. Shapes have been looked at.
  std::string mixes(Operation *op) const {
    auto along = [&](Value v, int axis) { return axis >= 0 && axisOf(v) == axis; };
    auto lastAxis = [](Value v) { return static_cast<int>(cast<RealType>(v.getType()).getRank()) - 1; };
    return llvm::TypeSwitch<Operation *, std::string>(op)
        .Case<ConstantOp, PositionOp, UnaryOp, BinaryOp, SelectOp, BroadcastOp, OuterOp, FinalOp, YieldOp>(
            [](auto) { return ""; })
        .Case([&](DimOp dim) { return mentions(dim.getDim()) ? "its size is used as a number" : ""; })
        .Case([&](MatmulOp product) {
          return along(product.getA(), lastAxis(product.getA())) || along(product.getB(), 0) ? "a product sums over it"
                                                                                             : "";
        })
        .Case([&](ReduceOp reduce) {
          return axisOf(reduce.getX()) < 0             ? ""
                 : reduce.getKind() == ReduceKind::Max ? "a maximum is taken over it"
                                                       : "a sum goes over it";
        })
        .Case([&](CumsumOp sum) { return axisOf(sum.getX()) < 0 ? "" : "a running sum goes over it"; })
        .Case([&](ExtractOp extract) {
          return along(extract.getX(), 0) || mentions(extract.getIndex()) ? "one element of it is taken" : "";
        })
        .Case([&](AttendOp attend) {
          return axisOf(attend.getQ()) >= 0 || axisOf(attend.getK()) >= 0 ? "weights depend on all of it" : "";
        })
        .Default([&](Operation *other) {
          auto has = [&](Value v) { return axisOf(v) >= 0; };
          return llvm::any_of(other->getOperands(), has) || llvm::any_of(other->getResults(), has)
                     ? ("its elements are rearranged by " + other->getName().stripDialect()).str()
                     : "";
        });
  }

  SpecOp spec;
  StringRef name;
};

} // namespace

ColumnSplit lintel::columnSplitOf(SpecOp spec) {
  ColumnSplit result;
  Block &body = spec.getBody().front();
  unsigned outputs = numOutputs(spec);
  auto yields = body.getTerminator()->getOperands();
  auto first = cast<RealType>(yields[0].getType());
  auto refuse = [&](const Twine &why) {
    result.whyNot = why.str();
    return result;
  };
  if (first.getRank() == 0) return refuse("the output is one number a step");
  if (!first.getDim(0).isSymbol())
    return refuse("the output's size " + first.getDim(0).str() + " is no name of a dimension");
  result.dimension = first.getDim(0).getSymbol().str();
  Finder finder(spec, result.dimension);
  if (std::string why = finder.whyNot(); !why.empty()) return refuse(why);
  auto axes = [&](ValueRange values) {
    SmallVector<int> found;
    for (Value v : values) found.push_back(finder.axisOf(v));
    return found;
  };
  result.inputs = axes(body.getArguments().take_front(spec.getInputs().size()));
  result.states = axes(body.getArguments().drop_front(spec.getInputs().size()));
  result.outputs = axes(yields.take_front(outputs));
  SmallVector<StringRef> names = outputNames(spec);
  for (auto [axis, output] : llvm::zip_equal(result.outputs, names))
    if (axis < 0) return refuse("the output '" + output + "' has no axis of it, and every part would write it");
  return result;
}

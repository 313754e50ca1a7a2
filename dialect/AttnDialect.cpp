#include "dialect/AttnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace lintel;

#include "dialect/AttnDialect.cpp.inc"
#include "dialect/AttnEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/AttnTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttrs.cpp.inc"

LogicalResult lintel::verifyInOrder(Operation *op) {
  Region *region = op->getParentRegion();
  if (region && !mayBeGraphRegion(*region)) return success();
  return op->emitOpError("expected to stand inside of an operator (attn.spec or what is derived from it)");
}

void AttnDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/AttnTypes.cpp.inc"
      >();
}

void AttnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/AttnAttrs.cpp.inc"
      >();
}

void AttnDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/AttnOps.cpp.inc"
      >();
}

RealType RealType::get(MLIRContext *context, ArrayRef<DimExpr> dims) {
  SmallVector<StringAttr> names;
  for (const DimExpr &dim : dims) names.push_back(StringAttr::get(context, dim.str()));
  return get(context, names);
}

RealType RealType::get(MLIRContext *context, ArrayRef<int64_t> dims) {
  SmallVector<StringAttr> names;
  for (int64_t dim : dims) names.push_back(StringAttr::get(context, Twine(dim)));
  return get(context, names);
}

DimExpr RealType::getDim(unsigned i) const { return DimExpr::parse(getDims()[i].getValue()).value_or(DimExpr()); }

bool RealType::isStatic() const {
  return llvm::all_of(getDims(), [](StringAttr dim) {
    int64_t n;
    return !dim.getValue().getAsInteger(10, n);
  });
}

SmallVector<int64_t> RealType::getSizes() const {
  SmallVector<int64_t> sizes;
  for (StringAttr dim : getDims()) {
    int64_t n = 0;
    bool bad = dim.getValue().getAsInteger(10, n);
    assert(!bad && "dimensions are not bound");
    (void)bad;
    sizes.push_back(n);
  }
  return sizes;
}

int64_t RealType::getNumElements() const {
  int64_t n = 1;
  for (int64_t size : getSizes()) n *= size;
  return n;
}

// One dimension: a sum of products of names and positive integers, read token by token and made canonical.
static ParseResult parseDim(AsmParser &parser, std::string &text) {
  do {
    if (!text.empty()) text += " + ";
    bool first = true;
    do {
      if (!first) text += "*";
      first = false;
      int64_t n;
      StringRef name;
      OptionalParseResult number = parser.parseOptionalInteger(n);
      if (number.has_value()) {
        if (failed(*number)) return failure();
        if (n <= 0)
          return parser.emitError(parser.getCurrentLocation(), "expected a dimension of at least 1, found ") << n;
        text += std::to_string(n);
      } else if (succeeded(parser.parseOptionalKeyword(&name))) {
        text += name;
      } else {
        return parser.emitError(parser.getCurrentLocation(),
                                "expected a dimension: a name, a positive integer, or a sum of their products");
      }
    } while (succeeded(parser.parseOptionalStar()));
  } while (succeeded(parser.parseOptionalPlus()));
  return success();
}

Type RealType::parse(AsmParser &parser) {
  SmallVector<StringAttr> dims;
  auto one = [&]() -> ParseResult {
    std::string text, why;
    SMLoc at = parser.getCurrentLocation();
    if (failed(parseDim(parser, text))) return failure();
    auto dim = DimExpr::parse(text, &why);
    if (!dim || !dim->isValid()) return parser.emitError(at, "expected a dimension, found '") << text << "': " << why;
    dims.push_back(StringAttr::get(parser.getContext(), dim->str()));
    return success();
  };
  if (failed(parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, one, " in a tensor's dimensions")))
    return {};
  if (dims.size() > 4) {
    parser.emitError(parser.getNameLoc(), "expected at most 4 dimensions, found ") << dims.size();
    return {};
  }
  return get(parser.getContext(), dims);
}

void RealType::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getDims(), printer, [&](StringAttr dim) { printer << dim.getValue(); });
  printer << ">";
}

Type SequenceType::parse(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  auto one = [&]() -> ParseResult {
    int64_t n;
    if (failed(parser.parseInteger(n))) return failure();
    if (n <= 0) return parser.emitError(parser.getCurrentLocation(), "expected a size of at least 1, found ") << n;
    sizes.push_back(n);
    return success();
  };
  if (failed(parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, one, " in a sequence's sizes")))
    return {};
  if (sizes.size() > 2) {
    parser.emitError(parser.getNameLoc(), "expected at most 2 sizes a step, found ") << sizes.size();
    return {};
  }
  return get(parser.getContext(), sizes);
}

void SequenceType::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getSizes(), printer);
  printer << ">";
}

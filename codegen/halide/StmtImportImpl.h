#ifndef LINTEL_CODEGEN_HALIDE_STMTIMPORTIMPL_H
#define LINTEL_CODEGEN_HALIDE_STMTIMPORTIMPL_H

// Private to the StmtImport*.cpp files: the walk over Halide's statement.

#include "codegen/halide/HalideHeader.h"

#include "codegen/halide/StmtImport.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>
#include <string>
#include <vector>

namespace lintel::detail {

namespace hi = Halide::Internal;
using mlir::ArrayRef;
using mlir::SmallVector;
using mlir::Type;
using mlir::Value;

/// A refusal. Thrown and caught inside this folder only, and only through frames of ours and Halide's.
struct ImportError {
  std::string message;
};
/// End of the message where a stride argument would have to be narrowed to 32 bits.
extern const char *const wideFault;
[[noreturn]] void refuse(const std::string &message);

/// What Halide knows nothing of while it prints: an Expr or Type as text, for messages.
std::string text(const Halide::Expr &e);
std::string text(const Halide::Type &t);

/// `count` lanes: first, first + step, ...
inline SmallVector<int64_t> lanesFrom(int64_t first, int64_t count, int64_t step = 1) {
  SmallVector<int64_t> lanes;
  for (int64_t i = 0; i < count; ++i) lanes.push_back(first + i * step);
  return lanes;
}

inline bool isFloat(Halide::Type t) { return t.is_float() || t.is_bfloat(); }

/// Walks one LoweredFunc. Expressions leave their result in `result`; statements are emitted at the builder's place.
class Importer : public hi::IRVisitor {
public:
  Importer(mlir::ModuleOp module, const ImportOptions &options, mlir::Location loc);

  /// Throws ImportError, or what Halide throws; then the caller erases the half-made function (`made`).
  ImportedStage run(const hi::LoweredFunc &fn, llvm::StringRef name);
  mlir::func::FuncOp made;

private:
  using hi::IRVisitor::visit;

  /// A let, loop variable or parameter. An int32 scalar is held in `index` and cast where its i32 value is asked for;
  /// `wide` says that a stride argument is part of it, so that it may not fit in 32 bits.
  struct Binding {
    Value value;
    Value index;
    bool wide = false;
  };
  /// An allocation or argument; `alignment` is what is known of the base's address, in bytes.
  struct Buffer {
    Value memref;
    int64_t alignment;
  };
  /// Binds a name for the life of the object.
  template <class Map> struct Scoped {
    Map &map;
    std::string name;
    Scoped(Map &map, const std::string &name, typename Map::mapped_type::value_type value) : map(map), name(name) {
      map[name].push_back(std::move(value));
    }
    ~Scoped() { map[name].pop_back(); }
    Scoped(const Scoped &) = delete;
  };
  using Variables = std::map<std::string, std::vector<Binding>>;
  using Buffers = std::map<std::string, std::vector<Buffer>>;

  // StmtImport.cpp: arguments and types.
  Type elementType(Halide::Type t);
  Type typeOf(Halide::Type t);
  void declareArguments(const hi::LoweredFunc &fn, llvm::StringRef name);

  // StmtImportExprs.cpp: arithmetic. The index forms emit int32 expressions as `index` or vectors of it.
  Value eval(const Halide::Expr &e);
  Value evalIndex(const Halide::Expr &e);
  Value evalIndexVector(const Halide::Expr &e);
  Value indexBinary(const Halide::Expr &a, const Halide::Expr &b, hi::IRNodeType kind);
  Value indexDivMod(const Halide::Expr &a, const Halide::Expr &b, bool mod);
  bool isWide(const Halide::Expr &e);
  const Binding *lookup(const std::string &name);
  Binding bindingOf(const Halide::Expr &e);
  /// `e` under a fresh name if it is worth one: for rewrites that mention an operand several times.
  Halide::Expr shared(const Halide::Expr &e);
  Value indexConstant(int64_t v) { return mlir::arith::ConstantIndexOp::create(b, v); }
  Value addIndex(Value v, int64_t offset);
  Value splat(Halide::Type t, mlir::TypedAttr scalar);
  /// A number as an attribute of its scalar type; null for other expressions.
  mlir::TypedAttr immediate(const Halide::Expr &e);
  Value zero(Halide::Type t);
  Value arithmetic(hi::IRNodeType kind, Halide::Type t, Value x, Value y);
  Value lessThan(Halide::Type t, Value x, Value y);
  void compare(hi::IRNodeType kind, const Halide::Expr &a, const Halide::Expr &b);
  void binary(hi::IRNodeType kind, const Halide::Expr &a, const Halide::Expr &b);
  Value convert(Value x, Halide::Type from, Halide::Type to);

  void visit(const hi::IntImm *) override;
  void visit(const hi::UIntImm *) override;
  void visit(const hi::FloatImm *) override;
  void visit(const hi::StringImm *) override;
  void visit(const hi::Cast *) override;
  void visit(const hi::Reinterpret *) override;
  void visit(const hi::Variable *) override;
  void visit(const hi::Add *) override;
  void visit(const hi::Sub *) override;
  void visit(const hi::Mul *) override;
  void visit(const hi::Div *) override;
  void visit(const hi::Mod *) override;
  void visit(const hi::Min *) override;
  void visit(const hi::Max *) override;
  void visit(const hi::EQ *) override;
  void visit(const hi::NE *) override;
  void visit(const hi::LT *) override;
  void visit(const hi::LE *) override;
  void visit(const hi::GT *) override;
  void visit(const hi::GE *) override;
  void visit(const hi::And *) override;
  void visit(const hi::Or *) override;
  void visit(const hi::Not *) override;
  void visit(const hi::Select *) override;
  void visit(const hi::Let *) override;

  // StmtImportVectors.cpp: lanes.
  Value broadcast(Value v, int lanes);
  Value shuffle(Value x, Value y, ArrayRef<int64_t> lanes);
  Value lanesOf(Value v, ArrayRef<int64_t> lanes) { return shuffle(v, v, lanes); }
  Value concat(ArrayRef<Value> parts, Type element);
  /// K vectors of K lanes (K a power of two) as a square matrix, transposed.
  SmallVector<Value> transpose(SmallVector<Value> rows);
  Value combine(hi::VectorReduce::Operator op, Halide::Type t, Value x, Value y);

  void visit(const hi::Ramp *) override;
  void visit(const hi::Broadcast *) override;
  void visit(const hi::Shuffle *) override;
  void visit(const hi::VectorReduce *) override;

  // StmtImportMemory.cpp: loads, stores, allocations, and the two transposes.
  const Buffer &buffer(const std::string &name, Halide::Type element);
  llvm::MaybeAlign alignment(const hi::ModulusRemainder &given, const Halide::Expr &index, Halide::Type t,
                             const Buffer &buf, const Halide::Parameter &param);
  Value strideStep(Value base, const Halide::Expr &stride, int lane);
  Value allTrue(int lanes);
  Value gatherIndices(const Halide::Expr &index);
  void storeStrided(const hi::Store *, const hi::Ramp *, Value v, Value memref);
  void storeTransposed(ArrayRef<Value> group, Value memref, Value base, int64_t stride);
  void flushStores();
  void prepareLoads(ArrayRef<const hi::Store *> run);
  void loadTransposed(llvm::StringRef name, int64_t stride, ArrayRef<const hi::Load *> group);

  void visit(const hi::Load *) override;
  void visit(const hi::Store *) override;
  void importStore(const hi::Store *);
  void visit(const hi::Allocate *) override;
  void visit(const hi::Free *) override {}
  void visit(const hi::Prefetch *) override;
  void visit(const hi::Provide *) override;
  void visit(const hi::Realize *) override;

  // StmtImportControl.cpp: statements.
  void importBody(const hi::Stmt &s);

  void visit(const hi::LetStmt *) override;
  void visit(const hi::AssertStmt *) override;
  void visit(const hi::ProducerConsumer *) override;
  void visit(const hi::For *) override;
  void visit(const hi::Block *) override;
  void visit(const hi::Fork *) override;
  void visit(const hi::Acquire *) override;
  void visit(const hi::IfThenElse *) override;
  void visit(const hi::Evaluate *) override;
  void visit(const hi::Atomic *) override;
  void visit(const hi::HoistedStorage *) override;

  // StmtImportCalls.cpp: intrinsics and extern functions.
  bool importBitwise(const hi::Call *);
  bool importInteger(const hi::Call *);
  bool importSpecial(const hi::Call *);
  bool importMath(const hi::Call *);
  bool importPairs(const hi::Call *); // StmtImportPairs.cpp
  void importPrefetch(const hi::Call *);
  Value strideArgument(const hi::Call *);

  void visit(const hi::Call *) override;

  mlir::ModuleOp module;
  const ImportOptions &options;
  mlir::Location outerLoc;
  mlir::ImplicitLocOpBuilder b;
  mlir::Block *entry = nullptr;
  Value result;

  Variables variables;
  Buffers buffers;
  /// "<name>.buffer" of each buffer argument: its position and memref.
  std::map<std::string, unsigned> bufferArguments;
  std::map<std::pair<unsigned, unsigned>, Value> strideValues;
  int64_t scratchBytes = 0;

  /// Strided stores that may yet become one transpose: same buffer, stride and type, bases one apart.
  struct PendingStore {
    Halide::Expr base;
    Value index;
    Value value;
  };
  struct {
    std::string name;
    int64_t stride = 0;
    std::vector<PendingStore> stores;
  } pending;
  /// Strided loads of the current run of stores that a transpose has already made.
  std::map<const hi::Load *, Value> preparedLoads;
};

} // namespace lintel::detail

#endif

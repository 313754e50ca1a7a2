#include "Cases.h"

using namespace Halide;
using namespace Halide::Internal;
using lintel::testing::StatementCase;

namespace {

Var x("x"), y("y");

Target target() { return lintel::testing::importTarget(lintel::testing::fixedTarget(), false); }

LoweredFunc lowered(Func f, std::vector<Argument> arguments) {
  return Pipeline(f).compile_to_module(arguments, "stage", target()).functions()[0];
}

// A buffer `a` of floats, an int32 `n`, and a statement that may use both.
LoweredFunc around(Stmt body) {
  Expr handle = Variable::make(type_of<halide_buffer_t *>(), "a.buffer");
  Expr host = Call::make(Handle(), Call::buffer_get_host, {handle}, Call::Extern);
  body = LetStmt::make("a", host, body);
  std::vector<LoweredArgument> arguments = {
      LoweredArgument("a", Argument::OutputBuffer, Float(32), 1, ArgumentEstimates{}),
      LoweredArgument("n", Argument::InputScalar, Int(32), 0, ArgumentEstimates{})};
  return LoweredFunc("stage", arguments, body, LinkageType::External);
}
Expr n() { return Variable::make(Int(32), "n"); }
Stmt store(Expr value, Expr index, Expr predicate = Expr()) {
  if (!predicate.defined()) predicate = const_true(index.type().lanes());
  return Store::make("a", value, index, Parameter(), predicate, ModulusRemainder());
}
Expr load(Expr index, Expr predicate = Expr()) {
  if (!predicate.defined()) predicate = const_true(index.type().lanes());
  return Load::make(Float(32, index.type().lanes()), "a", index, Buffer<>(), Parameter(), predicate,
                    ModulusRemainder());
}
Stmt loop(const char *name, ForType type) {
  return For::make(name, 0, 8, type, Partition::Auto, DeviceAPI::None, store(1.0f, Variable::make(Int(32), name)));
}

LoweredFunc forSerial() { return around(loop("i", ForType::Serial)); }
LoweredFunc forParallel() { return around(loop("i", ForType::Parallel)); }
LoweredFunc forGpu() { return around(loop("i", ForType::GPUBlock)); }
LoweredFunc forVectorized() { return around(loop("i", ForType::Vectorized)); }
LoweredFunc ifThenElse() { return around(IfThenElse::make(n() < 4, store(1.0f, 0), store(2.0f, n()))); }
LoweredFunc predicatedScalar() { return around(store(load(n(), n() < 8) + 1.0f, n() + 1, n() < 7)); }
LoweredFunc letNodes() {
  Expr t = Variable::make(Int(32), "t"), u = Variable::make(Float(32), "u");
  Expr value = Let::make("u", load(t), u * u);
  return around(LetStmt::make("t", n() * 2 + 1, store(value, t)));
}
LoweredFunc producer() {
  return around(Block::make(ProducerConsumer::make_produce("tile", store(1.0f, 0)),
                            ProducerConsumer::make_consume("tile", store(load(0), 1))));
}
LoweredFunc allocate() {
  Expr t = Load::make(Float(32), "t", 3, Buffer<>(), Parameter(), const_true(), ModulusRemainder());
  Stmt body = Block::make(
      {Store::make("t", load(0), 3, Parameter(), const_true(), ModulusRemainder()), store(t, 1), Free::make("t")});
  Stmt inner = Allocate::make("t", Float(32), MemoryType::Stack, {4, 8}, const_true(), body);
  return around(For::make("i", 0, 4, ForType::Serial, Partition::Auto, DeviceAPI::None, inner));
}
LoweredFunc allocateDynamic() {
  return around(Allocate::make("t", Float(32), MemoryType::Heap, {n(), 8}, const_true(), store(1.0f, 0)));
}
LoweredFunc allocateShared() {
  return around(Allocate::make("t", Float(32), MemoryType::GPUShared, {8}, const_true(), store(1.0f, 0)));
}
LoweredFunc allocateLarge() {
  return around(Allocate::make("t", Float(32), MemoryType::Stack, {1 << 24}, const_true(), store(1.0f, 0)));
}
LoweredFunc assertNode() { return around(Block::make(AssertStmt::make(n() < 4, Expr(0)), store(1.0f, 0))); }
LoweredFunc atomic() { return around(Atomic::make("f", "", store(1.0f, 0))); }
LoweredFunc atomicMutex() { return around(Atomic::make("f", "lock", store(1.0f, 0))); }
LoweredFunc fork() { return around(Fork::make(store(1.0f, 0), store(2.0f, 1))); }
LoweredFunc acquire() {
  return around(Acquire::make(Variable::make(type_of<halide_semaphore_t *>(), "s"), 1, store(1.0f, 0)));
}
LoweredFunc provide() { return around(Provide::make("f", {Expr(1.0f)}, {n()}, const_true())); }
LoweredFunc realize() {
  return around(Realize::make("f", {Float(32)}, MemoryType::Auto, {Range(0, 8)}, const_true(), store(1.0f, 0)));
}
LoweredFunc evaluate() {
  return around(Block::make(Evaluate::make(load(n())), Block::make(Evaluate::make(0), store(1.0f, 0))));
}
LoweredFunc stringNode() {
  return around(
      Evaluate::make(Call::make(Int(32), Call::return_second, {StringImm::make("text"), n()}, Call::PureIntrinsic)));
}
LoweredFunc unbound() { return around(store(1.0f, Variable::make(Int(32), "nowhere"))); }
LoweredFunc unknownBuffer() { return around(Store::make("q", 1.0f, 0, Parameter(), const_true(), ModulusRemainder())); }
LoweredFunc wrongType() { return around(store(cast<double>(load(0)), 0)); }
LoweredFunc barrier() {
  return around(Evaluate::make(Call::make(Int(32), Call::gpu_thread_barrier, {0}, Call::Intrinsic)));
}
LoweredFunc undefined() { return around(store(undef(Float(32)), 0)); }
LoweredFunc unknownExtern() {
  return around(store(Call::make(Float(32), "my_function", {load(0)}, Call::PureExtern), 0));
}
LoweredFunc lintelExtern() {
  Expr v = load(Ramp::make(0, 1, 8));
  auto call = [&](const char *name) { return Call::make(v.type(), name, {v}, Call::PureExtern); };
  Expr scalar = Call::make(Float(32), "lintel_fma_f32", {load(0), load(1), load(2)}, Call::PureExtern);
  return around(Block::make(
      store(call("lintel_log1p_f32") + call("lintel_expm1_f32") + call("lintel_erf_f32"), Ramp::make(0, 1, 8)),
      store(scalar, 9)));
}
/// a[80 + i] = a[64 + i] + a[i] a[32 + i] + a[16 + i] a[48 + i] with factors in bf16, in a vector, and the first alone.
LoweredFunc bf16Pairs() {
  auto dot = [&](auto at) {
    auto pack = [&](int low, int high) {
      Expr x = load(at(low));
      return Call::make(UInt(32, x.type().lanes()), "lintel_pack_bf16", {x, load(at(high))}, Call::PureExtern);
    };
    Expr sum = load(at(64));
    return Call::make(sum.type(), "lintel_dot_bf16", {sum, pack(0, 16), pack(32, 48)}, Call::PureExtern);
  };
  auto lanes = [](int at) { return Ramp::make(at, 1, 16); };
  return around(Block::make(store(dot(lanes), lanes(80)), store(dot([](int at) { return Expr(at); }), 96)));
}
LoweredFunc shuffles() {
  Expr v = load(Ramp::make(0, 1, 4)), w = load(Ramp::make(4, 1, 4));
  Stmt s = Block::make({store(Internal::Shuffle::make_interleave({v, w}), Ramp::make(8, 1, 8)),
                        store(Internal::Shuffle::make_slice(v, 1, 1, 2), Ramp::make(16, 1, 2)),
                        store(Internal::Shuffle::make_extract_element(w, 2), 18),
                        store(Internal::Shuffle::make_concat({v, w, v}), Ramp::make(20, 1, 12)),
                        store(Broadcast::make(v, 2), Ramp::make(32, 1, 8))});
  return around(s);
}

// A stride known only at run time, and one that no dense load serves.
LoweredFunc stridedScalars() {
  return around(Block::make(store(load(Ramp::make(0, n(), 4)), Ramp::make(64, 1, 4)),
                            store(load(Ramp::make(0, 5, 4)), Ramp::make(1, n(), 4))));
}
LoweredFunc everyOther() { return around(store(load(Ramp::make(n(), 2, 4)), Ramp::make(64, 1, 4))); }
LoweredFunc oneForAll() { return around(store(load(Broadcast::make(n(), 4)), Ramp::make(64, 1, 4))); }
LoweredFunc casesOfCall() {
  Expr chosen = Call::make(Float(32), Call::if_then_else, {n() < 4, load(0), load(n())}, Call::PureIntrinsic);
  Expr second = Call::make(Float(32), Call::return_second, {load(1), load(2)}, Call::PureIntrinsic);
  return around(Block::make(store(likely(chosen), 3), store(second, 4)));
}
LoweredFunc euclid() {
  Expr at = (n() / 6) * 32 + n() % 6 + (n() >> 2) + (n() & 7) + 5 / n() + n() % (n() - 2) + 9 / (n() * -1);
  return around(store(load(at), 900));
}

LoweredFunc parallelPipeline() {
  Func f("f");
  f(x, y) = cast<float>(x + y);
  f.output_buffer().dim(0).set_bounds(0, 8);
  f.output_buffer().dim(1).set_bounds(0, 8).set_stride(8);
  f.parallel(y);
  return lowered(f, {});
}
LoweredFunc vectorizedExtern() {
  ImageParam a(Float(32), 1, "a");
  a.dim(0).set_bounds(0, 32);
  Func f("f");
  f(x) = Call::make(Float(32), "lintel_log1p_f32", {a(x)}, Call::PureExtern);
  f.output_buffer().dim(0).set_bounds(0, 32);
  f.vectorize(x, 8);
  return lowered(f, {a});
}
// A stride that is used as a number, in i32 vectors.
LoweredFunc strideAsNumber() {
  ImageParam a(Int(32), 2, "a");
  a.dim(0).set_bounds(0, 32);
  a.dim(1).set_bounds(0, 32);
  Func f("f");
  f(x, y) = a(x, y) + a.dim(1).stride();
  f.output_buffer().dim(0).set_bounds(0, 32);
  f.output_buffer().dim(1).set_bounds(0, 16).set_stride(32);
  f.vectorize(x, 8);
  return lowered(f, {a});
}
// Rows chosen by data: the offsets of a gather take the stride in.
LoweredFunc gatherRows() {
  ImageParam a(Float(32), 2, "a"), rows(Int(32), 1, "rows");
  a.dim(0).set_bounds(0, 8);
  a.dim(1).set_bounds(0, 64);
  rows.dim(0).set_bounds(0, 16);
  Func f("f");
  f(x, y) = a(y, clamp(rows(x), 0, 63));
  f.output_buffer().dim(0).set_bounds(0, 16);
  f.output_buffer().dim(1).set_bounds(0, 8).set_stride(16);
  f.vectorize(x, 8);
  return lowered(f, {a, rows});
}
LoweredFunc openBounds() {
  ImageParam weights(Float(32), 1, "weights");
  Func f("f");
  f(x) = weights(clamp(x, weights.dim(0).min(), weights.dim(0).max()));
  f.output_buffer().dim(0).set_bounds(0, 8);
  return lowered(f, {weights});
}
LoweredFunc openStrides() {
  ImageParam a(Float(32), 2, "a");
  a.dim(0).set_bounds(0, 32);
  a.dim(1).set_bounds(0, 64);
  Func f("f");
  f(x, y) = a(x, y) + a(y, x % 4);
  f.output_buffer().dim(0).set_bounds(0, 32);
  f.output_buffer().dim(1).set_bounds(0, 16);
  f.vectorize(x, 8);
  return lowered(f, {a});
}

} // namespace

const std::vector<StatementCase> &lintel::testing::statements() {
  static const std::vector<StatementCase> cases = {
      {"acquire", acquire},
      {"allocate", allocate},
      {"allocate-dynamic", allocateDynamic},
      {"allocate-large", allocateLarge},
      {"allocate-shared", allocateShared},
      {"assert", assertNode},
      {"atomic", atomic},
      {"atomic-mutex", atomicMutex},
      {"barrier", barrier},
      {"call", casesOfCall},
      {"bf16-pairs", bf16Pairs},
      {"euclid", euclid},
      {"evaluate", evaluate},
      {"every-other", everyOther},
      {"extern-lintel", lintelExtern},
      {"extern-unknown", unknownExtern},
      {"extern-vectorized", vectorizedExtern},
      {"for", forSerial},
      {"for-gpu", forGpu},
      {"for-parallel", forParallel},
      {"for-vectorized", forVectorized},
      {"fork", fork},
      {"gather-rows", gatherRows},
      {"if", ifThenElse},
      {"let", letNodes},
      {"one-for-all", oneForAll},
      {"open-bounds", openBounds},
      {"open-strides", openStrides},
      {"parallel-pipeline", parallelPipeline},
      {"predicated-scalar", predicatedScalar},
      {"producer", producer},
      {"provide", provide},
      {"realize", realize},
      {"shuffle", shuffles},
      {"stride-as-number", strideAsNumber},
      {"strided-scalars", stridedScalars},
      {"string", stringNode},
      {"unbound-variable", unbound},
      {"undef", undefined},
      {"unknown-buffer", unknownBuffer},
      {"wrong-type", wrongType},
  };
  return cases;
}

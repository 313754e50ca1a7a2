// One operator written in several ways is one kernel.
#include "compiler/driver/Compilation.h"
#include "gtest/gtest.h"

using namespace lintel;

namespace {

std::string kernelText(const char *source, const Dimensions &dimensions, const FormRequest &form) {
  auto file = llvm::cantFail(SpecFile::parse(source, "same.attn"));
  const OperatorInfo &op = file->operators().front();
  CompileOptions options;
  options.dimensions = dimensions;
  auto module = buildKernel(*file, op, options, form);
  if (!module) return llvm::toString(module.takeError());
  std::string text;
  llvm::raw_string_ostream os(text);
  (*module)->print(os); // without locations
  return text;
}

void expectSame(std::vector<const char *> sources, const Dimensions &dimensions, std::vector<const char *> forms) {
  for (const char *form : forms) {
    FormRequest request;
    request.form = form, request.chunk = std::string(form) == "recurrent" ? 0 : 4;
    std::string first = kernelText(sources.front(), dimensions, request);
    EXPECT_NE(first.find("attn.kernel"), std::string::npos) << first;
    for (const char *source : sources)
      EXPECT_EQ(first, kernelText(source, dimensions, request)) << form << "\n" << source;
  }
}

TEST(SameOperator, Identity) {
  expectSame({"attention a {\n token q[dk], k[dk], v[dv]\n}",
              "attention a {\n token q[dk], k[dk], v[dv]\n causal\n scale 1\n feature(x) = x\n}",
              "attention a {\n token q[dk], k[dk], v[dv]\n state S[dk, dv]\n S = S + outer(k, v)\n out = q @ S\n}",
              "attention a {\n token q[dk], k[dk], v[dv]\n state S[dk, dv]\n let w = outer(k, v)\n S = w + S\n out = q "
              "@ S\n}"},
             {{"dk", 4}, {"dv", 8}}, {"recurrent", "chunkwise", "parallel"});
}

TEST(SameOperator, ScalarGate) {
  expectSame(
      {"attention a {\n token q[dk], k[dk], v[dv], g\n decay exp(g)\n}",
       "attention a {\n token q[dk], k[dk], v[dv], g\n state S[dk, dv]\n S = exp(g) * S + outer(k, v)\n out = q @ S\n}",
       "attention a {\n token q[dk], k[dk], v[dv], g\n state S[dk, dv]\n S = S * exp(g)\n S = S + outer(k, v)\n"
       " out = q @ S\n}"},
      {{"dk", 4}, {"dv", 8}}, {"recurrent", "chunkwise", "parallel"});
}

TEST(SameOperator, DiagonalGate) {
  expectSame({"attention a {\n token q[dk], k[dk], v[dv], g[dk]\n scale rsqrt(dk)\n decay exp(g)\n}",
              "attention a {\n token q[dk], k[dk], v[dv], g[dk]\n state S[dk, dv]\n S = exp(g) * S + outer(k, v)\n"
              " out = (q * rsqrt(dk)) @ S\n}",
              "attention a {\n token q[dk], k[dk], v[dv], g[dk]\n state S[dk, dv]\n let a = exp(g)\n S = a * S\n"
              " S = S + outer(k, v)\n let query = rsqrt(dk) * q\n out = query @ S\n}"},
             {{"dk", 4}, {"dv", 8}}, {"recurrent", "chunkwise", "parallel"});
}

TEST(SameOperator, Normalised) {
  expectSame({"attention a {\n token q[dk], k[dk], v[dv]\n feature(x) = elu(x) + 1\n normalize\n}",
              "attention a {\n token q[dk], k[dk], v[dv]\n state S[dk, dv], z[dk]\n let p = elu(k) + 1\n"
              " S = S + outer(p, v)\n z = z + p\n let r = elu(q) + 1\n out = r @ S / dot(r, z)\n}",
              "attention a {\n token q[dk], k[dk], v[dv]\n state S[dk, dv], z[dk]\n S = S + outer(elu(k) + 1, v)\n"
              " z = z + (elu(k) + 1)\n out = (elu(q) + 1) @ S / ((elu(q) + 1) . z)\n}",
              "attention a {\n token q[dk], k[dk], v[dv]\n state S[dk, dv], z[dk]\n S = outer(1 + elu(k), v) + S\n"
              " z = z + elu(k) + 1\n out = (elu(q) + 1) @ S / ((elu(q) + 1) . z)\n}"},
             {{"dk", 4}, {"dv", 8}}, {"recurrent", "chunkwise", "parallel"});
}

TEST(SameOperator, DeltaRule) {
  expectSame({"attention a {\n token q[dk], k[dk], v[dv], g, beta\n state S[dk, dv]\n S = exp(g) * S\n"
              " S = S + beta * outer(k, v - k @ S)\n out = q @ S\n}",
              "attention a {\n token q[dk], k[dk], v[dv], g, beta\n state S[dk, dv]\n"
              " S = exp(g) * S + beta * outer(k, v - k @ (exp(g) * S))\n out = q @ S\n}",
              "attention a {\n token q[dk], k[dk], v[dv], g, beta\n state S[dk, dv]\n let old = exp(g) * S\n"
              " let error = v - k @ old\n S = old + beta * outer(k, error)\n out = q @ S\n}"},
             {{"dk", 4}, {"dv", 8}}, {"recurrent"});
}

} // namespace

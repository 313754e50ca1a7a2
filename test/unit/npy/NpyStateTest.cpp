#include "compiler/driver/Npy.h"
#include "test/unit/npy/NpyErrors.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace lintel;

namespace {

std::string fileOf(StringRef name) { return (StringRef(LINTEL_TEST_SOURCE_DIR) + "/files/" + name).str(); }

/// A file with this description of its elements and these bytes of them.
std::string fileWith(StringRef descr, StringRef shape, size_t bytes, StringRef order = "False") {
  std::string header = ("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n").str();
  std::string text("\x93NUMPY\x01\x00", 8);
  text += char(header.size() & 255);
  text += char(header.size() >> 8);
  return text + header + std::string(bytes, '\0');
}

/// What make_files.py wrote: S[b, h, i, j] = 100 b + 10 h + 3 i + j, exponent[b, h] = 1000 b - 7 h.
void expectState(Expected<NpyState> state, lintel_dtype dtype) {
  ASSERT_TRUE(bool(state)) << toString(state.takeError());
  EXPECT_EQ(state->values.dtype, dtype);
  ASSERT_EQ(state->values.shape, (SmallVector<int64_t, 5>{2, 3, 2, 3}));
  ASSERT_TRUE(state->exponents);
  ASSERT_EQ(state->exponents->shape, (SmallVector<int64_t, 5>{2, 3}));
  EXPECT_EQ(state->exponents->dtype, LINTEL_F64);
  auto wide = cantFail(state->values.convertedTo(LINTEL_F64));
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 3; ++h) {
      EXPECT_EQ(state->exponents->dataAs<double>()[b * 3 + h], 1000 * b - 7 * h);
      for (int i = 0; i < 6; ++i)
        EXPECT_EQ(wide.dataAs<double>()[(b * 3 + h) * 6 + i], 100 * b + 10 * h + i) << b << h << i;
    }
}

TEST(NpyState, FilesOfNumPy) {
  expectState(readNpyState(fileOf("state_f4.npy"), "S"), LINTEL_F32);
  expectState(readNpyState(fileOf("state_f8_i8.npy"), "S"), LINTEL_F64);
  expectState(readNpyState(fileOf("state_i4_first.npy"), "S"), LINTEL_F32);
  expectState(readNpyState(fileOf("state_fortran.npy"), "S"), LINTEL_F32);
  auto plain = cantFail(readNpyState(fileOf("f4.npy"), "S"));
  EXPECT_FALSE(plain.exponents);
  EXPECT_EQ(plain.values.shape, (SmallVector<int64_t, 5>{2, 3, 4}));
  EXPECT_NE(errorOf(readNpyState(fileOf("absent.npy"), "S")).find("No such file"), std::string::npos);
}

TEST(NpyState, Refused) {
  auto parse = [](const std::string &bytes) { return parseNpyState(bytes, "s.npy", "S"); };
  EXPECT_ERROR(readNpyState(fileOf("structured.npy"), "S"), "structured.npy'", "the fields 'S' and 'exponent'",
               "found '", "--final");
  EXPECT_ERROR(readNpyState(fileOf("state_f4.npy"), "T"), "the fields 'T' and 'exponent'", "found 'S', 'exponent'");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4'), ('exponent', '<f4', (2,))]", "(1, 1)", 12)), "one number",
               "of shape (2)");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4'), ('S', '<f4'), ('exponent', '<f4')]", "(1, 1)", 12)), "'S', 'S'");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4')]", "(1, 1)", 4)), "found 'S'");
  EXPECT_ERROR(parse(fileWith("[]", "(1, 1)", 4)), "fields, found none");
  EXPECT_ERROR(parse(fileWith("[('S', '<i4'), ('exponent', '<f4')]", "(1, 1)", 8)), "found '<i4'");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4'), ('exponent', '<u4')]", "(1, 1)", 8)), "'<i4', '<i8', '<f4' or '<f8'",
               "found '<u4'");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4'), ('exponent', '>i4')]", "(1, 1)", 8)), "found '>i4'");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4', (2, 3)), ('exponent', '<f4')]", "(4,)", 112)), "2 axes [B, H]", "(4)");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4', (2, 3)), ('exponent', '<f4')]", "(1, 2)", 55)), "56 bytes", "truncated");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4', (2, 3)), ('exponent', '<f4')]", "(1, 2)", 57)), "longer");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4', (4611686018427387904, 4)), ('exponent', '<f4')]", "(1, 2)", 8)),
               "63 bits");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4', (1, 2)), ('exponent', '<f4')]", "(4611686018427387904, 4)", 8)),
               "63 bits");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4'", "(1, 1)", 8)), "damaged header");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4') ('exponent', '<f4')]", "(1, 1)", 8)), "damaged header", "',' or ']'");
  EXPECT_ERROR(parse(fileWith("[('S', 4), ('exponent', '<f4')]", "(1, 1)", 8)), "a field's element type");
  EXPECT_ERROR(parse(fileWith("[(('title', 'S'), '<f4'), ('exponent', '<f4')]", "(1, 1)", 8)), "a field's name");
  EXPECT_ERROR(parse(fileWith("[('S', '<f4', 3), ('exponent', '<f4')]", "(1, 1)", 8)), "a tuple for shape");
  auto withExponent = [&](double p) {
    std::string bytes = fileWith("[('S', '<f4'), ('exponent', '<f8')]", "(1, 1)", 12);
    std::memcpy(bytes.data() + bytes.size() - 8, &p, 8);
    return bytes;
  };
  EXPECT_EQ(errorOf(parse(withExponent(-1e30))), "");
  EXPECT_EQ(errorOf(parse(withExponent(14427))), "");
  for (double p : {0.5, std::nan(""), double(INFINITY), 2e30, -2e30})
    EXPECT_ERROR(parse(withExponent(p)), "whole numbers of at most 1e30", "at [0, 0]", "'S' * 2^exponent");
}

TEST(NpyState, IsWrittenAsItIsRead) {
  SmallString<128> folder;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("lintel-npy-state", folder));
  std::string path = (folder + "/s.npy").str();
  for (lintel_dtype dtype : {LINTEL_F32, LINTEL_F64})
    for (SmallVector<int64_t, 5> inner : {SmallVector<int64_t, 5>{}, {3}, {2, 3}})
      for (double large : {14427.0, 33554433.0}) { // the latter needs more digits than an f32 has
        SmallVector<int64_t, 5> shape{2, 2};
        shape.append(inner);
        NpyState state{cantFail(NpyArray::create(dtype, shape)), cantFail(NpyArray::create(LINTEL_F64, {2, 2}))};
        for (size_t i = 0; i < state.values.bytes(); ++i) state.values.dataAs<char>()[i] = char(i * 37);
        const double exponents[] = {large, -1, 0, -1e30};
        std::memcpy(state.exponents->data(), exponents, sizeof exponents);
        ASSERT_FALSE(errorToBool(writeNpyState(path, "n", state)));
        NpyState back = cantFail(readNpyState(path, "n"));
        EXPECT_EQ(back.values.dtype, dtype);
        EXPECT_EQ(back.values.shape, shape);
        EXPECT_EQ(std::memcmp(back.values.data(), state.values.data(), state.values.bytes()), 0);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(back.exponents->dataAs<double>()[i], exponents[i]);
        EXPECT_LE(back.exponents->dataAs<double>()[3], -0.99e30);
        std::string header = (*MemoryBuffer::getFile(path))->getBuffer().take_front(128).str();
        bool wide = dtype == LINTEL_F64 || large > 16777216;
        EXPECT_NE(header.find(wide ? "('exponent', '<f8')" : "('exponent', '<f4')"), std::string::npos) << header;
      }
  // A state of the other field's name.
  NpyState state{cantFail(NpyArray::create(LINTEL_F32, {1, 1})), cantFail(NpyArray::create(LINTEL_F64, {1, 1}))};
  *state.values.dataAs<float>() = 1, *state.exponents->dataAs<double>() = 3;
  ASSERT_FALSE(errorToBool(writeNpyState(path, "exponent", state)));
  EXPECT_EQ(*cantFail(readNpyState(path, "exponent")).exponents->dataAs<double>(), 3);
  sys::fs::remove_directories(folder);
}

} // namespace

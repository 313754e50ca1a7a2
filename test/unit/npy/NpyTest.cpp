#include "compiler/driver/Npy.h"
#include "test/unit/npy/NpyErrors.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace lintel;

namespace {

std::string fileOf(StringRef name) { return (StringRef(LINTEL_TEST_SOURCE_DIR) + "/files/" + name).str(); }

std::string contents(StringRef path) { return (*MemoryBuffer::getFile(path, false, false))->getBuffer().str(); }

// A folder that goes away with the test.
struct Folder {
  Folder() { EXPECT_FALSE(sys::fs::createUniqueDirectory("lintel-npy", path)); }
  ~Folder() { sys::fs::remove_directories(path); }
  std::string file(StringRef name) const { return (path + "/" + name).str(); }
  size_t count() const {
    size_t n = 0;
    std::error_code code;
    for (sys::fs::directory_iterator it(path, code), end; it != end; it.increment(code)) ++n;
    return n;
  }
  SmallString<128> path;
};

void expectRamp(Expected<NpyArray> array, lintel_dtype dtype) {
  ASSERT_TRUE(bool(array)) << toString(array.takeError());
  EXPECT_EQ(array->dtype, dtype);
  ASSERT_EQ(array->shape, (SmallVector<int64_t, 5>{2, 3, 4}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array->data()) % 64, 0u);
  Expected<NpyArray> wide = array->convertedTo(LINTEL_F64);
  ASSERT_TRUE(bool(wide));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) {
        double want = 100.0 * i + 10.0 * j + k - 50.5;
        if (dtype == LINTEL_BF16) { // cut, not rounded, by the script that wrote it
          float f = float(want);
          uint32_t bits;
          std::memcpy(&bits, &f, 4);
          bits &= 0xffff0000u;
          std::memcpy(&f, &bits, 4);
          want = f;
        }
        EXPECT_EQ(wide->dataAs<double>()[(i * 3 + j) * 4 + k], want) << i << j << k;
      }
}

TEST(NpyRead, FilesOfNumPy) {
  expectRamp(readNpy(fileOf("f8.npy")), LINTEL_F64);
  expectRamp(readNpy(fileOf("f4.npy")), LINTEL_F32);
  expectRamp(readNpy(fileOf("f2.npy")), LINTEL_F16);
  expectRamp(readNpy(fileOf("version2.npy")), LINTEL_F32);
  expectRamp(readNpy(fileOf("version3.npy")), LINTEL_F32);
}

TEST(NpyRead, FortranOrder) {
  expectRamp(readNpy(fileOf("f8_fortran.npy")), LINTEL_F64);
  expectRamp(readNpy(fileOf("f4_fortran.npy")), LINTEL_F32);
  expectRamp(readNpy(fileOf("f2_fortran.npy")), LINTEL_F16);
}

TEST(NpyRead, Bfloat16) {
  expectRamp(readNpy(fileOf("bf16_void.npy")), LINTEL_BF16);
  expectRamp(readNpy(fileOf("bf16_uint16.npy"), {true}), LINTEL_BF16);
  EXPECT_ERROR(readNpy(fileOf("bf16_uint16.npy")), "bf16_uint16.npy'", "'<u2'", "ask for bf16");
  std::string named = contents(fileOf("bf16_void.npy"));
  named.replace(named.find("'|V2'"), 5, "'bfloat16'");
  named.erase(named.find("          "), 7); // the header keeps its length: the name takes 7 more, 2 of them were there
  named.insert(named.find('\n'), "  ");
  expectRamp(parseNpy(named, "named"), LINTEL_BF16);
}

TEST(NpyRead, SmallOnes) {
  Expected<NpyArray> scalar = readNpy(fileOf("scalar.npy"));
  ASSERT_TRUE(bool(scalar));
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_EQ(scalar->elements(), 1);
  EXPECT_EQ(scalar->dataAs<float>()[0], 2.5f);
  Expected<NpyArray> vector = readNpy(fileOf("vector.npy"));
  ASSERT_TRUE(bool(vector));
  EXPECT_EQ(vector->shape, (SmallVector<int64_t, 5>{3}));
  EXPECT_EQ(vector->dataAs<float>()[2], 2.0f);
  Expected<NpyArray> empty = readNpy(fileOf("empty.npy"));
  ASSERT_TRUE(bool(empty));
  EXPECT_EQ(empty->shape, (SmallVector<int64_t, 5>{2, 0, 3}));
  EXPECT_EQ(empty->bytes(), 0u);
  EXPECT_NE(empty->data(), nullptr);
  Expected<NpyArray> sliced = readNpy(fileOf("sliced.npy"));
  ASSERT_TRUE(bool(sliced));
  const float want[] = {8, 10, 4, 6, 0, 2};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(sliced->dataAs<float>()[i], want[i]);
  Expected<NpyArray> special = readNpy(fileOf("special.npy"));
  ASSERT_TRUE(bool(special));
  EXPECT_TRUE(std::isinf(special->dataAs<double>()[0]));
  EXPECT_TRUE(std::isnan(special->dataAs<double>()[2]));
  EXPECT_EQ(special->dataAs<double>()[4], 5e-324);
}

TEST(NpyRead, TypesThatAreRefused) {
  EXPECT_ERROR(readNpy(fileOf("big_endian.npy")), "big_endian.npy'", "big-endian", "x.astype('<f4')");
  EXPECT_ERROR(readNpy(fileOf("int64.npy")), "int64.npy'", "'<i8'", "x.astype('float32')");
  EXPECT_ERROR(readNpy(fileOf("bool.npy")), "'|b1'", "x.astype('float32')");
  EXPECT_ERROR(readNpy(fileOf("complex.npy")), "'<c16'", "x.real");
  EXPECT_ERROR(readNpy(fileOf("text.npy")), "'<U2'");
  EXPECT_ERROR(readNpy(fileOf("pickled.npy")), "pickled objects");
  EXPECT_ERROR(readNpy(fileOf("structured.npy")), "structured array");
  EXPECT_ERROR(readNpy(fileOf("archive.npz")), "archive.npz'", "zip archive", "np.save");
}

TEST(NpyRead, ThingsThatAreNoFiles) {
  Folder folder;
  EXPECT_ERROR(readNpy(folder.file("absent.npy")), "absent.npy'", "No such file");
  EXPECT_ERROR(readNpy(folder.path), "expected a regular file, found a directory");
  EXPECT_ERROR(readNpy("/dev/null"), "'/dev/null'", "device or pipe");
  EXPECT_ERROR(readNpy(""), "''");
  EXPECT_ERROR(readNpy("/dev/null/x.npy"), "x.npy'", "Not a directory");
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_ERROR(readNpy(pipe), "device or pipe");
  std::ofstream(folder.file("empty.npy")).close();
  EXPECT_ERROR(readNpy(folder.file("empty.npy")), "empty.npy'", "empty file");
  std::ofstream(folder.file("text.npy")) << "1 2 3\n";
  EXPECT_ERROR(readNpy(folder.file("text.npy")), "expected a .npy file, found other content");
}

// A version 1 file with the given header and number of data bytes.
std::string fileWith(std::string header, size_t dataBytes) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += char(header.size() & 0xff);
  bytes += char(header.size() >> 8);
  return bytes + header + std::string(dataBytes, '\0');
}

std::string headerWith(StringRef shape) {
  return ("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }").str();
}

TEST(NpyRead, EveryTruncationIsRefused) {
  const std::string whole = contents(fileOf("f4.npy"));
  Folder folder;
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_NE(errorOf(parseNpy(StringRef(whole).take_front(n), "cut")), "") << n;
    if (n % 16) continue;
    std::ofstream(folder.file("cut.npy"), std::ios::binary) << whole.substr(0, n);
    EXPECT_NE(errorOf(readNpy(folder.file("cut.npy"))), "") << n;
  }
  EXPECT_ERROR(parseNpy(StringRef(whole).drop_back(), "cut"), "expected 96 bytes", "(2, 3, 4)", "found 95",
               "truncated");
  EXPECT_ERROR(parseNpy(whole + "x", "long"), "expected 96 bytes", "found 97", "longer");
  EXPECT_ERROR(parseNpy(StringRef(whole).take_front(4), "cut"), "truncated");
}

TEST(NpyRead, Headers) {
  EXPECT_EQ(errorOf(parseNpy(fileWith(headerWith("(2, 3)"), 24), "x")), "");
  EXPECT_EQ(errorOf(parseNpy(fileWith("{\"shape\":(2L,),\"fortran_order\":True,\"descr\":\"=f4\"}  \n", 8), "x")), "");
  EXPECT_EQ(errorOf(parseNpy(fileWith("\n{ 'descr' : 'f8','shape':( ),'fortran_order':False}", 8), "x")), "");
  EXPECT_EQ(errorOf(parseNpy(fileWith(headerWith("(4611686018427387904, 4611686018427387904, 0)"), 0), "x")), "");
  EXPECT_ERROR(parseNpy(fileWith(headerWith("(-2, 3)"), 24), "x"), "sizes of 0 or more", "-2");
  EXPECT_ERROR(parseNpy(fileWith(headerWith("(9223372036854775808,)"), 24), "x"), "2^63", "9223372036854775808");
  EXPECT_ERROR(parseNpy(fileWith(headerWith("(4611686018427387904, 4)"), 24), "x"), "fit in 63 bits");
  EXPECT_ERROR(parseNpy(fileWith(headerWith("(1099511627776,)"), 24), "x"), "truncated");
  EXPECT_ERROR(parseNpy(fileWith(headerWith("(2.5, 3)"), 24), "x"), "damaged header", "'.5, 3)");
  EXPECT_ERROR(parseNpy(fileWith(headerWith("[2, 3]"), 24), "x"), "a tuple for shape");
  EXPECT_ERROR(parseNpy(fileWith(headerWith("(2, 3"), 24), "x"), "damaged header");
  EXPECT_ERROR(parseNpy(fileWith(headerWith("(,)"), 4), "x"), "a whole number in shape");
  std::string manyAxes = "(";
  for (int i = 0; i < 33; ++i) manyAxes += "1,";
  EXPECT_ERROR(parseNpy(fileWith(headerWith(manyAxes + ")"), 4), "x"), "at most 32 axes");
  EXPECT_ERROR(parseNpy(fileWith("{'descr': '<f4', 'shape': (2,), }", 8), "x"), "found no fortran_order");
  EXPECT_ERROR(parseNpy(fileWith("{'descr': '<f4', 'descr': '<f4'}", 8), "x"), "'descr' twice");
  EXPECT_ERROR(parseNpy(fileWith("{'order': 3}", 8), "x"), "found 'order'");
  EXPECT_ERROR(parseNpy(fileWith("{'descr': '<f4", 8), "x"), "the element type as a string");
  EXPECT_ERROR(parseNpy(fileWith(headerWith("(2,)") + "import os", 8), "x"), "nothing after", "import os");
  EXPECT_ERROR(parseNpy(fileWith("", 8), "x"), "a dictionary, found its end");
  EXPECT_ERROR(parseNpy(fileWith("\x01\xff", 8), "x"), "\\x01\\xFF");
  EXPECT_ERROR(parseNpy(StringRef("\x93NUMPY\x04\x00\x00\x00", 10), "x"), "version 1.0, 2.0 or 3.0, found 4.0");
  EXPECT_ERROR(parseNpy(StringRef("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "x"), "at most 65535 bytes", "4294967295");
  EXPECT_ERROR(parseNpy(StringRef("\x93NUMPY\x01\x00\xff\xff{", 11), "x"), "65535 bytes", "after 1");
}

TEST(NpyRead, FilesLargerThanTheFirstRead) {
  Folder folder;
  Expected<NpyArray> array = NpyArray::create(LINTEL_F32, {300, 1000});
  ASSERT_TRUE(bool(array));
  for (int i = 0; i < 300000; ++i) array->dataAs<float>()[i] = float(i);
  ASSERT_EQ(toString(writeNpy(folder.file("a.npy"), *array)), "");
  Expected<NpyArray> back = readNpy(folder.file("a.npy"));
  ASSERT_TRUE(bool(back));
  EXPECT_EQ(std::memcmp(back->data(), array->data(), array->bytes()), 0);
}

TEST(NpyWrite, IsWhatNumPyWrites) {
  Folder folder;
  for (const char *name :
       {"f8.npy", "f4.npy", "f2.npy", "scalar.npy", "vector.npy", "empty.npy", "special.npy", "bf16_uint16.npy"}) {
    Expected<NpyArray> array = readNpy(fileOf(name), {true});
    ASSERT_TRUE(bool(array));
    ASSERT_EQ(toString(writeNpy(folder.file("out.npy"), *array)), "");
    EXPECT_EQ(contents(folder.file("out.npy")), contents(fileOf(name))) << name;
  }
  EXPECT_EQ(folder.count(), 1u);
}

TEST(NpyWrite, PlacesThatCannotBeWritten) {
  Folder folder;
  Expected<NpyArray> array = readNpy(fileOf("f4.npy"));
  ASSERT_TRUE(bool(array));
  std::string message = toString(writeNpy(folder.file("none/out.npy"), *array));
  EXPECT_NE(message.find("none/out.npy'"), std::string::npos);
  EXPECT_NE(message.find("No such file"), std::string::npos) << message;
  EXPECT_NE(toString(writeNpy(folder.path, *array)).find("a directory"), std::string::npos);
  EXPECT_NE(toString(writeNpy("", *array)).find("empty name"), std::string::npos);
  EXPECT_NE(toString(writeNpy(fileOf("f4.npy/x"), *array)).find("Not a directory"), std::string::npos);
  EXPECT_EQ(toString(writeNpy("/dev/null", *array)), "");
  message = toString(writeNpy("/dev/full", *array));
  EXPECT_NE(message.find("No space left"), std::string::npos) << message;
  EXPECT_EQ(folder.count(), 0u);
  if (geteuid() == 0) return; // root may write anything
  const std::string locked = folder.file("locked.npy");
  std::ofstream(locked) << "old";
  chmod(locked.c_str(), 0444);
  EXPECT_NE(toString(writeNpy(locked, *array)).find("denied"), std::string::npos);
  EXPECT_EQ(contents(locked), "old");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(NpyWrite, ReplacesWholeAndFollowsLinks) {
  Folder folder;
  Expected<NpyArray> array = readNpy(fileOf("f4.npy"));
  ASSERT_TRUE(bool(array));
  std::ofstream(folder.file("100%.npy")) << std::string(100000, 'x');
  ASSERT_EQ(symlink(folder.file("100%.npy").c_str(), folder.file("link.npy").c_str()), 0);
  ASSERT_EQ(toString(writeNpy(folder.file("link.npy"), *array)), "");
  expectRamp(readNpy(folder.file("100%.npy")), LINTEL_F32);
  EXPECT_TRUE(sys::fs::is_symlink_file(folder.file("link.npy")));
  EXPECT_EQ(folder.count(), 2u);
}

TEST(NpyConvert, HalfTypesRoundTripAllBits) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const double f16 = widenF16(uint16_t(bits)), bf16 = widenBf16(uint16_t(bits));
    if (std::isnan(f16)) EXPECT_TRUE(std::isnan(widenF16(roundToF16(f16))));
    else ASSERT_EQ(roundToF16(f16), bits);
    if (std::isnan(bf16)) EXPECT_TRUE(std::isnan(widenBf16(roundToBf16(bf16))));
    else ASSERT_EQ(roundToBf16(bf16), bits);
  }
  EXPECT_EQ(widenF16(0x3c00), 1.0);
  EXPECT_EQ(widenF16(0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(widenF16(0x7bff), 65504.0);
}

TEST(NpyConvert, RoundsToNearestTiesToEven) {
  // The middle of two neighbours goes to the even one; the least bit beside it decides. All finite, positive f16.
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double low = widenF16(uint16_t(bits)), high = bits == 0x7bff ? 65536.0 : widenF16(uint16_t(bits + 1));
    const double middle = (low + high) / 2; // exact
    ASSERT_EQ(roundToF16(middle), bits & 1 ? bits + 1 : bits);
    ASSERT_EQ(roundToF16(std::nextafter(middle, 0.0)), bits);
    ASSERT_EQ(roundToF16(std::nextafter(middle, 1e9)), bits + 1);
    ASSERT_EQ(roundToF16(-middle), 0x8000u | (bits & 1 ? bits + 1 : bits));
  }
  // Through f32 this would round twice: up to the middle, then up again.
  const double justBelow = 1.0 + std::ldexp(1.0, -11) - std::ldexp(1.0, -40);
  EXPECT_EQ(roundToF16(justBelow), 0x3c00);
  EXPECT_EQ(roundToF16(1e300), 0x7c00);
  EXPECT_EQ(roundToF16(5e-324), 0);
  EXPECT_EQ(roundToBf16(-1e300), 0xff80);
  EXPECT_EQ(roundToBf16(3.3895314e38), 0x7f7f); // the largest finite
  EXPECT_EQ(roundToBf16(3.4028235e38), 0x7f80);
  EXPECT_EQ(roundToBf16(1.00390625), 0x3f80);
  EXPECT_EQ(roundToBf16(1.01171875), 0x3f82);
}

TEST(NpyConvert, Arrays) {
  const lintel_dtype all[] = {LINTEL_F64, LINTEL_F32, LINTEL_F16, LINTEL_BF16};
  Expected<NpyArray> source = readNpy(fileOf("special.npy"));
  ASSERT_TRUE(bool(source));
  for (lintel_dtype middle : all)
    for (lintel_dtype to : all) {
      Expected<NpyArray> a = source->convertedTo(middle);
      ASSERT_TRUE(bool(a));
      Expected<NpyArray> b = a->convertedTo(to);
      ASSERT_TRUE(bool(b));
      EXPECT_EQ(b->dtype, to);
      Expected<NpyArray> wide = b->convertedTo(LINTEL_F64);
      ASSERT_TRUE(bool(wide));
      const double *x = wide->dataAs<double>();
      EXPECT_EQ(x[0], INFINITY);
      EXPECT_EQ(x[1], -INFINITY);
      EXPECT_TRUE(std::isnan(x[2]));
      EXPECT_TRUE(x[3] == 0 && std::signbit(x[3]));
    }
}

TEST(NpyConvert, Create) {
  EXPECT_ERROR(NpyArray::create(LINTEL_F32, {2, -1}), "(2, -1)");
  EXPECT_ERROR(NpyArray::create(LINTEL_F32, {0, -1}), "(0, -1)");
  EXPECT_ERROR(NpyArray::create(LINTEL_F64, {INT64_MAX / 4, 8}), "63 bits");
  EXPECT_ERROR(NpyArray::create(LINTEL_F64, {INT64_MAX / 8}), "bytes");
}

// Seeded mutations of good files; the fuzzer in test/fuzz goes further.
TEST(NpyRead, MutatedFilesNeverCrash) {
  std::mt19937 random(1);
  for (const char *name : {"f4.npy", "f2_fortran.npy", "version2.npy", "bf16_void.npy", "structured.npy"}) {
    const std::string whole = contents(fileOf(name));
    for (int i = 0; i < 4000; ++i) {
      std::string bytes = whole;
      for (unsigned n = random() % 4 + 1; n > 0; --n) {
        const size_t at = random() % std::min<size_t>(bytes.size(), 130);
        switch (random() % 4) {
        case 0:
          bytes[at] = char(random());
          break;
        case 1:
          bytes[at] = "0123456789(),':{} L-TF"[random() % 22];
          break;
        case 2:
          bytes.erase(at, random() % 5);
          break;
        default:
          bytes.insert(at, 1, char(random()));
          break;
        }
        if (bytes.empty()) break;
      }
      Expected<NpyArray> array = parseNpy(bytes, "mutated");
      if (!array) consumeError(array.takeError());
    }
  }
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Reading and writing .npy files, hostile ones included.
#include "runtime/tools/npy.h"

#include <cstring>

#include "tests/support/command.h"
#include "tests/support/random.h"

namespace qrt::npy_test {
namespace {

using tool::NpyArray;

// Returns a file of version 1 with this dictionary and `bytes` zero bytes of data.
std::string npy(const std::string& dictionary, size_t bytes) {
  std::string s("\x93NUMPY\x01\x00", 8);
  s += static_cast<char>(dictionary.size() & 255);
  s += static_cast<char>(dictionary.size() >> 8);
  return s + dictionary + std::string(bytes, '\0');
}

std::string header(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

class Npy : public testing::CommandTest {
 protected:
  Code read(const std::string& content, NpyArray* array) {
    Status status = tool::read_npy(write("x.npy", content), array);
    message_ = status.message();
    if (!status.ok()) {
      EXPECT_EQ(message_.rfind(path("x.npy"), 0), 0u) << message_;
    }
    return status.code();
  }
  Code read(const std::string& content) {
    NpyArray array;
    return read(content, &array);
  }
  std::string message_;
};

TEST_F(Npy, ReadsWhatItWrites) {
  const struct {
    DType dtype;
    Shape shape;
  } cases[] = {{DType::kUInt8, {}},          {DType::kInt8, {3}},
               {DType::kUInt16, {2, 1}},     {DType::kInt16, {2, 3, 4}},
               {DType::kInt32, {0, 5}},      {DType::kInt64, {1, 1, 1}},
               {DType::kFloat32, {7, 1, 2}}, {DType::kFloat16, {1, 2, 3, 1, 2, 1}},
               {DType::kUInt32, {3, 2}},     {DType::kBool, {5}}};
  testing::Random random;
  for (const auto& c : cases) {
    std::vector<uint8_t> data(static_cast<size_t>(c.shape.elements()) * dtype_bytes(c.dtype));
    random.fill(data, 0, 255);
    ASSERT_TRUE(tool::write_npy(path("a.npy"), c.dtype, c.shape, data.data(), data.size()).ok());
    EXPECT_EQ((CommandTest::read(path("a.npy")).size() - data.size()) % 64, 0u);
    NpyArray array;
    const Status status = tool::read_npy(path("a.npy"), &array);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(array.dtype, c.dtype);
    EXPECT_EQ(array.shape, c.shape);
    EXPECT_EQ(array.data, data);
  }
}

// Types for which npy has no name are written in whole bytes: one element per byte, codes of small
// floats, bits of bfloat16.
TEST_F(Npy, TypesWithoutANameTravelInWholeBytes) {
  const struct {
    DType dtype, as;
    std::vector<uint8_t> elements, packed;
  } cases[] = {
      {DType::kInt4, DType::kInt8, {0xff, 7, 0xf8}, {0x7f, 0x08}},
      {DType::kUInt4, DType::kUInt8, {15, 0, 8}, {0x0f, 0x08}},
      {DType::kInt2, DType::kInt8, {0xff, 1, 0xfe}, {0x27}},
      {DType::kUInt2, DType::kUInt8, {3, 0, 2}, {0x23}},
      {DType::kFloat4E2M1, DType::kUInt8, {15, 0, 8}, {0x0f, 0x08}},
      {DType::kFloat8E5M2, DType::kUInt8, {255, 0, 8}, {255, 0, 8}},
      {DType::kBool, DType::kBool, {1, 0, 1}, {1, 0, 1}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(dtype_name(c.dtype));
    ASSERT_EQ(tool::npy_dtype(c.dtype), c.as);
    ASSERT_TRUE(
        tool::write_npy(path("a.npy"), c.dtype, {3}, c.packed.data(), c.packed.size()).ok());
    NpyArray array;
    ASSERT_TRUE(tool::read_npy(path("a.npy"), &array).ok());
    EXPECT_EQ(array.dtype, c.as);
    EXPECT_EQ(array.data, c.elements);
    ASSERT_TRUE(tool::from_npy_form(c.dtype, &array).ok());
    EXPECT_EQ(array.dtype, c.dtype);
    EXPECT_EQ(array.data, c.packed);
  }
  EXPECT_EQ(tool::npy_dtype(DType::kBFloat16), DType::kUInt16);
  EXPECT_EQ(tool::npy_dtype(DType::kFloat32), DType::kFloat32);
}

TEST_F(Npy, RefusesValuesThatAPackedTypeCannotHold) {
  NpyArray array{DType::kInt8, {2}, {7, 8}};
  Status status = tool::from_npy_form(DType::kInt4, &array);
  EXPECT_EQ(status.code(), Code::kInvalidModel);
  EXPECT_STREQ(status.message(), "element 1 is 8, which int4 cannot hold");
}

TEST_F(Npy, ReadsEveryHeaderVersionAndSpelling) {
  NpyArray array;
  EXPECT_EQ(read(npy("{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<i2\"}", 12), &array),
            Code::kOk)
      << message_;
  EXPECT_EQ(array.shape, (Shape{2, 3}));
  const std::string dictionary = header("|u1", "(2,)");
  std::string v2("\x93NUMPY\x02\x00", 8);
  v2 += static_cast<char>(dictionary.size());
  v2 += std::string(3, '\0') + dictionary + "ab";
  EXPECT_EQ(read(v2, &array), Code::kOk) << message_;
  EXPECT_EQ(array.data, (std::vector<uint8_t>{'a', 'b'}));
}

TEST_F(Npy, RefusesWhatQrtDoesNotHave) {
  EXPECT_EQ(read(npy(header("<f8", "(1,)"), 8)), Code::kInvalidModel);
  EXPECT_NE(message_.find("'<f8'"), std::string::npos);
  EXPECT_EQ(read(npy(header(">f4", "(1,)"), 4)), Code::kInvalidModel);
  EXPECT_EQ(read(npy(header("|O", "(1,)"), 4)), Code::kInvalidModel);
  EXPECT_EQ(read(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4)),
            Code::kInvalidModel);
  EXPECT_EQ(read(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", 4)),
            Code::kInvalidModel);
  EXPECT_EQ(read(npy(header("|u1", "(1, 1, 1, 1, 1, 1, 1)"), 1)), Code::kInvalidModel);
}

TEST_F(Npy, RefusesDamagedFiles) {
  const std::string good = npy(header("<f4", "(2, 3)"), 24);
  ASSERT_EQ(read(good), Code::kOk) << message_;
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(read(good.substr(0, size)), Code::kInvalidModel) << size;
  EXPECT_EQ(read(good + "x"), Code::kInvalidModel);
  EXPECT_NE(message_.find("[2, 3]"), std::string::npos);
  EXPECT_EQ(read(std::string(4096, '\0')), Code::kInvalidModel);
  for (const char* shape :
       {"(-1,)", "(2, 3", "2, 3", "(2 3)", "(1e3,)", "('2',)", "(99999999999999999999,)",
        "(1099511627776, 1099511627776)", "(4294967296, 4294967296, 4294967296)", "(0x2,)"})
    EXPECT_EQ(read(npy(header("<f4", shape), 24)), Code::kInvalidModel) << shape;
  for (const char* dictionary :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4', }",
        "{'descr': <f4, 'fortran_order': False, 'shape': (6,), }",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (6,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), } x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'fortran_order': False, 'shape': (6,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'shape': (6,), }",
        "{'fortran_order': False, 'shape': (6,), }", "{'descr': '<f4', 'shape': (6,), }",
        "{'descr': '<f4', 'fortran_order': False, }", "{'descr': '<f4', 'shape': (6",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }}"})
    EXPECT_EQ(read(npy(dictionary, 24)), Code::kInvalidModel) << dictionary;
}

TEST_F(Npy, RefusesVersionsThatDoNotExist) {
  const std::string good = npy(header("<f4", "(2, 3)"), 24);
  for (const char version : {0, 4}) {
    std::string bad = good;
    bad[6] = version;
    EXPECT_EQ(read(bad), Code::kInvalidModel);
    EXPECT_NE(message_.find("version 1 to 3"), std::string::npos) << message_;
  }
  EXPECT_EQ(read("not numpy at all"), Code::kInvalidModel);
}

TEST_F(Npy, SurvivesRandomDamage) {
  testing::Random random;
  const std::string good = npy(header("<f4", "(2, 3)"), 24);
  for (int i = 0; i < 500; ++i) {
    std::string bad = good;
    for (int64_t flips = random.integer(1, 4); flips > 0; --flips)
      bad[static_cast<size_t>(random.integer(0, static_cast<int64_t>(good.size()) - 1))] =
          static_cast<char>(random.integer(0, 255));
    const Code code = read(bad);
    EXPECT_TRUE(code == Code::kOk || code == Code::kInvalidModel || code == Code::kUnsupported);
  }
}

TEST_F(Npy, TellsMissingFilesFromDirectories) {
  NpyArray array;
  EXPECT_EQ(tool::read_npy(path("missing.npy"), &array).code(), Code::kIoError);
  EXPECT_EQ(tool::read_npy(path(""), &array).code(), Code::kInvalidModel);
  EXPECT_EQ(tool::write_npy(path("no/such/x.npy"), DType::kUInt8, {}, "", 1).code(),
            Code::kIoError);
}

}  // namespace
}  // namespace qrt::npy_test

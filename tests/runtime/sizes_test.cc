// SPDX-License-Identifier: Apache-2.0
// Sizes of open dimensions as expressions: what they give, and which are malformed.
#include "runtime/sizes.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/support/runner.h"
#include "tests/support/sized_model.h"

namespace qrt::sizes_test {
namespace {

using testing::Bytes;
using testing::constant_size;
using testing::dimension;
using testing::expect_refused;
using testing::ModelBuilder;
using testing::SizedModel;
using testing::SizeOf;
using testing::some_numbers;
using testing::symbol_size;
using Function = fb::SizeFunction;

// Keeps the buffer of a table made by the object API.
class StoredSize {
 public:
  explicit StoredSize(const SizeOf& size) {
    const std::unique_ptr<fb::SizeT> stored = size.stored();
    fbb_.Finish(fb::CreateSize(fbb_, stored.get()));
  }
  const fb::Size& get() const { return *flatbuffers::GetRoot<fb::Size>(fbb_.GetBufferPointer()); }

 private:
  flatbuffers::FlatBufferBuilder fbb_;
};

Status evaluated(const SizeOf& size, int64_t* value) {
  return evaluate(StoredSize(size).get(), {17, 5}, {Shape{2, 3}, Shape{7}}, value);
}

void expect_value(const SizeOf& size, int64_t expected) {
  int64_t value = -12345;
  const Status status = evaluated(size, &value);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(value, expected);
}

void expect_malformed(const SizeOf& size, const std::string& part,
                      Code code = Code::kInvalidModel) {
  int64_t value;
  const Status status = evaluated(size, &value);
  ASSERT_EQ(status.code(), code);
  ASSERT_NE(std::string(status.message()).find(part), std::string::npos) << status.message();
}

SizeOf of(std::vector<Function> functions, std::vector<int32_t> values) {
  return {std::move(functions), std::move(values)};
}

TEST(Sizes, AreEvaluated) {
  expect_value(constant_size(-3), -3);
  expect_value(symbol_size(1), 5);
  expect_value(dimension(0, 1), 3);
  expect_value(dimension(1, 0), 7);
  expect_value(symbol_size(0) * 2 - symbol_size(1), 29);
  expect_value(constant_size(-7) / 2, -4);  // rounds down
  expect_value(constant_size(7) / 2, 3);
  expect_value(constant_size(-8) / 2, -4);
  expect_value(testing::applied(Function::MINIMUM, symbol_size(0), symbol_size(1)), 5);
  expect_value(testing::applied(Function::MAXIMUM, symbol_size(0), symbol_size(1)), 17);
}

TEST(Sizes, KeepWithinTheirLimits) {
  const SizeOf large = constant_size(1 << 20) * constant_size(1 << 20);
  expect_value(large, int64_t{1} << 40);
  expect_value(constant_size(0) - large, -(int64_t{1} << 40));
  expect_malformed(large + 1, "leaves -2^40 to 2^40", Code::kOutOfMemory);
  expect_malformed(constant_size(-1) - large, "leaves -2^40 to 2^40", Code::kOutOfMemory);
  expect_malformed(large * large, "leaves -2^40 to 2^40", Code::kOutOfMemory);
  expect_malformed(constant_size(5) / 0, "divided by 0");
  expect_malformed(constant_size(5) / -1, "divided by -1");
  SizeOf longest = constant_size(1);
  while (longest.values.size() + 2 <= kMaxSizeSteps) longest = std::move(longest) + 1;
  expect_value(longest, 32);
  expect_malformed(of(std::vector<Function>(kMaxSizeSteps + 1), std::vector<int32_t>(65)),
                   "65 steps");
}

TEST(Sizes, RefuseMalformedExpressions) {
  expect_malformed({}, "0 steps");
  expect_malformed(of({Function::CONSTANT}, {}), "1 functions and 0 values");
  expect_malformed(of({Function::CONSTANT, Function::CONSTANT}, {1, 1}), "leaves 2 numbers");
  expect_malformed(of({Function::ADD}, {0}), "takes two numbers where there are 0");
  expect_malformed(of({Function::CONSTANT, Function::ADD}, {1, 0}), "where there are 1");
  expect_malformed(of({Function::CONSTANT, static_cast<Function>(9)}, {1, 0}), "where there are 1");
  expect_malformed(
      of({Function::CONSTANT, Function::CONSTANT, static_cast<Function>(200)}, {1, 1, 0}),
      "function 200");
  expect_malformed(symbol_size(2), "symbol 2, but there are 2");
  expect_malformed(symbol_size(-1), "symbol -1");
  expect_malformed(dimension(2, 0), "input 2, but there are 2");
  expect_malformed(dimension(1, 1), "dimension 1 of input 1, which has 1");
  expect_malformed(of({Function::DIMENSION}, {-1}), "dimension of input 0");
  expect_malformed(of({Function::DIMENSION}, {std::numeric_limits<int32_t>::min()}), "dimension");
}

// ---- whole models ----

}  // namespace
}  // namespace qrt::sizes_test

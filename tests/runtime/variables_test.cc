// SPDX-License-Identifier: Apache-2.0
// The values that a model keeps between the runs of a session: resets, sessions beside each other,
// and files to refuse.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <qrt/qrt.hpp>
#include <string>
#include <vector>

#include "tests/support/counter_model.h"
#include "tests/support/runner.h"

namespace qrt::variables_test {
namespace {

using testing::Bytes;
using testing::counter_model;
using testing::kTotal;
using testing::kX;
using testing::kY;
using testing::ModelBuilder;

class Counter {
 public:
  explicit Counter(const ModelBuilder& m, const api::SessionOptions& options = {})
      : file_(m.build()), session_(api::Model::load_memory(file_.data(), file_.size()), options) {}

  Bytes run(const Bytes& x) {
    session_.set_input_bytes(0, x.data(), x.size());
    session_.run();
    Bytes y(x.size());
    session_.get_output_bytes(0, y.data(), y.size());
    return y;
  }
  api::Session& session() { return session_; }

 private:
  Bytes file_;
  api::Session session_;
};

TEST(Variables, KeepTheirContentUntilReset) {
  Counter c(counter_model(5));
  ASSERT_EQ(c.run({1, 2, 3, 4}), (Bytes{6, 7, 8, 9}));
  ASSERT_EQ(c.run({10, 10, 10, 250}), (Bytes{16, 17, 18, 255}));
  c.session().reset();
  ASSERT_EQ(c.run({0, 0, 0, 1}), (Bytes{5, 5, 5, 6}));
  ASSERT_EQ(qrt_session_reset(nullptr), QRT_INVALID_ARGUMENT);
}

TEST(Variables, BelongToOneSession) {
  Counter a(counter_model(0)), b(counter_model(0));
  ASSERT_EQ(a.run({1, 1, 1, 1}), (Bytes{1, 1, 1, 1}));
  ASSERT_EQ(b.run({2, 2, 2, 2}), (Bytes{2, 2, 2, 2}));
  ASSERT_EQ(a.run({1, 1, 1, 1}), (Bytes{2, 2, 2, 2}));
  b.session().reset();
  ASSERT_EQ(a.run({1, 1, 1, 1}), (Bytes{3, 3, 3, 3}));
  ASSERT_EQ(b.run({1, 1, 1, 1}), (Bytes{1, 1, 1, 1}));
}

TEST(Variables, EveryRowOfABatchHasItsOwn) {
  api::SessionOptions options;
  options.batch = 2;
  options.keep_all = 1;
  Counter c(counter_model(1), options);
  c.run({1, 1, 1, 1, 9, 9, 9, 9});
  ASSERT_EQ(c.run({0, 0, 0, 1, 0, 0, 0, 2}), (Bytes{2, 2, 2, 3, 10, 10, 10, 12}));
}

// An output that is a variable, or views it, shows what the run started with.
TEST(Variables, MayBeModelOutputs) {
  ModelBuilder m = counter_model(7);
  m.mark_output(kTotal);
  const uint32_t view = m.output({-1, 2, 2});
  fb::ReshapeOptionsT reshape;
  reshape.shape = {-1, 2, 2};
  m.op(reshape, {kTotal}, {view});
  Counter c(m);
  for (uint8_t total = 7; total < 20; total = static_cast<uint8_t>(total + 3)) {
    const auto next = static_cast<uint8_t>(total + 3);
    ASSERT_EQ(c.run({3, 3, 3, 3}), Bytes(4, next));
    for (size_t i : {1, 2}) {
      Bytes y(4);
      c.session().get_output_bytes(i, y.data(), 4);
      ASSERT_EQ(y, Bytes(4, total)) << i;
    }
  }
}

// Two variables exchange their content through views, which share no memory with them.
TEST(Variables, MayTakeTheContentOfEachOther) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 4}), a = m.tensor({-1, 4}), b = m.tensor({-1, 4});
  const uint32_t y = m.output({-1, 4}), from_a = m.tensor({-1, 4}), from_b = m.tensor({-1, 4});
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = testing::float_bits(1.0f);
  m.op(add, {x, a}, {y});
  fb::ReshapeOptionsT reshape;
  reshape.shape = {-1, 4};
  m.op(reshape, {a}, {from_a});
  m.op(reshape, {b}, {from_b});
  m.variable(a, from_b, 10);
  m.variable(b, from_a, 20);
  Counter c(m);
  for (const uint8_t expected : {10, 20, 10, 20}) ASSERT_EQ(c.run(Bytes(4)), Bytes(4, expected));
}

// Adds a variable that keeps its content; returns its next one.
uint32_t add_kept(ModelBuilder* m, DType dtype, int32_t initial) {
  const uint32_t x = m->tensor({4}, dtype), y = m->tensor({4}, dtype);
  fb::ReshapeOptionsT reshape;
  reshape.shape = {4};
  m->op(reshape, {x}, {y});
  m->variable(x, y, initial);
  return y;
}

TEST(Variables, RefusesUnsoundOnes) {
  const auto reject = [](const std::string& part,
                         const std::function<void(ModelBuilder&)>& damage) {
    ModelBuilder m = counter_model(0);
    damage(m);
    testing::expect_refused(m.build(), QRT_INVALID_MODEL, part);
  };
  using M = ModelBuilder;
  reject("a variable is tensor 9", [](M& m) { m.model().variables[0]->tensor = 9; });
  reject("next content is tensor 9", [](M& m) { m.model().variables[0]->next = 9; });
  reject("is a constant or a model input, or stands twice",
         [](M& m) { m.model().variables[0]->tensor = kX; });
  reject("is a constant or a model input, or stands twice", [](M& m) { m.variable(kTotal, kY); });
  reject("its next content is written by no operator",
         [](M& m) { m.model().variables[0]->next = kX; });
  reject("its next content is written by no operator",
         [](M& m) { m.model().variables[0]->next = kTotal; });
  reject("its initial value is 256, out of the range of uint8",
         [](M& m) { m.model().variables[0]->initial = 256; });
  reject("has a value already", [](M& m) { m.model().operators[0]->outputs[0] = kTotal; });
  reject("it is uint8 [-1, 1], its next content uint8 [-1, 4]", [](M& m) {
    m.at(kTotal).shape = {-1, 1};
  });
  for (const DType dtype : {DType::kFloat8E5M2, DType::kInt4})
    reject(std::string("it is ") + dtype_name(dtype) +
               ", expected integers of whole bytes, float32, float16 or bfloat16",
           [&](M& m) { add_kept(&m, dtype, 0); });
}

// Every type that a variable may have keeps its first content.
TEST(Variables, MayBeOfManyTypes) {
  const struct {
    DType dtype;
    int32_t initial;
  } kCases[] = {{DType::kBool, 1},       {DType::kUInt8, 200},       {DType::kInt8, -100},
                {DType::kUInt16, 65535}, {DType::kInt16, -32768},    {DType::kUInt32, INT32_MAX},
                {DType::kInt32, -5},     {DType::kInt64, INT32_MIN}, {DType::kFloat32, 0},
                {DType::kFloat16, 0},    {DType::kBFloat16, 0}};
  for (const auto& c : kCases) {
    ModelBuilder m;
    m.input({1});  // a model has one at least
    m.mark_output(add_kept(&m, c.dtype, c.initial));
    const testing::RunResult result = testing::run_model(m.build(), {});
    ASSERT_EQ(result.status, QRT_OK) << result.message;
    const int64_t wide = c.initial;
    const size_t bytes = dtype_bytes(c.dtype);
    ASSERT_EQ(result.outputs[0].size(), 4 * bytes);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(memcmp(result.outputs[0].data() + i * bytes, &wide, bytes), 0)
          << dtype_name(c.dtype);
  }
}

}  // namespace
}  // namespace qrt::variables_test

// SPDX-License-Identifier: Apache-2.0
// Models whose symbols, sizes or rules are not to be trusted.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <qrt/qrt.hpp>
#include <string>
#include <vector>

#include "runtime/infer.h"
#include "runtime/sizes.h"
#include "tests/support/planned.h"
#include "tests/support/runner.h"
#include "tests/support/sized_model.h"

namespace qrt::bad_sizes_test {
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

Bytes damaged(const std::function<void(fb::ModelT&)>& damage) {
  SizedModel model(8, 7, true);
  damage(model.builder().model());
  return model.build();
}

// The operators of SizedModel.
enum Op : size_t { kConv, kPool, kResize, kAdd, kGather, kMean, kColumns, kReshape, kDepthwise };

void expect_bad(const std::function<void(fb::ModelT&)>& damage, const std::string& part) {
  expect_refused(damaged(damage), QRT_INVALID_MODEL, part);
}

TEST(BadSizes, RefuseBadSymbols) {
  expect_bad([](fb::ModelT& m) { m.version = 1; }, "format version 1 has no symbols");
  expect_bad(
      [](fb::ModelT& m) {
        m.symbols.clear();
        m.version = 1;
      },
      "format version 1");
  expect_bad([](fb::ModelT& m) { m.symbols.clear(); }, "symbol 0, but there are 0");
  expect_bad([](fb::ModelT& m) { m.symbols[0]->name = ""; }, "has no name");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->name = "h"; }, "symbol 0 has the same name");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->name = "batch"; }, "dimension -1 has the same name");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->name = std::string("a\0b", 3); }, "zero byte");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->least = m.symbols[1]->value = 0; },
             "its value is 0, of 0 to 64");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->least = 8; }, "of 8 to 64");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->most = 6; }, "of 3 to 6");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->most = 0x80000000u; }, "to 2147483648");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->step = 0; }, "steps of 0");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->step = 3; }, "steps of 3");
  expect_bad(
      [](fb::ModelT& m) {
        while (m.symbols.size() <= kMaxSymbols) {
          m.symbols.push_back(std::make_unique<fb::SymbolT>(*m.symbols[0]));
          m.symbols.back()->name = "s" + std::to_string(m.symbols.size());
        }
      },
      "65 symbols, expected at most 64");
}

TEST(BadSizes, RefuseBadSizesOfTensors) {
  const auto x = [](fb::ModelT& m) -> fb::TensorT& { return *m.tensors[m.inputs[0]]; };
  expect_bad([&](fb::ModelT& m) { x(m).sizes.pop_back(); }, "sizes for 3 dimensions, but 4");
  expect_bad([&](fb::ModelT& m) { x(m).sizes[1] = symbol_size(1).stored(); },
             "has the shape [1, 8, 7, 4], but its sizes give [1, 7, 7, 4]");
  expect_bad([&](fb::ModelT& m) { x(m).sizes[0] = constant_size(1).stored(); },
             "dimension 0 is the batch, but its size is 1");
  expect_bad([&](fb::ModelT& m) { x(m).sizes[1] = dimension(0, 1).stored(); },
             "there are 0 inputs");
  expect_bad([&](fb::ModelT& m) { x(m).sizes[1] = (symbol_size(0) - 9).stored(); },
             "dimension 1 has the size -1");
  expect_bad(
      [&](fb::ModelT& m) {
        fb::TensorT& t = *m.tensors[m.operators[kConv]->outputs[0]];
        for (int32_t d : t.shape) t.sizes.push_back(constant_size(d).stored());
      },
      "has sizes, but is no model input, output or variable");
}

TEST(BadSizes, RefuseBadRules) {
  const auto r = [](fb::ModelT& m, Op op, size_t i) -> fb::SizeRuleT& {
    return *m.operators[op]->sizes[i];
  };
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).size = constant_size(3).stored(); },
             "the rule for PAD_TOP 0 does not give what stands in the options");
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).size = constant_size(-1).stored(); },
             "the rule for PAD_TOP 0: it gives -1, expected 0 to 65535");
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).size = nullptr; }, "a size is missing");
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).field = fb::SizeField::KERNEL_H; },
             "this operator has no such field");
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).field = static_cast<fb::SizeField>(77); },
             "there is no field 77");
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).index = 1; }, "this operator has no such field");
  expect_bad(
      [&](fb::ModelT& m) { std::swap(m.operators[kConv]->sizes[0], m.operators[kConv]->sizes[1]); },
      "ascending order");
  expect_bad(
      [&](fb::ModelT& m) {
        m.operators[kAdd]->sizes.push_back(
            testing::rule(fb::SizeField::SHAPE, 0, constant_size(1)));
      },
      "this operator has no such field");
  expect_bad([&](fb::ModelT& m) { r(m, kReshape, 0).index = 2; }, "no such field");
  expect_bad([&](fb::ModelT& m) { r(m, kReshape, 0).size = dimension(1, 0).stored(); },
             "input 1, but there are 1");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 0).resize->scale = testing::float_bits(3.0f); },
             "the rule for MAP 0 does not give what stands in the options");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 0).resize->scale = 0x7fc00000; }, "scale is nan");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 0).size = constant_size(1 << 21).stored(); },
             "more entries than");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 0).resize = nullptr; },
             "neither pieces nor resize");
  expect_bad(
      [&](fb::ModelT& m) {
        r(m, kGather, 0).resize->rounding = static_cast<fb::ResizeRounding>(5);
      },
      "rounding is 5");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 1).pieces[1]->divisor = 0; }, "divisor is 0");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 1).pieces[1]->begin = nullptr; }, "missing");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 1).pieces[1]->begin = constant_size(-1).stored(); },
             "it gives the index -1");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 1).pieces[1]->step = 2; },
             "does not give what stands in the options");
  expect_bad(
      [&](fb::ModelT& m) {
        r(m, kGather, 1).pieces[0]->count = (constant_size(1 << 20) * (1 << 20)).stored();
      },
      "more entries than");
  expect_bad([&](fb::ModelT& m) { r(m, kResize, 0).resize = nullptr; }, "it has no resize");
  expect_bad([&](fb::ModelT& m) { r(m, kResize, 1).index = 2; }, "no such field");
  expect_bad(
      [&](fb::ModelT& m) {
        r(m, kResize, 0).resize->coordinates = fb::ResizeCoordinates::ASYMMETRIC;
      },
      "the rule for RESIZE 0 does not give what stands in the options");
  expect_bad(
      [&](fb::ModelT& m) {
        r(m, kResize, 0).resize->coordinates = static_cast<fb::ResizeCoordinates>(6);
      },
      "coordinates is 6");
  expect_bad([&](fb::ModelT& m) { r(m, kMean, 0).numerator = 0; }, "numerator or denominator is 0");
  expect_bad([&](fb::ModelT& m) { r(m, kMean, 0).numerator += 1; },
             "does not give what stands in the options");
  expect_bad([&](fb::ModelT& m) { r(m, kMean, 0).size = constant_size(0).stored(); },
             "it gives 0, expected 1");
}

// Rules that hold at the file's own sizes and make no sense at others end in a status.
TEST(BadSizes, HostileRulesEndInAStatus) {
  const auto at = [](const std::function<void(fb::ModelT&)>& damage, int64_t h,
                     std::string* message) {
    const Bytes file = damaged(damage);
    const api::Model model = api::Model::load_memory(file.data(), file.size());
    const qrt_dim dim = {"h", h};
    api::SessionOptions options;
    options.dims = &dim;
    options.dim_count = 1;
    api::Session session;
    const api::Outcome outcome = api::Session::try_create(model, &session, options);
    *message = outcome.message();
    return outcome.code();
  };
  std::string message;
  const auto conv_top = [](fb::ModelT& m) {
    m.operators[kConv]->sizes[0]->size = (symbol_size(0) * 100 - 800).stored();
  };
  ASSERT_EQ(at(conv_top, 7, &message), QRT_INVALID_ARGUMENT);
  ASSERT_NE(message.find("it gives -100"), std::string::npos) << message;
  ASSERT_EQ(at(conv_top, 9, &message), QRT_INVALID_ARGUMENT);  // other shapes than Add takes
  const auto columns = [](fb::ModelT& m) {
    auto& piece = *m.operators[kGather]->sizes[1]->pieces[2];
    piece.begin = (dimension(0, 2) - 1 + symbol_size(0) - 8).stored();
  };
  ASSERT_EQ(at(columns, 8, &message), QRT_OK) << message;
  ASSERT_EQ(at(columns, 9, &message), QRT_INVALID_ARGUMENT);
  ASSERT_NE(message.find("of axis 2 is"), std::string::npos) << message;
  const auto many = [](fb::ModelT& m) {
    auto& piece = *m.operators[kGather]->sizes[1]->pieces[0];
    piece.count = ((symbol_size(0) - 8) * (1 << 20) + 1).stored();
  };
  ASSERT_EQ(at(many, 16, &message), QRT_OUT_OF_MEMORY);
  ASSERT_NE(message.find("more entries than"), std::string::npos) << message;
  const auto divided = [](fb::ModelT& m) {
    m.operators[kReshape]->sizes[0]->size =
        (dimension(0, 2) * dimension(0, 3) * (symbol_size(0) - 7) / (symbol_size(0) - 7)).stored();
  };
  ASSERT_EQ(at(divided, 9, &message), QRT_OK) << message;
  ASSERT_EQ(at(divided, 7, &message), QRT_INVALID_ARGUMENT);
  ASSERT_NE(message.find("divided by 0"), std::string::npos) << message;
}

// Words of the file become indices, sizes and extremes: what still loads runs at other sizes, or is refused with a
// message.
TEST(BadSizes, NoReplacedWordsMisbehave) {
  const uint32_t words[] = {0,   1,     2,        5,          8,          9,
                            255, 65535, 1u << 20, 0x7fffffff, 0x80000000, 0xffffffff};
  for (const uint32_t least : {2, 0}) {
    SizedModel sized(8, 7, true);
    for (const auto& symbol : sized.builder().model().symbols) symbol->least = least;
    const Bytes file = sized.build();
    size_t loaded = 0, sessions = 0;
    for (size_t at = 0; at + 4 <= file.size(); at += 4) {
      Bytes copy = file;
      memcpy(copy.data() + at, &words[at / 4 % std::size(words)], 4);
      api::Model model;
      if (!api::Model::try_load_memory(copy.data(), copy.size(), &model).ok()) continue;
      ++loaded;
      const qrt_dim dims[] = {{"h", 13}, {"w", 9}};
      api::SessionOptions options;
      options.max_memory = size_t{1} << 26;
      options.dims = dims;
      options.dim_count = 2;
      api::Session session;
      const api::Outcome made = api::Session::try_create(model, &session, options);
      if (!made.ok()) {
        ASSERT_STRNE(made.message(), "") << at;
        ASSERT_NE(made.code(), QRT_INTERNAL) << at;
        continue;
      }
      ++sessions;
      session.run();
      for (const char* name : {"h", "w"})
        for (const int64_t size : {int64_t{least}, int64_t{64}}) {
          const qrt_dim dim = {name, size};
          const api::Outcome reshaped = session.try_reshape(&dim, 1);
          ASSERT_TRUE(reshaped.ok() || reshaped.message()[0] != '\0');
          session.run();
        }
    }
    ASSERT_GT(loaded, 100u);
    ASSERT_GT(sessions, 100u);
  }
}

TEST(BadSizes, QuantizationAlongAnOpenDimensionHoldsAtItsDefaultOnly) {
  ModelBuilder m;
  testing::add_symbol(&m, "n", 2);
  const uint32_t x = m.input({2, 5}), y = m.output({2, 5});
  testing::set_sizes(&m, x, {symbol_size(0), constant_size(5)});
  auto q = std::make_unique<fb::QuantizationT>();
  q->scale = {1, 2};
  q->zero_point = {0, 0};
  q->axis = 0;
  m.at(y).quantization = std::move(q);
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = testing::float_bits(1.0f);
  m.op(add, {x, x}, {y});
  const std::shared_ptr<const VerifiedModel> model = testing::verified(m);
  PlanOptions options;
  ASSERT_TRUE(make_plan(model, options).ok());
  options.sizes = {3};
  Result<std::shared_ptr<const Plan>> plan = make_plan(model, options);
  ASSERT_EQ(plan.status().code(), Code::kInvalidArgument);
  ASSERT_NE(std::string(plan.status().message()).find("2 quantization scales along dimension 0"),
            std::string::npos)
      << plan.status().message();
}

}  // namespace
}  // namespace qrt::bad_sizes_test

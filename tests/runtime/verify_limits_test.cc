// SPDX-License-Identifier: Apache-2.0
// The verifier's limits, and rules that files of ordinary size and contents never come near: counts of
// everything, parts that are missing one by one, what tables and constants cost that many share.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "qrt_model_types.h"
#include "runtime/unshared.h"
#include "runtime/verify.h"
#include "tests/support/counter_model.h"
#include "tests/support/every_op_model.h"
#include "tests/support/runner.h"

namespace qrt::verify_limits_test {
namespace {

using testing::Bytes;
using testing::expect_refused;
using testing::ModelBuilder;

using Builder = flatbuffers::FlatBufferBuilder;
template <class T>
using Tables = std::vector<flatbuffers::Offset<T>>;

// A model of one Lut, part by part: what a test leaves out or multiplies is written once and named
// often.
struct ModelTables {
  Builder fbb;
  Tables<fb::Tensor> tensors;
  Tables<fb::Operator> operators;
  Tables<fb::Buffer> buffers;
  std::vector<uint32_t> inputs = {0}, outputs = {1};
  bool has_tensors = true, has_operators = true, has_inputs = true, has_outputs = true,
       has_buffers = true;
  uint32_t version = 1, default_batch = 1;

  explicit ModelTables(size_t table_bytes = 256) {
    fbb.CreateVector(Bytes(64));
    fbb.ForceVectorAlignment(table_bytes, 1, 64);
    const auto table = fbb.CreateVector(Bytes(table_bytes, 1));
    buffers = {fb::CreateBuffer(fbb), fb::CreateBuffer(fbb, table)};
    const std::vector<int32_t> shape = {8};
    tensors = {fb::CreateTensorDirect(fbb, "x", fb::DType::UINT8, &shape),
               fb::CreateTensorDirect(fbb, "y", fb::DType::UINT8, &shape)};
    operators = {fb::CreateOperatorDirect(fbb, "map", "", fb::OpOptions::Lut,
                                          fb::CreateLutOptions(fbb, 1).Union(), &inputs, &outputs)};
  }

  Bytes build() {
    const auto t = has_tensors ? fbb.CreateVector(tensors) : 0;
    const auto o = has_operators ? fbb.CreateVector(operators) : 0;
    const auto in = has_inputs ? fbb.CreateVector(inputs) : 0;
    const auto out = has_outputs ? fbb.CreateVector(outputs) : 0;
    const auto b = has_buffers ? fbb.CreateVector(buffers) : 0;
    fb::ModelBuilder model(fbb);
    model.add_version(version);
    model.add_default_batch(default_batch);
    if (has_tensors) model.add_tensors(t);
    if (has_operators) model.add_operators(o);
    if (has_inputs) model.add_inputs(in);
    if (has_outputs) model.add_outputs(out);
    if (has_buffers) model.add_buffers(b);
    fb::FinishModelBuffer(fbb, model.Finish());
    return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
  }
};

// After `change`, the file is refused with a message that has `part`.
void refuses(const std::string& part, const std::function<void(ModelTables&)>& change) {
  ModelTables parts;
  change(parts);
  expect_refused(parts.build(), QRT_INVALID_MODEL, part);
}

TEST(VerifyLimits, AcceptTheModelThatTheTestsChange) {
  ASSERT_EQ(testing::run_model(ModelTables().build(), {Bytes(8)}).status, QRT_OK);
}

TEST(VerifyLimits, EveryPartIsNeeded) {
  const std::string missing = "tensors, operators, inputs, outputs or buffers are missing";
  refuses(missing, [](ModelTables& p) { p.has_tensors = false; });
  refuses(missing, [](ModelTables& p) { p.has_operators = false; });
  refuses(missing, [](ModelTables& p) { p.has_inputs = false; });
  refuses(missing, [](ModelTables& p) { p.has_outputs = false; });
  refuses(missing, [](ModelTables& p) { p.has_buffers = false; });
}

TEST(VerifyLimits, Counts) {
  refuses("1048577 tensors, expected at most 1048576",
          [](ModelTables& p) { p.tensors.resize(kMaxTensors + 1, p.tensors[0]); });
  refuses("32769 operators, expected at most 32768",
          [](ModelTables& p) { p.operators.resize(kMaxOperators + 1, p.operators[0]); });
  refuses("4097 inputs, expected at most 4096",
          [](ModelTables& p) { p.inputs.resize(kMaxModelInputs + 1); });
  refuses("4097 outputs, expected 1 to 4096",
          [](ModelTables& p) { p.outputs.resize(kMaxModelInputs + 1, 1); });
  refuses("0 outputs, expected 1 to 4096", [](ModelTables& p) { p.outputs.clear(); });
  refuses("buffers is empty, expected an empty buffer 0",
          [](ModelTables& p) { p.buffers.clear(); });
  refuses("default_batch is 2147483648, expected 1 to 2147483647",
          [](ModelTables& p) { p.default_batch = uint32_t{1} << 31; });
  refuses("default_batch is 0, expected 1", [](ModelTables& p) { p.default_batch = 0; });
}

// 2 GiB where addresses have 64 bits.
TEST(VerifyLimits, FilesBeyondTheLimit) {
  alignas(64) static const uint8_t few[64] = {};  // refused before it is looked at
  auto result = verify(std::move(*ModelBytes::borrow(few, kMaxFileBytes + 1)));
  ASSERT_FALSE(result.ok());
  const std::string message = sizeof(size_t) == 8
                                  ? "2147483648 bytes are too many for a model (limit 2147483647)"
                                  : "134217728 bytes are too many for a model (limit 134217727)";
  EXPECT_EQ(result.status().message(), message);
  auto copied = ModelBytes::copy(few, kMaxFileBytes + 1);
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.status().message(), message);
}

// A batch of 2^47 elements, more than a shape can have, is refused.
TEST(VerifyLimits, BatchesBeyondAllElements) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 65536}), y = m.output({-1, 65536});
  fb::ReshapeOptionsT reshape;
  reshape.shape = {-1, 65536};
  m.op(reshape, {x}, {y});
  testing::RunOptions options;
  options.batch = INT32_MAX;
  const testing::RunResult result = testing::run_model(m.build(), {}, options);
  EXPECT_NE(result.status, QRT_OK);
  const std::string expected = "has the shape [2147483647, 65536], expected 1 to " +
                               std::to_string(kMaxTensorElements) + " elements";
  EXPECT_NE(result.message.find(expected), std::string::npos) << result.message;
}

TEST(VerifyLimits, OperandsOfAllOperators) {
  refuses("the operators have more than 1048576 operands", [](ModelTables& p) {
    const std::vector<uint32_t> inputs(kMaxOperands), outputs = {1};
    p.operators = {fb::CreateOperatorDirect(p.fbb, "join", "", fb::OpOptions::Concat,
                                            fb::CreateConcatOptions(p.fbb).Union(), &inputs,
                                            &outputs)};
  });
}

TEST(VerifyLimits, OperatorsWithoutOperands) {
  const auto lut = [](ModelTables& p, const std::vector<uint32_t>* in,
                      const std::vector<uint32_t>* out) {
    p.operators = {fb::CreateOperatorDirect(p.fbb, "map", "", fb::OpOptions::Lut,
                                            fb::CreateLutOptions(p.fbb, 1).Union(), in, out)};
  };
  const std::vector<uint32_t> none, one = {1};
  const std::string missing = "op 0 (Lut 'map'): its inputs or outputs are missing";
  refuses(missing, [&](ModelTables& p) { lut(p, nullptr, &one); });
  refuses(missing, [&](ModelTables& p) { lut(p, &none, nullptr); });
  refuses(missing, [&](ModelTables& p) { lut(p, &none, &none); });
  refuses("op 0 (Lut 'map'): has 0 inputs", [&](ModelTables& p) { lut(p, &none, &one); });
}

// Tables count at every use: 2100 operators that name one table of a megabyte.
TEST(VerifyLimits, TablesAreReadAtEveryUse) {
  ModelTables parts(1 << 20);
  constexpr uint32_t kOperators = 2100;
  const std::vector<int32_t> shape = {8};
  for (uint32_t i = 1; i <= kOperators; ++i) {
    const std::vector<uint32_t> x = {0}, y = {i};
    if (i > 1) parts.tensors.push_back(parts.tensors[1]);
    if (i == 1) parts.operators.clear();
    parts.operators.push_back(fb::CreateOperatorDirect(
        parts.fbb, "", "", fb::OpOptions::Lut, fb::CreateLutOptions(parts.fbb, 1).Union(), &x, &y));
  }
  expect_refused(parts.build(), QRT_INVALID_MODEL, "bytes of constants: they share them too often");
}

// Shared tables count with their places: 1000 operators with the same stages, of which each counts
// with its 32 bytes and its place in the vector. Together they are just above what may be shared;
// the bytes alone, or the places alone, are below.
TEST(VerifyLimits, SharedTablesCountWithTheirPlaces) {
  for (size_t stages = 1900; stages < 1930; ++stages) {
    ModelTables parts;
    const auto stage = fb::CreateRequantStage(parts.fbb);
    const auto all = parts.fbb.CreateVector(Tables<fb::RequantStage>(stages, stage));
    fb::RequantBuilder requant(parts.fbb);
    requant.add_stages(all);
    const auto shared = requant.Finish();
    fb::MulOptionsBuilder mul(parts.fbb);
    mul.add_requant(shared);
    const auto options = mul.Finish().Union();
    const std::vector<uint32_t> x = {0, 0}, y = {1};
    parts.operators.assign(
        1000, fb::CreateOperatorDirect(parts.fbb, "", "", fb::OpOptions::Mul, options, &x, &y));
    expect_refused(parts.build(), QRT_INVALID_MODEL, "names the same tables again and again");
  }
}

TEST(VerifyLimits, QuantizationsOfTensors) {
  const auto with = [](std::vector<float> scales, std::vector<int32_t> zero_points, int32_t axis,
                       DType dtype = DType::kUInt8) {
    ModelBuilder m;
    const uint32_t x = m.input({-1, 2}, dtype), y = m.output({-1, 2}, dtype);
    fb::ReshapeOptionsT reshape;
    reshape.shape = {-1, 2};
    m.op(reshape, {x}, {y});
    m.at(x).quantization = std::make_unique<fb::QuantizationT>();
    m.at(x).quantization->scale = std::move(scales);
    m.at(x).quantization->zero_point = std::move(zero_points);
    m.at(x).quantization->axis = axis;
    return m.build();
  };
  const auto accepts = [](const Bytes& file) {
    const testing::RunResult result = testing::run_model(file, {});
    EXPECT_EQ(result.status, QRT_OK) << result.message;
  };
  accepts(with({}, {}, -1));
  accepts(with({0.5f}, {255}, -1));
  accepts(with({0.5f, 0.25f}, {0, 7}, 1));
  const auto refuse = [](const Bytes& file, const std::string& part) {
    expect_refused(file, QRT_INVALID_MODEL, part);
  };
  refuse(with({0.5f}, {0}, -2), "quantization axis is -2, expected -1 to 1");
  refuse(with({0.5f}, {0}, 2), "quantization axis is 2, expected -1 to 1");
  refuse(with({0.5f}, {0}, 0), "quantization axis 0 is the batch");
  refuse(with({}, {}, 1), "0 quantization scales, expected 2");
  refuse(with({0.5f, 0.5f}, {0, 0}, -1), "2 quantization scales, expected 1");
  refuse(with({0.5f}, {}, -1), "1 quantization scales, but 0 zero points");
  refuse(with({0.0f}, {0}, -1), "quantization scale 0 is 0, expected finite and above 0");
  refuse(with({1.0f / 0.0f}, {0}, -1), "quantization scale 0 is inf, expected finite and above 0");
  const struct {
    DType dtype;
    int32_t below, above;
  } kRanges[] = {{DType::kUInt8, -1, 256},
                 {DType::kInt8, -129, 128},
                 {DType::kUInt16, -1, 65536},
                 {DType::kInt16, -32769, 32768}};
  for (const auto& range : kRanges) {
    for (const int32_t inside : {range.below + 1, range.above - 1})
      accepts(with({0.5f}, {inside}, -1, range.dtype));
    for (const int32_t outside : {range.below, range.above})
      refuse(with({0.5f}, {outside}, -1, range.dtype),
             "zero point 0 is " + std::to_string(outside) + ", out of the range of " +
                 dtype_name(range.dtype));
  }
}

// A damaged variable, or next content of one, is refused.
TEST(VerifyLimits, Variables) {
  using testing::kTotal, testing::kX, testing::kY;
  const auto refuse = [](const std::string& part,
                         const std::function<void(ModelBuilder&)>& change) {
    ModelBuilder m = testing::counter_model();
    change(m);
    expect_refused(m.build(), QRT_INVALID_MODEL, part);
  };
  refuse("4097 variables, expected at most 4096", [](ModelBuilder& m) {
    for (size_t i = 0; i < kMaxModelInputs; ++i) m.variable(kTotal, kY);
  });
  const std::string unwritten = "its next content is written by no operator";
  refuse(unwritten, [](ModelBuilder& m) { m.model().variables[0]->next = m.tensor({-1, 4}); });
  refuse(unwritten, [](ModelBuilder& m) {
    m.at(kX).shape = m.at(kTotal).shape = m.at(kY).shape = {4};
    m.model().variables[0]->next = m.constant({4}, DType::kUInt8, Bytes(4));
  });
  refuse("it is uint8 [-1, 4], its next content int8 [-1, 4]", [](ModelBuilder& m) {
    const uint32_t x = m.input({-1, 4}, DType::kInt8), y = m.tensor({-1, 4}, DType::kInt8);
    fb::ReshapeOptionsT reshape;
    reshape.shape = {-1, 4};
    m.op(reshape, {x}, {y});
    m.model().variables[0]->next = y;
  });
  const struct {
    DType dtype;
    int32_t below;
    int32_t above;
  } kRanges[] = {
      {DType::kUInt8, -1, 256}, {DType::kInt8, -129, 128},   {DType::kInt16, -32769, 32768},
      {DType::kBool, -1, 2},    {DType::kUInt16, -1, 65536}, {DType::kUInt32, -1, INT32_MIN},
      {DType::kFloat32, -1, 1}, {DType::kFloat16, -1, 1},    {DType::kBFloat16, INT32_MIN, 1}};
  for (const auto& range : kRanges) {
    for (const int32_t initial : {range.below, range.above}) {
      refuse("its initial value is " + std::to_string(initial) + ", out of the range of " +
                 dtype_name(range.dtype),
             [&](ModelBuilder& m) {
               const uint32_t state = m.tensor({4}, range.dtype), next = m.tensor({4}, range.dtype);
               fb::ReshapeOptionsT reshape;
               reshape.shape = {4};
               m.op(reshape, {state}, {next});
               m.variable(state, next, initial);
             });
    }
  }
}

// A variable of int32 may have every int32 as its first content.
TEST(VerifyLimits, VariablesOfInt32) {
  for (const int32_t initial : {INT32_MIN, INT32_MAX}) {
    ModelBuilder m;
    m.input({1});  // a model has one at least
    const uint32_t state = m.tensor({4}, DType::kInt32), next = m.output({4}, DType::kInt32);
    fb::ReshapeOptionsT reshape;
    reshape.shape = {4};
    m.op(reshape, {state}, {next});
    m.variable(state, next, initial);
    const testing::RunResult result = testing::run_model(m.build(), {});
    ASSERT_EQ(result.status, QRT_OK) << result.message;
    EXPECT_EQ(memcmp(result.outputs[0].data(), &initial, sizeof initial), 0);
  }
}

TEST(VerifyLimits, OptionsThatAreMissing) {
  const auto with = [](fb::OpOptions type, bool has_options) {
    return [=](ModelTables& p) {
      const auto options = has_options ? fb::CreateLutOptions(p.fbb, 1).Union() : 0;
      p.operators = {
          fb::CreateOperatorDirect(p.fbb, "map", "", type, options, &p.inputs, &p.outputs)};
    };
  };
  refuses("op 0 (Lut 'map'): its options are missing", with(fb::OpOptions::Lut, false));
  refuses("op 0 (unknown 'map'): its options are missing", with(fb::OpOptions::NONE, false));
  refuses("op 0 (unknown 'map'): its options are missing", with(fb::OpOptions::NONE, true));
}

TEST(VerifyLimits, OperatorsOfLaterVersions) {
  ModelTables parts;
  parts.operators = {fb::CreateOperatorDirect(parts.fbb, "map", "", static_cast<fb::OpOptions>(200),
                                              fb::CreateLutOptions(parts.fbb, 1).Union(),
                                              &parts.inputs, &parts.outputs)};
  expect_refused(parts.build(), QRT_UNSUPPORTED,
                 "op 0 (unknown 'map'): operator type 200 is unknown to this build");
}

// Constants count at every use: one operator names one constant of a megabyte 2100 times.
TEST(VerifyLimits, ConstantsAreReadAtEveryUse) {
  ModelTables parts(1 << 20);
  const std::vector<int32_t> shape = {1 << 20};
  parts.tensors.push_back(fb::CreateTensorDirect(parts.fbb, "c", fb::DType::UINT8, &shape, 1));
  const std::vector<uint32_t> inputs(2100, 2), outputs = {1};
  parts.operators = {fb::CreateOperatorDirect(parts.fbb, "join", "", fb::OpOptions::Concat,
                                              fb::CreateConcatOptions(parts.fbb).Union(), &inputs,
                                              &outputs)};
  expect_refused(parts.build(), QRT_INVALID_MODEL, "bytes of constants: they share them too often");
}

// Shared names and steps count at every use: how large the file has to be for 65 operators with one
// name of a megabyte and one list of 1000 steps.
TEST(VerifyLimits, WhatOperatorsShareCountsAtEveryUse) {
  Builder fbb;
  constexpr size_t kName = 1 << 20, kSteps = 1000, kOperators = 65;
  const auto name = fbb.CreateString(std::string(kName, 'n'));
  const Tables<fb::FormulaStep> steps(kSteps, fb::CreateFormulaStep(fbb));
  const auto options = fb::CreateFormulaOptionsDirect(fbb, 0, &steps);
  const auto operators = fbb.CreateVector(Tables<fb::Operator>(
      kOperators, fb::CreateOperator(fbb, name, 0, fb::OpOptions::Formula, options.Union())));
  fb::ModelBuilder builder(fbb);
  builder.add_operators(operators);
  fb::FinishModelBuffer(fbb, builder.Finish());
  // A table counts 32 bytes, a string and a vector 8 and their elements.
  const size_t list = 8 + 4 * kSteps, to_list = 32 + 8 + kName + 32;
  const size_t one = to_list + list + 32 * kSteps;
  const size_t all = 32 + 8 + 4 * kOperators + kOperators * one;
  const auto check = [&](size_t limit) {
    const size_t file_bytes = (limit - kFewUnsharedBytes + kMaxSharing - 1) / kMaxSharing;
    return check_unshared(flatbuffers::GetRoot<flatbuffers::Table>(fbb.GetBufferPointer()),
                          fb_types::ModelTypeTable(), file_bytes);
  };
  EXPECT_TRUE(check(all).ok());
  // Without a step of the last operator, its list, its options, its name, all of it.
  const size_t last = all - one;
  for (const size_t limit :
       {all - kMaxSharing, last + to_list, last + to_list - 32, last + 32 + kName / 2, last}) {
    const Status status = check(limit);
    ASSERT_EQ(status.code(), Code::kInvalidModel) << all - limit;
    ASSERT_EQ(std::string(status.message()).find("the file names the same tables again and again"),
              0u);
  }
}

}  // namespace
}  // namespace qrt::verify_limits_test

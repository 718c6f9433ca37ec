// SPDX-License-Identifier: Apache-2.0
// Verification: every rule refuses with its status and a message that names the place.
// corruption_test.cc has files of any bytes.
#include "runtime/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>

#include "kernels/integer_build.h"
#include "tests/support/every_op_model.h"
#include "tests/support/runner.h"

namespace qrt::verify_test {
namespace {

using testing::Bytes;
using testing::expect_refused;
using testing::ModelBuilder;

Bytes damaged(const std::function<void(fb::ModelT&)>& damage) {
  ModelBuilder m = testing::every_op_model();
  damage(m.model());
  return m.build();
}

// Returns the first tensor of that name.
fb::TensorT& tensor(fb::ModelT& m, const std::string& name) {
  for (auto& t : m.tensors) {
    if (t->name == name) return *t;
  }
  abort();
}

template <class Options>
Options& options(fb::ModelT& m) {
  for (auto& op : m.operators) {
    if (op->options.type == fb::OpOptionsUnionTraits<Options>::enum_value) {
      return *static_cast<Options*>(op->options.value);
    }
  }
  abort();
}

TEST(Verify, AcceptsAModelWithEveryOperator) {
  ModelBuilder m = testing::every_op_model();
  std::vector<bool> seen(static_cast<size_t>(fb::OpOptions::MAX) + 1);
  for (auto& op : m.model().operators) seen[static_cast<size_t>(op->options.type)] = true;
  for (size_t type = 1; type < seen.size(); ++type) {
    if (is_integer_build() && type == static_cast<size_t>(fb::OpOptions::Float)) continue;
    ASSERT_TRUE(seen[type]) << fb::EnumNameOpOptions(static_cast<fb::OpOptions>(type));
  }
  ASSERT_EQ(testing::run_model(m.build(), {}).status, QRT_OK);
}

TEST(Verify, AnIntegerBuildRefusesFloatFallbacks) {
  if (!is_integer_build()) GTEST_SKIP() << "this build has them";
  ModelBuilder m;
  const uint32_t x = m.input({1, 4}, DType::kFloat32), y = m.output({1, 4}, DType::kFloat32);
  m.op(fb::FloatOptionsT(), {x}, {y});
  expect_refused(m.build(), QRT_UNSUPPORTED,
                 "float operators are not part of this build (QRT_INTEGER_ONLY)");
}

TEST(Verify, RefusesBytesThatAreNoModel) {
  expect_refused(Bytes(1), QRT_INVALID_MODEL, "too few");
  expect_refused(Bytes(100), QRT_INVALID_MODEL, "not a .qrt file");
  Bytes file = testing::every_op_model().build();
  file[4] = 'X';
  expect_refused(file, QRT_INVALID_MODEL, "not a .qrt file (no 'QRT1' at byte 4)");
  file = testing::every_op_model().build();
  std::fill(file.begin() + 8, file.end(), uint8_t{0xff});
  expect_refused(file, QRT_INVALID_MODEL, "structure");
}

TEST(Verify, RefusesAnotherVersion) {
  expect_refused(damaged([](fb::ModelT& m) { m.version = 3; }), QRT_UNSUPPORTED,
                 "version 3 is newer");
  expect_refused(damaged([](fb::ModelT& m) { m.version = 0; }), QRT_INVALID_MODEL, "version 0");
}

TEST(Verify, RefusesMissingParts) {
  expect_refused(damaged([](fb::ModelT& m) { m.operators.clear(); }), QRT_INVALID_MODEL, "missing");
  expect_refused(damaged([](fb::ModelT& m) { m.outputs.clear(); }), QRT_INVALID_MODEL, "missing");
  expect_refused(damaged([](fb::ModelT& m) { m.buffers.clear(); }), QRT_INVALID_MODEL, "missing");
  expect_refused(damaged([](fb::ModelT& m) { m.operators[3]->options.Reset(); }), QRT_INVALID_MODEL,
                 "op 3 (unknown 'op3'): its options are missing");
  expect_refused(damaged([](fb::ModelT& m) { m.operators[3]->outputs.clear(); }), QRT_INVALID_MODEL,
                 "op 3 (Add 'op3'): its inputs or outputs are missing");
}

TEST(Verify, RefusesIndicesOutOfRange) {
  expect_refused(damaged([](fb::ModelT& m) { m.inputs[0] = 1000; }), QRT_INVALID_MODEL,
                 "a model input is tensor 1000");
  expect_refused(damaged([](fb::ModelT& m) { m.outputs[1] = UINT32_MAX; }), QRT_INVALID_MODEL,
                 "a model output is tensor 4294967295");
  expect_refused(damaged([](fb::ModelT& m) { m.operators[3]->inputs[1] = 1000; }),
                 QRT_INVALID_MODEL, "op 3 (Add 'op3'): an input is tensor 1000");
  expect_refused(damaged([](fb::ModelT& m) { m.operators[3]->outputs[0] = 1000; }),
                 QRT_INVALID_MODEL, "op 3 (Add 'op3'): an output is tensor 1000");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "conv").buffer = 99; }), QRT_INVALID_MODEL,
                 "('conv'): dimension 0 is -1");
  expect_refused(damaged([](fb::ModelT& m) {
                   for (auto& t : m.tensors) {
                     if (t->buffer != 0) t->buffer = 99;
                   }
                 }),
                 QRT_INVALID_MODEL, "buffer index 99 is out of range");
  expect_refused(damaged([](fb::ModelT& m) { options<fb::LutOptionsT>(m).table = 99; }),
                 QRT_INVALID_MODEL, "op 4 (Lut 'op4'): buffer index 99");
  expect_refused(damaged([](fb::ModelT& m) { options<fb::LutOptionsT>(m).table = 0; }),
                 QRT_INVALID_MODEL, "op 4 (Lut 'op4'): buffer index 0");
}

// Packed weights that are not zero in their padding are refused: kernels multiply them by undefined bytes.
TEST(Verify, RefusesPackedWeightsWithMoreThanTheWeights) {
  const auto weights = [](fb::ModelT& m, fb::OpOptions type) -> std::vector<uint8_t>& {
    for (auto& op : m.operators) {
      if (op->options.type == type) return m.buffers[m.tensors[op->inputs[1]]->buffer]->data;
    }
    abort();
  };
  for (size_t last : {size_t{3}, size_t{64 * 3 - 1}}) {  // 3 x 3: row 3 of the first, of the last
    expect_refused(
        damaged([&](fb::ModelT& m) { weights(m, fb::OpOptions::DepthwiseConv2D)[last] = 1; }),
        QRT_INVALID_MODEL, "rounds 3 rows up to 4");
  }
  ModelBuilder m;
  const uint32_t x = m.input({-1, 5}), y = m.output({-1, 2});
  fb::FullyConnectedOptionsT dense;
  dense.weight_sum = {10, 10};
  dense.requant = testing::requant_f32({0.5f});
  m.op(std::move(dense), {x, m.gemm_weights({2, 5}, std::vector<int8_t>(10, 2)), m.bias({0, 0})},
       {y});
  ASSERT_EQ(testing::run_model(m.build(), {}).status, QRT_OK);
  std::vector<uint8_t>& packed = weights(m.model(), fb::OpOptions::FullyConnected);
  ASSERT_EQ(packed.size(), 128u);
  packed[64] = 3;  // k = 4, the fifth: a weight
  ASSERT_EQ(testing::run_model(m.build(), {}).status, QRT_OK);
  packed[65] = 1;  // k = 5
  expect_refused(m.build(), QRT_INVALID_MODEL, "op 0 (FullyConnected 'op0'): input 1 (weights)");
}

TEST(Verify, RefusesAnOrderThatReadsBeforeWriting) {
  expect_refused(damaged([](fb::ModelT& m) { std::swap(m.operators[0], m.operators[1]); }),
                 QRT_INVALID_MODEL, "op 0 (Conv2D 'op1'): input tensor 2 ('x') is not written");
  expect_refused(
      damaged([](fb::ModelT& m) { m.operators[3]->inputs[0] = m.operators[3]->outputs[0]; }),
      QRT_INVALID_MODEL, "('sum') is not written before");
  expect_refused(damaged([](fb::ModelT& m) { m.inputs.pop_back(); }), QRT_INVALID_MODEL,
                 "('gate') is not written before");
  expect_refused(damaged([](fb::ModelT& m) {
                   m.tensors.push_back(std::make_unique<fb::TensorT>(*m.tensors[0]));
                   m.outputs[0] = static_cast<uint32_t>(m.tensors.size() - 1);
                 }),
                 QRT_INVALID_MODEL, "is written by no operator");
}

TEST(Verify, RefusesTensorsWrittenTwice) {
  expect_refused(
      damaged([](fb::ModelT& m) { m.operators[3]->outputs[0] = m.operators[2]->outputs[0]; }),
      QRT_INVALID_MODEL, "('depthwise') has a value already");
  expect_refused(damaged([](fb::ModelT& m) { m.operators[3]->outputs[0] = m.inputs[1]; }),
                 QRT_INVALID_MODEL, "('gate') has a value already");
  expect_refused(
      damaged([](fb::ModelT& m) { m.operators[3]->outputs[0] = m.operators[1]->inputs[2]; }),
      QRT_INVALID_MODEL, "has a value already");
  expect_refused(damaged([](fb::ModelT& m) { m.inputs.push_back(m.inputs[0]); }), QRT_INVALID_MODEL,
                 "is a constant, or stands twice");
}

TEST(Verify, RefusesShapesThatDisagreeWithInference) {
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "conv").shape[3] = 9; }), QRT_INVALID_MODEL,
                 "('conv') has the shape [1, 8, 8, 9], expected [1, 8, 8, 8]");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "conv").dtype = fb::DType::INT32; }),
                 QRT_INVALID_MODEL, "('conv') is int32, expected uint8");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "conv").shape.pop_back(); }),
                 QRT_INVALID_MODEL, "('conv') has the shape [1, 8, 8]");
}

TEST(Verify, RefusesEnumValuesThatDoNotExist) {
  expect_refused(damaged([](fb::ModelT& m) { m.tensors[2]->dtype = static_cast<fb::DType>(21); }),
                 QRT_INVALID_MODEL, "tensor 2 ('x'): dtype is 21");
  expect_refused(
      damaged([](fb::ModelT& m) { m.tensors[2]->packing = static_cast<fb::Packing>(3); }),
      QRT_INVALID_MODEL, "tensor 2 ('x'): packing is 3");
  expect_refused(damaged([](fb::ModelT& m) {
                   options<fb::Conv2DOptionsT>(m).requant->kind = static_cast<fb::RequantKind>(3);
                 }),
                 QRT_INVALID_MODEL, "op 1 (Conv2D 'op1'): requant.kind is 3");
  expect_refused(damaged([](fb::ModelT& m) {
                   options<fb::DepthwiseConv2DOptionsT>(m).requant->stages[0]->rounding =
                       static_cast<fb::Rounding>(4);
                 }),
                 QRT_INVALID_MODEL, "rounding is 4");
}

TEST(Verify, RefusesAbsurdShapes) {
  expect_refused(damaged([](fb::ModelT& m) {
                   tensor(m, "image").shape = {-1, 65536, 32768, 4};
                 }),
                 QRT_INVALID_MODEL,
                 "tensor 0 ('image'): the shape [1, 65536, 32768, 4] has too many");
  expect_refused(damaged([](fb::ModelT& m) {
                   tensor(m, "image").shape = {-1, INT32_MAX, 2, 1};
                 }),
                 QRT_INVALID_MODEL, "too many elements");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "image").shape.assign(6, INT32_MAX); }),
                 QRT_INVALID_MODEL, "too many elements");
  expect_refused(damaged([](fb::ModelT& m) { m.default_batch = 100000000; }), QRT_INVALID_MODEL,
                 "too many elements");
  expect_refused(damaged([](fb::ModelT& m) { m.default_batch = 0; }), QRT_INVALID_MODEL,
                 "default_batch is 0");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "image").shape.assign(7, 1); }),
                 QRT_INVALID_MODEL, "7 dimensions");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "image").shape[1] = -1; }),
                 QRT_INVALID_MODEL, "dimension 1 is -1");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "image").shape[0] = -2; }),
                 QRT_INVALID_MODEL, "dimension 0 is -2");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "image").shape[1] = 0; }), QRT_UNSUPPORTED,
                 "dimension 1 is 0");
}

TEST(Verify, RefusesBuffersOfTheWrongSize) {
  expect_refused(damaged([](fb::ModelT& m) { m.buffers[2]->data.pop_back(); }), QRT_INVALID_MODEL,
                 "its buffer has 31 bytes, but [8] of int32 takes 32");
  expect_refused(damaged([](fb::ModelT& m) { m.buffers[1]->data.pop_back(); }), QRT_INVALID_MODEL,
                 "op 1 (Conv2D 'op1')");
  expect_refused(damaged([](fb::ModelT& m) { m.buffers[2]->data.clear(); }), QRT_INVALID_MODEL,
                 "its buffer 2 is empty");
  expect_refused(damaged([](fb::ModelT& m) { m.buffers[0]->data = {1}; }), QRT_INVALID_MODEL,
                 "buffer 0 has 1 bytes");
}

TEST(Verify, RefusesPackedConstantsReadAsPlain) {
  expect_refused(
      damaged([](fb::ModelT& m) { m.operators[7]->inputs[0] = m.operators[1]->inputs[1]; }),
      QRT_INVALID_MODEL, "is packed, but not read as weights");
  expect_refused(damaged([](fb::ModelT& m) { m.outputs[0] = m.operators[1]->inputs[1]; }),
                 QRT_INVALID_MODEL, "is packed");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "conv").packing = fb::Packing::GEMM; }),
                 QRT_INVALID_MODEL, "it is packed, but not a constant");
  expect_refused(damaged([](fb::ModelT& m) {
                   m.tensors[m.operators[1]->inputs[1]]->packing = fb::Packing::DEPTHWISE;
                 }),
                 QRT_INVALID_MODEL, "packing 2, expected 1 (GEMM)");
}

TEST(Verify, RefusesUnsoundQuantization) {
  const auto with = [](const std::function<void(fb::QuantizationT&)>& damage) {
    return damaged([&](fb::ModelT& m) { damage(*tensor(m, "softmax").quantization); });
  };
  expect_refused(with([](auto& q) { q.scale = {0.0f}; }), QRT_INVALID_MODEL, "scale 0 is 0");
  expect_refused(with([](auto& q) { q.scale = {-1.0f}; }), QRT_INVALID_MODEL, "scale 0 is -1");
  expect_refused(with([](auto& q) { q.scale = {NAN}; }), QRT_INVALID_MODEL, "scale 0 is nan");
  expect_refused(with([](auto& q) { q.scale = {INFINITY}; }), QRT_INVALID_MODEL, "scale 0 is inf");
  expect_refused(with([](auto& q) { q.scale.clear(); }), QRT_INVALID_MODEL,
                 "0 quantization scales");
  expect_refused(with([](auto& q) { q.zero_point = {256}; }), QRT_INVALID_MODEL,
                 "zero point 0 is 256");
  expect_refused(with([](auto& q) { q.axis = 2; }), QRT_INVALID_MODEL, "axis is 2");
  expect_refused(with([](auto& q) { q.axis = 1; }), QRT_INVALID_MODEL,
                 "1 quantization scales, expected 10");
  expect_refused(with([](auto& q) { q.axis = 0; }), QRT_INVALID_MODEL, "axis 0 is the batch");
}

TEST(Verify, RefusesRequantisationOutOfRange) {
  const auto f32 = [](const std::function<void(fb::RequantT&)>& damage) {
    return damaged([&](fb::ModelT& m) { damage(*options<fb::Conv2DOptionsT>(m).requant); });
  };
  const auto integer = [](const std::function<void(fb::RequantT&)>& damage) {
    return damaged(
        [&](fb::ModelT& m) { damage(*options<fb::DepthwiseConv2DOptionsT>(m).requant); });
  };
  const std::string conv = "op 1 (Conv2D 'op1'): requant",
                    dw = "op 2 (DepthwiseConv2D 'op2'): requant";
  expect_refused(f32([](auto& r) { r.lo = -1; }), QRT_INVALID_MODEL,
                 conv + " limits are -1 to 255");
  expect_refused(f32([](auto& r) { r.hi = 256; }), QRT_INVALID_MODEL,
                 conv + " limits are 0 to 256");
  expect_refused(f32([](auto& r) { r.lo = 9, r.hi = 8; }), QRT_INVALID_MODEL, conv + " limits");
  expect_refused(f32([](auto& r) { r.scale.clear(); }), QRT_INVALID_MODEL, conv + ".scale has 0");
  expect_refused(f32([](auto& r) { r.scale.pop_back(); }), QRT_INVALID_MODEL,
                 conv + ".scale has 7");
  for (uint32_t bits : {0u, 1u, 0x007fffffu, 0x7f800000u, 0x7fc00000u, 0x80000000u, 0xbf800000u}) {
    expect_refused(f32([=](auto& r) { r.scale[3] = bits; }), QRT_INVALID_MODEL, conv + ".scale[3]");
  }
  expect_refused(f32([](auto& r) { r.rounding = fb::Rounding::FLOOR; }), QRT_INVALID_MODEL,
                 conv + ".rounding is 3");
  expect_refused(f32([](auto& r) { r.fused = true; }), QRT_INVALID_MODEL, conv + ".fused");
  expect_refused(f32([](auto& r) { r.offset = 128; }), QRT_INVALID_MODEL, conv + ".offset is 128");
  expect_refused(f32([](auto& r) { r.zero_point = 256; }), QRT_INVALID_MODEL, conv + ".zero_point");
  expect_refused(
      f32([](auto& r) { r.zero_point_before = true, r.offset = 128, r.zero_point = 128; }),
      QRT_INVALID_MODEL, conv + ".zero_point is 128, expected -128 to 127");
  expect_refused(integer([](auto& r) { r.stages.clear(); }), QRT_INVALID_MODEL,
                 dw + ".stages has 0");
  expect_refused(integer([](auto& r) { r.stages[0]->shift = {63}; }), QRT_INVALID_MODEL,
                 dw + ".stages.shift[0] is 63");
  expect_refused(integer([](auto& r) { r.stages[0]->multiplier = {-1}; }), QRT_INVALID_MODEL,
                 dw + ".stages.multiplier[0] is -1");
  expect_refused(integer([](auto& r) {
                   r.stages[0]->shift = {1, 2};
                 }),
                 QRT_INVALID_MODEL, dw + ".stages.shift has 2");
  expect_refused(integer([](auto& r) { r.stages[0]->clip_lo = 1, r.stages[0]->clip_hi = 0; }),
                 QRT_INVALID_MODEL, dw + ".stages clip");
  expect_refused(damaged([](fb::ModelT& m) { options<fb::Conv2DOptionsT>(m).requant.reset(); }),
                 QRT_INVALID_MODEL, conv + " is missing");
}

// Operators that share one vector of scales are refused where their plan would take gigabytes: here
// in a file of 4 MB.
TEST(Verify, RefusesOperatorsThatShareHugeParameters) {
  constexpr uint32_t kChannels = 1 << 16, kOperators = 20;
  flatbuffers::FlatBufferBuilder fbb;
  const auto scale = fbb.CreateVector(std::vector<uint32_t>(kChannels, 0x3f800000));
  const auto zero_point = fbb.CreateVector(std::vector<int32_t>(kChannels));
  const std::vector<int32_t> shape = {static_cast<int32_t>(kChannels)};
  const std::vector<uint32_t> inputs = {0}, outputs = {1};
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors = {
      fb::CreateTensorDirect(fbb, "x", fb::DType::FLOAT32, &shape)};
  std::vector<flatbuffers::Offset<fb::Operator>> operators;
  const auto options = fb::CreateQuantizeOptions(fbb, scale, zero_point, 0).Union();
  for (uint32_t i = 1; i <= kOperators; ++i) {
    const std::vector<uint32_t> output = {i};
    tensors.push_back(fb::CreateTensorDirect(fbb, "", fb::DType::UINT8, &shape));
    operators.push_back(
        fb::CreateOperatorDirect(fbb, "", "", fb::OpOptions::Quantize, options, &inputs, &output));
  }
  const std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {fb::CreateBuffer(fbb)};
  fb::FinishModelBuffer(fbb, fb::CreateModelDirect(fbb, 1, "", "", "", "", "", 1, &tensors,
                                                   &operators, &inputs, &outputs, &buffers));
  expect_refused({fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()},
                 QRT_INVALID_MODEL, "op 9 (Quantize ''): the operators have parameters for more");
}

TEST(Verify, NamesInMessagesAreShortAndPrintable) {
  const Bytes file = damaged([](fb::ModelT& m) {
    m.operators[3]->name = "\x1b[31mred\n" + std::string(300, 'n');
    m.operators[3]->inputs[0] = 1000;
  });
  expect_refused(file, QRT_INVALID_MODEL, "op 3 (Add '\\x1b[31mred\\x0annn");
  ASSERT_LT(testing::run_model(file, {}).message.size(), 200u);
}

// Returns one Lut whose table stands at the end of the file, but for `behind` bytes.
Bytes model_with_table_last(size_t behind, size_t alignment) {
  flatbuffers::FlatBufferBuilder fbb;
  if (behind != 0) fbb.CreateVector(Bytes(behind));
  fbb.ForceVectorAlignment(256, 1, alignment);
  const auto table = fbb.CreateVector(testing::pattern<uint8_t>(256, 0, 255));
  const std::vector<int32_t> shape = {8};
  const std::vector<uint32_t> x = {0}, y = {1};
  const std::vector<flatbuffers::Offset<fb::Tensor>> tensors = {
      fb::CreateTensorDirect(fbb, "x", fb::DType::UINT8, &shape),
      fb::CreateTensorDirect(fbb, "y", fb::DType::UINT8, &shape)};
  const std::vector<flatbuffers::Offset<fb::Operator>> operators = {fb::CreateOperatorDirect(
      fbb, "map", "", fb::OpOptions::Lut, fb::CreateLutOptions(fbb, 1).Union(), &x, &y)};
  const std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {fb::CreateBuffer(fbb),
                                                                fb::CreateBuffer(fbb, table)};
  fb::FinishModelBuffer(fbb, fb::CreateModelDirect(fbb, 1, "", "", "", "", "", 1, &tensors,
                                                   &operators, &x, &y, &buffers));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

TEST(Verify, RequiresSlackBehindEveryBuffer) {
  ASSERT_EQ(testing::run_model(model_with_table_last(64, 64), {}).status, QRT_OK);
  expect_refused(model_with_table_last(0, 64), QRT_INVALID_MODEL, "of file behind it, expected 64");
}

TEST(Verify, RequiresAlignedBuffers) {
  int misaligned = 0;
  for (size_t behind = 64; behind < 128; behind += 4) {
    const testing::RunResult result = testing::run_model(model_with_table_last(behind, 4), {});
    if (result.status == QRT_OK) continue;
    ++misaligned;
    ASSERT_NE(result.message.find("not a multiple of 64"), std::string::npos) << result.message;
  }
  ASSERT_GT(misaligned, 0);
}

}  // namespace
}  // namespace qrt::verify_test
